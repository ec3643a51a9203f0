"""The project's icons: 24 × 24 strokes in one colour, which the palette sets when they are loaded."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "icons"
SIDES = (16, 20, 24, 32, 48, 64, 96)


def names() -> tuple[str, ...]:
    """The icons there are."""
    return tuple(sorted(p.stem for p in FOLDER.glob("*.svg")))


def icon(name: str, palette: QPalette) -> QIcon:
    """The icon in the palette's text colour, paler where a control is disabled."""
    source = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for group, mode in (
        (QPalette.ColorGroup.Active, QIcon.Mode.Normal),
        (QPalette.ColorGroup.Disabled, QIcon.Mode.Disabled),
    ):
        colour = palette.color(group, QPalette.ColorRole.ButtonText)
        for side in SIDES:
            result.addPixmap(_pixmap(source, colour, side), mode)
    return result


def _pixmap(source: str, colour: QColor, side: int) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour.name()).encode()))
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
