"""From the time of one variant to that of the next: what each limit brings, and what was counted for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import LIMITS, SECTOR, Limit, Prediction, l2_lines, predict


@dataclass(frozen=True)
class Count:
    """What a limit's time follows from, in words, and how much of it there is in the launches of a plan."""

    unit: str
    of: Callable[[Sequence[LaunchCounts]], float]


def _sum(*names: str) -> Callable[[Sequence[LaunchCounts]], float]:
    return lambda launches: float(sum(launch.of(name) for launch in launches for name in names))


def _memory(launches: Sequence[LaunchCounts]) -> float:
    sectors = _sum("batch_load_sectors", "batch_store_sectors", "batch_atomic_sectors")(launches)
    return SECTOR * sectors + sum(launch.moved for launch in launches)


def _chain(launches: Sequence[LaunchCounts]) -> float:
    return sum(launch.of("path_loads") / launch.blocks for launch in launches if launch.blocks)


COUNTS: Mapping[Limit, Count] = {
    "memory": Count("bytes", _memory),
    "L2": Count("lines", lambda launches: sum(map(l2_lines, launches))),
    "L1": Count("requests and wavefronts", _sum("global_load_requests", "global_store_requests", "shared_wavefronts")),
    "instructions": Count("warp instructions", _sum("warp_instructions")),
    "latency": Count("loads in a row per block", _chain),
    "launches": Count("launches", lambda launches: float(len(launches))),
}
"""What was counted for each limit. Bytes of memory are those of the sectors that are distinct in a batch of blocks,
lines of L2 have 128 bytes, and loads in a row are those of the warp of a block that works longest."""


@dataclass(frozen=True)
class Part:
    """A limit: the seconds that it brings to the time `before` and `after`, and what was `counted` for it in each, in a
    `unit`."""

    limit: Limit
    before: float
    after: float
    counted: tuple[float, float]
    unit: str

    @property
    def change(self) -> float:
        """The seconds that it adds; negative where it saves some."""
        return self.after - self.before


@dataclass(frozen=True)
class Waterfall:
    """The way from the predicted time of one variant to that of another: its `parts` add up to the difference.
    `unknown` says why there is none."""

    before: Prediction
    after: Prediction
    parts: tuple[Part, ...] = ()
    unknown: str = ""


def waterfall(before: Sequence[LaunchCounts], after: Sequence[LaunchCounts], gpu: Gpu) -> Waterfall:
    """What changes from the launches of one variant to those of another."""
    first, second = predict(before, gpu), predict(after, gpu)
    if unknown := first.unknown or second.unknown:
        return Waterfall(first, second, (), unknown)
    parts = []
    for limit in LIMITS:
        count = COUNTS[limit]
        counted = count.of(before), count.of(after)
        parts.append(Part(limit, first.shares[limit], second.shares[limit], counted, count.unit))
    return Waterfall(first, second, tuple(parts))
