"""Lifting: the filters of a wavelet as short steps between even and odd samples, found by Euclid's algorithm.

The low filter weights even samples by one Laurent polynomial and odd ones by another. Dividing one by the other with
remainder is a lifting step; when one remains, a last step and two gains give the high filter too (Daubechies and
Sweldens, "Factoring wavelet transforms into lifting steps", 1998). A division may leave its remainder at either end, so
there are many factorisations; the one whose steps have the smallest gain is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.wavelet.bases import LENGTHS, Array, taps_of

EVEN, ODD = 0, 1
MOST_STEPS, MOST_WEIGHTS = 8, 4
"""The maximum number of steps of a wavelet, and of weights of a step, in constant memory; the same constants are in the
kernel."""
ORTHOGONAL = ("haar", "db2", "db3", "db4", "sym4", "coif1")
SPLINES = tuple(f"{side}{orders}" for side in ("bior", "rbio") for orders in ("1.1", "1.3", "2.2", "2.4", "3.1", "4.4"))
NAMES = tuple(name for name in LENGTHS if name in (*ORTHOGONAL, *SPLINES))
"""The wavelets that support lifting. Longer filters have more factorisations than a plan should try."""
NOTHING = 1e-9
"""A coefficient below this is a rounding error of a division; those of the filters are larger, or exactly 0."""


class Laurent(NamedTuple):
    """A Laurent polynomial: coefficients from the power `first` on, where power m weights the sample of the pair m
    positions further."""

    first: int
    values: Array

    def trimmed(self) -> Laurent:
        """Without zeros at its ends."""
        kept = np.flatnonzero(np.abs(self.values) > NOTHING)
        if not kept.size:
            return Laurent(0, np.zeros(0))
        return Laurent(self.first + int(kept[0]), self.values[kept[0] : kept[-1] + 1])

    def minus(self, one: Laurent, other: Laurent) -> Laurent:
        """The difference to the product of two others."""
        if not one.values.size or not other.values.size:
            return self
        first = one.first + other.first
        product = np.convolve(one.values, other.values)
        low = min(first, self.first) if self.values.size else first
        high = max(first + product.size, self.first + self.values.size if self.values.size else first)
        values = np.zeros(high - low)
        values[self.first - low : self.first - low + self.values.size] += self.values
        values[first - low : first - low + product.size] -= product
        return Laurent(low, values).trimmed()


class LiftingStep(NamedTuple):
    """It adds to sample m of the phase `target` the samples m + first, m + first + 1, … of the other one, weighted."""

    target: int
    by: Laurent


class End(NamedTuple):
    """Coefficient k is `gain` times sample k + shift of a phase."""

    phase: int
    shift: int
    gain: float


class Lifting(NamedTuple):
    """The steps of a wavelet in their forward order, and the positions of its coefficients after them."""

    steps: tuple[LiftingStep, ...]
    low: End
    high: End

    @property
    def peaks(self) -> tuple[float, float]:
        """The maximum gain of an intermediate value, relative to the samples in the forward transform and to the
        coefficients in the inverse."""
        one, nothing = Laurent(0, np.ones(1)), Laurent(0, np.zeros(0))
        forward = {EVEN: [one, nothing], ODD: [nothing, one]}
        inverse = {
            self.low.phase: [Laurent(0, np.array([1 / self.low.gain])), nothing],
            self.high.phase: [nothing, Laurent(0, np.array([1 / self.high.gain]))],
        }
        return _peak(forward, self.steps, -1), _peak(inverse, self.steps[::-1], 1)

    @property
    def multiplications(self) -> int:
        """Operations per pair of coefficients, or of samples."""
        return sum(step.by.values.size for step in self.steps) + 2


@cache
def lifting_of(name: str) -> Lifting:
    """The lifting steps of one of NAMES. It loads PyWavelets."""
    taps = taps_of(name)
    low, high = (_phases(filter[::-1]) for filter in (taps.dec_lo, taps.dec_hi))
    ways = (way for steps, *rest in _divided(*low) if (way := _finished(steps, (rest[0], rest[1]), high)))
    return min(ways, key=lambda way: (max(way.peaks), way.multiplications))


def _phases(filter: Array) -> tuple[Laurent, Laurent]:
    """The weights of a filter for even and odd samples; tap 0 weights an even one."""
    return Laurent(0, filter[0::2]).trimmed(), Laurent(0, filter[1::2]).trimmed()


def _divided(even: Laurent, odd: Laurent) -> Iterator[tuple[tuple[LiftingStep, ...], Laurent, Laurent]]:
    """All ways to divide the two by each other until one of them is 0."""
    if not even.values.size or not odd.values.size:
        yield (), even, odd
        return
    if even.values.size >= odd.values.size:
        for quotient, rest in _divisions(even, odd):
            for steps, *ends in _divided(rest, odd):
                yield (LiftingStep(ODD, quotient), *steps), ends[0], ends[1]
    if odd.values.size >= even.values.size:
        for quotient, rest in _divisions(odd, even):
            for steps, *ends in _divided(even, rest):
                yield (LiftingStep(EVEN, quotient), *steps), ends[0], ends[1]


def _divisions(a: Laurent, b: Laurent) -> Iterator[tuple[Laurent, Laurent]]:
    """Quotients and remainders of a by b, which is not longer: `left` terms are eliminated at the lower end, the others
    at the upper one."""
    many, size = a.values.size - b.values.size + 1, b.values.size
    for left in range(many + 1):
        rest, quotient = a.values.copy(), np.zeros(many)
        for i in (*range(left), *range(many - 1, left - 1, -1)):
            end = i if i < left else i + size - 1
            quotient[i] = rest[end] / b.values[end - i]
            rest[i : i + size] -= quotient[i] * b.values
        kept = Laurent(a.first + left, rest[left : left + size - 1]).trimmed()
        yield Laurent(a.first - b.first, quotient).trimmed(), kept


def _finished(
    steps: tuple[LiftingStep, ...], low: tuple[Laurent, Laurent], high: tuple[Laurent, Laurent]
) -> Lifting | None:
    """The whole factorisation, whose last step gives the high filter; None if gains are not single weights, or if the
    steps exceed constant memory."""
    of = list(high)
    for step in steps:
        of[1 - step.target] = of[1 - step.target].minus(step.by, of[step.target])
    phase = EVEN if low[EVEN].values.size else ODD
    kept, own, other = low[phase], of[1 - phase], of[phase]
    if kept.values.size != 1 or own.values.size != 1:
        return None
    if other.values.size:
        last = Laurent(other.first - own.first, other.values / own.values[0])
        steps = (*steps, LiftingStep(1 - phase, last))
    if len(steps) > MOST_STEPS or any(step.by.values.size > MOST_WEIGHTS for step in steps):
        return None
    ends = (End(p, m.first, float(m.values[0])) for p, m in ((phase, kept), (1 - phase, own)))
    return Lifting(steps, *ends)


def filters_of(lifting: Lifting, taps: int) -> tuple[Array, Array]:
    """The low and the high filter with this number of taps that equal the steps, in the order in which they weight
    samples."""
    found = []
    for end in (lifting.low, lifting.high):
        of = [Laurent(0, np.zeros(0)), Laurent(0, np.zeros(0))]
        of[end.phase] = Laurent(end.shift, np.array([end.gain]))
        for step in reversed(lifting.steps):
            less = Laurent(step.by.first, -step.by.values)
            of[1 - step.target] = of[1 - step.target].minus(less, of[step.target])
        filter = np.zeros(taps)
        for phase, (first, values) in enumerate(of):
            filter[2 * first + phase :: 2][: values.size] = values
        found.append(filter)
    return found[0], found[1]


def _peak(parts: dict[int, list[Laurent]], steps: tuple[LiftingStep, ...], less: int) -> float:
    """The maximum sum of magnitudes over the samples of both phases, after each step."""
    most = max(_size(of) for of in parts.values())
    for step in steps:
        source, by = parts[1 - step.target], Laurent(step.by.first, less * step.by.values)
        parts[step.target] = [part.minus(by, of) for part, of in zip(parts[step.target], source, strict=True)]
        most = max(most, _size(parts[step.target]), float(np.abs(step.by.values).sum()) * _size(source))
    return most


def _size(parts: list[Laurent]) -> float:
    return float(sum(np.abs(part.values).sum() for part in parts))


@cache
def deviation_of(name: str) -> float:
    """The sum of the differences between the filters that PyWavelets lists and those of the steps. If its digits are
    truncated, low and high are not exactly consistent, and no steps give both."""
    taps = taps_of(name)
    made = filters_of(lifting_of(name), taps.dec_lo.size)
    return float(sum(np.abs(a - b[::-1]).sum() for a, b in zip(made, (taps.dec_lo, taps.dec_hi), strict=True)))


class Reach(NamedTuple):
    """What a piece of pairs needs in one direction: the pairs from `before` its first one (0 or negative) to `after`
    its last, and for each step the range of the pairs that it changes."""

    before: int
    after: int
    changes: tuple[tuple[int, int], ...]


def reach_forward(lifting: Lifting) -> Reach:
    """For pieces of coefficients."""
    ends = {end.phase: (end.shift, end.shift) for end in (lifting.low, lifting.high)}
    reach = _reach(lifting.steps[::-1], ends)
    return reach._replace(changes=reach.changes[::-1])


def reach_inverse(lifting: Lifting) -> Reach:
    """For pieces of samples."""
    return _reach(lifting.steps, {EVEN: (0, 0), ODD: (0, 0)})


def _reach(steps: tuple[LiftingStep, ...], needed: dict[int, tuple[int, int]]) -> Reach:
    """`steps` from the last executed one to the first; `needed` is the range after all of them."""
    changes: list[tuple[int, int]] = []
    for step in steps:
        low, high = needed[step.target]
        changes.append((low, high))
        least, most = needed[1 - step.target]
        of = low + step.by.first, high + step.by.first + step.by.values.size - 1
        needed[1 - step.target] = min(least, of[0]), max(most, of[1])
    before, after = min(low for low, _ in needed.values()), max(high for _, high in needed.values())
    return Reach(before, after, tuple(changes))


def constants_of(lifting: Lifting, kind: np.dtype[Any]) -> dict[str, Any]:
    """The arrays of the kernel's constant memory."""
    moves, ends = np.zeros((2, MOST_STEPS, 5), np.int32), np.zeros((2, 5), np.int32)
    weights = np.zeros((MOST_STEPS, MOST_WEIGHTS), kind)
    for way, reach in enumerate((reach_forward(lifting), reach_inverse(lifting))):
        low, high = lifting.low, lifting.high
        ends[way] = (
            reach.after - reach.before,
            reach.before,
            low.phase,
            low.shift - reach.before,
            high.shift - reach.before,
        )
        for k, (step, (first, last)) in enumerate(zip(lifting.steps, reach.changes, strict=True)):
            size = step.by.values.size
            moves[way, k] = step.target, step.by.first, size, first - reach.before, last - reach.before
            weights[k, :size] = step.by.values
    gains = np.array([lifting.low.gain, lifting.high.gain, 1 / lifting.low.gain, 1 / lifting.high.gain], kind)
    return {"moves": moves, "weights": weights, "ends": ends, "gains": gains}
