"""A mask in the frequency domain as handles to drag: rings about zero frequency, and the place of a notch. No Qt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.types import Filter

RADII, NOTCH, REACH = ("low", "high"), ("fy", "fx"), "radius"
"""The names of parameters in cycles per pixel: of rings about zero, of the place of a notch, and of its radius."""
UNIT = "cycles/px"
DIGITS = 4
"""Decimals of a value that was dragged."""
APART = 10.0**-DIGITS
"""The least distance of the inner ring from the outer one."""


@dataclass(frozen=True)
class Handle:
    """A ring of `radius` about (`fy`, `fx`), or that point itself where `radius` is None. A drag changes the parameters
    `names`. `mirrored` says that the same lies at (-fy, -fx)."""

    names: tuple[str, ...]
    fy: float = 0.0
    fx: float = 0.0
    radius: float | None = None
    mirrored: bool = False


def handles(filter: Filter, params: Mapping[str, Any]) -> tuple[Handle, ...]:
    """The handles of the parameters that matter now; none of a filter that has no such parameters."""
    of_mask = {p.name for p in filter.params if p.unit == UNIT and p.matters(params)}
    found = [Handle((name,), radius=params[name]) for name in RADII if name in of_mask]
    if of_mask >= set(NOTCH):
        fy, fx = (params[name] for name in NOTCH)
        if REACH in of_mask:
            found.append(Handle((REACH,), fy, fx, params[REACH], mirrored=True))
        found.append(Handle(NOTCH, fy, fx, mirrored=True))
    return tuple(found)


def dragged(filter: Filter, params: Mapping[str, Any], handle: Handle, fy: float, fx: float) -> dict[str, Any]:
    """The parameters after a drag of a handle to a frequency. A handle stops at the limits of its parameters, and a
    ring before it meets the other one."""
    values = (fy, fx) if handle.radius is None else (distance(handle, fy, fx),)
    return _limited(filter, params, dict(zip(handle.names, values, strict=True)))


def nudged(filter: Filter, params: Mapping[str, Any], handle: Handle, across: float, up: float) -> dict[str, Any]:
    """The parameters after a step by keys: a point moves, a ring grows to the right and upward."""
    if handle.radius is not None:
        return _limited(filter, params, {handle.names[0]: handle.radius + across + up})
    return _limited(filter, params, {"fy": handle.fy - up, "fx": handle.fx + across})


def distance(handle: Handle, fy: float, fx: float) -> float:
    """The distance of a frequency from the middle of a ring, or of its mirror image where that is nearer."""
    signs = (1, -1) if handle.mirrored else (1,)
    return min(math.hypot(fy - sign * handle.fy, fx - sign * handle.fx) for sign in signs)


def _limited(filter: Filter, params: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    result = dict(params)
    by_name = {p.name: p for p in filter.params}
    inner, outer = (name in by_name and by_name[name].matters(params) for name in RADII)
    for name, value in values.items():
        low, high = by_name[name].low, by_name[name].high
        if name == RADII[0] and outer:
            high = params[RADII[1]] - APART
        elif name == RADII[1] and inner:
            low = params[RADII[0]] + APART
        least, most = (limit if limit is not None else value for limit in (low, high))
        result[name] = round(min(max(value, least), most), DIGITS)
    return result
