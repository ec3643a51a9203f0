"""How often samples of a warp fall into the same bin, and the cost of that in kernels with shared counts.

Lanes with samples in one bin are serialised: atomic additions to one address are executed one after the other, and the
exchange of tags takes as many rounds as the most frequent bin of a warp has samples, from 1 to 32. Source: S3.
"""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.histogram.bins import Array, bins_of
from gpu_ops.filters.histogram.gpu import slots_of
from gpu_ops.filters.histogram.reference import slots_of_samples
from gpu_ops.task import Task

WARP = 32
CHUNK = 1 << 15
"""Warps at a time."""


def collisions(task: Task) -> dict[str, int]:
    """Atomic additions that conflict with another one of their warp at the same address, in kernels whose lanes take
    pixels in order."""
    return {"atomic_collisions": sum(int((present - distinct).sum()) for present, distinct, _ in _warps(task))}


def rounds(task: Task) -> int:
    """Rounds of the exchange of tags: for each 32 samples, the maximum number in one bin."""
    return sum(int(most.sum()) for _, _, most in _warps(task))


def tagged_stores(task: Task) -> dict[str, int]:
    """Stores to shared memory of 4_tagged.cu: the bounds and the zeros of every block, and one per round. {} if other
    kernels follow, which store as well."""
    if task.params["result"] != "counts":
        return {}
    block, each = task.knobs["block"], task.knobs["pixels"]
    blocks = -(-(task.meta.size // task.meta.channels) // (block * each))
    zeros = -(-slots_of(task) * (block // WARP) // WARP)
    return {"shared_store_requests": blocks * (zeros + -(-(task.params["bins"] + 1) // WARP)) + rounds(task)}


def _warps(task: Task) -> list[tuple[Array, Array, Array]]:
    """For each histogram and warp: lanes that count, distinct bins among them, and the maximum number in one bin."""
    found = []
    block = task.knobs["block"]
    for slots in slots_of_samples(task.x.reshape(-1, task.meta.channels), bins_of(task)).T:
        whole = np.full(-(-len(slots) // block) * block, -1, np.int32)
        whole[: len(slots)] = slots
        lanes = np.full((len(whole) // block, -(-block // WARP) * WARP), -1, np.int32)
        lanes[:, :block] = whole.reshape(-1, block)  # the last warp of a block may be partial
        warps = lanes.reshape(-1, WARP)
        warps = warps[warps[:, 0] >= 0]
        found += [_counted(warps[start : start + CHUNK]) for start in range(0, len(warps), CHUNK)]
    return found


def _counted(warps: Array) -> tuple[Array, Array, Array]:
    ordered = np.sort(warps, axis=1)
    present = ordered >= 0
    return present.sum(axis=1), (_first(ordered) & present).sum(axis=1), fullest(warps)


def fullest(warps: Array) -> Array:
    """(W,) of bins (W, 32): the maximum number of lanes of each warp in one bin; negative bins do not count."""
    ordered, lane = np.sort(warps, axis=1), np.arange(WARP)
    run = lane - np.maximum.accumulate(np.where(_first(ordered), lane, 0), axis=1) + 1
    most: Array = np.where(ordered >= 0, run, 0).max(axis=1)
    return most


def _first(ordered: Array) -> Array:
    """Where each run of equal bins begins."""
    first = np.ones(ordered.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return first
