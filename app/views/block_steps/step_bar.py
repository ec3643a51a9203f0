"""Chooses the step that is shown: a slider, and buttons to the next and to the previous place of interest."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QSlider, QToolButton, QWidget

from app.base.nesting import bounded
from app.base.numbers import count
from app.base.tips import set_tip
from app.models.xray.block_reader import BlockReader, Goal
from app.views.boxes import in_column, in_row
from app.views.flow import FlowLayout
from app.views.labels import named


class Jump(NamedTuple):
    """A pair of buttons: the keys back and onward, and the texts."""

    goal: Goal
    back: str
    onward: str
    text: str
    tip_back: str
    tip_onward: str


class StepBar(QWidget):
    """`changed`: the user has chosen another step."""

    changed = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("block.steps")
        self._reader: BlockReader | None = None
        self.slider = named(QSlider(Qt.Orientation.Horizontal, self), "block.slider", title=self.tr("Step"))
        self.number = named(QLabel(self), "block.number")
        self.slider.setRange(0, 0)
        self.slider.valueChanged.connect(self._slid)
        self.buttons: dict[tuple[Goal, bool], QToolButton] = {}
        self._flow = FlowLayout(gap=self.fontMetrics().averageCharWidth())
        for jump in self._jumps():
            self._flow.addWidget(self._pair(jump))
        self._flow.setContentsMargins(0, 0, 0, 0)
        in_column(in_row((self.slider, 1), self.number, gap=self._flow.gap), self._flow, on=self, gap=0)

    def _jumps(self) -> tuple[Jump, ...]:
        return (
            Jump("step", "Alt+Left", "Alt+Right", self.tr("step"), self.tr("One step back"), self.tr("One step on")),
            Jump(
                *("line", "Alt+Up", "Alt+Down", self.tr("line")),
                *(self.tr("Back to a step of another line"), self.tr("On to a step of another line")),
            ),
            Jump(
                *("barrier", "Alt+PgUp", "Alt+PgDown", self.tr("barrier")),
                *(self.tr("Back to where a barrier opens"), self.tr("On to where a barrier opens")),
            ),
            Jump(
                *("divergence", "Alt+Shift+Left", "Alt+Shift+Right", self.tr("divergence")),
                *(self.tr("Back to where lanes of a warp part"), self.tr("On to where lanes of a warp part")),
            ),
        )

    def _pair(self, jump: Jump) -> QWidget:
        pair = QWidget(self)
        parts = []
        for back, text, keys, tip in (
            (True, f"◀ {jump.text}" if jump.goal == "step" else "◀", jump.back, jump.tip_back),
            (False, f"{jump.text} ▶" if jump.goal != "step" else "▶", jump.onward, jump.tip_onward),
        ):
            button = named(QToolButton(pair), f"block.{jump.goal}.{'back' if back else 'onward'}", tip, "")
            button.setText(text)
            set_tip(button, f"{tip} ({QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)})")
            act = partial(self.jump, jump.goal, back)
            button.clicked.connect(lambda _=False, act=act: act())
            shortcut = QShortcut(QKeySequence(keys), self.parentWidget() or self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
            self.buttons[jump.goal, back] = button
            parts.append(button)
        in_row(*parts, on=pair, gap=0)
        return pair

    @property
    def step(self) -> int:
        return self.slider.value()

    def show_reader(self, reader: BlockReader | None, step: int) -> None:
        """Let the user choose among the steps of another block, at first this one."""
        self._reader = reader
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, reader.steps if reader is not None else 0)
            self.slider.setPageStep(max(self.slider.maximum() // 20, 1))
            self.slider.setValue(step)
        self._show()

    def go_to(self, step: int) -> None:
        """Show this step."""
        self.slider.setValue(step)

    def jump(self, goal: Goal, back: bool = False) -> None:
        """Go to the next place of interest, or back to the one before."""
        if self._reader is not None:
            self.go_to(self._reader.next(self.step, goal, back))

    def _slid(self, step: int) -> None:
        self._show()
        self.changed.emit(step)

    def _show(self) -> None:
        steps = self._reader.steps if self._reader is not None else 0
        text = self.tr("step {step} of {steps}")
        self.number.setText(text.format(step=count(self.step), steps=count(steps)))
        widest = text.format(step=count(steps), steps=count(steps))
        self.number.setMinimumWidth(self.fontMetrics().horizontalAdvance(widest))
        for (_, back), button in self.buttons.items():
            button.setEnabled(self.step > 0 if back else self.step < steps)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "number"):
            self._show()
