"""A list of sentences, each as high as its lines."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QListWidget, QSizePolicy, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.base.nesting import bounded


class SentenceList(QListWidget):
    """A list whose texts wrap, with `gap` pixels around each item. A `whole` one is as high as all of them: what is
    around it scrolls."""

    def __init__(self, gap: int, parent: QWidget, whole: bool = False) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setSpacing(gap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lines = _Lines(self)
        self.setItemDelegate(self._lines)
        if whole:
            policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self.model().rowsInserted.connect(self.updateGeometry)

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        """The height of all items."""
        option, frame = QStyleOptionViewItem(), 2 * self.frameWidth()
        room = width - frame - 2 * self.spacing()
        self.initViewItemOption(option)
        option.rect.setHeight(1)  # an empty place would have no width either
        places = [self.model().index(row, 0) for row in range(self.count())]
        heights = [self._lines.wrapped(option, place, room).height() + 2 * self.spacing() for place in places]
        return sum(heights) + frame


class _Lines(QStyledItemDelegate):
    """Qt wraps a text in the width of the whole list to find its height, but draws it without the gaps at both sides:
    a text that fits only with them would be cut off with "…" above an empty line."""

    @bounded
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        view = self.parent()
        assert isinstance(view, SentenceList)
        return self.wrapped(option, index, view.viewport().width() - 2 * view.spacing())

    def wrapped(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex, width: int) -> QSize:
        """The size of an item in so many pixels."""
        shown = QStyleOptionViewItem(option)
        shown.rect.setWidth(width)
        return super().sizeHint(shown, index)
