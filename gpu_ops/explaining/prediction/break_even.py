"""From which size on a GPU, with the copies to it and back, is faster than a CPU whose time is known for one size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import INTERVAL, predict

COPY = 5e-6
"""Seconds of a copy on top of its bytes."""
SMALLEST, LARGEST = 2.0**-16, 2.0**12
"""The sizes that are tried, as factors of the one that was counted."""
STEPS = 12
"""Halvings of a step between two sizes: to less than a thousandth."""


@dataclass(frozen=True)
class BreakEven:
    """The `seconds` of a plan with both copies, predicted. From between `low` and `high` times the input's size on, by
    the lower and by the upper end of its interval, it takes less than the CPU: 0 where it always does, None where it
    never does."""

    seconds: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of its seconds."""
        return self.seconds / INTERVAL, self.seconds * INTERVAL


def find_break_even(launches: Sequence[LaunchCounts], gpu: Gpu, copied: int, cpu: float) -> BreakEven | None:
    """The break-even size against a CPU that takes `cpu` seconds for this input, of which so many bytes are `copied` in
    both directions together. Blocks, counts and bytes, and the time of the CPU, are taken to grow with the size. None
    where the time of the launches is unknown."""
    if predict(launches, gpu).unknown:
        return None

    def first(end: float) -> float | None:
        return _first(lambda size: with_copies(launches, gpu, copied, size) * end < cpu * size)

    return BreakEven(with_copies(launches, gpu, copied), first(1 / INTERVAL), first(INTERVAL))


def with_copies(launches: Sequence[LaunchCounts], gpu: Gpu, copied: int, size: float = 1.0) -> float:
    """The predicted seconds of a plan with its copies, at so many times its size."""
    return predict([_scaled(launch, size) for launch in launches], gpu).seconds + 2 * COPY + copied * size / gpu.bus


def _scaled(launch: LaunchCounts, size: float) -> LaunchCounts:
    counts = {name: round(count * size) for name, count in launch.counts.items()}
    blocks = max(round(launch.blocks * size), 1) if launch.blocks else 0
    return replace(
        launch, blocks=blocks, moved=round(launch.moved * size), arrays=round(launch.arrays * size), counts=counts
    )


def _first(gains: Callable[[float], bool]) -> float | None:
    """The least size from which on there is a gain."""
    size = LARGEST
    if not gains(size):
        return None
    while gains(size / 2):
        size /= 2
        if size <= SMALLEST:
            return 0.0
    step = size / 4
    for _ in range(STEPS):
        size -= step if gains(size - step) else 0.0
        step /= 2
    return size
