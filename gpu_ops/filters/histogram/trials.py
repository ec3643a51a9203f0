"""Large test cases of the histogram's kernels: threads count more samples than a byte holds, and loop over several
rounds of loads."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.filters.histogram.gpu import FULL, LEVELS, SLOTS
from gpu_ops.input_kinds import Kind, Shape
from gpu_ops.params import Values
from gpu_ops.plan import Limits
from gpu_ops.task import Trial

Trials = Callable[[Limits], tuple[Trial, ...]]
FEW_BINS: Values = {"bins": 16}
READS = 9
"""Loads of a thread, of which a few are in flight at once."""


def _shape(kind: Kind, threads: int, each: int) -> Shape:
    """This number of samples per thread, minus one sample."""
    return (threads * each - 1,) if kind == "signal" else (each, threads)


def of_private(kind: Kind) -> Trials:
    """Threads that add their bytes to the block's sum several times, for equal and for random samples."""
    knobs, shape = {"block": 32, "pixels": 1020}, _shape(kind, 32, 5 * FULL // 2)
    cases = ("uint8", "constant"), ("uint8", "random"), ("float32", "constant")
    return lambda limits: tuple(Trial(shape, *case, FEW_BINS, knobs) for case in cases)


def of_lanes(kind: Kind) -> Trials:
    """Blocks that read several rounds."""
    knobs = {"block": 64, "copies": 8, "blocks": 1, "loads": 2}

    def trials(limits: Limits) -> tuple[Trial, ...]:
        threads = 64 * limits.multiprocessors
        cases = ("uint8", "random", 16), ("uint16", "random", 8), ("float32", "random", 4)
        return tuple(
            Trial(_shape(kind, threads, READS * each), dtype, data, FEW_BINS, knobs) for dtype, data, each in cases
        )

    return trials


def of_bytes(kind: Kind) -> Trials:
    """Threads that count more equal samples than a byte holds; mixed with others, so that each byte of a word
    overflows."""

    def trials(limits: Limits) -> tuple[Trial, ...]:
        shape = _shape(kind, SLOTS * limits.multiprocessors, 3 * LEVELS // 2)
        return tuple(
            Trial(shape, "uint8", data, {}, {"blocks": 1, "loads": 2}) for data in ("constant", "extremes", "random")
        )

    return trials
