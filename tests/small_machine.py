"""A machine with a small cache, whatever this one has: a measurement on the CPU moves several times the last cache for
each roof and each rotation of inputs, which is gigabytes and seconds on a server."""

from __future__ import annotations

from collections.abc import Callable

SMALL = {
    "gpu_ops.devices.cpu.last_level_cache": lambda: 4 << 20,
    "gpu_ops.measuring.roofline.CPU_SMALLEST": 64 << 20,
}


def make_small(set_by_name: Callable[[str, object], None]) -> None:
    """Have this process measure so."""
    for name, value in SMALL.items():
        set_by_name(name, value)
