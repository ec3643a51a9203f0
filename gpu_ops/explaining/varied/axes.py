"""What varies on a page: the variants, parameters and knobs, with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from gpu_ops.errors import ParamError, plain
from gpu_ops.params import Param
from gpu_ops.types import Filter

VARIANT = "variant"
MOST = 400
"""The most combinations of a page."""


@dataclass(frozen=True)
class Axis:
    """What varies, and its values. `unit` and `help` are the parameter's."""

    name: str
    values: tuple[Any, ...]
    unit: str = ""
    help: str = ""


def axes_of(filter: Filter, variants: Sequence[str], over: Mapping[str, Sequence[str]]) -> tuple[Axis, ...]:
    """The axes of a page: the variants, then each parameter or knob with its values, numbers from the smallest on.
    Raises ParamError for a name that neither the filter nor a variant has, and for too many combinations."""
    axes = [Axis(VARIANT, tuple(dict.fromkeys(variants)), help="The kernel")]
    known = varying(filter, variants)
    for name, texts in over.items():
        if name not in known:
            raise ParamError(f"{plain(name, 60)} is nothing that varies; choose from {', '.join(known)}.")
        param = known[name]
        values = list(dict.fromkeys(_value(param, text) for text in texts))
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            values.sort()
        axes.append(Axis(name, tuple(values), param.unit, param.help))
    if (many := prod(len(axis.values) for axis in axes)) > MOST:
        shares = " × ".join(f"{len(axis.values)} of {axis.name}" for axis in axes)
        raise ParamError(f"{shares} are {many} combinations, and a page holds {MOST}; name fewer values or variants.")
    return tuple(axes)


def varying(filter: Filter, variants: Sequence[str]) -> dict[str, Param]:
    """What may vary, by name: the filter's parameters, and the knobs of the variants."""
    knobs = {knob.name: knob for id in reversed(variants) for knob in filter.variant(id).knobs}
    return {param.name: param for param in filter.params} | dict(sorted(knobs.items()))


def _value(param: Param, text: str) -> Any:
    """The value in the type of the parameter. One outside its limits stays: its combinations have the refusal."""
    try:
        return param.check(text)
    except ParamError:
        try:
            return type(param.default)(text) if isinstance(param.default, int | float) else text
        except ValueError:
            return text
