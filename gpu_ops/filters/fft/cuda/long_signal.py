"""The variant of the spectrum of a signal that is too long for a block: the four-step method, based on the fast
transform."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda.any_length import MANY_CHANNELS, RADIX, Line, line_of, smooth_from
from gpu_ops.filters.fft.cuda.fast_signal import STORED, TOGETHER, flags_of, plan_of, tables_before, two_sided
from gpu_ops.filters.fft.cuda.launches import PEAK_FILE, SAMPLES, SPECTRUM, Work
from gpu_ops.filters.fft.cuda.passes import LOW_BITS, high_turns, low_turns
from gpu_ops.filters.fft.cuda.radices import MOST_PRIME, MOST_THREADS, largest_prime
from gpu_ops.filters.fft.cuda.transform import chirp, chirp_spectrum
from gpu_ops.filters.fft.forms import Cut
from gpu_ops.filters.fft.limits import several_values
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.kit.rules import MOST_BLOCKS, beyond
from gpu_ops.params import Param, Value, Values
from gpu_ops.plan import Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Trial, Variant

FILE, MIDDLE = "fft/18_four_step_signal.cu", "fft/20_three_step_signal.cu"
IDEA = (
    "Four-step FFT of signals: an even length packs pairs of samples, and rows k and n1 − k in one block make bins "
    "without a third pass; other lengths are a convolution in three launches, of pairs of samples in four."
)
STRIP = Param("strip", 8, choices=(2, 4, 8, 16), tries=(2, 8), unit="lines", help="neighbouring lines per block")
THREADS = 64
"""Threads per block that searches for peaks."""
WANTED = 4, 8
"""The preferred number of columns and rows per block, so that neighbours fill sectors: half of its rows are mirrored
ones."""
MOST_RATIO = 4
"""The maximum ratio between a side of a matrix and the square root of its size."""
PACKED, CONVOLVED, BOTH, NEITHER = "packed", "convolved", "both", "neither"
"""How a line is transformed: pairs of samples as complex numbers, a convolution of samples with a chirp, one of pairs
of samples, or, for a round trip, samples without packing."""
SPLIT_BLOCK = 256
"""Threads per block that separate the pairs of a convolution."""


ONE_BLOCK = 4096
"""Samples of a segment that one block transforms faster than several blocks do in two launches."""


class Matrix(NamedTuple):
    """A line of `length` samples as a matrix of n1 by n2 complex numbers, whose columns and rows are lines. With a
    `middle` line each row is a matrix again, whose columns are such lines, and `rows` are those of that."""

    length: int
    how: str
    columns: Line
    rows: Line
    middle: Line | None = None

    @property
    def size(self) -> int:
        """Its complex numbers."""
        return self.columns.points * self.rows.points * (self.middle.points if self.middle else 1)


@lru_cache
def matrix_of(length: int, round_trip: bool, radix: int) -> Matrix | None:
    """The cheapest matrix; None if there is none."""
    if round_trip:
        return _matrix(length, NEITHER, length, radix)
    if length % 2 == 0 and (packed := _matrix(length, PACKED, length // 2, radix)):
        return packed
    for how, convolved in ((BOTH, length // 2), (CONVOLVED, length))[length % 2 :]:
        found = (_matrix(length, how, points, radix) for points in smooth_from(2 * convolved - 1))
        if best := min((matrix for matrix in found if matrix), key=_cost, default=None):
            return best
    return None


def _matrix(length: int, how: str, points: int, radix: int) -> Matrix | None:
    if largest_prime(points) > MOST_PRIME:
        return None
    root, found = math.isqrt(points), list[Matrix]()
    for n in range(root, max(root // MOST_RATIO, 1), -1):
        if points % n == 0 and (one := line_of(n, radix)) and (other := line_of(points // n, radix)):
            found += [Matrix(length, how, one, other), Matrix(length, how, other, one)]
    return min(found, key=_cost, default=None)


def _cost(matrix: Matrix) -> float:
    """Transfers of a point through global memory and through stages, with a penalty if a block has few lines."""
    lines = matrix.columns, matrix.rows
    threads = (line.stages.threads * most for line, most in zip(lines, WANTED, strict=True))
    few = sum(max(math.log2(count / MOST_THREADS), 0) for count in threads)
    stages = sum(len(line.stages.radices) * line.numbers / line.points for line in lines)
    return matrix.size * (4 + stages + 4 * few)


def _of(task: Task) -> Matrix | None:
    return matrix_of(Cut.of(task).length, task.params["result"] == "round trip", int(task.knobs["radix"]))


def _shared(line: Line, lines: int, whole: bool, itemsize: int) -> int:
    """Bytes of this number of lines: for their stages, and, if they are `whole` there, for their points once more."""
    return max(line.shared(lines, TOGETHER, itemsize), lines * (line.points | 1) * 2 * itemsize if whole else 0)


def lines_of(line: Line, task: Task, whole: bool, count: int = 0, times: int = 1) -> int:
    """The lines of a block, of so many, and `times` as many as the knob says; two at least where they are `whole` in
    shared memory; 0: none fits."""
    itemsize, most, wanted = forms.real_type(task).itemsize, task.limits.shared_bytes, int(task.knobs["strip"]) * times
    while wanted > 2 and count * 2 < wanted * task.limits.multiprocessors:
        wanted //= 2
    lines = line.most_lines(wanted, TOGETHER, itemsize, most)
    while lines and _shared(line, lines, whole, itemsize) > most:
        lines //= 2
    return lines if lines > 1 or not whole else 0


class Parts:
    """The launches of all segments in a plan; `convolved` is the length of a line's convolution, 0 without one."""

    def __init__(self, work: Work, cut: Cut, matrix: Matrix) -> None:
        self.work, self.cut = work, cut
        self.matrix, self.n1, self.n2 = matrix, matrix.columns.points, matrix.size // matrix.columns.points
        self.z = work.take(cut.count * cut.channels * matrix.size)
        points = matrix.length if matrix.how in (PACKED, BOTH) else matrix.size
        self.convolved = {CONVOLVED: matrix.length, BOTH: matrix.length // 2}.get(matrix.how, 0)
        lengths = {matrix.size, points, *((self.n2,) if matrix.middle else ())}
        self.turns = {n: (self._upload(low_turns, n), self._upload(high_turns, n)) for n in sorted(lengths)}
        self.chirp = work.table(chirp, self.convolved) if self.convolved else self.turns[matrix.size][0]

    def _upload(self, make: Any, n: int) -> DeviceArray:
        return self.work.device.upload(make(n).astype(self.work.dtype))

    def store(
        self, out: DeviceArray, factor: float, doubled: int, step: int = 0, apart: int = 0, stored: str = ""
    ) -> None:
        """What is stored of all bins, with strides of `step` values, and of segments, with strides of `apart` values;
        without these in the layout of the outputs."""
        work, matrix, result = self.work, self.matrix, stored or STORED[self.work.task.params["result"]]
        places = step or self.cut.count * self.cut.channels, apart or self.cut.channels
        last = (*map(np.int64, places), work.real.type(factor), np.int32(doubled), np.int32(two_sided(work.task)))
        sizes = (np.int32(self.n2), np.int64(self.convolved), np.int64(self.cut.step))
        before = (*self.turns[matrix.size], self.chirp, *tables_before(work, self.cut))
        self._launch("samples", 1, matrix.columns, self.n2, result, (work.task.x, self.z), (*before, *sizes))
        if matrix.how == PACKED:
            z, count = self._between() if matrix.middle else self.z, matrix.size // matrix.rows.points
            rows = (*self.turns[matrix.length], np.int32(count), *last)
            self._launch("bins", 2, matrix.rows, count, result, (z, out), rows)
            return
        spectrum = self.chirp
        if self.convolved:
            values = chirp_spectrum(self.convolved, matrix.size).reshape(self.n2, self.n1).T
            spectrum = work.device.upload(np.ascontiguousarray(values).astype(work.dtype))
        rows = (*self.turns[matrix.size], spectrum, np.int32(self.n1))
        self._launch("rows", 2, matrix.rows, self.n1, result, (self.z,), rows)
        length = self.convolved or matrix.length
        columns = (self.chirp, np.int32(self.n2), np.int32(length), *last)
        target = work.take(self.cut.count * self.cut.channels * length) if matrix.how == BOTH else out
        self._launch("columns", 3, matrix.columns, self.n2, result, (self.z, target), columns)
        if matrix.how == BOTH:
            self._split(target, out, result, last)

    def _split(self, pairs: DeviceArray, out: DeviceArray, result: str, last: tuple[Any, ...]) -> None:
        """What is stored of all bins, from transformed pairs of samples."""
        half = self.convolved
        kernel = self.work.device.kernel(FILE, "fft_long_split", self._defines(self.matrix.columns, 1, 4, result))
        grid, block = (-(-(half // 2 + 1) // SPLIT_BLOCK), self.cut.channels, self.cut.count), (SPLIT_BLOCK, 1, 1)
        args = (pairs, out, *self.turns[self.matrix.length], np.int32(half), *last)
        self.work.steps.append(Launch(kernel, grid, block, args, name="pairs", early=True))

    def _between(self) -> DeviceArray:
        """The columns of all rows, stored where the last launch has its rows."""
        line, n3 = self.matrix.middle, self.matrix.rows.points
        assert line is not None
        count, y = self.n1 * n3, self.work.device.empty((int(self.z.size),), self.work.dtype)
        lines = lines_of(line, self.work.task, False, count * self.cut.count * self.cut.channels)
        defines: dict[str, Value] = {**self.work.defines, **line.defines(lines, TOGETHER), "LOW_BITS": LOW_BITS}
        del defines["PARTS"]
        kernel = self.work.device.kernel(MIDDLE, "fft_three_step_middle", defines)
        grid, block = (-(-count // lines), self.cut.channels, self.cut.count), (line.stages.threads * lines, 1, 1)
        args = (self.z, y, line.tables(self.work)[0], *self.turns[self.n2], np.int32(self.n1), np.int32(n3))
        shared = _shared(line, lines, False, self.work.real.itemsize)
        self.work.steps.append(Launch(kernel, grid, block, args, shared, name="middle", early=True))
        return y

    def mean(self, out: DeviceArray, factor: float, doubled: int) -> None:
        """The mean density of all segments, from their spectra."""
        channels, length = self.cut.channels, self.cut.length
        spectra = self.work.device.empty((self.cut.count * length * channels,), self.work.dtype)
        self.store(spectra, 1.0, 0, channels, length * channels, "SPECTRUM")
        self.work.mean(spectra, self.cut, out, factor, doubled)

    def _launch(
        self, name: str, part: int, line: Line, count: int, result: str, arrays: tuple[Any, ...], more: tuple[Any, ...]
    ) -> None:
        """`count` columns or rows of each segment and channel."""
        work = self.work
        whole = name == "bins"
        times = 2 if whole and self.matrix.middle else 1
        lines = lines_of(line, work.task, whole, count * self.cut.count * self.cut.channels, times)
        kernel = work.device.kernel(FILE, f"fft_long_{name}", self._defines(line, lines, part, result))
        blocks = -(-(count // 2 + 1) // (lines // 2)) if whole else -(-count // lines)
        grid, block = (blocks, self.cut.channels, self.cut.count), (line.stages.threads * lines, 1, 1)
        args = (*arrays, line.tables(work)[0], *more)
        shared = _shared(line, lines, whole, work.real.itemsize)
        work.steps.append(Launch(kernel, grid, block, args, shared, name=name, early=part > 1))

    def _defines(self, line: Line, lines: int, part: int, result: str) -> dict[str, Value]:
        flags: dict[str, Value] = {
            "PART": part,
            "PACKED": int(self.matrix.how in (PACKED, BOTH)),
            "CONVOLVED": int(self.matrix.how in (CONVOLVED, BOTH)),
            "RESULT": result,
        }
        own = {**self.work.defines, **line.defines(lines, TOGETHER), **flags, **flags_of(self.cut)}
        defines: dict[str, Value] = {**own, "LOW_BITS": LOW_BITS, "SAMPLE": CTYPES[self.work.task.dtype.name]}
        del defines["PARTS"]  # a constant in the kernel file
        return defines


def plan(device: Device, task: Task) -> Plan:
    """The mean if it is subtracted, two to four launches, and the steps that need all results."""
    work, cut = Work.of(device, task.with_knobs(block=THREADS), "shared"), Cut.of(task)
    matrix = _of(task)
    assert matrix is not None  # the variant supports the length
    parts = Parts(work, cut, matrix)
    return plan_of(work, cut, parts.store, parts.mean)


def operations(task: Task) -> int:
    """Operations of all transforms of the matrix: five per point and stage."""
    matrix, cut = _of(task), Cut.of(task)
    if matrix is None:
        return 0
    times = (1 if matrix.how == PACKED else 2) * cut.count * cut.channels
    return times * 5 * matrix.size * max(matrix.size.bit_length() - 1, 1)


def _unsuitable(task: Task) -> int:
    """The length, if no matrix of lines that fit into a block has it; else 0."""
    matrix = _of(task)
    fits = matrix and lines_of(matrix.columns, task, False) and lines_of(matrix.rows, task, matrix.how == PACKED)
    return 0 if fits else Cut.of(task).length


FITS = Rule(
    _unsuitable,
    "{found} samples are no product of two lines that a block can hold, with these knobs; use the variant registers",
)
CENTRED: Values = {"detrend": "constant"}
MANY_SEGMENTS = Rule(
    lambda task: beyond(Cut.of(task).count, MOST_BLOCKS),
    f"{{found}} segments are more than the {MOST_BLOCKS:,} that a grid has in z; use the variant fast",
)
TRIALS = (
    Trial((1009, 2), "uint8", "random", {"result": "spectrum", "sides": "two"}),
    Trial((2 * 1009, 2), "uint8", "random", {"result": "spectrum", "sides": "two"}),
    Trial((7200,), "float32", "random", {"result": "magnitude", "window": "Hann", "detrend": "constant"}),
    Trial((60, 70), "float32", "random", {"result": "magnitude"}),
    Trial((4000, 35), "float32", "random", {"result": "power density", "segment": 7, "overlap": 75, **CENTRED}),
    Trial((1 << 20,), "float32", "random", {"result": "magnitude", **CENTRED}),
)
"""Several blocks of columns and of rows, packed, as a convolution, and as one of pairs; more channels than a block has
threads; more segments than a grid has blocks in y; values that several blocks reduce and search."""
VARIANT = Variant(
    *("four_step", "18 four-step", IDEA, plan, "cuda", (FILE, SAMPLES, SPECTRUM, PEAK_FILE), (STRIP, RADIX)),
    source="S2",
    rules=(several_values("signal", limits.transformed), MANY_CHANNELS, MANY_SEGMENTS, FITS),
    largest=limits.largest,
    trials=lambda limits: TRIALS,
    counts=Counts(uncounted="two to four kernels: one block is not representative of all", operations=operations),
    suits=lambda task: Cut.of(task).length > ONE_BLOCK,
)
