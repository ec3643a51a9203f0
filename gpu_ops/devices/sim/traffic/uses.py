"""How the operands of an instruction go into its result: added, subtracted or otherwise, and which of their bits matter
for given bits of the result. Where other operands, such as a mask or a shift, are known, they say it exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.ptx.program import SIZES, Instruction, Operand

Use = Literal["plus", "minus", "any"]
Needs = Callable[[int, int], int]
"""The bits of an operand that given bits of the result need, in a lane."""
Known = int | Array | None
"""The bits of an operand as an unsigned number, or one for each lane; None where it is not known."""
ALL, WORD = (1 << 64) - 1, (1 << 32) - 1
FIELD = 16
"""Sums of whole fields of so many bits in one register do not mix while no carry crosses from one to the next."""


class Part(NamedTuple):
    """An operand by its place after the result."""

    place: int
    use: Use
    needs: Needs


class Operands(NamedTuple):
    """The operands after the result: whether each comes from memory in any lane, and what is known of its value."""

    places: tuple[Operand, ...]
    followed: tuple[bool, ...]
    known: Callable[[int], Known]

    def constant(self, place: int) -> Known:
        """The value of an operand that does not come from memory."""
        return None if place >= len(self.places) or self.followed[place] else self.known(place)


def everything(bits: int, lane: int) -> int:
    """All bits, if any is needed."""
    return ALL if bits else 0


def same(bits: int, lane: int) -> int:
    """The same bits."""
    return bits


def carried(bits: int, lane: int) -> int:
    """The same bits and all below, from which a carry can come."""
    return (1 << bits.bit_length()) - 1


def shifted(up: int, bits: int = ALL) -> Needs:
    """The operand is moved `up` bits in the result, where it has only `bits`."""
    return lambda need, lane: moved(need & bits, up)


def moved(need: int, up: int) -> int:
    """The bits of an operand that is moved `up` bits in the result."""
    return need >> up if up >= 0 else need << -up & ALL


def value(known: Known, lane: int) -> int:
    """A known value in a lane."""
    assert known is not None
    return known if isinstance(known, int) else int(known[lane])


def uses(line: Instruction, operands: Operands) -> list[Part]:
    """The operands that go into the result of an instruction; others are addresses, predicates or constants."""
    kind = line.op[0]
    special = SPECIAL.get(kind)
    found = special(line, operands) if special is not None else None
    if found is not None:
        return found
    plain = PLAIN.get(kind, ())
    factors = {0: 1, 1: 0} if kind in PRODUCTS else {}
    needs = [
        unless_zero(operands.known(factors[n])) if n in factors else everything for n in range(len(operands.places))
    ]
    return [Part(n, plain[n] if n < len(plain) else "any", need) for n, need in enumerate(needs)]


def unless_zero(other: Known) -> Needs:
    """A factor: all of it, but nothing where the other one is known to be 0."""
    if other is None:
        return everything
    return lambda need, lane: everything(need, lane) if value(other, lane) else 0


PRODUCTS = frozenset({"mul", "mul24", "fma", "mad", "mad24"})
PLAIN: dict[str, tuple[Use, ...]] = {
    "add": ("plus", "plus"),
    "sub": ("plus", "minus"),
    "neg": ("minus",),
    "fma": ("any", "any", "plus"),
    "mad": ("any", "any", "plus"),
}


def _width(line: Instruction) -> int:
    return 8 * SIZES.get(line.op[-1][1:], 8)


def _move(line: Instruction, operands: Operands) -> list[Part]:
    return [Part(0, "plus", same)]


def _select(line: Instruction, operands: Operands) -> list[Part]:
    """selp: one of two, by a predicate."""
    chosen = operands.constant(2)
    if chosen is None:
        return [Part(0, "plus", same), Part(1, "plus", same)]
    return [
        Part(0, "plus", lambda need, lane: need if value(chosen, lane) else 0),
        Part(1, "plus", lambda need, lane: 0 if value(chosen, lane) else need),
    ]


def _convert(line: Instruction, operands: Operands) -> list[Part]:
    """Between integers, the low bits; with the sign, the highest of them too."""
    source, target = line.op[-1], line.op[-2]
    if line.op[1] == "pack":
        return _pack(line)
    if "f" in source[0] + target[0] or "sat" in line.op:
        return [Part(0, "plus", everything)]
    bits = (1 << 8 * SIZES[source[1:]]) - 1
    top = (bits + 1) >> 1 if source[0] == "s" else 0
    return [Part(0, "plus", lambda need, lane: need & bits | (top if need & ~bits else 0))]


def _pack(line: Instruction) -> list[Part]:
    """cvt.pack: the second operand, clamped, then the first; above bytes the third, moved up."""
    size = 8 * SIZES[line.op[3][1:]]
    field = (1 << size) - 1
    parts = [
        Part(1, "any", lambda need, lane: ALL if need & field else 0),
        Part(0, "any", lambda need, lane: ALL if need >> size & field else 0),
    ]
    return [*parts, Part(2, "any", shifted(2 * size, WORD))] if size < 16 else parts


def _sum(line: Instruction, operands: Operands) -> list[Part] | None:
    """add and sub of integers."""
    if line.op[-1][0] not in "usb":
        return None
    one, other = operands.known(0), operands.known(1)
    subtracted = line.op[0] == "sub"

    def needs(need: int, lane: int) -> int:
        low = (need & -need).bit_length() - 1
        below = (1 << low // FIELD * FIELD) - 1
        if below > 0 and one is not None and other is not None:
            a, b = value(one, lane) & below, value(other, lane) & below
            if a >= b if subtracted else a + b <= below:
                return carried(need, lane) & ~below
        return carried(need, lane)

    return [Part(0, "plus", needs), Part(1, "minus" if subtracted else "plus", needs)]


def _and(line: Instruction, operands: Operands) -> list[Part]:
    """A mask that takes nothing away leaves the value as it is."""
    found = []
    for place, other in ((0, 1), (1, 0)):
        mask, own = operands.constant(other), operands.known(place)
        if mask is None:
            found.append(Part(place, "any", same))
            continue
        whole = own is not None and not np.any(np.asarray(own, np.uint64) & ~np.asarray(mask, np.uint64))
        use: Use = "plus" if whole else "any"
        found.append(Part(place, use, lambda need, lane, mask=mask: need & value(mask, lane)))  # type: ignore[misc]
    return found


def _bitwise(line: Instruction, operands: Operands) -> list[Part]:
    return [Part(p, "any", same) for p in range(len(operands.places))]


def _shift(line: Instruction, operands: Operands) -> list[Part] | None:
    by, bits = operands.constant(1), _width(line)
    if by is None or line.op[-1][0] == "s":
        return None
    width, sign = (1 << bits) - 1, 1 if line.op[0] == "shl" else -1
    return [Part(0, "any", lambda need, lane: moved(need & width, sign * min(value(by, lane), bits)) & width)]


def _funnel(line: Instruction, operands: Operands) -> list[Part] | None:
    """shf.l and shf.r: 32 bits of the second operand above the first."""
    by, wraps = operands.constant(2), "wrap" in line.op
    if by is None:
        return None

    def needs(need: int, lane: int, place: int) -> int:
        amount = value(by, lane) & 31 if wraps else min(value(by, lane), 32)
        down = amount if line.op[1] == "r" else 32 - amount
        return (need & WORD) << down >> 32 * place & WORD

    return [Part(n, "any", lambda need, lane, n=n: needs(need, lane, n)) for n in range(2)]  # type: ignore[misc]


def _extract(line: Instruction, operands: Operands) -> list[Part] | None:
    first, count = operands.constant(1), operands.constant(2)
    if first is None or count is None or line.op[-1][0] == "s":
        return None
    return [Part(0, "any", lambda need, lane: (need & ((1 << value(count, lane)) - 1)) << value(first, lane))]


def _insert(line: Instruction, operands: Operands) -> list[Part] | None:
    first, count = operands.constant(2), operands.constant(3)
    if first is None or count is None:
        return None

    def field(lane: int) -> int:
        return (1 << value(count, lane)) - 1

    return [
        Part(0, "any", lambda need, lane: need >> value(first, lane) & field(lane)),
        Part(1, "any", lambda need, lane: need & ~(field(lane) << value(first, lane))),
    ]


def _permute(line: Instruction, operands: Operands) -> list[Part] | None:
    """prmt: each byte of the result is one of the eight of both operands."""
    choice = operands.constant(2)
    if choice is None or len(line.op) > 2:
        return None

    def needs(need: int, lane: int, place: int) -> int:
        found, chosen = 0, value(choice, lane)
        for byte in range(4):
            source, bits = chosen >> 4 * byte & 7, need >> 8 * byte & 255
            if bits and source // 4 == place:
                found |= (128 if chosen >> 4 * byte & 8 else bits) << 8 * (source % 4)
        return found

    return [Part(n, "any", lambda need, lane, n=n: needs(need, lane, n)) for n in range(2)]  # type: ignore[misc]


def _dot(line: Instruction, operands: Operands) -> list[Part]:
    """dp4a and dp2a: a byte with the known weight 0 does not matter."""
    parts, high = [Part(2, "plus", carried)], "hi" in line.op
    for place, other in ((0, 1), (1, 0)):
        weights = operands.constant(other)

        def needs(need: int, lane: int, place: int = place, weights: Known = weights) -> int:
            own = -1 if weights is None else value(weights, lane)
            if not need:
                return 0
            if line.op[0] == "dp4a":
                return sum(255 << 8 * n for n in range(4) if own >> 8 * n & 255)
            if place == 0:  # its halves are multiplied with two bytes of the second operand
                return sum(0xFFFF << 16 * n for n in range(2) if own >> 8 * (n + 2 * high) & 255)
            return sum(255 << 8 * (n + 2 * high) for n in range(2) if own >> 16 * n & 0xFFFF)

        parts.append(Part(place, "any", needs))
    return parts


SPECIAL: dict[str, Callable[[Instruction, Operands], list[Part] | None]] = {
    "mov": _move,
    "cvta": _move,
    "selp": _select,
    "cvt": _convert,
    "add": _sum,
    "sub": _sum,
    "and": _and,
    "or": _bitwise,
    "xor": _bitwise,
    "not": _bitwise,
    "shl": _shift,
    "shr": _shift,
    "shf": _funnel,
    "bfe": _extract,
    "bfi": _insert,
    "prmt": _permute,
    "dp4a": _dot,
    "dp2a": _dot,
}
