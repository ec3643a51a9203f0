"""Icons of a player's buttons, painted in the palette's text colour."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap, QPolygonF

Sign = Literal["first", "back", "play", "stop", "on", "last"]
SIDES = (16, 24, 32, 48)
_MIRRORED = {"first": "last", "back": "on"}


def player_icon(sign: Sign, palette: QPalette) -> QIcon:
    """The icon for the first frame, one back, play, stop, one on, and the last frame; paler where it is disabled."""
    groups = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Disabled)
    return _icon(sign, *(palette.color(group, QPalette.ColorRole.ButtonText).name() for group in groups))


@lru_cache(maxsize=64)
def _icon(sign: Sign, colour: str, disabled: str) -> QIcon:
    result = QIcon()
    for ink, mode in ((colour, QIcon.Mode.Normal), (disabled, QIcon.Mode.Disabled)):
        for side in SIDES:
            result.addPixmap(_pixmap(sign, QColor(ink), side), mode)
    return result


def _pixmap(sign: str, colour: QColor, side: int) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(side / 24, side / 24)
    if sign in _MIRRORED:
        painter.translate(24, 0)
        painter.scale(-1, 1)
        sign = _MIRRORED[sign]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    if sign == "stop":
        painter.drawRect(QRectF(6, 6, 12, 12))
    elif sign == "play":
        painter.drawPolygon(_triangle(7, 20))
    else:  # a bar after the triangle for the end, before it for one step
        painter.drawPolygon(_triangle(5, 15) if sign == "last" else _triangle(9.5, 19.5))
        painter.drawRect(QRectF(16 if sign == "last" else 5, 5, 2.5, 14))
    painter.end()
    return pixmap


def _triangle(left: float, right: float) -> QPolygonF:
    return QPolygonF([QPointF(left, 5), QPointF(right, 12), QPointF(left, 19)])
