"""The area of bars: a drag marks a range of them."""

from __future__ import annotations

from math import floor

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.models.curves.marked import Marks
from app.models.pictures.plane import Plane
from app.models.results.view_data import ViewData
from app.views.charts.bars_plot import BarsPlot
from app.views.charts.frame import MARK, Frame
from app.views.charts.plot_area import PlotArea
from app.views.results.reading import range_text


class BarsArea(PlotArea):
    """A PlotArea whose drag marks bars; the middle button pans. Keys: Space marks the bar at the cursor; then the left
    and right arrows move the range's end, with Ctrl its beginning, and Escape removes it."""

    def __init__(self, plot: BarsPlot, plane: Plane, marks: Marks, parent: QWidget | None = None) -> None:
        super().__init__(plot, plane, parent)
        self.marks = marks
        self._anchor: int | None = None
        self._dragging = False
        self.setAccessibleDescription(
            self.tr(
                "A drag marks bars in the input. Plus and minus zoom, 0 fits, arrows pan, Shift+arrows move the cursor;"
                " Space marks its bar, then arrows move the range's end, Ctrl+arrows its beginning, Escape removes it"
            )
        )
        marks.changed.connect(self.viewport().update)

    @property
    def count(self) -> int:
        """How many bars there are."""
        return 0 if self.drawn is None else int(self.drawn.array.shape[-1])

    def _bar_at(self, place: float) -> int:
        return 0 if self.drawn is None else floor(self.plot.axis(self.drawn).index(place))

    def value_text(self) -> str:
        """The bar at the cursor; the marked range while there is no cursor, and while it is dragged."""
        text = "" if self._dragging else super().value_text()
        marked = self.marks.bars if self.drawn is not None else None
        return text or (range_text(self.drawn, marked, "") if self.drawn is not None and marked else "")

    def paint_cursor(self, painter: QPainter, frame: Frame, drawn: ViewData) -> None:
        if self.marks.bars is not None:
            axis = self.plot.axis(drawn)
            left, right = (frame.x(axis.at(bar)) for bar in (self.marks.bars[0], self.marks.bars[1] + 1))
            veil = QColor(MARK)
            veil.setAlpha(70)
            area = QRectF(left, frame.box.top(), max(1.0, right - left), frame.box.height())
            painter.fillRect(area, veil)
            painter.setPen(QPen(MARK, 1))
            for x in (area.left(), area.right()):
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        super().paint_cursor(painter, frame, drawn)

    # Events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self.drawn is None:
            super().mousePressEvent(event)
            return
        self._anchor = self._bar_at(self.frame().place(event.position())[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._anchor is not None:
            bar = self._bar_at(self.frame().place(event.position())[0])
            if self._dragging or bar != self._anchor:
                self._dragging = True
                self.marks.mark(self._anchor, bar, self.count)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._anchor is not None and not self._dragging:
            self.marks.clear()  # a click outside the range
        self._anchor, self._dragging = None, False
        super().mouseReleaseEvent(event)

    @bounded
    def event(self, event: QEvent) -> bool:
        """Handle arrows, which move the range, and Esc, which removes it, before the window's shortcuts do."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._takes(event):
            event.accept()
            return True
        return bool(super().event(event))

    def _takes(self, event: QKeyEvent) -> bool:
        return self.marks.bars is not None and (event.key() == Qt.Key.Key_Escape or self._move(event) is not None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = self._move(event)
        if move is not None:
            self.marks.move(*move, self.count)
        elif event.key() == Qt.Key.Key_Escape and self.marks.bars is not None:
            self.marks.clear()
        elif event.key() == Qt.Key.Key_Space and self.drawn is not None and self.plane.cursor is not None:
            bar = self._bar_at(self.plane.cursor[0])
            self.marks.mark(bar, bar, self.count)
        else:
            super().keyPressEvent(event)

    def _move(self, event: QKeyEvent) -> tuple[int, int] | None:
        """Which end of the range a key moves, and by how many bars; None for another key, and without a range."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        which = {Qt.KeyboardModifier.NoModifier: 1, Qt.KeyboardModifier.ControlModifier: 0}
        if self.marks.bars is None or event.key() not in steps or plain not in which:
            return None
        return which[plain], steps[Qt.Key(event.key())]
