"""What a result is of. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Subject:
    """Everything that a variant's result depends on. Two results are of the same where their subjects are equal; a
    picture, its verdict and its times belong together exactly then. `input` counts the inputs of a session."""

    input: int
    filter: str
    variant: str
    device: str
    params: Mapping[str, Any] = field(default_factory=dict)
    knobs: Mapping[str, Any] = field(default_factory=dict)

    def unlike(self, other: Subject) -> dict[str, Any]:
        """The parameters and knobs, by name, in which this differs from another; the device under "device"."""
        own, others = {**self.params, **self.knobs}, {**other.params, **other.knobs}
        found = {name: value for name, value in own.items() if value != others.get(name)}
        return found | ({"device": self.device} if self.device != other.device else {})
