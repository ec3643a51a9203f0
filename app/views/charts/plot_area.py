"""An area that paints one result over an axis: ticks, range, cursor, mouse and keys. A Plot draws the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.base.theme import Colours, colours_of
from app.base.tips import set_tip
from app.models.curves.span import AxisView
from app.models.results.view_data import ViewData
from app.models.ticks import powers, scaled, ticks
from app.views.parts import number
from app.views.results.reading import name_of
from gpu_ops.output_kinds import Axis

ZOOM, PAN = 1.25, 0.1
FAINT = 0.4
"""The opacity of a result of an earlier setting."""


@dataclass(frozen=True)
class Frame:
    """The geometry of a plot: `box` shows the places from `start` to `stop` and the values from `bottom` to `top`,
    which are logarithms if `log` is True."""

    box: QRectF
    start: float
    stop: float
    bottom: float
    top: float
    log: bool
    colours: Colours
    palette: QPalette
    letters: QFontMetricsF

    def x(self, place: float) -> float:
        return self.box.left() + (place - self.start) / (self.stop - self.start) * self.box.width()

    def place(self, x: float) -> float:
        return self.start + (x - self.box.left()) / self.box.width() * (self.stop - self.start)

    def y(self, value: float) -> float:
        """The y coordinate of a value, or of its logarithm on a logarithmic axis."""
        return self.box.bottom() - (value - self.bottom) / (self.top - self.bottom) * self.box.height()


class Plot(Protocol):
    """Draws results of one kind. `aspect` is the best ratio of width to height."""

    aspect: float

    def axis(self, drawn: ViewData) -> Axis:
        """The x axis."""

    def extent(self, drawn: ViewData) -> tuple[float, float, float]:
        """The first and the last place, and the distance of neighbouring values."""

    def limits(self, drawn: ViewData, scale: str) -> tuple[float, float]:
        """The lowest and the highest value to draw."""

    def log(self, scale: str) -> bool:
        """Whether the limits are logarithms to the base of ten."""

    def value_title(self, drawn: ViewData) -> str:
        """The title of the y axis; empty where rows have names."""

    def rows(self, drawn: ViewData) -> list[str]:
        """Names of rows, from the top; none where y is a value."""

    def paint(self, painter: QPainter, frame: Frame, drawn: ViewData, scale: str) -> None:
        """Draw the result, clipped to the frame."""

    def spot(self, drawn: ViewData, place: float, row: float) -> tuple[float, float] | None:
        """The start and end, along x, of the value that the cursor reads at a place."""

    def text(self, drawn: ViewData, place: float, row: float) -> str:
        """The value at a place, in a row if there are rows; empty where there is none."""


class PlotArea(QWidget):
    """Paints one result; the range and the cursor are those of its AxisView. Mouse: wheel zooms, drag pans,
    double-click fits. Keys while focused: + − 0 1, arrows pan, Shift+arrows move the cursor."""

    def __init__(self, plot: Plot, span: AxisView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plotArea")
        self.plot, self.span = plot, span
        self.drawn: ViewData | None = None
        self.scale = ""
        self.current = True
        self._dragged: QPointF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleDescription(
            self.tr("Plus and minus zoom, 0 fits, 1 shows step by step, arrows pan, Shift+arrows move the cursor")
        )
        span.changed.connect(self.update)
        span.cursor_moved.connect(self.update)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 40, unit * 24)

    def minimumSizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 16, unit * 9)

    # What is shown

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None:
        """Paint this on a scale; `current` says whether it fits the present choice."""
        self.drawn, self.scale, self.current = drawn, scale, current
        self.update()

    def value_text(self) -> str:
        """The value at the group's cursor."""
        if self.drawn is None or self.span.cursor is None:
            return ""
        return self.plot.text(self.drawn, *self.span.cursor)

    def frame(self) -> Frame:
        """The present geometry of the plot."""
        letters = QFontMetricsF(self.font())
        pad, line = letters.averageCharWidth(), letters.height()
        left = pad
        span, colours = self.span, colours_of(self.palette())
        log = self.plot.log(self.scale)
        if self.drawn is not None:
            names = self.plot.rows(self.drawn) or [text for _, text in self._value_ticks(self.height() - 3.5 * line)]
            left += max((letters.horizontalAdvance(name) for name in names), default=0.0) + pad
        titled = self.drawn is not None and self.plot.value_title(self.drawn)
        top = 1.6 * line if titled else 0.5 * pad  # the highest number reaches half a line above the plot
        right = 4 * pad  # the last number reaches half its width beyond the plot
        box = QRectF(left, top, max(1.0, self.width() - left - right), max(1.0, self.height() - top - 2.3 * line))
        return Frame(box, span.start, span.stop, span.bottom, span.top, log, colours, self.palette(), letters)

    def _value_ticks(self, height: float) -> list[tuple[float, str]]:
        """Heights along y with their numbers."""
        span, most = self.span, int(height / (2.2 * self.fontMetrics().height()))
        if self.plot.log(self.scale):
            values = powers(10**span.bottom, 10**span.top, most)
            return [(k, short(p)) for p in values for k in [_log10(p)]]
        return [(value, short(value)) for value in ticks(span.bottom, span.top, most)]

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        palette = self.palette()
        painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
        if self.drawn is None:
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect(), int(flags), self.missing or self.tr("No result yet"))
        else:
            self._paint_plot(painter, self.drawn)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 0))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    missing = ""
    """The text in place of a missing result."""

    def set_missing(self, text: str) -> None:
        self.missing = text
        self.update()

    def _paint_plot(self, painter: QPainter, drawn: ViewData) -> None:
        frame = self.frame()
        self.span.set_width(frame.box.width())
        self._paint_axes(painter, frame, drawn)
        painter.save()
        painter.setClipRect(frame.box)
        painter.setOpacity(1.0 if self.current else FAINT)
        self.plot.paint(painter, frame, drawn, self.scale)
        painter.setOpacity(1.0)
        self._paint_cursor(painter, frame, drawn)
        painter.restore()

    def _paint_axes(self, painter: QPainter, frame: Frame, drawn: ViewData) -> None:
        box, line = frame.box, frame.letters.height()
        pad, text = frame.letters.averageCharWidth(), self.palette().color(QPalette.ColorRole.Text)
        axis = self.plot.axis(drawn)
        factor, unit = scaled(axis.unit, max(abs(frame.start), abs(frame.stop)))
        for place in ticks(frame.start, frame.stop, int(box.width() / (9 * pad))):
            x = round(frame.x(place)) + 0.5
            painter.setPen(QPen(frame.colours.grid, 1))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.setPen(text)
            area = QRectF(x - 6 * pad, box.bottom() + 0.1 * line, 12 * pad, line)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), short(place / factor))
        title = name_of(axis) + (f" ({unit})" if unit else "")
        below = QRectF(box.left(), box.bottom() + 1.1 * line, box.width(), line)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), title)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if names := self.plot.rows(drawn):
            tall = box.height() / len(names)
            for row, name in enumerate(names):
                painter.drawText(QRectF(0, box.top() + row * tall, box.left() - pad, tall), right, name)
        else:
            for value, word in self._value_ticks(box.height()):
                y = round(frame.y(value)) + 0.5
                painter.setPen(QPen(frame.colours.grid, 1))
                painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
                painter.setPen(text)
                painter.drawText(QRectF(0, y - line / 2, box.left() - pad, line), right, word)
            painter.drawText(QPointF(pad, 0.9 * line), self.plot.value_title(drawn))
        painter.setPen(QPen(frame.colours.muted, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())

    def _paint_cursor(self, painter: QPainter, frame: Frame, drawn: ViewData) -> None:
        """Highlight the value that the cursor reads."""
        spot = self.plot.spot(drawn, *self.span.cursor) if self.span.cursor else None
        if spot is None:
            return
        veil = QColor(self.palette().color(QPalette.ColorRole.Highlight))
        left, right = frame.x(spot[0]), frame.x(spot[1])
        painter.setPen(QPen(veil, 1))
        painter.drawLine(QPointF(left, frame.box.top()), QPointF(left, frame.box.bottom()))
        veil.setAlpha(60)
        painter.fillRect(QRectF(left, frame.box.top(), max(1.0, right - left), frame.box.height()), veil)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.span.set_width(self.frame().box.width())

    def _point(self, point: QPointF) -> tuple[float, float]:
        """The place and the row under a point; the row is 0 where there are none."""
        frame = self.frame()
        rows = len(self.plot.rows(self.drawn)) if self.drawn is not None else 0
        share = (point.y() - frame.box.top()) / frame.box.height()
        return frame.place(point.x()), min(max(share, 0.0), 1 - 1e-9) * rows

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.span.zoom_at(ZOOM ** (event.angleDelta().y() / 120), self._point(event.position())[0])
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None:
            moved = self._point(event.position())[0] - self._point(self._dragged)[0]
            self._dragged = event.position()
            self.span.pan(-moved)
        self.span.set_cursor(self._point(event.position()))
        set_tip(self, self.value_text())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.span.fit()

    def leaveEvent(self, event: QEvent) -> None:
        self.span.set_cursor(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, span = event.key(), self.span
        sides = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        if key in sides:
            across, down = sides[Qt.Key(key)]
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._move_cursor(across, down)
            else:
                span.pan(across * PAN * (span.stop - span.start))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            span.zoom(ZOOM)
        elif key == Qt.Key.Key_Minus:
            span.zoom(1 / ZOOM)
        elif key == Qt.Key.Key_0:
            span.fit()
        elif key == Qt.Key.Key_1:
            span.one_to_one()
        else:
            super().keyPressEvent(event)

    def _move_cursor(self, across: int, down: int) -> None:
        """To the middle of the next step, or to the next row."""
        span = self.span
        place, row = span.cursor or ((span.start + span.stop) / 2, 0.5)
        step = (int((place - span.low) // span.step) + across + 0.5) * span.step + span.low
        rows = len(self.plot.rows(self.drawn)) if self.drawn is not None else 0
        place = min(max(step, span.low), span.high - span.step / 2)
        span.set_cursor((place, min(max(int(row) + down + 0.5, 0.0), max(rows - 0.5, 0.0))))


def short(value: float) -> str:
    """A tick in few digits."""
    return number(float(f"{value:.6g}"))


def _log10(value: float) -> float:
    from math import log10

    return log10(value)
