"""A launch, batch of blocks after batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.batch import Batch, Launching
from gpu_ops.devices.sim.coalescing import Rule
from gpu_ops.devices.sim.counters import Counters, totals
from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.kernels import Loaded, plain_name
from gpu_ops.devices.sim.lanes import WARP, Array, Launched
from gpu_ops.devices.sim.memory import Memory, Region, Table
from gpu_ops.devices.sim.meter import Meter
from gpu_ops.devices.sim.schedule import Scheduler
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.devices.sim.textures import SimTexture
from gpu_ops.devices.sim.traces import Recorder, Tracing
from gpu_ops.errors import KernelError
from gpu_ops.plan import Launch
from gpu_ops.progress import advance

Extent = Literal["full", "sample", "off"]
BATCH_LANES = 1 << 15
"""Lanes that run at once: enough that NumPy's calls do not count, few enough that arrays stay in the cache."""
SAMPLED = 8
"""One batch in so many is a sample."""
BATCH_BYTES = 32 << 20
"""Bytes of shared and of local memory that a batch may have."""
REGISTER_BYTES = 512 << 20
"""Bytes that the registers of a batch may have, each for all lanes."""
LOCAL_BYTES = 512 << 10
"""Local memory that a GPU has for a thread."""


@dataclass(frozen=True)
class Options:
    """How to simulate. `checks` looks for hazards, uninitialised reads and blocks that write the same, in all batches
    or in a sample of them; bounds and alignment are always looked at. `counters` count by source line; what a sample
    of batches gives is scaled. `budget` are warp instructions a launch may take. `reverse` runs everything in another
    order that the kernel must stand. `coalescing` also counts what an older GPU would have made of global accesses.
    `tracing` follows a few warps, access by access, wherever counters count."""

    checks: Extent = "full"
    counters: Extent = "off"
    budget: float = 2e9
    reverse: bool = False
    coalescing: Rule = "today"
    tracing: Tracing | None = None


def run_launch(
    launch: Launch, loaded: Loaded, memory: Memory, variables: Mapping[str, Region], options: Options
) -> Findings:
    """Run all blocks, saying how many are done as long work on the host does (`gpu_ops.progress`).

    Raises Cancelled, and KernelError when a kernel stops itself or spends its budget: what it wrote is not to be shown.
    """
    findings = Findings(loaded.entry.name)
    _check_local(loaded)
    params, regions, textures = _pack(launch, loaded, memory)
    table = Table([*regions, *variables.values(), *memory.others([*regions, *variables.values()])])
    shared_bytes = loaded.dynamic_from + launch.shared_bytes
    for region in variables.values():
        region.owners = None
    symbols = {name: region.low for name, region in variables.items()}
    launching = Launching(params, symbols, textures, shared_bytes, launch.shared_bytes, loaded.local_bytes)
    names = tuple((plain_name(n), first, last) for n, first, last in loaded.shared)
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    recorder = None
    if options.tracing is not None:
        recorder = Recorder(options.tracing, launch.kernel.compiled.source, table, tuple(variables.values()), names)
    counters = None if options.counters == "off" else Counters(loaded.code, launch.grid, options.coalescing, recorder)
    done = 0
    meter = Meter(options.budget, lambda: advance(done, blocks))
    for part in _batches(launch, shared_bytes, loaded, options):
        launched = Launched(launch.grid, launch.block, part.first, part.blocks)
        shared = SharedMemory(launched, shared_bytes, loaded.unit, names, findings, part.checked)
        counting = counters if part.weight else None
        if counting is not None:
            counting.weight = part.weight
        global_memory = GlobalMemory(table, findings, part.checked)
        batch = Batch(launched, launching, global_memory, shared, findings, counting, meter.poll)
        try:
            with np.errstate(all="ignore"):
                Scheduler(loaded.code, batch, meter, options.reverse).run()
        except KernelError as error:
            error.findings = tuple(findings.found.values())
            raise
        done += launched.blocks
        advance(done, blocks)
    _settle(regions)
    findings.counters = {"launches": 1, "blocks": blocks, "warp_instructions": meter.executed}
    if counters is not None:
        findings.by_place = counters.by_place()
        findings.counters |= totals(findings.by_place) | counters.block_loads()
    if recorder is not None:
        findings.traces = recorder.traces()
    return findings


def _check_local(loaded: Loaded) -> None:
    if loaded.local_bytes > LOCAL_BYTES:
        raise KernelError(
            f"{loaded.entry.name}: {loaded.local_bytes} bytes of local memory a thread; a GPU has {LOCAL_BYTES}: "
            "take smaller arrays, or global memory."
        )


@dataclass(frozen=True)
class _Part:
    """A batch: blocks from `first` on, whether it is checked, and how many batches' counts it stands for."""

    first: int
    blocks: int
    checked: bool
    weight: float


def _batches(launch: Launch, shared_bytes: int, loaded: Loaded, options: Options) -> list[_Part]:
    """All batches in the order they run. Samples are the first, the last, and every eighth in between."""
    blocks = int(np.prod(launch.grid, dtype=np.int64))
    each = _blocks_per_batch(launch, shared_bytes, loaded)
    if options.reverse:  # at least two batches, so that their order can change
        each = min(each, -(-blocks // 2))
    starts = list(range(0, blocks, each))
    inner = range(1, len(starts) - 1)
    chosen = {*inner[SAMPLED // 2 :: SAMPLED]} or {*inner[:1]}
    weights = {0: 1.0, len(starts) - 1: 1.0} | {n: len(inner) / len(chosen) for n in chosen}
    parts = [
        _Part(
            start,
            min(each, blocks - start),
            options.checks == "full" or (options.checks == "sample" and number in weights),
            {"off": 0.0, "full": 1.0, "sample": weights.get(number, 0.0)}[options.counters],
        )
        for number, start in enumerate(starts)
    ]
    # Blocks that wait for earlier ones cannot run in the opposite order.
    return parts[::-1] if options.reverse and not loaded.code.spinning else parts


def _blocks_per_batch(launch: Launch, shared_bytes: int, loaded: Loaded) -> int:
    threads = int(np.prod(launch.block))
    width = -(-threads // WARP) * WARP
    each = min(BATCH_LANES, REGISTER_BYTES // (8 * loaded.code.held)) // width
    if shared_bytes:
        each = min(each, BATCH_BYTES // shared_bytes)
    if loaded.local_bytes:
        each = min(each, BATCH_BYTES // (loaded.local_bytes * width))
    return max(1, each)


def _pack(launch: Launch, loaded: Loaded, memory: Memory) -> tuple[Array, list[Region], dict[int, Any]]:
    """Parameter bytes, the memory they point to, and textures by handle."""
    params = np.zeros(max(loaded.param_bytes, 1), np.uint8)
    regions: list[Region] = []
    textures: dict[int, Any] = {}
    for arg, offset, name in zip(launch.args, loaded.param_offsets, loaded.param_names, strict=True):
        if isinstance(arg, SimTexture):
            textures[arg.pointer] = arg
            data = np.int64(arg.pointer).tobytes()
        elif isinstance(arg, np.generic):
            data = arg.tobytes()
        else:
            region = memory.region(arg, name)
            regions.append(region)
            data = np.int64(region.low).tobytes()
        params[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
    return params, regions, textures


def _settle(regions: list[Region]) -> None:
    """Memory that has been written everywhere need not be watched any more."""
    for region in regions:
        allocation = region.allocation
        if allocation is not None and allocation.written is not None and allocation.written.all():
            allocation.written = None
