"""The only package that imports CuPy, and only inside functions."""
