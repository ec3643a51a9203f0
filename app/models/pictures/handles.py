"""Parameters as handles to drag over the picture of an output: rings and points. No Qt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.params import Param, Place, Ring
from gpu_ops.types import Filter

DIGITS = 4
"""Decimals of the span of a parameter to which a drag is rounded."""
KEY, LEAP = 50, 10
"""The number of finest steps per key press of a parameter that is not an integer, and the factor of a leap."""


@dataclass(frozen=True)
class Handle:
    """A ring of `radius` about (`y`, `x`), or that point itself where `radius` is None, in coordinates of the output's
    axes. A drag changes the parameters `names`, whose values are in `unit`. `mirrored` says that the handle also
    appears at (-y, -x)."""

    names: tuple[str, ...]
    y: float = 0.0
    x: float = 0.0
    radius: float | None = None
    mirrored: bool = False
    unit: str = ""


def handles(filter: Filter, params: Mapping[str, Any], over: str) -> tuple[Handle, ...]:
    """The handles over an output of the parameters that matter now, in the order of the parameters."""
    by_name, found = {p.name: p for p in filter.params}, []
    for param in (p for p in filter.params if p.handle is not None and p.handle.over == over and p.matters(params)):
        handle, name = param.handle, param.name
        if isinstance(handle, Ring):
            about = by_name[handle.about].handle if handle.about else None
            y, x, mirrored = 0.0, 0.0, False
            if isinstance(about, Place):
                y, x, mirrored = params[handle.about], params[about.across], about.mirrored
            found.append(Handle((name,), y, x, params[name], mirrored, param.unit))
        elif isinstance(handle, Place):
            y, x = params[name], params[handle.across]
            found.append(Handle((name, handle.across), y, x, None, handle.mirrored, param.unit))
    return tuple(found)


def dragged(filter: Filter, params: Mapping[str, Any], handle: Handle, y: float, x: float) -> dict[str, Any]:
    """The parameters after a drag of a handle to (y, x). A handle stops at the limits of its parameters, and a ring
    before it touches the next ring inside or outside."""
    values = (y, x) if handle.radius is None else (distance(handle, y, x),)
    return _limited(filter, params, dict(zip(handle.names, values, strict=True)))


def nudged(
    filter: Filter, params: Mapping[str, Any], handle: Handle, across: int, up: int, leap: bool = False
) -> dict[str, Any]:
    """The parameters after one key press, or a leap: a point moves; right and up make a ring larger."""
    ways = (across + up,) if handle.radius is not None else (-up, across)
    by_name = {p.name: p for p in filter.params}
    steps = [finest(by_name[n]) * (1 if _is_whole(by_name[n]) else KEY) * (LEAP if leap else 1) for n in handle.names]
    moved = zip(handle.names, ways, steps, strict=True)
    return _limited(filter, params, {name: params[name] + way * step for name, way, step in moved})


def distance(handle: Handle, y: float, x: float) -> float:
    """The distance of (y, x) from the centre of a handle, or of its mirror image where that is nearer."""
    signs = (1, -1) if handle.mirrored else (1,)
    return min(math.hypot(y - sign * handle.y, x - sign * handle.x) for sign in signs)


def finest(param: Param) -> float:
    """The smallest change of a parameter by a handle."""
    return float(param.step or 1) if _is_whole(param) else 10.0 ** -_decimals(param)


def _is_whole(param: Param) -> bool:
    return isinstance(param.default, int)


def _decimals(param: Param) -> int:
    """DIGITS where a parameter spans one, fewer where it spans more."""
    span = 1.0 if param.low is None or param.high is None else param.high - param.low
    return DIGITS - math.ceil(math.log10(span))


def _snapped(param: Param, value: float) -> float:
    """The nearest value that the parameter may have."""
    if not _is_whole(param):
        return round(value, _decimals(param))
    start, step = int(param.low or 0), int(param.step or 1)
    return start + round((value - start) / step) * step


def _limited(filter: Filter, params: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    result, by_name = dict(params), {p.name: p for p in filter.params}
    for name, value in values.items():
        param = by_name[name]
        inside, around = _neighbours(filter, params, param)
        lows = [low for low in (param.low, *(params[n] + finest(param) for n in inside)) if low is not None]
        highs = [high for high in (param.high, *(params[n] - finest(param) for n in around)) if high is not None]
        result[name] = _snapped(param, min([max([value, *lows]), *highs]))
    return result


def _neighbours(filter: Filter, params: Mapping[str, Any], param: Param) -> tuple[list[str], list[str]]:
    """The rings inside that of a parameter, and those around it, which matter now."""
    rings = {p.name: p.handle for p in filter.params if isinstance(p.handle, Ring) and p.matters(params)}
    own = rings.get(param.name)
    inside = [own.beyond] if own is not None and own.beyond in rings else []
    return inside, [name for name, ring in rings.items() if ring.beyond == param.name]
