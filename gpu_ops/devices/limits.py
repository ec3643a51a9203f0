"""The limits of a GPU of each architecture, from the vendor's table of compute capabilities."""

from __future__ import annotations

from gpu_ops.plan import Limits

SHARED_KIB = {
    75: 64,
    80: 163,
    86: 99,
    87: 163,
    88: 99,
    89: 99,
    90: 227,
    100: 227,
    103: 227,
    110: 227,
    120: 99,
    121: 99,
}
"""Kibibytes of shared memory a block may opt in to."""

MOST_MULTIPROCESSORS = {
    "sm_75": 72,
    "sm_80": 108,
    "sm_86": 84,
    "sm_89": 142,
    "sm_90": 132,
    "sm_100": 148,
    "sm_120": 188,
}
"""Multiprocessors of the largest GPU of an architecture, by the vendor's data sheets: Titan RTX, A100, RTX A6000, L40S,
H100 SXM, B200 and RTX PRO 6000."""


def limits_of(architecture: str) -> Limits:
    """The limits of an absent GPU such as "sm_90": one multiprocessor, 8 GiB of memory."""
    number = int(architecture[3:])
    shared = SHARED_KIB.get(number, 48) << 10
    return Limits((number // 10, number % 10), 1024, shared, 1, 32 << 20, 8 << 30, 2)
