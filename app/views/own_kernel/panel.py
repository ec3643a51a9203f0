"""The panel of a kernel from elsewhere: its launch, its source with the counts of each line, and its arrays."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Slot
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QSplitter, QTabWidget, QTextBrowser, QWidget

from app.base.nesting import bounded
from app.base.terms import counter_name
from app.base.theme import colours_of, inked
from app.controllers.own_kernel import OwnKernelController
from app.models.files.file_names import all_files
from app.models.xray.architecture import SIMULATED
from app.models.xray.xray import KernelView, views
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from app.views.own_kernel.arrays_view import ArraysView
from app.views.own_kernel.launch_form import LaunchForm
from app.views.parts import Combo, ElidedLabel
from app.views.scrolled import Squeezed
from app.views.xray.source_tabs import SourceTabs
from app.views.xray.text import report
from gpu_ops.errors import KernelscopeError, plain

if TYPE_CHECKING:
    from app.views.window.files import Files

USUAL = 76
"""The initial width, in letters."""
LAUNCH, SOURCE, ARRAYS = range(3)
"""The tabs."""


class OwnKernelPanel(Squeezed):
    """Shows an OwnKernelController, and passes on the user's choices; `files` asks for names."""

    def __init__(self, controller: OwnKernelController, files: Files, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ownKernelPanel")
        self._controller, self._files = controller, files
        self._kernels: list[KernelView] = []
        self.path = ElidedLabel(parent=self)
        self.path.setObjectName("own.path")
        self.form = LaunchForm(self)
        self.open_button = self._button("own.open", self.tr("Open file…"), self.tr("Open a file of CUDA C"))
        self.reload = self._button("own.reload", self.tr("Reload"), self.tr("Read the file again after a change"))
        self.run = self._button("own.run", self.tr("Run kernel"), self.tr("Launch the kernel on a simulated GPU"))
        self.stop = self._button("own.stop", self.tr("Stop kernel"), self.tr("End the launch"))
        self.copy = self._button("own.copy", self.tr("Copy as command"), self.tr("Copy the command of this launch"))
        self.state = sentence_label("own.state", self, selectable=True)
        self.files = SourceTabs(self)
        self.counters = named(Combo(self), "own.counters", self.tr("Counter for each line"))
        self.report = named(QTextBrowser(self), "own.report", title=self.tr("Findings, explanations and totals"))
        self.report.setOpenLinks(False)
        self.report.setFrameShape(QFrame.Shape.NoFrame)
        self.arrays = ArraysView(self)
        self.tabs = named(QTabWidget(self), "own.tabs", title=self.tr("Results of the launch"))
        self.tabs.setDocumentMode(True)
        self._arrange()
        self._listen()
        self._show_file()
        self._show()

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        return named(QPushButton(text, self), name, tip=tip)

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        self.splitter = named(QSplitter(Qt.Orientation.Vertical, self), "own.splitter")
        self.splitter.setChildrenCollapsible(False)
        source = QWidget(self)
        counted = in_row(buddy(self.tr("Counter per line"), self.counters), (self.counters, 1))
        in_column(counted, (self.files, 1), on=source)
        self.splitter.addWidget(source)
        self.splitter.addWidget(self.report)
        launch = QWidget(self)
        in_column(self.form, 1, on=launch, margins=(0, gap, 0, 0))
        self.tabs.addTab(launch, self.tr("Launch"))
        self.tabs.addTab(self.splitter, self.tr("Source"))
        self.tabs.addTab(self.arrays, self.tr("Arrays"))
        head = in_row((self.path, 1), self.open_button, self.reload)
        row = in_row(self.run, self.stop, self.copy, 1)
        in_column(head, row, self.state, (self.tabs, 1), on=self, margins=gap)

    def _listen(self) -> None:
        controller = self._controller
        controller.opened.connect(self._show_file)
        controller.changed.connect(self._show)
        self.open_button.clicked.connect(self.open)
        self.reload.clicked.connect(controller.reload)
        self.run.clicked.connect(self._run)
        self.stop.clicked.connect(controller.stop)
        self.copy.clicked.connect(self._copy)
        self.form.includes_changed.connect(self._take_includes)
        self.counters.activated.connect(self._show_column)
        self.report.anchorClicked.connect(self._follow)
        self.arrays.chosen.connect(lambda name: self.arrays.draw(controller.array(name) if name else None))
        self.arrays.open_wanted.connect(lambda name: self._files.open_path(controller.array_path(name)))
        self.arrays.save_wanted.connect(self._save)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(USUAL * self.fontMetrics().averageCharWidth(), super().sizeHint().height())

    # User actions

    @Slot()
    def open(self) -> None:
        """Ask for a kernel file and open it; nothing is launched."""
        kinds = ";;".join([self.tr("CUDA C (*.cu *.cuh)"), all_files()])
        for path in self._files.choose(self.tr("Open a kernel"), kinds)[:1]:
            self._controller.open(path)

    @Slot(str)
    @bounded
    def _save(self, name: str) -> None:
        """Ask for a name and save an array."""
        target = self._files.ask_target(self.tr("Save the array as NPY"), f"{name}.npy", self.tr("NumPy (*.npy)"))
        if not target:
            return
        try:
            shutil.copyfile(self._controller.array_path(name), target)
        except OSError as error:
            text = self.tr("{path} cannot be written ({reason}); choose another folder.")
            self._files.say_not_written(text.format(path=plain(target), reason=error.strerror))
        else:
            self._files.say_written(target)

    @Slot()
    @bounded
    def _run(self) -> None:
        try:
            request = self.form.fields.request(SIMULATED)
        except KernelscopeError as error:
            self._say(str(error), fault=True)
        else:
            self._controller.run(request)

    @Slot()
    def _copy(self) -> None:
        QApplication.clipboard().setText(self.form.fields.command(self._controller.path, SIMULATED))
        self._say(self.tr("The command is on the clipboard."))

    @Slot()
    def _take_includes(self) -> None:
        if self.form.fields.includes != self._controller.includes:
            self._controller.includes = self.form.fields.includes
            self._controller.reload()

    @Slot(QUrl)
    @bounded
    def _follow(self, link: QUrl) -> None:
        """Show the line of a finding."""
        _, file, line = (int(number) for number in link.fragment().split("-"))
        self.files.go_to(self._kernels[0].files[file].file, line)

    # Changes of the controller

    @Slot()
    @bounded
    def _show_file(self) -> None:
        controller = self._controller
        self.path.setText(Path(controller.path).name if controller.path else self.tr("No file is open."))
        self.form.show_kernels(controller.kernels)
        self.tabs.setCurrentIndex(LAUNCH)

    @Slot()
    @bounded
    def _show(self) -> None:
        controller = self._controller
        can = bool(controller.kernels)
        self.run.setEnabled(can and not controller.running)
        self.stop.setEnabled(controller.running)
        self.copy.setEnabled(can)
        self.reload.setEnabled(bool(controller.path))
        answer = controller.answer
        content = answer.content if answer else None
        self.tabs.setVisible(can)
        for place in (SOURCE, ARRAYS):
            self.tabs.setTabVisible(place, content is not None)
        if controller.running:
            self._say(self.tr("The kernel runs…"))
        elif controller.reason:
            faults = "\n".join(answer.findings) if answer else ""
            self._say(f"{controller.reason}\n{faults}".rstrip(), fault=True)
        elif content is None:
            advice = self.tr("Open a file with a kernel, describe the launch, and press Run kernel.")
            ready = self.tr("Nothing runs until Run kernel is pressed.")
            self._say(ready if can else advice)
        else:
            self._show_content()

    def _show_content(self) -> None:
        answer = self._controller.answer
        assert answer is not None and answer.content is not None
        self._kernels = views(answer.content)
        kernel = self._kernels[0]
        faults = sum(m.severity == "error" for m in kernel.findings)
        text = self.tr("The kernel ran, with faults: see the report.") if faults else self.tr("The kernel ran.")
        self._say(text, fault=bool(faults))
        new, wanted = self.files.show_kernel(kernel), self.counters.currentData()
        self.counters.clear()
        for id in kernel.counters():
            self.counters.addItem(counter_name(id), id)
        self.counters.setCurrentIndex(max(self.counters.findData(wanted), 0))
        self._show_column()
        found = next(((m.file, m.line) for m in kernel.findings if m.line), None)
        if new or found:
            self.files.go_to(*(found or kernel.line_with_most(str(self.counters.currentData()))))
        self.report.setHtml(report(answer.content, self._kernels, self.palette()))
        self.arrays.show_arrays(answer.arrays or {})
        if self.tabs.currentIndex() == LAUNCH:
            self.tabs.setCurrentIndex(SOURCE)

    @Slot()
    def _show_column(self) -> None:
        self.files.show_counter(str(self.counters.currentData()))

    def _say(self, text: str, fault: bool = False) -> None:
        colours = colours_of(self.palette())
        self.state.setText(text)
        self.state.setPalette(inked(self.state.palette(), colours.error.colour if fault else colours.muted))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "splitter"):
            self.files.source.adapt()
            self._show()
