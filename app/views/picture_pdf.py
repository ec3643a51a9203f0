"""Pages of HTML as a PDF file."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument

from gpu_ops import replacing

DPI = 150
MARGIN = 14
"""Millimetres."""


def write_pdf(html: str, path: str) -> None:
    """Write pages of A4. Raises InputError where the file cannot be written."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(DPI)
    margins = QMarginsF(MARGIN, MARGIN, MARGIN, MARGIN)
    size = QPageSize(QPageSize.PageSizeId.A4)
    writer.setPageLayout(QPageLayout(size, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter))
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    document.setHtml(html)
    document.setPageSize(writer.pageLayout().paintRectPixels(DPI).size().toSizeF())
    document.print_(writer)
    buffer.close()
    with replacing(path) as file:
        file.write(bytes(buffer.data().data()))
