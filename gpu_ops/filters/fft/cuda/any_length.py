"""Lines of any length that one block transforms, as `kernels/include/fft_any_length.cuh` expects them: by stages of
small primes, or as a convolution with a chirp by such stages."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gpu_ops.filters.fft.cuda.passes import circle, room_of
from gpu_ops.filters.fft.cuda.radices import (
    MOST_NUMBERS,
    MOST_PRIME,
    MOST_THREADS,
    STAGE,
    Stages,
    held,
    largest_prime,
    stages_of,
)
from gpu_ops.filters.fft.cuda.transform import Transforms, chirp, chirp_spectrum
from gpu_ops.filters.kit.rules import MOST_BLOCKS, beyond
from gpu_ops.params import Param, Value, Values
from gpu_ops.plan import DeviceArray
from gpu_ops.types import Rule

RADIX = Param("radix", 16, choices=(8, 16), unit="points", help="points per butterfly, at most")
TOGETHER = Param(
    "together",
    2,
    choices=(1, 2),
    unit="parts",
    help="real and imaginary parts are exchanged together, or one after the other in half the shared memory",
)
TRIED = 24
"""The number of convolution lengths that are compared."""


MANY_CHANNELS = Rule(
    lambda task: beyond(task.meta.channels, MOST_BLOCKS),
    f"{{found}} channels are more than the {MOST_BLOCKS:,} that a grid has in y; use a variant on the CPU",
)


class Line(NamedTuple):
    """A line of `length` points, by stages of `points`: equal to it, or, for a convolution, at least 2 length - 1."""

    length: int
    points: int
    stages: Stages

    @property
    def apart(self) -> int:
        """The distance of the points of a first butterfly."""
        return self.points // self.stages.radices[0]

    @property
    def numbers(self) -> int:
        """The maximum number of points per thread times its threads."""
        return self.stages.threads * held(self.points, self.stages)

    @property
    def passes(self) -> int:
        """The number of transforms of `points` that it needs."""
        return 1 if self.points == self.length else 2

    def room(self, lines: int) -> tuple[int, int]:
        """The elements of a line in shared memory, and those of several lines, for any order of its stages."""
        radices = self.stages.radices
        return max(room_of(self.points, order, lines) for order in (radices, radices[::-1]))

    def most_lines(self, most: int, knobs: Values, itemsize: int, shared_bytes: int) -> int:
        """How many lines fit into a block, a power of two up to `most`, with this size of a real number; 0: none."""
        # Doubles need two registers each: half as many numbers, if a line allows it.
        numbers = MOST_NUMBERS * 4 // itemsize if self.numbers * itemsize <= MOST_NUMBERS * 4 else MOST_NUMBERS
        most = min(most, MOST_THREADS // self.stages.threads, numbers // self.numbers)
        lines = 1 << most.bit_length() - 1 if most else 0
        while lines and self.shared(lines, knobs, itemsize) > shared_bytes:
            lines //= 2
        return lines

    def shared(self, lines: int, knobs: Values, itemsize: int) -> int:
        """Bytes of shared memory of this number of lines."""
        return self.room(lines)[1] * int(knobs["together"]) * itemsize if len(self.stages.radices) > 1 else 0

    def defines(self, lines: int, knobs: Values) -> dict[str, Value]:
        """The defines of kernels with this number of lines per block."""
        radices = self.stages.radices
        return {
            "LINE_LENGTH": self.length,
            "LINE_POINTS": self.points,
            "LINE_THREADS": self.stages.threads,
            "LINE_PITCH": self.room(lines)[0],
            "LINES": lines,
            "RADICES": ",".join(map(str, radices)),
            "BACKWARD": ",".join(map(str, radices[::-1])),
            "PARTS": knobs["together"],
        }

    def tables(self, work: Transforms) -> tuple[DeviceArray, ...]:
        """The tables of twiddle factors, of the chirp and of its transform; without a chirp only the first one is
        used."""
        twiddles = work.table(circle, self.points)
        if self.passes == 1:
            return twiddles, twiddles, twiddles
        spectrum = work.device.upload(chirp_spectrum(self.length, self.points).astype(work.dtype))
        return twiddles, work.table(chirp, self.length), spectrum


def smooth_from(least: int) -> list[int]:
    """The first TRIED numbers from `least` on without a prime factor above MOST_PRIME, in order."""
    found = [1]
    for prime in (p for p in range(2, MOST_PRIME + 1) if largest_prime(p) == p):
        for n in found:  # which is extended as needed
            if n * prime < 2 * least:
                found.append(n * prime)
    return sorted(n for n in found if n >= least)[:TRIED]


@lru_cache
def line_of(length: int, radix: int) -> Line | None:
    """The cheapest way to transform a line; None if it is too long for a block."""
    if largest_prime(length) <= MOST_PRIME:
        return _smooth(length, length, radix)
    found = (_smooth(length, points, radix) for points in smooth_from(2 * length - 1) if points <= MOST_NUMBERS)
    lines = (line for line in found if line)
    return min(lines, key=lambda line: sum(line.numbers * (1 + STAGE / 16) for _ in line.stages.radices), default=None)


def _smooth(length: int, points: int, radix: int) -> Line | None:
    """By stages of this number of points, an even radix first if there is one: then pairs of rows support them all."""
    stages = stages_of(points, radix)
    if stages is None:
        return None
    return Line(length, points, Stages(tuple(sorted(stages.radices, key=lambda r: (r % 2, -r))), stages.threads))
