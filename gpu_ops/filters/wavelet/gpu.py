"""The CUDA variants of wavelet denoising."""

from __future__ import annotations

from gpu_ops.types import Variant


def variants1d() -> tuple[Variant, ...]:
    """The ladder of signals."""
    return ()


def variants2d() -> tuple[Variant, ...]:
    """The ladder of images."""
    return ()
