"""Devices of an engine host by the names that they have here: "gpu-host/cuda:0" is its cuda:0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gpu_ops.device_names import device_host, on_host
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import (
    BlockRequest,
    CliffsRequest,
    ContractRequest,
    PredictionRequest,
    TrafficRequest,
    XRayRequest,
)
from gpu_ops.engine.messages import (
    FramesRequest,
    Request,
    RunRequest,
    RunUpdate,
    TimelinesRequest,
    TransfersRequest,
)


def hosts_of(request: Request) -> tuple[str, ...]:
    """The hosts of the devices that a request names, "" for this machine."""
    match request:
        case RunRequest() | TimelinesRequest():
            names = [pick.device for pick in (*request.picks, *getattr(request, "occupancy_for", ()))]
        case XRayRequest() if request.profile:
            names = [""]  # the profile's file is here
        case PredictionRequest() | TrafficRequest():
            names = [pick.device for pick in request.picks]
        case BlockRequest() | CliffsRequest() | ContractRequest() | FramesRequest() | XRayRequest():
            names = [request.pick.device]
        case TransfersRequest():
            names = [request.device]
        case _:
            names = []
    return tuple(dict.fromkeys(map(device_host, names)))


def named_there(value: Any) -> Any:
    """A value of a message with the name that its device has on its host."""
    return _renamed(value, lambda name: on_host("", name))


def named_here(value: Any, host: str) -> Any:
    """A value of a message of a host with the name that its device has here; provenance names the host."""
    if isinstance(value, RunUpdate) and value.provenance:
        devices = {on_host(host, name): about for name, about in value.provenance.get("devices", {}).items()}
        return replace(value, provenance={**value.provenance, "remote": host, "devices": devices})
    return _renamed(value, lambda name: on_host(host, name))


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, DeviceStatus):
        return replace(value, name=rename(value.name))
    if is_dataclass(value) and not isinstance(value, type) and any(f.name == "device" for f in fields(value)):
        return replace(value, device=rename(value.device))  # type: ignore[attr-defined]
    return value


def merged(provenance: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Provenance of this machine with that of a host: it names the devices of both."""
    if not provenance:
        return dict(other)
    hosts = {**provenance.get("hosts", {}), other["remote"]: {k: v for k, v in other.items() if k != "devices"}}
    return {**provenance, "hosts": hosts, "devices": {**provenance.get("devices", {}), **other["devices"]}}
