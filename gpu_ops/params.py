"""Parameters as data, from which forms, command-line flags and checks are generated."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.errors import LONGEST, ParamError, plain

Value = int | float | str | bool | tuple[float, ...]
Values = Mapping[str, Any]
"""Values by parameter name, each a Value as its Param's check returns it."""


@dataclass(frozen=True)
class Curve:
    """A function that a choice represents: y over x."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Look:
    """How a form displays many choices: `family(choice)` is the heading of its group, `curves(choice)` the functions
    that it represents. Computing them may load a library, so call it only when they are drawn."""

    family: Callable[[Any], str]
    curves: Callable[[Any], tuple[Curve, ...]]


@dataclass(frozen=True)
class Ring:
    """The parameter is the radius of a ring drawn over the output `over`, in the unit of its axes, centred at zero or
    at the position given by the parameter `about`. It is always larger than the ring of the parameter `beyond`."""

    over: str
    about: str = ""
    beyond: str = ""


@dataclass(frozen=True)
class Place:
    """The parameter is a position on the first axis of the output `over`, and the parameter `across` the position on
    the second. `mirrored` means that the opposite point, with both signs inverted, is equivalent."""

    over: str
    across: str
    mirrored: bool = False


@dataclass(frozen=True)
class Threshold:
    """The parameter is a threshold for the magnitudes of the details of the pyramid `over`. If it is inactive, the
    output `table` has the threshold of each detail band: row `first` + k for the k-th band of the form, with one
    column, or one per channel."""

    over: str
    table: str
    first: int = 0


Handle = Ring | Place | Threshold
"""How a parameter is dragged with the mouse over an output."""


@dataclass(frozen=True)
class Param:
    """One parameter or knob, from which forms, command-line flags and checks are generated; its default's type is its
    kind.

    Numbers are in low…high, and equal low + k·step if `step` is given. A tuple default is a fixed number of floats,
    each with the same limits. `when` are the values of other parameters for which this one is active: {"rule":
    ("manual",)}; `channels` are the numbers of channels for which it is, () for all. `tries` are the values that the
    contract tests; () means all choices, or the limits and two values between. `look` describes how a form displays
    many choices. `sweep` are the values that a sweep proposes; () means powers of two. `handle` names the output over
    which a window draws it for dragging. `formerly` are its names in the previous version, which are still accepted.
    """

    name: str
    default: Value
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[Value, ...] = ()
    unit: str = ""
    help: str = ""
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    tries: tuple[Value, ...] = ()
    look: Look | None = None
    sweep: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()
    handle: Handle | None = None
    formerly: tuple[str, ...] = ()

    def matters(self, values: Values) -> bool:
        """Whether it has an effect with these values of the other parameters."""
        return holds(self.when, values)

    @property
    def allowed(self) -> str:
        """The allowed values as text."""
        if self.choices:
            return "one of " + ", ".join(str(c) for c in self.choices)
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, tuple):
            limits = (
                f" from {_typed(self.low)} to {_typed(self.high)}"
                if self.low is not None and self.high is not None
                else ""
            )
            return f"{len(self.default)} {'whole ' if self.step == 1 else ''}numbers{limits}"
        if isinstance(self.default, str):
            return "text"
        kind = "an integer" if isinstance(self.default, int) else "a number"
        if self.low is None or self.high is None:
            return kind
        steps = f" in steps of {self.step:g}" if self.step and self.step != 1 else ""
        return f"{kind} from {_typed(self.low)} to {_typed(self.high)}{steps}"

    def check(self, value: object) -> Value:
        """The value converted to the parameter's type. Raises ParamError that names the allowed values."""
        try:
            result = self._convert(value)
        except (TypeError, ValueError, OverflowError):
            raise self._error(value) from None
        if self.choices and result not in self.choices:
            raise self._error(value)
        if isinstance(result, int | float | tuple) and not isinstance(result, bool):
            for number in result if isinstance(result, tuple) else (result,):
                self._check_limits(number, value)
        return result

    def _convert(self, value: object) -> Value:
        if isinstance(self.default, bool):
            words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
            if isinstance(value, str) and value.lower() in words:
                return words[value.lower()]
            if isinstance(value, bool):
                return value
            raise ValueError
        if isinstance(self.default, tuple):
            parts = value.replace(",", " ").split() if isinstance(value, str) else list(value)  # type: ignore[call-overload]
            numbers = tuple(float(v) for v in parts)
            if len(numbers) != len(self.default) or not all(map(math.isfinite, numbers)):
                raise ValueError
            return numbers
        if isinstance(self.default, int):
            number = float(value)  # type: ignore[arg-type]
            if isinstance(value, bool) or number != int(number):
                raise ValueError
            return int(number)
        if isinstance(self.default, float):
            return float(value)  # type: ignore[arg-type]
        if not isinstance(value, str):
            raise ValueError
        return value

    def _check_limits(self, result: float, value: object) -> None:
        if not math.isfinite(result):
            raise self._error(value)
        if (self.low is not None and result < self.low) or (self.high is not None and result > self.high):
            raise self._error(value)
        if self.step and isinstance(self.default, int | tuple) and (result - (self.low or 0)) % self.step:
            raise self._error(value)

    def _error(self, value: object) -> ParamError:
        text = plain(repr(value), 60)
        return ParamError(f"{self.name} must be {self.allowed}, not {text}; the default is {self.default}.")


def _typed(limit: float) -> str:
    """A limit as one types it, in full: without separators, because commas separate values."""
    return f"{limit:.0f}" if limit % 1 == 0 and abs(limit) < 1e15 else f"{limit:g}"


def holds(when: Mapping[str, tuple[Value, ...]], values: Values) -> bool:
    """Whether every value listed in `when` is one that it allows."""
    return all(values[name] in allowed for name, allowed in when.items())


def with_current_names(params: Sequence[Param], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with former parameter names replaced by the current ones."""
    names = {old: p.name for p in params for old in p.formerly}
    return {names.get(name, name): value for name, value in values.items()}


def check_values(params: Sequence[Param], values: Mapping[str, object], owner: str) -> dict[str, Value]:
    """All values checked, with defaults for missing ones. Raises ParamError for unknown names and invalid values."""
    by_name, values = {p.name: p for p in params}, with_current_names(params, values)
    unknown = sorted(set(values) - set(by_name))
    if unknown:
        names = ", ".join(by_name) or "none"
        near = nearest(unknown[0], list(by_name))
        raise ParamError(f"{owner} has no parameter {plain(unknown[0], 60)!r}{near}; it has {names}.")
    return {name: p.check(values.get(name, p.default)) for name, p in by_name.items()}


def nearest(name: str, allowed: Sequence[str]) -> str:
    """The question "did you mean …?" with the closest allowed name; "" if none is close."""
    matches = difflib.get_close_matches(name[:LONGEST], allowed, 1)
    return f" (did you mean {matches[0]}?)" if matches else ""
