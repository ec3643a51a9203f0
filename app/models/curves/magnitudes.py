"""Histograms of the magnitudes of a pyramid's coefficients. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from app.models.results.view_data import Array
from gpu_ops.output_kinds import Band, Form

SHIFT = 16
"""The bits of a float32 that a class leaves out: 7 bits of the fraction remain, so a class is less than a hundredth
wide."""
CLASSES = 0x7F800000 >> SHIFT
"""The classes of finite magnitudes."""
DECADES = 6.0
"""The most decades that a plot shows."""


def details(form: Form) -> tuple[Band, ...]:
    """The bands of details, in the form's order."""
    return tuple(band for band in form.bands if band.orientation != "approximation")


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """The counts of each detail band by class: a class has all magnitudes whose float32 share their leading bits."""

    counts: tuple[Array, ...]

    @classmethod
    def of(cls, array: Array, form: Form) -> Magnitudes:
        """Count the finite coefficients of all channels in each detail band."""
        return cls(tuple(_count(array[band.part]) for band in details(form)))

    def total(self, bands: Sequence[int]) -> int:
        """The number of coefficients in some of the bands."""
        return sum(int(self.counts[k].sum()) for k in bands)

    def below(self, bands: Sequence[int], threshold: float) -> float:
        """How many coefficients are below a threshold, which is rounded to about a hundredth."""
        return float(np.interp(threshold, _edges(), self._sums(bands)))

    def span(self) -> tuple[float, float]:
        """The range (low, high) of the magnitudes of all bands' nonzero coefficients, without the smallest hundredth;
        (1, 10) where there are none."""
        sums = self._sums(range(len(self.counts)))[1:]
        sums -= sums[0]
        filled = np.flatnonzero(np.diff(sums, prepend=0.0))
        if not len(filled):
            return 1.0, 10.0
        low, high = int(np.searchsorted(sums, 0.01 * sums[-1], side="right")), float(_edges()[filled[-1] + 1])
        return max(float(_edges()[low]), high * 10**-DECADES), high

    def bars(self, bands: Sequence[int], edges: Array) -> Array:
        """Counts between edges (n + 1,), as floats (n,). The first bar also counts everything below its lower edge."""
        sums = np.interp(edges, _edges(), self._sums(bands))
        sums[0] = 0.0
        return np.diff(sums)

    def _sums(self, bands: Sequence[int]) -> Array:
        """Cumulative counts of these bands' coefficients at each edge of the classes."""
        counts = np.zeros(CLASSES, np.int64)
        for k in bands:
            counts += self.counts[k]
        return np.concatenate([[0.0], np.cumsum(counts)])


@cache
def _edges() -> Array:
    """The lower edges of the classes, and the upper one of the last."""
    bits = np.arange(CLASSES, dtype=np.uint32) << np.uint32(SHIFT)
    return np.append(bits.view(np.float32).astype(np.float64), 2.0**128)


def _count(part: Array) -> Array:
    with np.errstate(over="ignore"):
        values = np.abs(part.astype(np.float32)).reshape(-1)
    classes = values.view(np.uint32) >> np.uint32(SHIFT)
    counts: Array = np.bincount(classes, minlength=CLASSES)[:CLASSES].astype(np.int64)
    return counts
