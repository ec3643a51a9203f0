"""The result of an instruction as a sum. Sums, multiples, and what moves whole fields of bits are followed exactly;
any other result is a new value, which depends on all operands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from gpu_ops.devices.sim.ptx.program import SIZES
from gpu_ops.devices.sim.traffic.forms import Form, Values, added

Given = Form | int | None
"""An operand: one that comes from memory, the bits of one that does not, or None where they are not known."""
UNKNOWN = count()
FLOATS = frozenset({"f16", "f32", "f64"})
ROUNDED = frozenset({"rni", "rzi", "rmi", "rpi", "sat"})
SIGN = 1


class Operation:
    """An instruction on given operands. `bits` are those of its operands and of a plain result."""

    def __init__(self, values: Values, op: tuple[str, ...], given: list[Given]) -> None:
        self.values, self.op, self.given = values, op, given
        self.bits = bits_of(op[-1])

    @property
    def signed(self) -> bool:
        return self.op[-1][0] == "s"

    def constant(self, place: int) -> int | None:
        """The value of an operand that is a known constant."""
        one = self.given[place] if place < len(self.given) else None
        return one if isinstance(one, int) else None

    def integer(self, place: int, bits: int = 0) -> Form:
        """An operand as an integer."""
        one, bits = self.given[place], bits or self.bits
        if isinstance(one, Form):
            return self.values.integer(one)
        return Form({}, one % (1 << bits)) if one is not None else self._unknown(bits // 8)

    def real(self, place: int) -> Form:
        """An operand as a float."""
        one = self.given[place]
        return self.values.real(one if isinstance(one, Form) else self.integer(place), self.bits)

    def _unknown(self, parts: int) -> Form:
        return self.values.result(("unknown", next(UNKNOWN)), (), parts)

    def other(self, parts: int, real: int = 0) -> Form:
        """A result that is no sum: an integer of so many bytes, or a float."""
        forms = [self.integer(n, 64) if not isinstance(one, Form) else one for n, one in enumerate(self.given)]
        return self.values.result(self.op, forms, parts, real)


def result(values: Values, op: tuple[str, ...], given: list[Given]) -> Form:
    """The result of an instruction `op`, such as ("add", "s32")."""
    one, kind = Operation(values, op, given), op[0]
    if kind in ("add", "sub", "neg", "mul", "fma", "mad") and op[-1] in FLOATS:
        return _of_floats(one, kind)
    rule = RULES.get(kind)
    found = rule(one) if rule is not None else None
    if found is not None:
        return found
    real = one.bits if op[-1] in FLOATS else 0
    return one.other(0 if real else one.bits // 8, real)


def bits_of(type: str) -> int:
    """The bits of a value of a type, such as "u16"."""
    return 8 * SIZES.get(type, SIZES.get(type[1:], 8))


# Floats


def _of_floats(one: Operation, kind: str) -> Form:
    if kind in ("add", "sub"):
        return added([(one.real(0), 1), (one.real(1), 1 if kind == "add" else -1)], one.bits, True)
    if kind == "neg":
        return added([(one.real(0), -1)], one.bits, True)
    product = _product(one)
    return product if kind == "mul" else added([(product, 1), (one.real(2), 1)], one.bits, True)


def _product(one: Operation) -> Form:
    """A product is a new value, but nothing where a factor is 0."""
    for place in range(2):
        factor = one.constant(place)
        if factor is not None and not factor % (1 << one.bits - SIGN):
            return Form({}, 0, one.bits)
    return one.values.result(("mul", one.bits), (one.real(0), one.real(1)), 0, one.bits)


# Integers


def _sum(one: Operation) -> Form | None:
    sign = -1 if one.op[0] == "sub" else 1
    if one.op[-1][0] not in "usb" or "sat" in one.op or one.op[-1].endswith("x2"):
        return None
    return added([(one.integer(0), 1), (one.integer(1), sign)], one.bits)


def _negative(one: Operation) -> Form | None:
    return added([(one.integer(0), -1)], one.bits)


def _times(one: Operation) -> Form | None:
    """mul and mad of integers, by a constant."""
    wide, high, bits = "wide" in one.op, "hi" in one.op, one.bits
    places = [n for n in range(2) if one.constant(n) is not None]
    if not places or "sat" in one.op:
        return None
    factor = (one.constant(places[0]) or 0) % (1 << bits)
    if one.signed and factor >> bits - 1:
        factor -= 1 << bits
    form = one.integer(1 - places[0])
    if wide or high:
        extended = _extended(one, form, bits, 2 * bits)
        product = added([(extended, factor)], 2 * bits)
        if high:
            product = one.values.field(product, bits, 2 * bits)
        bits = bits if high else 2 * bits
    else:
        product = added([(form, factor)], bits)
    return product if one.op[0][:3] == "mul" else added([(product, 1), (one.integer(2, bits), 1)], bits)


def _extended(one: Operation, form: Form, bits: int, to: int) -> Form:
    """An integer of so many bits as one of more."""
    if not one.signed:
        return one.values.field(form, 0, bits)
    own = one.values.field(form, 0, bits)
    return own if own.within(bits - SIGN) else one.values.result(("sign", bits, to), (own,), to // 8)


def _dot(one: Operation) -> Form | None:
    """dp4a and dp2a: products of fields with constant ones are added."""
    weights = one.constant(1)
    if weights is None or one.op[1][0] == "s":
        return None
    size, fields = (8, 4) if one.op[0] == "dp4a" else (16, 2)
    first = 2 if "hi" in one.op and size == 16 else 0
    parts, form = [(one.integer(2, 32), 1)], one.integer(0, 32)
    for n in range(fields):
        weight = weights >> 8 * (n + first) & 255
        weight -= 256 if one.signed and weight > 127 else 0
        if weight:
            parts.append((one.values.field(form, size * n, size * (n + 1)), weight))
    return added(parts, 32)


# Ranges


def _limited(one: Operation) -> Form | None:
    """min and max with constants: a value clamped to a few bytes has no others."""
    constant = next((n for n in map(one.constant, range(2)) if n is not None), None)
    if constant is None or one.op[-1][0] not in "us" or one.op[-1].endswith("x2") or len(one.op) > 2:
        return None
    (other,) = [one.integer(n) for n in range(2) if one.constant(n) is None] or [one.integer(0)]
    low = high = _signed(constant, one)
    if one.op[0] == "min":
        is_positive = not one.signed or other.within(one.bits - SIGN)
        low = 0 if is_positive else _limit(one, other, "max", -1)
    else:
        high = max(high, _limit(one, other, "min", (1 << one.bits) - 1))
    if low < 0 or high < 0:
        return None
    return one.values.result(one.op, (one.integer(0), one.integer(1)), max(-(-high.bit_length() // 8), 1))


def _limit(one: Operation, form: Form, kind: str, unknown: int) -> int:
    """The constant that a value was compared with by min or max."""
    origin = one.values.origins[min(form.terms)] if form.terms else None
    if origin is not None and origin.key == (kind, one.op[-1]):
        limits = [_signed(operand.constant, one) for operand in origin.operands if not operand.terms]
        if limits and form == one.values.result(origin.key, origin.operands, origin.parts):
            return limits[0]
    return unknown


def _signed(bits: int, one: Operation) -> int:
    """The number that an operand's bits are."""
    bits %= 1 << one.bits
    return bits - (1 << one.bits) if one.signed and bits >> one.bits - SIGN else bits


# Bits


def _same(one: Operation) -> Form | None:
    given = one.given[0]
    return given if isinstance(given, Form) else None


def _select(one: Operation) -> Form | None:
    chosen = one.constant(2)
    if chosen is None:
        return None
    place = 0 if chosen else 1
    given = one.given[place]
    return given if isinstance(given, Form) else one.integer(place)


def _convert(one: Operation) -> Form | None:
    if one.op[1] == "pack":
        return _pack(one)
    target, source = one.op[-2], one.op[-1]
    if target in FLOATS:
        if source in FLOATS and not ROUNDED & set(one.op):
            return one.real(0)._replace(real=bits_of(target))
        form = one.real(0) if source in FLOATS else _extended(one, one.integer(0), one.bits, 64)
        return one.values.result((*one.op[:-1], source in FLOATS), (form,), 0, bits_of(target))
    bits, to = one.bits, bits_of(target)
    if source in FLOATS or source[0] not in "usb" or target[0] not in "usb":
        return one.other(to // 8)
    if "sat" in one.op:
        form = _extended(one, one.integer(0), bits, 64)
        return form if form.within(to - (target[0] == "s")) else one.values.result(one.op, (form,), to // 8)
    return one.integer(0) if to <= bits else _extended(one, one.integer(0), bits, to)


def _pack(one: Operation) -> Form:
    """cvt.pack: the second operand, clamped, then the first; above bytes the third, moved up."""
    bits, parts = bits_of(one.op[3]), []
    for n, place in enumerate((1, 0)):
        clamped = one.values.result((*one.op, "clamped"), (one.integer(place, 32),), bits // 8)
        parts.append((clamped, 1 << bits * n))
    if bits < 16:
        parts.append((one.values.field(one.integer(2, 32), 0, 16), 1 << 16))
    return added(parts, 32)


def _bitwise(one: Operation) -> Form | None:
    """and, or, xor, not, lop3: byte by byte, in which a constant byte can leave the other one alone, or set it."""
    names, parts = one.op[0], []
    forms = [one.integer(n) for n in range(len(one.given) - (names == "lop3"))]
    key = (names, one.given[-1]) if names == "lop3" else (names,)
    for n in range(one.bits // 8):
        parts.append((_byte(one.values, key, [one.values.field(f, 8 * n, 8 * n + 8) for f in forms]), 256**n))
    return added(parts, one.bits)


def _byte(values: Values, key: tuple[Any, ...], fields: list[Form]) -> Form:
    constants = [form.constant for form in fields if not form.terms]
    if key[0] in NEUTRAL and constants:
        alone, fixed = NEUTRAL[key[0]]
        if fixed is not None and fixed in constants:
            return Form({}, fixed)
        if constants[0] == alone:
            return next((form for form in fields if form.terms), fields[0])
    return values.result((*key, "byte"), fields, 1)


NEUTRAL: dict[str, tuple[int, int | None]] = {"and": (255, 0), "or": (0, 255), "xor": (0, None)}


def _up(one: Operation) -> Form | None:
    by = one.constant(1)
    return None if by is None else added([(one.integer(0), 1 << min(by, one.bits))], one.bits)


def _down(one: Operation) -> Form | None:
    by = one.constant(1)
    if by is None:
        return None
    form = one.integer(0)
    if one.signed and not one.values.field(form, 0, one.bits).within(one.bits - SIGN):
        return None
    return Form({}, 0) if by >= one.bits else one.values.field(form, by, one.bits)


def _funnel(one: Operation) -> Form | None:
    """shf.l and shf.r: 32 bits of the second operand above the first."""
    by = one.constant(2)
    if by is None:
        return None
    amount = by & 31 if "wrap" in one.op else min(by, 32)
    low, high = (one.values.field(one.integer(n, 32), 0, 32) for n in range(2))
    first = amount if one.op[1] == "r" else 32 - amount
    return one.values.field(added([(low, 1), (high, 1 << 32)], 64), first, first + 32)


def _extract(one: Operation) -> Form | None:
    first, number = one.constant(1), one.constant(2)
    if first is None or number is None or one.signed:
        return None
    last = min((first & 255) + (number & 255), one.bits)
    return one.values.field(one.integer(0), first & 255, last) if last > first & 255 else Form({}, 0)


def _insert(one: Operation) -> Form | None:
    first, number = one.constant(2), one.constant(3)
    if first is None or number is None:
        return None
    first &= 255
    last, field, form = min(first + (number & 255), one.bits), one.values.field, one.integer(1)
    if last <= first:
        return form
    parts = [(field(one.integer(0), 0, last - first), 1 << first)]
    parts += [(field(form, 0, first), 1)] if first else []
    parts += [(field(form, last, one.bits), 1 << last)] if last < one.bits else []
    return added(parts, one.bits)


def _permute(one: Operation) -> Form | None:
    """prmt: each byte of the result is one of the eight of both operands, or their sign."""
    choice = one.constant(2)
    if choice is None or len(one.op) > 2:
        return None
    parts = [(Form({}, 0), 1)]
    for n in range(4):
        chosen = choice >> 4 * n & 15
        place = chosen & 3
        byte = one.values.field(one.integer(chosen >> 2 & 1, 32), 8 * place, 8 * place + 8)
        if chosen & 8:
            byte = one.values.result(("sign", "byte"), (byte,), 1)
        parts.append((byte, 256**n))
    return added(parts, 32)


BITWISE = frozenset({"and", "or", "xor", "not", "lop3"})
RULES: dict[str, Callable[[Operation], Form | None]] = {
    "mov": _same,
    "cvta": _same,
    "selp": _select,
    "cvt": _convert,
    "add": _sum,
    "sub": _sum,
    "neg": _negative,
    "mul": _times,
    "mad": _times,
    "min": _limited,
    "max": _limited,
    "shl": _up,
    "shr": _down,
    "shf": _funnel,
    "bfe": _extract,
    "bfi": _insert,
    "prmt": _permute,
    "dp4a": _dot,
    "dp2a": _dot,
    **dict.fromkeys(BITWISE, _bitwise),
}
