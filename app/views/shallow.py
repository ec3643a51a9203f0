"""A column that takes the height it needs where there is room, and scrolls where there is not."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget


class Shallow(QScrollArea):
    """As high as its content, up to `most` lines; it needs only `least` lines of the window."""

    def __init__(self, most: int, least: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._most, self._least = most, least
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def _needed(self) -> int:
        content = self.widget()
        layout = content.layout() if content else None
        if layout is None:
            return 0
        height = layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else -1
        return height if height >= 0 else layout.totalSizeHint().height()

    def sizeHint(self) -> QSize:  # noqa: N802
        height = min(self._needed(), self._most * self.fontMetrics().height())
        return QSize(super().sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        content = self.widget()
        width = content.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width() if content else 0
        return QSize(width, min(self._needed(), self._least * self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
