"""The part of an array in device memory that the block writes, as it fills in."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QImage, QPainter
from PySide6.QtWidgets import QWidget

from app.base.numbers import number
from app.models.xray.block_outputs import Written
from app.views.block_steps.cells import CellsView

LARGEST = 3.0
"""The largest size of an element, in letters."""
HEIGHT = 9
"""Rows of text that the view is high at least."""


class OutputView(CellsView):
    """Elements in grey levels from the least to the greatest value that the block writes; hatched: nothing is written
    yet. An edge marks what the present step has written, a cross what another order of the warps leaves different."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, "", parent)
        self.setAccessibleName(self.tr("What the block has written"))
        self.written: Written | None = None
        self.different: set[int] = set()

    def show_written(self, written: Written | None, different: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        """Show this array; `different` are cells of it."""
        self.written, self.different = written, set(different)

    def prepare(self) -> None:
        if self.written is not None:
            self.written.go_to(self.step)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(round(24 * self.letter), round(HEIGHT * self.row_height))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(round(10 * self.letter), round(4 * self.row_height))

    def _scale(self) -> tuple[float, float]:
        """The width and the height of an element."""
        assert self.written is not None
        rows, columns = self.written.shape
        size = min(self.width() / columns, self.height() / rows, LARGEST * self.letter)
        return size, size

    def paint(self, painter: QPainter) -> None:
        if self.written is None:
            return
        colours, written = self.colours, self.written
        (width, height), (rows, columns) = self._scale(), written.shape
        whole = QRectF(0, 0, columns * width, rows * height)
        painter.fillRect(whole, QBrush(colours.grid, Qt.BrushStyle.BDiagPattern))
        levels, alpha = written.levels()
        pixels = np.zeros((rows, columns, 4), np.uint8)
        pixels[..., :3], pixels[..., 3] = levels[..., None], alpha * 255
        image = QImage(pixels.tobytes(), columns, rows, columns * 4, QImage.Format.Format_RGBA8888)
        painter.drawImage(whole, image)
        self.box(painter, whole, colours.muted, Qt.BrushStyle.NoBrush)
        accent, text = colours.series[1].colour, self.text
        for row, column in written.places(written.changed):
            rect = QRectF(column * width, row * height, width, height)
            self.box(painter, rect, accent, Qt.BrushStyle.NoBrush, max(min(2.0, width / 3), 1.0))
        painter.setPen(colours.error.colour)
        for row, column in written.places(np.array(sorted(self.different), np.int64)):
            rect = QRectF(column * width, row * height, width, height)
            if alpha[row, column]:
                painter.setPen(colours.error.colour if levels[row, column] > 60 or width < 4 else text)
                painter.drawLine(rect.topLeft(), rect.bottomRight())
                painter.drawLine(rect.topRight(), rect.bottomLeft())

    def tip(self, at: QPointF) -> str:
        if self.written is None:
            return ""
        width, height = self._scale()
        row, column = int(at.y() // height), int(at.x() // width)
        rows, columns = self.written.shape
        if not (0 <= row < rows and 0 <= column < columns):
            return ""
        name, value = self.written.element(row, column)
        if not name:
            return self.tr("Another block writes this.")
        text = self.tr("{name}: nothing is written yet") if value is None else self.tr("{name}: {value}")
        return text.format(name=name, value=number(value, 6) if value is not None else "")
