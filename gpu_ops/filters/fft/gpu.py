"""The variants on CUDA, three ladders from the plain transform to the fast one, and the library."""

from __future__ import annotations

from gpu_ops.types import Variant


def variants1d() -> tuple[Variant, ...]:
    """Of signals."""
    return ()


def variants2d() -> tuple[Variant, ...]:
    """Of images."""
    return ()


def variants_mask() -> tuple[Variant, ...]:
    """Of the mask."""
    return ()
