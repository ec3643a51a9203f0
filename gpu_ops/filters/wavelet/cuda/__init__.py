"""Wavelet denoising on CUDA: the plans of the kernels in kernels/wavelet."""
