"""Parsing the name of a device: "cpu", "cuda:1", "sim" or "sim:sm_90", and on another machine "gpu-host/cuda:0"."""

from __future__ import annotations


def device_host(name: str) -> str:
    """The machine before the slash, "" for this one."""
    return name.rpartition("/")[0]


def on_host(host: str, name: str) -> str:
    """The name of a host's device: "cuda:0" on "gpu-host" is "gpu-host/cuda:0"; "" is this machine."""
    own = name.rpartition("/")[2]
    return f"{host}/{own}" if host else own


def device_kind(name: str) -> str:
    """The part before the colon, without a host: cpu, cuda or sim."""
    return on_host("", name).partition(":")[0]


def device_place(name: str) -> str:
    """The part after the colon: a GPU's number, or the simulated architecture; "" without a colon."""
    return name.partition(":")[2]


def is_simulated(name: str) -> bool:
    """Whether this is a simulated GPU, which counts its work and has no times."""
    return device_kind(name) == "sim"
