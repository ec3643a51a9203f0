"""A layout of widgets in rows that wrap like words in a text."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Gives every visible widget its size hint, or the whole width to one whose content wraps. `gap` is the space
    between the widgets of a row, in pixels; between rows it is half as much, or the same if `even`. Its own hint is the
    width of all widgets in one row if `wide`, else of the widest."""

    def __init__(self, parent: QWidget | None = None, gap: int = 0, wide: bool = False, even: bool = False) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.gap, self._wide, self._even = gap, wide, even

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._lay(QRect(0, 0, width, 0), move=False)

    def minimumSize(self) -> QSize:  # noqa: N802
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def sizeHint(self) -> QSize:  # noqa: N802
        size = self.minimumSize()
        if self._wide:
            margins, widths = self.contentsMargins(), [item.sizeHint().width() for item in self._items]
            size.setWidth(sum(widths) + self.gap * max(0, len(widths) - 1) + margins.left() + margins.right())
        return size

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._lay(rect, move=True)

    def _lay(self, rect: QRect, move: bool) -> int:
        """Compute every widget's position, and move it there if allowed. Returns the needed height."""
        room = rect.marginsRemoved(self.contentsMargins())
        x, y, height = room.x(), room.y(), 0
        for item in (item for item in self._items if not item.isEmpty()):
            size = item.sizeHint()
            if size.width() > room.width() and item.hasHeightForWidth():
                size = QSize(room.width(), item.heightForWidth(room.width()))
            if height and x + size.width() > room.right() + 1:
                x, y, height = room.x(), y + height + (self.gap if self._even else self.gap // 2), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, height = x + size.width() + self.gap, max(height, size.height())
        return y + height - rect.y() + self.contentsMargins().bottom()
