"""The architecture that an X-ray simulates. No widgets."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_ops.device_names import device_host, device_place, is_simulated, on_host
from gpu_ops.devices.status import DeviceStatus

SIMULATED = "sm_75"
"""The architecture to simulate where the chosen device has none: the default of a simulated GPU."""


def architecture_of(device: str, statuses: Sequence[DeviceStatus]) -> str:
    """A device's architecture, so that the counts are those of the code that runs there."""
    place = device_place(device)
    if is_simulated(device) and place:
        return place
    architectures = {status.name: status.architecture for status in statuses}
    return architectures.get(device, "") or SIMULATED


def simulated_beside(device: str) -> str:
    """The simulated GPU of the machine that has this device, where its inputs and its compiler are: "gpu-host/sim"
    for "gpu-host/cuda:0"."""
    return on_host(device_host(device), "sim")
