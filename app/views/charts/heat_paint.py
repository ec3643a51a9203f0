"""Paints what surrounds a plane of values: its two axes with units, and the scale of its colours."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QPalette, QPen

from app.base.theme import colours_of
from app.models.pictures.layer import Tone
from app.models.pictures.plane import Plane
from app.models.pictures.pyramid import GRAY
from app.models.ticks import scaled, ticks
from app.views.charts.plot_area import short
from app.views.eliding import elided_text
from app.views.results.reading import name_of
from gpu_ops.output_kinds import Axis

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True)
class PlaneFrame:
    """The geometry of a plane: `box` shows the visible part of `plane`, y upward; `scale` is the bar of colours."""

    box: QRectF
    scale: QRectF
    plane: Plane

    def point(self, x: float, y: float) -> QPointF:
        """The screen point of a place."""
        across, up = self.plane.x, self.plane.y
        return QPointF(
            self.box.left() + (x - across.start) / (across.stop - across.start) * self.box.width(),
            self.box.bottom() - (y - up.start) / (up.stop - up.start) * self.box.height(),
        )

    def place(self, point: QPointF) -> tuple[float, float]:
        """The place under a screen point."""
        across, up = self.plane.x, self.plane.y
        return (
            across.start + (point.x() - self.box.left()) / self.box.width() * (across.stop - across.start),
            up.start + (self.box.bottom() - point.y()) / self.box.height() * (up.stop - up.start),
        )


def axis_ticks(axis: Axis, start: float, stop: float, most: int) -> tuple[list[tuple[float, str]], str]:
    """The places of an axis that have a number, with that number; and the axis's title with its unit."""
    factor, unit = scaled(axis.unit, max(abs(start), abs(stop)))
    marks = [(place * factor, short(place)) for place in ticks(start / factor, stop / factor, most)]
    return marks, name_of(axis) + (f" ({unit})" if unit else "")


def scale_marks(tone: Tone, lowest: float, highest: float, most: int) -> list[tuple[float, str]]:
    """The values that the scale of colours names: both ends, and round numbers between them. An end says so where its
    colour stands for all values beyond it as well."""
    room = (tone.high - tone.low) / max(2, most)
    low = ("≤ " if lowest < tone.low else "") + short(float(f"{tone.low:.4g}"))
    high = ("≥ " if highest > tone.high else "") + short(float(f"{tone.high:.4g}"))
    inner = [v for v in ticks(tone.low, tone.high, most) if tone.low + room < v < tone.high - room]
    return [(tone.low, low), *((value, short(value)) for value in inner), (tone.high, high)]


def draw_plane_axes(painter: QPainter, frame: PlaneFrame, across: Axis, up: Axis, palette: QPalette) -> None:
    """Draw numbers and titles of both axes around the plane."""
    box, plane, letters = frame.box, frame.plane, QFontMetricsF(painter.font())
    line, pad = letters.height(), letters.averageCharWidth()
    marks, title = axis_ticks(across, plane.x.start, plane.x.stop, int(box.width() / (6 * pad)))
    painter.setPen(QPen(palette.color(QPalette.ColorRole.Text), 1))
    for place, word in marks:
        x = frame.point(place, 0).x()
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x, box.bottom() + 0.2 * line))
        painter.drawText(QRectF(x - 6 * pad, box.bottom() + 0.2 * line, 12 * pad, line), CENTRE, word)
    painter.drawText(QRectF(box.left(), box.bottom() + 1.2 * line, box.width(), line), CENTRE, title)
    marks, title = axis_ticks(up, plane.y.start, plane.y.stop, int(box.height() / (2.2 * line)))
    for place, word in marks:
        y = frame.point(0, place).y()
        painter.drawLine(QPointF(box.left() - 0.2 * line, y), QPointF(box.left(), y))
        painter.drawText(QRectF(0, y - line / 2, box.left() - 0.2 * line - 0.3 * pad, line), RIGHT, word)
    title = elided_text(title, letters, box.right() - 2 * pad)
    painter.drawText(QRectF(pad, 0, box.right() - pad, 1.3 * line), LEFT, title)
    painter.setPen(QPen(colours_of(palette).muted, 1))
    painter.drawRect(box)


def draw_colour_scale(
    painter: QPainter, frame: PlaneFrame, tone: Tone, marks: list[tuple[float, str]], unit: str, palette: QPalette
) -> None:
    """Draw the bar of colours from the lowest at its foot, the numbers beside it, and the unit above."""
    bar, letters = frame.scale, QFontMetricsF(painter.font())
    line, pad = letters.height(), letters.averageCharWidth()
    table = GRAY if tone.lut is None else tone.lut
    image = QImage(table[::-1].tobytes(), 1, len(table), 3, QImage.Format.Format_RGB888)
    painter.drawImage(bar, image)
    painter.setPen(QPen(palette.color(QPalette.ColorRole.Text), 1))
    for value, word in marks:
        y = bar.bottom() - (value - tone.low) / (tone.high - tone.low) * bar.height()
        painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + 0.4 * pad, y))
        painter.drawText(QRectF(bar.right() + 0.8 * pad, y - line / 2, 20 * pad, line), LEFT, word)
    painter.drawText(QRectF(bar.left(), 0, 20 * pad, 1.3 * line), LEFT, unit)
    painter.setPen(QPen(colours_of(palette).muted, 1))
    painter.drawRect(bar)
