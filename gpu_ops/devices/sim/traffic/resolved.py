"""Values as sums of what the first launch of a plan read: bytes that a launch stored are replaced by their sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpu_ops.devices.sim.traffic.forms import Form, Values, added

BITS = 128
"""More than any value has."""


class Kept(NamedTuple):
    """A byte of memory: the number of the value that was stored there, and which byte of it."""

    value: int
    byte: int


class Resolved:
    """Replaces bytes that launches stored, see `Kept`, by their `forms`, each with its bytes. Bytes are known by
    (address, step that wrote them)."""

    def __init__(
        self, values: Values, stored: Mapping[tuple[int, int], Kept], forms: Sequence[tuple[Form, int]]
    ) -> None:
        self._values, self._stored, self._forms = values, stored, forms
        self._done: dict[tuple[str, int], Form] = {}

    def form(self, form: Form) -> Form:
        """A form without bytes that launches stored."""
        ahead = self._behind([form])
        while ahead:
            kind, number = ahead[-1]
            origin = self._values.origins[number] if kind == "result" else None
            operands = (self._forms[number][0],) if origin is None else origin.operands
            missing = [one for one in self._behind(operands) if one not in self._done]
            if missing:
                ahead.extend(missing)
                continue
            found = tuple(map(self._replaced, operands))
            self._done[ahead.pop()] = found[0] if origin is None else self._values.again(origin, found)
        return self._replaced(form)

    def _kept(self, variable: int) -> Kept | None:
        origin = self._values.origins[variable]
        return self._stored.get((origin.key[0], origin.key[1])) if origin.kind == "memory" else None

    def _behind(self, forms: Sequence[Form]) -> list[tuple[str, int]]:
        """The results and the stored values that forms are made of."""
        found = []
        for variable in (v for form in forms for v in form.terms):
            if (kept := self._kept(variable)) is not None:
                found.append(("stored", kept.value))
            elif self._values.origins[variable].kind == "result":
                found.append(("result", variable))
        return found

    def _replaced(self, form: Form) -> Form:
        """A form whose results and stored values are done."""
        plain: dict[int, int] = {}
        stored: defaultdict[int, dict[int, int]] = defaultdict(dict)
        parts: list[tuple[Form, int]] = [(Form(plain, form.constant, form.real), 1)]
        for variable, times in form.terms.items():
            if (kept := self._kept(variable)) is not None:
                stored[kept.value][kept.byte] = times
            elif self._values.origins[variable].kind == "result":
                parts.append((self._done["result", variable], times))
            else:
                plain[variable] = times
        for value, by_byte in stored.items():
            whole, size = self._done["stored", value], self._forms[value][1]
            first = by_byte.get(0, 0)
            if by_byte == {n: first * 256**n for n in range(size)}:
                parts.append((whole, first))
            else:
                parts += [(self._values.field(whole, 8 * n, 8 * n + 8), times) for n, times in by_byte.items()]
        return added(parts, form.real or BITS, bool(form.real))
