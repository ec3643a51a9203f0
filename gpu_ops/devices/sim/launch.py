"""A launch: it runs the batches of blocks one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.images import Handle
from gpu_ops.devices.limits import MOST_MULTIPROCESSORS
from gpu_ops.devices.occupancy import is_known, occupancy
from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sass.parted import Parted
from gpu_ops.devices.sass.unrolled import UnrolledLoop
from gpu_ops.devices.sass.widths import Pieces
from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.batch import WORKSPACE, Batch, LaunchData, reserved_from
from gpu_ops.devices.sim.counters import Counters, totals
from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.footprint import Footprint
from gpu_ops.devices.sim.lanes import WARP, Array, BatchLayout
from gpu_ops.devices.sim.memory import MOST_UNITS, Memory, Region, Table, Track
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.kernels import LoadedKernel, plain_name
from gpu_ops.devices.sim.races import Races, Signals
from gpu_ops.devices.sim.scheduling.late import LateScheduler
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.parted import PartedScheduler
from gpu_ops.devices.sim.scheduling.schedule import Scheduler
from gpu_ops.devices.sim.scheduling.unrolled import UnrolledScheduler
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.devices.sim.traces import Recorder, Tracing
from gpu_ops.devices.sim.traffic.observer import Observer, Observers
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import KernelError
from gpu_ops.plan import Launch
from gpu_ops.progress import advance

Extent = Literal["full", "sample", "off"]
BATCH_LANES = 1 << 15
"""Lanes that run at once: enough to amortise the overhead of NumPy's calls, few enough for arrays to stay in the
cache."""
SAMPLE_EVERY = 8
"""The sample has one of this many batches."""
BATCH_BYTES = 32 << 20
"""The maximum number of bytes of shared memory, and of local memory, of a batch."""
REGISTER_BYTES = 512 << 20
"""The maximum number of bytes of all registers of a batch."""
WORKSPACE_BYTES = 64
"""Bytes of the state of a grid's barriers."""
RESERVED_BYTES = 1 << 10
"""Bytes of shared memory that the system reserves for each block."""
LOCAL_BYTES = 512 << 10
"""Bytes of local memory per thread of a GPU."""


@dataclass(frozen=True)
class Options:
    """How to simulate. `checks` looks for hazards, uninitialised reads and blocks that write the same element, in all
    batches or in a sample; bounds and alignment are always checked. `counters` count by source line; counts of a sample
    are scaled to all batches. `budget` is the maximum number of warp instructions of a launch. `reverse` runs
    everything in another order, which must not change the result; `late`, a seed, in an order that is adversarial for
    blocks that read what others publish. `coalescing` also counts the transactions of an older GPU. `tracing` records
    every access of a few warps in the counted batches. `machine_code` counts accesses as the machine code makes them,
    where it can be disassembled, and else as the PTX has them. With `only` a launch runs only its first and last batch
    and this many in between, whose counts represent all: those of a large grid in little time, without a result.
    `costs` also counts what the time of a launch depends on: the distinct sectors that a block and a batch of blocks
    touch, the chains of dependent instructions, and, where it can be disassembled, the machine code's instructions.
    `observers` receive the events of counted batches; with `blocks` only those of a launch run."""

    checks: Extent = "full"
    counters: Extent = "off"
    budget: float = 2e9
    reverse: bool = False
    late: int = 0
    coalescing: Rule = "today"
    tracing: Tracing | None = None
    machine_code: bool = False
    only: int = 0
    costs: bool = False
    observers: Observers | None = None
    blocks: tuple[int, ...] = ()


class Made(NamedTuple):
    """What the machine code makes of the PTX: by line the requests of accesses that it makes in another way, by basic
    block the loops that it unrolls, where lanes that have parted stay apart, and its instructions where costs are
    counted. The accesses of the lines in `unsettled` depend on which thread comes first; those in `retried` are atomic
    operations that it tries again."""

    pieces: Mapping[int, Pieces] | None = None
    loops: Mapping[int, UnrolledLoop] | None = None
    parted: Parted = Parted()
    sass: Sequence[SassLine] = ()
    unsettled: frozenset[int] = frozenset()
    retried: frozenset[int] = frozenset()


class WaitingBlocks(KernelError):
    """Blocks of a launch wait for one another, so that a few of them cannot represent all."""


def run_launch(
    launch: Launch,
    loaded: LoadedKernel,
    memory: Memory,
    variables: Mapping[str, Region],
    options: Options,
    made: Made,
) -> Findings:
    """Run all blocks and report progress (`gpu_ops.progress`).

    Raises Cancelled, and KernelError if a kernel stops itself or exceeds its budget: then its output is not valid.
    """
    findings = Findings(loaded.entry.name, loaded.program.library)
    _check_local(loaded)
    params, regions = pack(launch, loaded, memory)
    shared_bytes = loaded.dynamic_from + launch.shared_bytes
    code, cluster = loaded.code, _cluster(launch, loaded.code)
    if code.cooperative:
        _check_resident(launch, loaded, shared_bytes)
        variables = {**variables, WORKSPACE: memory.region(memory.zeros(WORKSPACE_BYTES), "the grid's barrier")}
    table = table_of(loaded, memory, regions, variables, options)
    symbols = {name: region.low for name, region in variables.items()}
    launch_data = LaunchData(params, symbols, shared_bytes, launch.shared_bytes, loaded.local_bytes)
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    recorder = _recorder(options, launch, table, variables, loaded)
    observer = options.observers.observe(launch, code, table) if options.observers is not None else None
    counters = _counters(options, launch, loaded, recorder, made, observer)
    signals = Signals(blocks, -(-int(np.prod(launch.block)) // WARP) * WARP, code.depends or code.cluster is not None)
    done, time, sites = 0, 0, loaded.code.sites
    meter = Meter(options.budget, lambda: advance(done, blocks), launch.kernel.compiled.source)
    for part in _batches(launch, shared_bytes, loaded, options):
        layout = BatchLayout(launch.grid, launch.block, part.first, part.blocks, cluster)
        shared = shared_memory(layout, loaded, shared_bytes, findings, part.checks)
        counting = counters if part.weight else None
        if counting is not None:
            counting.weight = part.weight
        shared.time = time
        races = Races(layout, shared, findings, signals, lambda site: sites[site].place.line) if part.checks else None
        global_memory = GlobalMemory(table, findings, races)
        batch = Batch(layout, launch_data, global_memory, shared, findings, counting, meter.poll)
        _run_batch(_scheduler(loaded.code, batch, meter, options, made), shared, findings, part.checks)
        if counting is not None:
            counting.end_batch()
        done, time = done + layout.blocks, shared.time
        advance(done, blocks)
    _settle(regions)
    _count(findings, counters, recorder, {"launches": 1, "blocks": blocks, "warp_instructions": meter.executed})
    return findings


def table_of(
    loaded: LoadedKernel, memory: Memory, regions: list[Region], variables: Mapping[str, Region], options: Options
) -> Table:
    """All memory that a launch may reach, prepared for checks."""
    others = memory.others([*regions, *variables.values()])
    if options.checks != "off":
        _track(loaded, {r.name: r for r in regions} | dict(variables), others)
    return Table([*regions, *variables.values(), *others])


def _run_batch(scheduler: Scheduler, shared: SharedMemory, findings: Findings, checks: bool) -> None:
    """Run a batch; an error has the findings until then."""
    try:
        with np.errstate(all="ignore"):
            scheduler.run()
        if shared.clusters is not None and checks:
            shared.clusters.report_ended(findings)
    except KernelError as error:
        error.findings = tuple(findings.found)
        raise


def _counters(
    options: Options,
    launch: Launch,
    loaded: LoadedKernel,
    recorder: Recorder | None,
    made: Made,
    observer: Observer | None,
) -> Counters | None:
    """What counts the launch, or None."""
    if options.counters == "off":
        return None
    footprint = Footprint() if options.costs else None
    what = made.pieces, footprint, made.sass, observer, made.unsettled, made.retried
    return Counters(loaded.code, launch.grid, options.coalescing, recorder, *what, loaded.raced, loaded.global_unit)


def _names(loaded: LoadedKernel) -> tuple[tuple[str, int, int], ...]:
    """The shared variables by their names in the source."""
    return tuple((plain_name(name), first, last) for name, first, last in loaded.shared)


def _recorder(
    options: Options, launch: Launch, table: Table, variables: Mapping[str, Region], loaded: LoadedKernel
) -> Recorder | None:
    if options.tracing is None:
        return None
    source = launch.kernel.compiled.source
    return Recorder(options.tracing, source, table, tuple(variables.values()), _names(loaded))


def shared_memory(
    layout: BatchLayout, loaded: LoadedKernel, nbytes: int, findings: Findings, checks: bool
) -> SharedMemory:
    """The shared memory of a batch, with that of the system behind it where the kernel uses it."""
    system = nbytes if loaded.code.reserved else None
    visible = nbytes if system is None else reserved_from(nbytes) + RESERVED_BYTES
    how = (findings, checks, system, loaded.program.library, loaded.code.cluster is not None)
    return SharedMemory(layout, visible, loaded.unit, _names(loaded), *how)


def _count(findings: Findings, counters: Counters | None, recorder: Recorder | None, counts: dict[str, int]) -> None:
    """Add the counts and traces of a launch to its findings."""
    findings.counters = counts
    if counters is not None:
        counters.end_launch()
        findings.by_place = counters.by_place()
        findings.counters |= totals(findings.by_place) | counters.block_loads() | counters.costs()
    if recorder is not None:
        findings.traces = recorder.traces()


def _track(loaded: LoadedKernel, named: Mapping[str, Region], others: list[Region]) -> None:
    """Prepare to find races in what the kernel may both read and write."""
    regions = [*named.values(), *others]
    for region in regions:
        region.owners = region.track = None

    def bases(names: frozenset[str]) -> set[int]:
        known = {named[name].base for name in names if name in named}
        return known if names <= named.keys() else {r.base for r in regions}

    both = bases(loaded.reach.reads) & bases(loaded.reach.writes)
    tracks: dict[int, Track] = {}
    for region in regions:
        unit = min(loaded.global_unit, region.itemsize)
        if region.base in both and len(region.data) <= MOST_UNITS * unit:
            region.track = tracks.setdefault(region.base, Track(unit, len(region.data)))


def _scheduler(code: Code, batch: Batch, meter: Meter, options: Options, made: Made) -> Scheduler:
    if options.late:
        return LateScheduler(code, batch, meter, options.late)
    if made.loops:
        return UnrolledScheduler(code, batch, meter, options.reverse, made.parted, made.loops)
    if made.parted.ways:
        return PartedScheduler(code, batch, meter, options.reverse, made.parted)
    return Scheduler(code, batch, meter, options.reverse)


def _check_local(loaded: LoadedKernel) -> None:
    if loaded.local_bytes > LOCAL_BYTES:
        raise KernelError(
            f"{loaded.entry.name}: {loaded.local_bytes:,} bytes of local memory per thread; a GPU has {LOCAL_BYTES:,}: "
            "take smaller arrays, or global memory."
        )


@dataclass(frozen=True)
class _Part:
    """A batch: `blocks` blocks from `first` on, whether to check it, and the number of batches that its counts
    represent."""

    first: int
    blocks: int
    checks: bool
    weight: float


def _batches(launch: Launch, shared_bytes: int, loaded: LoadedKernel, options: Options) -> list[_Part]:
    """All batches in the order in which they run. The sample is the first, the last, and every eighth in between."""
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    each = blocks if loaded.code.cooperative else blocks_per_batch(launch, shared_bytes, loaded, options)
    if loaded.code.cluster:  # the blocks of a cluster run at once
        whole = _consecutive(launch.grid, loaded.code.cluster)
        each = max(1, each // whole) * whole
    if (options.only or options.blocks) and loaded.code.spin_blocks:
        raise WaitingBlocks(
            f"{loaded.entry.name}: its blocks wait for one another, so that all of them must run; take a small input."
        )
    if options.blocks:
        return [_Part(block, 1, options.checks == "full", 1.0) for block in options.blocks]
    # Blocks that wait for one another run at once, and those that wait for earlier ones in order.
    reverse = options.reverse and not loaded.code.spin_blocks and not loaded.code.cluster
    if reverse:  # at least two batches, so that their order can change
        each = min(each, -(-blocks // 2))
    starts = list(range(0, blocks, each))
    inner = range(1, len(starts) - 1)
    every = max(-(-len(inner) // options.only), 1) if options.only else SAMPLE_EVERY
    samples = {*inner[every // 2 :: every]} or {*inner[:1]}
    weights = {0: 1.0, len(starts) - 1: 1.0} | {n: len(inner) / len(samples) for n in samples}
    parts = [
        _Part(
            start,
            min(each, blocks - start),
            options.checks == "full" or (options.checks == "sample" and number in weights),
            {"off": 0.0, "full": 1.0, "sample": weights.get(number, 0.0)}[options.counters],
        )
        for number, start in enumerate(starts)
        if number in weights or not options.only
    ]
    return parts[::-1] if reverse else parts


def _cluster(launch: Launch, code: Code) -> tuple[int, int, int]:
    """The extents of a cluster. Raises KernelError where the grid is no multiple of them."""
    cluster = code.cluster or (1, 1, 1)
    if any(blocks % extent for blocks, extent in zip(launch.grid, cluster, strict=True)):
        sizes = (" x ".join(map(str, extents)) for extents in (launch.grid, cluster))
        raise KernelError("{}: the grid of {} is no multiple of the cluster of {} blocks.".format(launch.name, *sizes))
    return cluster


def _consecutive(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> int:
    """The least number of consecutive blocks that are whole clusters."""
    if cluster[2] > 1:
        return grid[0] * grid[1] * cluster[2]
    return grid[0] * cluster[1] if cluster[1] > 1 else cluster[0]


def _check_resident(launch: Launch, loaded: LoadedKernel, shared_bytes: int) -> None:
    """Raises KernelError where not all blocks of a cooperative launch fit on a GPU at once: on hardware the launch
    fails."""
    architecture, blocks = launch.kernel.compiled.architecture, int(np.prod(launch.grid, dtype=np.int64))
    multiprocessors = MOST_MULTIPROCESSORS.get(architecture)
    if multiprocessors is None or not is_known(architecture):
        return
    entry = launch.kernel.compiled.entry(loaded.entry.name)
    found = occupancy(architecture, int(np.prod(launch.block)), entry.resources.get("registers", 0), shared_bytes)
    if blocks > (most := found.blocks * multiprocessors):
        raise KernelError(
            f"{loaded.entry.name}: {blocks:,} blocks meet at a barrier of the grid, and {most:,} are resident at once "
            f"on the largest GPU of {architecture} ({multiprocessors} multiprocessors of {found.blocks:,} blocks, by "
            f"its {found.limiter}); launch at most {most:,}, and let each thread take more elements."
        )


def blocks_per_batch(launch: Launch, shared_bytes: int, loaded: LoadedKernel, options: Options) -> int:
    """The blocks of a launch that run at once."""
    threads = int(np.prod(launch.block))
    width = -(-threads // WARP) * WARP
    lanes = BATCH_LANES // 4 if options.only else BATCH_LANES
    each = min(lanes, REGISTER_BYTES // (8 * loaded.code.live_registers)) // width
    if shared_bytes:
        each = min(each, BATCH_BYTES // shared_bytes)
    if loaded.local_bytes:
        each = min(each, BATCH_BYTES // (loaded.local_bytes * width))
    return max(1, each)


def pack(launch: Launch, loaded: LoadedKernel, memory: Memory) -> tuple[Array, list[Region]]:
    """Parameter bytes, and the memory they point to."""
    params = np.zeros(max(loaded.param_bytes, 1), np.uint8)
    regions: list[Region] = []
    for arg, offset, name in zip(launch.args, loaded.param_offsets, loaded.param_names, strict=True):
        if isinstance(arg, SimTexture | Handle):
            data = np.int64(arg.pointer).tobytes()
        elif arg is None:
            data = np.int64(0).tobytes()
        elif isinstance(arg, np.generic):
            data = arg.tobytes()
        else:
            region = memory.region(arg, name)
            regions.append(region)
            data = np.int64(region.low).tobytes()
        params[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
    return params, regions


def _settle(regions: list[Region]) -> None:
    """Stop tracking allocations that are completely initialised."""
    for region in regions:
        allocation = region.allocation
        if allocation is not None and allocation.written is not None and allocation.written.all():
            allocation.written = None
