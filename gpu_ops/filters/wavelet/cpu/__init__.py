"""Wavelet denoising on the CPU."""
