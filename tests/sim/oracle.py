"""Exact answers in Python's integers and fractions, written apart from the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def wrapped(values: Sequence[int], dtype: Any) -> Array:
    """Integers of any size, modulo 2 to the width of `dtype`."""
    kind = np.dtype(dtype)
    size = 8 * kind.itemsize
    unsigned = np.array([v & ((1 << size) - 1) for v in values], f"u{kind.itemsize}")
    return unsigned.view(kind)


def table(function: Callable[..., Sequence[int]], dtype: Any, *arrays: Array) -> Array:
    """function(a, b, …) of Python integers for each element, all its results one after the other."""
    rows = [function(*(int(x) for x in row)) for row in zip(*arrays, strict=True)]
    return wrapped([v for row in rows for v in row], dtype)


def signed(value: int, bits: int) -> int:
    """The lower bits of a number as a signed one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    """The lower bits of a number."""
    return value & ((1 << bits) - 1)


def towards_zero(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder as C has them."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def nearest(value: Fraction | float, dtype: Any, mode: str = "rn") -> float:
    """The number of `dtype` that `value` rounds to: among the neighbours of a first guess, by exact distance."""
    if not isinstance(value, Fraction):
        return value
    limit = Fraction(float(np.finfo(dtype).max))
    edge = limit + (limit - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))) / 2
    if abs(value) > limit:
        beyond = {"rn": abs(value) >= edge, "rz": False, "rp": value > 0, "rm": value < 0}[mode]
        return (1 if value > 0 else -1) * (math.inf if beyond else float(limit))
    with np.errstate(all="ignore"):
        guess = dtype(float(value))
        if not np.isfinite(guess):
            guess = dtype(float(limit)) * dtype(1 if value > 0 else -1)
        near = [guess, np.nextafter(guess, dtype(-np.inf)), np.nextafter(guess, dtype(np.inf))]
    near = [n for n in near if np.isfinite(n)]
    if mode == "rp":
        near = [n for n in near if Fraction(float(n)) >= value]
    elif mode == "rm":
        near = [n for n in near if Fraction(float(n)) <= value]
    elif mode == "rz":
        near = [n for n in near if abs(Fraction(float(n))) <= abs(value)]
    size = np.dtype(dtype).itemsize

    def rank(n: Any) -> tuple[Fraction, int]:
        return abs(Fraction(float(n)) - value), int(n.view(f"u{size}")) & 1

    best = float(min(near, key=rank))
    return (0.0 if value > 0 else -0.0) if best == 0 else best


def each(function: Callable[..., Fraction | float], dtype: Any, mode: str, *arrays: Array) -> Array:
    """The correctly rounded result for each element; where an operand is not finite, or the result is a plain zero,
    `function` is given floats and answers for itself."""
    found = []
    for row in zip(*arrays, strict=True):
        numbers = [float(x) for x in row]
        exact = function(*map(Fraction, numbers)) if all(map(math.isfinite, numbers)) else None
        found.append(nearest(exact, dtype, mode) if exact else float("nan") if exact is None else 0.0)
    with np.errstate(all="ignore"):
        return np.array(found, dtype)
