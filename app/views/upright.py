"""A column that scrolls up and down only."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QScrollArea, QWidget


class Upright(QScrollArea):
    """Scrolls only vertically and is never narrower than its content, so that nothing is cut off at the side."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        hint, content = super().minimumSizeHint(), self.widget()
        if content is None:
            return hint
        beside = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        return QSize(content.minimumSizeHint().width() + beside, hint.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
