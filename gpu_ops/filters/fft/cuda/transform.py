"""The Fourier transform of many lines as steps of a plan, for kernels that keep a line in global or shared memory.

Lines are the middle axis of an array (outer, n, inner): of a signal (1, N, C), of its segments (S, n, C), of the rows
of an image (H, W, C), of its columns (1, H, W * C). Nothing is scaled; for an inverse, the caller divides by the number
of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft.cuda.ways import GLOBAL, SHARED, STOCKHAM, Blocks, Stockham, with_gaps
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.kit.planning import NO_LOOPS
from gpu_ops.params import Value, Values
from gpu_ops.plan import Device, DeviceArray, Launch, Step
from gpu_ops.task import Task
from gpu_ops.types import Rule

Array = np.ndarray[Any, Any]

BLUESTEIN = "fft/bluestein.cu"
NO_KNOBS: Values = {}


@dataclass(frozen=True)
class Lines:
    """The axes of an array (outer, n, inner) whose lines of `n` points are transformed."""

    outer: int
    n: int
    inner: int

    @property
    def count(self) -> int:
        """How many lines there are."""
        return self.outer * self.inner

    def of(self, n: int) -> Lines:
        """As many lines of another length."""
        return Lines(self.outer, n, self.inner)


def padded(n: int) -> int:
    """The number of points of the transforms that compute one of n points: n if it is a power of two, else the first
    power of two that is at least 2 n - 1."""
    return n if n & (n - 1) == 0 else 1 << (2 * n - 2).bit_length()


def twiddles(n: int) -> Array:
    """exp(-2 pi i k / n) for k = 0 … n / 2 - 1 in complex128."""
    return np.asarray(np.exp(-2j * np.pi * (np.arange(n // 2) / n)))


def chirp(n: int) -> Array:
    """exp(-pi i k² / n) for k = 0 … n - 1 in complex128; k² is reduced modulo 2 n, so that long lines lose no
    precision."""
    k = np.arange(n, dtype=np.int64)
    return np.asarray(np.exp(-1j * np.pi * (k * k % (2 * n) / n)))


def chirp_spectrum(n: int, m: int = 0) -> Array:
    """The transform of the conjugate chirp, stored from both ends of m points, divided by m; m is `padded(n)` by
    default."""
    from scipy import fft

    around = np.zeros(m or padded(n), np.complex128)
    around[:n] = np.conj(chirp(n))
    around[1 - n :] = around[n - 1 : 0 : -1]
    return np.asarray(fft.fft(around, norm="forward", workers=-1))


def longest_line(shared_bytes: int, dtype: np.dtype[Any]) -> int:
    """The points of the longest line, a power of two, that fits into these bytes of shared memory."""
    return 1 << (shared_bytes // dtype.itemsize).bit_length() - 1


def longest_of(way: str, shared_bytes: int, dtype: np.dtype[Any], knobs: Values) -> int:
    """The points of the longest line that a way other than "global" transforms at once."""
    if way in STOCKHAM:
        return STOCKHAM[way].longest(shared_bytes, dtype, knobs)
    return longest_line(shared_bytes, dtype)


@dataclass
class Transforms:
    """Collects the steps of transforms on a device. `way` is "global", a launch per stage, "shared", a block per line
    with up to `longest` points, or one of STOCKHAM, whose radix and padding are in `knobs`. Its arrays are flat; the
    steps run in order, so that a buffer is reused by several of them, except `kept`, which is only read."""

    device: Device
    dtype: np.dtype[Any]
    way: str
    block: int
    longest: int = 0
    knobs: Values = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    kept: DeviceArray | None = None
    _tables: dict[tuple[str, int], DeviceArray] = field(default_factory=dict)
    _free: list[DeviceArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        shared = self.device.limits.shared_bytes
        self.longest = self.longest or longest_of(self.way, shared, self.dtype, self.knobs)

    @property
    def defines(self) -> dict[str, Value]:
        """The defines of all kernels."""
        double = self.dtype == np.complex128
        return {"REAL": "double" if double else "float", "COMPLEX": "double2" if double else "float2"}

    def take(self, points: int) -> DeviceArray:
        """A buffer of this number of complex numbers."""
        for place, buffer in enumerate(self._free):
            if buffer.size == points:
                return self._free.pop(place)
        return self.device.empty((points,), self.dtype)

    def give_back(self, buffer: DeviceArray) -> None:
        """Later steps may reuse the buffer."""
        if buffer is not self.kept:
            self._free.append(buffer)

    def table(self, make: Any, n: int) -> DeviceArray:
        """The table `make(n)`, in the transform's type on the device; each is uploaded once."""
        key = (make.__name__, n)
        if key not in self._tables:
            self._tables[key] = self.device.upload(make(n).astype(self.dtype))
        return self._tables[key]

    def launch(
        self, file: str, name: str, count: int, *args: Any, what: str, loops: Mapping[str, int] = NO_LOOPS
    ) -> None:
        """One thread per element, of `count` elements."""
        kernel, grid = self.device.kernel(file, name, self.defines), grid1d(count, self.block)
        self.steps.append(Launch(kernel, grid, (self.block, 1, 1), args, name=what, loops=loops))

    def along(self, x: DeviceArray, lines: Lines, what: str, inverse: bool = False) -> DeviceArray:
        """The buffer of the transformed lines of the buffer `x`, which is released. `what` names them in steps."""
        if lines.n == 1:
            return x
        if padded(lines.n) == lines.n:
            return self._power_of_two(x, lines, what, inverse)
        return self._any_length(x, lines, what, inverse)

    def _any_length(self, x: DeviceArray, lines: Lines, what: str, inverse: bool) -> DeviceArray:
        n, m = lines.n, padded(lines.n)
        wide, points = lines.of(m), lines.count * m
        turn, chirps = np.int32(inverse), self.table(chirp, n)
        sizes = (np.int64(lines.count), np.int64(lines.inner), np.int64(n), np.int64(m), turn)
        z = self.take(points)
        self.launch(BLUESTEIN, "fft_bluestein_chirp", points, x, z, chirps, *sizes, what=f"{what}: chirp")
        self.give_back(x)
        z = self._power_of_two(z, wide, what, False)
        product = (z, self.table(chirp_spectrum, n), np.int64(lines.count), np.int64(lines.inner), np.int64(m), turn)
        self.launch(BLUESTEIN, "fft_bluestein_product", points, *product, what=f"{what}: product")
        z = self._power_of_two(z, wide, f"{what} inverse", True)
        y = self.take(lines.count * n)
        self.launch(BLUESTEIN, "fft_bluestein_result", y.size, z, y, chirps, *sizes, what=f"{what}: chirp again")
        self.give_back(z)
        return y

    def _power_of_two(self, x: DeviceArray, lines: Lines, what: str, inverse: bool) -> DeviceArray:
        if self.way == "global":
            return self._stages(x, lines, what, inverse)
        if lines.n <= self.longest:
            return self._lines(x, lines, what, inverse)
        return self._two_parts(x, lines, what, inverse)

    def _stages(self, x: DeviceArray, lines: Lines, what: str, inverse: bool) -> DeviceArray:
        stages, table = int(log2(lines.n)), self.table(twiddles, lines.n)
        y = self.take(lines.count * lines.n)
        sizes = (np.int64(lines.count), np.int64(lines.inner), np.int32(stages - 1))
        for done in range(stages):
            args = (x, y, table, *sizes, np.int32(done), np.int32(inverse))
            name = f"{what}: stage {done + 1} of {stages}"
            self.launch(GLOBAL.file, "fft_global_stage", y.size // 2, *args, what=name)
            x, y = y, self.take(y.size) if x is self.kept else x
        self.give_back(y)
        return x

    def _lines(self, x: DeviceArray, lines: Lines, what: str, inverse: bool) -> DeviceArray:
        far = lines.n * lines.inner
        y = self.take(lines.count * lines.n)
        apart = (lines.inner, 1, far, 0, lines.inner, 0, lines.inner)
        self._in_shared(x, y, lines.n, lines.count, apart, inverse, what)
        self.give_back(x)
        return y

    def _two_parts(self, x: DeviceArray, lines: Lines, what: str, inverse: bool) -> DeviceArray:
        """Point b + n2 a of a line, a < n1: along a, then multiplied by the twiddle factor W^(b k1), then along b; its
        result is at k1 + n1 k2."""
        n, inner, far = lines.n, lines.inner, lines.n * lines.inner
        n1 = 1 << (int(log2(n)) + 1) // 2
        n2 = n // n1
        between, y = self.take(lines.count * n), self.take(lines.count * n)
        first = (inner, n2, far, inner, n2 * inner, inner, n2 * inner)
        second = (inner, n1, far, n2 * inner, inner, inner, n1 * inner)
        self._in_shared(x, between, n1, lines.count * n2, first, inverse, f"{what}: part 1 of 2", n)
        self._in_shared(between, y, n2, lines.count * n1, second, inverse, f"{what}: part 2 of 2")
        self.give_back(x)
        self.give_back(between)
        return y

    def _in_shared(
        self, x: Any, y: Any, n: int, count: int, apart: tuple[int, ...], inverse: bool, what: str, turns: int = 0
    ) -> None:
        """`count` lines in shared memory; `apart` are the strides as in the kernels: inner, middle, apart_outer and the
        strides along middle and along the line, of x and of y."""
        if self.way in STOCKHAM:
            self._stockham(STOCKHAM[self.way], x, y, n, count, apart, inverse, what, turns)
            return
        table = self.table(twiddles, n)
        turning = self.table(twiddles, turns) if turns else table
        counts = (int(log2(n)), int(log2(turns)) if turns else 0, inverse)
        args = (x, y, table, turning, *map(np.int32, counts), *map(np.int64, apart))
        kernel = self.device.kernel(SHARED.file, "fft_shared_lines", self.defines)
        shared = n * self.dtype.itemsize
        loops = {"points of a line": -(-n // self.block), "butterflies of a line": -(-n // 2 // self.block)}
        self.steps.append(Launch(kernel, (count, 1, 1), (self.block, 1, 1), args, shared, name=what, loops=loops))

    def _stockham(
        self,
        way: Stockham,
        x: Any,
        y: Any,
        n: int,
        count: int,
        apart: tuple[int, ...],
        inverse: bool,
        what: str,
        turns: int,
    ) -> None:
        """As `_in_shared`, several short lines per block. The table is an argument, or a constant of its own module."""
        radix, line = way.radix_of(self.knobs), self.dtype.itemsize
        room = self.device.limits.shared_bytes // (with_gaps(n, min(radix, n)) * line)
        blocks = Blocks.of(n, radix, self.block, count, room)
        defines, constants = {**self.defines, **way.defines(blocks, self.knobs)}, {}
        if way.twiddles == "constant":
            defines["TABLE"] = n // 2
            constants = {"twiddle_table": twiddles(n).astype(self.dtype)}
        tables = (self.table(twiddles, n),) if way.twiddles == "global" else ()
        turning = self.table(twiddles, turns or n)
        numbers = (blocks.plane, int(log2(n)), int(log2(turns)) if turns else 0, inverse)
        args = (x, y, *tables, turning, np.int64(count), *map(np.int32, numbers), *map(np.int64, apart))
        kernel = self.device.kernel(way.file, way.kernel, defines)
        grid, shared = (-(-count // blocks.lines), 1, 1), blocks.lines * blocks.plane * line
        self.steps.append(Launch(kernel, grid, blocks.block, args, shared, constants, name=what))


def fits(n: int, way: str, shared_bytes: int, dtype: np.dtype[Any], knobs: Values = NO_KNOBS) -> bool:
    """Whether a line of n points can be transformed: in shared memory in at most two parts."""
    return way == "global" or padded(n) <= longest_of(way, shared_bytes, dtype, knobs) ** 2


def lines_fit(way: str, lengths: Callable[[Task], Iterable[int]], other: str = "the variant global") -> Rule:
    """All lines need at most two parts, each in shared memory; `other` is what takes longer ones."""

    def too_long(task: Task) -> tuple[int, int, int] | None:
        how = way, task.limits.shared_bytes, complex_type(task), task.knobs
        long = (n for n in lengths(task) if not fits(n, *how))
        return next(((n, padded(n), longest_of(*how) ** 2) for n in long), None)

    return Rule(
        too_long,
        "lines of {found[0]} points need {found[1]}, and two parts in shared memory hold {found[2]}; use " + other,
    )
