"""What the name of a device says: "cpu", "cuda:1", "sim" or "sim:sm_90"."""

from __future__ import annotations


def device_kind(name: str) -> str:
    """What stands before the colon: cpu, cuda or sim."""
    return name.partition(":")[0]


def device_place(name: str) -> str:
    """What stands after the colon: a GPU's number, or the architecture that is simulated; "" where nothing does."""
    return name.partition(":")[2]


def is_simulated(name: str) -> bool:
    """Whether it is a simulated GPU: it counts its work and has no times."""
    return device_kind(name) == "sim"
