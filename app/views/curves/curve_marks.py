"""Marks over a plot of curves: a small triangle at each, and its label where there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPolygonF
from PySide6.QtWidgets import QWidget

from app.base.theme import colours_of


class CurveMarks(QWidget):
    """Covers a plot and lets the mouse through. `shown` are places and heights in the plot's coordinates with a text
    each, the most important first; `screen(x, y)` is the point of the plot at which they lie."""

    def __init__(self, plot: QWidget, screen: Callable[[float, float], QPointF]) -> None:
        super().__init__(plot)
        self.setObjectName("curveMarks")
        self.shown: tuple[tuple[float, float, str], ...] = ()
        self.area = QRectF()
        self._screen = screen
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.installEventFilter(self)
        self.resize(plot.size())
        self.show()

    def show_marks(self, marks: Sequence[tuple[float, float, str]], area: QRectF) -> None:
        """Show these, within an area of the plot."""
        self.shown, self.area = tuple(marks), area
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.resize(watched.size())
        return False

    def named(self) -> list[tuple[QPointF, QRectF | None, str]]:
        """The point of every visible mark, and the box of its text where that hides no other."""
        letters, found, boxes = self.fontMetrics(), [], list[QRectF]()
        size, gap = 0.4 * letters.height(), letters.averageCharWidth()
        for x, y, text in self.shown:
            at = self._screen(x, y)
            if not self.area.adjusted(-1, -1, 1, 1).contains(at):
                continue
            width = letters.horizontalAdvance(text) + gap
            left = min(max(at.x() - width / 2, self.area.left()), self.area.right() - width)
            top = at.y() - 1.6 * size - letters.height()
            box = QRectF(left, max(top, self.area.top()), width, letters.height())
            free = not any(box.intersects(other) for other in boxes)
            boxes += [box] if free else []
            found.append((at, box if free else None, text))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, palette = QPainter(self), self.palette()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size, colour = 0.4 * self.fontMetrics().height(), colours_of(palette).error.colour
        for at, box, text in self.named():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            tip = at - QPointF(0, 2)
            painter.drawPolygon(QPolygonF([tip, tip + QPointF(-size, -1.4 * size), tip + QPointF(size, -1.4 * size)]))
            if box is not None:
                ground = palette.color(QPalette.ColorRole.Base)
                ground.setAlpha(190)
                painter.fillRect(box, ground)
                painter.setPen(colour)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.end()
