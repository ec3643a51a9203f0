"""A figure of a source: its published values as dashed ghosts, a model's curves, and measured points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QBrush, QHelpEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.base.numbers import number
from app.base.theme import colours_of, mix
from app.base.tips import show_tip
from app.models.curves.stroke import INK, Stroke, variant_stroke
from app.models.ticks import log_ticks, ticks, with_room
from app.views.parts import is_dark
from app.views.strokes import DASHES, colour
from app.views.sweep.plot import NEAR, SYMBOLS, LineStyle
from gpu_ops import FILTERS, DrawnFigure
from gpu_ops.types import Scale, Series

MARGIN = 0.06
"""The margin at both ends of an axis, as a share of its range."""
BEAM = 0.012
"""Half the width of the beams at the ends of a range, as a share of the axis."""
FILL = 0.14
"""The share of a band's colour; the rest is the ground's."""
APART = 5
"""How far the symbols of two lines of one variant lie apart; all symbols take their turn."""
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
    """Measured points look as their variant does everywhere, models are lines in ink, published values are ghosts."""
    dark, base = is_dark(palette), palette.color(QPalette.ColorRole.Base)
    same = [one for one in drawn.series if one.basis == series.basis]
    place = same.index(series)
    if series.basis == "published":
        marked = "" if series.tops or series.joined else "d"
        dash = GHOST_DASHES[place % len(GHOST_DASHES)]
        return Ghost(Stroke(INK, dash), marked, base, dark, bool(series.joined), palette)
    if series.basis == "model":
        return LineStyle(Stroke(INK, MODEL_DASHES[place % len(MODEL_DASHES)]), "", base, dark)
    filter = FILTERS.find(series.filter)
    stroke = variant_stroke(filter, series.variant)
    ids = [v.id for v in filter.variants]
    earlier = sum(one.variant == series.variant for one in same[:place])  # lines of one variant differ in the symbol
    symbol = SYMBOLS[(ids.index(series.variant) + earlier * APART) % len(SYMBOLS)]
    return LineStyle(stroke, symbol, colour(stroke, dark), dark, series.joined)


class _Drawn:
    """The items of one series, created once and reused, because pyqtgraph never frees its items."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.band = pg.PlotCurveItem()
        self.line = pg.PlotCurveItem()
        self.dots = pg.ScatterPlotItem(useCache=False)  # cached symbols would be pixels in an SVG
        for depth, item in enumerate((self.band, self.line, self.dots)):
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)

    def show(self, visible: bool) -> None:
        for item in (self.band, self.line, self.dots):
            item.setVisible(visible)


class FigurePlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Shows a DrawnFigure. The cursor describes the nearest point; everything is always visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figurePlot")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the copied table has the same content for the keyboard
        self.item = self.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.showGrid(x=True, y=True, alpha=0.2)
        self.setCacheMode(pg.QtWidgets.QGraphicsView.CacheModeFlag.CacheNone)  # a cached one is pixels in an SVG
        box = self.item.getViewBox()
        box.setMouseEnabled(x=False, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0)
        self.drawn: DrawnFigure | None = None
        self._items: list[_Drawn] = []
        self.viewport().setMouseTracking(True)

    def show_figure(self, drawn: DrawnFigure) -> None:
        """Show this figure."""
        self.drawn = drawn
        self.setAccessibleName(drawn.figure.title)
        self.setAccessibleDescription("\n".join([*drawn.notes, drawn.missing]).strip())
        self.refresh()

    def refresh(self) -> None:
        """Draw again, in the present colours and font."""
        if self.drawn is None:
            return
        x, y = self.ranges()
        self.item.getViewBox().setRange(xRange=x, yRange=y, padding=0)
        series = self.drawn.series
        while len(self._items) < len(series):
            self._items.append(_Drawn(self.item))
        for place, items in enumerate(self._items):
            items.show(place < len(series))
            if place < len(series):
                self._draw(items, series[place], BEAM * (x[1] - x[0]))
        self._dress(x, y)

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of both axes, as logarithms where the axis is logarithmic."""
        assert self.drawn is not None
        figure, series = self.drawn.figure, self.drawn.series
        xs = [*figure.x.ticks, *(x for one in series for x in one.xs)]
        ys = [y for one in series for y in (*one.ys, *one.tops)]
        if figure.y.logarithmic:
            return _padded(_places(figure.x, xs)), _padded(_places(figure.y, ys))
        return _padded(_places(figure.x, xs)), (0.0, (1 + MARGIN) * max(ys))  # shares begin at nothing

    def _draw(self, items: _Drawn, series: Series, beam: float) -> None:
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
        self, items: _Drawn, shown: LineStyle, places: tuple[np.ndarray, np.ndarray, np.ndarray], beam: float
    ) -> None:
        """A band between low and top with a line at both, or between two beams where the range is of one place."""
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

    def _dress(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Set ticks and titles in the present font and colours."""
        assert self.drawn is not None
        figure, metrics = self.drawn.figure, self.fontMetrics()
        self.setBackground(self.palette().color(QPalette.ColorRole.Base))
        text, family = self.palette().color(QPalette.ColorRole.Text), f"{self.font().pointSizeF():g}pt"
        left = self._high_ticks(figure.y, y)
        for side, marks, scale in (("left", left, figure.y), ("bottom", self._wide_ticks(figure.x, x), figure.x)):
            axis = self.item.getAxis(side)
            axis.enableAutoSIPrefix(False)  # a factor in the label would be taken for one of the numbers
            axis.setPen(text)
            axis.setTextPen(text)
            axis.setStyle(tickFont=self.font(), hideOverlappingLabels=False)
            axis.setTicks([marks])
            axis.setLabel(scale.label, **{"font-size": family})
        widest = max((metrics.horizontalAdvance(words) for _, words in left), default=0)
        lines = 1
        if metrics.horizontalAdvance(figure.y.label) > self.height() - 3 * metrics.height():
            lines = 2
            self.item.getAxis("left").setLabel(figure.y.label.replace(", ", ",<br>", 1), **{"font-size": family})
        self.item.getAxis("left").setWidth((1.2 + lines) * metrics.height() + widest)
        self.item.getAxis("bottom").setHeight(2.6 * metrics.height())

    def _wide_ticks(self, scale: Scale, span: tuple[float, float]) -> list[tuple[float, str]]:
        """The ticks of the scale that have space for their label."""
        room = max(self.width() - 12 * self.fontMetrics().averageCharWidth(), 1)
        marks = [(place, number(value)) for value, place in zip(scale.ticks, _places(scale, scale.ticks), strict=True)]
        return with_room(marks, span, room, self.fontMetrics().horizontalAdvance)

    def _high_ticks(self, scale: Scale, span: tuple[float, float]) -> list[tuple[float, str]]:
        """Round values, as many as fit."""
        room = max(2, int(self.height() / (2.5 * self.fontMetrics().height())))
        values = log_ticks(10 ** span[0], 10 ** span[1], room) if scale.logarithmic else ticks(*span, room)
        return [(place, number(value, 3)) for value, place in zip(values, _places(scale, values), strict=True)]

    def words_at(self, position: QPoint) -> str:
        """The point near a place of the viewport, in words; "" where there is none."""
        assert self.drawn is not None
        box, figure = self.item.getViewBox(), self.drawn.figure
        nearest, words = NEAR * self.fontMetrics().averageCharWidth(), ""
        for one in self.drawn.series:
            tops = one.tops or one.ys
            for x, y, top in zip(one.xs, one.ys, tops, strict=True):
                (across,), (low, high) = _places(figure.x, [x]), _places(figure.y, [y, top])
                apart = box.mapViewToScene(QPointF(across, (low + high) / 2)) - self.mapToScene(position)
                far = math.hypot(apart.x(), apart.y())
                if far <= nearest:
                    nearest, words = far, self._words(one, x, (y, top))
        return words

    def _words(self, series: Series, x: float, ends: tuple[float, float]) -> str:
        assert self.drawn is not None
        figure = self.drawn.figure
        value = number(ends[0], 3)
        if ends[0] != ends[1]:
            value = self.tr("{low} to {high}").format(low=value, high=number(ends[1], 3))
        lines = [series.name, f"{figure.x.label}: {number(x)}", f"{figure.y.label}: {value}", series.text]
        return "\n".join(filter(None, lines))

    # Events

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.drawn is not None:
            show_tip(event.globalPos(), self.words_at(event.pos()), self)
            return True
        return bool(super().viewportEvent(event))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if hasattr(self, "_items"):
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_items"):
            self.refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(30 * unit, 24 * unit)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(12 * unit, 16 * unit)


def _places(scale: Scale, values: Iterable[float]) -> list[float]:
    """Where values lie on an axis: their decimal logarithms, or themselves."""
    return [math.log10(value) if scale.logarithmic else value for value in values]


def _padded(numbers: Sequence[float]) -> tuple[float, float]:
    """The range of the numbers with some margin; one to both sides of a single number."""
    low, high = min(numbers), max(numbers)
    margin = MARGIN * (high - low) if high > low else 0.5
    return low - margin, high + margin
