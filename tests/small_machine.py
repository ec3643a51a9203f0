"""A machine with a small cache, whatever this one has: a measurement on the CPU moves several times the last cache for
each roof and each rotation of inputs, which is gigabytes and seconds on a server. The series of samples for a roof are
short as well: tests need roofs, but not good ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpu_ops.devices import cpu
from gpu_ops.running import roofline, timing

MIB = 1 << 20
SHORTER = 20
"""How many times sooner a series of samples for a roof ends than its rule says."""


def make_small(put: Callable[[object, str, object], None] = setattr) -> None:
    """Have this process measure so."""
    put(cpu, "last_level_cache", lambda: 4 * MIB)
    put(roofline, "CPU_SMALLEST", 64 * MIB)
    put(roofline, "QUICK", replace(timing.QUICK, cap_seconds=timing.QUICK.cap_seconds / SHORTER))
