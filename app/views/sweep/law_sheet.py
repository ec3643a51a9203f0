"""The laws of a source: speed-up and efficiency as curves, with counted and measured points, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QBrush, QPalette
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.base.numbers import count
from app.models.curves.stroke import variant_stroke
from app.models.ticks import with_room
from app.models.timing.laws import LawCurve, LawPicture, Place
from app.views.parts import is_dark
from app.views.scrolled import Squeezed
from app.views.strokes import colour, pen
from gpu_ops.types import SOURCE_TITLES

MARGIN = 0.06
"""The margin at both ends of an axis, as a share of its range."""
DEVICE_SYMBOL, COUNT_SYMBOL = "d", "o"


class _Drawn:
    """The items of one curve, created once and reused, because pyqtgraph never frees its items."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.line = pg.PlotCurveItem()
        self.counted = pg.ScatterPlotItem(useCache=False)  # cached symbols would be pixels in an SVG
        self.measured = pg.ScatterPlotItem(useCache=False)
        for item in (self.line, self.counted, self.measured):
            plot.addItem(item, ignoreBounds=True)

    def show(self, visible: bool) -> None:
        for item in (self.line, self.counted, self.measured):
            item.setVisible(visible)


class LawPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """One quantity of the laws over numbers or processors, on logarithmic axes, or with a linear share from 0 to 1."""

    def __init__(self, title: str, value: Callable[[Place], float], share: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.title, self.value, self.share = title, value, share
        self.item = self.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.showGrid(x=True, y=True, alpha=0.2)
        self.setCacheMode(pg.QtWidgets.QGraphicsView.CacheModeFlag.CacheNone)
        box = self.item.getViewBox()
        box.setMouseEnabled(x=False, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0)
        self._drawn: list[_Drawn] = []
        self.picture: LawPicture | None = None

    def show_picture(self, picture: LawPicture | None) -> None:
        """Draw these laws."""
        self.picture = picture
        self.refresh()

    def _height(self, place: Place) -> float:
        return self.value(place) if self.share else math.log10(self.value(place))

    def refresh(self) -> None:
        """Draw again, in the present colours and font."""
        curves = self.picture.curves if self.picture else ()
        while len(self._drawn) < len(curves):
            self._drawn.append(_Drawn(self.item))
        for place, drawn in enumerate(self._drawn):
            drawn.show(place < len(curves))
            if place < len(curves):
                self._draw(drawn, curves[place])
        self._dress(curves)

    def _draw(self, drawn: _Drawn, curve: LawCurve) -> None:
        assert self.picture is not None
        dark = is_dark(self.palette())
        stroke = variant_stroke(self.picture.filter, curve.law.variant)
        unit, outline = self.fontMetrics().averageCharWidth(), pen(stroke, dark, 1.5, dashed=False)
        base = QBrush(self.palette().color(QPalette.ColorRole.Base))
        x, y = self._points(curve.line)
        drawn.line.setData(x, y, pen=pen(stroke, dark, 2))
        filled = {"size": 1.2 * unit, "pen": outline, "brush": QBrush(colour(stroke, dark)), "symbol": COUNT_SYMBOL}
        drawn.counted.setData(*self._points(curve.counted), **filled)
        hollow = {"size": 1.6 * unit, "pen": outline, "brush": base, "symbol": DEVICE_SYMBOL}
        drawn.measured.setData(*self._points(curve.measured), **hollow)

    def _points(self, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray]:
        assert self.picture is not None
        over = self.picture.over
        return np.array([math.log10(p.x(over)) for p in places]), np.array([self._height(p) for p in places])

    def _dress(self, curves: Sequence[LawCurve]) -> None:
        """Ranges, ticks and titles."""
        self.setBackground(self.palette().color(QPalette.ColorRole.Base))
        text, family = self.palette().color(QPalette.ColorRole.Text), f"{self.font().pointSizeF():g}pt"
        places = [p for c in curves for p in (*c.line, *c.counted, *c.measured)]
        if not places or self.picture is None:
            return
        x = _padded([math.log10(p.x(self.picture.over)) for p in places])
        y = (0.0, 1.05) if self.share else _padded([self._height(p) for p in places])
        self.item.getViewBox().setRange(xRange=x, yRange=y, padding=0)
        below = self.tr("numbers N") if self.picture.over == "n" else self.tr("processors P")
        for side, ticks, title in (
            ("left", self._ticks(y), self.title),
            ("bottom", [(math.log10(v), count(round(v))) for v in self._shown(x)], below),
        ):
            axis = self.item.getAxis(side)
            axis.setPen(text)
            axis.setTextPen(text)
            axis.setStyle(tickFont=self.font(), hideOverlappingLabels=False)
            axis.enableAutoSIPrefix(False)  # places are logarithms, of which the label would name a factor
            axis.setTicks([ticks])
            axis.setLabel(title, **{"font-size": family})
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(t) for _, t in self._ticks(y))
        self.item.getAxis("left").setWidth(2.2 * metrics.height() + widest)
        self.item.getAxis("bottom").setHeight(2.6 * metrics.height())

    def _shown(self, span: tuple[float, float]) -> list[float]:
        """The values that have space for their label."""
        assert self.picture is not None
        room = max(self.width() - 12 * self.fontMetrics().averageCharWidth(), 1)
        marks = {count(round(value)): value for value in self.picture.values()}
        places = [(math.log10(value), text) for text, value in marks.items()]
        return [marks[text] for _, text in with_room(places, span, room, self.fontMetrics().horizontalAdvance)]

    def _ticks(self, span: tuple[float, float]) -> list[tuple[float, str]]:
        if self.share:
            return [(k / 5, f"{k / 5:g}") for k in range(6)]
        powers = range(math.ceil(span[0]), math.floor(span[1]) + 1)
        return [(float(k), count(10**k) if k >= 0 else f"{10.0**k:g}") for k in powers]

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        if hasattr(self, "picture"):
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "picture"):
            self.refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(18 * unit, 13 * unit)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(12 * unit, 8 * unit)


class LawSheet(Squeezed):
    """The laws with a heading, both plots, and a sentence for each curve."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lawSheet")
        self.setAutoFillBackground(True)
        self.heading, self.words = QLabel(self), QLabel(self)
        self.words.setObjectName("lawWords")
        for label, form in ((self.heading, Qt.TextFormat.PlainText), (self.words, Qt.TextFormat.RichText)):
            label.setWordWrap(True)
            label.setTextFormat(form)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.speedup = LawPlot(self.tr("speed-up S"), lambda place: place.speedup, False, self)
        self.efficiency = LawPlot(self.tr("efficiency E"), lambda place: place.efficiency, True, self)
        self._across: QBoxLayout = QHBoxLayout()
        for plot in (self.speedup, self.efficiency):
            self._across.addWidget(plot, 1)
        gap = self.fontMetrics().averageCharWidth()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(gap, gap // 2, gap, gap // 2)
        layout.addWidget(self.heading)
        layout.addLayout(self._across, 1)
        layout.addWidget(self.words)
        self.picture: LawPicture | None = None

    def show_picture(self, picture: LawPicture | None) -> None:
        """Show these laws."""
        self.picture = picture
        for plot in (self.speedup, self.efficiency):
            plot.show_picture(picture)
        self._write()

    def _write(self) -> None:
        if self.picture is None:
            return
        source = SOURCE_TITLES[self.picture.curves[0].law.source]
        head = self.tr("{filter} · sequential steps, as in a law · {source}")
        self.heading.setText(head.format(filter=self.picture.filter.title, source=source))
        self.words.setText("<br>".join(self._sentence(curve) for curve in self.picture.curves))

    def _sentence(self, curve: LawCurve) -> str:
        """A curve's name in its colour, its formula, and what its points are."""
        assert self.picture is not None
        ink = colour(variant_stroke(self.picture.filter, curve.law.variant), is_dark(self.palette())).name()
        title = curve.law.title if self.picture.over == "n" else self._with_n(curve)
        parts = [f"<span style='color:{ink}'><b>━ {title}</b></span>: {curve.law.text}"]
        if curve.counted:
            parts.append(self.tr("● counted on a simulated GPU"))
        if curve.measured:
            text = self.tr("◇ times of {device}, scaled to the law at the first point")
            parts.append(text.format(device=escape(curve.device)))
        return " · ".join(parts)

    def _with_n(self, curve: LawCurve) -> str:
        name = curve.law.title.partition(",")[0]
        return self.tr("{law}, N = {n}").format(law=name, n=count(curve.n))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "picture"):
            self._write()


def _padded(numbers: Sequence[float]) -> tuple[float, float]:
    """The range of the numbers, which are logarithms, with some margin; a decade around a single number."""
    low, high = min(numbers), max(numbers)
    margin = MARGIN * (high - low) if high > low else 0.5
    return low - margin, high + margin
