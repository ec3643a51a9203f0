"""The sectors that independent warps load and store: those touched by the lanes of each of their requests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_ops.filters.wavelet.bases import Array, taps_of
from gpu_ops.filters.wavelet.cuda import warp_registers
from gpu_ops.filters.wavelet.cuda.lane import FORWARD, INVERSE, JOIN, TWO_FORWARD, TWO_INVERSE, WARP, Lane, Part
from gpu_ops.filters.wavelet.cuda.strips import Extents, Strips, extents_of
from gpu_ops.filters.wavelet.cuda.warp_strips import Rung, grid_of, stores, streams, two_at_once
from gpu_ops.task import Task

SECTOR, FLOAT, FOUR = 32, 4, 4


def of_image(task: Task, rung: Rung) -> Mapping[str, int]:
    """The sectors of a periodic image all of whose levels are processed by independent warps, with rows of whole
    sectors; {} for others."""
    extents, (forward, inverse) = extents_of(task), two_at_once(task, rung)
    stored = extents[: max(len(extents) - 1, 3 * forward)]
    whole = Strips.of(task).periodic and all(e.columns % (SECTOR // FLOAT) == 0 for e in stored)
    if not whole or not all(streams(task, level) for level in range(1, len(extents))):
        return {}
    launches = [_of_two_forward(task)] if forward else []
    launches += [_of_two_inverse(task)] if inverse else []
    for level in range(1, len(extents)):
        alone, storing = level == len(extents) - 1, stores(task, level, rung)
        if not alone and not (forward and level <= 2):
            launches.append(_of_level(task, level, FORWARD, alone, storing))
        if not (inverse and level <= 2):
            launches.append(_of_level(task, level, JOIN if storing else INVERSE, alone, storing))
    loads, stored_sectors = map(sum, zip(*launches, strict=True))
    return {"global_load_sectors": loads, "global_store_sectors": stored_sectors}


def _of_level(task: Task, level: int, part: Part, alone: bool, storing: bool) -> tuple[int, int]:
    """Sectors that a launch loads and stores."""
    lane, extents, stored = Lane.of(task), extents_of(task), 3 if storing else 0
    samples, results = extents[level - 1], extents[level]
    strips, segments, height = grid_of(task, level, part)
    ends = results if part is FORWARD else samples
    spans = [(k * height, min((k + 1) * height, ends.rows)) for k in range(segments)]
    steps = sum(_steps(lane, above, below, part) for above, below in spans)
    first, last = lane.lost(part)
    mine = slice(first, WARP - last)
    loads = stored_sectors = 0
    for strip in range(strips):
        ahead = 2 * lane.ahead if part is FORWARD else 0
        left = strip * lane.width(part) + lane.each * (np.arange(WARP) - first) - ahead
        k = left // 2 + lane.ahead
        loads += 2 * steps * _fours(left % samples.columns, lane, samples.columns) if part.splits else 0
        if part is FORWARD:
            stored_sectors += (1 + stored) * results.rows * _pairs(k[mine], lane, results, False)
        else:
            stored_sectors += samples.rows * _fours(left[mine], lane, samples.columns)
            loads += 0 if alone else (1 + stored) * steps * _pairs(k, lane, results, True)
    return loads, stored_sectors


def _of_two_forward(task: Task) -> tuple[int, int]:
    """Sectors that the launch of the first two levels loads and stores forward."""
    lane, (samples, _, results) = Lane.of(task), extents_of(task)[:3]
    strips, segments, height = grid_of(task, 2, TWO_FORWARD)
    half, (first, last) = lane.taps // 2, lane.lost(TWO_FORWARD)
    counts = [min(height, results.rows - k * height) for k in range(segments)]
    steps = sum(2 * (count + half - 1) + half // 2 * 2 for count in counts)
    loads = stored_sectors = 0
    for strip in range(strips):
        left = strip * lane.width(TWO_FORWARD) + lane.each * (np.arange(WARP) - first) - 6 * lane.ahead
        k = ((left // 2 + lane.ahead) // 2 + lane.ahead)[first : WARP - last]
        loads += 2 * steps * _fours(left % samples.columns, lane, samples.columns)
        stored_sectors += 4 * results.rows * _sectors_touched(k[k < results.columns])
    return loads, stored_sectors


def _of_two_inverse(task: Task) -> tuple[int, int]:
    """Sectors that their inverse launch loads and stores."""
    lane, (samples, _, results) = Lane.of(task), extents_of(task)[:3]
    strips, segments, height = grid_of(task, 1, TWO_INVERSE)
    half, (first, last) = lane.taps // 2, lane.lost(TWO_INVERSE)
    counts = [_steps_of_two(lane, k * height, min((k + 1) * height, samples.rows)) for k in range(segments)]
    filters = taps_of(task.params["wavelet"])
    ahead = sum(2 * (half - 1 - _unused(taps)) for taps in (filters.rec_lo, filters.rec_hi))
    second = sum(ahead + 4 * -(-count // 2) for count in counts)  # rows of all four bands
    loads = stored_sectors = 0
    for strip in range(strips):
        left = strip * lane.width(TWO_INVERSE) + lane.each * (np.arange(WARP) - first)
        k = (left // 2 + lane.ahead) // 2 % results.columns
        loads += 2 * sum(counts) * _fours(left % samples.columns, lane, samples.columns)
        loads += second * _sectors_touched(k)
        stored_sectors += samples.rows * _fours(left[first : WARP - last], lane, samples.columns)
    return loads, stored_sectors


def _unused(taps: Array) -> int:
    """The number of first coefficients that samples do not need, because the taps that would use them are zero."""
    most = len(taps) // 2 - 1
    return next((k for k in range(most) if any(taps[len(taps) - 2 * k - 2 : len(taps) - 2 * k])), most)


def _steps_of_two(lane: Lane, above: int, below: int) -> int:
    """The steps of a segment of the inverse of two levels, which begins with a pair of approximations."""
    wanted = ((above + lane.reach) >> 1) - lane.taps // 2 + 1
    first = wanted - (wanted + lane.reach - lane.taps // 2 + 1) % 2
    return ((below - 1 + lane.reach) >> 1) - first + lane.taps // 2


def _steps(lane: Lane, above: int, below: int, part: Part) -> int:
    """The steps of a segment."""
    half = lane.taps // 2
    if part is FORWARD:
        return below - above + half - 1
    first = ((above + lane.reach) >> 1) - half + 1
    return ((below - 1 + lane.reach) >> 1) - first + (half if part is INVERSE else 1)


def _fours(left: Array, lane: Lane, columns: int) -> int:
    """Sectors of a row, from the positions where lanes load or store groups of four; none beyond the edge."""
    positions = [(left + four)[left + four < columns] for four in range(0, lane.each, FOUR)]
    return sum(_sectors_touched(position % columns) for position in positions)


def _pairs(k: Array, lane: Lane, results: Extents, around: bool) -> int:
    """Sectors of a row of a band, from the positions where lanes load or store pairs."""
    positions = [k + pair for pair in range(0, lane.each // 2, 2)]
    inside = [
        position % results.columns if around else position[(position >= 0) & (position < results.columns)]
        for position in positions
    ]
    return sum(_sectors_touched(position) for position in inside)


def _sectors_touched(positions: Array) -> int:
    return len(np.unique(positions * FLOAT // SECTOR))


def of_signal(task: Task) -> Mapping[str, int]:
    """For a signal in tiles of one warp: interior tiles in groups of four, those at the ends sample by sample."""
    columns, lane = extents_of(task)[0].columns, Lane.of(task)
    if columns % (SECTOR // FLOAT):
        return {}
    levels = warp_registers.levels_of(task)
    width, tile, lost = lane.width(INVERSE, levels), WARP * lane.each, lane.lost(INVERSE, levels)[0] * lane.each
    loads = stored_sectors = 0
    for left in range(-lost, columns - lost, width):
        if left >= 0 and left + tile <= columns:
            loads, stored_sectors = loads + tile * FLOAT // SECTOR, stored_sectors + width * FLOAT // SECTOR
            continue
        positions = (left + np.arange(tile)) % columns
        loads += sum(_sectors_touched(positions[k : k + WARP]) for k in range(0, tile, WARP))
        begin = left + lost
        stored_sectors += -(-(min(begin + width, columns) - begin) * FLOAT // SECTOR)
    return {"global_load_sectors": loads, "global_store_sectors": stored_sectors}
