"""The reference of prefix sums: exact except for the rounding of each sum to float64.

Sums of integers are exact. A floating-point value is split into parts of so few bits that no sum of any of them is ever
rounded (Rump, Ogita and Oishi, SIAM Journal on Scientific Computing 31, 2008); the sums of the parts are added at the
end, the smallest first. So the error does not grow with the length, and nothing depends on how the lines are cut into
pieces.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_ops.filters.scan.lines import Lines, is_exclusive
from gpu_ops.output_kinds import largest_magnitude
from gpu_ops.progress import advance
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

CHUNK = 1 << 18
"""Values at a time: tens of milliseconds."""
BITS = 53
ENOUGH = 60
"""The remainder that is dropped is below 2^-60 of the largest value."""


def reference(task: Task) -> dict[str, Array]:
    """{"signal"} or {"image"}: the prefix sums along time or along rows, float64, shaped like the input.

    A sum is NaN from a NaN on, and from where both infinities have occurred; infinite from an infinity on. The
    parameter is `sums`.
    """
    lines = Lines.of(task.meta)
    x: Array = task.x.reshape(lines)
    sums, exclusive = np.empty(lines), is_exclusive(task)
    kind = Whole if x.dtype.kind == "u" else Split
    for first, last in _groups(lines):
        advance(first, lines.groups)
        part, out = x[first:last], sums[first:last]
        running = kind(part)
        step = max(1, CHUNK // (part.shape[0] * lines.step))
        for begin in range(0, lines.n, step):
            if lines.groups == 1:
                advance(begin, lines.n)
            found = running.take(part[:, begin : begin + step])
            if exclusive:
                out[:, begin + 1 : begin + 1 + step] = found[:, : lines.n - begin - 1]
            else:
                out[:, begin : begin + step] = found
        if exclusive:
            out[:, 0] = 0
    return {task.meta.kind: sums.reshape(task.x.shape)}


def magnitude(task: Task) -> float:
    """The largest sum of the magnitudes of a line's finite values: the scale of rounding errors."""
    if task.dtype.kind == "u":
        return 0.0  # sums are exact
    lines, most = Lines.of(task.meta), 0.0
    x: Array = task.x.reshape(lines)
    for first, last in _groups(lines):
        advance(first, lines.groups)
        part = x[first:last]
        step, total = max(1, CHUNK // (part.shape[0] * lines.step)), np.zeros((part.shape[0], lines.step))
        for begin in range(0, lines.n, step):
            sizes = np.abs(part[:, begin : begin + step])
            with np.errstate(over="ignore"):
                total += np.sum(sizes, axis=1, dtype=np.float64, where=np.isfinite(sizes))
        most = max(most, float(total.max()))
    return min(most, float(np.finfo(np.float64).max))


def _groups(lines: Lines) -> list[tuple[int, int]]:
    """Groups of lines that are summed together."""
    step = max(1, CHUNK // (lines.n * lines.step))
    return [(first, min(first + step, lines.groups)) for first in range(0, lines.groups, step)]


class Whole:
    """Running sums of integers, piece by piece along their lines."""

    def __init__(self, x: Array) -> None:
        self.carry = np.zeros((x.shape[0], 1, x.shape[2]), np.uint64)

    def take(self, part: Array) -> Array:
        """The sums (groups, n, step) of the next values, float64."""
        sums = np.cumsum(part, axis=1, dtype=np.uint64) + self.carry
        self.carry = sums[:, -1:]
        return sums.astype(np.float64)


class Split:
    """The same of floats, by the exact sums of their parts."""

    def __init__(self, x: Array) -> None:
        shape = (x.shape[0], 1, x.shape[2])
        self.seen = {odd: np.zeros(shape, np.bool_) for odd in ("nan", "above", "below")}
        flat, room = x.reshape(-1), math.ceil(math.log2(x.shape[1] + 2))
        largest = max(largest_magnitude(flat[k : k + CHUNK]) for k in range(0, flat.size, CHUNK))
        top = math.frexp(largest)[1]  # largest < 2^top
        self.down = max(0, top + room - 1022)  # so that no part overflows
        parts = math.ceil((ENOUGH + room) / (BITS - room))
        # A value plus a power of two loses the bits below 2^-52 of that; the rest has few enough for n sums.
        powers = [top - self.down + room - k * (BITS - room) for k in range(parts)]
        self.splits = [math.ldexp(1.0, power) for power in powers if power > -1074]
        self.carries = [np.zeros(shape) for _ in range(len(self.splits) + 1)]

    def take(self, part: Array) -> Array:
        """The sums (groups, n, step) of the next values, float64."""
        finite = np.isfinite(part)
        rest = (part if finite.all() else np.where(finite, part, 0)).astype(np.float64)
        rest = np.ldexp(rest, -self.down, out=rest)
        exact = []
        for place, split in enumerate(self.splits):
            piece = (rest + split) - split
            rest = rest - piece
            exact.append(self._running(place, piece))
        total = self._running(len(self.splits), rest)
        for sums in reversed(exact):
            total = sums + total
        with np.errstate(over="ignore"):
            total = np.ldexp(total, self.down)
        return self._with_odd(total, part) if not finite.all() or self._odd_before() else total

    def _running(self, place: int, values: Array) -> Array:
        sums = np.cumsum(values, axis=1) + self.carries[place]
        self.carries[place] = sums[:, -1:]
        return sums

    def _odd_before(self) -> bool:
        return any(bool(seen.any()) for seen in self.seen.values())

    def _with_odd(self, sums: Array, part: Array) -> Array:
        """The sums where NaN and infinity have occurred."""
        now = {"nan": np.isnan(part), "above": part == np.inf, "below": part == -np.inf}
        since = {odd: np.logical_or.accumulate(here, axis=1) | self.seen[odd] for odd, here in now.items()}
        self.seen = {odd: here[:, -1:] for odd, here in since.items()}
        sums[since["above"]], sums[since["below"]] = np.inf, -np.inf
        sums[since["nan"] | (since["above"] & since["below"])] = np.nan
        return sums
