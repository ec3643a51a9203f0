"""Warp-wide instructions: shuffles, votes, matches and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.sites import Site


class Warps:
    """The running lanes, warp by warp: arrays (warps, 32) over the warps with at least one running lane."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        mask = whole_mask(lanes).reshape(-1, WARP)
        self.selection = np.flatnonzero(mask.any(axis=1))
        self.active = mask[self.selection]

    def of(self, array: Array, fill: Any = 0) -> Array:
        """An array in the lanes' frame as (warps, 32). If packed, lanes that do not run get `fill`."""
        lanes = self.lanes
        wide = np.broadcast_to(array, lanes.shape)
        if lanes.index is not None:
            whole = np.full(lanes.layout.blocks * lanes.layout.width, fill, array.dtype)
            whole[lanes.index] = wide[0]
        else:
            whole = wide.reshape(-1)
        return whole.reshape(-1, WARP)[self.selection]

    def back(self, array: Array) -> Array:
        """An array (warps, 32) converted to the lanes' frame."""
        lanes = self.lanes
        whole = np.zeros((lanes.layout.blocks * lanes.layout.warps, WARP), array.dtype)
        whole[self.selection] = array
        if lanes.index is not None:
            return whole.reshape(-1)[lanes.index][None, :]
        return whole.reshape(lanes.shape)

    def bits(self, flags: Array) -> Array:
        """(warps, 32) booleans as (warps, 1) words."""
        return np.packbits(flags, axis=1, bitorder="little").view(np.int32)


def shuffle(
    lanes: Lanes,
    site: Site,
    findings: Findings,
    mode: str,
    value: Array,
    by: Array,
    clamp: Array,
    mask: Array | None,
) -> tuple[Array, Array]:
    """shfl.sync: the value of another lane, and whether that lane is in the segment. A finding reports another lane
    that is not active, or not in `mask` (None: all lanes are), because the result is undefined: 0 of an inactive lane,
    as on an H200, and the lane's own value otherwise."""
    warps = Warps(lanes)
    lane = np.arange(WARP)[None, :]
    values = warps.of(value)
    b = warps.of(by).astype(np.int64) & 31
    c = warps.of(clamp).astype(np.int64)
    segment, bound = (c >> 8) & 31, c & 31
    highest = (lane & segment) | (bound & ~segment)
    lowest = lane & segment
    if mode == "up":
        source = lane - b
        inside = source >= highest
    elif mode == "down":
        source = lane + b
        inside = source <= highest
    elif mode == "bfly":
        source = lane ^ b
        inside = source <= highest
    else:
        source = lowest | (b & ~segment)
        inside = source <= highest
    source = np.where(inside, source, lane)
    running = np.take_along_axis(warps.active, source, axis=1)
    values = np.where(warps.active, values, values.dtype.type(0))
    missing = warps.active & ~running
    if mask is not None:
        named = warps.of(mask)
        running &= (named >> source & 1).astype(np.bool_)
        missing = warps.active & ~running & ~_outside(warps, site, findings, named)
    if missing.any():
        places, sources = _places(warps, missing), source[missing]
        why = "which its mask does not name" if np.take_along_axis(warps.active, source, 1)[missing][0] else "inactive"
        text = f"reads from lane {sources[0]}, {why}; on hardware the result is undefined"
        findings.add("shuffle from an inactive lane", site.place, lanes, places, lambda at: text)
        source = np.where(np.take_along_axis(warps.active, source, 1) & ~running, lane, source)
    return warps.back(np.take_along_axis(values, source, axis=1)), warps.back(inside)


def _outside(warps: Warps, site: Site, findings: Findings, named: Array) -> Array:
    """The lanes that the mask they give does not name, which are reported."""
    outside = np.asarray(warps.active & (named >> np.arange(WARP) & 1 == 0))
    if outside.any():
        text = "executes this with a mask that does not name it; on hardware the result is undefined"
        findings.add("lane outside its mask", site.place, warps.lanes, _places(warps, outside), lambda at: text)
    return outside


def _places(warps: Warps, flags: Array) -> Array:
    """Indices of flagged lanes in the lanes' flattened frame."""
    return np.flatnonzero(np.broadcast_to(warps.back(flags), warps.lanes.shape))


def _groups(warps: Warps, mask: Array) -> Array:
    """For each lane the participating lanes: they are active, in its mask, and have the same mask. (warps, 32, 32), or
    (warps, 1, 32) where all lanes of each warp have the same mask."""
    bits = warps.of(mask).view(np.uint32)
    named = warps.active[:, None, :] & ((bits[:, :, None] >> np.arange(WARP, dtype=np.uint32)) & 1).astype(np.bool_)
    first = np.take_along_axis(bits, warps.active.argmax(axis=1)[:, None], axis=1)
    if mask.size == 1 or ((bits == first) | ~warps.active).all():
        return np.take_along_axis(named, warps.active.argmax(axis=1)[:, None, None], axis=1)
    return named & (bits[:, :, None] == bits[:, None, :])


def _words(flags: Array) -> Array:
    """(warps, n, 32) booleans as (warps, n) words."""
    return np.packbits(flags, axis=2, bitorder="little").view(np.int32)[:, :, 0]


def vote(lanes: Lanes, mode: str, predicate: Array, mask: Array) -> Array:
    """vote.sync: all, any, uni, or ballot as a word."""
    warps = Warps(lanes)
    part = _groups(warps, mask)
    flags = warps.of(predicate, False)[:, None, :]
    if mode == "ballot":
        return warps.back(np.broadcast_to(_words(flags & part), warps.active.shape))
    every = (flags | ~part).all(axis=2)
    some = (flags & part).any(axis=2)
    answer = {"all": every, "any": some, "uni": every | ~some}[mode]
    return warps.back(np.broadcast_to(answer, warps.active.shape))


def match(lanes: Lanes, mode: str, value: Array, mask: Array) -> tuple[Array, Array]:
    """match.sync: a mask of the lanes that have the same value, and whether all have it. For "all" the word is 0
    unless all lanes have the same value."""
    warps = Warps(lanes)
    part = _groups(warps, mask)
    values = warps.of(value)
    words = _words((values[:, :, None] == values[:, None, :]) & part)
    if mode == "any":
        return warps.back(words), warps.back(warps.active)
    whole = words == _words(part)
    return warps.back(np.where(whole, words, 0)), warps.back(whole)


_REDUCE = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def reduce(lanes: Lanes, operation: str, value: Array, mask: Array) -> Array:
    """redux.sync: one number from all participating lanes."""
    warps = Warps(lanes)
    part = _groups(warps, mask)
    values = warps.of(value)[:, None, :]
    limits = np.iinfo(values.dtype)
    neutral = {"add": 0, "or": 0, "xor": 0, "and": -1, "min": limits.max, "max": limits.min}[operation]
    filled = np.where(part, values, np.array(neutral).astype(values.dtype))
    total = _REDUCE[operation].reduce(filled, axis=2, dtype=values.dtype)
    return warps.back(np.broadcast_to(total, warps.active.shape))


def active_mask(lanes: Lanes) -> Array:
    """activemask: a mask of the active lanes of each lane's warp."""
    warps = Warps(lanes)
    return warps.back(np.broadcast_to(warps.bits(warps.active), warps.active.shape))


def missing(lanes: Lanes, alive: Array, mask: Array, come: Array | None = None) -> Array:
    """For each running lane a word, in the lanes' frame: the live lanes in its mask that have not arrived. `come`
    (blocks, width) are the arrived lanes, by default the running ones."""
    warps = Warps(lanes)
    here = warps.active if come is None else come.reshape(-1, WARP)[warps.selection]
    absent = warps.bits(alive.reshape(-1, WARP)[warps.selection] & ~here)
    if not absent.any():
        return np.zeros((1, 1), np.int32)
    return warps.back(np.where(warps.active, warps.of(mask) & absent, 0))
