"""Integers as WFDB files pack them, by the number of their format."""

from __future__ import annotations

import numpy as np

from gpu_ops.io.inputs import Array

BITS = {16: 16, 212: 12, 80: 8, 24: 24, 32: 32, 61: 16, 160: 16}
"""Bits of a sample by format: two's complement with the lowest byte first (16, 24, 32) or last (61), two samples in
three bytes (212), and offset binary (80, 160)."""
MISSING = {16: -(2**15), 61: -(2**15), 160: -(2**15), 212: -(2**11), 80: -(2**7), 24: -(2**23), 32: -(2**31)}
"""The value that stands for a sample that is missing."""


def unpack(packed: bytes, count: int, format: int) -> tuple[Array, int]:
    """`count` samples as int32, none where there are too few bytes, and the value of missing ones. In format 212 an odd
    `count` is for the end of a file only."""
    data = np.frombuffer(packed, np.uint8)
    if len(data) < -(-count * BITS[format] // 8):
        return np.empty(0, np.int32), MISSING[format]
    if format in (16, 32):
        samples = data.view(f"<i{format // 8}").astype(np.int32)
    elif format == 61:
        samples = data.view(">i2").astype(np.int32)
    elif format == 160:
        samples = data.view("<u2").astype(np.int32) - 2**15
    elif format == 80:
        samples = data.astype(np.int32) - 2**7
    elif format == 24:
        low, middle, high = (data[k::3].astype(np.int32) for k in range(3))
        samples = low | middle << 8 | (high ^ 0x80) - 0x80 << 16
    else:
        samples = _from_212(data, count)
    return samples, MISSING[format]


def _from_212(data: Array, count: int) -> Array:
    """Two samples in three bytes: the second byte has the upper four bits of the first sample in its lower half, and
    those of the second in its upper half."""
    whole = np.zeros(-(-count // 2) * 3, np.int32)
    whole[: len(data)] = data
    low, middle, high = whole[0::3], whole[1::3], whole[2::3]
    samples = np.empty(2 * len(low), np.int32)
    samples[0::2] = low | (middle & 0x0F) << 8
    samples[1::2] = high | (middle & 0xF0) << 4
    samples[samples >= 2**11] -= 2**12
    return samples[:count]
