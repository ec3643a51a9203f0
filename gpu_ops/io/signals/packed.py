"""Integers as WFDB files pack them, by the number of their format."""

from __future__ import annotations

import numpy as np

from gpu_ops.io.inputs import Array

GROUPS = {
    16: (1, 2), 212: (2, 3), 80: (1, 1), 24: (1, 3), 32: (1, 4), 61: (1, 2), 160: (1, 2), 310: (3, 4), 311: (3, 4)
}  # fmt: skip
"""Samples and bytes of one packed group, by format: two's complement with the lowest byte first (16, 24, 32) or
last (61), two samples of 12 bits in three bytes (212), three of 10 bits in four (310, 311), and offset binary (80,
160)."""
BITS = {16: 16, 212: 12, 80: 8, 24: 24, 32: 32, 61: 16, 160: 16, 310: 10, 311: 10}
"""Bits of a sample by format."""
MISSING = {format: -(2 ** (bits - 1)) for format, bits in BITS.items()}
"""The value of a missing sample."""
ENDS = {212: (0, 2), 310: (0, 2, 4), 311: (0, 2, 3)}
"""The number of bytes of the last samples of a file that do not fill a group."""


def bytes_of(count: int, format: int) -> int:
    """The minimum number of bytes for so many samples."""
    samples, nbytes = GROUPS[format]
    whole, rest = divmod(count, samples)
    return whole * nbytes + (ENDS[format][rest] if rest else 0)


def samples_in(nbytes: int, format: int) -> int:
    """The most samples in so many bytes; 0 for negative numbers."""
    samples, group = GROUPS[format]
    whole, rest = divmod(max(nbytes, 0), group)
    return whole * samples + sum(0 < end <= rest for end in ENDS.get(format, ()))


def unpack(packed: bytes, count: int, format: int) -> tuple[Array, int]:
    """`count` samples as int32, none where there are too few bytes, and the value of missing ones. A `count` that is
    not a multiple of the group is allowed only at the end of a file."""
    data = np.frombuffer(packed, np.uint8)
    if len(data) < bytes_of(count, format):
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
    elif format == 212:
        samples = _from_212(data, count)
    else:
        samples = _from_31x(data, count, format)
    return samples, MISSING[format]


def _from_212(data: Array, count: int) -> Array:
    """Two samples in three bytes: the second byte has the upper four bits of the first sample in its lower half, and
    those of the second in its upper half."""
    low, middle, high = _columns(data, count, 212)
    samples = np.empty(2 * len(low), np.int32)
    samples[0::2] = low | (middle & 0x0F) << 8
    samples[1::2] = high | (middle & 0xF0) << 4
    samples[samples >= 2**11] -= 2**12
    return samples[:count]


def _from_31x(data: Array, count: int, format: int) -> Array:
    """Three samples of ten bits in four bytes, which are two numbers of 16 bits, the lowest byte first. In format 310
    each number has a sample in its bits 1 to 10, and the upper five bits of both form the third, the lower ones from
    the first number. In format 311 the three are contiguous, from the lowest bit on."""
    a, b, c, d = _columns(data, count, format)
    first, second = a | b << 8, c | d << 8
    samples = np.empty((len(a), 3), np.int32)
    if format == 310:
        samples[:, 0], samples[:, 1] = first >> 1, second >> 1
        samples[:, 2] = first >> 11 | second >> 11 << 5
    else:
        both = first | second << 16
        samples[:, 0], samples[:, 1], samples[:, 2] = both, both >> 10, both >> 20
    samples &= 0x3FF
    samples[samples >= 2**9] -= 2**10
    return samples.reshape(-1)[:count]


def _columns(data: Array, count: int, format: int) -> Array:
    """The first, second … byte of each group, as int32; the last group may lack some."""
    samples, nbytes = GROUPS[format]
    whole = np.zeros(-(-count // samples) * nbytes, np.int32)
    part = data[: len(whole)]
    whole[: len(part)] = part
    return whole.reshape(-1, nbytes).T
