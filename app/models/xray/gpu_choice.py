"""The GPU that times are predicted for, with the user's numbers, as a session keeps it. No widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.models.files.json_text import Fields
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu, what_if

LEAST, MOST = 0.05, 20.0
"""The limits of factors."""
MOST_MULTIPROCESSORS = 1000
MOST_KIB = 1000
"""Of shared memory of a multiprocessor."""


@dataclass(frozen=True)
class GpuChoice:
    """A GPU by its id, factors of its bandwidths of memory and of L2 and of its clock, a number of multiprocessors and
    the KiB of shared memory of each, 0 for its own."""

    id: str = "h100"
    bandwidth: float = 1.0
    l2: float = 1.0
    clock: float = 1.0
    multiprocessors: int = 0
    kib_of_shared: int = 0

    @property
    def own(self) -> Gpu:
        """The GPU as it is."""
        return GPUS[self.id]

    @property
    def gpu(self) -> Gpu:
        """The GPU with these numbers."""
        shared = self.kib_of_shared << 10
        return what_if(self.own, self.bandwidth, self.l2, self.multiprocessors or None, self.clock, shared or None)

    @property
    def numbers(self) -> Mapping[str, float]:
        """All numbers that can be changed, by their names; its own where they are not."""
        gpu = self.gpu
        counts = {"multiprocessors": gpu.multiprocessors, "kib_of_shared": gpu.shared_bytes >> 10}
        return {"bandwidth": self.bandwidth, "l2": self.l2, "clock": self.clock, **counts}

    def with_numbers(self, numbers: Mapping[str, Any]) -> GpuChoice:
        """The same GPU with these numbers, all by their names."""
        plain = GpuChoice(self.id)
        changed = {name: value for name, value in numbers.items() if value != plain.numbers[name]}
        return replace(plain, **changed)

    def as_json(self) -> dict[str, Any]:
        """The choice as in a session file."""
        return asdict(self)


def read_gpu_choice(fields: Fields) -> GpuChoice:
    """The choice of a session file; numbers beyond the limits become the nearest allowed. Raises InputError."""
    numbers: dict[str, Any] = {
        name: min(max(fields.number(name), LEAST), MOST) for name in ("bandwidth", "l2", "clock") if fields.has(name)
    }
    for name, most in (("multiprocessors", MOST_MULTIPROCESSORS), ("kib_of_shared", MOST_KIB)):
        numbers[name] = min(fields.count(name, 0), most)
    return GpuChoice(fields.one_of("id", tuple(GPUS), GpuChoice().id), **numbers)
