"""Floating point with the rounding of hardware: once, in any direction, bit-exact.

The fast way computes in float64, where the rounding error is known; the few lanes that need more use fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
f4, f8, i8 = np.float32, np.float64, np.int64
HUGE, TINY = 1e300, 1e-270
"""Between these magnitudes products of float64 and their errors are exact to the last bit."""
_SMALLEST_NORMAL = int(np.array(2.0**-126).view(i8))
_LIMITS = {4: (24, -149, float(np.finfo(f4).max)), 8: (53, -1074, float(np.finfo(f8).max))}


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a · b + c rounded once. The product is exact in float64. If rounding may have moved the sum exactly half-way
    between two float32, the sum is first rounded to odd."""
    product = a.astype(f8) * b
    total = product + c
    bits = total.view(i8)
    doubtful = (bits & 0x1FFFFFFF) == 0x10000000
    doubtful |= ((bits + bits) - 1).view(np.uint64) < np.uint64(2 * _SMALLEST_NORMAL)
    if doubtful.any():
        total = _odd(total, sum_error(product, c.astype(f8), total))
    return total.astype(f4)


def sum_error(a: Array, b: Array, total: Array) -> Array:
    """a + b − total, exactly."""
    share = total - a
    return (a - (total - share)) + (b - share)


def _odd(total: Array, rest: Array) -> Array:
    """A sum that lost `rest` to rounding, rounded to odd instead: its last bit is set if it lost anything, so that a
    later rounding is correct."""
    bits = total.view(i8)
    step = np.where((rest > 0) == (total > 0), 1, -1)
    return np.where((rest != 0) & (bits & 1 == 0) & np.isfinite(total), (bits + step).view(f8), total)


def _split(a: Array) -> tuple[Array, Array]:
    big = a * 134217729.0
    high = big - (big - a)
    return high, a - high


def _product_error(a: Array, b: Array) -> Array:
    """a · b minus its rounded product, exactly."""
    ah, al = _split(a)
    bh, bl = _split(b)
    return ((ah * bh - a * b) + ah * bl + al * bh) + al * bl


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a · b + c rounded once, by error-free transformations; the middle part is rounded to odd."""
    product = a * b
    plain = product + c
    error = _product_error(a, b)
    upper = c + error
    upper_rest = sum_error(c, error, upper)
    total = product + upper
    total_rest = sum_error(product, upper, total)
    middle = total_rest + upper_rest
    result = total + _odd(middle, sum_error(total_rest, upper_rest, middle))
    size = np.abs(product)
    safe = (size > TINY) & (size < HUGE) & (np.abs(a) < HUGE) & (np.abs(b) < HUGE) & (np.abs(c) < HUGE)
    if safe.all():
        return result
    result = np.where(safe, result, plain)
    # A product with a zero is exact, and non-finite operands need no correction.
    hard = ~safe & (a != 0) & (b != 0) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    if not hard.any():
        return result
    return _fma64_at_the_ends(a, b, c, np.flatnonzero(np.broadcast_to(hard, result.shape)), result)


def _fma64_at_the_ends(a: Array, b: Array, c: Array, lanes: Array, plain: Array) -> Array:
    """`plain` with corrected results in `lanes`, whose operands are finite and whose products are very large or very
    small: computed without their exponents, or in units of the smallest number, or, if neither is possible, in
    fractions.
    """
    result = plain.reshape(-1).copy()
    x, y, z = (np.broadcast_to(v, plain.shape).reshape(-1)[lanes] for v in (a, b, c))
    (x_part, x_power), (y_part, y_power), (z_part, z_power) = (np.frexp(v) for v in (x, y, z))
    power = x_power + y_power
    gap = np.where(z == 0, 0, z_power - power)
    # Far below the product, only the sign of z matters; far above it, z is the result.
    near = fma64(x_part, y_part, np.ldexp(z_part, np.clip(gap, -200, 200)))
    size = np.frexp(near)[1] + power
    found = np.where(gap > 200, z, np.ldexp(near, power))
    done = (gap > 200) | ((near != 0) & (size > -1021))
    units, fits = _fma64_in_units(x_part * y_part, _product_error(x_part, y_part), power, z)
    fits &= ~done
    result[lanes] = np.where(fits, units, found)
    left = lanes[~(done | fits)]
    if len(left):
        operands = [np.broadcast_to(v, plain.shape).reshape(-1)[left] for v in (a, b, c)]
        result[left] = exactly("fma", "rn", f8, *operands, plain=plain.reshape(-1)[left])
    return result.reshape(plain.shape)


def _fma64_in_units(high: Array, low: Array, power: Array, z: Array) -> tuple[Array, Array]:
    """(high + low) · 2^power + z in whole units of the smallest number, rounded to even, and where that is exact."""
    high, low, whole = np.ldexp(high, power + 1074), np.ldexp(low, power + 1074), np.ldexp(z, 1074)
    fits = (np.abs(high) < 2.0**51) & (np.abs(whole) < 2.0**51)
    whole = whole + np.trunc(high)
    rest = high - np.trunc(high)
    odd = np.fmod(whole, 2) != 0
    up = (rest > 0.5) | ((rest == 0.5) & ((low > 0) | ((low == 0) & odd)))
    down = (rest < -0.5) | ((rest == -0.5) & ((low < 0) | ((low == 0) & odd)))
    whole = whole + up - down.astype(f8)
    return np.ldexp(whole, -1074), fits & (whole != 0)


def directed(exact: Array, mode: str) -> Array:
    """float64 to float32 towards zero (rz), down (rm) or up (rp)."""
    near = exact.astype(f4)
    if mode == "rz":
        beyond = np.abs(near.astype(f8)) > np.abs(exact)
        return np.where(beyond, np.nextafter(near, f4(0)), near)
    off, goal = (near.astype(f8) > exact, f4(-np.inf)) if mode == "rm" else (near.astype(f8) < exact, f4(np.inf))
    return np.where(off, np.nextafter(near, goal), near)


def fma_directed(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a · b + c in float32, towards zero, down or up."""
    product, last = a.astype(f8) * b, c.astype(f8)
    total = product + last
    result = directed(_odd(total, sum_error(product, last, total)), mode)
    if mode == "rm":  # terms that cancel give −0 in rounding down
        return np.where((result == 0) & (np.signbit(product) != np.signbit(last)) & (total == 0), f4(-0.0), result)
    return result


def smaller(a: Array, b: Array) -> Array:
    """The smaller number; −0 is smaller than +0, and a NaN loses to a number."""
    result = np.fmin(a, b)
    zero = result == 0
    return np.where(zero & (a == b), np.where(np.signbit(a), a, b), result) if zero.any() else result


def larger(a: Array, b: Array) -> Array:
    """The larger number; +0 is larger than −0, and a NaN loses to a number."""
    result = np.fmax(a, b)
    zero = result == 0
    return np.where(zero & (a == b), np.where(np.signbit(a), b, a), result) if zero.any() else result


# Fractions


def exactly(
    operation: str, mode: str, dtype: Any, *operands: Array, where: Array | None = None, plain: Array | None = None
) -> Array:
    """One of add, mul, div, fma, rcp, sqrt or value in rounding `mode`, lane by lane: slow, but always correct.

    It computes the lanes in `where`; the others get `plain`, by default NumPy's result.
    """
    shape = np.broadcast_shapes(*(a.shape for a in operands))
    wide = [np.broadcast_to(a, shape).reshape(-1) for a in operands]
    near = np.broadcast_to(_PLAIN[operation](*operands).astype(dtype) if plain is None else plain, shape)
    result = near.reshape(-1).copy()
    todo = np.arange(len(result)) if where is None else np.flatnonzero(np.broadcast_to(where, shape))
    for lane in todo:
        numbers = [a[lane].item() for a in wide]
        if any(isinstance(n, float) and not math.isfinite(n) for n in numbers) or not _defined(operation, numbers):
            continue
        value = _VALUE[operation](*map(Fraction, numbers))
        if value:
            result[lane] = _rounded(value, mode, *_LIMITS[np.dtype(dtype).itemsize])
        elif mode == "rm" and operation in ("add", "fma") and _opposed(operation, numbers):
            result[lane] = -0.0
    return result.reshape(shape)


def _root(value: Fraction) -> Fraction:
    """The square root to at least 130 bits; the last bit is set if it is not exact."""
    scale = 1 << 2 * (130 + max(0, value.denominator.bit_length()))
    whole = value.numerator * scale // value.denominator
    root = math.isqrt(whole)
    exact = root * root == whole and whole * value.denominator == value.numerator * scale
    return Fraction(2 * root + (not exact), 2 * math.isqrt(scale))


_VALUE: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "rcp": lambda a: 1 / a,
    "sqrt": _root,
    "value": lambda a: a,
}
_PLAIN: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "div": np.divide,
    "fma": lambda a, b, c: a * b + c,
    "rcp": lambda a: 1 / a,
    "sqrt": np.sqrt,
    "value": np.asarray,
}


def _defined(operation: str, numbers: list[float]) -> bool:
    if operation in ("div", "rcp"):
        return numbers[-1] != 0
    return operation != "sqrt" or numbers[0] >= 0


def _opposed(operation: str, numbers: list[float]) -> bool:
    """Whether two terms of opposite signs cancel."""
    signs = [math.copysign(1, n) for n in numbers]
    first = signs[0] if operation == "add" else signs[0] * signs[1]
    return first != signs[-1]


def _rounded(value: Fraction, mode: str, digits: int, lowest: int, largest: float) -> float:
    """A number other than zero, rounded to `digits` binary digits."""
    sign, above, below = 1 if value > 0 else -1, abs(value.numerator), value.denominator
    exponent = above.bit_length() - below.bit_length()
    if above << max(-exponent, 0) < below << max(exponent, 0):
        exponent -= 1
    unit = max(exponent - digits + 1, lowest)
    below <<= max(unit, 0)
    whole, rest = divmod(above << max(-unit, 0), below)
    away = {"rz": False, "rm": sign < 0, "rp": sign > 0}.get(
        mode, 2 * rest > below or (2 * rest == below and bool(whole & 1))
    )
    if rest and away:
        whole += 1
    if unit > 0 and whole << unit > int(largest):
        return sign * (math.inf if away or mode == "rn" else largest)
    return sign * math.ldexp(whole, unit)
