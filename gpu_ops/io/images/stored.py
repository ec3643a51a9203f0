"""From the values that an image file stores to gray, RGB or RGBA: palettes, printing colours, transparency."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.io.inputs import Array

PALETTE = {"step": "palette"}
"""Numbers of colours became those colours."""
CMYK = {"step": "cmyk"}
"""Cyan, magenta, yellow and black became red, green and blue, without a colour profile."""
GRAY_ALPHA = {"step": "gray alpha"}
"""Gray with transparency, or with one transparent gray, became RGBA with three equal colours."""
WHITE_ZERO = {"step": "white is zero"}
"""The file stores white as 0, so values were subtracted from the largest one."""
YCBCR = {"step": "ycbcr"}
"""Brightness and two differences of colour became red, green and blue."""
STORED_STEPS = ("palette", "cmyk", "gray alpha", "white is zero", "ycbcr", "stretch", "rescale")
"""Every step from stored values to an image. The reader does them, so they are not applied to its result again."""


def stretch_step(bits: int) -> dict[str, Any]:
    """Values of fewer bits than a byte became 0 to 255."""
    return {"step": "stretch", "bits": bits}


def apply_palette(indices: Array, colours: Array) -> Array:
    """The colours (N, 3) or (N, 4) of indices (H, W): (H, W) where every colour is an opaque gray, else (H, W, C).
    Raises IndexError for an index without a colour."""
    if colours.shape[1] == 3 and is_gray(colours):
        colours = colours[:, 0]
    return colours.take(indices, axis=0)


def is_gray(colours: Array) -> bool:
    """Whether red, green and blue are the same in all colours (N, 3)."""
    return bool((colours == colours[:, :1]).all())


def from_cmyk(array: Array) -> Array:
    """RGB (H, W, 3) of CMYK (H, W, 4) in uint8 or uint16, where the largest value is full ink: (1 - C) (1 - K), each
    rounded to the nearest."""
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
    """Unsigned integers of so many bits with black as 0, where the file has white as 0."""
    return np.asarray(array.dtype.type(2**bits - 1) - array)
