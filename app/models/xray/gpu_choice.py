"""The GPU that times are predicted for, with the user's numbers, as a session keeps it. No widgets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from app.models.files.json_text import Fields
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu, what_if

LEAST, MOST = 0.05, 20.0
"""The limits of factors."""
MOST_MULTIPROCESSORS = 1000


@dataclass(frozen=True)
class GpuChoice:
    """A GPU by its id, factors of its bandwidths of memory and of L2 and of its clock, and a number of multiprocessors,
    0 for its own."""

    id: str = "h100"
    bandwidth: float = 1.0
    l2: float = 1.0
    clock: float = 1.0
    multiprocessors: int = 0

    @property
    def own(self) -> Gpu:
        """The GPU as it is."""
        return GPUS[self.id]

    @property
    def gpu(self) -> Gpu:
        """The GPU with these numbers."""
        return what_if(self.own, self.bandwidth, self.l2, self.multiprocessors or None, self.clock)

    def as_json(self) -> dict[str, Any]:
        """The choice as in a session file."""
        return asdict(self)


def read_gpu_choice(fields: Fields) -> GpuChoice:
    """The choice of a session file; numbers beyond the limits become the nearest allowed. Raises InputError."""
    plain = GpuChoice()
    factors = {
        name: min(max(fields.number(name), LEAST), MOST) for name in ("bandwidth", "l2", "clock") if fields.has(name)
    }
    count = min(fields.count("multiprocessors", 0), MOST_MULTIPROCESSORS)
    return replace(plain, id=fields.one_of("id", tuple(GPUS), plain.id), multiprocessors=count, **factors)
