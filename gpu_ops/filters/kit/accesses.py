"""Expected thread-level global loads of kernels that read windows, including edge blocks and partial blocks.

The source's formulas, for B outputs per block, F taps, r = F // 2, inner block / edge block: naive 2BF / 2BF - r(r+1),
constant BF / BF - r(r+1)/2, shared B + 2r / B + r; a partial last block of m outputs has m in place of B. Here they are
extended to several channels and outputs per thread; with a border other than zero no load is skipped. Source: S4.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.filters.kit.planning import block_shape
from gpu_ops.task import Task
from gpu_ops.types import Accesses

Span = tuple[int, int]


def taps_along(start: int, stop: int, n: int, channels: int, window: int, border: str) -> int:
    """Loads of samples by the elements start…stop-1 of an axis of n positions, one for each tap inside the array."""
    return _taps_before(stop, n, channels, window, border) - _taps_before(start, n, channels, window, border)


def _taps_before(stop: int, n: int, channels: int, window: int, border: str) -> int:
    whole, rest = divmod(stop, channels)
    full = channels * _taps_of_positions(whole, n, window, border)
    return full + rest * (
        _taps_of_positions(whole + 1, n, window, border) - _taps_of_positions(whole, n, window, border)
    )


def _taps_of_positions(m: int, n: int, window: int, border: str) -> int:
    """Taps inside for positions 0…m-1 of n."""
    if border != "zero":
        return m * window
    radius = window // 2
    if window > n:
        return sum(min(p + radius, n - 1) - max(p - radius, 0) + 1 for p in range(m))
    left = min(m, radius)
    missing = left * radius - left * (left - 1) // 2
    right = max(0, m - (n - radius))
    return m * window - missing - right * (right + 1) // 2


def tile_along(start: int, stop: int, n: int, channels: int, window: int, border: str) -> int:
    """Loads of a tile for the elements start…stop-1: the elements and a halo on each side, clipped to the array."""
    halo = window // 2 * channels
    if border != "zero":
        return stop - start + 2 * halo
    return min(stop + halo, n * channels) - max(start - halo, 0)


def spans(elements: int, per_block: int) -> list[Span]:
    """First and last element of each block."""
    return [(s, min(s + per_block, elements)) for s in range(0, elements, per_block)]


def direct(loads_per_tap: int) -> Callable[[Task], Accesses]:
    """Access counts of a kernel with 1 load per tap, of the sample, or 2, of the sample and the tap."""

    def count(task: Task) -> Accesses:
        if task.meta.of_kind.rank == 2:
            return _account2d(task, taps_along, loads_per_tap)
        n, channels, params = task.meta.shape[0], task.meta.channels, task.params

        def block(start: int, stop: int) -> int:
            return loads_per_tap * taps_along(start, stop, n, channels, params["window"], params["border"])

        return _account1d(task, block, block(0, task.meta.size))

    return count


def tiled(task: Task) -> Accesses:
    """Access counts of a kernel that loads its tile and halo once."""
    if task.meta.of_kind.rank == 2:
        return _account2d(task, tile_along, 1)
    meta, params, knobs = task.meta, task.params, task.knobs

    def block(start: int, stop: int) -> int:
        return tile_along(start, stop, meta.shape[0], meta.channels, params["window"], params["border"])

    # All blocks between the first and the last ones are equal, so the sum needs no pass over all of them.
    per_block = knobs["block"] * knobs["outputs"]
    blocks = -(-meta.size // per_block)
    reach = params["window"] // 2 * meta.channels // per_block + 2
    ends = [b for b in range(blocks) if b < reach or b >= blocks - reach]
    total = sum(block(b * per_block, min((b + 1) * per_block, meta.size)) for b in ends)
    total += (blocks - len(ends)) * (per_block + (params["window"] - 1) * meta.channels)
    return _account1d(task, block, total)


def _account1d(task: Task, block: Callable[[int, int], int], total: int) -> Accesses:
    meta, per_block = task.meta, task.knobs["block"] * task.knobs["outputs"]
    blocks = -(-meta.size // per_block)
    middle = blocks // 2
    first = block(0, min(per_block, meta.size))
    inner = block(middle * per_block, min((middle + 1) * per_block, meta.size))
    return Accesses(first, inner, block((blocks - 1) * per_block, meta.size), total)


def _account2d(task: Task, along: Callable[[int, int, int, int, int, str], int], factor: int) -> Accesses:
    """A block's loads are the product of its rows' count and its columns' count, and so is the sum over all blocks."""
    meta, knobs, window, border = task.meta, task.knobs, task.params["window"], task.params["border"]
    width, height = block_shape(knobs["block"])
    rows = spans(meta.shape[0], height * knobs["outputs"])
    columns = spans(meta.shape[1] * meta.channels, width)
    by_row = [along(a, b, meta.shape[0], 1, window, border) for a, b in rows]
    by_column = [along(a, b, meta.shape[1], meta.channels, window, border) for a, b in columns]
    inner = by_row[len(by_row) // 2] * by_column[len(by_column) // 2]
    first, last = by_row[0] * by_column[0], by_row[-1] * by_column[-1]
    return Accesses(factor * first, factor * inner, factor * last, factor * sum(by_row) * sum(by_column))
