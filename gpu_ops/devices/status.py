"""The status of a device before it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.device_names import device_kind


@dataclass(frozen=True)
class DeviceStatus:
    """Whether a device can be used here; if not, `reason` says why and what to install. `architecture` is a GPU's, such
    as "sm_90", and empty if it is unknown."""

    name: str
    model: str
    available: bool
    reason: str = ""
    architecture: str = ""

    @property
    def kind(self) -> str:
        """cpu, cuda or sim."""
        return device_kind(self.name)
