"""The source files of a kernel, one tab each: its own, and the headers whose code it runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QTabBar, QWidget

from app.base.numbers import percent
from app.base.terms import counter_help, counter_name
from app.base.tips import tip_text
from app.models.xray.xray import SETS, FileView, KernelView
from app.views.boxes import in_column
from app.views.labels import named
from app.views.parts import Combo, ElidedLabel
from app.views.xray.source_view import SourceView

MARGIN = 2
"""Pixels around a line of defines."""
ROOM = 6
"""Extra pixels of a tab's height: underscores in file names would be cut off."""


class FileBar(QTabBar):
    """Tabs for names of files."""

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802
        return super().tabSizeHint(index) + QSize(0, ROOM)


class SourceTabs(QWidget):
    """Shows one file of a kernel at a time; each keeps the line that its cursor was on. `line_changed`: the cursor is
    on another line, or in another file."""

    line_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = named(FileBar(self), "xray.files", title=self.tr("Files of the kernel"))
        self.bar.setDocumentMode(True)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(True)
        self.source = SourceView(self)
        layout = in_column(self.bar, on=self, gap=0)
        self.compiled = [ElidedLabel(parent=self) for _ in range(SETS + 1)]
        for place, label in enumerate(self.compiled):
            label.setObjectName(f"xray.compiled.{place}")
            label.setMargin(MARGIN)
            layout.addWidget(label)
        layout.addWidget(self.source, 1)
        self._kernel: KernelView | None = None
        self._counter = ""
        self._lines: dict[str, int] = {}
        self.bar.currentChanged.connect(self._show_file)
        self.source.line_changed.connect(self._keep_line)
        self.source.followed.connect(self._follow)

    @property
    def file(self) -> FileView:
        """The visible file."""
        assert self._kernel is not None
        return self._kernel.files[max(self.bar.currentIndex(), 0)]

    def show_kernel(self, kernel: KernelView) -> bool:
        """Show a kernel's files. Returns whether they are other files; if not, the visible one stays."""
        before = [(f.file, f.source) for f in self._kernel.files] if self._kernel else []
        chosen, files = (self.file.file if self._kernel else ""), [f.file for f in kernel.files]
        new = before[:1] != [(kernel.files[0].file, kernel.files[0].source)]
        self._kernel = kernel
        if new:
            self._lines.clear()
        self.bar.blockSignals(True)
        while self.bar.count():
            self.bar.removeTab(0)
        for place, file in enumerate(kernel.files):
            title = self.tr("{file}  {share}").format(file=file.name, share=percent(kernel.share(file)))
            self.bar.addTab(title.replace("&", "&&"))
            tip = self.tr("{file}: {share} of the kernel's instructions are on its own lines")
            self.bar.setTabToolTip(place, tip.format(file=file.file, share=percent(kernel.share(file))))
        self.bar.setCurrentIndex(files.index(chosen) if chosen in files and not new else 0)
        self.bar.blockSignals(False)
        self.bar.setVisible(len(kernel.files) > 1)
        lines = kernel.compiled_with
        for place, label in enumerate(self.compiled):
            label.setText(lines[place] if place < len(lines) else "")
            label.setVisible(place < len(lines))
        self._show_file()
        return new

    def show_counter(self, counter: str) -> None:
        """Show this counter next to the lines."""
        self._counter = counter
        if self._kernel is not None:
            self.source.show_column(*self.file.by_line(counter), self._kernel.most(counter))

    def go_to(self, file: str, line: int) -> None:
        """Show a line of one of the files, and put the cursor there."""
        assert self._kernel is not None
        self.bar.setCurrentIndex([f.file for f in self._kernel.files].index(file))
        self.source.go_to(max(line, 1))

    @Slot(str, int)
    def _follow(self, file: str, line: int) -> None:
        self.go_to(file, line)
        self.source.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _show_file(self) -> None:
        file, line = self.file, self._lines.get(self.file.file, 1)
        assert self._kernel is not None
        self.source.show_source(file.source, file.severities, file.describe_line, self._kernel.ways_of(file))
        self.show_counter(self._counter)
        self.source.go_to(line)
        self._lines[file.file] = line
        self.line_changed.emit()

    @Slot(int)
    def _keep_line(self, line: int) -> None:
        if self.source.toPlainText() == self.file.source:  # not while the text changes
            self._lines[self.file.file] = line
            self.line_changed.emit()


class CounterCombo(Combo):
    """Lists counters by their names, with what each means as its tip."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_letters(8)

    @property
    def counter(self) -> str:
        """The id of the selected counter."""
        return str(self.currentData())

    def offer(self, ids: Sequence[str]) -> None:
        """List these counters."""
        self.clear()
        for place, id in enumerate(ids):
            self.addItem(counter_name(id), id)
            self.setItemData(place, tip_text(counter_help(id)), Qt.ItemDataRole.ToolTipRole)

    def select(self, id: str) -> None:
        """Select this counter if it is listed, else the first one."""
        self.setCurrentIndex(max(self.findData(id), 0))
