"""The only place that imports CuPy, and only inside functions."""
