"""Floating point: whatever is exact or rounded once, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.sim.oracle import Array, each, nearest
from tests.sim.table import SAME, case, entry

N = 400
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0]


def numbers(seed: int, dtype: Any, special: bool = True) -> Array:
    """Numbers of all magnitudes, with subnormal ones, and what is not a number among them."""
    rng = np.random.default_rng(seed)
    size = np.dtype(dtype).itemsize
    bits = rng.integers(0, 2 ** (8 * size), N, dtype=np.uint64, endpoint=False) if size < 8 else None
    made = (rng.integers(0, 2**64, N, dtype=np.uint64) if bits is None else bits.astype(f"u{size}")).view(dtype)
    made = np.where(np.isfinite(made), made, dtype(1))
    usual = (rng.standard_normal(N) * 10.0 ** rng.integers(-4, 5, N)).astype(dtype)
    made = np.where(rng.random(N) < 0.5, made, usual)
    made[20:24] = np.finfo(dtype).smallest_subnormal * np.array([1, 3, -7, 1000], dtype)
    made[24:26] = [np.finfo(dtype).max, -np.finfo(dtype).max]
    if special:
        made[: len(SPECIAL)] = rng.permutation(np.array(SPECIAL, dtype))
    return made


# What NumPy rounds rightly by itself


def _basic(dtype: Any, name: str) -> None:
    @entry(f"float.{name}")
    def build() -> Any:
        a, b = numbers(1, dtype), numbers(2, dtype)
        with np.errstate(all="ignore"):
            seventh = (-a, np.copysign(a, b)) if dtype is np.float32 else (np.fmod(a, b), np.copysign(a, b))
            columns = (a + b, a - b, a * b, a / b, np.sqrt(np.abs(a)), dtype(1) / b, *seventh)
        args = (a, b, np.zeros(8 * N, dtype), N)
        return case("floats.cu", name, args), (SAME, SAME, np.stack(columns, 1).reshape(-1))


_basic(np.float32, "float_basic")
_basic(np.float64, "double_basic")


def _traps(dtype: Any, digits: int) -> list[tuple[float, float, float]]:
    """Products and sums on the middle between two numbers, moved off it by far less than a wider format keeps."""
    eps = 2.0 ** (1 - digits)
    tiny = float(np.finfo(dtype).smallest_subnormal)
    normal = float(np.finfo(dtype).tiny)
    found = []
    for sign in (1.0, -1.0):
        found += [
            (1 + eps, 1 + eps, sign * tiny),
            (1 + eps / 1, 1 - eps / 2, sign * normal),
            (2.0 ** (digits // 2) + 1, 2.0 ** -(digits - digits // 2) * (1 + eps * 4), sign * 2.0),
            (1.0 + 3 * eps, 1.0 - eps / 2, sign * 1.0),
            (3.0, eps / 6 * 3 if digits < 50 else eps / 2, 1.0 + eps),
            (sign * eps / 2, 1.0 + eps, 1.0),
            (sign * eps / 2, 1.0 - eps / 2, 1.0),
            (sign * normal, 0.5 + eps, tiny),
            (sign * tiny, 0.5, normal),
            (sign * tiny * 3, 0.5, 0.0),
            (sign * tiny, 0.5, tiny),
            (normal * (1 + eps), 0.5 * (1 + eps), sign * tiny),
            (float(np.finfo(dtype).max), 1 + eps, -sign * float(np.finfo(dtype).max) * eps),
            (float(np.finfo(dtype).max), 1.0, float(np.finfo(dtype).max) * eps / 4),
            (float(np.finfo(dtype).max), sign * 2.0, -sign * float(np.finfo(dtype).max)),
            (1e-20, 1e-25, sign * 1e-40) if digits < 50 else (1e-160, 1e-160, sign * 3e-320),
            (sign * 0.0, 1.0, -0.0),
            (sign * 0.0, -1.0, 0.0),
            (1 + eps, -1.0, 1 + eps),
        ]
    return found


def _fma_inputs(dtype: Any) -> tuple[Array, Array, Array]:
    a, b, c = (numbers(seed, dtype) for seed in (3, 4, 5))
    with np.errstate(all="ignore"):
        near = (a.astype(np.longdouble) * b).astype(dtype)
    close = np.arange(N) % 3 == 0  # terms that cancel, and terms that are far apart
    c = np.where(close & np.isfinite(near), -near, c)
    digits = 24 if dtype is np.float32 else 53
    rng = np.random.default_rng(6)
    half = 2.0 ** -(digits // 2)
    for place in range(100, 200):  # a · b with few bits, so that the sum with c lies on a middle or just off it
        a[place] = 1 + float(rng.integers(1, 200)) * half
        b[place] = 1 - float(rng.integers(1, 200)) * half
        c[place] = float(rng.choice([-1.0, 1.0])) * 2.0 ** float(rng.integers(-2 * digits, 2 * digits))
    for place, row in enumerate(_traps(dtype, digits)):
        a[30 + place], b[30 + place], c[30 + place] = row
    return a, b, c


def fused(a: float, b: float, c: float) -> float:
    """The answer where an operand is not finite, or the result is a plain zero."""
    with np.errstate(all="ignore"):
        return float(np.float64(a) * np.float64(b) + np.float64(c))


def rounded(
    function: Callable[..., Fraction], plain: Callable[..., float], dtype: Any, mode: str, *arrays: Array
) -> Array:
    """`function` in fractions, rounded once; `plain` where it does not apply."""
    found = each(function, dtype, mode, *arrays)
    for place, row in enumerate(zip(*arrays, strict=True)):
        values = [float(x) for x in row]
        if not all(map(math.isfinite, values)) or function(*map(Fraction, values)) == 0:
            found[place] = plain(*values)
    return found


def _fma(dtype: Any, name: str) -> None:
    @entry(f"float.{name}")
    def build() -> Any:
        a, b, c = _fma_inputs(dtype)
        expected = rounded(lambda x, y, z: x * y + z, fused, dtype, "rn", a, b, c)
        return case("floats.cu", name, (a, b, c, np.zeros(N, dtype), N)), (SAME, SAME, SAME, expected)


_fma(np.float32, "float_fma")
_fma(np.float64, "double_fma")


def _zero(mode: str, first: float, second: float) -> float:
    """The sign of an exact zero sum: − when rounding down what has opposite signs."""
    opposed = math.copysign(1, first) != math.copysign(1, second)
    return -0.0 if opposed and mode == "rm" else first + second


def _sum(mode: str) -> Callable[[float, float], float]:
    return lambda x, y: _zero(mode, x, y) if x + y == 0 else x + y


def _product(x: float, y: float) -> float:
    return math.nan if 0 in (x, y) and math.inf in (abs(x), abs(y)) else x * y


def _fused_in(mode: str) -> Callable[[float, float, float], float]:
    def answer(x: float, y: float, z: float) -> float:
        if not all(map(math.isfinite, (x, y, z))):
            return _product(x, y) + z if not math.isnan(_product(x, y)) else math.nan
        sign = math.copysign(1, x) * math.copysign(1, y)
        return _zero(mode, math.copysign(0.0, sign) if 0 in (x, y) else sign, z if 0 in (x, y) else -sign)

    return answer


MODES = ("rz", "rp", "rm")


@entry("float.directed")
def _directed() -> Any:
    a, b, c = _fma_inputs(np.float32)
    columns = []
    f4 = np.float32
    for mode in MODES:
        columns.append(rounded(lambda x, y: x + y, _sum(mode), f4, mode, a, b))
    columns += [rounded(lambda x, y: x * y, _product, f4, mode, a, b) for mode in MODES]
    columns += [rounded(lambda x, y, z: x * y + z, _fused_in(mode), f4, mode, a, b, c) for mode in MODES]
    columns += [rounded(lambda x, y: x + y, _sum(mode), f4, mode, a, -b) for mode in MODES]
    args = (a, b, c, np.zeros(12 * N, f4), N)
    return case("floats.cu", "directed", args), (SAME, SAME, SAME, np.stack(columns, 1).reshape(-1))


@entry("float.directed_doubles")
def _directed_doubles() -> Any:
    a, b, c = _fma_inputs(np.float64)
    f8 = np.float64
    columns = [rounded(lambda x, y: x + y, _sum(mode), f8, mode, a, b) for mode in MODES]
    columns += [rounded(lambda x, y: x * y, _product, f8, mode, a, b) for mode in MODES]
    columns += [rounded(lambda x, y, z: x * y + z, _fused_in(mode), f8, mode, a, b, c) for mode in MODES]
    args = (a, b, c, np.zeros(9 * N, f8), N)
    return case("floats.cu", "directed_doubles", args), (SAME, SAME, SAME, np.stack(columns, 1).reshape(-1))


@entry("float.directed_quotients")
def _directed_quotients() -> Any:
    a, b = (
        np.where(np.isfinite(x) & (x != 0), x, np.float32(3)) for x in (numbers(8, np.float32), numbers(9, np.float32))
    )
    a[:3], b[:3] = [4.0, 2.25, 9.0], [0.5, 3.0, 7.0]

    def root(mode: str) -> Array:
        found = []
        for value in np.abs(a):
            exact = Fraction(float(value)) * 4**200
            whole = (
                math.isqrt(int(exact)) if exact.denominator == 1 else math.isqrt(exact.numerator // exact.denominator)
            )
            sticky = whole * whole != exact
            found.append(nearest(Fraction(2 * whole + sticky, 2 * 2**200), np.float32, mode))
        return np.array(found, np.float32)

    def quotient(mode: str) -> Array:
        return each(lambda x, y: x / y, np.float32, mode, a, b)

    columns = [*map(quotient, MODES), root("rz"), root("rp"), each(lambda y: 1 / y, np.float32, "rm", b)]
    args = (a, b, np.zeros(6 * N, np.float32), N)
    return case("floats.cu", "directed_quotients", args), (SAME, SAME, np.stack(columns, 1).reshape(-1))


@entry("float.rounding")
def _rounding() -> Any:
    a, b = numbers(10, np.float32), numbers(11, np.float64)
    a[40:44] = [0.49999997, 8388609.0, -0.5, 4194304.5]
    with np.errstate(invalid="ignore"):
        away = np.trunc(a.astype(np.float64) + np.copysign(0.5, a.astype(np.float64))).astype(np.float32)
        kept = np.where(np.isnan(a) | (a <= 0), np.float32(0), np.minimum(a, np.float32(1)))
    columns = (np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.copysign(away, a), kept)
    wide = (np.floor(b), np.ceil(b), np.trunc(b), np.rint(b))
    args = (a, b, np.zeros(6 * N, np.float32), np.zeros(4 * N), N)
    expected = (np.stack(columns, 1).reshape(-1), np.stack(wide, 1).reshape(-1))
    return case("floats.cu", "rounding", args), (SAME, SAME, *expected)


@entry("float.comparisons")
def _comparisons() -> Any:
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL]
    a, b = (np.array([p[k] for p in pairs], np.float32) for k in (0, 1))
    n = len(pairs)
    nan, flags, least = np.isnan(a) | np.isnan(b), np.zeros(n, np.uint32), np.zeros((n, 3), np.float32)
    tests = (a < b, a <= b, a > b, a >= b, a == b, a != b, ~(a < b), ~(a >= b), np.isnan(a), np.isinf(a))
    tests = (*tests, np.isfinite(a), np.signbit(a), nan, (a < b) | (a > b))
    for place, test in enumerate(tests):
        flags |= test.astype(np.uint32) << np.uint32(place)
    for place, (x, y) in enumerate(pairs):
        known = sorted((v for v in (x, y) if not math.isnan(v)), key=lambda v: (v, math.copysign(1, v)))
        least[place, :2] = (known[0], known[-1]) if known else (math.nan, math.nan)
        least[place, 2] = x if x > y else 2.0
    args = (a, b, np.zeros(n, np.uint32), np.zeros(3 * n, np.float32), n)
    return case("floats.cu", "comparisons", args), (SAME, SAME, flags, least.reshape(-1))


@entry("float.chosen")
def _chosen() -> Any:
    a, b = numbers(12, np.float32), np.random.default_rng(13).integers(-5, 15, N).astype(np.int32)
    out = np.stack((np.where(b > 3, a, -a), np.where(b >= 0, a, np.float32(1))), 1)
    both = np.stack(((b < 7) & (b > 3), (b >= 7) & (b > 3), -(a > 0.5).astype(np.int32)), 1).astype(np.int32)
    args = (a, b, np.zeros(2 * N, np.float32), np.zeros(3 * N, np.int32), N)
    return case("floats.cu", "chosen", args), (SAME, SAME, out.reshape(-1), both.reshape(-1))


@entry("float.parts")
def _parts() -> Any:
    a, by = numbers(14, np.float32, special=False), np.random.default_rng(15).integers(-160, 160, N).astype(np.int32)
    fraction, exponent = np.frexp(a)
    with np.errstate(all="ignore"):
        scaled = np.array(
            [nearest(Fraction(float(x)) * Fraction(2) ** int(k), np.float32) for x, k in zip(a, by, strict=True)]
        )
    rest, whole = np.modf(a)
    columns = np.stack((fraction, scaled.astype(np.float32), rest, whole), 1).reshape(-1)
    integers = np.stack((exponent.astype(np.int32), a.view(np.int32) ^ by), 1).reshape(-1)
    args = (a, by, np.zeros(4 * N, np.float32), np.zeros(2 * N, np.int32), N)
    return case("floats.cu", "parts", args), (SAME, SAME, columns, integers)
