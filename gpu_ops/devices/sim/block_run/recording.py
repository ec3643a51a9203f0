"""Runs one block of a launch and records its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.batch import Batch, LaunchData
from gpu_ops.devices.sim.block_run.meetings import find_meetings
from gpu_ops.devices.sim.block_run.names import name_arrays, name_registers
from gpu_ops.devices.sim.block_run.recorder import Enough, StepRecorder
from gpu_ops.devices.sim.block_run.run import BlockRun, Statement
from gpu_ops.devices.sim.block_run.scheduler import BlockScheduler
from gpu_ops.devices.sim.block_run.statements import line_in
from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.lanes import BatchLayout
from gpu_ops.devices.sim.launch import Options, pack, shared_memory, table_of
from gpu_ops.devices.sim.memory import Memory, Region
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.flow import barrier_kind
from gpu_ops.devices.sim.ptx.kernels import LoadedKernel
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.schedule import Scheduler
from gpu_ops.errors import KernelError
from gpu_ops.plan import Launch
from gpu_ops.progress import advance

MOST_STEPS = 10_000
"""Steps of a block that are recorded."""
EARLIER = 64
"""Blocks that run at once before the recorded one, where that reads what they publish."""


@dataclass(frozen=True)
class Recording:
    """What to record: the block at `place` (x, y, z) of the grid, in an `order` of its warps (see BlockScheduler), and
    at most so many steps."""

    place: tuple[int, int, int]
    order: int = 0
    most: int = MOST_STEPS


def record_block(
    launch: Launch,
    loaded: LoadedKernel,
    memory: Memory,
    variables: Mapping[str, Region],
    edits: Mapping[str, str],
    recording: Recording,
) -> BlockRun:
    """Run one block alone: the launch's other blocks do not run, except earlier ones that it may wait for. `loaded` is
    the kernel by line. A fault that ends the kernel ends the record, which says so.

    Raises KernelError for a block that the grid does not have, and for kernels whose blocks run together.
    """
    number = _check(launch, loaded.code, recording.place)
    findings = Findings(loaded.entry.name, loaded.program.library)
    params, regions = pack(launch, loaded, memory)
    table = table_of(loaded, memory, regions, variables, Options(checks="off"))
    shared_bytes = loaded.dynamic_from + launch.shared_bytes
    symbols = {name: region.low for name, region in variables.items()}
    data = LaunchData(params, symbols, shared_bytes, launch.shared_bytes, loaded.local_bytes)
    source = launch.kernel.compiled.source

    def batch(first: int, blocks: int, checks: bool) -> Batch:
        layout = BatchLayout(launch.grid, launch.block, first, blocks)
        shared = shared_memory(layout, loaded, shared_bytes, findings, checks)
        return Batch(layout, data, GlobalMemory(table, findings, None), shared, findings)

    with np.errstate(all="ignore"):
        if launch.kernel.loaded.code.depends:
            for first in range(0, number, EARLIER):
                meter = Meter(2e9, lambda done=first: advance(done, number), source)  # type: ignore[misc]
                Scheduler(loaded.code, batch(first, min(EARLIER, number - first), False), meter, False).run()
        one = batch(number, 1, True)
        arrays = [arg for arg in launch.args if isinstance(arg, np.ndarray)]
        recorder = StepRecorder(loaded.code, one, list(zip(regions, arrays, strict=True)), recording.most)
        one.counters = recorder
        meter = Meter(2e9, lambda: advance(len(recorder.at), recording.most), source)
        one.poll = meter.poll
        ended = _ended(BlockScheduler(loaded.code, one, meter, recorder, recording.order), recorder)
    recorder.check_complete()
    return _made(launch, loaded, recorder, recording.place, findings, ended, read_source(source, edits))


def _ended(scheduler: BlockScheduler, recorder: StepRecorder) -> str:
    """Run the block; why its record ends before it does, "" if it does not."""
    try:
        scheduler.run()
    except Enough:
        return f"The first {len(recorder.at):,} steps are recorded; the block takes more."
    except KernelError as error:
        return str(error)
    return ""


def _check(launch: Launch, code: Code, place: tuple[int, int, int]) -> int:
    """The number of a block of the grid. Raises KernelError for one that cannot run alone."""
    name = launch.kernel.loaded.entry.name
    if any(not 0 <= at < extent for at, extent in zip(place, launch.grid, strict=True)):
        most = ", ".join(str(extent - 1) for extent in launch.grid)
        raise KernelError(f"{name}: there is no block {place}; its numbers go from (0, 0, 0) to ({most}).")
    if code.cooperative or prod(code.cluster or (1,)) > 1:
        together = "of a cluster" if not code.cooperative else "of the grid"
        raise KernelError(f"{name}: the blocks {together} meet at barriers, so that one cannot run alone.")
    x, y, _ = launch.grid
    return (place[2] * y + place[1]) * x + place[0]


def _made(
    launch: Launch,
    loaded: LoadedKernel,
    recorder: StepRecorder,
    place: tuple[int, int, int],
    findings: Findings,
    ended: str,
    text: str,
) -> BlockRun:
    source, width = launch.kernel.compiled.source, recorder.layout.width
    arrays = name_arrays(loaded, recorder.memory, text)
    accesses = recorder.accesses.accesses(len(recorder.at))
    rows = launch.kernel.compiled.ptx.splitlines()
    statements = tuple(_statement(code, source, rows) for code in loaded.code.blocks)
    return BlockRun(
        kernel=loaded.entry.name,
        file=source,
        grid=launch.grid,
        block=launch.block,
        place=place,
        statements=statements,
        names=name_registers(loaded, source, text),
        arrays=arrays,
        at=np.array(recorder.at, np.int32),
        masks=np.array(recorder.masks, np.uint32).reshape(-1, width // 32),
        waited=np.array(recorder.waited, np.bool_),
        places=recorder.places.cells(width),
        registers=recorder.registers.cells(width * len(loaded.code.zeros)),
        shared=recorder.shared.cells(len(recorder.words)),
        writers=recorder.writers.cells(len(recorder.words)),
        buffers=recorder.made_buffers(),
        accesses=accesses,
        meetings=find_meetings(accesses, recorder.at, recorder.opens, statements, arrays),
        findings=tuple(map(str, findings.found)),
        ended=ended,
    )


def _statement(code: BlockCode, file: str, rows: list[str]) -> Statement:
    block = code.block
    lines = [number for one in block.lines if (number := line_in(one.place, file))]
    waits = barrier_kind(block.lines[0]) if block.end == "barrier" else "warp" if block.syncs_warp else ""
    ptx = tuple(rows[one.row - 1].strip() if one.row else one.name for one in block.lines)
    return Statement((lines or [line_in(block.place, file)])[0], waits, ptx)
