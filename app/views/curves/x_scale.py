"""The scale of a plot's x axis: linear, or logarithmic with equal widths for equal ratios."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.models.ticks import log_ticks
from app.views.charts.frame import Side, axis_side, short
from gpu_ops.output_kinds import Axis


class XScale:
    """Converts between positions along x and the plot's own coordinates, which are logarithms where `log` is True.
    `least` is the lowest position that a logarithmic axis shows."""

    def __init__(self) -> None:
        self.log = False
        self.least = 1.0

    def coordinate(self, place: float) -> float:
        return math.log10(max(place, self.least)) if self.log else place

    def coordinates(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The coordinates of positions that the axis shows."""
        return np.asarray(np.log10(np.maximum(places, self.least))) if self.log else places

    def place(self, coordinate: float) -> float:
        return float(10.0**coordinate) if self.log else coordinate

    def side(self, axis: Axis, ends: tuple[float, float], most: int) -> Side:
        """A logarithmic axis between two positions."""
        marks = [(self.coordinate(place), short(place)) for place in log_ticks(*ends, most)]
        return Side(marks, axis_side(Axis(axis.name), ends, most).title + (f" ({axis.unit})" if axis.unit else ""))
