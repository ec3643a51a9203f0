"""What plans of all filters share: C types, block shapes, and rules of support."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.params import Values
from gpu_ops.plan import Limits
from gpu_ops.types import Meta

Support = Callable[[Meta, Values, Values, Limits], str | None]
CTYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "float32": "float", "float64": "double"}


def block_shape(threads: int) -> tuple[int, int]:
    """(x, y) of a 2D block of that many threads: a warp wide where there are enough."""
    return (32, threads // 32) if threads >= 32 and threads % 32 == 0 else (16, threads // 16)


def anything(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """Nothing is refused."""
    return None


def both(*rules: Support) -> Support:
    """The first reason any of the rules gives."""

    def rule(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
        return next((reason for r in rules if (reason := r(meta, params, knobs, limits))), None)

    return rule
