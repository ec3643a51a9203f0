"""A small colour scale that lies on a picture."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.models.layer import Tone
from app.views.parts import number


def draw_scale(painter: QPainter, corner: QPointF, tone: Tone, widest: float) -> None:
    """Draw a bar of colours with the lowest, middle and highest value under it; its upper left is at `corner`. If it is
    wider than `widest`, it is left out: the tag has the range too."""
    if tone.lut is None:
        return
    metrics = painter.fontMetrics()
    pad = metrics.averageCharWidth()
    texts = [_signed(value) for value in (tone.low, (tone.low + tone.high) / 2, tone.high)]
    room = sum(metrics.horizontalAdvance(text) for text in texts) + 4 * pad
    width, bar = max(room, pad * 24) + 2 * pad, metrics.height() * 0.6
    if width > widest:
        return
    box = QRectF(corner.x(), corner.y(), width, bar + metrics.height() + 1.5 * pad)
    inner = box.adjusted(pad, pad / 2, -pad, -pad / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 170))
    painter.drawRoundedRect(box, pad / 2, pad / 2)
    image = QImage(tone.lut.tobytes(), len(tone.lut), 1, 3 * len(tone.lut), QImage.Format.Format_RGB888)
    painter.drawImage(QRectF(inner.left(), inner.top(), inner.width(), bar), image)
    painter.setPen(QColor(255, 255, 255))
    line = QRectF(inner.left(), inner.bottom() - metrics.height(), inner.width(), metrics.height())
    sides = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight
    for text, side in zip(texts, sides, strict=True):
        painter.drawText(line, int(side | Qt.AlignmentFlag.AlignVCenter), text)
    painter.restore()


def _signed(value: float) -> str:
    """A number with its sign, the minus as long as the plus."""
    return f"+{number(value)}" if value > 0 else number(value).replace("-", "−")
