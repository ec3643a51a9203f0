"""A figure of a source: its published values dashed, a model's curves, and measured points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QBrush, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.base.numbers import number
from app.base.theme import colours_of, mix
from app.models.curves.stroke import INK, Stroke, variant_stroke
from app.models.pictures.plane import Plane
from app.models.ticks import log_ticks, ticks
from app.views.charts.chart import MARGIN, Chart, Drawn, padded
from app.views.charts.frame import Frame, Side
from app.views.parts import is_dark
from app.views.strokes import DASHES, colour
from app.views.sweep.plot import SYMBOLS, LineStyle
from gpu_ops import FILTERS, DrawnFigure
from gpu_ops.types import Scale, Series

BEAM = 0.012
"""Half the width of the caps at the ends of a range, as a share of the axis."""
FILL = 0.14
"""The share of a band's colour; the rest is the background's."""
APART = 5
"""The distance of symbols that distinguish two lines of one variant; all symbols are used in turn."""
DIGITS = 7
"""Significant digits of a tick's label: enough that no round number is written with an exponent."""
GHOST_DASHES, MODEL_DASHES = (1, 2, 4), (0, 3, 2)


@dataclass(frozen=True)
class Ghost(LineStyle):
    """The look of published values: dashed, in the colour of muted text."""

    palette: QPalette | None = None

    def pen(self, width: float = 2) -> QPen:
        result = self.outline()
        result.setWidthF(width)
        result.setCapStyle(Qt.PenCapStyle.FlatCap)  # others fill the gaps
        result.setDashPattern([length / width for length in DASHES[self.stroke.dash]])
        return result

    def outline(self) -> QPen:
        assert self.palette is not None
        result = QPen(colours_of(self.palette).muted, 1.5)
        result.setCosmetic(True)
        return result


def look_of(drawn: DrawnFigure, series: Series, palette: QPalette) -> LineStyle:
    """Measured points have the style of their variant, predicted ones are hollow, models are lines in the text colour,
    and published values are dashed and muted."""
    dark, base = is_dark(palette), palette.color(QPalette.ColorRole.Base)
    same = [one for one in drawn.series if one.basis == series.basis]
    place = same.index(series)
    if series.basis == "published":
        marked = "" if series.tops or series.joined else "d"
        dash = GHOST_DASHES[place % len(GHOST_DASHES)]
        return Ghost(Stroke(INK, dash), marked, base, dark, bool(series.joined), palette=palette)
    if series.basis == "model":
        return LineStyle(Stroke(INK, MODEL_DASHES[place % len(MODEL_DASHES)]), "", base, dark)
    filter = FILTERS.find(series.filter)
    stroke = variant_stroke(filter, series.variant)
    ids = [v.id for v in filter.variants]
    earlier = sum(one.variant == series.variant for one in same[:place])  # lines of one variant differ in the symbol
    symbol = SYMBOLS[(ids.index(series.variant) + earlier * APART) % len(SYMBOLS)]
    filling = base if series.basis == "predicted" else colour(stroke, dark)
    return LineStyle(stroke, symbol, filling, dark, series.joined)


class FigurePlot(Chart):
    """Shows a DrawnFigure. The cursor describes the nearest point."""

    least = 24, 32

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Plane(), parent, "figurePlot")
        self.drawn: DrawnFigure | None = None

    def show_figure(self, drawn: DrawnFigure) -> None:
        """Show this figure."""
        self.drawn = drawn
        self.setAccessibleName(drawn.figure.title)
        self.setAccessibleDescription("\n".join([*drawn.notes, drawn.missing]).strip())
        figure, series = drawn.figure, drawn.series
        xs = [*figure.x.ticks, *(x for one in series for x in one.xs)]
        ys = [y for one in series for y in (*one.ys, *one.tops)]
        top = (1 + MARGIN) * max(ys)
        upward = padded(_places(figure.y, ys)) if figure.y.logarithmic else (0.0, top, top / 200)  # shares begin at 0
        self.plane.set_limits(padded(_places(figure.x, xs)), upward)
        self.plane.fit()
        self.show_tags([(_places(figure.x, [x])[0], _places(figure.y, [y])[0], text) for x, y, text in drawn.marks])

    def draw(self, frame: Frame) -> None:
        series = self.drawn.series if self.drawn else ()
        for drawn, one in zip(self.pool(len(series)), series, strict=True):
            self._draw(drawn, one, BEAM * (frame.across[1] - frame.across[0]))

    def _draw(self, items: Drawn, series: Series, beam: float) -> None:
        assert self.drawn is not None
        shown, figure = look_of(self.drawn, series, self.palette()), self.drawn.figure
        x, y = np.array(_places(figure.x, series.xs)), np.array(_places(figure.y, series.ys))
        items.line.setVisible(bool(series.joined or series.tops))
        items.band.setVisible(bool(series.tops))
        items.dots.setVisible(bool(shown.symbol))
        if series.tops:
            self._draw_range(items, shown, (x, y, np.array(_places(figure.y, series.tops))), beam)
        else:
            items.line.setData(x, y, pen=shown.pen(), connect="all")
        size = (1.8 if series.basis == "published" else 1.3) * self.fontMetrics().averageCharWidth()
        if shown.symbol:
            filling = QBrush(shown.filling)
            items.dots.setData(x, y, symbol=shown.symbol, size=size, pen=shown.outline(), brush=filling)

    def _draw_range(
        self, items: Drawn, shown: LineStyle, places: tuple[np.ndarray, np.ndarray, np.ndarray], beam: float
    ) -> None:
        """A band between minimum and maximum with a line at both, or between two caps if the range is at one
        position."""
        x, low, top = places
        if len(x) == 1:
            x, low, top = np.array([x[0] - beam, x[0] + beam]), low.repeat(2), top.repeat(2)
        around = np.concatenate([x, x[::-1], x[:1]]), np.concatenate([low, top[::-1], low[:1]])
        ink = shown.outline().color()
        fill = mix(self.palette().color(QPalette.ColorRole.Base), ink, FILL)
        items.band.setData(*around, pen=None, brush=QBrush(fill), fillLevel="enclosed")
        edges = [np.column_stack([side[:-1], side[1:]]).ravel() for side in (low, top)]
        across = np.column_stack([x[:-1], x[1:]]).ravel()
        items.line.setData(np.tile(across, 2), np.concatenate(edges), pen=shown.pen(), connect="pairs")

    def bottom(self, frame: Frame) -> Side:
        """The ticks of the scale with space for their label."""
        if self.drawn is None:
            return Side(())
        scale = self.drawn.figure.x
        marks = zip(_places(scale, scale.ticks), (number(tick, DIGITS) for tick in scale.ticks), strict=True)
        return Side(self.spaced(marks, frame), scale.label)

    def left(self, frame: Frame) -> Side:
        """As many round values as fit."""
        if self.drawn is None:
            return Side(())
        scale, (low, high), most = self.drawn.figure.y, frame.upward, frame.tall
        values = log_ticks(10**low, 10**high, most) if scale.logarithmic else ticks(low, high, most)
        return Side(
            [(place, number(v, DIGITS)) for v, place in zip(values, _places(scale, values), strict=True)], scale.label
        )

    def words_at(self, position: QPoint) -> str:
        """The point near a position of the viewport, as text; "" if there is none."""
        return next(iter(self.near(position, self._point_texts())), "")

    def _point_texts(self) -> Iterator[tuple[float, float, str]]:
        """All points as text; a range at its middle."""
        for one in self.drawn.series if self.drawn else ():
            assert self.drawn is not None
            figure = self.drawn.figure
            for x, y, top in zip(one.xs, one.ys, one.tops or one.ys, strict=True):
                (across,), (low, high) = _places(figure.x, [x]), _places(figure.y, [y, top])
                yield across, (low + high) / 2, self._words(one, x, (y, top))

    def _words(self, series: Series, x: float, ends: tuple[float, float]) -> str:
        assert self.drawn is not None
        figure = self.drawn.figure
        value = number(ends[0], 3)
        if ends[0] != ends[1]:
            value = self.tr("{low} to {high}").format(low=value, high=number(ends[1], 3))
        lines = [series.name, f"{figure.x.label}: {number(x)}", f"{figure.y.label}: {value}", series.text]
        return "\n".join(filter(None, lines))

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(30 * unit, 24 * unit)


def _places(scale: Scale, values: Iterable[float]) -> list[float]:
    """The coordinates of values on an axis: their decimal logarithms, or the values themselves."""
    return [math.log10(value) if scale.logarithmic else value for value in values]
