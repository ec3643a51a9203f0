"""The time of a plan on a GPU, from what its launches do: how long each part of the GPU is busy, as an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts

Limit = Literal["memory", "L2", "L1", "instructions", "latency", "launches"]
LIMITS: Mapping[Limit, str] = {
    "memory": "bytes from and to device memory",
    "L2": "sectors from and to L2",
    "L1": "requests of L1 and of shared memory",
    "instructions": "instructions",
    "latency": "waiting for results, with the warps that fit",
    "launches": "starting launches",
}
"""The parts of a GPU that can limit a launch, in words."""
SECTOR = 32
SCHEDULERS = 4
ATOMICS = 0.02
"""Atomics of global memory per thread, or lanes that meet at one address of a shared atomic per warp instruction, above
which a time is not known: how long they wait for one another depends on what else is in flight."""
KEPT = 0.5
"""The share of L2 that may keep what a launch of the plan has written until the next one reads it."""


@dataclass(frozen=True)
class Fit:
    """The numbers of the model that no data sheet has, fitted to recorded times of the H200.

    Seconds until the `first` launch of a plan begins, from one launch to the `next`, to an `early` one, and for another
    `step`; the shares of their roofs that `memory`, `l2`, `l1` and `shared` memory and the `issue` of instructions
    reach; passes of L1 for a `scattered` sector; the cycles from a `load` to its value; cycles of a scheduler for an
    instruction of the `special` units, of `double` precision and of `integer`s; for a `collision` of atomics. Parts
    work at the same time: with a large `overlap` the busiest one alone decides."""

    first: float = 3.14e-6
    next: float = 1.86e-6
    early: float = 0.956e-6
    step: float = 1.70e-6
    memory: float = 0.929
    l2: float = 0.749
    l1: float = 1.11
    shared: float = 0.915
    issue: float = 1.13
    overlap: float = 1.53
    scattered: float = 1.20
    load: float = 297.0
    chain: float = 0.510
    special: float = 1.77
    double: float = 0.264
    integer: float = 0.0636
    collision: float = 4.0
    kept: float = 0.3


FIT = Fit()
INTERVAL = 1.264
"""An interval is from the predicted time over this to this times the predicted time: 1.6 from end to end."""


@dataclass(frozen=True)
class Prediction:
    """A predicted time in seconds, `low` to `high`, and the seconds that each limit alone would take. `shares` are the
    seconds of the predicted time that each limit brings; their sum is the time. `unknown` says why there is no
    interval."""

    gpu: Gpu
    seconds: float
    terms: Mapping[Limit, float] = field(default_factory=dict)
    unknown: str = ""
    shares: Mapping[Limit, float] = field(default_factory=dict)

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
    terms: dict[Limit, float] = dict.fromkeys(LIMITS, 0.0)
    shares = dict(terms)
    for number, launch in enumerate(launches):
        start = fit.first if not number else fit.early if launch.early else fit.next
        if not launch.blocks:
            start = fit.step
            own: dict[Limit, float] = {"memory": launch.moved / gpu.copy}
        else:
            own = _terms(launch, gpu, fit, number > 0)
        unknown = unknown or _unknown(launch)
        total += start + _together(own, fit.overlap)
        for sums, parts in ((terms, own), (shares, _shares(own, fit.overlap))):
            sums["launches"] += start
            for name, seconds in parts.items():
                sums[name] += seconds
    return Prediction(gpu, total, terms, unknown, shares)


def _unknown(launch: LaunchCounts) -> str:
    """Why the time of a launch is not known, or ""."""
    threads = launch.blocks * launch.threads
    met = launch.of("atomic_collisions")
    if launch.of("global_atomic_threads") > ATOMICS * threads or met > ATOMICS * launch.of("warp_instructions"):
        return f"{launch.kernel} waits for atomic operations that meet at one address; how long depends on all others"
    if launch.spilled:
        return f"{launch.kernel} spills {launch.spilled} bytes of registers, whose traffic is not counted"
    return ""


def _together(terms: Mapping[Limit, float], overlap: float) -> float:
    """The time of parts that work at the same time. What goes through L2 to memory is one stream, as fast as its slower
    part; the others get in each other's way."""
    stream = max(terms["memory"], terms.get("L2", 0.0))
    parts = [stream, *(t for name, t in terms.items() if name not in ("memory", "L2"))]
    most = max(parts)
    return most * sum((t / most) ** overlap for t in parts) ** (1 / overlap) if most else 0.0


def _shares(terms: Mapping[Limit, float], overlap: float) -> dict[Limit, float]:
    """What each part brings of the time of all together: its time, times how much the whole grows with it. By Euler's
    theorem these add up to the whole, which grows as all of them do. Of the stream, the slower part brings all."""
    slower: Limit = "L2" if terms.get("L2", 0.0) > terms["memory"] else "memory"
    parts = {name: t for name, t in terms.items() if name == slower or name not in ("memory", "L2")}
    most = max(parts.values())
    weights = {name: (t / most) ** overlap if most else 0.0 for name, t in parts.items()}
    whole = _together(terms, overlap)
    return {name: whole * weight / sum(weights.values()) if most else 0.0 for name, weight in weights.items()}


def _terms(launch: LaunchCounts, gpu: Gpu, fit: Fit, follows: bool) -> dict[Limit, float]:
    """The seconds that each part is busy with a launch. One that `follows` another may find its input in L2."""
    of, warps = launch.of, launch.warps
    read, written = _from_memory(launch)
    if follows and read < KEPT * gpu.l2_bytes:
        read *= fit.kept
    sectors = of("block_load_sectors") + of("global_store_sectors") + of("global_atomic_sectors")
    cycle = _uneven(launch, gpu) / (gpu.multiprocessors * gpu.clock)
    ideal = {kind: of(f"global_{kind}_ideal_sectors") for kind in ("load", "store")}
    passes = sum(max(of(f"global_{kind}_requests"), ideal[kind] / 4) for kind in ideal)
    passes += fit.scattered * sum(of(f"global_{kind}_sectors") - ideal[kind] for kind in ideal)
    passes += of("local_sectors") / 4 + 2 * of("texture_requests") + of("constant_words") - of("constant_requests")
    passes = passes / fit.l1 + of("shared_wavefronts") / fit.shared + fit.collision * of("atomic_collisions")
    busy = of("warp_instructions") / fit.issue + fit.special * of("chain_special") + fit.double * of("chain_double")
    busy += fit.integer * of("chain_integer")
    waits = fit.load * of("chain_loads") + fit.chain * of("chain_cycles")
    rounds = max(launch.blocks / (launch.resident * gpu.multiprocessors), 1.0)
    return {
        "memory": (read / gpu.read + written / gpu.copy) / fit.memory,
        "L2": SECTOR * sectors / gpu.l2 / fit.l2,
        "L1": cycle * passes,
        "instructions": cycle * busy / SCHEDULERS,
        "latency": rounds * waits / warps / gpu.clock,
    }


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
