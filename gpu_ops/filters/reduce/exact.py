"""Exact sums of many floating-point numbers by NumPy, and the reference of reductions, which uses them.

A float64 is an integer of 53 bits times a power of two. The upper and the lower half of these integers are added
separately for each power, in numbers that represent the sums exactly; Python's integers combine them.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np

from gpu_ops.filters.reduce.figures import CHUNK, Array, table_form, wanted
from gpu_ops.progress import collect
from gpu_ops.task import Task

LOWEST_POWER = -1074
POWERS = 1024 - LOWEST_POWER + 1
HALF = 27
"""Bits of the lower half of an integer; bincount adds in float64, which represents the sums of 2^20 numbers of 27
bits."""


def exact_sum(values: Array) -> Fraction:
    """The sum of finite numbers (N,), without rounding."""
    parts = _in_chunks(_by_power, values)
    low, high = (sum((part[half] for part in parts), np.zeros(POWERS, np.int64)) for half in (0, 1))
    whole = sum(((int(high[p]) << HALF) + int(low[p])) << int(p) for p in np.flatnonzero((low != 0) | (high != 0)))
    return Fraction(whole) / (1 << (53 - LOWEST_POWER))


def _by_power(values: Array) -> tuple[Array, Array]:
    """The sums of the lower and of the upper halves of the numbers, by their power of two."""
    shares, powers = np.frexp(values.astype(np.float64))
    whole = np.ldexp(shares, 53).astype(np.int64)
    places = powers - LOWEST_POWER
    halves = (whole & (1 << HALF) - 1, whole >> HALF)
    low, high = (np.bincount(places, weights=half, minlength=POWERS).astype(np.int64) for half in halves)
    return low, high


def _in_chunks(work: Any, values: Array) -> list[Any]:
    starts = range(0, len(values), CHUNK)
    if len(starts) < 2:
        return [work(values[start : start + CHUNK]) for start in starts]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return collect(pool.map(lambda start: work(values[start : start + CHUNK]), starts), len(starts))


def rounded(value: Fraction) -> float:
    """The nearest float64; infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def reference(task: Task) -> dict[str, Array]:
    """{"figures"} (figures,) or (figures, channels) of a signal or image: exact sums, rounded once; the variance in two
    passes around the mean. Integers are exact until the last rounding."""
    form, channels = table_form(task), task.meta.channels
    of = _of_integers if task.dtype.kind == "u" else _of_floats
    columns = [of(values, wanted(task)) for values in task.x.reshape(-1, channels).T]
    return {"figures": np.array(columns, dtype=form.dtype).T.reshape(form.shape)}


def _of_integers(values: Array, names: tuple[str, ...]) -> list[Any]:
    n, low, high = len(values), int(values.min()), int(values.max())
    total = sum(_in_chunks(lambda part: int(part.sum(dtype=np.uint64)), values))
    known: dict[str, Any] = {"sum": total, "min": low, "max": high, "mean": total / n}
    if "variance" in names:
        squares = sum(_in_chunks(lambda part: int(np.square(part, dtype=np.uint64).sum(dtype=np.uint64)), values))
        known["variance"] = (n * squares - total * total) / (n * n)
    return [known[name] for name in names]


def _of_floats(values: Array, names: tuple[str, ...]) -> list[Any]:
    n, low, high = len(values), np.min(values), np.max(values)
    if not (np.isfinite(low) and np.isfinite(high)):
        with np.errstate(invalid="ignore"):
            odd = np.float64(high) if np.isfinite(low) else np.float64(low) + np.float64(high)
        every: dict[str, Any] = {"sum": odd, "min": low, "max": high, "mean": odd, "variance": np.nan}
        return [every[name] for name in names]
    known: dict[str, Any] = {"min": low, "max": high}
    if {"sum", "mean", "variance"} & set(names):
        total = exact_sum(values)
        known |= {"sum": rounded(total), "mean": rounded(total / n)}
    if "variance" in names:
        known["variance"] = _variance(values, total / n, max(abs(float(low)), abs(float(high))))
    return [known[name] for name in names]


def _variance(values: Array, mean: Fraction, size: float) -> float:
    """Samples are scaled by a power of two, so that no square overflows or underflows."""
    power = -int(np.frexp(size)[1]) if size else 0
    middle = rounded(mean * Fraction(2) ** power)

    def deviations(part: Array) -> Array:
        return np.ldexp(part.astype(np.float64), power) - middle

    pieces = [values[first : first + CHUNK] for first in range(0, len(values), CHUNK)]
    off = sum((exact_sum(deviations(part)) for part in pieces), Fraction(0))
    squares = sum((exact_sum(deviations(part) ** 2) for part in pieces), Fraction(0))
    n = len(values)
    return rounded((squares - off * off / n) / n / Fraction(4) ** power)
