"""The values of many curves under the cursor, one in a line, in a box away from the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPalette, QPen

from app.views.charts.frame import Frame
from app.views.eliding import DOTS, elided_text

SAMPLE, LONGEST = 4, 24
"""Letters of a sample of the line, and the most letters of a name."""
GRAIN = 4
"""The width is a multiple of so many letters: it does not follow each digit."""
FLAT = int(Qt.AlignmentFlag.AlignVCenter)


class Reading(NamedTuple):
    """The value of a curve under the cursor, and the pen of the curve."""

    pen: QPen
    name: str
    value: str


def reading_rows(readings: Sequence[Reading], frame: Frame) -> list[Reading]:
    """The readings that fit into a plot; where some do not, the last row says so."""
    most = int(frame.box.height() / frame.letters.height()) - 1
    if len(readings) <= most:
        return list(readings)
    return [*readings[: max(0, most - 1)], Reading(QPen(Qt.PenStyle.NoPen), DOTS, "")]


def readings_box(rows: Sequence[Reading], frame: Frame, cursor: float) -> QRectF:
    """The box of these rows, at the side of the plot that is farther from the cursor, an x coordinate of the
    viewport."""
    letters, area = frame.letters, frame.box
    unit = letters.averageCharWidth()
    columns = _names(rows, frame), [row.value for row in rows]
    texts = sum(max(map(letters.horizontalAdvance, column), default=0.0) for column in columns)
    wide = min(area.width(), -(-((SAMPLE + 5) * unit + texts) // (GRAIN * unit)) * GRAIN * unit)
    left = area.left() if cursor > area.center().x() else area.right() - wide
    return QRectF(left, area.top(), wide, letters.height() * (len(rows) + 0.5))


def paint_readings(painter: QPainter, frame: Frame, readings: Sequence[Reading], cursor: float) -> None:
    """Paint the box with the readings that fit."""
    rows = reading_rows(readings, frame)
    box, unit, high = readings_box(rows, frame, cursor), frame.letters.averageCharWidth(), frame.letters.height()
    painter.setPen(QPen(frame.colours.grid, 1))
    painter.setBrush(frame.palette.color(QPalette.ColorRole.Base))
    painter.drawRect(box)
    for place, (row, name) in enumerate(zip(rows, _names(rows, frame), strict=True)):
        line = QRectF(box.left() + unit, box.top() + high * (place + 0.25), box.width() - 2 * unit, high)
        middle = line.center().y()
        painter.setPen(row.pen)
        painter.drawLine(QPointF(line.left(), middle), QPointF(line.left() + SAMPLE * unit, middle))
        painter.setPen(frame.palette.color(QPalette.ColorRole.Text))
        painter.drawText(line.adjusted((SAMPLE + 1) * unit, 0, 0, 0), FLAT, name)
        painter.drawText(line, FLAT | int(Qt.AlignmentFlag.AlignRight), row.value)


def _names(rows: Sequence[Reading], frame: Frame) -> list[str]:
    return [elided_text(row.name, frame.letters, LONGEST * frame.letters.averageCharWidth()) for row in rows]
