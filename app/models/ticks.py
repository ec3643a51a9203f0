"""The positions of the numbers on any axis, and their unit. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

PREFIXED = ("s", "Hz", "B", "m")
"""Units that take SI prefixes."""
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def ticks(start: float, stop: float, most: int) -> list[float]:
    """Round numbers from `start` to `stop`, at most `most` or 2 of them."""
    if not math.isfinite(stop - start) or stop <= start:
        return []
    raw = (stop - start) / max(2, most)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m for m in (1, 2, 5, 10) if m * power >= raw * 0.9999) * power
    first, last = math.ceil(start / step - 1e-6), math.floor(stop / step + 1e-6)
    return [k * step for k in range(first, last + 1)]


def powers(low: float, high: float, most: int) -> list[float]:
    """Powers of ten from `low` to `high`, both above 0."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / max(2, most)))
    return [10.0**k for k in range(first, last + 1, every)]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from `low` to `high`, both above 0, at most `most` or 2 of them: 1, 2 and 5 times every power of
    ten, fewer where that is too many, and equal steps where the range has only a few of them."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in exponents for d in digits]
        best = [number for number in found if low <= number <= high] or best
        if len(best) <= most:
            break
    else:
        best = powers(low, high, most)
    return best if len(best) > 2 or high > 10 * low else ticks(low, high, most)


def with_room(
    marks: Iterable[tuple[float, str]], span: tuple[float, float], width: float, width_of: Callable[[str], float]
) -> list[tuple[float, str]]:
    """The marks, in order, whose texts do not overlap on an axis that shows `span` over a `width`."""
    kept: list[tuple[float, str]] = []
    free = -math.inf
    for position, text in marks:
        middle = (position - span[0]) / (span[1] - span[0]) * width
        half = width_of(f"{text}  ") / 2
        if middle - half >= free:
            kept.append((position, text))
            free = middle + half
    return kept


def scaled(unit: str, largest: float) -> tuple[float, str]:
    """The divisor that leaves few digits for the largest value, and the unit after dividing."""
    if unit not in PREFIXED or not largest > 0:
        return 1.0, unit
    smallest = PREFIXES[-1]
    factor, prefix = next((p for p in PREFIXES if largest >= p[0]), smallest)
    if unit == "B" and factor < 1:
        factor, prefix = 1.0, ""
    return factor, prefix + unit
