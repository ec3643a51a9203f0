"""Every action by its name: type a few letters, press Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.base.nesting import bounded
from app.base.tips import tip_text
from app.models.search import matches
from app.views.boxes import in_column
from app.views.dialogs.catalogue import Offer
from app.views.labels import named

MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class CommandPalette(QFrame):
    """An overlay of its window: a search line above the matching actions, until one is picked or the focus leaves.

    Every typed word must occur in the name or the other words of an offer; the best match is first, and equal ones keep
    the order of the menus.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self.setAccessibleName(self.tr("Command palette"))
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self._over = parent
        self._offers: list[Offer] = []
        self._others: list[Offer] = []
        self._items: list[QTreeWidgetItem] = []
        self._before: QWidget | None = None
        self.line = named(QLineEdit(self), "paletteLine", title=self.tr("Search for an action"))
        self.line.setPlaceholderText(self.tr("Type an action, a filter or a preset"))
        self.line.setClearButtonEnabled(True)
        self.list = named(QTreeWidget(self), "paletteList", title=self.tr("Matching actions"))
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        in_column(self.line, self.list, on=self, margins=None)
        self.line.installEventFilter(self)
        self.line.textChanged.connect(self._filter)
        self.list.itemClicked.connect(lambda item: self._trigger(item))
        self.hide()

    def present(self, offers: Sequence[Offer]) -> None:
        """Offer the enabled actions; disabled ones with a reason appear once the typed words match."""
        self._offers = [offer for offer in offers if offer.action.isEnabled() and offer.action.isVisible()]
        self._others = [offer for offer in offers if offer.reason]
        self.line.clear()
        self._filter("")
        parent = self._over
        unit = self.fontMetrics().averageCharWidth()
        self.resize(min(unit * 70, parent.width() - 4 * unit), min(unit * 60, parent.height() // 2))
        self.move((parent.width() - self.width()) // 2, parent.height() // 8)
        self._before = QApplication.focusWidget()
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def texts(self) -> list[str]:
        """The offered names, from top to bottom."""
        return [item.text(0) for item in self._items]

    def _filter(self, typed: str) -> None:
        offers = matches(typed, self._offers, lambda offer: offer.name, lambda offer: offer.words)
        self.list.clear()
        self._items = []
        for name, action, *_ in offers:
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item = QTreeWidgetItem([name, keys])
            item.setData(0, Qt.ItemDataRole.UserRole, action)
            item.setToolTip(0, tip_text(action.statusTip()))
            self._items.append(item)
        self.list.addTopLevelItems(self._items)
        if self._items:
            self.list.setCurrentItem(self._items[0])
        others = (
            matches(typed, self._others, lambda offer: offer.name, lambda offer: offer.words) if typed.strip() else []
        )
        for offer in others:
            self._say(self.tr("{name} ({reason})").format(name=offer.name, reason=offer.reason))
        if not self._items and not others:
            self._say(self.tr("Nothing matches “{typed}”.").format(typed=typed.strip()))

    def _say(self, text: str) -> None:
        """Add a line that cannot be chosen."""
        line = QTreeWidgetItem([text, ""])
        line.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addTopLevelItem(line)

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Send arrow keys to the list and all other keys to the line."""
        if watched is not self.line:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # Esc must close the palette, not cancel a run.
            if event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._pressed(Qt.Key(event.key()))
        elif event.type() == QEvent.Type.FocusOut and QApplication.activePopupWidget() is None:
            self.hide()
        return super().eventFilter(watched, event)

    def _pressed(self, key: Qt.Key) -> bool:
        """Whether the palette took the key."""
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._trigger(self.list.currentItem())
        elif key == Qt.Key.Key_Escape:
            self._leave()
        elif key in MOVES:
            self._move(key)
        else:
            return False
        return True

    def _leave(self) -> None:
        """Close, and return the focus to where it was."""
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def _move(self, key: Qt.Key) -> None:
        if self._items:
            steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}[key]
            row = self.list.currentIndex().row() + steps
            self.list.setCurrentItem(self._items[max(0, min(len(self._items) - 1, row))])

    def _trigger(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and item in self._items:
            action: QAction = item.data(0, Qt.ItemDataRole.UserRole)
            # Close first: the action may open a window of its own.
            self._leave()
            action.trigger()
