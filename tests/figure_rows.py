"""A report with times of made-up seconds for every point that the commands of the figures ask for."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli import parser
from gpu_ops.cli.benches import axis_of
from gpu_ops.cli.inputs import checked_values, flag_values
from gpu_ops.filters import find_filter
from gpu_ops.report.rows import Report, Row
from gpu_ops.types import Filter, Timing, Variant

GPU = {"model": "A GPU", "architecture": "sm_90", "sm_mhz": 2000, "multiprocessors": 100}
HERTZ = 2e9 * 100
LINES = (2 * 1024 * 1024,)
"""As many values as 1024 lines of 1024 complex numbers have."""


def row(variant: str, seconds: float, shape: tuple[int, ...] = LINES, **more: Any) -> Row:
    """A row of lines of 1024 points, or of an image of two axes, as a report holds it."""
    timing = Timing("kernel", "cuda-event", seconds, seconds, seconds, seconds, 20, "", "stream")
    lines: dict[str, Any] = {"filter": "fft_batch1d", "params": {"numbers": "complex", "points": 1024}}
    image: dict[str, Any] = {"filter": "fft_batch2d", "params": {"numbers": "complex", "tile": 0}}
    events: dict[str, Any] = {"device": "cuda:0", "knobs": {}, "ok": True, "dtype": "float32", "mode": "stream"}
    events |= {"stages": {"kernel": timing}, "clock": "cuda-event", **(lines if len(shape) == 1 else image)}
    return Row(variant=variant, shape=shape, **events | more)


def image(variant: str, seconds: float, side: int, **more: Any) -> Row:
    """A row of a square image of complex numbers."""
    return row(variant, seconds, (side, 2 * side), **more)


def report(rows: Iterable[Row], **more: Any) -> Report:
    """A report of these rows on the GPU above."""
    return Report({"devices": {"cuda:0": GPU | more}, "cpu": "A processor"}, tuple(rows))


def rows_of(command: str) -> Iterator[Row]:
    """The rows that a command measures, with flags, values and knobs checked as the command checks them."""
    args = parser.parse(shlex.split(command)[1:])
    axes = dict(map(axis_of, getattr(args, "over", None) or ()))
    filter = find_filter(args.filter)
    variants = [filter.variant(id) for id in args.variant] or [v for v in filter.variants if v.device == "cuda"]
    for values in itertools.product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        checked, params = checked_values(args, filter, point)
        flags = {**flag_values(args), **point}
        shape = tuple(map(int, reversed(flags.get("size", flags.get("length", "")).split("x"))))
        params = {p.name: p.default for p in filter.params} | params
        for variant in variants:
            knobs = {k.name: k.default for k in variant.knobs} | knobs_of(variant, checked)
            yield row(variant.id, seconds(filter, variant, shape), shape, filter=filter.id, params=params, knobs=knobs)


def seconds(filter: Filter, variant: Variant, shape: tuple[int, ...]) -> float:
    """A fixed cost and one that grows with the points; each variant a little quicker than the one before."""
    place = [v.id for v in filter.variants].index(variant.id)
    return 1e-5 + math.prod(shape) * 1e-10 / (1 + place)
