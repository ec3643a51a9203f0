"""An editor for one file of CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, mix
from app.models.xray.code_text import (
    comment_toggled,
    first_kernel,
    hits,
    indent_after,
    moved_lines,
    shifted,
    to_next_stop,
    to_previous_stop,
)
from app.models.xray.problem import Problem
from app.views.xray.source_view import DescribeLine, SourceView, Ways
from gpu_ops.devices.kernel_source import MOST_CHARACTERS
from gpu_ops.own_kernels.template import partner

CTRL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)
COMMANDS = {Qt.Key.Key_F: "find", Qt.Key.Key_H: "replace", Qt.Key.Key_G: "line"}
"""Keys with Ctrl that open a field of the bar below the text."""
WASH = 0.25
"""The share of a colour behind marked letters."""


class CodeEditor(SourceView):
    """A SourceView whose text can be edited. Numbers and marks of the last results move with their lines; lines that
    were edited since have none. Tab indents; Ctrl+Tab and Ctrl+Shift+Tab leave the text.

    `wanted("find", "replace" or "line")`: the user wants that field of a bar below the text. `edited`: the text
    changed; `refused(sentence)`: a text was not pasted.
    """

    wanted = Signal(str)
    edited = Signal()
    refused = Signal(str)

    _problems: Sequence[Problem] = ()
    _hits: Sequence[tuple[int, int]] = ()
    _lines: Sequence[str] = ()
    _moved: tuple[int, int, int] | None = None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code.text")
        self.setReadOnly(False)
        self.setTabChangesFocus(False)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextEditorInteraction)
        self.setAccessibleName(self.tr("Kernel text"))
        self.setAccessibleDescription(
            self.tr(
                "Tab indents, Ctrl+Tab leaves the text; Ctrl+Space shows the counts at the line of the cursor; F12 "
                "goes to what it calls"
            )
        )
        self.textChanged.connect(self._take_change)

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        """Paste a text; one that is too long for a kernel file is refused."""
        if len(source.text()) + self.document().characterCount() > MOST_CHARACTERS:
            self.refused.emit(self.tr("The text is longer than 1 MiB, the maximum of a kernel file; it is not pasted."))
        else:
            super().insertFromMimeData(source)

    # What is shown

    def open_text(self, text: str) -> None:
        """Show another text at its first kernel: undo does not go back beyond it."""
        self.setPlainText(text)
        self.document().setModified(False)
        self.go_to(first_kernel(text))

    def replace_text(self, text: str) -> None:
        """Replace the whole text as one edit, which undo reverts."""
        if text != self.toPlainText():
            cursor = self.textCursor()
            line = cursor.blockNumber() + 1
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            self.go_to(min(line, self.blockCount()))

    def show_results(
        self, counted: str, marks: Mapping[int, str], describe_line: DescribeLine, ways: Ways = lambda line: ((), ())
    ) -> None:
        """Show the results of this text, which may be an earlier one than the editor's; see `show_source`."""
        self._marks, self._describe_line, self._ways = marks, describe_line, ways
        self._lines = counted.split("\n")
        self._compare()
        self._fit()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Mark the compiler's errors and warnings of the present text at their lines."""
        self._problems = problems
        self._show_current()
        self._fit()

    def show_hits(self, wanted: str, case: bool) -> int:
        """Mark the places where a text occurs. Returns their number."""
        self._hits = hits(self.toPlainText(), wanted, case)
        self._show_current()
        return len(self._hits)

    @property
    def hits(self) -> Sequence[tuple[int, int]]:
        """The marked places: (start, end) of each."""
        return self._hits

    def _take_change(self) -> None:
        self._problems = ()  # they belong to another text; those of this one come after a pause
        self._compare()
        self._fit()
        self.edited.emit()

    # Lines of the last results

    def _compare(self) -> None:
        """Find where the lines of the last results are now."""
        self._moved = moved_lines(self._lines, self.toPlainText().split("\n"))

    def counted_line(self, line: int) -> int:
        """The line of the last results that is now this one; 0 for a line that was edited since."""
        if self._moved is None:
            return line
        first, last, more = self._moved
        if line <= first:
            return line
        return line - more if line > self.blockCount() - last else 0

    @property
    def _has_marks(self) -> bool:
        return True  # the text does not move when the first error comes

    def severity(self, line: int) -> str:
        """The severity of a line's worst problem, else of its worst finding; "" without one."""
        severities = {p.severity for p in self._problems if p.line == line}
        if severities:
            return "error" if severities - {"warning"} else "warning"
        return super().severity(line)

    def describe(self, line: int) -> Sequence[str]:
        return [*(p.text for p in self._problems if p.line == line), *super().describe(line)]

    # Marked letters

    def marked_letters(self) -> list[QTextEdit.ExtraSelection]:
        """The problems, the hits of a search, and the brackets that belong together at the cursor."""
        text, colours = self.toPlainText(), colours_of(self.palette())
        base = self.palette().color(QPalette.ColorRole.Base)
        marked = [self._marked(a, b, mix(base, colours.warn.colour, WASH)) for a, b in self._hits if b <= len(text)]
        place = self.textCursor().position()
        for at in (place, place - 1):
            other = partner(text, at) if at >= 0 else None
            if other is not None:
                ink = mix(base, (colours.error if other < 0 else colours.ok).colour, WASH)
                marked += [self._marked(one, one + 1, ink) for one in (at, other) if one >= 0]
                break
        return marked + [self._underlined(p) for p in self._problems if 0 < p.line <= self.blockCount()]

    def _marked(self, start: int, end: int, ground: QColor) -> QTextEdit.ExtraSelection:
        form = QTextCharFormat()
        form.setBackground(ground)
        return self._selected(start, end, form)

    def _selected(self, start: int, end: int, form: QTextCharFormat) -> QTextEdit.ExtraSelection:
        one = QTextEdit.ExtraSelection()
        one.cursor = QTextCursor(self.document())
        one.cursor.setPosition(start)
        one.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        one.format = form
        return one

    def _underlined(self, problem: Problem) -> QTextEdit.ExtraSelection:
        """A wavy line below the word of a problem, or below the whole line where its column is unknown."""
        colours, form = colours_of(self.palette()), QTextCharFormat()
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        form.setUnderlineColor((colours.warn if problem.severity == "warning" else colours.error).colour)
        block = self.document().findBlockByNumber(problem.line - 1)
        text = block.text()
        start = problem.column - 1 if 0 < problem.column <= len(text) else len(text) - len(text.lstrip())
        word = re.compile(r"\w+|.").match(text, start) if problem.column else None
        end = word.end() if word else len(text)
        return self._selected(block.position() + start, block.position() + max(end, start), form)

    # Keys

    @bounded
    def event(self, event: QEvent) -> bool:
        """Keep the editor's own keys from actions of the window that have the same."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._command(event):
            event.accept()
            return True
        return super().event(event)

    def _command(self, event: QKeyEvent) -> Callable[[], object] | None:
        """What a key does here; None for keys that every text has."""
        key, held = event.key(), event.modifiers() & (CTRL | SHIFT | Qt.KeyboardModifier.AltModifier)
        if held == CTRL and key in COMMANDS:
            return lambda: self.wanted.emit(COMMANDS[Qt.Key(key)])
        commands: dict[tuple[int, Qt.KeyboardModifier], Callable[[], object]] = {
            (Qt.Key.Key_Slash, CTRL): self.toggle_comment,
            (Qt.Key.Key_Space, CTRL): self.show_counts,
            (Qt.Key.Key_Tab, CTRL): self.focusNextChild,
            (Qt.Key.Key_Backtab, CTRL | SHIFT): self.focusPreviousChild,
            (Qt.Key.Key_F12, NONE): lambda: self.follow(self.textCursor().blockNumber() + 1),
        }
        return commands.get((key, held))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if command := self._command(event):
            command()
            return
        key, shift = event.key(), bool(event.modifiers() & SHIFT)
        if self.isReadOnly():
            QPlainTextEdit.keyPressEvent(self, event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._break_line()
        elif key == Qt.Key.Key_Tab and not self._several_lines:
            cursor = self.textCursor()
            cursor.insertText(" " * to_next_stop(min(cursor.positionInBlock(), cursor.selectionStart())))
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._change_lines(lambda lines: shifted(lines, key == Qt.Key.Key_Tab and not shift))
        elif key == Qt.Key.Key_Backspace and not event.modifiers() and not self.textCursor().hasSelection():
            self._delete_back()
        elif event.text() == "}" and not self._before.strip():
            self._close_block()
        else:
            QPlainTextEdit.keyPressEvent(self, event)

    @property
    def _before(self) -> str:
        """The text of the line before the cursor."""
        cursor = self.textCursor()
        return cursor.block().text()[: cursor.positionInBlock()]

    @property
    def _several_lines(self) -> bool:
        return "\u2029" in self.textCursor().selectedText()

    def _break_line(self) -> None:
        """A new line with the indentation that its place asks for."""
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        before, after = self._before, cursor.block().text()[cursor.positionInBlock() :]
        cursor.insertText("\n" + indent_after(before))
        if before.rstrip().endswith("{") and after.startswith("}"):
            place = cursor.position()
            cursor.insertText("\n" + indent_after(before)[:-4])
            cursor.setPosition(place)
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def _delete_back(self) -> None:
        cursor = self.textCursor()
        cursor.movePosition(
            QTextCursor.MoveOperation.PreviousCharacter, QTextCursor.MoveMode.KeepAnchor, to_previous_stop(self._before)
        )
        cursor.removeSelectedText()

    def _close_block(self) -> None:
        """A closing brace that is the first letter of its line goes one level of indentation back."""
        before, cursor = self._before, self.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        cursor.movePosition(
            QTextCursor.MoveOperation.PreviousCharacter,
            QTextCursor.MoveMode.KeepAnchor,
            to_previous_stop(before) if before else 0,
        )
        cursor.insertText("}")
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def toggle_comment(self) -> None:
        """Make the selected lines comments, or code again."""
        self._change_lines(comment_toggled)

    def _change_lines(self, change: Callable[[Sequence[str]], Sequence[str]]) -> None:
        """Change the lines of the selection, or the line of the cursor, as one edit; they stay selected."""
        cursor = self.textCursor()
        several, document = cursor.hasSelection(), self.document()
        first, last = document.findBlock(cursor.selectionStart()), document.findBlock(cursor.selectionEnd())
        if several and last != first and cursor.selectionEnd() == last.position():
            last = last.previous()  # the selection ends before this line
        start, end, column = first.position(), last.position() + last.length() - 1, cursor.positionInBlock()
        lines = self.toPlainText()[start:end].split("\n")
        changed = change(lines)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("\n".join(changed))
        if several:
            cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.setPosition(start + max(min(column + len(changed[0]) - len(lines[0]), len(changed[0])), 0))
        self.setTextCursor(cursor)

    # Search

    def select(self, start: int, end: int) -> None:
        """Select these letters and show them."""
        cursor = self.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
