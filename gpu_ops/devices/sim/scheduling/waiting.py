"""Lanes that wait at warp-wide instructions for other lanes of their warp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.program import Instruction
from gpu_ops.devices.sim.scheduling.barriers import WaitingLanes
from gpu_ops.devices.sim.warp import missing

VAIN = "warp instruction that never completes"


@dataclass(frozen=True)
class WarpWait:
    """Lanes of the batch that wait at one instruction, and the lane mask of each."""

    line: Instruction
    lanes: Lanes
    named: Array

    def absent(self, alive: Array, come: Array | None = None) -> Array:
        """For each lane the lanes that it still waits for: see `missing`."""
        return missing(self.lanes, alive, self.named, come)


def released_lanes(waits: Mapping[int, WarpWait], alive: Array) -> dict[int, Array]:
    """The lanes (blocks, width) that no longer wait for any lane, by the index of their wait: those of the first wait
    in which that holds for all lanes, else of the first with any, else of all waits together. Lanes synchronise at the
    same instruction, also where the compiler has duplicated it."""
    some: dict[int, Array] = {}
    for number, wait in waits.items():
        go = whole_mask(wait.lanes) & (wait.absent(alive) == 0)
        if np.count_nonzero(go) == wait.lanes.count:
            return {number: go}
        some[number] = go
    for number, go in some.items():
        if go.any():
            return {number: go}
    together = {}
    for number, wait in waits.items():
        come = np.logical_or.reduce([whole_mask(w.lanes) for w in waits.values() if w.line.op == wait.line.op])
        together[number] = whole_mask(wait.lanes) & (wait.absent(alive, come) == 0)
    return {number: go for number, go in together.items() if go.any()}


def awaited_lanes(wait: WarpWait, alive: Array) -> Array:
    """The lanes (blocks, width) that at least one lane still waits for."""
    words = np.where(whole_mask(wait.lanes), wait.absent(alive), 0).reshape(-1, WARP)
    word = np.bitwise_or.reduce(words, axis=1)[:, None]
    return np.asarray((word >> np.arange(WARP) & 1).astype(np.bool_).reshape(alive.shape))


def report_ended(wait: WarpWait, go: Array, lost: Array, findings: Findings) -> None:
    """Report the lanes in `go` that waited for lanes which ended without executing the instruction, `lost`."""
    lost = lost & ~whole_mask(wait.lanes)
    if not (lost.reshape(-1, WARP).any(axis=1) & go.reshape(-1, WARP).any(axis=1)).any():
        return
    words = np.packbits(lost.reshape(-1, WARP), axis=1, bitorder="little").view(np.int32).reshape(len(go), -1)
    vain = np.where(go, wait.named & np.repeat(words, WARP, axis=1), 0).reshape(-1)

    def text(at: int) -> str:
        lane = next(lane for lane in range(WARP) if int(vain[at]) >> lane & 1)
        return f"its mask names lane {lane}, which ends without executing it; on hardware the result is undefined"

    findings.add(VAIN, wait.line.place, wait.lanes, np.flatnonzero(vain), text)


def report_incomplete(wait: WarpWait, alive: Array, others: list[WaitingLanes], findings: Findings) -> None:
    """Report lanes that wait in vain for lanes of their warp, because these wait at another instruction."""
    absent = wait.absent(alive)

    def words(at: int) -> str:
        lanes = [lane for lane in range(WARP) if int(absent.reshape(-1)[at]) >> lane & 1]
        places = at // WARP * WARP + np.array(lanes)
        lines = sorted({o.place.line for o in others if o.mask.reshape(-1)[places].any()})
        who = f"lane{'s' * (len(lanes) > 1)} {', '.join(map(str, lanes))} of the warp"
        where = " and line ".join(map(str, lines))
        return f"waits for {who} in the mask, which never arrive; threads wait at line {where}"

    findings.add(VAIN, wait.line.place, wait.lanes, np.flatnonzero(absent), words)
