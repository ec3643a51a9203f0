"""A bar that says something without stopping the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.theme import Role, colours_of, fixed_font, inked, mix

Kind = Literal["info", "warning", "error"]
KEPT = 20
DETAIL_LINES = 8


@dataclass(frozen=True)
class Message:
    """One sentence, and what more there is to say."""

    kind: Kind
    text: str
    details: str = ""


class MessageBar(QFrame):
    """Shows the latest message; closing it brings back the one before. Hidden while there is none."""

    shown = Signal(object)
    emptied = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self._messages: list[Message] = []
        self._symbol = QLabel(self)
        self._symbol.setObjectName("symbol")
        self._text = QLabel(self)
        self._text.setObjectName("text")
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._count = QLabel(self)
        self._count.setObjectName("count")
        self._build_buttons()
        self._details = QPlainTextEdit(self)
        self._details.setObjectName("details")
        self._details.setReadOnly(True)
        self._details.setTabChangesFocus(True)
        self._details.setAccessibleName(self.tr("Details of the message"))
        self._details.hide()
        self._lay_out()
        self._adapt()
        self.hide()

    def _build_buttons(self) -> None:
        self.details_button = QPushButton(self.tr("&Details"), self)
        self.details_button.setCheckable(True)
        self.details_button.toggled.connect(self._show_details)
        self.copy_button = QPushButton(self.tr("Cop&y"), self)
        self.copy_button.clicked.connect(self.copy)
        self.close_button = QPushButton(self.tr("C&lose"), self)
        self.close_button.clicked.connect(self.close_message)
        for button, name, tip in (
            (self.details_button, "details_button", self.tr("Show or hide the details")),
            (self.copy_button, "copy_button", self.tr("Copy the message and its details")),
            (self.close_button, "close_button", self.tr("Close the message")),
        ):
            button.setObjectName(name)
            button.setToolTip(tip)
            button.setAccessibleDescription(tip)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self._symbol, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._text, 1)
        row.addWidget(self._count)
        for button in (self.details_button, self.copy_button, self.close_button):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.addLayout(row)
        layout.addWidget(self._details)

    def show_message(self, kind: Kind, text: str, details: str = "") -> None:
        """Say this now. The same message again is not queued twice."""
        message = Message(kind, text, details)
        self._messages = [m for m in self._messages if m != message][-(KEPT - 1) :] + [message]
        self._update()
        self.shown.emit(message)

    def messages(self) -> tuple[Message, ...]:
        """What is queued, the shown one last."""
        return tuple(self._messages)

    def current(self) -> Message | None:
        return self._messages[-1] if self._messages else None

    def close_message(self) -> None:
        """Close the shown message."""
        if self._messages:
            self._messages.pop()
            self._update()
        if not self._messages:
            self.emptied.emit()

    def clear(self) -> None:
        """Close every message."""
        self._messages = []
        self._update()

    def copy(self) -> None:
        """The message and its details to the clipboard."""
        message = self.current()
        if message is not None:
            QGuiApplication.clipboard().setText("\n\n".join(t for t in (message.text, message.details) if t))

    def _show_details(self, shown: bool) -> None:
        self._details.setVisible(shown)

    def _role(self, kind: Kind) -> Role:
        colours = colours_of(self.palette())
        return {"info": colours.info, "warning": colours.warn, "error": colours.error}[kind]

    def _update(self) -> None:
        message = self.current()
        self.setVisible(message is not None)
        if message is None:
            return
        kinds: Mapping[Kind, str] = {
            "info": self.tr("Information"),
            "warning": self.tr("Warning"),
            "error": self.tr("Error"),
        }
        self._symbol.setText(self._role(message.kind).symbol)
        self._symbol.setAccessibleName(kinds[message.kind])
        self._symbol.setToolTip(kinds[message.kind])
        self._text.setText(message.text)
        self.setAccessibleName(self.tr("{kind}: {text}").format(kind=kinds[message.kind], text=message.text))
        self._count.setVisible(len(self._messages) > 1)
        self._count.setText(self.tr("1 of {count}").format(count=len(self._messages)))
        self.details_button.setVisible(bool(message.details))
        self.details_button.setChecked(False)
        self._details.setPlainText(message.details)
        self._adapt()

    def _adapt(self) -> None:
        """Sizes and colours of the present font and palette."""
        height = self.fontMetrics().height()
        lines = min(self._details.toPlainText().count("\n") + 1, DETAIL_LINES)
        self._details.setFixedHeight((lines + 2) * height)
        font = self._details.font()
        if font.family() != fixed_font():
            font.setFamily(fixed_font())
            self._details.setFont(font)
        message = self.current()
        if message is not None:
            self._symbol.setPalette(inked(self._symbol.palette(), self._role(message.kind).colour))
        self.update()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_details"):
            self._adapt()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """A quiet ground with a stripe in the kind's colour."""
        message = self.current()
        if message is None:
            return
        colour = self._role(message.kind).colour
        painter = QPainter(self)
        ground: QColor = mix(self.palette().color(QPalette.ColorRole.Base), colour, 0.07)
        painter.fillRect(self.rect(), ground)
        stripe = self.rect()
        stripe.setWidth(max(2, self.fontMetrics().height() // 4))
        painter.fillRect(stripe, colour)
