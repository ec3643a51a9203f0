"""Launches over many lines of one length, as `kernels/include/fft_lines.cuh` expects them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft.cuda.measured_stages import LONG
from gpu_ops.filters.fft.cuda.radices import (
    MOST_NUMBERS,
    MOST_RADIX,
    MOST_THREADS,
    Stages,
    halves,
    held,
    stages_of,
    thirds,
)
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.params import Value, Values
from gpu_ops.plan import Device, DeviceArray, Launch
from gpu_ops.task import Task

POINTS, LINES = "ALONG_POINTS", "ALONG_LINES"
"""The axis along which lanes run."""
NUMBERS, PAIRS, SINGLES = "COMPLEX_NUMBERS", "PAIRS", "SINGLES"
"""What is loaded: complex numbers, neighbouring samples as their parts, or single samples."""
WHOLE, HALF, UNPACKED = "WHOLE", "HALF", "UNPACKED"
"""What is stored of a line: all results, the first half, or the spectrum of twice as many real samples."""
BATCH, UNPACK = "fft/batch.cu", "fft/unpack.cu"
LOW_BITS = 12
"""The small table of a long line's twiddle factors has 2^12 of them, the other one every 2^12-th."""
SECTOR = 32
"""Bytes of global memory that are loaded and stored together."""
TWO_PART_LINES = 4
"""Times as many neighbours has a block of columns in two parts: its lines are short, and longer runs of memory pay."""
THREE_PART_LINES = 2
"""Of lines in three parts, which are shorter still: 128 bytes side by side, a line of the cache."""
MOST_IDLE = 4
"""With fewer than one block for so many multiprocessors a launch has blocks of fewer rows."""
NEEDED, COLUMNS, ALL, THREE = "needed", "columns", "all", "three"
"""Which lines are cut in parts: those too long for a block or for neighbours that fill a sector, columns, all; or all
in three parts that are long enough."""


class Where(NamedTuple):
    """The strides of lines and points: along outer, along middle, and of the points of a line."""

    outer: int
    middle: int
    step: int


class Lines(NamedTuple):
    """`total` lines of n points, counted along inner, where they are adjacent, then along middle, then outer."""

    n: int
    total: int
    inner: int = 1
    middle: int = 1


@dataclass(frozen=True)
class Scheme:
    """How a variant makes its launches. `pack` reads real samples in pairs, `split` cuts long lines in two parts,
    `three` the longest in three, `transpose` stores rows as columns instead of taking several neighbouring columns per
    block, `any_length` takes other lengths than powers of two, `tiles` has small tiles in a block. Kernels of an
    `early` one wait for the previous launch themselves."""

    file: str
    pack: bool = False
    split: bool = False
    transpose: bool = False
    any_length: bool = False
    tiles: bool = False
    three: bool = False
    early: bool = False

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return f"fft_{self.file.partition('/')[2].partition('_')[2].removesuffix('.cu')}_lines"

    def choices(self, knobs: Values) -> dict[str, Value]:
        """The defines that only some kernels need; in the files of the others they are constants."""
        defines: dict[str, Value] = {"LOW_BITS": LOW_BITS} if self.split else {}
        if self.tiles:
            defines |= {"PARTS": knobs["together"], "LOOKUPS": knobs["lookups"], "WIDTH": knobs["width"], "TILED": 0}
        return defines

    def lanes(self, lanes: tuple[str, str]) -> dict[str, Value]:
        """The defines of the axis along which lanes run as they load and as they store: a kernel that splits lines has
        both, one that transposes has them in its file, and the others have the same in both stages."""
        if self.split:
            return {"LANES_IN": lanes[0], "LANES_OUT": lanes[1]}
        if self.transpose:
            assert lanes == (POINTS, LINES)
            return {}
        assert lanes[0] == lanes[1]
        return {"LANES": lanes[0]}


def circle(n: int) -> Any:
    """exp(-2 pi i k / n) for all k in complex128."""
    return np.exp(-2j * np.pi * (np.arange(n) / n))


def half_turns(n: int) -> Any:
    """exp(-2 pi i k / 2 n) for k = 0 … n in complex128."""
    return np.exp(-1j * np.pi * (np.arange(n + 1) / n))


def low_turns(n: int) -> Any:
    """The first 2^LOW_BITS twiddle factors of n points."""
    return np.exp(-2j * np.pi * (np.arange(1 << LOW_BITS) / n))


def high_turns(n: int) -> Any:
    """Every 2^LOW_BITS-th twiddle factor of n points."""
    return np.exp(-2j * np.pi * (np.arange(-(-n // (1 << LOW_BITS))) * (1 << LOW_BITS) / n))


def room_of(n: int, radices: tuple[int, ...], lines: int) -> tuple[int, int]:
    """The elements of a line in shared memory, with its padding, and those of all lines of a block."""
    place = n
    if n & (n - 1) or lines & (lines - 1):
        span = 1
        for radix in radices[:-1]:
            span *= radix
            place = max(place, n if radix % 2 else n + (n - 1) // span)
    return place, -(-place * lines // 32) * 32


@dataclass(frozen=True)
class Fit:
    """The capacity of a device's block for lines, from the knobs and its bytes of shared memory; `itemsize` are the
    bytes of a real number."""

    knobs: Values
    shared_bytes: int
    itemsize: int

    @property
    def parts(self) -> int:
        """Parts of complex numbers that are exchanged at once: 2 or 1."""
        return int(self.knobs.get("together", 2))

    @property
    def radix(self) -> int:
        """The maximum radix. 32 numbers of 64 bits would leave a thread no registers for anything else."""
        return min(int(self.knobs.get("radix", MOST_RADIX)), 32 if self.itemsize == 4 else MOST_RADIX)

    def lines(self, n: int, stages: Stages, along_lines: bool, count: int, times: int = 1) -> int:
        """Lines per block: neighbouring ones `times` the knob's number, others as many as fill its threads; 0: none
        fits."""
        wanted = int(self.knobs.get("batch", 8)) * times if along_lines else int(self.knobs["block"]) // stages.threads
        return self.room(n, stages, min(max(wanted, 1), 1 << max(count - 1, 0).bit_length()))

    def room(self, n: int, stages: Stages, most: int) -> int:
        """How many of `most` lines fit into a block; 0: none."""
        most = min(most, MOST_THREADS // stages.threads, MOST_NUMBERS // (stages.threads * held(n, stages)))
        while most and room_of(n, stages.radices, most)[1] * self.parts * self.itemsize > self.shared_bytes:
            most //= 2
        return most

    def has(self, n: int, fewest: int) -> bool:
        """Whether a block holds so many lines."""
        stages = stages_of(n, self.radix)
        return stages is not None and self.room(n, stages, fewest) >= fewest

    def fills_sectors(self, n: int) -> bool:
        """Whether as many neighbouring lines as a block holds, up to two sectors of each row, are whole sectors. Where
        they are not, three launches are faster than two: 188 against 304 microseconds for 10^7 points on an H100."""
        stages, numbers = stages_of(n, self.radix), SECTOR // (2 * self.itemsize)
        lines = self.room(n, stages, 2 * numbers) if stages else 0
        return lines > 0 and lines % numbers == 0

    def longest(self) -> int:
        """The maximum length of a line in shared memory."""
        return min(self.shared_bytes // (self.parts * self.itemsize), MOST_NUMBERS)


@dataclass
class Passes:
    """Collects the launches of a plan; its arrays are flat."""

    device: Device
    task: Task
    scheme: Scheme
    steps: list[Launch] = field(default_factory=list)
    _tables: dict[tuple[str, int], DeviceArray] = field(default_factory=dict)

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of spectra."""
        return complex_type(self.task)

    @property
    def fit(self) -> Fit:
        """The block's capacity."""
        return Fit(self.task.knobs, self.device.limits.shared_bytes, self.kind.itemsize // 2)

    def empty(self, points: int) -> DeviceArray:
        """Memory for so many complex numbers."""
        return self.device.empty((points,), self.kind)

    def table(self, make: Callable[[int], Any], n: int) -> DeviceArray:
        """The table `make(n)` on the device; each is uploaded once."""
        key = make.__name__, n
        if key not in self._tables:
            self._tables[key] = self.device.upload(make(n).astype(self.kind))
        return self._tables[key]

    def defines(self, n: int, stages: Stages, lines: int, apart: tuple[int, int], numbers: str) -> dict[str, Value]:
        """The strides of blocks of this number of lines that are read with this stride."""
        place = room_of(n, stages.radices, lines)[0]
        aligned = all(step % 2 == 0 for step in apart)
        double = self.kind == np.complex128
        types = {"REAL": "double" if double else "float", "COMPLEX": "double2" if double else "float2"}
        sizes = {"LINE_POINTS": n, "LINE_THREADS": stages.threads, "LINES": lines, "LINE_PITCH": place}
        defines: dict[str, Value] = {"RADICES": ",".join(map(str, stages.radices)), "NUMBERS": numbers}
        defines |= {"SAMPLE": CTYPES[self.task.dtype.name], "PAIR_ALIGNED": int(aligned)}
        return defines | types | sizes | self.scheme.choices(self.task.knobs)

    def launch(
        self,
        x: DeviceArray,
        y: DeviceArray,
        lines: Lines,
        source: Where,
        target: Where,
        what: str,
        numbers: str = NUMBERS,
        ends: str = WHOLE,
        lanes: tuple[str, str] = (POINTS, POINTS),
        turns: int = 0,
        times: int = 1,
    ) -> None:
        """Transform lines of x into y; `turns` are the points of the long line that they are parts of, and a block has
        `times` as many neighbours as the knob says."""
        stages = self._stages(lines.n, lanes == (POINTS, POINTS) and numbers == PAIRS and ends == WHOLE)
        assert stages is not None  # the variant supports the length
        each = self.fit.lines(lines.n, stages, LINES in lanes, lines.total, times)
        while self.scheme.early and LINES not in lanes and each % 2 == 0 and self._leaves_idle(lines.total // each):
            each //= 2
        defines = self.defines(lines.n, stages, each, (source.outer, source.middle), numbers)
        defines |= {**self.scheme.lanes(lanes), "ENDS": ends}
        if self.scheme.split:
            defines |= {"TWIDDLED": int(turns > 0)}
        if self.scheme.tiles and (ends != WHOLE or lanes != (POINTS, POINTS) or lines.inner > 1):
            defines |= {"WIDTH": 64}
        table = self.table(circle, lines.n)
        tables = [table]
        if self.scheme.pack:
            tables.append(self.table(half_turns, lines.n) if ends == UNPACKED else table)
        if self.scheme.split:
            tables += [self.table(make, turns) if turns else table for make in (low_turns, high_turns)]
        counts = (np.uint32(n) for n in (lines.total, lines.inner, lines.middle))
        args = (x, y, *tables, *counts, *(np.int64(n) for n in (*source, *target)))
        kernel = self.device.kernel(self.scheme.file, self.scheme.kernel, defines)
        room = room_of(lines.n, stages.radices, each)[1] if len(stages.radices) > 1 or ends == UNPACKED else 0
        shared = self.fit.parts * room * self.fit.itemsize
        grid, block = (-(-lines.total // each), 1, 1), (stages.threads * each, 1, 1)
        early = self.scheme.early and bool(self.steps)
        self.steps.append(Launch(kernel, grid, block, args, shared, name=what, early=early))

    def _stages(self, n: int, in_rows: bool) -> Stages | None:
        """Those measured of complex float32 rows, unless knobs ask for others; else those of least cost."""
        usual, knobs = stages_of(n, self.fit.radix), self.task.knobs
        measured = in_rows and self.scheme.tiles and self.kind == np.complex64 and knobs["width"] == 64
        return LONG.get(n, usual) if measured and self.fit.radix > MOST_RADIX else usual

    def _leaves_idle(self, blocks: int) -> bool:
        """Whether so few blocks leave most multiprocessors idle: blocks of half as many rows are faster then, 6.0
        against 6.6 microseconds for 256 x 256 points on an H100."""
        return MOST_IDLE * blocks < self.device.limits.multiprocessors

    def along(
        self,
        x: DeviceArray,
        y: DeviceArray,
        lines: Lines,
        source: Where,
        target: Where,
        what: str,
        numbers: str = NUMBERS,
        lanes: tuple[str, str] = (POINTS, POINTS),
    ) -> None:
        """The same in two or three launches where a line is too long for one, or the knob wants them; of lines that are
        counted along inner and outer alone."""
        beside = 0
        if lanes == (LINES, LINES):
            # Rows that are not aligned to sectors: neighbours fill one of two sectors that they touch.
            beside = SECTOR if target.step * self.kind.itemsize % SECTOR == 0 else 2 * SECTOR
        cut = parts_of(lines.n, self.fit, self.scheme, self.task.knobs, beside)
        if cut is None:
            self.launch(x, y, lines, source, target, what, numbers, lanes=lanes)
            return
        if len(cut) == 3:
            self._in_three(x, y, lines, cut, source, target, what, numbers)
            return
        n1, n2 = cut
        inner, outer = lines.inner, lines.total // (lines.inner * lines.middle)
        between = self.empty(lines.total * lines.n)
        apart = Where(lines.n * inner, inner, n2 * inner)
        first = Lines(n1, outer * n2 * inner, inner, n2)
        read = Where(source.outer, source.step, n2 * source.step)
        times, part = TWO_PART_LINES if beside else 1, f"{what}: part 1 of 2"
        self.launch(x, between, first, read, apart, part, numbers, lanes=(LINES, LINES), turns=lines.n, times=times)
        second = Lines(n2, outer * n1 * inner, inner, n1)
        rows = Where(lines.n * inner, n2 * inner, inner)
        stored = Where(target.outer, target.step, n1 * target.step)
        lanes = POINTS if inner == 1 else LINES, LINES
        self.launch(between, y, second, rows, stored, f"{what}: part 2 of 2", lanes=lanes, times=times)

    def _in_three(
        self,
        x: DeviceArray,
        y: DeviceArray,
        lines: Lines,
        cut: tuple[int, ...],
        source: Where,
        target: Where,
        what: str,
        numbers: str,
    ) -> None:
        """Point (a n2 + b) n3 + c of a line: columns of all a, columns of all b in each of n1 rows, and rows of all c.
        y has room for what the first launch stores; results k1 + n1 (k2 + n2 k3) are stored by neighbours along k1."""
        n1, n2, n3 = cut
        inner, outer = lines.inner, lines.total // (lines.inner * lines.middle)
        between, row, times = self.empty(lines.total * lines.n), n2 * n3 * inner, THREE_PART_LINES
        whole = Where(lines.n * inner, inner, row)
        first = Lines(n1, outer * row, inner, n2 * n3)
        read = Where(source.outer, source.step, n2 * n3 * source.step)
        how: Any = {"lanes": (LINES, LINES), "times": times}
        self.launch(x, y, first, read, whole, f"{what}: part 1 of 3", numbers, turns=lines.n, **how)
        second, place = Lines(n2, outer * n1 * n3 * inner, inner, n3), Where(row, inner, n3 * inner)
        self.launch(y, between, second, place, place, f"{what}: part 2 of 3", turns=n2 * n3, **how)
        third, rows = Lines(n3, n1 * n2 * inner, inner, n1), Where(n3 * inner, row, inner)
        stored = Where(n1 * target.step, target.step, n1 * n2 * target.step)
        how["lanes"] = POINTS if inner == 1 else LINES, LINES
        for line in range(outer):
            own = between[line * lines.n * inner :], y[line * target.outer :]
            self.launch(*own, third, rows, stored, f"{what}: part 3 of 3", **how)

    def cut(self, z: DeviceArray, y: DeviceArray, lines: Lines, apart: int, ends: str) -> None:
        """Half spectra y, with a stride of `apart` numbers, of contiguous whole lines z."""
        count, n, c = lines.total // lines.inner, lines.n, lines.inner
        defines: dict[str, Value] = {"REAL": "double" if self.kind == np.complex128 else "float", "SAMPLE": "float"}
        defines["COMPLEX"] = "double2" if self.kind == np.complex128 else "float2"
        args: tuple[DeviceArray, ...]
        more: tuple[Any, ...]
        if ends == UNPACKED and self.scheme.three:
            threads, args = count * (n // 2 + 1), tuple(self.table(make, 2 * n) for make in (low_turns, high_turns))
            name, what, more = "fft_unpack", "even and odd samples", ()
            defines["LOW_BITS"] = LOW_BITS
        elif ends == UNPACKED:
            threads, args = count * (n + 1), (self.table(half_turns, n),)
            name, what, more = "fft_batch_unpack", "even and odd samples", ()
        else:
            assert apart == n // 2 + 1  # the kernel stores them one after the other
            threads, args = count * apart * c, ()
            name, what, more = "fft_batch_half", "half", (np.int32(c),)
        kernel = self.device.kernel(UNPACK if name == "fft_unpack" else BATCH, name, defines)
        every = (z, y, *args, *(np.int64(size) for size in (threads, n, apart)), *more)
        early = name == "fft_unpack"
        self.steps.append(Launch(kernel, grid1d(threads, 256), (256, 1, 1), every, name=what, early=early))


def parts_of(n: int, fit: Fit, scheme: Scheme, knobs: Mapping[str, Value], beside: int = 0) -> tuple[int, ...] | None:
    """The lengths of a line's parts, None where it is one. A block shall have neighbouring lines of `beside` bytes side
    by side, 0 where lines are not in that order."""
    fewest, wanted = max(-(-beside // (2 * fit.itemsize)), 1), knobs.get("parts", NEEDED)
    fits = fit.has(n, fewest)
    if not scheme.split or (fits and wanted not in (ALL, THREE) and not (wanted == COLUMNS and beside)):
        return None
    two = halves(n, fit.longest(), fit.radix)
    if scheme.three and not beside and (wanted == THREE or two is None or not all(map(fit.fills_sectors, two))):
        return thirds(n, fit.radix) or two
    return two
