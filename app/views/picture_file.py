"""Pictures of what widgets draw, and texts, written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

PICTURE_SCALE = 2
Draw = Callable[[QPainter], None]


def drawn_image(size: QSize, draw: Draw) -> QImage:
    """A picture at twice the screen's fineness."""
    image = QImage(size * PICTURE_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_SCALE)
    image.fill(0)
    painter = QPainter(image)
    draw(painter)
    painter.end()
    return image


def write_png(path: str | Path, size: QSize, draw: Draw) -> bool:
    """Write a PNG; False when the file cannot be written."""
    return drawn_image(size, draw).save(str(path), "PNG")  # type: ignore[call-overload, no-any-return]


def write_svg(path: str | Path, size: QSize, draw: Draw, title: str, dots_per_inch: int) -> bool:
    """Write an SVG; False when the file cannot be written."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setTitle(title)
    generator.setResolution(dots_per_inch)
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    painter = QPainter(generator)
    draw(painter)
    painter.end()
    buffer.close()
    return _write(path, bytes(content.data()))


def export_sheet(sheet: QWidget, path: str | Path, title: str) -> bool:
    """Write what a widget shows: an SVG where the name ends so, else a PNG; False when the file cannot be written."""

    def draw(painter: QPainter) -> None:
        sheet.render(painter, QPoint())

    if Path(path).suffix.lower() == ".svg":
        return write_svg(path, sheet.size(), draw, title, sheet.logicalDpiX())
    return write_png(path, sheet.size(), draw)


def write_text(path: str | Path, text: str) -> bool:
    """Write a text; False when the file cannot be written."""
    return _write(path, text.encode())


def _write(path: str | Path, content: bytes) -> bool:
    try:
        Path(path).write_bytes(content)
    except OSError:
        return False
    return True
