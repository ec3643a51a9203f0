"""The mathematical library against float64, within the units of the last place that CUDA's documents allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.sim.bench import Case, Outcome
from tests.sim.oracle import Array
from tests.sim.table import FREE, SAME, case, distance, entry

N = 400


def _each(function: Callable[..., float], *arrays: Array) -> Array:
    """A function of Python floats on each element: the C library's, which is right to less than one unit."""
    return np.array([function(*map(float, row)) for row in zip(*arrays, strict=True)])


def _angles(seed: int, dtype: Any, decades: float) -> Array:
    rng = np.random.default_rng(seed)
    made = (rng.choice([-1, 1], N) * 10.0 ** rng.uniform(-6, decades, N)).astype(dtype)
    made[:8] = [0.0, math.pi / 2, math.pi, 1e5, 105615.0, 105616.0, 22.0, 355.0]
    return made


@entry("functions.waves", ulps=2, across=2)
def _waves() -> Any:
    a = _angles(1, np.float32, 38)
    expected = np.stack((_each(math.sin, a), _each(math.cos, a)), 1).astype(np.float32)
    return case("functions.cu", "waves", (a, np.zeros(2 * N, np.float32), N)), (SAME, expected.reshape(-1))


@entry("functions.waves_double", ulps=2, across=0)
def _waves_double() -> Any:
    a = _angles(2, np.float64, 15)
    a[10:14] = [1e15, 1e22, 1e300, 2.0**1000]
    expected = np.stack((_each(math.sin, a), _each(math.cos, a)), 1)
    return case("functions.cu", "waves_double", (a, np.zeros(2 * N), N)), (SAME, expected.reshape(-1))


@entry("functions.exponentials", ulps=2, across=2)
def _exponentials() -> Any:
    a = np.linspace(-104, 89, N).astype(np.float32)
    a[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-3, 0.5, 88.72, -103.9]
    x = a.astype(np.float64)
    with np.errstate(all="ignore"):
        columns = (np.exp(x), np.exp2(x), np.tanh(x), special.erf(x), np.expm1(x))
        expected = np.stack(columns, 1).astype(np.float32).reshape(-1)
    return case("functions.cu", "exponentials", (a, np.zeros(5 * N, np.float32), N)), (SAME, expected)


@entry("functions.logarithms", ulps=4, across=2)
def _logarithms() -> Any:
    rng = np.random.default_rng(3)
    a, b = (10.0 ** rng.uniform(-30, 30, N)).astype(np.float32), rng.uniform(-1.2, 1.2, N).astype(np.float32)
    a[:10] = [0.0, 1.0, np.inf, 1.0000001, 0.99999994, 2.0, 1e-45, 1e-40, 10.0, 8.0]
    b[6:10] = [0.5, -0.5, 2.0, 3.0]
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        columns = (np.log(x), np.log2(x), np.log10(x), x**y, 1 / np.sqrt(x), np.cbrt(x))
        expected = np.stack(columns, 1).astype(np.float32).reshape(-1)
    return case("functions.cu", "logarithms", (a, b, np.zeros(6 * N, np.float32), N)), (SAME, SAME, expected)


@entry("functions.angles", ulps=3, across=2)
def _angles_of_two() -> Any:
    rng = np.random.default_rng(4)
    a, b = ((rng.standard_normal(N) * 10.0 ** rng.integers(-3, 9, N)).astype(np.float32) for _ in range(2))
    x, y = a.astype(np.float64), b.astype(np.float64)
    expected = np.stack((np.arctan2(x, y), np.hypot(x, y), np.fmod(x, y)), 1).astype(np.float32).reshape(-1)
    return case("functions.cu", "angles", (a, b, np.zeros(3 * N, np.float32), N)), (SAME, SAME, expected)


@entry("functions.doubles", ulps=2, across=1)  # hardware starts 1/√x from an approximation of its own
def _doubles() -> Any:
    rng = np.random.default_rng(5)
    a, b = 10.0 ** rng.uniform(-5, 2.8, N), rng.uniform(-30, 30, N)
    a[:4] = [1.0, 1e-300, 708.0, 2.0]
    b[0] = 0.0
    b[1] = 0.5
    columns = (_each(lambda x: math.exp(-x), a), _each(math.log, a), _each(math.pow, a, b), np.cbrt(a))
    roots = np.array([float(1 / np.sqrt(np.longdouble(x))) for x in a])
    expected = np.stack((*columns, roots, _each(math.erf, b)), 1).reshape(-1)
    return case("functions.cu", "doubles", (a, b, np.zeros(6 * N), N)), (SAME, SAME, expected)


def _fast_judge(given: Case, outcome: Outcome) -> None:
    """The bounds CUDA states: 2^-21.4 for sine and cosine within ±π, 2 + |1.173 a| units for __expf, 2 for
    __fdividef, and what follows for __logf (2^-21.4 near 1, 3 units elsewhere) and __powf = exp2(y log2 x)."""
    a, b = (x.astype(np.float64) for x in given.args[:2])
    found = outcome.arrays[2].reshape(-1, 6)
    wide = found.astype(np.float64)
    assert np.abs(wide[:, 0] - np.sin(a)).max() <= 2**-20.9
    assert np.abs(wide[:, 1] - np.cos(a)).max() <= 2**-20.9
    for place, (x, y) in enumerate(zip(a, b, strict=True)):
        exact = np.array([np.exp(x), x / y, np.exp(x * np.log(y))]).astype(np.float32)
        assert distance(found[place, 2:3], exact[:1]) <= 2 + abs(1.173 * x)
        assert distance(found[place, 3:4], exact[1:2]) <= 2
        unit = float(np.spacing(np.float32(abs(np.log(y)))))
        assert abs(wide[place, 4] - np.log(y)) <= (2**-21.4 if 0.5 <= y <= 2 else 3 * unit)
        assert abs(wide[place, 5] - float(exact[2])) <= float(exact[2]) * 2**-22 * (2 + abs(x * np.log2(y)))


@entry("functions.fast", judge=_fast_judge, across=1 << 20)
def _fast() -> Any:
    rng = np.random.default_rng(6)
    a, b = rng.uniform(-3.1, 3.1, N).astype(np.float32), (10.0 ** rng.uniform(-3, 3, N)).astype(np.float32)
    return case("functions.cu", "fast", (a, b, np.zeros(6 * N, np.float32), N)), (SAME, SAME, FREE)
