"""Conversion of the stored values of an image file to gray, RGB or RGBA: palettes, CMYK, transparency."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.io.inputs import Array

PALETTE = {"step": "palette"}
"""Palette indices were converted to their colours."""
CMYK = {"step": "cmyk"}
"""CMYK was converted to RGB, without a colour profile."""
GRAY_ALPHA = {"step": "gray alpha"}
"""Gray with transparency, or with one transparent gray, was converted to RGBA with three equal colours."""
WHITE_ZERO = {"step": "white is zero"}
"""The file stores white as 0, so values were subtracted from the largest possible one."""
YCBCR = {"step": "ycbcr"}
"""Luminance and two chrominance values were converted to RGB."""
STORED_STEPS = ("palette", "cmyk", "gray alpha", "white is zero", "ycbcr", "stretch", "rescale")
"""Every step from stored values to an image. Readers apply them, so recreating an input does not apply them again."""


def stretch_step(bits: int) -> dict[str, Any]:
    """Values of fewer than 8 bits were scaled to 0 to 255."""
    return {"step": "stretch", "bits": bits}


def apply_palette(indices: Array, colours: Array) -> Array:
    """The colours (N, 3) or (N, 4) of indices (H, W): (H, W) where every colour is an opaque gray, else (H, W, C).
    Raises IndexError for an index without a colour."""
    if colours.shape[1] == 3 and is_gray(colours):
        colours = colours[:, 0]
    return colours.take(indices, axis=0)


def is_gray(colours: Array) -> bool:
    """Whether red, green and blue are equal in all colours (N, 3)."""
    return bool((colours == colours[:, :1]).all())


def from_cmyk(array: Array) -> Array:
    """RGB (H, W, 3) of CMYK (H, W, 4) in uint8 or uint16, where the largest value is full ink: (1 - C) (1 - K), rounded
    to nearest."""
    top = int(np.iinfo(array.dtype).max)
    light = np.uint32(top) - array[..., 3:].astype(np.uint32)
    inked = (array[..., :3] * light + np.uint32(top // 2)) // np.uint32(top)  # 65535² + 32767 still fits
    return np.asarray((light - inked).astype(array.dtype))


def from_gray_alpha(array: Array) -> Array:
    """RGBA (H, W, 4) of gray with alpha (H, W, 2)."""
    return np.ascontiguousarray(array[..., [0, 0, 0, 1]])


def from_gray_key(array: Array, key: int) -> Array:
    """RGBA (H, W, 4) of gray (H, W), of which one value is transparent."""
    result = np.full((*array.shape, 4), np.iinfo(array.dtype).max, array.dtype)
    result[..., :3] = array[..., None]
    result[array == key, 3] = 0
    return result


def from_white_zero(array: Array, bits: int) -> Array:
    """Unsigned integers of so many bits with black as 0, from a file with white as 0."""
    return np.asarray(array.dtype.type(2**bits - 1) - array)
