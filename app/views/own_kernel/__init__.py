"""The panel of kernels from elsewhere."""
