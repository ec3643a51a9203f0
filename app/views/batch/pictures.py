"""The input and the result of one file of a batch, next to each other or below one another."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from app.base.nesting import bounded
from app.models.batch.previews import Preview
from app.views.labels import named
from app.views.parts import ElidedLabel

LETTERS, LINES = 16, 5
"""The smallest size of a picture."""


class PreviewBox(QWidget):
    """A picture as large as fits, or the sentence in its place."""

    def __init__(self, name: str, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, name, title)
        self._title = title
        self._preview: Preview = title
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_preview(self, preview: Preview | None) -> None:
        """Show a picture or a sentence; None for nothing yet, where the title stands."""
        self._preview = self._title if preview is None else preview
        self.setAccessibleDescription(self._preview if isinstance(self._preview, str) else "")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return self.minimumSizeHint() * 2

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(LETTERS * metrics.averageCharWidth(), LINES * metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().base())
        if isinstance(self._preview, str):
            way = QTextOption(Qt.AlignmentFlag.AlignCenter)
            way.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)  # paths have no spaces
            painter.setPen(self.palette().placeholderText().color())
            painter.drawText(QRectF(self.rect().adjusted(4, 4, -4, -4)), self._preview, way)
        else:
            size = self._preview.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, size.width() < self._preview.width())
            left, top = (self.width() - size.width()) // 2, (self.height() - size.height()) // 2
            painter.drawImage(left, top, self._preview.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio))
        painter.end()


class BatchPictures(QWidget):
    """The pictures of a file, and its name."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("batchPictures")
        self.name = named(ElidedLabel("", self), "batchPictureName")
        self.input = PreviewBox("batchPictureInput", self.tr("The input"), self)
        self.result = PreviewBox("batchPictureResult", self.tr("The result"), self)
        self._boxes = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        for box in (self.input, self.result):
            self._boxes.addWidget(box, 1)
        layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.name)
        layout.addLayout(self._boxes, 1)

    def show_file(self, name: str, input: Preview | None, result: Preview | None) -> None:
        """Show a file by its name and pictures."""
        self.name.setText(name)
        self.input.set_preview(input)
        self.result.set_preview(result)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Pictures are below one another where that makes them larger."""
        super().resizeEvent(event)
        wide = self.width() > 1.2 * self.height()
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._boxes.direction() != way:
            self._boxes.setDirection(way)
