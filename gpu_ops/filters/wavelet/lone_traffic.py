"""The sectors that lone warps move: those that the lanes of each of their loads and stores touch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_ops.filters.wavelet import lanes, marched
from gpu_ops.filters.wavelet.bases import Array, taps_of
from gpu_ops.filters.wavelet.lane import BACK, JOIN, THERE, TWO_BACK, TWO_THERE, WARP, Lane, Part
from gpu_ops.filters.wavelet.strips import Extents, Strips, extents_of
from gpu_ops.task import Task

SECTOR, FLOAT, FOUR = 32, 4, 4


def of_image(task: Task) -> Mapping[str, int]:
    """Of a periodic image all of whose levels are marched, in rows of whole sectors; of others nothing is said."""
    extents, (there, back) = extents_of(task), marched.two_at_once(task)
    stored = extents[: max(len(extents) - 1, 3 * there)]
    whole = Strips.of(task).periodic and all(e.columns % (SECTOR // FLOAT) == 0 for e in stored)
    if not whole or not all(marched.marches(task, level) for level in range(1, len(extents))):
        return {}
    launches = [_of_two_there(task)] if there else []
    launches += [_of_two_back(task)] if back else []
    for level in range(1, len(extents)):
        alone, again = level == len(extents) - 1, JOIN if marched.keeps(task, level) else BACK
        if not alone and not (there and level <= 2):
            launches.append(_of_level(task, level, THERE, alone))
        if not (back and level <= 2):
            launches.append(_of_level(task, level, again, alone))
    loads, stores = map(sum, zip(*launches, strict=True))
    return {"global_load_sectors": loads, "global_store_sectors": stores}


def _of_level(task: Task, level: int, part: Part, alone: bool) -> tuple[int, int]:
    """Sectors that a launch loads and stores."""
    lane, extents, kept = Lane.of(task), extents_of(task), 3 if marched.keeps(task, level) else 0
    samples, results = extents[level - 1], extents[level]
    strips, segments, height = marched.grid_of(task, level, part)
    ends = results if part is THERE else samples
    spans = [(k * height, min((k + 1) * height, ends.rows)) for k in range(segments)]
    steps = sum(_steps(lane, above, below, part) for above, below in spans)
    first, last = lane.lost(part)
    mine = slice(first, WARP - last)
    loads = stores = 0
    for strip in range(strips):
        ahead = 2 * lane.ahead if part is THERE else 0
        left = strip * lane.width(part) + lane.each * (np.arange(WARP) - first) - ahead
        k = left // 2 + lane.ahead
        loads += 2 * steps * _fours(left % samples.columns, lane, samples.columns) if part.splits else 0
        if part is THERE:
            stores += (1 + kept) * results.rows * _pairs(k[mine], lane, results, False)
        else:
            stores += samples.rows * _fours(left[mine], lane, samples.columns)
            loads += 0 if alone else (1 + kept) * steps * _pairs(k, lane, results, True)
    return loads, stores


def _of_two_there(task: Task) -> tuple[int, int]:
    """Sectors that the launch of the first two levels loads and stores on the way there."""
    lane, (samples, _, results) = Lane.of(task), extents_of(task)[:3]
    strips, segments, height = marched.grid_of(task, 2, TWO_THERE)
    half, (first, last) = lane.taps // 2, lane.lost(TWO_THERE)
    counts = [min(height, results.rows - k * height) for k in range(segments)]
    steps = sum(2 * (count + half - 1) + half // 2 * 2 for count in counts)
    loads = stores = 0
    for strip in range(strips):
        left = strip * lane.width(TWO_THERE) + lane.each * (np.arange(WARP) - first) - 6 * lane.ahead
        k = ((left // 2 + lane.ahead) // 2 + lane.ahead)[first : WARP - last]
        loads += 2 * steps * _fours(left % samples.columns, lane, samples.columns)
        stores += 4 * results.rows * _touched(k[k < results.columns])
    return loads, stores


def _of_two_back(task: Task) -> tuple[int, int]:
    """And on the way back."""
    lane, (samples, _, results) = Lane.of(task), extents_of(task)[:3]
    strips, segments, height = marched.grid_of(task, 1, TWO_BACK)
    half, (first, last) = lane.taps // 2, lane.lost(TWO_BACK)
    counts = [_steps_of_two(lane, k * height, min((k + 1) * height, samples.rows)) for k in range(segments)]
    filters = taps_of(task.params["wavelet"])
    ahead = sum(2 * (half - 1 - _unused(taps)) for taps in (filters.rec_lo, filters.rec_hi))
    second = sum(ahead + 4 * -(-count // 2) for count in counts)  # rows of all four bands
    loads = stores = 0
    for strip in range(strips):
        left = strip * lane.width(TWO_BACK) + lane.each * (np.arange(WARP) - first)
        k = (left // 2 + lane.ahead) // 2 % results.columns
        loads += 2 * sum(counts) * _fours(left % samples.columns, lane, samples.columns)
        loads += second * _touched(k)
        stores += samples.rows * _fours(left[first : WARP - last], lane, samples.columns)
    return loads, stores


def _unused(taps: Array) -> int:
    """The earliest coefficients that samples do not need, because the taps that they meet are zero."""
    most = len(taps) // 2 - 1
    return next((k for k in range(most) if any(taps[len(taps) - 2 * k - 2 : len(taps) - 2 * k])), most)


def _steps_of_two(lane: Lane, above: int, below: int) -> int:
    """The steps of a segment of two levels on the way back, which begins with a pair of approximations."""
    wanted = ((above + lane.reach) >> 1) - lane.taps // 2 + 1
    first = wanted - (wanted + lane.reach - lane.taps // 2 + 1) % 2
    return ((below - 1 + lane.reach) >> 1) - first + lane.taps // 2


def _steps(lane: Lane, above: int, below: int, part: Part) -> int:
    """The steps of a segment."""
    half = lane.taps // 2
    if part is THERE:
        return below - above + half - 1
    first = ((above + lane.reach) >> 1) - half + 1
    return ((below - 1 + lane.reach) >> 1) - first + (half if part is BACK else 1)


def _fours(left: Array, lane: Lane, columns: int) -> int:
    """Sectors of a row, from where lanes load or store fours; those beyond the edge are no one's."""
    places = [(left + four)[left + four < columns] for four in range(0, lane.each, FOUR)]
    return sum(_touched(place % columns) for place in places)


def _pairs(k: Array, lane: Lane, results: Extents, around: bool) -> int:
    """Sectors of a row of a band, from where lanes load or store pairs."""
    places = [k + pair for pair in range(0, lane.each // 2, 2)]
    inside = [
        place % results.columns if around else place[(place >= 0) & (place < results.columns)] for place in places
    ]
    return sum(_touched(place) for place in inside)


def _touched(places: Array) -> int:
    return len(np.unique(places * FLOAT // SECTOR))


def of_signal(task: Task) -> Mapping[str, int]:
    """Of a signal in tiles of a warp: tiles inside in fours, those at the ends sample by sample."""
    columns, lane = extents_of(task)[0].columns, Lane.of(task)
    if columns % (SECTOR // FLOAT):
        return {}
    levels = lanes.levels_of(task)
    width, tile, lost = lane.width(BACK, levels), WARP * lane.each, lane.lost(BACK, levels)[0] * lane.each
    loads = stores = 0
    for left in range(-lost, columns - lost, width):
        if left >= 0 and left + tile <= columns:
            loads, stores = loads + tile * FLOAT // SECTOR, stores + width * FLOAT // SECTOR
            continue
        places = (left + np.arange(tile)) % columns
        loads += sum(_touched(places[k : k + WARP]) for k in range(0, tile, WARP))
        begin = left + lost
        stores += -(-(min(begin + width, columns) - begin) * FLOAT // SECTOR)
    return {"global_load_sectors": loads, "global_store_sectors": stores}
