"""The scale of a plot's x axis: linear, or logarithmic with equal widths for equal ratios."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.models.ticks import log_ticks
from app.views.parts import number


class XScale:
    """Between places along x and the plot's own coordinates, which are logarithms where `log` is True. `least` is the
    lowest place that a logarithmic axis shows."""

    def __init__(self) -> None:
        self.log = False
        self.least = 1.0

    def coordinate(self, place: float) -> float:
        return math.log10(max(place, self.least)) if self.log else place

    def coordinates(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Of places that the axis shows."""
        return np.asarray(np.log10(np.maximum(places, self.least))) if self.log else places

    def place(self, coordinate: float) -> float:
        return float(10.0**coordinate) if self.log else coordinate

    def marks(self, start: float, stop: float, most: int) -> list[list[tuple[float, str]]] | None:
        """The ticks of a logarithmic axis between two places, as pyqtgraph takes them; None of a linear one, which
        makes its own."""
        if not self.log:
            return None
        places = log_ticks(start, stop, most)
        return [[(self.coordinate(place), number(float(f"{place:.6g}"))) for place in places], []]
