"""One block of a variant's kernel, step by step, on a simulated GPU; and how it ends if its warps run in another
order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_ops.devices.sim.block_run.log import Array
from gpu_ops.devices.sim.block_run.recording import MOST_STEPS, Recording
from gpu_ops.devices.sim.block_run.run import BlockRun, Meeting
from gpu_ops.devices.sim.block_run.scheduler import ORDERS
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.errors import ParamError, counted
from gpu_ops.explaining.xray import planned
from gpu_ops.params import Values
from gpu_ops.plan import Launch, Plan
from gpu_ops.progress import stage
from gpu_ops.types import Filter, Input, Variant

Place = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchChoice:
    """A launch of a plan that can be looked at."""

    kernel: str
    grid: Place
    block: Place


@dataclass(frozen=True)
class Job:
    """A variant's kernels on an input."""

    filter: Filter
    variant: Variant
    input: Input
    params: Values
    knobs: Values
    architecture: str
    edits: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class BlockSteps:
    """A block of launch number `launch` of `launches`, in the usual order of its warps. `other` is the same block in
    another order, if that was asked for, and `outcome` says whether it ends otherwise."""

    launches: tuple[LaunchChoice, ...]
    launch: int
    run: BlockRun
    other: BlockRun | None = None
    outcome: str = ""


def middle(grid: Place) -> Place:
    """The block in the middle of a grid."""
    x, y, z = grid
    return x // 2, y // 2, z // 2


def block_steps(
    job: Job, launch: int | None = None, place: Place | None = None, other: bool = False, most: int = MOST_STEPS
) -> BlockSteps:
    """Record a block, by default one in the middle, of one of the plan's launches, by default the first of the kernel
    that the variant is about, after all steps before it. With `other`, up to ORDERS other orders of its warps are
    tried until one ends otherwise.

    Raises ParamError for variants without kernels, and for a launch that there is not; KernelError for a block that
    there is not, and for kernels whose blocks cannot run alone; DeviceError, Cancelled.
    """
    with stage(0, 2 if other else 1):
        launches, launch, run = _record(job, launch, place, 0, most)
    if not other:
        return BlockSteps(launches, launch, run)
    last = run
    for order in range(1, ORDERS + 1):
        with stage(ORDERS + order - 1, 2 * ORDERS):
            *_, last = _record(job, launch, run.place, order, most)
        if differs(run, last):
            return BlockSteps(launches, launch, run, last, outcome(run, last, order))
    return BlockSteps(launches, launch, run, last, outcome(run, last, ORDERS))


def _record(
    job: Job, launch: int | None, place: Place | None, order: int, most: int
) -> tuple[tuple[LaunchChoice, ...], int, BlockRun]:
    """All launches, the number of the chosen one, and its block."""
    device = SimDevice(job.architecture, Options(checks="off"))
    session, _, plan = planned(device, job.filter, job.variant, job.input, job.params, job.knobs, job.edits)
    launches = [step for step in plan.steps if isinstance(step, Launch)]
    if launch is None:
        own = (n for n, one in enumerate(launches) if one.kernel.compiled.source == job.variant.kernels[0])
        launch = next(own, 0)
    if not 0 <= launch < len(launches):
        raise ParamError(f"There is no launch {launch + 1}: {job.variant.id} has {counted(len(launches), 'launch')}.")
    chosen = launches[launch]
    session.execute(Plan(plan.steps[: plan.steps.index(chosen)], {}))
    run = session.record_block(chosen, Recording(place or middle(chosen.grid), order, most))
    return tuple(LaunchChoice(one.kernel.entry.name, one.grid, one.block) for one in launches), launch, run


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
