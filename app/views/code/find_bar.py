"""The bar below an editor: find, replace, go to a line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QIntValidator, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.base.nesting import bounded
from app.base.numbers import count
from app.base.theme import checkable
from app.models.xray.code_text import MOST_HITS, hits
from app.views.boxes import in_column, in_row
from app.views.code.editor import CodeEditor
from app.views.labels import buddy, named, sentence_label
from app.views.parts import TickBox

LARGEST_LINE = 10_000_000
SHORT = 7
"""The width of the field for a line number, in letters."""


class FindBar(QWidget):
    """Finds and replaces in an editor, and goes to a line of it. Return finds the next place, Shift+Return the previous
    one; Escape closes the bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code.find.bar")
        self._editor: CodeEditor | None = None
        self.sought = named(QLineEdit(self), "code.find", title=self.tr("Find"), tip=self.tr("Text to find"))
        self.replacement = named(
            QLineEdit(self), "code.replacement", title=self.tr("Replace with"), tip=self.tr("Text that replaces it")
        )
        self.line = named(
            QLineEdit(self), "code.line", title=self.tr("Go to line"), tip=self.tr("Number of the line to go to")
        )
        self.line.setValidator(QIntValidator(1, LARGEST_LINE, self))
        self.line.setFixedWidth(SHORT * self.fontMetrics().averageCharWidth() + self.line.minimumSizeHint().width())
        self.case = named(
            TickBox(self.tr("Match case"), self), "code.case", tip=self.tr("Distinguish capitals from small letters")
        )
        checkable(self.case)
        self.found = sentence_label("code.found", self)
        self.previous = self._button("code.previous", self.tr("Previous"), self.tr("The place before (Shift+Return)"))
        self.next = self._button("code.next", self.tr("Next"), self.tr("The next place (Return)"))
        self.one = self._button("code.replace", self.tr("Replace"), self.tr("Replace this place and find the next"))
        self.all = self._button("code.replace_all", self.tr("Replace all"), self.tr("Replace every place"))
        self._arrange()
        self._listen()
        self.hide()

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        return named(QPushButton(text, self), name, tip=tip)

    def _arrange(self) -> None:
        self._finding, self._replacing, self._going = QWidget(self), QWidget(self), QWidget(self)
        find, other = buddy(self.tr("Find"), self.sought), buddy(self.tr("Replace with"), self.replacement)
        in_row(find, (self.sought, 1), self.previous, self.next, on=self._finding)
        in_row(other, (self.replacement, 1), self.one, self.all, on=self._replacing)
        in_row(buddy(self.tr("Go to line"), self.line), self.line, 1, on=self._going)
        self._about = QWidget(self)
        in_row((self.found, 1), self.case, on=self._about)
        gap = self.fontMetrics().averageCharWidth() // 2
        in_column(self._finding, self._replacing, self._about, self._going, on=self, margins=(0, gap, 0, 0), gap=gap)

    def _listen(self) -> None:
        self.sought.textChanged.connect(lambda: self._search(stay=True))
        self.case.toggled.connect(lambda: self._search(stay=True))
        self.next.clicked.connect(lambda: self._step(1))
        self.previous.clicked.connect(lambda: self._step(-1))
        self.one.clicked.connect(self._replace_one)
        self.all.clicked.connect(self._replace_all)
        self.line.returnPressed.connect(self._go)
        for field in (self.sought, self.replacement, self.line):
            field.installEventFilter(self)

    # What is shown

    def forget(self) -> None:
        """The editor is gone."""
        self._editor = None
        self.hide()

    def open(self, editor: CodeEditor, field: str) -> None:
        """Show a field, "find", "replace" or "line", for this editor; a selection within one line is what to find."""
        self.set_editor(editor)
        for part, shown in (
            (self._finding, field != "line"),
            (self._replacing, field == "replace"),
            (self._about, field != "line"),
            (self._going, field == "line"),
        ):
            part.setVisible(shown)
        selected = editor.textCursor().selectedText()
        if field != "line" and selected and "\u2029" not in selected:
            self.sought.setText(selected)
        self.show()
        self._search(stay=True)
        target = self.line if field == "line" else self.sought
        target.selectAll()
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_editor(self, editor: CodeEditor) -> None:
        """Search this editor from now on."""
        if self._editor is not None and self._editor is not editor:
            self._editor.show_hits("", False)
            self._editor.edited.disconnect(self._follow_text)
        if editor is not self._editor:
            self._editor = editor
            editor.edited.connect(self._follow_text)
            self._follow_text()

    def close_bar(self) -> None:
        """Hide the bar, and go back to the text."""
        self.hide()
        if self._editor is not None:
            self._editor.show_hits("", False)
            self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and watched is not self.line:
                self._step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
        return super().eventFilter(watched, event)

    # Search

    def _follow_text(self) -> None:
        if self.isVisible() and not self._finding.isHidden():
            self._show_found(self._hits())

    def _hits(self) -> int:
        return self._editor.show_hits(self.sought.text(), self.case.isChecked()) if self._editor is not None else 0

    def _show_found(self, number: int) -> None:
        self.found.setText(self._found_text(number))
        for button in (self.next, self.previous, self.one, self.all):
            button.setEnabled(number > 0)

    def _found_text(self, number: int) -> str:
        if not self.sought.text():
            return ""
        if not number:
            return self.tr("Not found in this file")
        if (place := self._place()) is not None:
            return self.tr("{place} of {number}").format(place=count(place + 1), number=count(number))
        text = self.tr("{number} or more places") if number == MOST_HITS else self.tr("{number} places")
        return text.format(number=count(number))

    def _place(self) -> int | None:
        """The number of the selected hit, from 0 on."""
        assert self._editor is not None
        cursor = self._editor.textCursor()
        selected = cursor.selectionStart(), cursor.selectionEnd()
        return next((n for n, hit in enumerate(self._editor.hits) if hit == selected), None)

    def _search(self, stay: bool = False) -> None:
        """Select the next hit from the beginning of the selection on."""
        if self._editor is None or self._finding.isHidden():
            return
        number = self._hits()
        if number and stay:
            start = self._editor.textCursor().selectionStart()
            self._editor.select(*next((hit for hit in self._editor.hits if hit[0] >= start), self._editor.hits[0]))
        self._show_found(number)

    def _step(self, by: int) -> None:
        """Select the next or the previous hit; after the last comes the first."""
        if self._editor is None or not self._hits():
            return
        found, place, cursor = self._editor.hits, self._place(), self._editor.textCursor()
        if place is None:
            after = [n for n, hit in enumerate(found) if hit[0] >= cursor.selectionEnd()]
            place = (after[0] if after else len(found)) - (by > 0)
        self._editor.select(*found[(place + by) % len(found)])
        self._show_found(len(found))

    def _replace_one(self) -> None:
        if self._editor is None or not self._hits():
            return
        if self._place() is not None:
            self._editor.textCursor().insertText(self.replacement.text())
        self._search(stay=True)

    def _replace_all(self) -> None:
        """Replace every hit as one edit, which undo reverts."""
        if self._editor is None:
            return
        cursor, places = (
            self._editor.textCursor(),
            hits(self._editor.toPlainText(), self.sought.text(), self.case.isChecked()),
        )
        cursor.beginEditBlock()
        for start, end in reversed(places):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(self.replacement.text())
        cursor.endEditBlock()
        self._hits()
        self.found.setText(self.tr("{number} replaced").format(number=count(len(places))))

    def _go(self) -> None:
        if self._editor is not None and self.line.hasAcceptableInput():
            editor = self._editor
            editor.go_to(min(int(self.line.text()), editor.blockCount()))
            self.close_bar()
