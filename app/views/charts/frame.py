"""The geometry of a chart, and the texts of its axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPalette

from app.base.theme import Colours, colours_of
from app.models.pictures.plane import Plane
from app.models.ticks import scaled, ticks
from app.views.parts import number
from app.views.results.reading import name_of
from gpu_ops.output_kinds import Axis

FAINT = 0.4
"""The opacity of a result of an earlier setting."""

MARK = QColor(230, 0, 130)
"""The colour of marked bars and marked samples."""
WIDE, TALL = 9, 2.2
"""The space of a number along x in letters, and along y in lines."""


class Side(NamedTuple):
    """An axis of a chart: positions with their numbers, and the title."""

    marks: Sequence[tuple[float, str]]
    title: str = ""


@dataclass(frozen=True)
class Frame:
    """`box` shows the visible part of `plane`, y upward. Values along y are logarithms if `log` is True."""

    box: QRectF
    plane: Plane
    palette: QPalette
    letters: QFontMetricsF
    log: bool = False

    @property
    def colours(self) -> Colours:
        return colours_of(self.palette)

    @property
    def wide(self) -> int:
        """How many numbers fit along x."""
        return int(self.box.width() / (WIDE * self.letters.averageCharWidth()))

    @property
    def tall(self) -> int:
        """How many numbers fit along y."""
        return max(2, int(self.box.height() / (TALL * self.letters.height())))

    @property
    def across(self) -> tuple[float, float]:
        """The first and the last visible position."""
        return self.plane.x.start, self.plane.x.stop

    @property
    def upward(self) -> tuple[float, float]:
        """The lowest and the highest visible value."""
        return self.plane.y.start, self.plane.y.stop

    def x(self, place: float) -> float:
        start, stop = self.across
        return self.box.left() + (place - start) / (stop - start) * self.box.width()

    def y(self, value: float) -> float:
        """The y coordinate of a value, or of its logarithm on a logarithmic axis."""
        low, high = self.upward
        return self.box.bottom() - (value - low) / (high - low) * self.box.height()

    def point(self, x: float, y: float) -> QPointF:
        """The screen point of a position."""
        return QPointF(self.x(x), self.y(y))

    def place(self, point: QPointF) -> tuple[float, float]:
        """The position under a screen point."""
        (start, stop), (low, high) = self.across, self.upward
        across = (point.x() - self.box.left()) / self.box.width()
        return start + across * (stop - start), low + (self.box.bottom() - point.y()) / self.box.height() * (high - low)


def short(value: float) -> str:
    """A tick's number with few digits."""
    return number(float(f"{value:.6g}"))


def axis_side(axis: Axis, ends: tuple[float, float], most: int) -> Side:
    """Round numbers between the ends of an axis, at most `most` or 2, and its name with a suitable unit."""
    factor, unit = scaled(axis.unit, max(map(abs, ends)))
    marks = [(place * factor, short(place)) for place in ticks(ends[0] / factor, ends[1] / factor, most)]
    return Side(marks, name_of(axis) + (f" ({unit})" if unit else ""))
