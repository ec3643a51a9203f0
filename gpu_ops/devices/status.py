"""What is known of a device before it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.device_names import device_kind


@dataclass(frozen=True)
class DeviceStatus:
    """Whether a device can be used here; `reason` says why not and what to install. `architecture` is what kernels are
    compiled for on a GPU, such as "sm_90"; empty where that is not known."""

    name: str
    model: str
    available: bool
    reason: str = ""
    architecture: str = ""

    @property
    def kind(self) -> str:
        """cpu, cuda or sim."""
        return device_kind(self.name)
