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
    """A pair of buttons and the word between them. For each direction, back and onward: the keys, what the button does,
    and the sentence where there is no such step."""

    goal: Goal
    text: str
    keys: tuple[str, str]
    tips: tuple[str, str]
    nowhere: tuple[str, str]


class StepBar(QWidget):
    """`changed`: the user has chosen another step. `refused`: there is no step of the kind that the user asked for, in
    a sentence."""

    changed = Signal(int)
    refused = Signal(str)

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
        self._pairs = {jump.goal: jump for jump in self._jumps()}
        for jump in self._pairs.values():
            self._flow.addWidget(self._pair(jump))
        self._flow.setContentsMargins(0, 0, 0, 0)
        in_column(in_row((self.slider, 1), self.number, gap=self._flow.gap), self._flow, on=self, gap=0)

    def _jumps(self) -> tuple[Jump, ...]:
        return (
            Jump(
                *("step", self.tr("step"), ("Alt+Left", "Alt+Right")),
                (self.tr("One step back"), self.tr("One step on")),
                (self.tr("This is the beginning."), self.tr("This is the last step.")),
            ),
            Jump(
                *("line", self.tr("line"), ("Alt+Up", "Alt+Down")),
                (self.tr("Back to a step of another line"), self.tr("On to a step of another line")),
                (self.tr("No step of another line comes before."), self.tr("No step of another line follows.")),
            ),
            Jump(
                *("barrier", self.tr("barrier"), ("Alt+PgUp", "Alt+PgDown")),
                (self.tr("Back to where a barrier opens"), self.tr("On to where a barrier opens")),
                (self.tr("No barrier opens before this step."), self.tr("No barrier opens after this step.")),
            ),
            Jump(
                *("divergence", self.tr("divergence"), ("Alt+Shift+Left", "Alt+Shift+Right")),
                (self.tr("Back to where lanes of a warp part"), self.tr("On to where lanes of a warp part")),
                (self.tr("No lanes part before this step."), self.tr("No lanes part after this step.")),
            ),
        )

    def _pair(self, jump: Jump) -> QWidget:
        """The word between its two buttons."""
        pair = QWidget(self)
        for back, sign in ((True, "◀"), (False, "▶")):
            name = f"block.{jump.goal}.{'back' if back else 'onward'}"
            button = named(QToolButton(pair), name, jump.tips[not back])
            button.setText(sign)
            act = partial(self.jump, jump.goal, back)
            button.clicked.connect(lambda _=False, act=act: act())
            shortcut = QShortcut(QKeySequence(jump.keys[not back]), self.parentWidget() or self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
            self.buttons[jump.goal, back] = button
        gap = self.fontMetrics().averageCharWidth() // 2
        in_row(self.buttons[jump.goal, True], QLabel(jump.text, pair), self.buttons[jump.goal, False], on=pair, gap=gap)
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
        """Go to the next place of interest, or back to the one before; say so where there is none."""
        if self._reader is None:
            return
        step = self._reader.next(self.step, goal, back)
        if step is None:
            self.refused.emit(self._pairs[goal].nowhere[not back])
        else:
            self.go_to(step)

    def _slid(self, step: int) -> None:
        self._show()
        self.changed.emit(step)

    def _show(self) -> None:
        steps = self._reader.steps if self._reader is not None else 0
        text = self.tr("step {step} of {steps}")
        self.number.setText(text.format(step=count(self.step), steps=count(steps)))
        widest = text.format(step=count(steps), steps=count(steps))
        self.number.setMinimumWidth(self.fontMetrics().horizontalAdvance(widest))
        for (goal, back), button in self.buttons.items():
            jump = self._pairs[goal]
            leads = self._reader is not None and self._reader.next(self.step, goal, back) is not None
            keys = QKeySequence(jump.keys[not back]).toString(QKeySequence.SequenceFormat.NativeText)
            set_tip(button, f"{jump.tips[not back]} ({keys})" if leads else jump.nowhere[not back])
            if button.hasFocus() and not leads:
                self.slider.setFocus()  # else the focus goes to a button that leads elsewhere
            button.setEnabled(leads)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "number"):
            self._show()
