"""The orientation that a camera notes in its pictures (Exif 2.3, tag 274), and how to turn a picture upright."""

from __future__ import annotations

import struct

from gpu_ops.io.inputs import Array

TAG = 0x0112
SHORT = 3
BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
ENTRY = 12
"""Bytes of an entry: tag, type, count, value."""


def find_orientation(exif: bytes) -> int:
    """The orientation in an Exif block, 1 to 8; 1, upright, where it has none that is valid. The block begins with its
    byte order."""
    order = BYTE_ORDERS.get(exif[:4])
    if order is None or len(exif) < 8:
        return 1
    (place,) = struct.unpack_from(f"{order}I", exif, 4)
    (count,) = struct.unpack_from(f"{order}H", exif, place) if place + 2 <= len(exif) else (0,)
    entries = exif[place + 2 : place + 2 + count * ENTRY]
    for at in range(0, len(entries) - ENTRY + 1, ENTRY):
        tag, type, many, value = struct.unpack_from(f"{order}HHIH", entries, at)
        if (tag, type, many) == (TAG, SHORT, 1):
            return value if 1 <= value <= 8 else 1
    return 1


def turn_upright(array: Array, orientation: int) -> Array:
    """The picture as the photographer saw it: the same pixels, bit for bit, in other places."""
    if orientation >= 5:  # rows and columns are exchanged first
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        array = array[::-1]
    if orientation in (2, 3, 6, 7):
        array = array[:, ::-1]
    return array
