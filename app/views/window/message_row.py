"""One message in the bar: its symbol, its sentence, its count and its buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QPlainTextEdit, QPushButton, QWidget

from app.base.nesting import bounded
from app.base.theme import Role, checkable, colours_of, fixed_font, inked, mix
from app.base.tips import set_tip
from app.models.messages import Kind, Message
from app.views.boxes import in_column, in_row
from app.views.eliding import elided_text, shortened
from app.views.flow import FlowLayout
from app.views.labels import named

DETAIL_LINES = 8
LONGEST = 240
"""The most letters of a message in the bar; the whole of a longer one is in its details."""


PADDING = 4
"""The letters that a button is wider than its text."""


class MessageRow(QWidget):
    """Shows one message at a time; rows are reused."""

    closed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message: Message | None = None
        self.choice_buttons: list[QPushButton] = []
        self._symbol, self._text, self._count = QLabel(self), QLabel(self), QLabel(self)
        for label, name in ((self._symbol, "symbol"), (self._text, "text"), (self._count, "count")):
            label.setObjectName(name)
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._build_buttons()
        self._details = named(QPlainTextEdit(self), "details", title=self.tr("Details of the message"))
        self._details.setReadOnly(True)
        self._details.setTabChangesFocus(True)
        self._details.hide()
        self._lay_out()
        self._adapt()
        self.hide()

    def _build_buttons(self) -> None:
        self.details_button = QPushButton(self.tr("Details"), self)
        checkable(self.details_button)
        self.details_button.toggled.connect(self._show_details)
        self.copy_button = QPushButton(self.tr("Copy"), self)
        self.copy_button.clicked.connect(self.copy)
        self.close_button = QPushButton(self.tr("Close"), self)
        self.close_button.clicked.connect(lambda: self.closed.emit(self.message))
        for button, name, tip in (
            (self.details_button, "details_button", self.tr("Show or hide the details")),
            (self.copy_button, "copy_button", self.tr("Copy the message and its details")),
            (self.close_button, "close_button", self.tr("Close the message")),
        ):
            button.setObjectName(name)
            set_tip(button, tip)
            button.setAccessibleDescription(tip)

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 3
        sentence_row = in_row(self._symbol, (self._text, 1), self._count, gap=gap)
        self._buttons = FlowLayout(gap=gap, wide=True)
        sentence_row.setAlignment(self._symbol, Qt.AlignmentFlag.AlignVCenter)
        self._add_buttons()
        self._row: QBoxLayout = in_row((sentence_row, 1), self._buttons, gap=gap)
        self._column = in_column(self._row, self._details, on=self, margins=None, gap=0)

    def _add_buttons(self) -> None:
        """Put the choices before the other buttons."""
        always = self.details_button, self.copy_button, self.close_button
        for button in always:
            self._buttons.removeWidget(button)
        for button in (*self.choice_buttons, *always):
            self._buttons.addWidget(button)

    def _offer(self, message: Message) -> None:
        """Make a button for each answer that the message offers."""
        for button in self.choice_buttons:
            self._buttons.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.choice_buttons = [self._choice(text, handler) for text, handler in message.choices.items()]
        self._add_buttons()

    def _choice(self, text: str, handler: Callable[[], object]) -> QPushButton:
        button = named(QPushButton(text, self), "choice_button", title=text, tip=text)
        button.setMinimumWidth(1)  # its text is cut where the row is narrow
        button.clicked.connect(lambda: self._choose(handler))
        return button

    def _choose(self, handler: Callable[[], object]) -> None:
        self.closed.emit(self.message)
        handler()

    def show_message(self, message: Message | None) -> None:
        """Show this message; None hides the row. Open details stay open for the same message."""
        before, self.message = self.message, message
        self.setVisible(message is not None)
        if message is None:
            return
        if before is None or before.choices != message.choices:
            self._offer(message)
        kinds: Mapping[Kind, str] = {
            "info": self.tr("Information"),
            "warning": self.tr("Warning"),
            "error": self.tr("Error"),
        }
        self._symbol.setText(self._role(message.kind).symbol)
        self._symbol.setAccessibleName(kinds[message.kind])
        set_tip(self._symbol, kinds[message.kind])
        text = message.text if len(message.text) <= LONGEST else shortened(message.text, LONGEST - 2)
        self._text.setText(text)
        self.setAccessibleName(self.tr("{kind}: {text}").format(kind=kinds[message.kind], text=message.text))
        self._count.setVisible(message.count > 1)
        self._count.setText(self.tr("×{count}").format(count=message.count))
        set_tip(self._count, self.tr("This message came {count} times").format(count=message.count))
        details = (
            message.details if text == message.text else "\n\n".join(filter(None, (message.text, message.details)))
        )
        self.details_button.setVisible(bool(details))
        if before is None or not before.same(message):
            self.details_button.setChecked(False)
        self._details.setPlainText(details)
        self._adapt()
        self._turn()

    def copy(self) -> None:
        """Copy the message and its details to the clipboard."""
        if self.message is not None:
            parts = (self.message.text, self.message.details)
            QGuiApplication.clipboard().setText("\n\n".join(filter(None, parts)))

    def _show_details(self, shown: bool) -> None:
        self._details.setVisible(shown)

    def _role(self, kind: Kind) -> Role:
        colours = colours_of(self.palette())
        return {"info": colours.info, "warning": colours.warn, "error": colours.error}[kind]

    def _adapt(self) -> None:
        """Adapt sizes and colours to the present font and palette."""
        height = self.fontMetrics().height()
        self._column.setContentsMargins(height // 2, height // 6, height // 2, height // 6)
        lines = min(self._details.toPlainText().count("\n") + 1, DETAIL_LINES)
        self._details.setFixedHeight((lines + 2) * height)
        font = self._details.font()
        if font.family() != fixed_font():
            font.setFamily(fixed_font())
            self._details.setFont(font)
        if self.message is not None:
            self._symbol.setPalette(inked(self._symbol.palette(), self._role(self.message.kind).colour))
        self._count.setPalette(inked(self._count.palette(), colours_of(self.palette()).muted))
        self.update()

    def _turn(self) -> None:
        """Put the buttons below the sentence where they would leave it less than half of the width, and cut those that
        are wider than the row."""
        texts = self.message.choices if self.message is not None else ()
        room = self.contentsRect().width() - PADDING * self.fontMetrics().averageCharWidth()
        for button, text in zip(self.choice_buttons, texts, strict=False):
            button.setText(elided_text(text, self.fontMetrics(), room - 2 * self._column.contentsMargins().left()))
        ways = QBoxLayout.Direction
        beside = self._buttons.sizeHint().width() * 2 <= self.width()
        self._row.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._turn()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_column"):
            self._adapt()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint a light background with a stripe in the kind's colour."""
        if self.message is None:
            return
        colour = self._role(self.message.kind).colour
        painter = QPainter(self)
        painter.fillRect(self.rect(), mix(self.palette().color(QPalette.ColorRole.Base), colour, 0.07))
        stripe = self.rect()
        stripe.setWidth(max(2, self.fontMetrics().height() // 4))
        painter.fillRect(stripe, colour)
        painter.end()
