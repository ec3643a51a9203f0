"""The orientation that a camera stores in its pictures (Exif 2.3, tag 274), and how to rotate a picture upright."""

from __future__ import annotations

from gpu_ops.errors import InputError
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array

TAG = 0x0112


def find_orientation(exif: bytes) -> int:
    """The orientation in an Exif block, 1 to 8; 1, upright, without a valid one. The block begins with its
    byte order."""
    if not exif:
        return 1
    from PIL import Image

    found = Image.Exif()
    try:
        with codec(InputError("unknown")):
            found.load(exif)
            value = found.get(TAG)
    except InputError:
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def turn_upright(array: Array, orientation: int) -> Array:
    """The picture rotated upright: the same pixels, bit for bit, at other positions."""
    if orientation >= 5:  # rows and columns are exchanged first
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        array = array[::-1]
    if orientation in (2, 3, 6, 7):
        array = array[:, ::-1]
    return array
