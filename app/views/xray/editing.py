"""Connects the editor of the X-ray panel with the drafts of kernels and with their X-rays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot

from app.controllers.xray import XRayController
from app.models.results.results import Contract
from app.models.xray.code_text import first_kernel
from app.models.xray.drafts import Draft
from app.models.xray.xray import FileView, KernelView
from app.views.code.code_tabs import CodeTabs
from app.views.picture_file import write_text
from app.views.timing.row_text import failure_text
from app.views.xray.edit_bar import EditBar
from gpu_ops import KernelscopeError
from gpu_ops.devices.kernel_source import header_files, read_source


def kinds() -> str:
    """The file filter of a dialog for kernels, in Qt's notation."""
    return QCoreApplication.translate("XRay", "CUDA C++") + " (*.cu *.cuh)"


class KernelEditing(QObject):
    """Shows the draft of the chosen variant, takes what is typed, and shows what the X-ray says about it. `choose` and
    `ask_target` ask for files to open and to save; `saved(path)`, `failed(sentence)`."""

    saved = Signal(str)
    failed = Signal(str)

    def __init__(self, controller: XRayController, code: CodeTabs, bar: EditBar, parent: QObject) -> None:
        super().__init__(parent)
        self._controller, self._code, self._bar = controller, code, bar
        self._views: dict[str, FileView] = {}
        self._kernel: KernelView | None = None
        self._counter = ""
        self._of = ("", "")
        self.choose: Callable[[str, str], Sequence[str]] = lambda title, kinds: ()
        self.ask_target: Callable[[str, str, str], str] = lambda title, name, kinds: ""
        controller.drafts_checked.connect(self._show_state)
        controller.measured_changed.connect(self._show_state)
        code.text_changed.connect(self._take_text)
        code.refused.connect(self.failed)
        bar.wanted.connect(self._do)
        controller.drafts.replaced.connect(self.show_draft)
        controller.drafts.changed.connect(self._show_state)
        controller.changed.connect(self._show_answer)

    # Texts

    @Slot()
    def show_draft(self) -> None:
        """Show the texts of the variant that is edited."""
        if not self._controller.editing:
            return
        draft = self._controller.draft
        if self._of != (draft.filter, draft.variant):
            self._of, self._views, self._kernel = (draft.filter, draft.variant), {}, None
        titles = {file: draft.name if file == draft.file and draft.path else "" for file in draft.files}
        self._code.open_files(draft.files, {file: title for file, title in titles.items() if title}, tuple(draft.texts))
        self._show_state()
        self._show_answer()

    @Slot(str, str)
    def _take_text(self, file: str, text: str) -> None:
        if self._of != (self._controller.draft.filter, self._controller.draft.variant):
            return  # the editors of another variant are being replaced
        self._controller.drafts.set_text(*self._of, file, text)

    # Answers

    def show_kernel(self, kernel: KernelView) -> None:
        """Show the counts of an X-ray at the lines of the editors that it belongs to."""
        paths = header_files(self._controller.draft.texts)
        self._kernel, self._views = kernel, {paths.get(f.file, f.file): f for f in kernel.files}
        for file in self._code.files:
            editor, view = self._code.editor_of(file), self._views.get(file)
            if editor is not None and view is not None:
                editor.show_results(view.source, view.severities, view.describe_line, kernel.ways_of(view))
        self.show_counter(self._counter)

    def show_counter(self, counter: str) -> None:
        """Show this counter next to the lines."""
        self._counter = counter
        for file in self._code.files:
            editor, view = self._code.editor_of(file), self._views.get(file)
            if editor is not None and view is not None and self._kernel is not None:
                editor.show_column(*view.by_line(counter), self._kernel.most(counter))

    def path_of(self, view: FileView) -> str:
        """The file of the editors that a file of the X-ray is."""
        return next((file for file, one in self._views.items() if one is view), view.file)

    def set_on(self, on: bool, view: FileView | None, line: int) -> None:
        """Edit the kernel, with the cursor on the line of a file of the X-ray that was looked at; in an edited text it
        stays where it was. Or show the shipped kernel."""
        self._controller.set_editing(on)
        if not on or not self._code.files:
            return
        if view is not None and not self._controller.edits:
            self._code.go_to(self.path_of(view), line)
        self._code.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_new(self) -> None:
        """Show the first kernel of a text that came in place of another."""
        draft = self._controller.draft
        self._code.go_to(draft.file, first_kernel(draft.files[draft.file]))

    @property
    def view(self) -> FileView | None:
        """The file of the X-ray that is in the visible editor."""
        return self._views.get(self._code.file)

    @property
    def line(self) -> int:
        """The line of the X-ray that the cursor is on; 0 for one that was edited since."""
        editor = self._code.editor
        return editor.counted_line(editor.textCursor().blockNumber() + 1)

    @Slot()
    def _show_answer(self) -> None:
        if self._controller.editing and not self._controller.pausing:
            self._code.show_problems(self._controller.problems)
        self._show_state()

    # The row of buttons

    @Slot()
    def _show_state(self) -> None:
        controller = self._controller
        if not controller.editing or not self._code.files:
            return
        draft, document = controller.draft, self._code.editor.document()
        self._code.mark_edited(tuple(draft.texts))
        edited, contract = bool(draft.texts), controller.contract.verdict(draft)
        able = {"undo": document.isUndoAvailable(), "redo": document.isRedoAvailable(), "shipped": edited}
        able |= {"run": edited, "save": edited, "check": edited and not controller.contract.checks(draft)}
        able["remove"] = controller.contract.has_result(draft)
        failure, role = self._failure(draft), "" if contract is None else "ok" if contract.right else "error"
        text = self._about(draft, contract)
        if failure and (contract is None or contract.text not in failure):
            text += "\n" + self.tr("Run: {failure}").format(failure=failure)
        self._bar.show_state(text, "error" if failure else role, able)

    def _failure(self, draft: Draft) -> str:
        """Why the run of the present text failed, or that its result is wrong; "" where it did not fail."""
        entry = self._controller.contract.result(draft)
        return failure_text(entry) if entry is not None and (entry.failure or entry.ok is False) else ""

    def _about(self, draft: Draft, contract: Contract | None) -> str:
        title = draft.origin.title
        if not draft.texts:
            return self.tr("{variant}: the shipped text; type to change it.").format(variant=title)
        kept = self.tr("not saved") if draft.unsaved else self.tr("saved as {name}").format(name=draft.name)
        known = self.tr("not checked yet")
        if contract is not None:
            known = contract.text
        elif self._controller.contract.checks(draft):
            known = self.tr("being checked…")
        elif draft == self._controller.contract.failed_draft:
            known = self._controller.contract.reason
        text = self.tr("{variant}, edited: {kept}. Contract: {known}")
        return text.format(variant=title, kept=kept, known=known)

    @Slot(str)
    def _do(self, what: str) -> None:
        controller, draft = self._controller, self._controller.draft
        commands: dict[str, Callable[[], object]] = {
            "undo": self._code.editor.undo,
            "redo": self._code.editor.redo,
            "shipped": self._show_shipped,
            "run": lambda: controller.contract.show_result(draft),
            "check": lambda: controller.contract.check(draft),
            "remove": lambda: controller.contract.remove_result(draft),
            "template": self._open_template,
            "save": self.save,
            "open": self._open,
        }
        commands[what]()
        self._show_state()

    def save(self) -> bool:
        """Ask for a name and save the edited kernel as one file. Returns whether it was saved."""
        draft = self._controller.draft
        name = draft.name if draft.path else f"{draft.filter}_{draft.variant}.cu"
        path = self.ask_target(self.tr("Save the edited kernel"), name, kinds())
        if not path:
            return False
        try:
            write_text(path, draft.one_file())
        except KernelscopeError as error:
            self.failed.emit(str(error))
            return False
        self._controller.drafts.set_file(draft, path)
        self.saved.emit(path)
        return True

    def _open(self) -> None:
        """Ask for a file and edit its text."""
        for path in self.choose(self.tr("Open a kernel"), kinds())[:1]:
            try:
                self._controller.open_file(path)
            except KernelscopeError as error:
                self.failed.emit(str(error))
            else:
                self._show_new()

    def _open_template(self) -> None:
        self._controller.open_template()
        self._show_new()

    def _show_shipped(self) -> None:
        """Take back every edit, as one edit of each file that can be undone."""
        for file in tuple(self._controller.draft.texts):
            editor = self._code.editor_of(file)
            if editor is not None:
                editor.replace_text(read_source(file))
