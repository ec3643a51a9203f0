"""A bar that shows messages without interrupting the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from app.base.nesting import bounded
from app.models.messages import Kind, Message, Messages
from app.views.boxes import in_column, in_row
from app.views.upright import Shallow
from app.views.window.message_row import MessageRow

MOST_ROWS = 3
MOST_LINES, LEAST_LINES = 16, 3
"""The largest height of the messages, and the smallest in a low window: messages never make the window grow."""
PASSES_MS = 8000
"""How long a passing message stays after the newest message, and after the mouse or the focus has last moved on the
bar."""


class MessageBar(QFrame):
    """Shows the newest messages, the newest on top, and the number of older ones. Hidden while there is none.

    `shown(message)` carries every new message; `passing(only)` says whether all that are visible disappear by
    themselves; `more_wanted`: the user wants to read them all. Esc closes all of them
    while the focus is in the bar.
    """

    shown = Signal(object)
    passing = Signal(bool)
    emptied = Signal()
    more_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self._messages = Messages()
        self.rows = list[MessageRow]()
        self.more_button = QPushButton(self)
        self.more_button.setObjectName("more_button")
        self.more_button.setToolTip(self.tr("Show the log, which has every message with its time"))
        self.more_button.clicked.connect(self.more_wanted)
        self.dismiss_button = QPushButton(self.tr("Dismiss all"), self)
        self.dismiss_button.setObjectName("dismiss_button")
        self.dismiss_button.setToolTip(self.tr("Close every message (Esc while the focus is here)"))
        self.dismiss_button.clicked.connect(self.clear)
        self._passing = QTimer(self, singleShot=True, interval=PASSES_MS)
        self._passing.timeout.connect(self._pass_by)
        self._touched: tuple[QPoint | None, QWidget | None] | None = None
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        inner, self._foot, unit = QWidget(self), QWidget(self), self.fontMetrics().height()
        self._column = in_column(1, on=inner, gap=1)
        self._scroll = Shallow(MOST_LINES, LEAST_LINES, self)
        self._scroll.setWidget(inner)
        around = (unit // 2, 0, unit // 2, unit // 6)
        in_row(self.more_button, 1, self.dismiss_button, on=self._foot, margins=around)
        in_column(self._scroll, self._foot, on=self, gap=1)

    # Messages

    def show_message(
        self,
        kind: Kind,
        text: str,
        details: str = "",
        subject: str = "",
        passing: bool = False,
        choices: Mapping[str, Callable[[], object]] = MappingProxyType({}),
    ) -> None:
        """Show a message. A repeated message counts up. A `passing` one disappears by itself; one with `choices` has a
        button for each and disappears when one is pressed."""
        message = self._messages.add(Message(kind, text, details, subject, passing, choices=choices))
        self._update()
        if passing:
            self._passing.start()
        self.shown.emit(message)

    @Slot(str)
    def settle(self, subject: str) -> None:
        """Remove the messages about this subject: it succeeded."""
        before = self._messages.items
        self._messages.settle(subject)
        if self._messages.items != before:  # called for every new result
            self._update()

    def messages(self) -> tuple[Message, ...]:
        """All messages, the newest last."""
        return self._messages.items

    def current(self) -> Message | None:
        """The newest message."""
        return self._messages.items[-1] if self._messages.items else None

    # User actions

    @Slot(object)
    def _close(self, message: Message | None) -> None:
        if message is not None:
            self._messages.drop(message)
            self._update()

    @Slot()
    def clear(self) -> None:
        """Close every message."""
        self._messages.clear()
        self._update()

    @Slot()
    def _pass_by(self) -> None:
        """Remove the passing messages. They stay longer where the mouse or the focus has moved on the bar meanwhile; a
        pointer at rest does not keep them."""
        before, self._touched = self._touched, self._touch()
        if self._touched not in (None, before):
            self._passing.start()
            return
        self._messages.pass_by()
        self._update()

    def _touch(self) -> tuple[QPoint | None, QWidget | None] | None:
        """The positions of the mouse and the focus on the bar; None without either."""
        focus = QApplication.focusWidget()
        inside = focus if focus is not None and self.isAncestorOf(focus) else None
        pointer = QCursor.pos() if self.underMouse() else None
        return (pointer, inside) if pointer is not None or inside is not None else None

    def _update(self) -> None:
        newest = self._messages.items[::-1]
        while len(self.rows) < min(len(newest), MOST_ROWS):
            self._add_row()
        for place, row in enumerate(self.rows):
            row.show_message(newest[place] if place < len(newest) else None)
        more = len(newest) - MOST_ROWS
        self.more_button.setVisible(more > 0)
        self.more_button.setText(self.tr("and {count} more").format(count=more))
        self._foot.setVisible(len(newest) > 1)
        was_shown = not self.isHidden()
        if newest:
            self.passing.emit(all(message.passing for message in newest))
        self.setVisible(bool(newest))
        self._scroll.verticalScrollBar().setValue(0)
        self._scroll.updateGeometry()
        if newest:
            self.setAccessibleName(self.rows[0].accessibleName())
        elif was_shown:
            self.emptied.emit()

    def _add_row(self) -> None:
        """Rows are created for the first messages, which a start need not wait for."""
        row = MessageRow(self)
        row.closed.connect(self._close)
        self._column.insertWidget(len(self.rows), row)
        self.rows.append(row)

    @bounded
    def event(self, event: QEvent) -> bool:
        """Let Esc close the messages before it cancels a run."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.clear()
                return True
        return super().event(event)
