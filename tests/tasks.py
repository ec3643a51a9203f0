"""Tasks as tests ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_ops.plan import Limits, Plan
from gpu_ops.running.contract import Case
from gpu_ops.task import NO_LIMITS, Meta, Task
from gpu_ops.types import Filter

Chosen = Mapping[str, Any]


def on(filter: Filter, x: Any, params: Chosen, knobs: Chosen | None = None, limits: Limits = NO_LIMITS) -> Task:
    """A task of the filter on an array, of the host or of a device."""
    meta = Meta(filter.accepts, tuple(x.shape), np.dtype(x.dtype).name)
    return Task.of(meta, params, knobs, limits).on(x)


def of(filter: Filter, dtype: str, params: Chosen, knobs: Chosen | None = None, limits: Limits = NO_LIMITS) -> Task:
    """A task of the filter on some input of that type."""
    return Task.of(Meta(filter.accepts, filter_shape(filter), dtype), params, knobs, limits)


def right(filter: Filter, x: Any, **params: Any) -> Any:
    """The reference of a filter with one output."""
    (made,) = filter.reference(on(filter, x, params)).values()
    return made


def planned(filter: Filter, id: str, device: Any, x: Any, params: Chosen, knobs: Chosen | None = None) -> Plan:
    """The plan of a variant for an array of the device."""
    return filter.variant(id).plan(device, on(filter, x, params, knobs, device.limits))


def filter_shape(filter: Filter) -> tuple[int, ...]:
    """A shape that the filter takes."""
    return (64, 64) if filter.accepts == "image" else (4096,)


def chosen(case: Case, name: str, values: Sequence[Any]) -> Any:
    """The choice of a case on the axis of that name and these values."""
    kind, _, own = name.partition(" ")
    if kind == "preset":
        return tuple((n, case.params[n]) for n, _ in values[0])
    return getattr(case, f"{kind}s")[own] if own else getattr(case, name)
