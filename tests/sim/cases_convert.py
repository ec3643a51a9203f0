"""Conversions between integers and floating point, in every rounding; float16."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tests.sim.cases_float import MODES, SPECIAL, N, fused, numbers, rounded
from tests.sim.oracle import Array, nearest
from tests.sim.table import SAME, case, entry


def _whole(value: float, mode: str) -> int:
    """A finite number to a whole one."""
    if mode == "rn":
        return round(value)
    return {"rz": math.trunc, "rp": math.ceil, "rm": math.floor}[mode](value)


def _held(value: float, mode: str, bits: int, signed: bool, nothing: int = 0) -> int:
    """The integer a conversion gives: held at the limits."""
    if math.isnan(value):
        return nothing
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, _whole(value, mode)))


def _edges(seed: int, dtype: Any) -> Array:
    made = numbers(seed, dtype)
    edges = [
        2.0**31,
        2.0**31 - 128,
        -(2.0**31),
        2.0**32,
        2.0**63,
        2.0**64,
        -(2.0**63),
        0.5,
        1.5,
        -0.5,
        2**24 + 1.5,
        1e30,
    ]
    made[100 : 100 + len(edges)] = edges
    made[200:300] = np.random.default_rng(seed).uniform(-300, 300, 100).astype(dtype)
    return made


def _to_int(kernel: str, dtype: Any) -> None:
    @entry(f"convert.{kernel}")
    def build() -> Any:
        a = _edges(20, dtype)
        modes, nothing = ("rn", "rz", "rp", "rm"), 1 << 31 if dtype is np.float64 else 0
        s = [_held(float(x), m, 32, True, nothing - (1 << 32) if nothing else 0) for x in a for m in modes]
        u = [_held(float(x), m, 32, False, nothing) for x in a for m in modes]
        args = (a, np.zeros(4 * N, np.int32), np.zeros(4 * N, np.uint32), N)
        return case("convert.cu", kernel, args), (SAME, np.array(s, np.int32), np.array(u, np.uint32))


_to_int("float_to_int", np.float32)
_to_int("double_to_int", np.float64)


@entry("convert.to_long")
def _to_long() -> Any:
    a, b = _edges(21, np.float32), _edges(22, np.float64)
    top = 1 << 63
    s = [
        (_held(float(x), "rn", 64, True, -top), _held(float(y), "rz", 64, True, -top))
        for x, y in zip(a, b, strict=True)
    ]
    u = [
        (_held(float(x), "rz", 64, False, top), _held(float(y), "rp", 64, False, top))
        for x, y in zip(a, b, strict=True)
    ]
    args = (a, b, np.zeros(2 * N, np.int64), np.zeros(2 * N, np.uint64), N)
    expected = (np.array(s, np.int64).reshape(-1), np.array(u, np.uint64).reshape(-1))
    return case("convert.cu", "to_long", args), (SAME, SAME, *expected)


@entry("convert.to_small")
def _to_small() -> Any:
    a, b = _edges(23, np.float32), np.random.default_rng(24).integers(-70000, 70000, N).astype(np.int32)
    b[::3] = b[::3] >> 8

    def held(value: int, low: int, high: int) -> int:
        return max(low, min(high, value))

    s = [(_held(float(x), "rn", 8, True), held(int(y), -128, 127)) for x, y in zip(a, b, strict=True)]
    u = [(_held(float(x), "rz", 8, False), held(int(y), 0, 255)) for x, y in zip(a, b, strict=True)]
    h = np.stack((b.astype(np.int16), np.clip(b, -32768, 32767).astype(np.int16)), 1)
    args = (a, b, np.zeros(2 * N, np.int8), np.zeros(2 * N, np.uint8), np.zeros(2 * N, np.int16), N)
    expected = (np.array(s, np.int8).reshape(-1), np.array(u, np.uint8).reshape(-1), h.reshape(-1))
    return case("convert.cu", "to_small", args), (SAME, SAME, *expected)


def _from_integer(values: Array, modes: tuple[str, ...], dtype: Any) -> list[list[float]]:
    return [[nearest(Fraction(int(x)), dtype, m) if x else 0.0 for m in modes] for x in values]


@entry("convert.int_to_float")
def _int_to_float() -> Any:
    a = np.random.default_rng(25).integers(-(2**31), 2**31, N).astype(np.int32)
    a[:8] = [0, 1, -1, 2**31 - 1, -(2**31), 2**24 + 1, -(2**24) - 3, 16777217]
    modes = ("rn", "rz", "rp", "rm")
    rows = np.hstack((_from_integer(a, modes, np.float32), _from_integer(a.view(np.uint32), modes, np.float32)))
    args = (a, np.zeros(8 * N, np.float32), N)
    return case("convert.cu", "int_to_float", args), (SAME, rows.astype(np.float32).reshape(-1))


@entry("convert.long_to_float")
def _long_to_float() -> Any:
    rng = np.random.default_rng(26)
    a = rng.integers(-(2**63), 2**63, N) >> rng.integers(0, 60, N)
    a[:8] = [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, 2**62 + 2**38, 2**24 + 1]
    modes = ("rn", "rz", "rp", "rm")
    u = a.view(np.uint64)
    rows = np.hstack((_from_integer(a, modes, np.float32), _from_integer(u, modes, np.float32)))
    wide = np.hstack(
        (
            _from_integer(a, ("rn", "rz", "rp"), np.float64),
            _from_integer(u, ("rn", "rm"), np.float64),
            a.astype(np.int32).astype(np.float64)[:, None],
        )
    )
    args = (a, np.zeros(8 * N, np.float32), np.zeros(6 * N), N)
    return case("convert.cu", "long_to_float", args), (SAME, rows.astype(np.float32).reshape(-1), wide.reshape(-1))


@entry("convert.double_to_float")
def _double_to_float() -> Any:
    a = numbers(27, np.float64)
    a[100:200] = np.random.default_rng(28).standard_normal(100) * 10.0 ** np.random.default_rng(29).integers(
        -46, 40, 100
    )
    columns = [rounded(lambda x: x, lambda x: x, np.float32, m, a) for m in ("rn", *MODES)]
    args = (a, np.zeros(4 * N, np.float32), N)
    return case("convert.cu", "double_to_float", args), (SAME, np.stack(columns, 1).reshape(-1))


@entry("convert.halves")
def _halves() -> Any:
    rng = np.random.default_rng(30)
    a, b = ((rng.standard_normal(N) * 10.0 ** rng.integers(-7, 5, N)).astype(np.float32) for _ in range(2))
    a[:12], b[:12] = SPECIAL, SPECIAL[::-1]
    a[12:16], b[12:16] = [-0.0, 65519.0, 65520.0, 2.0**-25], [5.0, 1.0, 1.0, 1.0]
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float16), b.astype(np.float16)
        once = rounded(lambda p, q: p * q + p, lambda p, q: fused(p, q, p), np.float16, "rn", x, y)
        columns = np.stack((x, x + y, x * y, once), 1).reshape(-1)
    nothing = np.isnan(columns)
    expected = np.where(nothing, np.uint16(0), columns.view(np.uint16))
    args = (a, b, np.zeros(4 * N, np.uint16), np.zeros(N, np.float32), N)
    keep = [k for k in range(N) if not nothing[4 * k : 4 * k + 4].any()]
    kept = [np.ascontiguousarray(v[keep]) for v in (a, b)]
    args = (*kept, np.zeros(4 * len(keep), np.uint16), np.zeros(len(keep), np.float32), len(keep))
    expected = expected.reshape(-1, 4)[keep].reshape(-1)
    return case("convert.cu", "halves", args), (SAME, SAME, expected, x.astype(np.float32)[keep])


@entry("convert.half_pairs")
def _half_pairs() -> Any:
    rng = np.random.default_rng(31)
    a, b, c = ((rng.standard_normal(2 * N) * 10.0 ** rng.integers(-5, 3, 2 * N)).astype(np.float16) for _ in range(3))
    c[::5] = a[::5]
    with np.errstate(all="ignore"):
        once = rounded(lambda x, y, z: x * y + z, fused, np.float16, "rn", a, b, c)
        columns = [v.view(np.uint32) for v in (a + b, a * b, once, a - c, (a < b).astype(np.float16))]
    columns.append(((a == c) * np.uint16(0x3F80)).view(np.uint32))  # 1 as bfloat16; equal bits are equal numbers
    args = (*(v.view(np.uint32) for v in (a, b, c)), np.zeros(6 * N, np.uint32), N)
    return case("convert.cu", "half_pairs", args), (SAME, SAME, SAME, np.stack(columns, 1).reshape(-1))


@entry("convert.flushed")
def _flushed() -> Any:
    least = np.finfo(np.float32).tiny
    a = np.tile(np.array([1e-40, 1e-45, least * 0.999, least, 0.5, 0.0, 2.25], np.float32), 2)
    a[7:] *= -1
    wide = np.where(np.abs(a) < least, np.copysign(0.0, a), a.astype(np.float64))
    ends = np.stack((np.floor(wide), np.ceil(wide)), 1).astype(np.int32).reshape(-1)
    made = np.zeros(14), np.zeros(14, np.float32), np.zeros(28, np.int32)
    return case("convert.cu", "flushed", (a, *made, 14)), (SAME, wide, np.ceil(wide).astype(np.float32), ends)
