"""The panel of a kernel from elsewhere: its launch, its source with the counts of each line, and its arrays."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Slot
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QSplitter, QTabWidget, QWidget

from app.base.nesting import bounded
from app.base.numbers import number, seconds
from app.base.terms import counter_name
from app.base.theme import colours_of, inked
from app.controllers.kernels.own_kernel import OwnKernelController
from app.models.files.file_names import all_files
from app.models.own_launch import given_in
from app.models.xray.xray import KernelView, views
from app.views.boxes import in_column, in_row
from app.views.explained import ExplainedBrowser
from app.views.flow import FlowLayout
from app.views.labels import buddy, named, sentence_label
from app.views.own_kernel.arrays_view import ArraysView
from app.views.own_kernel.launch_form import LaunchForm
from app.views.parts import Combo, ElidedLabel
from app.views.scrolled import Scrolled, Squeezed
from app.views.timing.row_text import clock_name, device_name
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
        self._shown: Mapping[str, Any] | None = None
        self._shown_state, self._painted_anew = ("", False), False
        self.path = ElidedLabel(parent=self)
        self.path.setObjectName("own.path")
        self.form = LaunchForm(controller.shape_of, self)
        self.open_button = self._button("own.open", self.tr("Open file…"), self.tr("Open a file of CUDA C"))
        self.reload = self._button("own.reload", self.tr("Reload"), self.tr("Read the file again after a change"))
        self.run = self._button(
            "own.run", self.tr("Run kernel"), self.tr("Launch the kernel; F5 does so in this panel")
        )
        self.stop = self._button("own.stop", self.tr("Stop kernel"), self.tr("End the launch"))
        self.copy = self._button("own.copy", self.tr("Copy as command"), self.tr("Copy the command of this launch"))
        self.stale = sentence_label("own.stale", self)
        self.state = sentence_label("own.state", self, selectable=True)
        self.files = SourceTabs(self)
        self.counters = named(Combo(self), "own.counters", self.tr("Counter for each line"))
        self.report = named(ExplainedBrowser(self), "own.report", title=self.tr("Findings, explanations and totals"))
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
        in_column(Scrolled(self.form, launch), on=launch, margins=(0, gap, 0, 0))
        self.tabs.addTab(launch, self.tr("Launch"))
        self.tabs.addTab(self.splitter, self.tr("Source"))
        self.tabs.addTab(self.arrays, self.tr("Arrays"))
        self.buttons = QWidget(self)
        row = FlowLayout(self.buttons, gap)
        row.setContentsMargins(0, 0, 0, 0)
        for button in (self.run, self.stop, self.copy):
            row.addWidget(button)
        file = in_row((self.path, 1), self.open_button, self.reload, gap=gap)
        in_column(file, self.stale, self.buttons, self.state, (self.tabs, 1), on=self, margins=gap)
        self.state.setAlignment(Qt.AlignmentFlag.AlignTop)  # it has the whole height while no file is open

    def _listen(self) -> None:
        controller = self._controller
        controller.opened.connect(self._show_file)
        controller.given_changed.connect(self._show_given)
        controller.changed.connect(self._show)
        self.open_button.clicked.connect(self.open)
        self.reload.clicked.connect(controller.reload)
        self.run.clicked.connect(self._run)
        self.stop.clicked.connect(controller.stop)
        self.copy.clicked.connect(self._copy)
        self.form.edited.connect(self._describe)
        self.counters.activated.connect(self._show_column)
        self.report.anchorClicked.connect(self._follow)
        self.arrays.chosen.connect(lambda name: self.arrays.draw(controller.array(name) if name else None))
        self.arrays.open_wanted.connect(controller.use_array)
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
    def _describe(self) -> None:
        self._controller.describe(self.form.fields)

    @Slot()
    @bounded
    def _run(self) -> None:
        self._describe()
        try:
            self._controller.run()
        except KernelscopeError as error:
            self._say(str(error), fault=True)

    @Slot()
    @bounded
    def _copy(self) -> None:
        """Copy the command of the launch, after arrays of the window have been saved for it."""
        self._describe()
        fields, targets = self._controller.fields, dict[str, str]()
        given = [text for text in fields.arguments if text.partition(":")[0] in given_in(fields)]
        for text in dict.fromkeys(given):
            name = f"{text.replace(':', '_')}.npy"
            title = self.tr("Save the array for the command as NPY")
            targets[text] = self._files.ask_target(title, name, self.tr("NumPy (*.npy)"))
            if not targets[text]:
                return
        try:
            QApplication.clipboard().setText(self._controller.command(targets))
        except KernelscopeError as error:
            self._say(str(error), fault=True)
        else:
            self._say(self.tr("The command is on the clipboard."))

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
        controller, fields = self._controller, self._controller.fields
        self.path.setText(Path(fields.path).name if fields.path else self.tr("No file is open."))
        self.form.show_launch(controller.kernels, fields, controller.devices)
        self._show()

    @Slot()
    @bounded
    def _show_given(self) -> None:
        """The open picture or signal may be another one."""
        for row in self.form.rows:
            row.show_fields()

    @Slot()
    @bounded
    def _show(self) -> None:
        controller = self._controller
        can = bool(controller.kernels)
        self.run.setEnabled(can and not controller.running)
        self.stop.setEnabled(controller.running)
        self.copy.setEnabled(can)
        for part in (self.reload, self.buttons):
            part.setVisible(bool(controller.fields.path))
        self._show_stale()
        result = controller.outcome.result if controller.outcome else None
        self.tabs.setVisible(can)
        self.tabs.setTabVisible(SOURCE, bool(result and result["content"]))
        self.tabs.setTabVisible(ARRAYS, result is not None)
        if controller.running:
            self._say(self.tr("The kernel runs…"))
        elif controller.reason:
            faults = "\n".join(controller.outcome.findings) if controller.outcome else ""
            self._say(f"{controller.reason}\n{faults}".rstrip(), fault=True)
        elif result is None:
            advice = self.tr("Open a file with a kernel, describe the launch, and press Run kernel.")
            ready = self.tr("Nothing runs until Run kernel is pressed.")
            self._say(ready if can else advice)
        else:
            self._show_result(result)

    def _show_stale(self) -> None:
        text = self.tr("{file} or a header has changed on disk since it was read: press Reload.")
        self.stale.setText(text.format(file=Path(self._controller.fields.path).name))
        self.stale.setVisible(self._controller.stale)
        self.stale.setPalette(inked(self.stale.palette(), colours_of(self.palette()).warn.colour))

    def _show_result(self, result: Mapping[str, Any]) -> None:
        if self._controller.ran != self._controller.fields:
            self._say(self.tr("The results are those of the launch before; press Run kernel for this one."))
            return
        if result is self._shown:
            self._say(*self._shown_state)
            return
        self._shown = result
        faults = self._show_content(result["content"]) if result["content"] else 0
        text = self.tr("The kernel ran, with faults: see the report.") if faults else self.tr("The kernel ran.")
        self._shown_state = f"{text} {self._time_text(result)}".rstrip(), bool(faults)
        self._say(*self._shown_state)
        self.arrays.show_arrays(result["arrays"])
        if self.tabs.currentIndex() == LAUNCH and not self._painted_anew:
            self.tabs.setCurrentIndex(SOURCE if result["content"] else ARRAYS)

    def _time_text(self, result: Mapping[str, Any]) -> str:
        """The time of a GPU, and how its arrays compare with those of the simulated one."""
        time = result["time"]
        if time is None:
            return ""
        text = self.tr(
            "On {device} a launch takes {median}: median of {samples} samples, quartiles {q1} and {q3}, {clock}, on "
            "the same memory each time."
        )
        times = {name: seconds(time[name]) for name in ("median", "q1", "q3")}
        clock = clock_name(time["clock"], time["mode"])
        text = text.format(
            device=device_name(self._controller.ran.device), samples=time["samples"], clock=clock, **times
        )
        if result["uncounted"]:
            return f"{text} {self.tr('It is not counted: {reason}').format(reason=result['uncounted'])}"
        apart = [(name, about["differs"]) for name, about in result["arrays"].items() if about["differs"]]
        line = self.tr("{array} differs by up to {value} from that of the simulated GPU.")
        said = [line.format(array=name, value=number(value)) for name, value in apart]
        return " ".join([text, *(said or [self.tr("The simulated GPU computes the same values.")])])

    def _show_content(self, content: Mapping[str, Any]) -> int:
        """Show source, counts and report. Returns the number of faults."""
        self._kernels = views(content)
        kernel = self._kernels[0]
        faults = sum(m.severity == "error" for m in kernel.findings)
        new, wanted = self.files.show_kernel(kernel), self.counters.currentData()
        self.counters.clear()
        for id in kernel.counters():
            self.counters.addItem(counter_name(id), id)
        self.counters.setCurrentIndex(max(self.counters.findData(wanted), 0))
        self._show_column()
        found = next(((m.file, m.line) for m in kernel.findings if m.line), None)
        if new or found:
            self.files.go_to(*(found or kernel.line_with_most(str(self.counters.currentData()))))
        self.report.setHtml(report(content, self._kernels, self.palette()))
        return faults

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
            self._shown, self._painted_anew = None, True  # the report has colours of its own
            self._show()
            self._painted_anew = False
