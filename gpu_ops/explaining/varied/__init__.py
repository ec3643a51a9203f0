"""One HTML file with the X-rays of a kernel for many values of its parameters, chosen there by sliders."""
