"""Editors for the files of a kernel, one tab each, with a bar for search and a list of the compiler's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStackedWidget, QWidget

from app.base.nesting import bounded
from app.base.numbers import count
from app.base.theme import colours_of
from app.models.xray.problem import Problem
from app.views.boxes import in_column
from app.views.code.editor import CodeEditor
from app.views.code.find_bar import FindBar
from app.views.labels import named
from app.views.xray.source_tabs import FileBar

LISTED = 4
"""Lines of the list of problems that are visible at once."""
MOST_LISTED = 200


class CodeTabs(QWidget):
    """Edits the files of a kernel. `text_changed(file, text)`; `line_changed`: the cursor is on another line, or in
    another file; `refused(sentence)`: a text was not pasted."""

    text_changed = Signal(str, str)
    line_changed = Signal()
    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self.bar = named(FileBar(self), "code.files", title=self.tr("Files of the edited kernel"))
        self.bar.setDocumentMode(True)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(True)
        self.stack = named(QStackedWidget(self), "code.stack")
        self.finder = FindBar(self)
        self.problems = named(
            QListWidget(self),
            "code.problems",
            title=self.tr("Errors and warnings of the compiler"),
            tip=self.tr("Click on a message, or press Return, to go to its line"),
        )
        self.problems.setWordWrap(True)
        self.problems.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.problems.hide()
        in_column(self.bar, (self.stack, 1), self.finder, self.problems, on=self, gap=0)
        self._files: dict[str, CodeEditor] = {}
        self._titles: Mapping[str, str] = {}
        self.bar.currentChanged.connect(self._show_file)
        self.problems.itemClicked.connect(self._follow)
        self.problems.itemActivated.connect(self._follow)

    # Files

    def open_files(self, texts: Mapping[str, str], titles: Mapping[str, str], edited: Sequence[str] = ()) -> None:
        """Edit these texts by file; `titles` are those of the tabs, `edited` the files that differ from the original.
        Other files than before have a new history of undo; the same files keep theirs, and another text of one of them
        is an edit that can be undone."""
        if list(texts)[:1] != list(self._files)[:1]:
            self._remove()
        for file, text in texts.items():
            if file not in self._files:
                self._add(file, text)
            self._files[file].replace_text(text)
        self._titles = titles
        self.mark_edited(edited)
        self.bar.setVisible(len(self._files) > 1)
        self.setFocusProxy(self.editor)

    def _add(self, file: str, text: str) -> None:
        editor = CodeEditor(self)
        editor.open_text(text)
        editor.edited.connect(partial(self._report_text, file))
        editor.line_changed.connect(self.line_changed)
        editor.wanted.connect(partial(self._find, editor))
        editor.followed.connect(self.go_to)
        editor.refused.connect(self.refused)
        self._files[file] = editor
        self.stack.addWidget(editor)
        self.bar.addTab(file)

    def _remove(self) -> None:
        self.bar.blockSignals(True)
        for editor in self._files.values():
            self.stack.removeWidget(editor)
            editor.deleteLater()
        while self.bar.count():
            self.bar.removeTab(0)
        self._files = {}
        self.finder.forget()
        self.bar.blockSignals(False)
        self.show_problems(())

    def mark_edited(self, edited: Sequence[str]) -> None:
        """Show in the tabs which files differ from the original."""
        for place, file in enumerate(self._files):
            title = self._titles.get(file, file.rsplit("/", 1)[-1])
            text = self.tr("{file} ●").format(file=title) if file in edited else title
            self.bar.setTabText(place, text.replace("&", "&&"))
            self.bar.setTabToolTip(place, self.tr("{file}: edited").format(file=file) if file in edited else file)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._files)

    @property
    def file(self) -> str:
        """The visible file."""
        return self.files[max(self.bar.currentIndex(), 0)] if self._files else ""

    @property
    def editor(self) -> CodeEditor:
        """The editor of the visible file."""
        return self._files[self.file]

    def editor_of(self, file: str) -> CodeEditor | None:
        """The editor of a file; None for another file."""
        return self._files.get(file)

    def _report_text(self, file: str) -> None:
        self.text_changed.emit(file, self._files[file].toPlainText())

    def _show_file(self, place: int) -> None:
        if 0 <= place < self.stack.count():
            self.stack.setCurrentIndex(place)
            if self.finder.isVisible():
                self.finder.set_editor(self.editor)
            self.line_changed.emit()

    def go_to(self, file: str, line: int) -> None:
        """Show a line of one of the files, and put the cursor there."""
        if file in self._files:
            self.bar.setCurrentIndex(self.files.index(file))
            self.editor.go_to(max(line, 1))
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self, editor: CodeEditor, field: str) -> None:
        self.finder.open(editor, field)

    # Problems

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Mark the compiler's messages at their lines, and list them."""
        for file, editor in self._files.items():
            editor.show_problems([p for p in problems if p.file == file])
        self.problems.clear()
        colours = colours_of(self.palette())
        for problem in problems[:MOST_LISTED]:
            role = colours.warn if problem.severity == "warning" else colours.error
            name = problem.file.rsplit("/", 1)[-1]
            place = f"{name}:{count(problem.line)}" + (f":{problem.column}" if problem.column else "")
            item = QListWidgetItem(f"{role.symbol} {place}  {problem.text}")
            item.setForeground(role.colour)
            item.setData(Qt.ItemDataRole.UserRole, problem)
            self.problems.addItem(item)
        self.problems.setVisible(bool(problems))
        lines = min(max(len(problems), 1), LISTED)
        self.problems.setFixedHeight((lines + 1) * self.problems.fontMetrics().lineSpacing())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "problems"):
            colours = colours_of(self.palette())
            for item in map(self.problems.item, range(self.problems.count())):
                severity = Problem(*item.data(Qt.ItemDataRole.UserRole)).severity
                item.setForeground((colours.warn if severity == "warning" else colours.error).colour)

    def _follow(self, item: QListWidgetItem) -> None:
        problem = Problem(*item.data(Qt.ItemDataRole.UserRole))
        self.go_to(problem.file, problem.line)
        editor = self.editor_of(problem.file)
        if editor is not None and problem.column:
            block = editor.document().findBlockByNumber(problem.line - 1)
            at = block.position() + min(problem.column - 1, max(block.length() - 1, 0))
            editor.select(at, at)
