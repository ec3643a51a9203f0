"""Predicted times of a variant and of the one that it is compared with, for a GPU that need not be here."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from app.base.nesting import bounded
from app.base.theme import TINT, colours_of, inked, mix
from app.controllers.kernels.prediction import PredictionController
from app.models.xray.predicted import (
    BARS,
    STEP_BARS,
    Bar,
    Times,
    as_json,
    basis,
    even_bars,
    explained,
    gpu_text,
    ladder,
    step,
    times,
)
from app.views.boxes import in_column, in_row
from app.views.folding import Folding
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo, TickBox
from app.views.scrolled import Scrolled
from app.views.xray.gpu_numbers import GpuNumbers
from app.views.xray.text import with_place
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.input_kinds import INPUT_KINDS

LONGEST = "◂"
"""The mark of the limit that takes longest."""
HATCHES = {
    "saved": Qt.BrushStyle.FDiagPattern,
    "added": Qt.BrushStyle.DiagCrossPattern,
    "copies": Qt.BrushStyle.HorPattern,
}
DOTS = Qt.PenStyle.DotLine
"""What a limit saves or adds differs in more than its colour."""
MOST_VARIANTS = 24
"""The most variants of a ladder."""
VARIANTS = 2
"""The most variants that are shown: one, and the one that it is compared with."""


class TimeBar(QWidget):
    """A horizontal bar on an axis from 0 to `full` seconds. What is predicted is hatched within a dashed edge, what is
    measured is filled."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.bar: Bar | None = None
        self.full = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bar(self, bar: Bar, full: float) -> None:
        self.bar, self.full = bar, full
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(10 * metrics.averageCharWidth(), 3 * metrics.height() // 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def box(self) -> QRectF:
        """The place of the bar."""
        if self.bar is None or not self.full:
            return QRectF()
        left, right = ((self.width() - 1) * seconds / self.full for seconds in (self.bar.low, self.bar.high))
        return QRectF(left, 1.0, max(right - left, 1.0), self.height() - 3.0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        box, colours = self.box(), colours_of(self.palette())
        if self.bar is None or not self.bar.high:
            return
        inks = {
            "limit": colours.muted,
            "most": colours.kernel,
            "predicted": colours.simulated.colour,
            "measured": colours.recorded.colour,
            "saved": colours.ok.colour,
            "added": colours.error.colour,
            "copies": colours.simulated.colour,
        }
        ink, painter = inks[self.bar.kind], QPainter(self)
        painter.fillRect(QRectF(0, box.center().y() - 0.5, self.width(), 1), colours.grid)
        if self.bar.kind == "measured":
            painter.fillRect(box, ink)
        else:
            painter.fillRect(box, mix(self.palette().color(QPalette.ColorRole.Window), ink, TINT))
            painter.setPen(QPen(ink, 1, DOTS if self.bar.kind == "copies" else Qt.PenStyle.DashLine))
            painter.setBrush(QBrush(ink, HATCHES.get(self.bar.kind, Qt.BrushStyle.BDiagPattern)))
            painter.drawRect(box)
        painter.end()


def _set_bold(label: QLabel, bold: bool) -> None:
    font = label.font()
    font.setBold(bold)
    label.setFont(font)


class TimesRow:
    """A bar below its name and its text, in two rows of a grid."""

    def __init__(self, name: str, parent: QWidget, grid: QGridLayout) -> None:
        row = grid.rowCount()
        self.name, self.bar, self.text = sentence_label(f"{name}.name", parent), TimeBar(parent), QLabel(parent)
        self.text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        self.widgets = self.name, self.text, self.bar
        for column, label in enumerate((self.name, self.text)):
            grid.addWidget(label, row, column)
        grid.addWidget(self.bar, row + 1, 0, 1, 2)

    def show_bar(self, bar: Bar | None, full: float) -> None:
        """Show a bar, or nothing."""
        for widget in self.widgets:
            widget.setVisible(bar is not None)
        if bar is None:
            return
        self.name.setText(f"{bar.name} {LONGEST}" if bar.kind == "most" else bar.name)
        self.text.setText(bar.text)
        self.bar.show_bar(bar, full)
        named(self.bar, title=bar.described, tip=bar.described)
        for label in (self.name, self.text):
            _set_bold(label, bar.kind in ("predicted", "measured"))


class VariantTimes:
    """The name of a variant or of a step, its bars, and a sentence: why there are none, or what follows from them."""

    def __init__(self, name: str, parent: QWidget, grid: QGridLayout, bars: int = BARS) -> None:
        self.title, self.reason = sentence_label(f"{name}.title", parent), sentence_label(f"{name}.reason", parent)
        _set_bold(self.title, True)
        self.title.setContentsMargins(0, parent.fontMetrics().height() // 2, 0, 0)
        for label in (self.title, self.reason):
            grid.addWidget(label, grid.rowCount(), 0, 1, 2)
        self.rows = [TimesRow(f"{name}.{number}", parent, grid) for number in range(bars)]

    def show_times(self, times: Times | None, full: float) -> None:
        """Show the times of a variant, or nothing."""
        self.title.setVisible(times is not None)
        self.title.setText(times.name if times else "")
        self.reason.setVisible(bool(times and times.reason))
        self.reason.setText(times.reason if times else "")
        for row, bar in zip_longest(self.rows, times.bars if times else ()):
            row.show_bar(bar, full)


class PredictionView(Scrolled):
    """Shows a PredictionController and passes on the user's choices. Nothing is counted until it is watched."""

    def __init__(self, controller: PredictionController, parent: QWidget) -> None:
        inside = QWidget(parent)
        super().__init__(inside, parent)
        self.setObjectName("xray.prediction")
        self.controller = controller
        self._make_controls(inside)
        self.again = named(QPushButton(self.tr("Count again"), inside), "xray.prediction.again")
        self.again.setToolTip(self.tr("Count the launches again"))
        self.what, self.state, self.sentences = (
            sentence_label(f"xray.prediction.{name}", inside) for name in ("what", "state", "sentences")
        )
        self.times = QWidget(inside)
        grid = QGridLayout(self.times)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        self.variants = [VariantTimes(f"xray.prediction.{n}", self.times, grid) for n in range(VARIANTS)]
        self.step = VariantTimes("xray.prediction.step", self.times, grid, STEP_BARS)
        self.ladder = VariantTimes("xray.prediction.ladder", self.times, grid, 2 * MOST_VARIANTS)
        self.even = VariantTimes("xray.prediction.even", self.times, grid, 2)
        self._arrange(inside)
        self.gpus.activated.connect(lambda place: controller.choose_gpu(self.gpus.itemData(place)))
        self.all.toggled.connect(controller.show_ladder)
        self.reset.clicked.connect(lambda: controller.choose_gpu(controller.gpu.id))
        self.again.clicked.connect(controller.again)
        controller.changed.connect(self._show)
        for signal in (controller.gpu_changed, controller.cpu_changed):
            signal.connect(self._show)
        self._show()

    def _make_controls(self, inside: QWidget) -> None:
        tip = self.tr("The GPU to predict times for; it need not be here")
        self.gpus = named(Combo(inside), "xray.prediction.gpu", title=self.tr("GPU to predict for"), tip=tip)
        self.gpus.set_letters(8)
        for gpu in GPUS.values():
            self.gpus.addItem(self.tr("{model} ({basis})").format(model=gpu.model, basis=basis(gpu)), gpu.id)
        self.numbers = GpuNumbers(inside)
        self.numbers.changed.connect(lambda: self.controller.change_gpu(self.numbers.values))
        self.reset = named(QPushButton(self.tr("Reset"), inside), "xray.prediction.reset")
        self.reset.setToolTip(self.tr("Predict for the GPU as it is"))

        tip = self.tr("Predict all variants with kernels as well; it counts each of them")
        self.all = named(TickBox(self.tr("Whole ladder"), self.numbers), "xray.prediction.all", tip=tip)

    def _arrange(self, inside: QWidget) -> None:
        gap = self.fontMetrics().averageCharWidth()
        self.numbers.add(self.all)
        said = QWidget(inside)
        in_row((self.state, 1), self.again, on=said)
        # One in the place of the other, so that the bars do not move while launches are counted.
        self.head = named(QStackedWidget(inside), "xray.prediction.head")
        for page in (self.what, said):
            self.head.addWidget(page)
        choice = Folding(inside, wider=0)
        choice.set_space((0, 0, 0, 0), gap)
        choice.one.addWidget(buddy(self.tr("GPU"), self.gpus))
        choice.one.addWidget(self.gpus, 1)
        choice.two.addWidget(self.reset)
        parts = (choice, self.numbers, self.head, self.times, self.sentences)
        in_column(*parts, 1, on=inside, margins=(0, gap, gap, gap))

    def watch(self, on: bool) -> None:
        """Set whether this is in front."""
        self.controller.watch(on)

    @property
    def content(self) -> dict[str, Any] | None:
        """The times of the present choice, if they are known."""
        jobs = self.controller.ladder or self.controller.jobs
        return as_json(jobs, self.controller.counted_gpu) if self.controller.state == "shown" else None

    # Changes of the controller

    @Slot()
    def _show(self) -> None:
        self._show_controls()
        self._show_state()
        controller = self.controller
        jobs, gpu = controller.jobs, controller.counted_gpu
        found = [times(job, gpu) for job in jobs]
        between, rungs = step(jobs, gpu), ladder(controller.ladder, gpu)
        cpu = controller.cpu
        even = even_bars(jobs[0], gpu, cpu) if jobs and cpu else None
        shown = [one for one in (*found, between, rungs) if one]
        full = max((bar.high for one in shown for bar in one.bars), default=0.0)
        for part, one in zip_longest(self.variants, found):
            part.show_times(one, full)
        self.step.show_times(between, full)
        self.ladder.show_times(rungs, full)
        # On an axis of their own: a CPU may take a thousand times as long.
        self.even.show_times(even, max(bar.high for bar in even.bars) if even else 0.0)
        for widget in (self.times, self.sentences):
            widget.setVisible(bool(jobs))
        if jobs:
            input = controller.input
            size = INPUT_KINDS[input.kind].size_text(input.array.shape, " × ")
            text = self.tr("The whole of {name} ({size} {type}) on {gpu}: {numbers}").format(
                name=input.name, size=size, type=input.array.dtype, gpu=gpu.model, numbers=gpu_text(gpu)
            )
            self.what.setText(f"{with_place(text, controller.where)}.")
        texts = explained(jobs, gpu)
        if len(jobs) == 1:
            texts.append(self.tr("Choose a variant in Compare to see its times as well."))
        if jobs:
            texts.append(self.tr("Hatched bars are predicted, filled ones measured; numbers in brackets are counted."))
        self.sentences.setText("\n".join(texts))

    def _show_controls(self) -> None:
        choice = self.controller.gpu_choice
        self.gpus.setCurrentIndex(self.gpus.findData(choice.id))
        self.numbers.show_choice(choice)
        self.reset.setEnabled(choice.gpu != choice.own)

    def _show_state(self) -> None:
        controller = self.controller
        state, stale = controller.state, controller.content is not None and controller.state != "shown"
        texts = {
            "empty": self.tr("Open an input to predict the times of a variant."),
            "waiting": self.tr("Waiting for other work to end."),
            "running": self.tr("Counting launches for {gpu}…").format(gpu=controller.gpu.model),
            "stopped": self.tr("Stopped; press Count again to restart."),
            "failed": self.tr("There are no predicted times: {reason}").format(reason=controller.reason),
            "shown": "",
        }
        text = self.tr("{state} The times below belong to an earlier setting.") if stale else "{state}"
        self.state.setText(text.format(state=texts[state]))
        self.head.setCurrentIndex(0 if state == "shown" else 1)
        self.again.setVisible(state in ("stopped", "failed"))
        colours = colours_of(self.palette())
        self.state.setPalette(inked(self.state.palette(), colours.error.colour if state == "failed" else colours.muted))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "variants"):
            self._show_state()
