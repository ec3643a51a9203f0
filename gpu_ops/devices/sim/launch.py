"""A launch: it runs the batches of blocks one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.batch import Batch, LaunchData
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
from gpu_ops.devices.sim.scheduling.schedule import Scheduler
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.devices.sim.textures import SimTexture
from gpu_ops.devices.sim.traces import Recorder, Tracing
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
LOCAL_BYTES = 512 << 10
"""Bytes of local memory per thread of a GPU."""


@dataclass(frozen=True)
class Options:
    """How to simulate. `checks` looks for hazards, uninitialised reads and blocks that write the same element, in all
    batches or in a sample; bounds and alignment are always checked. `counters` count by source line; counts of a sample
    are scaled to all batches. `budget` is the maximum number of warp instructions of a launch. `reverse` runs
    everything in another order, which must not change the result; `late`, a seed, in an order that is adversarial for
    blocks that read what others publish. `coalescing` also counts the transactions of an older GPU. `tracing` records
    every access of a few warps in the counted batches. With `only` a launch runs only its first and last batch and this
    many in between, and their counts stand for all: the counts of a large grid in little time, without a result.
    `costs` also counts what the time of a launch depends on: the distinct sectors that a block and a batch of blocks
    touch, and the chains of dependent instructions."""

    checks: Extent = "full"
    counters: Extent = "off"
    budget: float = 2e9
    reverse: bool = False
    late: int = 0
    coalescing: Rule = "today"
    tracing: Tracing | None = None
    only: int = 0
    costs: bool = False


class WaitingBlocks(KernelError):
    """Blocks of a launch wait for one another, so that a few of them cannot stand for all."""


def run_launch(
    launch: Launch, loaded: LoadedKernel, memory: Memory, variables: Mapping[str, Region], options: Options
) -> Findings:
    """Run all blocks and report progress (`gpu_ops.progress`).

    Raises Cancelled, and KernelError if a kernel stops itself or exceeds its budget: then its output is not valid.
    """
    findings = Findings(loaded.entry.name)
    _check_local(loaded)
    params, regions, textures = _pack(launch, loaded, memory)
    shared_bytes = loaded.dynamic_from + launch.shared_bytes
    others = memory.others([*regions, *variables.values()])
    table = Table([*regions, *variables.values(), *others])
    if options.checks != "off":
        _track(loaded, {r.name: r for r in regions} | dict(variables), others)
    symbols = {name: region.low for name, region in variables.items()}
    launch_data = LaunchData(params, symbols, textures, shared_bytes, launch.shared_bytes, loaded.local_bytes)
    names = tuple((plain_name(n), first, last) for n, first, last in loaded.shared)
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    recorder = None
    if options.tracing is not None:
        recorder = Recorder(options.tracing, launch.kernel.compiled.source, table, tuple(variables.values()), names)
    counters = None
    if options.counters != "off":
        footprint = Footprint() if options.costs else None
        counters = Counters(loaded.code, launch.grid, options.coalescing, recorder, footprint)
    signals = Signals(blocks, -(-int(np.prod(launch.block)) // WARP) * WARP, loaded.code.depends)
    done, time, sites = 0, 0, loaded.code.sites
    meter = Meter(options.budget, lambda: advance(done, blocks), launch.kernel.compiled.source)
    for part in _batches(launch, shared_bytes, loaded, options):
        layout = BatchLayout(launch.grid, launch.block, part.first, part.blocks)
        shared = SharedMemory(layout, shared_bytes, loaded.unit, names, findings, part.checks)
        counting = counters if part.weight else None
        if counting is not None:
            counting.weight = part.weight
        shared.time = time
        races = Races(layout, shared, findings, signals, lambda site: sites[site].place.line) if part.checks else None
        global_memory = GlobalMemory(table, findings, races)
        batch = Batch(layout, launch_data, global_memory, shared, findings, counting, meter.poll)
        try:
            with np.errstate(all="ignore"):
                _scheduler(loaded.code, batch, meter, options).run()
        except KernelError as error:
            error.findings = tuple(findings.found)
            raise
        if counting is not None:
            counting.end_batch()
        done, time = done + layout.blocks, shared.time
        advance(done, blocks)
    _settle(regions)
    _count(findings, counters, recorder, {"launches": 1, "blocks": blocks, "warp_instructions": meter.executed})
    return findings


def _count(findings: Findings, counters: Counters | None, recorder: Recorder | None, counts: dict[str, int]) -> None:
    """Add the counts and traces of a launch to its findings."""
    findings.counters = counts
    if counters is not None:
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

    both = bases(loaded.reads) & bases(loaded.writes)
    tracks: dict[int, Track] = {}
    for region in regions:
        unit = min(loaded.global_unit, region.itemsize)
        if region.base in both and len(region.data) <= MOST_UNITS * unit:
            region.track = tracks.setdefault(region.base, Track(unit, len(region.data)))


def _scheduler(code: Code, batch: Batch, meter: Meter, options: Options) -> Scheduler:
    if options.late:
        return LateScheduler(code, batch, meter, options.late)
    return Scheduler(code, batch, meter, options.reverse)


def _check_local(loaded: LoadedKernel) -> None:
    if loaded.local_bytes > LOCAL_BYTES:
        raise KernelError(
            f"{loaded.entry.name}: {loaded.local_bytes} bytes of local memory per thread; a GPU has {LOCAL_BYTES}: "
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
    each = _blocks_per_batch(launch, shared_bytes, loaded, options)
    # Blocks that wait for one another run at once, and those that wait for earlier ones in order.
    if options.only and loaded.code.spin_blocks:
        raise WaitingBlocks(
            f"{loaded.entry.name}: its blocks wait for one another, so that all of them must run; take a small input."
        )
    reverse = options.reverse and not loaded.code.spin_blocks
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


def _blocks_per_batch(launch: Launch, shared_bytes: int, loaded: LoadedKernel, options: Options) -> int:
    threads = int(np.prod(launch.block))
    width = -(-threads // WARP) * WARP
    lanes = BATCH_LANES // 4 if options.only else BATCH_LANES
    each = min(lanes, REGISTER_BYTES // (8 * loaded.code.live_registers)) // width
    if shared_bytes:
        each = min(each, BATCH_BYTES // shared_bytes)
    if loaded.local_bytes:
        each = min(each, BATCH_BYTES // (loaded.local_bytes * width))
    return max(1, each)


def _pack(launch: Launch, loaded: LoadedKernel, memory: Memory) -> tuple[Array, list[Region], dict[int, Any]]:
    """Parameter bytes, the memory they point to, and textures by handle."""
    params = np.zeros(max(loaded.param_bytes, 1), np.uint8)
    regions: list[Region] = []
    textures: dict[int, Any] = {}
    for arg, offset, name in zip(launch.args, loaded.param_offsets, loaded.param_names, strict=True):
        if isinstance(arg, SimTexture):
            textures[arg.pointer] = arg
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
    return params, regions, textures


def _settle(regions: list[Region]) -> None:
    """Stop tracking allocations that are completely initialised."""
    for region in regions:
        allocation = region.allocation
        if allocation is not None and allocation.written is not None and allocation.written.all():
            allocation.written = None
