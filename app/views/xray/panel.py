"""The right panel: a kernel's source with the counts of each line from a simulated GPU."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QLayout, QPushButton, QSplitter, QStackedWidget, QWidget

from app.base.nesting import bounded
from app.base.theme import checkable, colours_of, inked
from app.controllers.kernels.cliffs import CliffsController
from app.controllers.kernels.prediction import PredictionController
from app.controllers.xray import XRayController
from app.models.xray.access_text import place_text
from app.models.xray.code import Place
from app.models.xray.xray import FileView, KernelView, views
from app.views.boxes import in_column, in_row
from app.views.code.code_tabs import CodeTabs
from app.views.folding import Folding
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.picture_file import Facts, export_sheet, write_text
from app.views.scrolled import Squeezed
from app.views.tab_rows import TabRows
from app.views.xray.access_view import AccessView
from app.views.xray.cliffs_view import CliffsView
from app.views.xray.code_page import CodePage
from app.views.xray.comparison_view import ComparisonView
from app.views.xray.edit_bar import EditBar
from app.views.xray.editing import KernelEditing
from app.views.xray.example_view import ExampleView
from app.views.xray.occupancy_view import BlockSizes
from app.views.xray.prediction_view import PredictionView
from app.views.xray.profile_view import ProfileView
from app.views.xray.report_view import ReportView
from app.views.xray.source_tabs import CounterCombo, SourceTabs
from app.views.xray.text import measured, title
from gpu_ops.lessons.lesson import TABS
from gpu_ops.own_kernels.mending import Example

USUAL = 76
"""The initial width, in letters."""
TITLE = 24
"""The letters that a sentence needs in addition to its longest word, with a button next to it."""
SHARES = (3, 2)
"""The shares of the height: the source, and the tabs below it."""


class XRayPanel(Squeezed):
    """Shows an XRayController and passes on the user's choices. While it is hidden, nothing is simulated."""

    def __init__(
        self,
        controller: XRayController,
        prediction: PredictionController,
        cliffs: CliffsController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("xrayPanel")
        self._controller = controller
        self._kernels: list[KernelView] = []
        self._shown: object = None
        self.variants = self._combo("xray.variants", self.tr("Variant to X-ray"))
        self.kernels = self._combo("xray.kernels", self.tr("Kernel of the variant"))
        self.counters = named(CounterCombo(self), "xray.counters", title := self.tr("Counter for each line"), title)
        tip = self.tr("Simulate this variant again")
        self.again = named(QPushButton(self.tr("Simulate &kernel again"), self), "xray.again", tip=tip)
        tip = self.tr("Edit the text of this kernel; pressed again, it shows the shipped kernel")
        self.edit = named(QPushButton(self.tr("Edit"), self), "xray.edit", tip=tip)
        checkable(self.edit)
        self.title, self.state = (sentence_label(f"xray.{name}", self) for name in ("title", "state"))
        self.files = SourceTabs(self)
        self.source = self.files.source
        self.code, self.edit_bar = CodeTabs(self), EditBar(self)
        self.report, self.example = ReportView("xray.report", self), ExampleView("xray.example", self)
        self.accesses, self.blocks, self.comparison = AccessView(self), BlockSizes(self), ComparisonView(self)
        self.profile, self.prediction = ProfileView(self), PredictionView(prediction, self)
        self.cliffs = CliffsView(cliffs, self)
        self.codes, self._head = (CodePage("ptx", self), CodePage("sass", self)), ""
        self._add_tabs()
        self._arrange()
        self._listen()
        self._show_variants()
        self._show_tab()

    def _combo(self, name: str, title: str) -> QComboBox:
        combo = named(Combo(self), name, title=title, tip=title)
        combo.set_letters(8)
        return combo

    def _add_tabs(self) -> None:
        """Make the tabs below the source."""
        self.tabs = named(TabRows(self), "xray.tabs", title=self.tr("Results of the X-ray"))
        own = (self.report, self.accesses, self.blocks, self.cliffs, self.comparison, self.prediction)
        names = self.tr("Report"), self.tr("Addresses"), self.tr("Blocks"), self.tr("Cliffs"), self.tr("Compare")
        more = self.tr("Predicted"), self.tr("PTX"), self.tr("SASS"), self.tr("Profile"), self.tr("Example")
        for part, name in zip((*own, *self.codes, self.profile, self.example), (*names, *more), strict=True):
            self.tabs.setTabVisible(self.tabs.addTab(part, name), part not in (self.profile, self.example))

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        variant, counted = buddy(self.tr("Variant"), self.variants), buddy(self.tr("Counter per line"), self.counters)
        above = self._folding(in_row(variant, (self.variants, 1), (self.kernels, 1)), self.edit)
        row = self._folding(in_column(self.title, self.state, 1), self.again)
        row.two.setAlignment(self.again, Qt.AlignmentFlag.AlignTop)
        row.wanted = TITLE * gap
        self._counted = self._folding(counted, self.counters, wider=1)
        self.splitter = named(QSplitter(Qt.Orientation.Vertical, self), "xray.splitter")
        self.splitter.setChildrenCollapsible(False)
        self.texts = named(QStackedWidget(self), "xray.texts")
        for text in (self.files, self.code):
            self.texts.addWidget(text)
        for part, share in zip((self.texts, self.tabs), SHARES, strict=True):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(self.splitter.indexOf(part), share)
        in_column(above, row, self.edit_bar, self._counted, (self.splitter, 1), on=self, margins=gap)

    def _folding(self, one: QLayout | QWidget, two: QWidget, wider: int = 0) -> Folding:
        """Two parts next to each other, or below each other in a narrow panel."""
        row = Folding(self, wider)
        row.set_space((0, 0, 0, 0), self.fontMetrics().averageCharWidth())
        row.one.addLayout(one, 1) if isinstance(one, QLayout) else row.one.addWidget(one, 1)
        row.two.addWidget(two)
        return row

    def _listen(self) -> None:
        controller = self._controller
        controller.changed.connect(self._show)
        controller.variants_changed.connect(self._show_variants)
        self.variants.activated.connect(lambda place: controller.choose(self.variants.itemData(place)))
        self.kernels.activated.connect(self._show_kernel)
        self.counters.activated.connect(lambda: controller.show_counter(self.counters.counter))
        controller.counter_changed.connect(self._show_column)
        controller.tab_changed.connect(self._show_tab)
        self.again.clicked.connect(controller.again)
        self.report.line_wanted.connect(self._follow)
        self.report.example_wanted.connect(self._show_example)
        self.tabs.currentChanged.connect(self._watch)
        self.files.line_changed.connect(self._show_line)
        self.code.line_changed.connect(self._show_line)
        self.editing = KernelEditing(controller, self.code, self.edit_bar, self)
        self.edit.clicked.connect(self._edit)
        controller.editing_changed.connect(self._show_editing)
        self.comparison.chosen.connect(controller.compare_with)
        for page in self.codes:
            page.place_chosen.connect(self._go_to_source)
        self.profile.place_chosen.connect(self._go_to_source)
        self.profile.closed.connect(lambda: controller.open_profile(""))
        self.profile.open_wanted.connect(self.open_profile)
        controller.measured_changed.connect(self._show_measured)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(USUAL * self.fontMetrics().averageCharWidth(), super().sizeHint().height())

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._controller.watch(True)
        self._watch()

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self._controller.watch(False)
        for part in (self.prediction, self.cliffs):
            part.watch(False)

    @Slot()
    def _show_tab(self) -> None:
        if self._controller.tab:
            self.tabs.setCurrentIndex(TABS.index(self._controller.tab))

    def _watch(self) -> None:
        self._controller.show_tab(dict(enumerate(TABS)).get(self.tabs.currentIndex(), ""))
        self._controller.watch_comparison(self.tabs.currentWidget() is self.comparison)
        for part in (self.prediction, self.cliffs):
            part.watch(self.isVisible() and self.tabs.currentWidget() is part)

    # Files

    @property
    def filled(self) -> bool:
        """Whether an X-ray is shown."""
        return self._shown is not None

    @property
    def shows_machine_code(self) -> bool:
        """Whether the machine code is in front, so that a report has it as well."""
        return self.tabs.currentWidget() is self.codes[1]

    def export(self, path: str, kind: str, facts: Facts) -> None:
        """Write the whole X-ray, with its cliffs and predicted times where they are known ("json"), or a "picture" of
        the visible part, with these facts. Raises InputError when the file cannot be written."""
        content = self._controller.content
        if kind == "json":
            parts = {"cliffs": self.cliffs.content, "predicted_times": self.prediction.content}
            more = {name: part for name, part in parts.items() if part}
            where = {"computed": self._controller.where} if self._controller.where else {}
            write_text(path, json.dumps({**content, **more, **where, "about": facts}, indent=1) + "\n")
        else:
            export_sheet(self.splitter, path, self.title.text(), {**facts, "variant": self.title.text()})

    @Slot(bool)
    def _edit(self, on: bool) -> None:
        """Edit the kernel at the line that was looked at, or show the shipped one."""
        view = self.files.file if self._kernels else None
        self.editing.set_on(on, view, self.source.textCursor().blockNumber() + 1)

    # Changes of the controller

    @Slot()
    def _show_editing(self) -> None:
        """Show the editor, or the source of the shipped kernel."""
        editing = self._controller.editing
        self.edit.setChecked(editing)
        self.edit_bar.setVisible(editing)
        self.texts.setCurrentWidget(self.code if editing else self.files)
        self.editing.show_draft()
        self._show()
        if editing and self._kernels:
            self.editing.show_kernel(self._kernel)

    @Slot()
    def _show_variants(self) -> None:
        self.variants.clear()
        for variant in self._controller.variants:
            self.variants.addItem(variant.title, variant.id)
        self.variants.setCurrentIndex(self.variants.findData(self._controller.variant))
        shown = self._controller.variant, self._controller.against, self._controller.editing
        self.comparison.show_variants(self._controller.variants, *shown)
        self._show_editing()

    @Slot()
    def _show(self) -> None:
        content = self._controller.content
        # First, because a text that is laid out while hidden is not scrolled to its top.
        self.texts.setVisible(content is not None or self._controller.editing)
        self.tabs.setVisible(content is not None)
        self._counted.setVisible(content is not None)
        self.edit.setEnabled(bool(self._controller.variant))
        if content is not self._shown:
            self._shown, self._kernels = content, views(content)
            what = title(content, self._controller.gpu, self._controller.where)
            self.title.setText(self.tr("{variant}: {what}").format(variant=content["title"], what=what))
            self.kernels.clear()
            self.kernels.addItems([k.name for k in self._kernels])
            self._show_kernel()
            self._show_report()
            self.report.verticalScrollBar().setValue(0)
        self._show_measured()
        self._show_comparison()
        self.kernels.setVisible(len(self._kernels) > 1)
        self._show_state()
        self.splitter.updateGeometry()  # hidden tabs do not say that they need less than before

    def _show_state(self) -> None:
        """Show why the content does not fit the choice."""
        texts = {
            "empty": self.tr("Open an input to X-ray a kernel."),
            "waiting": self.tr("Waiting for the run to end."),
            "running": self.tr("Simulating the kernel…"),
            "stopped": self.tr("Stopped; press Simulate kernel again to restart."),
            "failed": self.tr("There is no X-ray of this: {reason}").format(reason=self._controller.reason),
            "shown": "",
        }
        state, colours = self._controller.state, colours_of(self.palette())
        stale = self._shown is not None and state != "shown"
        setting = self.tr("{state} The content below belongs to an earlier setting.")
        edit = self.tr("{state} The counts below belong to an earlier text.")
        if self._controller.editing and any(problem.column for problem in self._controller.problems):
            texts["failed"] = self.tr("It does not compile; see the list below the text.")
        text = "{state}" if not stale else edit if self._controller.other_text else setting
        self.state.setText(text.format(state=texts[state]))
        self.state.setVisible(shown := bool(texts[state]))
        # In place of the title: the text below would move up and down with each request, or each pause in typing.
        instead = shown and (self._controller.editing or state in ("waiting", "running"))
        self.state.setMinimumHeight(self.title.height() if instead else 0)
        self.title.setVisible(self._shown is not None and not instead)
        self.state.setPalette(inked(self.palette(), colours.error.colour if state == "failed" else colours.muted))
        self.again.setEnabled(state in ("shown", "stopped", "failed"))
        self.again.setVisible(not self._controller.editing or state == "stopped")  # each pause simulates it again

    def _show_report(self) -> None:
        if self._shown is not None:
            self._head = measured(self._controller.measured, self._controller.gpu)
            self.report.show_report(self._controller.content, self._kernels, self._head)

    @Slot()
    def _show_measured(self) -> None:
        """Show the last measured time next to the simulation."""
        if self._head != measured(self._controller.measured, self._controller.gpu):
            self._show_report()

    def open_profile(self) -> None:
        """Ask for a report of Nsight Compute and compare with it."""
        kinds = self.tr("Nsight Compute") + " (*.ncu-rep *.csv)"
        for path in self.editing.choose(self.tr("Open a profile"), kinds)[:1]:
            self.show_profile(path)

    def show_profile(self, path: str) -> None:
        """Compare with this report, and show the comparison."""
        self._controller.open_profile(path)
        self.tabs.setCurrentWidget(self.profile)

    def _show_comparison(self) -> None:
        self.comparison.select(self._controller.against)
        self.tabs.setTabVisible(self.tabs.indexOf(self.profile), bool(self._controller.profile))
        if self._shown is not None:
            content, path = self._controller.content, self._controller.profile
            compared = content if self._controller.profiled else {}
            self.profile.show_content(compared, self._kernel.name, path, self.palette())
            self.comparison.show_content(content, self._controller.against, self.palette())

    # User choices

    @property
    def _kernel(self) -> KernelView:
        return self._kernels[max(self.kernels.currentIndex(), 0)]

    def _show_kernel(self) -> None:
        kernel = self._kernel
        new = self.files.show_kernel(kernel) and not self._controller.editing
        if self._controller.editing:
            self.editing.show_kernel(kernel)
        self.counters.offer(kernel.counters())
        self._show_column()
        self.blocks.show_kernel(kernel.kernel, self._controller.content["architecture"])
        if new:
            found = next(((m.file, m.line) for m in kernel.findings if m.line), None)
            self.files.go_to(*(found or kernel.line_with_most(self.counters.counter)))
        for page, code in zip(self.codes, (kernel.code("ptx"), kernel.code("sass")), strict=True):
            page.show_code(code)
        self._show_line()
        self._show_comparison()

    @Slot()
    def _show_column(self) -> None:
        if not self._kernels:
            return
        self.counters.select(self._controller.counter)
        self.files.show_counter(self.counters.counter)
        self.editing.show_counter(self.counters.counter)

    @Slot()
    def _show_line(self) -> None:
        """Show the addresses of a warp's lanes at the line of the cursor, and mark its code."""
        editing = self._controller.editing
        view = self.editing.view if editing else self.files.file if self._kernels else None
        if view is None:
            return
        line = self.editing.line if editing else self.source.textCursor().blockNumber() + 1
        where = place_text(self._kernel.name, view.name, line, editing)
        self.accesses.show_line(view.traces.get(line, ()), line, where)
        for page in self.codes:
            page.mark((view.file, line))

    @Slot(object)
    def _go_to_source(self, places: Sequence[Place]) -> None:
        """Show the source line of a line of code: the innermost one of a file that is shown."""
        views = {f.file: f for f in self._kernel.files}
        found = next(((views[file], line) for file, line in places if file in views), None)
        if found:
            self._go_to(*found)

    def _go_to(self, view: FileView, line: int) -> None:
        if self._controller.editing:
            self.code.go_to(self.editing.path_of(view), line)
        else:
            self.files.go_to(view.file, line)

    @Slot(object)
    def _show_example(self, example: Example) -> None:
        """Show the line of a shipped kernel."""
        self.tabs.setTabVisible(self.tabs.indexOf(self.example), True)
        self.tabs.setCurrentWidget(self.example)
        self.example.show_example(example)

    @Slot(int, int, int)
    def _follow(self, place: int, file: int, line: int) -> None:
        """Show the line of a finding."""
        if place != self.kernels.currentIndex():
            self.kernels.setCurrentIndex(place)
            self._show_kernel()
        self._go_to(self._kernel.files[file], line)
        if not self._controller.editing:
            self.source.setFocus(Qt.FocusReason.OtherFocusReason)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "splitter"):
            for source in (self.source, self.example.source):
                source.adapt()
            self._show_report()
            self._show_comparison()
            self._show_state()
