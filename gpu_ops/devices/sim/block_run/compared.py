"""A block in two orders of its warps: what differs, and the lines whose accesses meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_ops.devices.sim.block_run.log import Array
from gpu_ops.devices.sim.block_run.run import BlockRun, Meeting
from gpu_ops.errors import counted

Place = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchChoice:
    """A launch of a plan that can be looked at."""

    kernel: str
    grid: Place
    block: Place


@dataclass(frozen=True, eq=False)
class BlockSteps:
    """A block of launch number `launch` of `launches`, in the usual order of its warps. `other` is the same block in
    another order, if that was asked for, and `outcome` says whether it ends otherwise."""

    launches: tuple[LaunchChoice, ...]
    launch: int
    run: BlockRun
    other: BlockRun | None = None
    outcome: str = ""


def differs(run: BlockRun, other: BlockRun) -> bool:
    """Whether two runs of a block leave other values in device memory, or one ends early."""
    return bool(run.ended) != bool(other.ended) or bool(different_cells(run, other))


def different_cells(run: BlockRun, other: BlockRun) -> dict[str, Array]:
    """By buffer, the cells (n,) that two runs of a block leave different."""
    found = {}
    theirs = {one.name: one.cells for one in other.buffers}
    for buffer in run.buffers:
        if buffer.name in theirs:
            (a, wrote), (b, also) = buffer.cells.at(buffer.cells.steps), theirs[buffer.name].at(other.steps)
            if len(cells := np.flatnonzero((a != b) | (wrote != also))):
                found[buffer.name] = cells
    return found


def outcome(run: BlockRun, other: BlockRun, orders: int) -> str:
    """How a block ends in another order of its warps, in words."""
    found = different_cells(run, other)
    meeting = (*run.meetings, *other.meetings)[:1]
    if not found:
        alike = f"{counted(orders, 'other order')} of the warps gave the same result."
        if meeting:
            return f"{alike} But accesses meet with no barrier in between: {say_meeting(meeting[0])}"
        return alike
    count = sum(map(len, found.values()))
    text = f"Another order of the warps leaves {counted(count, 'other value')} in {' and '.join(found)}."
    if meeting:
        return f"{text} {say_meeting(meeting[0])}"
    return f"{text} No two plain accesses meet; atomics take effect in the order in which they happen."


def say_meeting(meeting: Meeting) -> str:
    """Two accesses that meet, in words."""
    (first, then), (did, does), (one, two) = meeting.lines, meeting.verbs, meeting.warps
    return (
        f"Line {first}, where warp {one} {did} {meeting.place}, and line {then}, where warp {two} {does} it, have no "
        "barrier in between."
    )
