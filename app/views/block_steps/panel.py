"""One block of a kernel, step by step: its lanes at their lines, shared memory, registers, and what it has written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QWidget,
)

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.base.tips import set_tip
from app.controllers.kernels.block_run import BlockRunController
from app.models.xray.block_reader import BlockReader
from app.views.block_steps.block_choice import BlockChoice
from app.views.block_steps.cells import CellsView
from app.views.block_steps.lane_grid import LaneGrid
from app.views.block_steps.outputs import OutputPage
from app.views.block_steps.registers import RegisterTable
from app.views.block_steps.shared_grid import SharedGrid
from app.views.block_steps.step_bar import StepBar
from app.views.boxes import in_column, in_row
from app.views.labels import named, sentence_label
from app.views.parts import TickBox
from app.views.xray.source_view import SourceView
from app.views.xray.text import with_place
from gpu_ops.engine.kernel_messages import BlockAnswer

USUAL = 76
"""The usual width in letters."""
WIDE = 110
"""The width in letters from which the source stands next to the rest."""
SOURCE, TABS = 10, 5
"""The least height in lines of the source, and of the tabs with their names."""
LINES = 3
"""Lines of text for what a step does, so that nothing below moves."""


class BlockStepsPanel(QWidget):
    """Shows a BlockRunController. Nothing is recorded until it is visible."""

    def __init__(self, controller: BlockRunController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("blockStepsPanel")
        self._controller = controller
        self._shown: BlockAnswer | None = None
        self.reader: BlockReader | None = None
        self.title = sentence_label("block.title", self)
        self.choice = BlockChoice(self)
        self.state = sentence_label("block.state", self)
        self.again = named(QPushButton(self.tr("Record again"), self), "block.again")
        self.other = named(QPushButton(self.tr("Other schedule"), self), "block.other")
        self.usual_order, self.other_order = (
            QRadioButton(self.tr("usual order"), self),
            QRadioButton(self.tr("other order"), self),
        )
        self._orders = QButtonGroup(self)
        for name, button in (("usual", self.usual_order), ("other", self.other_order)):
            self._orders.addButton(named(button, f"block.order.{name}"))
        self.usual_order.setChecked(True)
        self.outcome = sentence_label("block.outcome", self, selectable=True)
        self.bar = StepBar(self)
        self.said = sentence_label("block.said", self, selectable=True)
        self.said.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.code = SourceView(self)
        self.code.setObjectName("block.source")
        self.lanes, self.shared = LaneGrid(self), SharedGrid(self)
        self.registers = RegisterTable(self)
        self.output = OutputPage(self)
        self.tabs = named(QTabWidget(self), "block.tabs")
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self.tabs.addTab(_scrolled(self.shared), self.tr("Shared memory"))
        self.tabs.addTab(self.registers, self.tr("Registers"))
        self.tabs.addTab(self.output, self.tr("Output"))
        self.tabs.setDocumentMode(True)
        self.values = named(TickBox(self.tr("Values"), self), "block.values")
        set_tip(self.values, self.tr("Make the words of shared memory wide enough for their values"))
        self.values.toggled.connect(self.shared.show_values)
        self.tabs.setCornerWidget(self.values)
        self.sides = QSplitter(Qt.Orientation.Vertical, self)
        self.sides.addWidget(_scrolled(self.lanes))
        self.sides.addWidget(self.tabs)
        self.split = QSplitter(Qt.Orientation.Vertical, self)
        self.split.addWidget(self.code)
        self.split.addWidget(self.sides)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        gap = self.fontMetrics().averageCharWidth()
        for control in (self.other, self.usual_order, self.other_order):
            self.choice.add(control)
        rows = (in_row((self.title, 1), self.again), self.choice, self.state, self.outcome, self.bar, self.said)
        in_column(*rows, (self.split, 1), on=self, margins=(gap, gap, gap, 0), gap=gap // 2)
        self._fit()

    def _connect(self) -> None:
        controller = self._controller
        controller.changed.connect(self._show)
        self.choice.chosen.connect(controller.choose)
        self.again.clicked.connect(controller.again)
        self.other.clicked.connect(controller.ask_for_other)
        self._orders.buttonClicked.connect(lambda _: self._show_order())
        self.bar.changed.connect(self.show_step)
        self.bar.refused.connect(self._say)
        self.lanes.lane_chosen.connect(self.choose_lane)

    def take_keys(self) -> None:
        """Let the arrow keys step. Until a block is there the panel itself has them, for its first steps."""
        (self.bar.slider if self.reader is not None else self).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _fit(self) -> None:
        self.code.adapt()  # to the letters around it
        line = self.fontMetrics().lineSpacing()
        self.said.setMinimumHeight(LINES * line + 2)
        bar = self.code.horizontalScrollBar().sizeHint().height()
        self.code.setMinimumHeight(SOURCE * self.code.fontMetrics().lineSpacing() + bar)
        self.tabs.setMinimumHeight(TABS * line)

    # What is shown

    @Slot()
    def _show(self) -> None:
        controller, answer = self._controller, self._controller.content
        stale = answer is not None and controller.state != "shown"
        texts = {
            "empty": self.tr("Open an input, and choose a filter with kernels, to follow a block."),
            "waiting": self.tr("Waiting for other work to end."),
            "running": self.tr("Running the block on the simulated GPU…"),
            "stopped": self.tr("Stopped; press Record again to restart."),
            "failed": self.tr("The block cannot be followed: {reason}").format(reason=controller.reason),
            "shown": "",
        }
        text = self.tr("{state} The steps below belong to an earlier choice.") if stale else "{state}"
        self.state.setText(text.format(state=texts[controller.state]) if texts[controller.state] else "")
        self.state.setVisible(bool(texts[controller.state]))
        colours = colours_of(self.palette())
        ink = colours.error.colour if controller.state == "failed" else colours.muted
        self.state.setPalette(inked(self.state.palette(), ink))
        self.again.setVisible(controller.state in ("stopped", "failed"))
        self._show_other()
        for part in (self.choice, self.other, self.bar, self.said, self.split):
            part.setVisible(answer is not None)
        if answer is not self._shown and answer is not None:
            self._take(answer)
        elif answer is None:
            self._hide_orders(True)

    def _show_other(self) -> None:
        """Offer another order of the warps, or say why there is none."""
        answer = self._controller.content
        if answer is None or self._controller.state != "shown":
            tip = self.tr("The block is recorded first, with its warps in the usual order")
        elif answer.content.other is not None:
            tip = self.tr("Both orders are recorded: choose one of them to see its steps")
        elif answer.content.run.warps < 2:
            tip = self.tr("A block with one warp has no other order of its warps")
        else:
            tip = ""
        self.other.setEnabled(not tip)
        usual = self.tr("Run the block again with its warps in other orders, until one ends otherwise")
        set_tip(self.other, tip or usual)

    def _take(self, answer: BlockAnswer) -> None:
        """Show another record; the same block stays at its step."""
        before, self._shown = self._shown, answer
        content = answer.content
        same = before is not None and before.content.run.at.tobytes() == content.run.at.tobytes()
        text = self.tr("Kernel {kernel} of {variant}").format(kernel=content.run.kernel, variant=self._controller.title)
        self.title.setText(with_place(text, self._controller.where))
        self.choice.show_choice(content)
        self.output.show_content(content)
        self._hide_orders(content.other is None)
        self.outcome.setText(content.outcome)
        (self.other_order if content.other is not None else self.usual_order).setChecked(True)
        self._show_order(self.bar.step if same and content.other is None else None)
        QTimer.singleShot(0, self, self._share_space)
        if content.other is not None:
            self.tabs.setCurrentWidget(self.output)
        if self.hasFocus():
            self.take_keys()

    def _share_space(self) -> None:
        """Put the source next to the rest where the panel is wide, and give the lanes the height that they need."""
        wide = self.width() > WIDE * self.fontMetrics().averageCharWidth()
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if orientation != self.split.orientation():
            self.split.setOrientation(orientation)
            self.split.setSizes([self.width() // 2] * 2 if wide else [2 * self.height() // 5, 3 * self.height() // 5])
        height = sum(self.sides.sizes())
        lanes = min(self.lanes.sizeHint().height() + 4, height // 2)
        self.sides.setSizes([lanes, height - lanes])

    def _hide_orders(self, hide: bool) -> None:
        for part in (self.usual_order, self.other_order, self.outcome):
            part.setHidden(hide)

    def _show_order(self, step: int | None = None) -> None:
        """Show the record in the chosen order, from its middle of interest: where accesses meet, else the beginning."""
        assert self._shown is not None
        content = self._shown.content
        run = content.other if self.other_order.isChecked() and content.other is not None else content.run
        self.reader = BlockReader(run)
        marks: dict[int, str] = {}
        sentences: dict[int, list[str]] = {}
        for line, text in self.reader.meeting_lines:
            marks[line] = "error"
            sentences.setdefault(line, []).append(text)
        self.code.show_source(self._shown.text, marks, lambda line: sentences.get(line, ()))
        first = run.meetings[0].steps[1] if run.meetings and content.other is not None else 0
        step = min(first if step is None else step, run.steps)
        self.lanes.choose(min(self.lanes.lane, run.threads - 1))
        self.bar.show_reader(self.reader, step)
        self.show_step(step)

    @Slot(int)
    def show_step(self, step: int) -> None:
        """Show the state after this step."""
        reader = self.reader
        if reader is None:
            return
        self._say()
        self.code.show_column(reader.lanes_by_line(step), most=reader.run.threads)
        if line := reader.line_at(step):
            self.code.go_to(line)
        views: tuple[CellsView, ...] = (self.lanes, self.shared)
        for view in views:
            view.show_step(reader, step)
        self.output.show_step(reader, step)
        self.registers.show_step(reader, step, self.lanes.lane)

    @Slot(str)
    def _say(self, first: str = "") -> None:
        """Say what the present step does, and before it why there is no other to go to."""
        if self.reader is not None:
            self.said.setText(" ".join(filter(None, (first, *self.reader.sentences(self.bar.step)))))

    @Slot(int)
    def choose_lane(self, lane: int) -> None:
        """Show the registers of this thread."""
        self.lanes.choose(lane)
        if self.reader is not None:
            self.registers.show_step(self.reader, self.bar.step, lane)
        self.tabs.setTabText(
            1, self.tr("Registers of lane {lane}, warp {warp}").format(lane=lane % 32, warp=lane // 32)
        )

    # Qt

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(USUAL * self.fontMetrics().averageCharWidth(), super().sizeHint().height())

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._shown is not None:
            self._share_space()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._controller.watch(True)

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self._controller.watch(False)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if hasattr(self, "split"):
            if event.type() == QEvent.Type.FontChange:
                self._fit()
            elif event.type() == QEvent.Type.PaletteChange:
                self._show()


def _scrolled(view: QWidget) -> QScrollArea:
    area = QScrollArea(view.parentWidget())
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(view)
    return area
