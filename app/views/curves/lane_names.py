"""The names of stacked channels, over the plot, and the lines between their lanes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.base.theme import colours_of
from app.models.curves.lanes import Lanes
from app.views.eliding import elided_text
from app.views.parts import number

LONGEST = 14
"""Letters of a name beside the y axis at most."""
VEIL = 200
"""The opacity of the ground of a name."""


def lane_ticks(lanes: Lanes, height: float, letters: QFontMetrics) -> list[list[tuple[float, str]]] | None:
    """The ticks of the y axis of a plot `height` tall, as pyqtgraph takes them: numbers beside each lane, or names of
    the lanes where those have no room. None without lanes: the axis makes its own."""
    if not lanes:
        return None
    line = letters.height()
    if lanes.room(height, line):
        return [[(y, number(float(f"{value:.6g}"))) for y, value in lanes.marks(height, line)], []]
    most = LONGEST * letters.averageCharWidth()
    return [[(y, elided_text(name, letters, most, " ")) for y, name in lanes.names_at(height, line)], []]


class LaneNames(QWidget):
    """Covers a plot and lets the mouse through. `area()` is the part of the plot in which the curves lie."""

    def __init__(self, plot: QWidget, lanes: Lanes, area: Callable[[], QRectF]) -> None:
        super().__init__(plot)
        self.setObjectName("laneNames")
        self._lanes, self._area = lanes, area
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.installEventFilter(self)
        self.resize(plot.size())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.resize(watched.size())
        return False

    def shown(self) -> list[tuple[str, QRectF]]:
        """The names and their boxes, where lanes are tall; else the axis has the names in place of numbers."""
        lanes, area, letters = self._lanes, self._area(), self.fontMetrics()
        if not lanes.room(area.height(), letters.height()):
            return []
        tall, gap, found = area.height() / len(lanes.order), letters.averageCharWidth(), []
        for place in range(len(lanes.order)):
            text = elided_text(lanes.names[place], letters, round(area.width() / 3), " ")
            top = min(area.top() + place * tall + 1, area.bottom() - letters.height())
            box = QRectF(area.left() + gap / 2, top, letters.horizontalAdvance(text) + gap, letters.height())
            found.append((text, box))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        names = self.shown()
        if not self._lanes:
            return
        painter, palette, area = QPainter(self), self.palette(), self._area()
        count = len(self._lanes.order)
        painter.setPen(QPen(colours_of(palette).grid, 1))
        if area.height() / count > 4:  # closer lines would be a gray field
            for place in range(1, count):
                y = round(area.top() + place * area.height() / count) + 0.5
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        ground = palette.color(QPalette.ColorRole.Base)
        ground.setAlpha(VEIL)
        for text, box in names:
            painter.fillRect(box, ground)
            painter.setPen(palette.color(QPalette.ColorRole.Text))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.end()
