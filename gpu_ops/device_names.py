"""Parsing the name of a device: "cpu", "cuda:1", "sim" or "sim:sm_90"."""

from __future__ import annotations


def device_kind(name: str) -> str:
    """The part before the colon: cpu, cuda or sim."""
    return name.partition(":")[0]


def device_place(name: str) -> str:
    """The part after the colon: a GPU's number, or the simulated architecture; "" without a colon."""
    return name.partition(":")[2]


def is_simulated(name: str) -> bool:
    """Whether this is a simulated GPU, which counts its work and has no times."""
    return device_kind(name) == "sim"
