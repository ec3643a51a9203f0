"""The histogram of magnitudes with a line at the threshold, which the user drags."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.base.theme import colours_of
from app.models.curves.magnitudes import Magnitudes
from app.models.ticks import powers
from app.views.parts import number
from app.views.strokes import line_ink

BARS = 120
LINES = 5.5
"""The height, in lines of text."""
STEP, SMALL_STEP = 1.05, 1.01
"""The factor of the threshold by which an arrow key moves the line; the smaller one with Shift."""
BEYOND = 2.0
"""How far the axis extends beyond the largest magnitude, as a factor."""
DIGITS = 4
FAINT = 0.4
"""The opacity of results of an earlier setting."""


class CutPlot(QWidget):
    """Counts over magnitudes, both logarithmic; the first bar also counts everything smaller. The left end of the axis
    represents 0. Mouse: drag the line, or click to place it. Keys: arrows move it, with Shift less far, Home sets it to
    0.

    `moved(value, going_on)`: the user moved the line; `going_on` says that this continues a drag or a key repeat.
    """

    moved = Signal(float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cutPlot")
        self.magnitudes: Magnitudes | None = None
        self.bands: Sequence[int] = ()
        self.lines: tuple[float, ...] = ()
        """The thresholds; the user drags the first one."""
        self.current, self.dragging = True, False
        self._limits: tuple[float, float] = (0.0, math.inf)
        self._span = (1.0, 10.0)
        self._moved = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Threshold in the histogram of coefficients"))
        self.setToolTip(self.tr("Drag the line; arrows move it, Shift+arrows less far, Home sets it to 0"))
        self.describe("")

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics()
        return QSize(unit.averageCharWidth() * 40, round(LINES * unit.height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 16, self.sizeHint().height())

    # What is shown

    def describe(self, sentence: str) -> None:
        """Set the accessible description."""
        self.setAccessibleDescription(" ".join(text for text in (sentence, self.toolTip()) if text))

    def show_counts(self, magnitudes: Magnitudes | None, bands: Sequence[int]) -> None:
        """Show the counts of some of the bands; the axis suits all of them."""
        self.magnitudes, self.bands = magnitudes, tuple(bands)
        self._fit()

    def show_lines(self, lines: Sequence[float], limits: tuple[float, float], current: bool) -> None:
        """Show thresholds; the first can be moved within `limits`; `current` says whether they, and the counts,
        fit the present choice."""
        self.lines, self._limits, self.current = tuple(lines), limits, current
        self._fit()

    def _fit(self) -> None:
        """Let the axis show all magnitudes and lines; it does not change during a drag."""
        if not self.dragging and self.magnitudes is not None:
            low, high = self.magnitudes.span()
            lines = [line for line in self.lines if line > 0]
            low = min([low, *(line / BEYOND for line in lines)])
            self._span = low, max([high, *lines]) * BEYOND
        self.update()

    # Geometry

    def plot(self) -> QRectF:
        """The area of the bars."""
        pad, line = self.fontMetrics().averageCharWidth(), self.fontMetrics().height()
        return QRectF(pad, 2.0, max(1.0, self.width() - 2 * pad), max(1.0, self.height() - 1.2 * line - 2))

    def x_of(self, value: float) -> float:
        """The x coordinate of a magnitude; the left end for those below the axis."""
        box, (low, high) = self.plot(), self._span
        share = math.log(value / low) / math.log(high / low) if value > low else 0.0
        return box.left() + min(share, 1.0) * box.width()

    def value_at(self, x: float) -> float:
        """The magnitude at an x coordinate: 0 at the left end, and never beyond the limits."""
        box, (low, high) = self.plot(), self._span
        share = min(max((x - box.left()) / box.width(), 0.0), 1.0)
        return self._allowed(low * (high / low) ** share if share else 0.0)

    def _allowed(self, value: float) -> float:
        """A number with few digits near a value, within the limits."""
        return min(max(float(f"{value:.{DIGITS}g}"), self._limits[0]), self._limits[1])

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, box, palette = QPainter(self), self.plot(), self.palette()
        painter.fillRect(box, palette.color(QPalette.ColorRole.Base))
        if self.magnitudes is None:
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.tr("No coefficients yet"))
        else:
            painter.setOpacity(1.0 if self.current else FAINT)
            self._paint_axis(painter, box)
            self._paint_bars(painter, box, self.magnitudes)
            self._paint_lines(painter, box)
        if self.hasFocus():
            painter.setOpacity(1.0)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(line_ink(palette), 0))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _paint_axis(self, painter: QPainter, box: QRectF) -> None:
        pad = self.fontMetrics().averageCharWidth()
        colours, text = colours_of(self.palette()), self.palette().color(QPalette.ColorRole.Text)
        for value in powers(*self._span, int(box.width() / (8 * pad))):
            x = round(self.x_of(value)) + 0.5
            painter.setPen(QPen(colours.grid, 1))
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
            painter.setPen(text)
            wide = self.fontMetrics().horizontalAdvance(number(value)) + 2
            left = min(max(x - wide / 2, 0.0), self.width() - wide)
            area = QRectF(left, box.bottom(), wide, self.height() - box.bottom())
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), number(value))

    def _paint_bars(self, painter: QPainter, box: QRectF, magnitudes: Magnitudes) -> None:
        counts = np.log1p(magnitudes.bars(self.bands, np.geomspace(*self._span, BARS + 1)))
        heights = counts / (float(counts.max(initial=0.0)) or 1.0) * (box.height() - 2)
        across = box.left() + box.width() / BARS * np.arange(BARS + 1)
        points = [QPointF(box.left(), box.bottom())]
        for left, right, tall in zip(across.tolist(), across[1:].tolist(), heights.tolist(), strict=False):
            points += [QPointF(left, box.bottom() - tall), QPointF(right, box.bottom() - tall)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours_of(self.palette()).series[2].colour)
        painter.drawPolygon(QPolygonF([*points, QPointF(box.right(), box.bottom())]))

    def _paint_lines(self, painter: QPainter, box: QRectF) -> None:
        """The shade over everything below the first line, faint lines for the others, and the first with a grip."""
        if not self.lines:
            return
        main, grip = self.x_of(self.lines[0]), self.fontMetrics().averageCharWidth()
        colour = self.palette().color(QPalette.ColorRole.Text)
        veil = self.palette().color(QPalette.ColorRole.Base)
        veil.setAlpha(150)
        painter.fillRect(QRectF(box.left(), box.top(), main - box.left(), box.height()), veil)
        painter.setPen(QPen(colour, 1, Qt.PenStyle.DotLine))
        for line in self.lines[1:]:
            x = self.x_of(line)
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 2))
        painter.drawLine(QPointF(main, box.top()), QPointF(main, box.bottom()))
        painter.setBrush(colour)
        middle = box.center().y()
        painter.drawRoundedRect(QRectF(main - grip / 2, middle - grip, grip, 2 * grip), 2, 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    # Events

    def _move(self, value: float) -> None:
        if value != self.lines[0]:
            self.lines = (value, *self.lines[1:])
            self.update()
            self.moved.emit(value, self._moved)
            self._moved = True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.lines and self.magnitudes is not None:
            self.dragging, self._moved = True, False
            if abs(event.position().x() - self.x_of(self.lines[0])) > self.fontMetrics().averageCharWidth():
                self._move(self.value_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.dragging:
            self._move(self.value_at(event.position().x()))
        self.setCursor(Qt.CursorShape.SizeHorCursor if self.lines else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.dragging = False
        self._fit()

    def leaveEvent(self, event: QEvent) -> None:
        self.unsetCursor()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Home: 0}
        if event.key() not in ways or not self.lines or self.magnitudes is None:
            super().keyPressEvent(event)
            return
        way, shift = ways[Qt.Key(event.key())], event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        moved = self.lines[0] * (SMALL_STEP if shift else STEP) ** way
        if not self.lines[0]:
            moved = self._span[0] if way > 0 else 0.0
        self._moved = self._moved and event.isAutoRepeat()
        self._move(self._allowed(moved if way else 0.0))
