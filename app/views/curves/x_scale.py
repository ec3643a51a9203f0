"""The scale of a plot's x axis: linear, or logarithmic with equal widths for equal ratios."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.models.curves.ticks import ticks
from app.views.parts import number

DIGITS = (1, 2, 5)
"""What the numbers of a logarithmic axis begin with where there is space for them."""


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
        decades = range(math.floor(math.log10(start)), math.ceil(math.log10(stop)) + 1)
        places: list[float] = []
        for digits in (DIGITS, DIGITS[:1]):
            places = [d * 10.0**k for k in decades for d in digits if start <= d * 10.0**k <= stop]
            if len(places) <= most:
                break
        if len(places) < 2:
            places = ticks(start, stop, most)
        every = max(1, math.ceil(len(places) / max(2, most)))
        return [[(self.coordinate(place), number(float(f"{place:.6g}"))) for place in places[::every]], []]
