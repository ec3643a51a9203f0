"""Values as sums: an integer is a sum of multiples of bytes, a float a sum of multiples of floats. What is added and
later subtracted cancels exactly, in whole words and in fields of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

BYTE = 255
"""The largest value of a byte."""
Kind = Literal["memory", "result"]


class Form(NamedTuple):
    """A sum of multiples of variables and a constant. An integer's variables are bytes from 0 to 255, and the sum is
    the value modulo its register's 2^bits. That of a float of `real` bits has floats, and its constants are variables
    too."""

    terms: Mapping[int, int]
    constant: int = 0
    real: int = 0

    def within(self, bits: int) -> bool:
        """Whether an integer is from 0 to 2^bits − 1 whatever its bytes are."""
        low = self.constant + BYTE * sum(times for times in self.terms.values() if times < 0)
        high = self.constant + BYTE * sum(times for times in self.terms.values() if times > 0)
        return low >= 0 and high < 1 << bits


class Origin(NamedTuple):
    """What a variable is: a byte of memory, with `key` (address, step that wrote it), or part `number` of the result of
    an operation with the name `key` on `operands`: one of so many bytes, or a float (0)."""

    kind: Kind
    key: tuple[Any, ...]
    operands: tuple[Form, ...] = ()
    number: int = 0
    parts: int = 0


def added(parts: Sequence[tuple[Form, int]], bits: int, real: bool = False) -> Form:
    """The sum of multiples of forms, of integers modulo 2^bits, or of floats of so many bits."""
    (first, times), *others = sorted(parts, key=lambda part: (part[1] != 1, -len(part[0].terms)))
    room, total, constant = 0 if real else bits, dict(first.terms), first.constant * times
    if times != 1:
        total = {v: kept for v, count in total.items() if (kept := _kept(count * times, room))}
    for form, times in others:
        constant += form.constant * times
        for variable, count in form.terms.items():
            if kept := _kept(total.get(variable, 0) + count * times, room):
                total[variable] = kept
            else:
                total.pop(variable, None)
    return Form(total, 0, bits) if real else Form(total, constant % (1 << bits))


def _kept(times: int, bits: int) -> int:
    """A multiple from −2^(bits − 1) + 1 to 2^(bits − 1)."""
    half = 1 << bits >> 1
    if not bits or -half < times <= half:
        return times
    times %= 1 << bits
    return times - (1 << bits) if times > half else times


def modulo(form: Form, bits: int) -> Form:
    """An integer modulo 2^bits."""
    found = {v: kept for v, times in form.terms.items() if (kept := _kept(times, bits))}
    return Form(found, form.constant % (1 << bits))


class Values:
    """The variables of a search. The same operation on the same forms is one variable."""

    def __init__(self) -> None:
        self.origins: list[Origin] = []
        self._numbers: dict[Any, int] = {}

    def byte(self, *key: Any) -> int:
        """The variable of a byte of memory."""
        return self._number(("memory", *key), Origin("memory", key))

    def result(self, key: tuple[Any, ...], operands: Iterable[Form], parts: int, real: int = 0) -> Form:
        """The result of an operation that is no sum: an integer of so many bytes, or a float of `real` bits."""
        forms = tuple(operands)
        frozen = tuple((frozenset(form.terms.items()), form.constant, bool(form.real)) for form in forms)
        count = 1 if real else parts
        first = self._number((key, frozen, parts), *(Origin("result", key, forms, n, parts) for n in range(count)))
        return Form({first: 1}, 0, real) if real else Form({first + n: 256**n for n in range(parts)})

    def _number(self, name: Any, *origins: Origin) -> int:
        number = self._numbers.setdefault(name, len(self.origins))
        if number == len(self.origins):
            self.origins.extend(origins)
        return number

    # Conversions

    def real(self, form: Form, bits: int) -> Form:
        """The float that has these bits."""
        if form.real:
            return form
        if not form.terms:
            return self.result(("constant", bits, form.constant % (1 << bits)), (), 0, bits)
        origin = self.origins[min(form.terms)]
        if origin.key == ("bits", bits) and form == self.result(origin.key, origin.operands, bits // 8):
            return origin.operands[0]
        return self.result(("float", bits), (form,), 0, bits)

    def integer(self, form: Form) -> Form:
        """The bits of a float; an integer as it is."""
        if not form.real:
            return form
        if list(form.terms.values()) == [1]:
            origin = self.origins[next(iter(form.terms))]
            if origin.key == ("float", form.real):
                return origin.operands[0]
            if origin.key[:2] == ("constant", form.real):
                return Form({}, origin.key[2])
        return self.result(("bits", form.real), (form,), form.real // 8)

    def field(self, form: Form, low: int, high: int) -> Form:
        """The bits from `low` to before `high` of an integer, as a number. Where what is below certainly has no carry,
        it is of those terms alone that are above."""
        form = modulo(form, high)
        for cut in range(low, -1, -8):
            above = _above(form, cut, high)
            if above is None:
                continue
            if cut == low and above.within(high - low):
                return above
            if not above.terms:
                return Form({}, (above.constant >> low - cut) % (1 << high - low))
            return self.result(("field", low - cut, high - cut), (above,), -(-(high - low) // 8))
        return self.result(("field", low, high), (form,), -(-(high - low) // 8))

    def again(self, origin: Origin, operands: tuple[Form, ...]) -> Form:
        """The variable that is the same part of the same operation on other forms."""
        name, *sizes = origin.key
        if name == "bits":
            found = self.integer(operands[0]._replace(real=sizes[0]))
        elif name in ("float", "field"):
            found = (self.real if name == "float" else self.field)(operands[0], *sizes)
        else:
            found = self.result(origin.key, operands, origin.parts, 0 if origin.parts else 64)
        return found if found.real else self.field(found, 8 * origin.number, 8 * origin.number + 8)

    def behind(self, forms: Iterable[Form]) -> set[int]:
        """The variables that forms are made of, with those behind results."""
        found: set[int] = set()
        ahead = [variable for form in forms for variable in form.terms]
        while ahead:
            variable = ahead.pop()
            if variable not in found:
                found.add(variable)
                ahead.extend(v for form in self.origins[variable].operands for v in form.terms)
        return found


def _above(form: Form, cut: int, high: int) -> Form | None:
    """The terms above a bit, divided by its weight; None where those below can have a carry."""
    if cut == 0:
        return form
    size, room = 1 << cut, 1 << high
    below, above = form.constant % size, {}
    for variable, times in form.terms.items():
        upper, lower = divmod(times % room, size)
        below += BYTE * lower
        if upper:
            above[variable] = upper
    return modulo(Form(above, form.constant % room >> cut), high - cut) if below < size else None
