"""The ways to transform lines of a power of two in shared memory by Stockham's method, and their blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.launches import CONSTANTS
from gpu_ops.params import Param, Value, Values

MOST_POINTS = 16
"""Points per thread, in registers."""
USUAL_THREADS, MOST_THREADS = 512, 1024
"""Threads per block: with 512 a thread may have 128 registers, with 1024 it has 64, which 16 complex128 exceed."""

BLOCK = Param(
    "block",
    256,
    choices=(32, 64, 128, 256, 512),
    tries=(64, 256),
    unit="threads",
    help="threads per block, which takes several short lines; more where a thread would have more than 16 points",
)
SHORT_RADIX = Param(
    "radix", 2, choices=(2, 16), unit="points", help="points per butterfly, as the source compares them"
)
LONG_RADIX = Param("radix", 16, choices=(8, 16), unit="points", help="points per butterfly, all in registers")
THREADS = Param(
    "block", 256, choices=(32, 64, 128, 256, 512), tries=(64, 256), unit="threads", help="threads per block"
)
GAP = Param("gap", 1, choices=(0, 1), unit="points", help="points of padding after each group of a stage")


@dataclass(frozen=True)
class Way:
    """A way to transform lines, implemented by a kernel file; its name is the id of its variants."""

    name: str
    title: str
    idea: str
    knobs: tuple[Param, ...]

    @property
    def file(self) -> str:
        """Its kernel file."""
        return f"fft/{self.title[0]}_{self.name}.cu"


@dataclass(frozen=True)
class Stockham(Way):
    """A kernel of the family. `radix` is used if no knob sets it; `twiddles` is where the twiddle factors come from:
    "global", "computed" or "constant"."""

    radix: int = 0
    twiddles: str = "global"

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return f"fft_{self.name}_lines"

    def radix_of(self, knobs: Values) -> int:
        """The points of a butterfly."""
        default = self.radix or next(knob.default for knob in self.knobs if knob.name == "radix")
        return int(knobs.get("radix", default))

    def defines(self, blocks: Blocks, knobs: Values) -> dict[str, Value]:
        """The defines of the blocks and of the knobs. A radix that no knob sets is a constant in the kernel's file."""
        defines = {name: value for name, value in blocks.defines.items() if not (self.radix and name == "RADIX")}
        return {**defines, **({"GAP": knobs.get("gap", GAP.default)} if GAP in self.knobs else {})}

    def longest(self, shared_bytes: int, dtype: np.dtype[Any], knobs: Values) -> int:
        """The points of the longest line of a block, a power of two."""
        wide = dtype.itemsize // 8
        most = MOST_POINTS * MOST_THREADS // wide
        if self.twiddles == "constant":
            most = min(most, 2 * CONSTANTS // dtype.itemsize)
        radix = self.radix_of(knobs)
        while most > radix and with_gaps(most, radix) * dtype.itemsize > shared_bytes:
            most //= 2
        return most


def with_gaps(n: int, radix: int) -> int:
    """The elements of a line with the most padding of any stage: one per radix points."""
    return n + n // radix


@dataclass(frozen=True)
class Blocks:
    """Blocks for lines of n points: each thread has `points` of them, `radix` of these per butterfly, and a block has
    `lines` lines, each with `plane` elements for one part of its points."""

    n: int
    radix: int
    points: int
    lines: int
    plane: int

    @classmethod
    def of(cls, n: int, radix: int, threads: int, count: int, most_lines: int) -> Blocks:
        """For `count` lines in blocks of about this number of threads, which have space for `most_lines` lines."""
        radix = min(radix, n)
        points = min(n, max(radix, min(MOST_POINTS, n // threads)))
        lines = min(max(1, threads // (n // points)), count, most_lines)
        return cls(n, radix, points, lines, with_gaps(n, radix))

    @property
    def block(self) -> tuple[int, int, int]:
        """The block's shape: threads per line, lines."""
        return self.n // self.points, self.lines, 1

    @property
    def defines(self) -> dict[str, Value]:
        """The defines of the kernel."""
        most = USUAL_THREADS if self.n // self.points * self.lines <= USUAL_THREADS else MOST_THREADS
        return {"RADIX": self.radix, "POINTS": self.points, "THREADS": most}


GLOBAL = Way(
    "global",
    "1 global memory",
    "Radix 2, one thread per butterfly, one launch per stage: every stage reads and writes all points in global "
    "memory.",
    (THREADS,),
)
SHARED = Way(
    "shared",
    "2 shared memory",
    "A block keeps a line in shared memory through all stages, so global memory is read and written once; a "
    "longer line takes two launches.",
    (THREADS,),
)
AS_PUBLISHED = Stockham(
    "padded_as_published",
    "3 shared memory, padded as published",
    "Stockham: each stage stores its points where the next one loads them. One point of padding per group, as "
    "published: the first stage stores without bank conflicts, the others with as many as before.",
    (BLOCK, SHORT_RADIX, GAP),
)
PADDED = Stockham(
    "padded",
    "4 shared memory, padded per stage",
    "The padding of each group grows with the stride of the butterfly's results: every stage stores without bank "
    "conflicts.",
    (BLOCK, SHORT_RADIX),
)
RADIX4 = Stockham(
    "radix4",
    "5 radix 4",
    "Butterflies of four points: half as many stages, exchanges through shared memory and barriers.",
    (BLOCK,),
    radix=4,
)
REGISTERS = Stockham(
    "registers",
    "6 radix 8 or 16 in registers",
    "Butterflies of 8 or 16 points in registers; the last stage stores directly to global memory: 4096 points "
    "are exchanged through shared memory twice.",
    (BLOCK, LONG_RADIX),
)
FAST_SINE = Stockham(
    "fast_sine",
    "7 twiddles by __sincosf",
    "Twiddle factors are computed by __sincosf, a few instructions of the special function units, instead of "
    "loaded; they are less exact.",
    (BLOCK, LONG_RADIX),
    twiddles="computed",
)
TABLE = Stockham(
    "table",
    "8 twiddles in constant memory",
    "Twiddle factors are loaded from constant memory, which broadcasts a word to a warp, but serialises lanes "
    "that load different words.",
    (BLOCK, LONG_RADIX),
    twiddles="constant",
)
STOCKHAM: Mapping[str, Stockham] = {
    way.name: way for way in (AS_PUBLISHED, PADDED, RADIX4, REGISTERS, FAST_SINE, TABLE)
}
"""By the id of their variants."""
