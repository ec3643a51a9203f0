"""The variant of short lines in batches: whole blocks of lines are copied through shared memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.fft.batch import Batch, largest, spectra
from gpu_ops.filters.fft.cuda.batch_passes import read
from gpu_ops.filters.fft.cuda.measured_stages import REAL, SHORT
from gpu_ops.filters.fft.cuda.passes import UNPACKED, WHOLE, Passes, Scheme, circle, half_turns
from gpu_ops.filters.fft.cuda.radices import MOST_PRIME, MOST_THREADS, Stages, largest_prime
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.kit.rules import beyond
from gpu_ops.params import Param
from gpu_ops.plan import Device, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Variant

SCHEME = Scheme("fft/19_short.cu", pack=True, any_length=True)
IDEA = (
    "Lines shorter than a warp: a block copies all its lines into shared memory by neighbouring lanes and stores "
    "results likewise; between, neighbouring lanes have neighbouring lines."
)
BLOCK = Param(
    "block",
    128,
    choices=(64, 128, 256, 512),
    tries=(64, 256),
    unit="threads",
    help="threads per block; more where a warp's lines take more",
)
ALONE = Param(
    "alone",
    16,
    choices=(4, 8, 16, 32),
    tries=(8, 16),
    unit="points",
    help="lines of at most so many points stay in a thread's registers; longer ones take two stages of several threads",
)
WARP, MOST_POINTS, SINGLE = 32, 128, 8
"""Lines of a block at least, where they fit shared memory; complex points of a line at most; bytes of a complex number
for which stages were measured."""


@dataclass(frozen=True)
class Short:
    """Blocks of lines of `n` complex points."""

    n: int
    numbers: str
    ends: str
    stages: Stages
    lines: int
    shared: int

    @classmethod
    def of(cls, task: Task) -> Short:
        """Of a task that the variant takes."""
        batch = Batch.of(task)
        n, numbers, ends, _ = read(batch, True)
        itemsize = complex_type(task).itemsize
        known = (SHORT.get(n) if ends == WHOLE else REAL.get(batch.width)) if itemsize == SINGLE else None
        stages = (known or two_stages(n)) if n > int(task.knobs["alone"]) else Stages((n,), 1)
        line = pitch(n) * itemsize
        lines = max(1 << (int(task.knobs["block"]) // stages.threads).bit_length() - 1, WARP)
        while lines * line > task.limits.shared_bytes or lines * stages.threads > MOST_THREADS:
            lines //= 2
        return cls(n, numbers, ends, stages, lines, lines * line)


def two_stages(n: int) -> Stages:
    """Two radices as near to each other as can be, the larger first, of whose butterflies each thread has one."""
    second = next(b for b in range(math.isqrt(n), 0, -1) if n % b == 0)
    return Stages((n // second, second), second)


def pitch(n: int) -> int:
    """How many complex numbers lines of n points are apart in shared memory."""
    return n | 1


def plan(device: Device, task: Task) -> Plan:
    """One launch."""
    form, passes, short = spectra(task), Passes(device, task, SCHEME), Short.of(task)
    lines, out = Batch.of(task).rows, device.empty(form.shape, form.dtype)
    defines = passes.defines(short.n, short.stages, short.lines, (0, 0), short.numbers)
    kernel = device.kernel(*(SCHEME.file, SCHEME.kernel), {**defines, "LINE_PITCH": pitch(short.n), "ENDS": short.ends})
    table = passes.table(circle, short.n)
    split = passes.table(half_turns, short.n) if short.ends == UNPACKED else table
    grid, block = (-(-lines // short.lines), 1, 1), (short.stages.threads * short.lines, 1, 1)
    args = (task.x, out, table, split, np.int64(lines))
    return Plan((Launch(kernel, grid, block, args, short.shared, name="lines"),), {"spectra": out})


def _points(task: Task) -> int:
    return read(Batch.of(task), True)[0]


CHANNELS = Rule(
    lambda task: beyond(Batch.of(task).channels, 1),
    "the lines of {found} channels are interleaved; use the variant mixed_radix",
    {"shape": ((97, 3),)},
)
LONG = Rule(
    lambda task: beyond(_points(task), MOST_POINTS),
    f"lines of {{found}} complex points are longer than the {MOST_POINTS} that it is for; use the variant fast",
)
PRIMES = Rule(
    lambda task: _points(task) if largest_prime(_points(task)) > MOST_PRIME else 0,
    f"{{found}} points: the length has a prime factor above {MOST_PRIME}; use the variant registers",
)
SHAPES = (13,), (26,), (64,), (121,), (256,)
"""Whole signals that are one short line: one radix and two, odd and even ones, bins of pairs and half of the bins."""
VARIANT = Variant(
    *("short", "19 short lines", IDEA, plan, "cuda", (SCHEME.file,), (BLOCK, ALONE)),
    source="S2",
    rules=(CHANNELS, PRIMES, LONG),
    largest=largest,
    shapes=SHAPES,
    counts=Counts(uncounted="its loads are sectors, whatever the lines"),
)
