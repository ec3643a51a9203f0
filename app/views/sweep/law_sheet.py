"""The laws of a source: speed-up and efficiency as curves, with counted and measured points, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

import numpy as np
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QBrush, QPalette
from PySide6.QtWidgets import QLabel, QWidget

from app.base.nesting import bounded
from app.base.numbers import count, number
from app.models.curves.stroke import variant_stroke
from app.models.pictures.plane import Plane
from app.models.ticks import log_ticks
from app.models.timing.laws import LawCurve, LawPicture, Place
from app.views.boxes import in_column, in_row
from app.views.charts.chart import Chart, Drawn, padded
from app.views.charts.frame import Frame, Side, axis_side
from app.views.parts import is_dark
from app.views.scrolled import Squeezed
from app.views.strokes import colour, pen
from gpu_ops.output_kinds import Axis
from gpu_ops.types import SOURCE_TITLES

DEVICE_SYMBOL, COUNT_SYMBOL = "d", "o"


class LawPlot(Chart):
    """One quantity of the laws over numbers or processors, on logarithmic axes, or with a linear share from 0 to 1."""

    least = 24, 16

    def __init__(self, title: str, value: Callable[[Place], float], share: bool, parent: QWidget | None = None) -> None:
        super().__init__(Plane(), parent, title=title)
        self.title, self.value, self.share = title, value, share
        self.picture: LawPicture | None = None

    def show_picture(self, picture: LawPicture | None) -> None:
        """Draw these laws."""
        self.picture = picture
        places = [p for c in picture.curves for p in (*c.line, *c.counted, *c.measured)] if picture else []
        x, y = self._points(places)
        self.plane.set_limits(padded(x.tolist()), (0.0, 1.05, 0.005) if self.share else padded(y.tolist()))
        self.refresh()

    def draw(self, frame: Frame) -> None:
        curves = self.picture.curves if self.picture else ()
        for drawn, curve in zip(self.pool(len(curves)), curves, strict=True):
            self._draw(drawn, curve)

    def _draw(self, drawn: Drawn, curve: LawCurve) -> None:
        assert self.picture is not None
        dark = is_dark(self.palette())
        stroke = variant_stroke(self.picture.filter, curve.law.variant)
        unit, outline = self.fontMetrics().averageCharWidth(), pen(stroke, dark, 1.5, dashed=False)
        base = QBrush(self.palette().color(QPalette.ColorRole.Base))
        drawn.line.setData(*self._points(curve.line), pen=pen(stroke, dark, 2))
        filled = {"size": 1.2 * unit, "pen": outline, "brush": QBrush(colour(stroke, dark)), "symbol": COUNT_SYMBOL}
        drawn.dots.setData(*self._points(curve.counted), **filled)
        hollow = {"size": 1.6 * unit, "pen": outline, "brush": base, "symbol": DEVICE_SYMBOL}
        drawn.rings.setData(*self._points(curve.measured), **hollow)

    def _points(self, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray]:
        over = self.picture.over if self.picture else "n"
        heights = (self.value(p) if self.share else math.log10(self.value(p)) for p in places)
        return np.array([math.log10(p.x(over)) for p in places]), np.array(list(heights))

    def left(self, frame: Frame) -> Side:
        low, high = frame.upward
        if self.share:
            return axis_side(Axis(self.title), (low, high), frame.tall // 2)
        values = log_ticks(10**low, 10**high, frame.tall // 2)
        return Side([(math.log10(v), count(round(v)) if v >= 1 else f"{v:g}") for v in values], self.title)

    def bottom(self, frame: Frame) -> Side:
        """The values with space for their label."""
        if self.picture is None:
            return Side(())
        title = self.tr("numbers N") if self.picture.over == "n" else self.tr("processors P")
        marks = ((math.log10(value), count(round(value))) for value in self.picture.values())
        return Side(self.spaced(marks, frame), title)

    def words_at(self, position: QPoint) -> str:
        """The point near a position of the viewport, as text."""
        return next(iter(self.near(position, self._point_texts())), "")

    def _point_texts(self) -> Iterator[tuple[float, float, str]]:
        """All points as text."""
        for curve in self.picture.curves if self.picture else ():
            for place in (*curve.counted, *curve.measured):
                at = number(self.value(place), 3)
                text = f"{curve.law.title}\nN = {count(place.n)}, P = {count(round(place.p))}: {self.title} {at}"
                (x,), (y,) = self._points([place])
                yield float(x), float(y), text


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
        gap, across = self.fontMetrics().averageCharWidth(), in_row((self.speedup, 1), (self.efficiency, 1))
        in_column(self.heading, (across, 1), self.words, on=self, margins=(gap, gap // 2, gap, gap // 2))
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

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "picture"):
            self._write()
