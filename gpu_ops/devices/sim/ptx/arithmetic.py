"""The operations of PTX that are more than one NumPy operator, bit-exact wherever hardware is.

Arrays broadcast; results have the dtype of the instruction. The caller silences NumPy's warnings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

i1, i2, i4, i8 = np.int8, np.int16, np.int32, np.int64
u1, u2, u4, u8 = np.uint8, np.uint16, np.uint32, np.uint64
f2, f4, f8 = np.float16, np.float32, np.float64
UNSIGNED = {1: u1, 2: u2, 4: u4, 8: u8}
NO = np.zeros((1, 1), np.bool_)
SIGNED = {1: i1, 2: i2, 4: i4, 8: i8}

# Integers


def shl(a: Array, by: Array) -> Array:
    """a << by, zero from the width on."""
    width = a.dtype.itemsize * 8
    return np.where(by < width, a << np.minimum(by, width - 1).astype(a.dtype), a.dtype.type(0))


def shr(a: Array, by: Array) -> Array:
    """a >> by; from the width on zero, or the sign of a signed number."""
    width = a.dtype.itemsize * 8
    result = a >> np.minimum(by, width - 1).astype(a.dtype)
    return result if a.dtype.kind == "i" else np.where(by < width, result, a.dtype.type(0))


def divide(a: Array, b: Array) -> Array:
    """The quotient, rounded towards zero; if b is zero, all bits are set, as on hardware."""
    zero = b == 0
    if not zero.any():
        return _quotient(a, b)
    return np.where(zero, np.array(-1).astype(a.dtype), _quotient(a, np.where(zero, b.dtype.type(1), b)))


def _quotient(a: Array, b: Array) -> Array:
    if a.dtype.kind == "u":
        return a // b
    floor = a // b
    if a.min() >= 0 and b.min() >= 0:
        return floor
    return floor + ((floor * b != a) & ((a < 0) != (b < 0)))


def remainder(a: Array, b: Array) -> Array:
    """a − quotient · b; a if b is zero."""
    return np.where(b == 0, a, a - divide(a, b) * b)


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the product."""
    if a.dtype.itemsize < 8:
        wide = SIGNED[a.dtype.itemsize * 2] if a.dtype.kind == "i" else UNSIGNED[a.dtype.itemsize * 2]
        return ((a.astype(wide) * b.astype(wide)) >> wide(a.dtype.itemsize * 8)).astype(a.dtype)
    x, y = a.view(u8), b.view(u8)
    half, low = u8(32), u8(0xFFFFFFFF)
    xl, xh, yl, yh = x & low, x >> half, y & low, y >> half
    middle = xh * yl + ((xl * yl) >> half)
    cross = xl * yh + (middle & low)
    high = xh * yh + (middle >> half) + (cross >> half)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, u8(0)) - np.where(b < 0, x, u8(0))
    return high.view(a.dtype)


def multiply_24(a: Array, b: Array) -> Array:
    """The product of the lower 24 bits, signed or not."""
    shift = a.dtype.type(8)
    return ((a << shift) >> shift) * ((b << shift) >> shift)


def saturating_add(a: Array, b: Array, sign: int = 1) -> Array:
    """a ± b within the limits of int32."""
    return np.clip(a.astype(i8) + sign * b.astype(i8), -(2**31), 2**31 - 1).astype(i4)


def population(a: Array) -> Array:
    """The number of set bits, as int32."""
    return np.bitwise_count(a.view(UNSIGNED[a.dtype.itemsize])).astype(i4)


def reverse_bits(a: Array) -> Array:
    """Bit 0 becomes the highest."""
    table = np.array([int(f"{n:08b}"[::-1], 2) for n in range(256)], u1)
    swapped = np.ascontiguousarray(a).byteswap()
    return table[swapped.view(u1)].view(a.dtype).reshape(a.shape)


def leading_zeros(a: Array) -> Array:
    """The number of zeros above the highest set bit, as int32."""
    return (a.dtype.itemsize * 8 - 1 - highest_bit(a.view(UNSIGNED[a.dtype.itemsize]))).astype(i4)


def highest_bit(a: Array) -> Array:
    """The index of the highest set bit, or for signed numbers of the highest bit that differs from the sign; −1 if
    there is none."""
    bits = (a ^ (a >> a.dtype.type(a.dtype.itemsize * 8 - 1))) if a.dtype.kind == "i" else a
    bits = bits.view(UNSIGNED[a.dtype.itemsize])
    place = np.full(bits.shape, -1, i4)
    for step in (32, 16, 8, 4, 2, 1):
        if step >= bits.dtype.itemsize * 8:
            continue
        is_above = bits >= (bits.dtype.type(1) << bits.dtype.type(step))
        place = place + np.where(is_above, step, 0).astype(i4)
        bits = np.where(is_above, bits >> bits.dtype.type(step), bits)
    return place + (bits != 0).astype(i4)


def shift_to_top(a: Array) -> Array:
    """The left shift that brings the highest bit to the top; −1 if there is none."""
    place = highest_bit(a)
    return np.where(place < 0, i4(-1), i4(a.dtype.itemsize * 8 - 1) - place)


def extract_bits(a: Array, start: Array, length: Array) -> Array:
    """`length` bits from `start` on; a signed field is extended by its highest bit."""
    width = a.dtype.itemsize * 8
    start, length = (start & 255).astype(i8), (length & 255).astype(i8)
    bits = a.view(UNSIGNED[a.dtype.itemsize]).astype(u8)
    field = np.where(start < width, bits >> np.minimum(start, 63).astype(u8), u8(0))
    mask = np.where(length >= 64, ~u8(0), (u8(1) << np.minimum(length, 63).astype(u8)) - u8(1))
    field = field & mask
    if a.dtype.kind == "i":
        top = np.minimum(start + length - 1, width - 1)
        sign = (bits >> np.maximum(top, 0).astype(u8)) & u8(1)
        inside = np.where(start + length > width, np.maximum(width - start, 0), length)
        above = ~np.where(inside >= 64, ~u8(0), (u8(1) << np.minimum(inside, 63).astype(u8)) - u8(1))
        field = np.where((sign == 1) & (length > 0), field | above, field)
    return field.astype(UNSIGNED[a.dtype.itemsize]).view(a.dtype)


def insert_bits(field: Array, target: Array, start: Array, length: Array) -> Array:
    """`target` with the lowest bits of `field` in place of its `length` bits from `start` on."""
    kind: Any = UNSIGNED[target.dtype.itemsize]
    width = target.dtype.itemsize * 8
    start, length = (start & 255).astype(i8), (length & 255).astype(i8)
    ones = np.where(length >= width, ~kind(0), (kind(1) << np.minimum(length, width - 1).astype(kind)) - kind(1))
    by = np.minimum(start, width - 1).astype(kind)
    mask = np.where(start < width, ones.astype(kind) << by, kind(0)).astype(kind)
    shifted = field.view(kind) << by
    return ((target.view(kind) & ~mask) | (shifted & mask)).view(target.dtype)


def funnel(low: Array, high: Array, by: Array, right: bool, wrap: bool) -> Array:
    """32 bits of high:low shifted by `by`, which wraps at 32 or is clamped to it."""
    whole = (high.view(u4).astype(u8) << u8(32)) | low.view(u4)
    by = by.view(u4)
    amount = (by & u4(31) if wrap else np.minimum(by, u4(32))).astype(u8)
    shifted = whole >> amount if right else (whole << amount) >> u8(32)
    return shifted.astype(u4).view(i4)


def permute_bytes(a: Array, b: Array, selector: Array) -> Array:
    """Four of the eight bytes of b:a, which the nibbles of the selector choose; bit 3 replicates the sign."""
    whole = (b.view(u4).astype(u8) << u8(32)) | a.view(u4)
    if selector.size == 1:  # as in nearly all code: four contiguous bytes of the eight
        nibbles = [int(selector.reshape(-1)[0]) >> 4 * place & 15 for place in range(4)]
        eight = np.ascontiguousarray(whole).view(u1).reshape(*whole.shape, 8)
        chosen = np.take(eight, [nibble & 7 for nibble in nibbles], axis=-1)
        for place in (place for place, nibble in enumerate(nibbles) if nibble & 8):
            chosen[..., place] = np.where(chosen[..., place] & 128, 255, 0)
        return chosen.view(i4)[..., 0]
    selector = selector.view(u4).astype(u8)
    result = np.zeros(np.broadcast_shapes(whole.shape, selector.shape), u8)
    for place in range(4):
        nibble = (selector >> u8(4 * place)) & u8(15)
        byte = (whole >> ((nibble & u8(7)) * u8(8))) & u8(255)
        byte = np.where(nibble & u8(8), np.where(byte & u8(128), u8(255), u8(0)), byte)
        result = result | (byte << u8(8 * place))
    return result.astype(u4).view(i4)


def logic3(a: Array, b: Array, c: Array, table: int) -> Array:
    """Any logical function of three, by its truth table."""
    result: Array = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), a.dtype)
    for place in range(8):
        if table >> place & 1:
            result = result | ((a if place & 4 else ~a) & (b if place & 2 else ~b) & (c if place & 1 else ~c))
    return result


def dot_bytes(a: Array, b: Array, c: Array, signed: tuple[bool, bool], parts: tuple[int, int] = (8, 8)) -> Array:
    """c plus the products of the four (or two) parts of a with bytes of b."""
    total: Array = c.astype(i8)
    for place in range(32 // parts[0]):
        left = _part(a, place, parts[0], signed[0])
        right = _part(b, place, parts[1], signed[1])
        total = total + left * right
    return total.astype(u8).astype(u4).view(c.dtype)


def _part(a: Array, place: int, bits: int, signed: bool) -> Array:
    value = (a.view(u4) >> u4(place * bits)).astype(UNSIGNED[bits // 8])
    return (value.view(SIGNED[bits // 8]) if signed else value).astype(i8)


def absolute_differences(a: Array, b: Array, signed: tuple[bool, bool]) -> Array:
    """The absolute difference of each of the four bytes, packed into one word."""
    parts = [np.abs(_part(a, place, 8, signed[0]) - _part(b, place, 8, signed[1])).astype(u1) for place in range(4)]
    return pack(i4, *parts)


def sum_of_differences(a: Array, b: Array, c: Array, signed: tuple[bool, bool]) -> Array:
    """c plus the absolute differences of the four bytes."""
    total: Array = c.astype(i8)
    for place in range(4):
        total = total + np.abs(_part(a, place, 8, signed[0]) - _part(b, place, 8, signed[1]))
    return total.astype(u8).astype(u4).view(c.dtype)


def carry(a: Array, b: Array, more: Array) -> Array:
    """Whether a + b + more, all unsigned, overflows the width."""
    total = a + b
    return (total < a) | (more & (total == ~a.dtype.type(0)))


def borrow(a: Array, b: Array, more: Array) -> Array:
    """Whether a − b − more, all unsigned, is below zero."""
    return (a < b) | (more & (a == b))


def pack(dtype: Any, *parts: Array) -> Array:
    """Parts packed in one register, the first in the lowest bits."""
    bits = parts[0].dtype.itemsize * 8
    kind = UNSIGNED[np.dtype(dtype).itemsize]
    result: Array = parts[0].view(UNSIGNED[bits // 8]).astype(kind)
    for place, part in enumerate(parts[1:], start=1):
        result = result | (part.view(UNSIGNED[bits // 8]).astype(kind) << kind(place * bits))
    return result.view(dtype)


def part(whole: Array, place: int, dtype: Any) -> Array:
    """Part `place` of a register that holds several of `dtype`."""
    size = np.dtype(dtype).itemsize
    kind = whole.dtype.type
    return (whole >> kind(place * size * 8)).astype(UNSIGNED[size]).view(dtype)


# Floating point


def flush(a: Array) -> Array:
    """The numbers, with subnormals replaced by zeros of their sign."""
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def saturate(a: Array) -> Array:
    """The numbers, clamped to +0 … 1; NaN becomes +0."""
    return np.where(a > 0, np.minimum(a, a.dtype.type(1)), a.dtype.type(0))


def to_integer(a: Array, dtype: Any, mode: str) -> Array:
    """A float as an integer: rounded as `mode` says and clamped to the limits. NaN becomes 0, or 1 in the highest bit
    only, if the source is a double or the result has 64 bits."""
    limits = np.iinfo(dtype)
    rounded = round_to_integral(a.astype(f8), mode)
    nothing = np.isnan(rounded)
    inside = np.clip(np.where(nothing, 0.0, rounded), float(limits.min), float(limits.max))
    if limits.bits < 64:
        result = inside.astype(dtype)
    else:
        high = inside >= float(limits.max)
        result = np.where(high, dtype(limits.max), np.where(high, 0, inside).astype(dtype))
    if (limits.bits == 64 or a.dtype == f8) and nothing.any():
        highest = np.array(1 << (limits.bits - 1), f"u{limits.bits // 8}").view(dtype)
        result = np.where(nothing, highest, result)
    return result


def round_to_integral(a: Array, mode: str) -> Array:
    """rni, rzi, rmi, rpi: to the nearest (ties to even), towards zero, down, up."""
    return {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](a)


def convert_saturating(a: Array, dtype: Any) -> Array:
    """Convert between integers, clamped to the limits."""
    limits = np.iinfo(dtype)
    low, high = max(limits.min, np.iinfo(a.dtype).min), min(limits.max, np.iinfo(a.dtype).max)
    return np.clip(a, low, high).astype(dtype)


def in_double(function: Any, a: Array) -> Array:
    """A function of one float32, computed in float64."""
    return function(a.astype(f8)).astype(a.dtype)


def pairs(function: Any, dtype: Any, a: Array, b: Array) -> Array:
    """A function of both 16-bit integers of each 32-bit word."""
    return pack(i4, *(function(part(a, place, dtype), part(b, place, dtype)) for place in (0, 1)))


def half2(function: Any, *words: Array) -> Array:
    """A function on both float16 of each 32-bit word, computed in float64 and rounded once."""
    parts = [[part(w, place, u2).view(f2).astype(f8) for w in words] for place in (0, 1)]
    return pack(i4, *(function(*p).astype(f2).view(u2) for p in parts))


def to_tf32(value: Array) -> Array:
    """Float32 rounded to 10 bits of mantissa, halves away from zero, as its bits."""
    bits = value.view(u4)
    rounded = (bits + u4(0x1000)) & u4(0xFFFFE000)
    return np.asarray(np.where(np.isfinite(value), rounded, bits)).view(i4)


def to_bfloat(value: Array) -> Array:
    """Float32 rounded to bfloat16, halves to even, as its bits."""
    bits = value.view(u4)
    rounded = (bits + u4(0x7FFF) + ((bits >> u4(16)) & u4(1))) >> u4(16)
    return np.asarray(np.where(np.isnan(value), u4(0x7FFF), rounded)).astype(u2)


def from_bfloat(bits: Array) -> Array:
    """Bfloat16, by its bits, as float32."""
    return np.asarray((bits.astype(u4) << u4(16)).view(f4))


def bfloat(function: Any, *values: Array) -> Array:
    """A function of bfloat16, by their bits, computed in float64 and rounded once."""
    exact = function(*(from_bfloat(v).astype(f8) for v in values))
    single = exact.astype(f4)
    between = (single != exact) & ((single.view(u4) & u4(1)) == 0) & ~np.isnan(exact)
    odd = np.nextafter(single, np.where(exact > single, f4(np.inf), f4(-np.inf)))  # so that nothing is rounded twice
    return to_bfloat(np.where(between, odd, single))


def bfloat2(function: Any, *words: Array) -> Array:
    """A function on both bfloat16 of each 32-bit word."""
    return pack(i4, *(bfloat(function, *(part(w, place, u2) for w in words)) for place in (0, 1)))


def limited(function: Any, nan: float, low: float, high: float) -> Any:
    """A function whose results are between two numbers; `nan` replaces what is no number."""
    return lambda *values: np.clip(np.where(np.isnan(x := function(*values)), nan, x), low, high)
