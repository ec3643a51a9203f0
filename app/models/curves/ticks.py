"""The places of the numbers on an axis, and their unit. No Qt."""

from __future__ import annotations

import math

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


def scaled(unit: str, largest: float) -> tuple[float, str]:
    """The divisor that leaves few digits for the largest place, and the unit after dividing."""
    if unit not in PREFIXED or not largest > 0:
        return 1.0, unit
    smallest = PREFIXES[-1]
    factor, prefix = next((p for p in PREFIXES if largest >= p[0]), smallest)
    if unit == "B" and factor < 1:
        factor, prefix = 1.0, ""
    return factor, prefix + unit
