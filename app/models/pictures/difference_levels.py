"""The levels of a difference: symmetric about 0, by a percentile of the pixels that differ. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from app.models.pictures.display import DIVERGING, Display, Mode, colors
from app.models.pictures.pyramid import Array

SHARE = 99.0
"""The percentile of nonzero differences that gets the full colour where single differences are far larger, which would
leave all others white."""
FAR = 2.0
"""How many times as large "far larger" is."""
MOST_VALUES = 1 << 20
"""The most values that percentiles are computed from; larger pictures are subsampled."""
BINS = 256


@dataclass(frozen=True)
class DifferenceFigures:
    """Statistics of a difference, as a Display needs them. `most` is the largest |a − b|, `typical` the percentile
    SHARE of the nonzero ones, or `most` where that is less than FAR times as large."""

    minimum: float
    maximum: float
    percentiles: Mapping[float, float]
    histogram: tuple[int, ...]
    nan: int
    infinite: int
    typical: float
    most: float


def figures_of(values: Array, most: float, stop: Callable[[], bool] = lambda: False) -> DifferenceFigures | None:
    """The figures of a difference (H, W) of floats whose largest finite magnitude was `most` before it was rounded.
    None when `stop` returned True first."""
    flat = values.reshape(-1)
    finite = np.isfinite(flat)
    nan, infinite = int(np.isnan(flat).sum()), int(np.isinf(flat).sum())
    if stop():
        return None
    known = flat if finite.all() else flat[finite]
    if not known.size:
        zeros = {0.1: 0.0, 50: 0.0, 99.9: 0.0}
        return DifferenceFigures(0.0, 0.0, zeros, (0,) * BINS, nan, infinite, 0.0, 0.0)
    low, high = float(known.min()), float(known.max())
    some: Any = known[:: (known.size // MOST_VALUES) | 1].astype(np.float64)  # an odd step visits every column
    percentiles = dict(zip((0.1, 50, 99.9), map(float, np.percentile(some, (0.1, 50, 99.9))), strict=True))
    sizes = np.abs(some[some != 0])
    share = float(np.percentile(sizes, SHARE)) if sizes.size else most
    typical = share if most > FAR * share else most
    if stop():
        return None
    counts = np.histogram(known, BINS, (low, high) if high > low else (low - 1, high + 1))[0]
    return DifferenceFigures(low, high, percentiles, tuple(map(int, counts)), nan, infinite, typical, most)


class DifferenceDisplay(Display):
    """Levels symmetric about 0, so that every difference has a colour, in a colour map of their own."""

    signed = True

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.colormap, self.lut = DIVERGING, colors(DIVERGING)

    def auto_levels(self, mode: Mode) -> None:
        """Set levels: "auto" by the percentile SHARE of the nonzero differences, "percentile" by the 0.1 and the 99.9
        percentile, "range" by the largest difference."""
        self.mode = mode
        figures: Any = self.statistics
        if figures is None or mode == "manual":
            return
        ends = figures.percentiles
        half = {
            "auto": figures.typical,
            "percentile": max(abs(ends[0.1]), abs(ends[99.9])) or figures.typical,
            "range": figures.most,
        }[mode]
        self._level(-half or -0.5, half or 0.5)

    def set_levels(self, low: float, high: float) -> None:
        """Set levels by hand: the level that was changed sets both."""
        half = abs(low) if abs(low - self.low) > abs(high - self.high) else abs(high)
        self.mode = "manual"
        self._level(-half or -0.5, half or 0.5)
