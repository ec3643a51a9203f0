"""How exact each variant of the prefix sum is, and which tasks exceed its limits.

Tolerances are relative to the largest sum of the magnitudes of a line's values. Each addition between a value and a sum
rounds by at most half an eps of that; so the error of a variant is at most half an eps per addition of the longest
chain. A sequential loop has n, a tree about log2 n. Sums of integers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_ops.devices.launches import GRID_LIMITS
from gpu_ops.filters.kit.ranges import sum_range
from gpu_ops.filters.scan.lines import Lines
from gpu_ops.task import Task
from gpu_ops.types import Exactness, Rule

BLOCK = 1 << 16
"""Values of an interleaved group that a thread of the parallel variant sums sequentially."""
OFFSETS_BLOCK = 1024
"""Threads that scan the sums of a line's tiles in the variant warp."""
CUB_TILE = 512
"""CUB's tiles have at least this number of values."""

Additions = Callable[[Task], float]


def length(task: Task) -> int:
    """Values of a line."""
    return Lines.of(task.meta).n


def lost(task: Task, additions: float, dtype: str = "") -> float:
    """The maximum error of this number of additions in a type, by default that of the values; the result and the
    reference are rounded once more."""
    if task.dtype.kind == "u":
        return 0.0
    eps, own, double = (float(np.finfo(kind).eps) for kind in (dtype or task.dtype, task.dtype, np.float64))
    return min(additions, length(task)) * eps / 2 + own / 2 + double


def tree(task: Task) -> float:
    """Scans of tiles, of their sums, and so on. A tile of 2^b values takes at most 2 b + 2 additions up, down, for the
    value itself and for the offset; levels of n = 2^m values are at most m / b + 1. That is 2 m + 2 m / b + 2 b + 2,
    which 2.5 m + 24 exceeds for b from 4 to 11."""
    return lost(task, 2.5 * math.log2(length(task)) + 24)


def in_double(additions: Additions, caveat: str) -> Exactness:
    """The error of this number of additions in float64."""
    return Exactness(lambda task: lost(task, additions(task), "float64"), caveat)


def parallel_additions(task: Task) -> float:
    return min(length(task), BLOCK) + length(task) / BLOCK * task.meta.channels + 1


def _warp(task: Task) -> float:
    """The chain of a value: its thread's sum, two scans of 32, the chain of blocks, and the thread's running sum
    again."""
    items = task.knobs["items"]
    tiles = length(task) / (task.knobs["block"] * items)
    return lost(task, 2 * items + 36 + tiles / OFFSETS_BLOCK)


def look_back(size: Callable[[Task], int]) -> Exactness:
    """The chain of a value: its vector and warp, the warps of a tile, and in float64 the chain of preceding tiles of
    `size(task)` values."""

    def tolerance(task: Task) -> float:
        chain = length(task) / size(task) + 36
        return lost(task, task.knobs["vectors"] + 20) + lost(task, chain, "float64")

    return Exactness(tolerance, "the sums of tiles are a chain in float64, in an order that differs from run to run")


def _cupy(task: Task) -> float:
    """Signals of one channel are scanned by CUB, other lines by adding the element 1, 2, 4 … positions before."""
    return lost(task, length(task) / CUB_TILE + 64)


def _torch(task: Task) -> float:
    """A signal of one channel is scanned by CUB; of several lines each is a chain."""
    lines = Lines.of(task.meta)
    return _cupy(task) if lines.many == 1 else lost(task, lines.n)


SERIAL = in_double(length, "a chain of additions in float64: one for each value of a line")
PARALLEL = in_double(
    parallel_additions, f"chains of additions in float64: within blocks of {BLOCK} values, and of the blocks' sums"
)
NUMPY = in_double(
    length, "a chain of additions in float64, as asked: in float32, sums of equal values stop growing at 2^24 of them"
)
WARP = Exactness(_warp, f"the sums of tiles are a chain: one addition for every {OFFSETS_BLOCK} tiles")
CUPY = Exactness(_cupy, f"CUB's tiles look back along a chain: at most one addition for every {CUB_TILE} values")
TORCH = Exactness(_torch, "one line is scanned by CUB; several are chains of additions in the type of the sums")

largest = sum_range(length, "float32", "float64")
"""No sum overflows where no sum of magnitudes does."""


def tiles_fit(size: Callable[[Task], int]) -> Rule:
    """A grid has a block for each tile of `size(task)` values of each line."""

    def too_many(task: Task) -> tuple[int, int, int] | None:
        lines = Lines.of(task.meta)
        blocks = lines.many * lines.tiles(size(task))
        return (lines.many, lines.n, blocks) if blocks > GRID_LIMITS[0] else None

    words = f"{{found[0]}} lines of {{found[1]}} values need {{found[2]}} blocks, a grid has {GRID_LIMITS[0]:,}"
    return Rule(too_many, words)
