"""The predicted traffic of the wavelet kernels, and what the source states about it."""
