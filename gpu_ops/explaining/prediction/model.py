"""The time of a plan on a GPU, from what its launches do: how long each part of the GPU is busy, as an interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.running.timing import MOST_COPIES
from gpu_ops.version import install

Limit = Literal["memory", "L2", "L1", "instructions", "latency", "launches"]
LIMITS: Mapping[Limit, str] = {
    "memory": "bytes from and to device memory",
    "L2": "lines from and to L2",
    "L1": "requests of L1 and of shared memory",
    "instructions": "instructions",
    "latency": "waiting for results, with the warps that fit",
    "launches": "starting launches and blocks",
}
"""The parts of a GPU that can limit a launch, in words."""
SECTOR, LINE = 32, 128
SCHEDULERS = 4
UNITS = {"integer": 2.0, "double": 2.0, "special": 8.0}
"""Cycles of a scheduler for an instruction of each unit, by the table of arithmetic throughput in the CUDA C++
Programming Guide (compute capability 9.0): a warp of 32 takes two of a unit of 16 lanes."""
HIT = 35.0
"""Cycles of a load that L1 has: W. Luo et al., arXiv:2402.13499."""
ATOMICS = 0.02
"""Atomics of global memory per thread, or lanes that meet at one address of a shared atomic per warp instruction, above
which a time is not known: how long they wait for one another depends on what else is in flight."""


COMPUTED = 0.1
"""The share of a time above which it is not known if what takes it may depend on values that were not all computed."""


@dataclass(frozen=True)
class Fit:
    """The numbers of the model that no data sheet has, fitted to recorded times of the H200.

    Seconds until the `first` launch of a plan begins; in launches of empty kernels, how long it takes from one
    launch to the `next`, to an `early` one, and for another `step`; cycles of the GPU to start a `block`. The
    shares of their roofs that `memory`, `l1` and `shared` memory, the `issue` of instructions and each `unit`
    reach; that of `l2` is of its reads, and loads and stores go opposite ways. Passes of L1 for each of the `lines`
    of a request beyond the fewest, and for a `constant` beyond the first. Cycles from a `load` to its value from
    memory and, `near`, from L2; the share of a `chain` of dependent instructions that a warp waits for; cycles for
    a `collision` of atomics. Parts work at the same time: with a large `overlap` the busiest one alone decides."""

    first: float = 3.54e-06
    next: float = 0.929
    early: float = 0.565
    step: float = 1.37
    block: float = 1.2
    memory: float = 0.956
    l2: float = 1.18
    l1: float = 1.01
    shared: float = 0.801
    lines: float = 0.935
    constant: float = 3.61
    issue: float = 0.744
    unit: float = 1.09
    load: float = 1.08e3
    near: float = 226.0
    chain: float = 0.496
    collision: float = 4.0
    overlap: float = 2.3


FIT = Fit()
INTERVAL = 1.264
"""An interval is from the predicted time over this to this times the predicted time: 1.6 from end to end."""


@dataclass(frozen=True)
class Prediction:
    """A predicted time in seconds, `low` to `high`, and the seconds that each limit alone would take. `shares` are the
    seconds of the predicted time that each limit brings; their sum is the time. `unknown` says why there is no
    interval, `notes` what the interval does not include."""

    gpu: Gpu
    seconds: float
    terms: Mapping[Limit, float] = field(default_factory=dict)
    unknown: str = ""
    shares: Mapping[Limit, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.seconds / INTERVAL

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.seconds * INTERVAL

    @property
    def limit(self) -> Limit:
        """What takes longest."""
        return max(self.terms, key=lambda name: self.terms[name])


def predict(launches: Sequence[LaunchCounts], gpu: Gpu, fit: Fit = FIT) -> Prediction:
    """The time of all launches of a plan, one after the other, as its kernels are timed in a stream."""
    total, unknown = 0.0, ""
    computed: dict[str, float] = {}
    terms: dict[Limit, float] = dict.fromkeys(LIMITS, 0.0)
    shares = dict(terms)
    for number, launch in enumerate(_with_shared(launch, gpu) for launch in launches):
        start = gpu.launch * (fit.early if launch.early else fit.next) if number else fit.first
        if not launch.blocks:
            start = gpu.launch * fit.step
            own: dict[Limit, float] = {"memory": launch.moved / gpu.copy, "launches": 0.0}
        else:
            own = _terms(launch, gpu, fit)
        unknown = unknown or _unknown(launch, gpu)
        seconds = start + _together(own, fit.overlap)
        total += seconds
        if launch.values == "computed":
            computed[launch.kernel] = computed.get(launch.kernel, 0.0) + seconds
        for sums, parts in ((terms, own), (shares, _shares(own, fit.overlap))):
            sums["launches"] += start
            for name, part in parts.items():
                sums[name] += part
    if sum(computed.values()) > COMPUTED * total:
        unknown = unknown or _by_values(computed, "")
    found = Prediction(gpu, total, terms, unknown, shares)
    return found if unknown else replace(found, notes=tuple(_notes(launches, found, computed)))


def _with_shared(launch: LaunchCounts, gpu: Gpu) -> LaunchCounts:
    """The launch with the blocks that fit on a multiprocessor with another shared memory than its architecture's."""
    if not gpu.shared or not launch.shared:
        return launch
    return replace(launch, resident=max(min(launch.fitting, gpu.shared // launch.shared), 1))


def _by_values(kernels: Iterable[str], rest: str) -> str:
    names = ", ".join(dict.fromkeys(kernels))
    return (
        f"what {names} does may depend on values that an earlier launch computes, and only some of its blocks ran{rest}"
    )


def _notes(launches: Sequence[LaunchCounts], found: Prediction, computed: Mapping[str, float]) -> Iterator[str]:
    """What an interval does not include."""
    loaded = dict.fromkeys(launch.kernel for launch in launches if launch.values == "loaded" and not launch.waits)
    waiting = dict.fromkeys(launch.kernel for launch in launches if launch.waits)
    if loaded:
        yield f"what {', '.join(loaded)} does may depend on the values of its arrays; counted for this input"
    if computed:
        yield _by_values(computed, f" ({sum(computed.values()) / found.seconds:.0%} of the time)")
    if waiting:
        yield f"blocks of {', '.join(waiting)} wait for one another; for how long is not counted"
    if found.limit == "latency":
        yield "waiting for results decides, of which other warps hide a part that is not counted"


def _unknown(launch: LaunchCounts, gpu: Gpu) -> str:
    """Why the time of a launch is not known, or ""."""
    threads = launch.blocks * launch.threads
    met = launch.of("atomic_collisions")
    if launch.of("global_atomic_threads") > ATOMICS * threads or met > ATOMICS * launch.of("warp_instructions"):
        return f"{launch.kernel} waits for atomic operations that meet at one address; how long depends on all others"
    if launch.of("warp_instructions") and not launch.of("issued"):
        return (
            f"the machine code of {launch.kernel} is needed, to count its instructions; install it: {install('sass')}"
        )
    if launch.of("texture_requests"):
        return f"{launch.kernel} reads a texture, whose accesses to L2 and to memory are not counted"
    if gpu.shared and launch.shared > gpu.shared:
        return f"a block of {launch.kernel} takes {launch.shared:,} bytes of shared memory, more than there are"
    if launch.spilled:
        return f"{launch.kernel} spills {launch.spilled} bytes of registers, whose traffic is not counted"
    return ""


def _together(terms: Mapping[Limit, float], overlap: float) -> float:
    """The time of parts that work at the same time. What goes through L2 to memory is one stream, as fast as its slower
    part; the others get in each other's way. None ends before the last block has started."""
    stream = max(terms["memory"], terms.get("L2", 0.0))
    parts = [stream, *(t for name, t in terms.items() if name not in ("memory", "L2", "launches"))]
    most = max(parts)
    together = most * sum((t / most) ** overlap for t in parts) ** (1 / overlap) if most else 0.0
    return max(together, terms["launches"])


def _shares(terms: Mapping[Limit, float], overlap: float) -> dict[Limit, float]:
    """What each part brings of the time of all together: its time, times how much the whole grows with it. By Euler's
    theorem these add up to the whole, which grows as all of them do. Of the stream, the slower part brings all; where
    the last block starts after everything else has ended, starting blocks does."""
    whole = _together(terms, overlap)
    if whole <= terms["launches"]:
        return {"launches": whole}
    slower: Limit = "L2" if terms.get("L2", 0.0) > terms["memory"] else "memory"
    parts = {name: t for name, t in terms.items() if name == slower or name not in ("memory", "L2", "launches")}
    most = max(parts.values())
    weights = {name: (t / most) ** overlap for name, t in parts.items()}
    return {name: whole * weight / sum(weights.values()) for name, weight in weights.items()}


def _terms(launch: LaunchCounts, gpu: Gpu, fit: Fit) -> dict[Limit, float]:
    """The seconds that each part is busy with a launch. One with little data finds it in L2 when it is timed."""
    read, written = _from_memory(launch)
    if launch.arrays * MOST_COPIES <= gpu.l2_bytes:
        read = written = 0.0
    cycle = _uneven(launch, gpu) / (gpu.multiprocessors * gpu.clock)
    rounds = max(launch.blocks / (launch.resident * gpu.multiprocessors), 1.0)
    waits = _load_cycles(launch, read, fit) * launch.of("path_loads") + fit.chain * launch.of("path_cycles")
    return {
        "memory": (read / gpu.read + written / gpu.copy) / fit.memory,
        "L2": LINE * l2_lines(launch) / gpu.l2 / fit.l2,
        "L1": cycle * _passes(launch, fit),
        "instructions": cycle * _issue(launch, fit) / SCHEDULERS,
        "latency": rounds * waits / launch.blocks / gpu.clock,
        "launches": fit.block * launch.blocks / gpu.clock,
    }


def l2_lines(launch: LaunchCounts) -> float:
    """The requests of lines that reach L2, which each take as long as a whole line, whatever they need of it: loads
    that L1 does not have, and all stores and atomics."""
    of, whole = launch.of, SECTOR / LINE
    loads = of("block_load_sectors") * max(whole, of("global_load_lines") / max(of("global_load_sectors"), 1))
    return loads + max(whole * of("global_store_sectors"), of("global_store_lines")) + of("global_atomic_sectors")


def _passes(launch: LaunchCounts, fit: Fit) -> float:
    """The cycles of L1 and of shared memory."""
    of = launch.of
    passes = of("local_sectors") / 4 + 2 * of("texture_requests")
    passes += fit.constant * (of("constant_words") - of("constant_requests"))
    for kind in ("load", "store"):
        fewest = max(of(f"global_{kind}_requests"), of(f"global_{kind}_ideal_sectors") * SECTOR / LINE)
        passes += fewest + fit.lines * max(of(f"global_{kind}_lines") - fewest, 0.0)
    return passes / fit.l1 + of("shared_wavefronts") / fit.shared + fit.collision * of("atomic_collisions")


def _issue(launch: LaunchCounts, fit: Fit) -> float:
    """The cycles of a scheduler: to issue all instructions, or of the unit that is busiest. Multiplications of integers
    have half of the lanes of floating point."""
    of, multiply = launch.of, launch.of("unit_multiply")
    busiest = max(of("unit_float") + multiply, 2 * multiply, *(n * of(f"unit_{name}") for name, n in UNITS.items()))
    return max(of("issued") / fit.issue, busiest / fit.unit)


def _load_cycles(launch: LaunchCounts, read: float, fit: Fit) -> float:
    """The cycles from a load to its value, on average over those that L1, L2 and the memory have."""
    missed = launch.of("block_load_sectors")
    missing = min(missed / max(launch.of("global_load_sectors"), 1), 1.0)
    far = min(read / max(SECTOR * missed, 1), 1.0)
    return HIT + missing * (fit.near + far * (fit.load - fit.near))


def _from_memory(launch: LaunchCounts) -> tuple[float, float]:
    """The bytes that a launch reads from device memory and writes there: no more than its arrays have, because what
    blocks share is still in L2."""
    read = float(SECTOR * launch.of("batch_load_sectors"))
    written = SECTOR * (launch.of("batch_store_sectors") + launch.of("batch_atomic_sectors"))
    if launch.arrays:
        written = min(written, launch.arrays)
        read = min(read, max(launch.arrays - written, launch.arrays / 2))
    return read, written


def _uneven(launch: LaunchCounts, gpu: Gpu) -> float:
    """How much longer the busiest multiprocessor works than all on average."""
    blocks, places = launch.blocks, launch.resident * gpu.multiprocessors
    if blocks <= places:
        return -(-blocks // gpu.multiprocessors) * gpu.multiprocessors / blocks
    rounds = blocks / places
    return (1 + math.ceil(rounds) / rounds) / 2
