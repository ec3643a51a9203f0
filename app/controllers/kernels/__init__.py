"""Controllers of kernels: their contract, their limits, their predicted times, and kernels of other files."""
