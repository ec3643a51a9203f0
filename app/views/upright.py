"""Columns that scroll only vertically."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from app.base.nesting import bounded


class Upright(QScrollArea):
    """Scrolls only vertically and is never narrower than its content, so that nothing is cut off at the side."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it would be a stop of the Tab key that nobody sees
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        hint, content = super().minimumSizeHint(), self.widget()
        if content is None:
            return hint
        beside = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        return QSize(content.minimumSizeHint().width() + beside, hint.height())

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class Shallow(Upright):
    """As high as its content, up to `most` lines; its minimum is `least` lines."""

    def __init__(self, most: int, least: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._most, self._least = most, least
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

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
