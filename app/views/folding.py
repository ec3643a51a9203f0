"""Two rows of controls, side by side if they fit."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from app.base.nesting import bounded


class Folding(QWidget):
    """The rows `one` and `two`, of which the `wider` takes what is left; if they are too wide together, the second is
    below the first. `wanted` are the pixels that they should have beyond their minimum to share a line."""

    def __init__(self, parent: QWidget | None = None, wider: int = 1) -> None:
        super().__init__(parent)
        self.one, self.two, self.wanted = QHBoxLayout(), QHBoxLayout(), 0
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._rows.addLayout(self.one, int(wider == 0))
        self._rows.addLayout(self.two, int(wider == 1))
        # A layout that resizes the rows while they fold may finish with the height that they had before.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.updateGeometry)

    def set_space(self, margins: tuple[int, int, int, int], between: int) -> None:
        """Pixels left, above, right and below of the rows, and between the controls."""
        self._rows.setContentsMargins(*margins)
        for row in (self._rows, self.one, self.two):
            row.setSpacing(between)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The width of the wider row."""
        margins = self._rows.contentsMargins()
        widest = max(row.minimumSize().width() for row in (self.one, self.two))
        return QSize(widest + margins.left() + margins.right(), super().minimumSizeHint().height())

    def _fold(self) -> None:
        both = sum(row.minimumSize().width() for row in (self.one, self.two)) + self._rows.spacing() + self.wanted
        wide = both <= self.contentsRect().width() - 2 * self._rows.contentsMargins().left()
        directions = QBoxLayout.Direction
        direction = directions.LeftToRight if wide else directions.TopToBottom
        if direction != self._rows.direction():
            self._rows.setDirection(direction)
            self._later.start()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fold()

    @bounded
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fold()
        return done
