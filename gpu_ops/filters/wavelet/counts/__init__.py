"""What the wavelet kernels move by arithmetic, and what the source states about it."""
