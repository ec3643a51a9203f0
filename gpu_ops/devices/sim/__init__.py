"""A simulated GPU: it interprets the PTX of the shipped kernels with NumPy, counts, and reports faults by source
line."""
