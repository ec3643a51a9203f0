"""Launches over many lines of one length, as `kernels/include/fft_lines.cuh` takes them, and the plans of batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft.batch import Batch, spectra
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.fft.radices import Stages, halves, stages_of
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.params import Value, Values
from gpu_ops.plan import Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task

POINTS, LINES = "ALONG_POINTS", "ALONG_LINES"
"""What lanes run along."""
NUMBERS, PAIRS, SINGLES = "COMPLEX_NUMBERS", "PAIRS", "SINGLES"
"""What is read: complex numbers, neighbouring samples as their parts, or samples alone."""
WHOLE, HALF, UNPACKED = "WHOLE", "HALF", "UNPACKED"
"""What is stored of a line: all results, the first half, or the spectrum of twice as many real samples."""
BATCH = "fft/batch.cu"
LOW_BITS = 12
"""The small table of a long line's twiddles has 2^12 of them, the other one every 2^12-th."""
THREADS = 1024
"""Of a block, at most."""


class Where(NamedTuple):
    """How far apart lines and points lie: along outer, along middle, and the points of a line."""

    outer: int
    middle: int
    step: int


class Lines(NamedTuple):
    """`total` lines of n points, counted along inner, where they lie side by side, then along middle, then outer."""

    n: int
    total: int
    inner: int = 1
    middle: int = 1


@dataclass(frozen=True)
class Rules:
    """How a variant makes its launches. `pack` reads real samples in
    pairs, `split` cuts long lines in two parts, `transpose` stores rows as columns instead of taking several
    neighbouring columns a block, `any_length` takes other lengths than powers of two."""

    file: str
    pack: bool = False
    split: bool = False
    transpose: bool = False
    any_length: bool = False

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return f"fft_{self.file.partition('/')[2].partition('_')[2].removesuffix('.cu')}_lines"


def circle(n: int) -> Any:
    """exp(-2 pi i k / n) for all k in complex128."""
    return np.exp(-2j * np.pi * (np.arange(n) / n))


def half_turns(n: int) -> Any:
    """exp(-2 pi i k / 2 n) for k = 0 … n / 2 in complex128."""
    return np.exp(-1j * np.pi * (np.arange(n // 2 + 1) / n))


def all_half_turns(n: int) -> Any:
    """exp(-2 pi i k / 2 n) for k = 0 … n in complex128."""
    return np.exp(-1j * np.pi * (np.arange(n + 1) / n))


def low_turns(n: int) -> Any:
    """The first 2^LOW_BITS twiddles of n points."""
    return np.exp(-2j * np.pi * (np.arange(1 << LOW_BITS) / n))


def high_turns(n: int) -> Any:
    """Every 2^LOW_BITS-th twiddle of n points."""
    return np.exp(-2j * np.pi * (np.arange(-(-n // (1 << LOW_BITS))) * (1 << LOW_BITS) / n))


def room_of(n: int, radices: tuple[int, ...], lines: int) -> tuple[int, int]:
    """The places of a line in shared memory, with its gaps, and those of all lines of a block."""
    place = n
    if n & (n - 1) or lines & (lines - 1):
        span = 1
        for radix in radices[:-1]:
            span *= radix
            place = max(place, n if radix % 2 else n + (n - 1) // span)
    return place, -(-place * lines // 32) * 32


@dataclass(frozen=True)
class Fit:
    """What a block of a device can take of lines, by the knobs and its bytes of shared memory; `itemsize` are the bytes
    of a real number."""

    knobs: Values
    shared_bytes: int
    itemsize: int

    @property
    def parts(self) -> int:
        """Parts of complex numbers that are exchanged at once: 2 or 1."""
        return int(self.knobs.get("together", 2))

    @property
    def radix(self) -> int:
        """The largest radix."""
        return int(self.knobs.get("radix", 16))

    def lines(self, n: int, stages: Stages, along_lines: bool, count: int) -> int:
        """Lines of a block: neighbouring ones as the knob says, others as many as fill its threads; 0: none fits."""
        wanted = int(self.knobs.get("batch", 16)) if along_lines else int(self.knobs["block"]) // stages.threads
        most = min(max(wanted, 1), THREADS // stages.threads)
        most = min(most, 1 << max(count - 1, 0).bit_length())
        while most and room_of(n, stages.radices, most)[1] * self.parts * self.itemsize > self.shared_bytes:
            most //= 2
        return most

    def longest(self) -> int:
        """No longer line fits shared memory."""
        return min(self.shared_bytes // (self.parts * self.itemsize), 16 * THREADS)


@dataclass
class Passes:
    """Collects the launches of a plan; its arrays are flat."""

    device: Device
    task: Task
    rules: Rules
    steps: list[Launch] = field(default_factory=list)
    _tables: dict[tuple[str, int], DeviceArray] = field(default_factory=dict)

    @property
    def kind(self) -> np.dtype[Any]:
        """The type of spectra."""
        return complex_type(self.task)

    @property
    def fit(self) -> Fit:
        """What a block can take."""
        return Fit(self.task.knobs, self.device.limits.shared_bytes, self.kind.itemsize // 2)

    def empty(self, points: int) -> DeviceArray:
        """Memory for so many complex numbers."""
        return self.device.empty((points,), self.kind)

    def table(self, make: Callable[[int], Any], n: int) -> DeviceArray:
        """What `make(n)` gives, on the device; each is made once."""
        key = make.__name__, n
        if key not in self._tables:
            self._tables[key] = self.device.upload(make(n).astype(self.kind))
        return self._tables[key]

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
    ) -> None:
        """Transform lines of x into y; `turns` are the points of the long line that they are parts of."""
        stages = stages_of(lines.n, self.fit.radix)
        assert stages is not None  # the variant supports the length
        each = self.fit.lines(lines.n, stages, LINES in lanes, lines.total)
        place, room = room_of(lines.n, stages.radices, each)
        aligned = all(step % 2 == 0 for step in (source.outer, source.middle))
        defines: dict[str, Value] = {
            **{"REAL": "double" if self.kind == np.complex128 else "float", "SAMPLE": CTYPES[self.task.dtype.name]},
            **{"COMPLEX": "double2" if self.kind == np.complex128 else "float2", "PAIR_ALIGNED": int(aligned)},
            **{"LINE_POINTS": lines.n, "LINE_THREADS": stages.threads, "LINES": each, "PLANE": place, "ROOM": room},
            **{"RADICES": ",".join(map(str, stages.radices)), "PARTS": self.fit.parts},
            **{"LANES_IN": lanes[0], "LANES_OUT": lanes[1], "NUMBERS": numbers, "ENDS": ends},
            **{"TURNED": int(turns > 0), "LOW_BITS": LOW_BITS, "LOOKUPS": self.task.knobs.get("lookups", 4)},
        }
        unit = ends == WHOLE and lanes == (POINTS, POINTS) and lines.inner == 1
        defines["WIDTH"] = int(self.task.knobs.get("width", 64)) if unit else 64
        table = self.table(circle, lines.n)
        unpacks = self.table(half_turns, lines.n) if ends == UNPACKED else table
        turning = [self.table(make, turns) if turns else table for make in (low_turns, high_turns)]
        counts = (np.uint32(n) for n in (lines.total, lines.inner, lines.middle))
        args = (x, y, table, unpacks, *turning, *counts, *(np.int64(n) for n in (*source, *target)))
        kernel = self.device.kernel(self.rules.file, self.rules.kernel, defines)
        shared = self.fit.parts * room * self.fit.itemsize if len(stages.radices) > 1 or ends == UNPACKED else 0
        grid, block = (-(-lines.total // each), 1, 1), (stages.threads * each, 1, 1)
        self.steps.append(Launch(kernel, grid, block, args, shared, name=what))

    def along(
        self, x: DeviceArray, y: DeviceArray, lines: Lines, source: Where, target: Where, what: str, **how: Any
    ) -> None:
        """The same in two launches where a line is too long for one, or the knob wants two; of lines that are counted
        along inner and outer alone."""
        cut = parts_of(lines.n, self.fit, self.rules, self.task.knobs)
        if cut is None:
            self.launch(x, y, lines, source, target, what, **how)
            return
        n1, n2 = cut
        inner, outer = lines.inner, lines.total // (lines.inner * lines.middle)
        between = self.empty(lines.total * lines.n)
        apart = Where(lines.n * inner, inner, n2 * inner)
        first = Lines(n1, outer * n2 * inner, inner, n2)
        along = (LINES, LINES)
        numbers = how.get("numbers", NUMBERS)
        read = Where(source.outer, source.step, n2 * source.step)
        self.launch(x, between, first, read, apart, f"{what}: part 1 of 2", numbers, lanes=along, turns=lines.n)
        second = Lines(n2, outer * n1 * inner, inner, n1)
        rows = Where(lines.n * inner, n2 * inner, inner)
        stored = Where(target.outer, target.step, n1 * target.step)
        how = {**how, "numbers": NUMBERS, "lanes": (POINTS if inner == 1 else LINES, LINES)}
        self.launch(between, y, second, rows, stored, f"{what}: part 2 of 2", **how)

    def cut(self, z: DeviceArray, y: DeviceArray, lines: Lines, apart: int, ends: str) -> None:
        """Half spectra y, `apart` numbers apart, of whole lines z that lie one after the other."""
        count, n, c = lines.total // lines.inner, lines.n, lines.inner
        defines: dict[str, Value] = {"REAL": "double" if self.kind == np.complex128 else "float", "SAMPLE": "float"}
        defines["COMPLEX"] = "double2" if self.kind == np.complex128 else "float2"
        if ends == UNPACKED:
            numbers, args = count * (n + 1), tuple([self.table(all_half_turns, n)])
            sizes, name, what = (n, apart), "fft_batch_unpack", "even and odd samples"
            more: tuple[Any, ...] = ()
        else:
            assert apart == n // 2 + 1  # images have no rows that are read alone and split
            numbers, args = count * apart * c, tuple[DeviceArray, ...]()
            sizes, name, what = (n, apart), "fft_batch_half", "half"
            more = (np.int32(c),)
        kernel = self.device.kernel(BATCH, name, defines)
        every = (z, y, *args, np.int64(numbers), *(np.int64(size) for size in sizes), *more)
        self.steps.append(Launch(kernel, grid1d(numbers, 256), (256, 1, 1), every, name=what))


def parts_of(n: int, fit: Fit, rules: Rules, knobs: Mapping[str, Value]) -> tuple[int, int] | None:
    """The lengths of a line's two parts, None where it is one."""
    stages = stages_of(n, fit.radix)
    fits = stages is not None and fit.lines(n, stages, False, 1) > 0
    if not rules.split or (fits and knobs.get("parts", 1) == 1):
        return None
    return halves(n, fit.longest(), fit.radix)


def wide(batch: Batch, rules: Rules, task: Task) -> bool:
    """Whether the threads of rows have two neighbouring complex numbers each in the first and in the last stage."""
    fit = Fit(task.knobs, task.limits.shared_bytes, 4)
    stages = stages_of(batch.width, fit.radix)
    in_order = batch.complex and task.meta.dtype == "float32" and batch.row % 4 == 0 and batch.width % 2 == 0
    if not in_order or stages is None or parts_of(batch.width, fit, rules, task.knobs) is not None:
        return False
    ends = {stages.radices[0], stages.radices[-1]}
    return all(batch.width % (2 * radix * stages.threads) == 0 for radix in ends)


def plan(rules: Rules, device: Device, task: Task) -> Plan:
    """Rows, and of images columns; samples are read as they are."""
    batch, form, passes = Batch.of(task), spectra(task), Passes(device, task, rules)
    out = device.empty(form.shape, form.dtype)
    y = out.reshape(-1)
    if batch.rank == 1:
        rows(passes, batch, y, batch.bins)
    elif rules.transpose:
        _turned_over(passes, batch, y)
    else:
        # Rows begin where a line of the cache begins, for columns that are read in such lines.
        apart = -(-batch.bins // 16) * 16 if batch.across == batch.channels == 1 else batch.bins
        between = passes.empty(batch.rows * batch.across * apart * batch.channels)
        rows(passes, batch, between, apart)
        columns(passes, batch, between, apart, y)
    return Plan(tuple(passes.steps), {"spectra": out})


def _read(passes: Passes, batch: Batch) -> tuple[int, str, str, Where]:
    """Points of a row, what is read and stored of it, and where its tiles are."""
    c = batch.channels
    if batch.complex:
        return batch.width, PAIRS, WHOLE, Where(batch.row, 2 * batch.width, 2)
    where = Where(batch.row, batch.width * c, c)
    if passes.rules.pack and c == 1 and batch.width % 2 == 0:
        return batch.width // 2, PAIRS, UNPACKED, Where(where.outer, where.middle, 2)
    return batch.width, SINGLES, HALF, where


def rows(passes: Passes, batch: Batch, y: DeviceArray, apart: int) -> None:
    """The rows of all tiles; those of a tile lie `apart` numbers apart in y, times channels and tiles across."""
    n, numbers, ends, source = _read(passes, batch)
    c = batch.channels
    lines = Lines(n, batch.rows * batch.across * c, c, batch.across)
    target = Where(apart * batch.across * c, apart * c, c)
    if batch.across > 1 or parts_of(n, passes.fit, passes.rules, passes.task.knobs) is None:
        passes.launch(passes.task.x, y, lines, source, target, "rows", numbers, ends)
    elif ends == WHOLE:
        passes.along(passes.task.x, y, lines, source, target, "rows", numbers=numbers)
    else:
        between = passes.empty(lines.total * n)
        whole = Where(n * c, 0, c)
        passes.along(passes.task.x, between, lines, source, whole, "rows", numbers=numbers)
        passes.cut(between, y, lines, apart, ends)


def columns(passes: Passes, batch: Batch, x: DeviceArray, apart: int, y: DeviceArray) -> None:
    """The columns of all tiles, from rows of x `apart` numbers apart."""
    inner, wide = batch.across * batch.bins * batch.channels, batch.across * apart * batch.channels
    lines = Lines(batch.height, batch.down * inner, inner)
    source, target = Where(batch.height * wide, 0, wide), Where(batch.height * inner, 0, inner)
    passes.along(x, y, lines, source, target, "columns", lanes=(LINES, LINES))


def _turned_over(passes: Passes, batch: Batch, y: DeviceArray) -> None:
    """Rows stored as columns, twice: between, a tile's columns lie one after the other."""
    n, numbers, ends, source = _read(passes, batch)
    h, bins, across, c = batch.height, batch.bins, batch.across, batch.channels
    between = passes.empty(batch.rows * across * bins * c)
    # Neighbouring lines are the rows of a tile; the tiles of a row come after all its rows.
    turned = (POINTS, LINES)
    for tile in range(across):
        for channel in range(c):
            x = passes.task.x.reshape(-1)[tile * source.middle + channel :]
            start = (tile * c + channel) * bins * h
            lines = Lines(n, batch.rows, 1, h)
            apart = Where(h * source.outer, source.outer, source.step)
            to = Where(h * across * bins * c, 1, h)
            passes.launch(x, between[start:], lines, apart, to, "rows", numbers, ends, turned)
    for tile in range(across):
        for channel in range(c):
            start = (tile * c + channel) * bins * h
            lines = Lines(h, batch.down * bins, 1, bins)
            apart = Where(h * across * bins * c, h, 1)
            to = Where(h * across * bins * c, c, across * bins * c)
            target = y[tile * bins * c + channel :]
            passes.launch(between[start:], target, lines, apart, to, "columns", lanes=turned)
