"""Fourier transforms on CUDA: the plans of the kernels in kernels/fft and kernels/fft_mask."""
