"""A kernel file from elsewhere: its kernels, its arguments, and a launch of it."""

KERNEL_FILES = (".cu", ".cuh")
"""The ends of the names of kernel files."""
