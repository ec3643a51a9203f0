"""One block of a variant's kernel, step by step, on a simulated GPU; and how it ends if its warps run in another
order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_ops.devices.sim.block_run.compared import BlockSteps, LaunchChoice, Place, differs, outcome
from gpu_ops.devices.sim.block_run.recording import MOST_STEPS, Recording
from gpu_ops.devices.sim.block_run.run import BlockRun
from gpu_ops.devices.sim.block_run.scheduler import ORDERS
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.errors import ParamError, counted
from gpu_ops.explaining.xray import planned
from gpu_ops.params import Values
from gpu_ops.plan import Launch, Plan
from gpu_ops.progress import stage
from gpu_ops.types import Filter, Input, Variant


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
