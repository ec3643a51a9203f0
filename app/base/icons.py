"""The project's icons: 24 × 24 strokes in one colour, which the palette sets when they are loaded."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "icons"
SIDES = (16, 20, 24, 32, 48, 64, 96)


PROGRAM = FOLDER.parent / "packaging" / "kernelscope.svg"
"""The program's own icon, in its own colours."""
DESKTOP_ENTRY = "kernelscope"
"""The name of the desktop entry, by which a desktop finds the icon of a window."""


def program_icon() -> QIcon:
    """The icon of the program's windows."""
    renderer, result = QSvgRenderer(QByteArray(PROGRAM.read_bytes())), QIcon()
    for side in (*SIDES, 256):
        result.addPixmap(_pixmap(renderer, side))
    return result


def names() -> tuple[str, ...]:
    """The names of all icons."""
    return tuple(sorted(p.stem for p in FOLDER.glob("*.svg")))


def icon(name: str, palette: QPalette) -> QIcon:
    """The icon in the palette's text colour, paler where a control is disabled."""
    groups = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Disabled)
    return _icon(name, *(palette.color(group, QPalette.ColorRole.ButtonText).name() for group in groups))


@lru_cache(maxsize=256)
def _icon(name: str, colour: str, disabled: str) -> QIcon:
    """Cached for each pair of colours: every window and every change of the scheme asks for all icons."""
    source = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for ink, mode in ((colour, QIcon.Mode.Normal), (disabled, QIcon.Mode.Disabled)):
        renderer = QSvgRenderer(QByteArray(source.replace("currentColor", ink).encode()))
        for side in SIDES:
            result.addPixmap(_pixmap(renderer, side), mode)
    return result


def _pixmap(renderer: QSvgRenderer, side: int) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
