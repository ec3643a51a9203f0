"""Which variants support an input, and with which values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gpu_ops.devices import device_statuses, open_device
from gpu_ops.errors import ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.params import Value, Values, nearest
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Pick, Variant

T = TypeVar("T")


def family(name: str) -> list[Filter]:
    """The filters of an id or a family. Raises ParamError that names all."""
    return FILTERS.named(name)


def devices_of(named: Sequence[str]) -> list[str]:
    """The named devices, else all that are available. Raises DeviceError. A simulated GPU is used only if it is named:
    it is a thousand times slower and has no times to report."""
    names = named or [s.name for s in device_statuses() if s.available and s.kind != "sim"]
    for name in names:
        open_device(name)  # raises if it is not available
    return list(dict.fromkeys(names))


def for_one(several: Iterable[T], check: Callable[[T], object]) -> None:
    """Check each of several. Raises the first ParamError if none of them passes."""
    errors = []
    for one in several:
        try:
            check(one)
            return
        except ParamError as error:
            errors.append(error)
    raise errors[0]


def unknown_name(filter: Filter, name: str, names: Sequence[str]) -> str:
    """The message about a value whose name is unknown."""
    return f"Nothing in {filter.id} is called {plain(name, 40)}{nearest(name, names)}; there are {', '.join(names)}."


def checked(filter: Filter, values: Mapping[str, Any]) -> dict[str, Value]:
    """The filter's parameters out of values by name, checked. Raises ParamError for them, and for a value of a knob
    that none of the filter's variants has."""
    params = {p.name: p.check(values[p.name]) for p in filter.params if p.name in values}
    knobs = [k for v in filter.variants for k in v.knobs if k.name in values]
    for name in dict.fromkeys(k.name for k in knobs):
        for_one([k for k in knobs if k.name == name], lambda knob: knob.check(values[knob.name]))
    return params


def knobs_of(variant: Variant, values: Mapping[str, Any]) -> dict[str, Value]:
    """A variant's knobs out of values by name, checked. Raises ParamError that names the variant."""
    try:
        return {k.name: k.check(values[k.name]) for k in variant.knobs if k.name in values}
    except ParamError as error:
        raise ParamError(f"{variant.id}: {error}") from None


def with_knobs(
    filter: Filter, picks: Iterable[Pick], values: Mapping[str, Any], strict: bool
) -> tuple[list[Pick], list[ParamError]]:
    """Picks with their knobs, and the errors of those whose variant does not accept one; `strict` raises the first."""
    result, errors = list[Pick](), list[ParamError]()
    for pick in picks:
        try:
            result.append(replace(pick, knobs=knobs_of(filter.variant(pick.variant), values)))
        except ParamError as error:
            if strict:
                raise
            errors.append(error)
    return result, errors


def current_variants(
    filter: Filter, names: Sequence[str], meta: Meta | None, values: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """The named variants by their ids in this version, and a notice about each that was renamed."""
    params = {p.name: p.check(values[p.name]) for p in filter.params if p.name in values}
    knobs = {name: values[name] for name in values if name not in params}
    found = [filter.today(name, meta, params, knobs) for name in names]
    sentences = [filter.renaming(a, b) for a, b in zip(names, found, strict=True) if a != b]
    return list(dict.fromkeys(found)), sentences


def with_defaults(filter: Filter, params: Values) -> dict[str, Value]:
    """The value of every parameter."""
    return {**{p.name: p.default for p in filter.params}, **params}


def takes(filter: Filter, pick: Pick, meta: Meta, params: Values) -> bool:
    """Whether the pick is one of the filter's own variants, and supports this input on its device."""
    variant = filter.variant(pick.variant)
    knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
    task = Task.of(meta, with_defaults(filter, params), knobs, open_device(pick.device).limits)
    return not variant.library and not variant.refusal(task)


def best_per_device(filter: Filter, picks: Iterable[Pick], meta: Meta, params: Values) -> tuple[Pick, ...]:
    """For each device the last of the filter's own variants that supports the input, of those that suit it if any
    does: the end of the ladder there."""
    task = Task.of(meta, with_defaults(filter, params))
    found = [pick for pick in picks if takes(filter, pick, meta, params)]
    found.sort(key=lambda pick: filter.variant(pick.variant).suits(task))
    return tuple({pick.device: pick for pick in found}.values())
