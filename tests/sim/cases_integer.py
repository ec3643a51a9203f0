"""Integers: arithmetic of all widths, bits, bytes, conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.sim.oracle import Array, signed, table, towards_zero, unsigned
from tests.sim.table import SAME, case, entry

N = 400


def _numbers(seed: int, dtype: Any, nonzero: bool = False) -> Array:
    """Numbers of all magnitudes, the extremes among them."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    full = rng.integers(limits.min, limits.max, N, dtype=dtype, endpoint=True)
    full = full >> rng.integers(0, limits.bits, N).astype(dtype)
    full[:6] = [limits.min, limits.max, 1, 2, 3, limits.max]
    return np.where(full == 0, full.dtype.type(5), full) if nonzero else full


def _arithmetic(kind: str) -> None:
    dtype = np.dtype(kind)
    bits = 8 * dtype.itemsize
    width = max(bits, 32)  # C computes narrow numbers as int

    def row(x: int, y: int, by: int) -> tuple[int, ...]:
        quotient, rest = towards_zero(x, y)
        return (
            *(x + y, x - y, x * y, quotient, rest, min(x, y), max(x, y), x & y, x | y, x ^ y, ~x),
            *(x >> by, x << by, x * y + signed(x + y, bits) if kind[0] == "i" else x * y + x + y),
        )

    name = f"arithmetic_{'s' if kind[0] == 'i' else 'u'}{bits}"

    @entry(f"integer.{name}")
    def build() -> Any:
        a, b = _numbers(bits, dtype), _numbers(bits + 1, dtype, nonzero=True)
        if kind[0] == "i":
            b[b == -1] = 9  # the quotient of the lowest number and −1 is nowhere defined
        by = np.random.default_rng(3).integers(0, min(bits, width - 1), N).astype(np.int32)
        args = (a, b, by, np.zeros(14 * N, dtype), N)
        return case("integer.cu", name, args), (SAME, SAME, SAME, table(row, dtype, a, b, by))


for _kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"):
    _arithmetic(_kind)


@entry("integer.high_products")
def _high_products() -> Any:
    a, b = _numbers(1, np.int32), _numbers(2, np.int32)
    a[0] = 7

    def row(x: int, y: int) -> tuple[int, ...]:
        u, v = unsigned(x, 32), unsigned(y, 32)
        low = signed(x, 24) * signed(y, 24), unsigned(x, 24) * unsigned(y, 24)
        return x * y >> 32, u * v >> 32, *low, abs(x - y) + 5, abs(u - v) + 7, x + y >> 1, abs(x)

    args = (a, b, np.zeros(8 * N, np.uint32), N)
    return case("integer.cu", "high_products", args), (SAME, SAME, table(row, np.uint32, a, b))


@entry("integer.products_128")
def _products_128() -> Any:
    a, b = _numbers(4, np.uint64), _numbers(5, np.uint64)
    b[6:9] = 2**64 - 1
    a[7:9] = 2**63

    def row(x: int, y: int) -> tuple[int, ...]:
        return x * y, x * y >> 64, signed(x, 64) * signed(y, 64) >> 64

    args = (a, b, np.zeros(3 * N, np.uint64), N)
    return case("integer.cu", "products_128", args), (SAME, SAME, table(row, np.uint64, a, b))


@entry("integer.known_divisors")
def _known_divisors() -> Any:
    a = _numbers(6, np.int32)

    def row(x: int) -> tuple[int, ...]:
        u = unsigned(x, 32)
        return (
            *(towards_zero(x, 3)[0], towards_zero(x, 10)[1], towards_zero(x, -7)[0]),
            *(u // 641, u % 1000, towards_zero(x, 16)[0]),
        )

    return case("integer.cu", "known_divisors", (a, np.zeros(6 * N, np.int32), N)), (SAME, table(row, np.int32, a))


@entry("integer.comparisons")
def _comparisons() -> Any:
    a, b = _numbers(7, np.int32), _numbers(8, np.int32)
    b[::5] = a[::5]

    def row(x: int, y: int) -> tuple[int]:
        u, v = unsigned(x, 32), unsigned(y, 32)
        flags = (x < y, x <= y, x > y, x >= y, x == y, x != y, u < v, u <= v, u > v, u >= v)
        flags = (*flags, x < 0 and v > 7, x < 0 or v > 7)
        return (sum(1 << place for place, flag in enumerate(flags) if flag),)

    args = (a, b, np.zeros(N, np.uint32), N)
    return case("integer.cu", "comparisons", args), (SAME, SAME, table(row, np.uint32, a, b))


# Bits


def _reversed(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


@entry("bits.counts")
def _counts() -> Any:
    a, b = _numbers(1, np.uint32), _numbers(2, np.uint64)
    a[10] = b[11] = 0

    def first(v: int) -> int:
        return (v & -v).bit_length()

    def words(x: int, y: int) -> tuple[int, ...]:
        pair = (64 - y.bit_length()) << 16 | y.bit_count() << 8 | first(y)
        return 32 - x.bit_length(), x.bit_count(), _reversed(x, 32), first(x), pair, (x | 1).bit_length() - 1

    args = (a, b, np.zeros(6 * N, np.uint32), np.zeros(N, np.uint64), N)
    longs = table(lambda y: (_reversed(y, 64),), np.uint64, b)
    return case("bits.cu", "counts", args), (SAME, SAME, table(words, np.uint32, a, b), longs)


@entry("bits.funnels")
def _funnels() -> Any:
    a, b = _numbers(3, np.uint32), _numbers(4, np.uint32)
    by = np.random.default_rng(5).integers(0, 80, N).astype(np.uint32)

    def row(low: int, high: int, n: int) -> tuple[int, ...]:
        whole, wrap, clamp = high << 32 | low, n % 32, min(n, 32)
        return (
            *(whole << wrap >> 32, whole >> wrap, whole << clamp >> 32, whole >> clamp),
            *(low << 7 | low >> 25, low << n if n < 32 else 0),
        )

    args = (a, b, by, np.zeros(6 * N, np.uint32), N)
    return case("bits.cu", "funnels", args), (SAME, SAME, SAME, table(row, np.uint32, a, b, by))


@entry("bits.far_shifts")
def _far_shifts() -> Any:
    a = _numbers(6, np.int32)
    by = np.random.default_rng(7).integers(0, 300, N).astype(np.uint32)
    by[:4] = [0, 31, 32, 2**32 - 1]

    def small(x: int, n: int) -> tuple[int, ...]:
        return x >> min(n, 31), unsigned(x, 32) >> n if n < 32 else 0

    def wide(x: int, n: int) -> tuple[int, ...]:
        return (x << 13) >> min(n, 63), (x << 13) << n if n < 64 else 0

    args = (a, by, np.zeros(2 * N, np.int32), np.zeros(2 * N, np.int64), N)
    return case("bits.cu", "far_shifts", args), (
        SAME,
        SAME,
        table(small, np.int32, a, by),
        table(wide, np.int64, a, by),
    )


@entry("bits.fields")
def _fields() -> Any:
    rng = np.random.default_rng(8)
    a, b = _numbers(9, np.uint32), _numbers(10, np.uint32)
    start, length = (rng.integers(0, high, N).astype(np.uint32) for high in (40, 36))
    a[3] = 0

    def row(x: int, y: int, s: int, n: int) -> tuple[int, ...]:
        field = x >> s & ((1 << n) - 1)
        sign = x >> min(s + n - 1, 31) & 1 if n else 0
        extended = field | (-1 << min(n, max(32 - s, 0)) if sign else 0)
        mask = unsigned(((1 << n) - 1) << s, 32)
        inserted = y & ~mask | x << s & mask
        top = x.bit_length() - 1
        other = (~x & 0xFFFFFFFF if x >> 31 else x).bit_length() - 1
        shift = 31 - top if x else -1
        return field, extended, inserted, top, other, shift, x >> 5 & 0x3FF | (y & 0xFF) << 20

    args = (a, b, start, length, np.zeros(7 * N, np.uint32), N)
    return case("bits.cu", "fields", args), (*[SAME] * 4, table(row, np.uint32, a, b, start, length))


def _lanes(x: int, bits: int, is_signed: bool = False) -> list[int]:
    parts = [x >> k & ((1 << bits) - 1) for k in range(0, 32, bits)]
    return [signed(p, bits) for p in parts] if is_signed else parts


def _joined(parts: list[int], bits: int) -> int:
    return sum(unsigned(p, bits) << k * bits for k, p in enumerate(parts))


@entry("bits.bytes")
def _bytes() -> Any:
    rng = np.random.default_rng(11)
    a, b, chosen = (rng.integers(0, 2**32, N, dtype=np.uint32) for _ in range(3))
    b[::3] = a[::3]

    def permuted(x: int, y: int, selector: int) -> int:
        eight = _lanes(x, 8) + _lanes(y, 8)
        picked = [eight[selector >> 4 * k & 7] for k in range(4)]
        return _joined([(255 if p & 128 else 0) if selector >> 4 * k & 8 else p for k, p in enumerate(picked)], 8)

    def row(x: int, y: int, selector: int) -> tuple[int, ...]:
        pairs = list(zip(_lanes(x, 8), _lanes(y, 8), strict=True))
        halves = list(zip(_lanes(x, 16), _lanes(y, 16), strict=True))
        signed_halves = zip(_lanes(x, 16, True), _lanes(y, 16, True), strict=True)
        return (
            permuted(x, y, selector & 0x7777),
            permuted(x, y, selector),
            _joined([p + q for p, q in pairs], 8),
            _joined([abs(p - q) for p, q in pairs], 8),
            _joined([max(p, q) for p, q in signed_halves], 16),
            _joined([255 if p > q else 0 for p, q in pairs], 8),
            _joined([min(p + q, 255) for p, q in pairs], 8),
            _joined([min(p, q) for p, q in halves], 16),
        )

    args = (a, b, chosen, np.zeros(8 * N, np.uint32), N)
    return case("bits.cu", "bytes", args), (SAME, SAME, SAME, table(row, np.uint32, a, b, chosen))


@entry("bits.logic")
def _logic() -> Any:
    a, b, c = (_numbers(seed, np.uint32) for seed in (12, 13, 14))

    def row(x: int, y: int, z: int) -> tuple[int, ...]:
        looked_up = sum((0xD9 >> ((x >> k & 1) << 2 | (y >> k & 1) << 1 | z >> k & 1) & 1) << k for k in range(32))
        return (x & y) ^ (~z | x), x ^ y ^ z, x & y | y & z | x & z, ~(x | y) & z, looked_up

    args = (a, b, c, np.zeros(5 * N, np.uint32), N)
    return case("bits.cu", "logic", args), (SAME, SAME, SAME, table(row, np.uint32, a, b, c))


@entry("bits.dots")
def _dots() -> Any:
    a, b, c = (np.random.default_rng(s).integers(-(2**31), 2**31, N, dtype=np.int32) for s in (15, 16, 17))

    def dot(x: list[int], y: list[int], z: int) -> int:
        return z + sum(p * q for p, q in zip(x, y, strict=True))

    def row(x: int, y: int, z: int) -> tuple[int, ...]:
        u, v = unsigned(x, 32), unsigned(y, 32)
        s8, t8, s16 = _lanes(u, 8, True), _lanes(v, 8, True), _lanes(u, 16, True)
        return (
            dot(s8, t8, z),
            dot(_lanes(u, 8), _lanes(v, 8), z),
            dot(s16, t8[:2], z),
            dot(s16, t8[2:], z),
            dot(_lanes(u, 8), t8, z),
            max(-(2**31), min(2**31 - 1, x + y)),
            signed(z << 16 | cut(x >> 22, 0, 255) << 8 | cut(y >> 22, 0, 255), 32),
            signed(cut(x >> 14, -(2**15), 2**15 - 1) << 16 | cut(y >> 14, -(2**15), 2**15 - 1) & 0xFFFF, 32),
        )

    def cut(number: int, low: int, high: int) -> int:
        return max(low, min(high, number))

    args = (a, b, c, np.zeros(8 * N, np.int32), N)
    return case("bits.cu", "dots", args), (SAME, SAME, SAME, table(row, np.int32, a, b, c))


@entry("integer.wide")
def _wide() -> Any:
    a = _numbers(18, np.uint64)
    low, whole = (1 << 64) - 1, (1 << 128) - 1

    def row(v: int, other: int) -> tuple[int, ...]:
        x = v * v + (v << 70) - other & whole
        y = towards_zero(-v * 5, 3)[0] & whole
        q, r = divmod(x, other + 1)
        return x & low, x >> 64, y & low, y >> 64, q & low, q >> 64, r & low, int(x > other << 60)

    args = (a, np.zeros(8 * N, np.uint64), N)
    return case("wide.cu", "wide", args), (SAME, table(row, np.uint64, a, a[::-1]))
