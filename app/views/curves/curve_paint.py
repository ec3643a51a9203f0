"""Gives the curves of a plot the points of a range, overlaid or in lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg

from app.models.curves.curve import Curve, is_faint
from app.models.curves.lanes import Lanes
from app.views.curves.x_scale import XScale
from app.views.strokes import pen

STRAIGHT = 40  # curves longer than so many view widths are solid: dashes would be invisible and slow to draw

Array = np.ndarray[Any, Any]
Limits = Callable[[float, float], tuple[float, float]]


def paint_curves(
    curves: Sequence[Curve],
    items: Sequence[pg.PlotCurveItem],
    range_of_x: tuple[float, float],
    scale: XScale,
    lanes: Lanes,
    limits: Limits,
    size: tuple[int, float],
    dark: bool,
) -> tuple[float, float]:
    """Give each item the points of its curve in `range_of_x` for a plot of `size` (columns, height). Returns the plot's
    range of y, which `limits` computes from the lowest and the highest value of curves that are not in lanes."""
    columns, height = size
    shown, ends = [], dict[int, list[tuple[float, float]]]()
    for curve, item in zip(curves, items, strict=True):
        points = curve.points(*range_of_x, columns, scale.log) if curve.drawn else None
        finite = np.isfinite(points[1]) if points else np.empty(0, bool)
        if points is None or not finite.any():
            item.setData([], [])
            continue
        x, y = scale.coordinates(points[0]), points[1].astype(np.float64)
        real = y if finite.all() else y[finite]
        ends.setdefault(curve.channel, []).append((float(real.min()), float(real.max())))
        shown.append((curve, item, x, y, real))
    if lanes:
        lanes.fit(ends)
        low, high = 0.0, float(len(lanes.order))
    else:
        every = [pair for pairs in ends.values() for pair in pairs]
        low, high = limits(min((a for a, _ in every), default=np.inf), max((b for _, b in every), default=-np.inf))
    tall = height / max(high - low, 1e-300)
    for curve, item, x, y, real in shown:
        if lanes:
            y, real = lanes.place(curve.channel, y), lanes.place(curve.channel, real)
        straight, whole = bool(np.abs(np.diff(real)).sum() * tall < STRAIGHT * columns), len(real) == len(y)
        width = curve.width if straight else 1
        curve_pen = pen(curve.stroke, dark, width, straight, is_faint(curve, curves))
        item.setData(x, y, pen=curve_pen, connect="all" if whole else "finite", skipFiniteCheck=whole)
    return low, high
