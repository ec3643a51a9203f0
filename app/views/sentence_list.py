"""A list of sentences, each as high as its lines."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QListWidget, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.base.nesting import bounded


class SentenceList(QListWidget):
    """A list whose texts wrap, with `gap` pixels around each item."""

    def __init__(self, gap: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setSpacing(gap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Lines(self))


class _Lines(QStyledItemDelegate):
    """Qt wraps a text in the width of the whole list to find its height, but draws it without the gaps at both sides:
    a text that fits only with them would be cut off with "…" above an empty line."""

    @bounded
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        shown, view = QStyleOptionViewItem(option), self.parent()
        assert isinstance(view, SentenceList)
        shown.rect.setWidth(view.viewport().width() - 2 * view.spacing())
        return super().sizeHint(shown, index)
