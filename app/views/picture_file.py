"""Saves pictures of widgets, and texts, to files, atomically. A failure is an InputError with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QWidget

from app.base.theme import colours_of
from app.models.files.small_print import small_print
from gpu_ops import lines_of, replacing

PICTURE_SCALE = 2
SMALL = 0.85
"""The size of the small print, relative to the usual letters."""
Draw = Callable[[QPainter], None]
Facts = Mapping[str, Any]
NO_FACTS: Facts = MappingProxyType({})


def drawn_image(size: QSize, draw: Draw) -> QImage:
    """A picture at twice the screen's resolution."""
    image = QImage(size * PICTURE_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_SCALE)
    image.fill(0)
    painter = QPainter(image)
    draw(painter)
    painter.end()
    return image


def write_picture(path: str | Path, size: QSize, draw: Draw, title: str, dpi: int, facts: Facts = NO_FACTS) -> None:
    """Write an SVG where the name ends in .svg, else a PNG, with the facts in small print below it and as text inside
    the file. Raises InputError when the file cannot be written."""
    size, draw = _with_small_print(size, draw, facts)
    description = "\n".join(lines_of(facts))
    svg = Path(path).suffix.lower() == ".svg"
    content = _svg(size, draw, title, dpi, description) if svg else _png(size, draw, description)
    _write(path, content)


def _png(size: QSize, draw: Draw, description: str) -> bytes:
    image = drawn_image(size, draw)
    if description:
        image.setText("Description", description)
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    buffer.close()
    return bytes(content.data())


def _svg(size: QSize, draw: Draw, title: str, dpi: int, description: str) -> bytes:
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setTitle(title)
    generator.setDescription(description)
    generator.setResolution(dpi)
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    painter = QPainter(generator)
    draw(painter)
    painter.end()
    buffer.close()
    return bytes(content.data())


def _with_small_print(size: QSize, draw: Draw, facts: Facts) -> tuple[QSize, Draw]:
    """The drawing with the facts below it, in as many lines as they need."""
    text = "\n".join(small_print(facts))
    if not text:
        return size, draw
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(font.pointSizeF() * SMALL)
    metrics = QFontMetrics(font)
    gap = metrics.height() // 2
    flags = Qt.TextFlag.TextWordWrap
    room = QRect(gap, 0, max(size.width() - 2 * gap, 1), 100 * metrics.height())
    height = metrics.boundingRect(room, flags, text).height()
    whole = QSize(size.width(), size.height() + height + 2 * gap)

    def both(painter: QPainter) -> None:
        palette = QGuiApplication.palette()
        painter.fillRect(QRect(QPoint(), whole), palette.color(QPalette.ColorRole.Base))
        draw(painter)
        painter.setFont(font)
        painter.setPen(colours_of(palette).muted)
        painter.drawText(QRect(gap, size.height() + gap, room.width(), height), flags, text)

    return whole, both


def export_sheet(sheet: QWidget, path: str | Path, title: str, facts: Facts = NO_FACTS) -> None:
    """Write what a widget shows, as `write_picture` does."""
    write_picture(path, sheet.size(), _drawing_of(sheet), title, sheet.logicalDpiX(), facts)


def sheet_png(sheet: QWidget) -> bytes:
    """What a widget shows, as the bytes of a PNG file."""
    return _png(sheet.size(), _drawing_of(sheet), "")


def _drawing_of(sheet: QWidget) -> Draw:
    def draw(painter: QPainter) -> None:
        held = QApplication.focusWidget()
        if held is not None:
            held.clearFocus()  # its frame is not part of the picture
        sheet.render(painter, QPoint())
        if held is not None:
            held.setFocus()

    return draw


def write_text(path: str | Path, text: str) -> None:
    """Write a text. Raises InputError when the file cannot be written."""
    _write(path, text.encode())


def _write(path: str | Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
