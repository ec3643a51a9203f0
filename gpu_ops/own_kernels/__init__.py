"""A kernel file from elsewhere: its kernels, its arguments, and a launch of it."""
