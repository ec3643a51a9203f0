"""Scroll areas for parts of the window that may need more space than available."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QSizePolicy, QWidget

from app.base.nesting import bounded

LEAST = (24, 4)
"""The smallest size of a part: letters across, and lines."""
SHARE = 0.4
"""The largest share of the height for a part above the others."""


class Squeezed(QWidget):
    """Asks only for the smallest height: content that scrolls inside must not scroll outside as well."""

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        layout = self.layout()
        return layout.minimumHeightForWidth(width) if layout is not None else super().heightForWidth(width)


class Scrolled(QScrollArea):
    """Shows `part` at any size: it scrolls where space is short, and the window never grows.

    `room_changed`: `room` has changed. A part that arranges its content by size must use `room`, which does not depend
    on the content: the part itself grows with its content, and scroll bars appear and disappear.
    """

    room_changed = Signal()

    def __init__(self, part: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(part)

    @property
    def room(self) -> QSize:
        """The size without scroll bars, whatever the part needs."""
        return self.maximumViewportSize()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self.room_changed.emit()  # before the part takes the size that it needs
        super().resizeEvent(event)

    def _least(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(LEAST[0] * metrics.averageCharWidth(), LEAST[1] * metrics.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._least()

    def sizeHint(self) -> QSize:  # noqa: N802
        part = self.widget()
        return part.sizeHint().expandedTo(self._least()) if part is not None else self._least()


class ScrolledAbove(Scrolled):
    """Shows a part above the others: visible and as high as the part, up to a share of the height of its
    surroundings. What passes by itself is drawn over their lower edge and does not move them."""

    def __init__(self, part: QWidget, parent: QWidget) -> None:
        shown = not part.isHidden()
        super().__init__(part, parent)
        part.setVisible(shown)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        parent.installEventFilter(self)
        self.setVisible(shown)
        self._over = False

    @Slot(bool)
    def set_over(self, over: bool) -> None:
        """Overlap the lower edge of the surroundings, or take a place above the others."""
        around = self.parentWidget()
        layout = around.layout() if around is not None else None
        if over == self._over or not isinstance(layout, QBoxLayout):
            return
        self._over = over
        self.setAutoFillBackground(over)
        if over:
            layout.removeWidget(self)
            self._place()
            self.raise_()
        else:
            layout.insertWidget(0, self)

    def _place(self) -> None:
        around = self.parentWidget()
        if self._over and around is not None:
            self.resize(around.width(), self.height())
            height = self._height()
            self.setGeometry(0, around.height() - height, around.width(), height)

    def _height(self) -> int:
        part, around = self.widget(), self.parentWidget()
        if part is None or around is None:
            return 0
        wanted = part.heightForWidth(self.width()) if part.hasHeightForWidth() else part.sizeHint().height()
        return min(wanted, max(round(SHARE * around.height()), self._least().height()))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        least = self._least()
        return QSize(least.width(), min(least.height(), self._height()))

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self.parentWidget() and event.type() == QEvent.Type.Resize:
            self.updateGeometry()
            self._place()
        elif watched is self.widget() and event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.setVisible(event.type() == QEvent.Type.ShowToParent)
        elif watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._place()
        return super().eventFilter(watched, event)
