"""Times of samples and the rate that follows from them."""

from __future__ import annotations

import numpy as np

from gpu_ops.io.inputs import Array

COUNT_NAMES = ("sample", "samples", "index", "idx", "no", "nr", "number", "row", "")
DIGITS = 12
"""The most decimals of a time."""
CLOSE = 0.01
"""The share of a step by which times may deviate and still count as even."""


def is_counter(name: str) -> bool:
    """Whether a column counts the samples, by its name."""
    return name.strip().casefold().rstrip("#. ").strip() in COUNT_NAMES


def even_step(times: Array) -> float | None:
    """The step of evenly spaced times (N,); None where they are not even, or fewer than two.

    Rounded times may be off by their last decimal; others by CLOSE of a step.
    """
    if len(times) < 2 or not np.isfinite(times).all():
        return None
    step = float(times[-1] - times[0]) / (len(times) - 1)
    if step <= 0 or bool((np.diff(times) <= 0).any()):
        return None
    off = float(np.abs(times - times[0] - np.arange(len(times)) * step).max())
    unit = _resolution(times[:1000])
    return step if off <= CLOSE * step or (off <= unit < step / 2) else None


def _resolution(times: Array) -> float:
    """The unit of the last decimal of these times; 0 where they have more than DIGITS decimals."""
    largest = float(np.abs(times).max())
    for digits in range(DIGITS + 1):
        scaled = times * 10.0**digits
        if bool((np.abs(scaled - np.rint(scaled)) <= 1e-12 * max(largest * 10.0**digits, 1.0)).all()):
            return float(10.0**-digits)
    return 0.0


def rate_of(times: Array, seconds: float) -> float | None:
    """The rate, in hertz, of evenly spaced times whose unit is `seconds` long; None where they are not even. A rate
    within the times' precision of an integer becomes that integer."""
    step = even_step(times)
    if step is None:
        return None
    rate = 1 / (step * seconds)
    unit = max(_resolution(times[:1000]), float(np.spacing(np.abs(times).max())))
    unsure = rate * max(2 * unit / float(times[-1] - times[0]), 1e-9)
    for nice in (float(round(rate)), float(f"{rate:.3g}"), 1 / max(round(1 / rate), 1)):
        if abs(rate - nice) <= unsure and nice > 0:
            return nice
    return rate


def is_count(values: Array) -> bool:
    """Whether values are 0, 1, 2 … or 1, 2, 3 …"""
    return bool(len(values) and values[0] in (0, 1) and np.array_equal(values, values[0] + np.arange(len(values))))
