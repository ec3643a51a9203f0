"""What the contract chooses from – shapes, types, data, values of parameters and knobs –, and which choices have an
effect only together with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.input_kinds import INPUT_KINDS, ODD
from gpu_ops.params import Param, Value
from gpu_ops.types import Filter, Variant

RANDOM = "random"
FINITE = (RANDOM, "constant", "extremes", "impulse")


def axes_of(filter: Filter, variant: Variant) -> dict[str, Sequence[Any]]:
    """The choices by axis: shape, dtype, data, preset, and each parameter and knob of its own."""
    shapes = (*INPUT_KINDS[filter.accepts].shapes, *variant.shapes)
    odd = () if filter.finite_only or not _floats(filter.dtypes) else ODD
    axes: dict[str, Sequence[Any]] = {"shape": shapes, "dtype": filter.dtypes, "data": (*FINITE, *odd)}
    together = preset_names(filter)
    if together:
        axes["preset"] = settings_of(filter)
    axes.update({f"param {p.name}": values_of(p) for p in filter.params if p.name not in together})
    axes.update({f"knob {p.name}": values_of(p) for p in variant.knobs})
    return axes


@dataclass(frozen=True)
class Need:
    """Choices of one axis that have an effect only with some choices of another axis."""

    axis: str
    choices: tuple[Any, ...]
    other: str
    allowed: tuple[Any, ...]


def needs_of(filter: Filter, axes: Mapping[str, Sequence[Any]]) -> list[Need]:
    """NaN and infinity need a floating type; a parameter needs those values of others with which it has an effect, and
    as many channels per pixel as it refers to."""
    found = [Need("data", tuple(d for d in axes["data"] if d in ODD), "dtype", _floats(axes["dtype"]))]
    kind = INPUT_KINDS[filter.accepts]
    for param in filter.params:
        axis = f"param {param.name}"
        if axis not in axes:
            continue
        values = tuple(axes[axis])
        for name, allowed in param.when.items():
            found.append(Need(axis, values, f"param {name}", tuple(allowed)))
        if param.channels:
            shapes = tuple(s for s in axes["shape"] if kind.channels_of(s) in param.channels)
            found.append(Need(axis, values, "shape", shapes))
    return [need for need in found if need.choices and need.other in axes]


def _floats(dtypes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dtype for dtype in dtypes if np.dtype(dtype).kind == "f")


def preset_names(filter: Filter) -> frozenset[str]:
    """The parameters that the filter's presets set together."""
    return frozenset(name for values in filter.presets.values() for name in values)


def settings_of(filter: Filter) -> tuple[tuple[tuple[str, Value], ...], ...]:
    """Settings of the parameters that presets set, as (name, value) pairs: every preset, all parameters at their
    minimum, all at their maximum, and fractions that all differ."""
    params = [p for p in filter.params if p.name in preset_names(filter)]
    settings = [tuple((p.name, p.check(values[p.name])) for p in params) for values in filter.presets.values()]
    custom = [(p.low for p in params), (p.high for p in params), (_fraction(p) for p in params)]
    for numbers in custom:
        pairs = zip(params, numbers, strict=True)
        settings.append(tuple((p.name, p.check(_repeat(p, number))) for p, number in pairs))
    return tuple(settings)


def _fraction(param: Param) -> Value:
    """A fraction; for a tuple, fractions of both signs that all differ."""
    if isinstance(param.default, tuple):
        return tuple(d + 0.37 * (i - 3) - 0.1 * i * i % 1.3 for i, d in enumerate(param.default))
    return float(param.default) + 0.7


def _repeat(param: Param, value: Any) -> Any:
    """The value repeated for each number of a tuple parameter; else the value itself."""
    return (value,) * len(param.default) if isinstance(param.default, tuple) and not isinstance(value, tuple) else value


def values_of(param: Param) -> tuple[Value, ...]:
    """Values worth testing: the parameter's own list, every choice, or the limits, the default and one between."""
    if param.tries:
        return param.tries
    if param.choices:
        return param.choices
    if isinstance(param.default, bool):
        return (False, True)
    if isinstance(param.default, str | tuple) or param.low is None or param.high is None:
        return (param.default,)
    between = (max(param.low, 1) * param.high) ** 0.5
    if isinstance(param.default, int):
        step = int(param.step or 1)
        between = int(param.low + (between - param.low) // step * step)
    values = [param.check(v) for v in (param.low, param.default, between, param.high)]
    return tuple(dict.fromkeys(values))
