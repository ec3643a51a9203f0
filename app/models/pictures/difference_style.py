"""How differences are measured and coloured: the same for all of a group of panes. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.models.pictures.pyramid import Array
from gpu_ops.output_kinds import subtracted

Measure = Literal["signed", "absolute", "relative", "ulp"]
MEASURES: tuple[Measure, ...] = ("signed", "absolute", "relative", "ulp")
SHARES = (90.0, 95.0, 99.0, 99.5, 99.9, 100.0)
"""Percentiles of the pixels that differ, at whose difference the colour is full."""
GAINS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Factors by which colours are stronger than at that percentile."""
SCATTERED = 0.02
"""Up to this share of pixels that differ, they are single ones, which would hardly be seen, and are drawn larger."""


@dataclass(frozen=True)
class DifferenceLook:
    """`measure` is "signed" (a − b), "absolute" (|a − b|), "relative" ((a − b) / max(|a|, |b|), in percent) or "ulp"
    (units in the last place: the number of steps between representable numbers from b to a). The colour is full at the
    percentile `share` of what differs, divided by `gain`. `grow` draws scattered pixels larger where the picture is
    reduced."""

    measure: Measure = "signed"
    share: float = 99.5
    gain: float = 1.0
    grow: bool = True

    @property
    def signed(self) -> bool:
        """Whether the measure has both signs."""
        return self.measure != "absolute"


class DifferenceStyle(QObject):
    """The look that all differences of a group follow. `changed`: it is another one."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = DifferenceLook()

    def set(self, **values: Any) -> None:
        """Change some values of the look. ValueError for one that there is not."""
        look = replace(self.look, **values)
        if look.measure not in MEASURES or look.share not in SHARES or look.gain not in GAINS:
            raise ValueError(f"a measure is one of {', '.join(MEASURES)}, a share of {SHARES}, a gain of {GAINS}")
        if look != self.look:
            self.look = look
            self.changed.emit()


def measured(a: Array, b: Array, measure: Measure) -> Array:
    """The difference of two arrays of one shape and of real numbers in float64. NaN where one of them is NaN, and where
    both are the same infinity."""
    if measure == "ulp" and a.dtype == b.dtype and a.dtype.kind == "f":
        return _ulps(a, b)
    signed = subtracted(a, b)
    if measure == "absolute":
        return np.asarray(np.abs(signed))
    if measure != "relative":
        return signed
    with np.errstate(divide="ignore", invalid="ignore"):
        larger = np.maximum(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
        return np.asarray(np.where(signed == 0, 0.0, 100 * signed / larger))


def _ulps(a: Array, b: Array) -> Array:
    """The numbers of the type from b to a; +0 and −0 are one."""
    steps = subtracted(_ordered(a), _ordered(b))
    return np.asarray(np.where(np.isfinite(a) & np.isfinite(b), steps, subtracted(a, b)))


def _ordered(values: Array) -> Array:
    """Integers in the order of floats, one more for each next float."""
    whole = np.dtype(f"i{values.dtype.itemsize}")
    bits = np.ascontiguousarray(values).view(whole)
    return np.asarray(np.where(bits < 0, np.iinfo(whole).min - bits, bits))
