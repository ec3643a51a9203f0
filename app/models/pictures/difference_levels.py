"""The levels of a difference: symmetric about 0, by a percentile of the pixels that differ. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QObject

from app.models.pictures.difference_style import SHARES, DifferenceStyle
from app.models.pictures.display import DIVERGING, Display, Mode, colors
from app.models.pictures.pyramid import Array

FAR = 2.0
"""So many times as large as a percentile of what differs is a largest difference that would leave all others white."""
MOST_VALUES = 1 << 20
"""The most values that percentiles are computed from; larger pictures are subsampled."""
BINS = 256
ABSOLUTE = "magma"
"""The colours of absolute differences: black where there is none."""


@dataclass(frozen=True)
class DifferenceFigures:
    """Statistics of a difference, as a Display needs them. `most` is the largest |a − b|, `shares` the percentiles
    SHARES of those that are not 0."""

    minimum: float
    maximum: float
    percentiles: Mapping[float, float]
    histogram: tuple[int, ...]
    nan: int
    infinite: int
    shares: Mapping[float, float]
    most: float

    def typical(self, share: float) -> float:
        """The percentile, or `most` where that is not FAR larger."""
        return self.shares[share] if self.most > FAR * self.shares[share] else self.most


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
        return DifferenceFigures(0.0, 0.0, zeros, (0,) * BINS, nan, infinite, dict.fromkeys(SHARES, 0.0), 0.0)
    low, high = float(known.min()), float(known.max())
    some: Any = known[:: (known.size // MOST_VALUES) | 1].astype(np.float64)  # an odd step visits every column
    percentiles = dict(zip((0.1, 50, 99.9), map(float, np.percentile(some, (0.1, 50, 99.9))), strict=True))
    sizes = np.abs(some[some != 0])
    ranks = np.percentile(sizes, SHARES) if sizes.size else np.full(len(SHARES), most)
    shares = {**dict(zip(SHARES, map(float, ranks), strict=True)), SHARES[-1]: most}  # a sample may miss the largest
    if stop():
        return None
    counts = np.histogram(known, BINS, (low, high) if high > low else (low - 1, high + 1))[0]
    return DifferenceFigures(low, high, percentiles, tuple(map(int, counts)), nan, infinite, shares, most)


class DifferenceDisplay(Display):
    """Levels that are symmetric about 0, so that zero differences are white, with their own colours; those of absolute
    differences begin at 0. They follow the percentile and the gain of a `style`."""

    signed = True

    def __init__(self, style: DifferenceStyle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._style = style
        self._colour()

    def _colour(self) -> None:
        self.colormap = DIVERGING if self._style.look.signed else ABSOLUTE
        self.lut = colors(self.colormap)

    def _spread(self, half: float) -> None:
        """Full colour at `half`."""
        half = half or 0.5
        self._level(-half if self._style.look.signed else 0.0, half)

    def restyle(self) -> None:
        """Follow another look: levels set by hand are of the one before."""
        self._colour()
        self.auto_levels("auto")
        self.colormap_changed.emit()

    def auto_levels(self, mode: Mode) -> None:
        """Set levels: "auto" by the style's percentile of what differs and its gain, "percentile" by the 0.1 and the
        99.9 percentile, "range" by the largest difference."""
        self.mode = mode
        figures: Any = self.statistics
        if figures is None or mode == "manual":
            return
        ends, look = figures.percentiles, self._style.look
        typical = figures.typical(look.share)
        half = {
            "auto": typical / look.gain,
            "percentile": max(abs(ends[0.1]), abs(ends[99.9])) or typical,
            "range": figures.most,
        }[mode]
        self._spread(half)

    def set_levels(self, low: float, high: float) -> None:
        """Set levels by hand: the one that was changed counts, for both."""
        signed = self._style.look.signed
        half = abs(low) if signed and abs(low - self.low) > abs(high - self.high) else abs(high)
        self.mode = "manual"
        self._spread(half)
