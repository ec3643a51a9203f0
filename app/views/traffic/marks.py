"""The marks of a footprint over a picture or a row of colours, and what they mean."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QImage, QPainter, QPen

from app.base.numbers import count
from app.models.pictures.display import colors
from app.models.traffic.recorded import COLOURS
from app.views.eliding import elided_text
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from gpu_ops.explaining.traffic.content import Measure

SECTOR_FILL, SECTOR_LINE = QColor(255, 140, 0, 110), QColor(255, 140, 0)
PASSED_FILL, PASSED_LINES = QColor(0, 0, 0, 130), QColor(255, 255, 255)
MADE = QColor(255, 0, 200)
VEIL, ON_VEIL = QColor(20, 20, 20, 235), QColor(255, 255, 255)
SIGN = 2.2
"""The width of a sign in the legend, in heights of its letters."""
Draw = Callable[[QPainter, QRectF], None]
Entry = tuple[Draw, str]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Traffic", text)


def draw_sector(painter: QPainter, bar: QRectF) -> None:
    """A sector that was fetched."""
    painter.setPen(QPen(SECTOR_LINE, 1))
    painter.setBrush(QBrush(SECTOR_FILL))
    painter.drawRect(bar)


def draw_element(painter: QPainter, box: QRectF) -> None:
    """An element of the input that the result is made of."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, thick in DARK_AND_LIGHT:
        painter.setPen(QPen(colour, thick))
        painter.drawRect(box)


def draw_passed(painter: QPainter, box: QRectF) -> None:
    """Elements that were read without effect on the result."""
    painter.fillRect(box, PASSED_FILL)
    painter.fillRect(box, QBrush(PASSED_LINES, Qt.BrushStyle.BDiagPattern))


def draw_chosen(painter: QPainter, box: QRectF) -> None:
    """The place of the result."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(MADE, 3))
    painter.drawRect(box.adjusted(1, 1, -1, -1))


def draw_scale(painter: QPainter, bar: QRectF) -> None:
    """The colours of all counts, the lowest on the left."""
    table = colors(COLOURS)
    image = QImage(table.tobytes(), len(table), 1, 3 * len(table), QImage.Format.Format_RGB888)
    painter.drawImage(bar, image, QRectF(image.rect()))


def entries(passed: bool) -> list[Entry]:
    """What the marks mean; `passed`: also that of elements without effect."""
    found: list[Entry] = [
        (draw_chosen, _tr("the result")),
        (draw_element, _tr("made of these")),
        (draw_sector, _tr("fetched sectors")),
    ]
    return [*found, (draw_passed, _tr("read without effect"))] if passed else found


def scale_entry(measure: Measure, top: int) -> Entry:
    """What the colours mean."""
    texts = {
        "requests": _tr("0 to {top} reads by warps"),
        "sectors": _tr("0 to {top} fetches of a sector"),
        "shared": _tr("0 to {top} shared reads"),
    }
    return draw_scale, texts[measure].format(top=count(top))


def draw_entry(painter: QPainter, entry: Entry, at: QPointF, width: float, ink: QColor) -> None:
    """A sign and what it means, in one line of this width."""
    draw, text = entry
    metrics = painter.fontMetrics()
    sign = SIGN * metrics.height()
    draw(painter, QRectF(at.x() + 2, at.y() + 2, sign - 6, metrics.height() - 4))
    painter.setPen(ink)
    room = QRectF(at.x() + sign, at.y(), width - sign, metrics.height())
    shown = elided_text(text, metrics, room.width() + 1)
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)


def entry_width(metrics: QFontMetrics, entry: Entry) -> float:
    """The width of a sign with what it means."""
    return SIGN * metrics.height() + metrics.horizontalAdvance(entry[1]) + 2.0
