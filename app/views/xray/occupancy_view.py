"""Occupancy by block size: the warps of a multiprocessor, their limiter, and the kernel's own block size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.base.numbers import count
from app.base.theme import colours_of
from app.models.pictures.plane import Plane
from app.models.timing.occupancy import LIMITERS, BlockOccupancy, Curve, curve, limiter_name
from app.views.boxes import in_column
from app.views.charts.chart import Chart
from app.views.charts.frame import Frame, Side
from app.views.labels import sentence_label

MOST_THREADS = 1024
TICKS = 256
"""The threads between two labels of the axis."""


def _circle(painter: QPainter, at: QPointF, size: float) -> None:
    painter.drawEllipse(at, size, size)


def _square(painter: QPainter, at: QPointF, size: float) -> None:
    painter.drawRect(QRectF(at.x() - size, at.y() - size, 2 * size, 2 * size))


def _triangle(painter: QPainter, at: QPointF, size: float) -> None:
    corners = [QPointF(0, -1.2 * size), QPointF(1.2 * size, size), QPointF(-1.2 * size, size)]
    painter.drawPolygon(QPolygonF([at + corner for corner in corners]))


def _diamond(painter: QPainter, at: QPointF, size: float) -> None:
    far = 1.4 * size
    corners = [QPointF(0, -far), QPointF(far, 0), QPointF(0, far), QPointF(-far, 0)]
    painter.drawPolygon(QPolygonF([at + corner for corner in corners]))


def _plus(painter: QPainter, at: QPointF, size: float) -> None:
    far, arm = 1.3 * size, 0.45 * size
    across = [(-far, -arm), (-arm, -arm), (-arm, -far), (arm, -far), (arm, -arm), (far, -arm)]
    corners = [QPointF(x, y) for x, y in (*across, *((-x, -y) for x, y in across))]
    painter.drawPolygon(QPolygonF([at + corner for corner in corners]))


Symbol = Callable[[QPainter, QPointF, float], None]
SYMBOLS: Mapping[str, Symbol] = dict(zip(LIMITERS, (_circle, _square, _triangle, _diamond, _plus), strict=True))
"""The symbol of each limiter, in addition to its colour."""


class OccupancyPlot(Chart):
    """Warps per multiprocessor over threads per block. Left and Right, or the mouse, move between block sizes."""

    least = 20, 18
    current_changed = Signal(object)
    """The occupancy at the current block size; None when there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        title = self.tr("Warps per multiprocessor over threads per block")
        super().__init__(Plane(), parent, "xray.occupancy", title)
        self.curve: Curve | None = None
        self.held: BlockOccupancy | None = None
        self.plane.cursor_moved.connect(self._point)

    def show_curve(self, curve: Curve | None) -> None:
        """Draw this curve, without a current block size."""
        self.curve = curve
        self.set_current(None)
        most = curve.own.most if curve else 1
        self.plane.set_limits((0.0, MOST_THREADS, 32.0), (0.0, most, 1.0))
        self.refresh()

    def set_current(self, held: BlockOccupancy | None) -> None:
        """Move to a block size."""
        if held != self.held:
            self.held = held
            self.setAccessibleDescription(held.text if held else "")
            self.viewport().update()
            self.current_changed.emit(held)

    def points(self) -> list[BlockOccupancy]:
        """All block sizes, ascending, with the kernel's own."""
        if self.curve is None:
            return []
        own = self.curve.own
        others = [held for held in self.curve.sizes if held.threads != own.threads]
        return sorted([*others, own], key=lambda held: held.threads)

    # Places

    def legend(self) -> list[tuple[str, QPointF]]:
        """The limiters that occur, with the positions of their symbols, in as many rows as needed."""
        metrics, there = self.fontMetrics(), {held.limiter for held in self.points()}
        unit, high = metrics.averageCharWidth(), metrics.height()
        places, x, y = [], float(unit), 0.5 * high
        for limiter in (name for name in LIMITERS if name in there):
            width = 4 * unit + metrics.horizontalAdvance(limiter_name(limiter))
            if x > unit and x + width > self.width():
                x, y = float(unit), y + high
            places.append((limiter, QPointF(x + unit, y)))
            x += width + unit
        return places

    def area(self) -> QRectF:
        """The box of the points; around it are the legend, the axes' names and their labels."""
        return self.frame().box

    def place(self, held: BlockOccupancy) -> QPointF:
        """The position of a point."""
        return self.frame().point(held.threads, held.warps)

    def nearest(self, x: float) -> BlockOccupancy | None:
        """The block size nearest to an x coordinate."""
        return min(self.points(), key=lambda held: abs(self.place(held).x() - x), default=None)

    # As a chart

    def margins(self) -> tuple[float, float]:
        """The legend and the kernel's block size are above."""
        places, (_, right) = self.legend(), super().margins()
        return (places[-1][1].y() if places else 0) + 2.2 * self.fontMetrics().height(), right

    def left(self, frame: Frame) -> Side:
        most = self.curve.own.most if self.curve else 0
        return Side([(most * k / 4, count(most * k / 4)) for k in range(5)], self.tr("warps per multiprocessor"))

    def bottom(self, frame: Frame) -> Side:
        marks = [(float(threads), count(threads)) for threads in range(0, MOST_THREADS + 1, TICKS)]
        return Side(marks, self.tr("threads per block"))

    def paint(self, painter: QPainter, frame: Frame) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.curve is not None:
            self._paint_legend(painter)
            self._paint_name(painter, self.curve.own, frame)
            painter.setClipRect(frame.box.adjusted(-self._size(), -self._size(), self._size(), self._size()))
            self._paint_points(painter, self.curve)

    def _colour(self, limiter: str) -> QColor:
        return colours_of(self.palette()).series[LIMITERS.index(limiter)].colour

    def _symbol(self, painter: QPainter, limiter: str, at: QPointF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour(limiter))
        SYMBOLS[limiter](painter, at, self._size())
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _size(self) -> float:
        return 0.22 * float(self.fontMetrics().height())

    def _paint_legend(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        unit, high = metrics.averageCharWidth(), metrics.height()
        for limiter, at in self.legend():
            self._symbol(painter, limiter, at)
            painter.setPen(self.palette().color(self.foregroundRole()))
            text = QRectF(at.x() + 1.5 * unit, at.y() - high / 2, self.width(), high)
            painter.drawText(text, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, limiter_name(limiter))

    def _paint_points(self, painter: QPainter, curve: Curve) -> None:
        area, text = self.area(), self.palette().color(self.foregroundRole())
        painter.setPen(QPen(colours_of(self.palette()).muted, 1))
        painter.drawPolyline(QPolygonF([self.place(held) for held in curve.sizes]))
        own = self.place(curve.own)
        painter.setPen(QPen(text, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(own.x(), area.top()), QPointF(own.x(), area.bottom()))
        for held in self.points():
            self._symbol(painter, held.limiter, self.place(held))
        painter.setPen(QPen(text, 2))
        painter.drawEllipse(own, 2.2 * self._size(), 2.2 * self._size())
        if self.held is not None:
            at = self.place(self.held)
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Link), 2))
            _square(painter, at, 2.4 * self._size())

    def _paint_name(self, painter: QPainter, own: BlockOccupancy, frame: Frame) -> None:
        """Draw the kernel's block size above the plot, as near to its line as possible."""
        metrics = self.fontMetrics()
        unit, high, x = metrics.averageCharWidth(), metrics.height(), frame.x(own.threads)
        words = self.tr("this kernel: {threads}").format(threads=count(own.threads))
        width = metrics.horizontalAdvance(words)
        left = min(max(x - width / 2, unit), self.width() - width - unit)
        painter.setPen(self.palette().color(self.foregroundRole()))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, frame.box.top() - 1.5 * high, width + unit, high), flags, words)

    # User actions

    def words_at(self, position: QPoint) -> str:
        held = self.nearest(position.x())
        return held.text if held else ""

    @Slot()
    def _point(self) -> None:
        """The cursor is at a block size, or has left."""
        cursor, own = self.plane.cursor, self.curve.own if self.curve else None
        self.set_current(self.nearest(self.frame().x(cursor[0])) if cursor else own if self.hasFocus() else None)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if self.held is None and self.curve is not None:
            self.set_current(self.curve.own)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.set_current(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        points, key = self.points(), Qt.Key(event.key())
        here = points.index(self.held) if self.held in points else 0
        last = len(points) - 1
        moves = {
            Qt.Key.Key_Left: max(here - 1, 0),
            Qt.Key.Key_Right: min(here + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if key in moves and points:
            self.set_current(points[moves[key]])
        else:
            super().keyPressEvent(event)


class BlockSizes(QScrollArea):
    """The plot, the occupancy at the current block size, and a sentence that explains it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("xray.blocks")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget(self)
        self.plot = OccupancyPlot(inside)
        self.now, self.sentence = (sentence_label(f"xray.blocks.{name}", inside) for name in ("now", "sentence"))
        gap = self.fontMetrics().averageCharWidth()
        in_column((self.plot, 1), self.now, self.sentence, 0, on=inside, margins=(0, gap, 0, gap))
        self.setWidget(inside)
        self.plot.current_changed.connect(self._show_text)

    def show_kernel(self, kernel: Mapping[str, Any], architecture: str) -> None:
        """Show a kernel of an X-ray, simulated for an architecture."""
        kernel_curve = curve(kernel)
        for widget in (self.plot, self.now):
            widget.setVisible(kernel_curve is not None)
        self.plot.show_curve(kernel_curve)
        self._show_text(None)
        if kernel_curve:
            self.sentence.setText(f"{kernel_curve.sentence}\n{kernel_curve.assumption}")
        else:
            text = self.tr(
                "The occupancy of {gpu} is not known: the limits of its multiprocessors are not in the table."
            )
            self.sentence.setText(text.format(gpu=architecture))

    @Slot(object)
    def _show_text(self, held: BlockOccupancy | None) -> None:
        shown = held or (self.plot.curve.own if self.plot.curve else None)
        self.now.setText(shown.text if shown else "")
