"""The steps of the input before the filter: a short list, with the values of the selected step."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Any
from weakref import ref

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QSizePolicy, QSlider, QToolButton, QWidget

from app.base.theme import boxes, checkable
from app.base.tips import set_tip
from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.experiment.steps import GAUSSIAN, Steps, first_values, inside, noise_of, offered, step_text, step_title
from app.views.boxes import in_column, in_row
from app.views.experiment.form import ParameterForm
from app.views.labels import named
from app.views.parts import ElidedLabel, TickBox
from gpu_ops import find_step
from gpu_ops.input_kinds import INPUT_KINDS, Kind

NO_LETTERS = frozenset(string.ascii_lowercase + string.digits)
"""The forms of steps use no mnemonics, which belong to the filter's form."""
CROP = "crop"


class StepRow(QWidget):
    """One step: whether it is on, what it does, and its position. `changed(step, drag)` carries new values, and whether
    they continue a drag; `opened`, `removed` and `moved(by)` are the user's requests for the row."""

    changed = Signal(object, bool)
    opened = Signal()
    removed = Signal()
    moved = Signal(int)

    def __init__(self, kind: Kind, step: Mapping[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind, self.step = kind, step
        self.form: ParameterForm | None = None
        self._dragging = False
        self.tick = TickBox("", self)
        self.tick.toggled.connect(self._toggled)
        self.words = ElidedLabel(parent=self)
        self.edit = self._button(self.tr("Values"), lambda: self.opened.emit())
        checkable(self.edit)
        self.edit.setText("…")
        self.edit.setVisible(bool(self._params))
        self.up = self._button(self.tr("Move up"), lambda: self.moved.emit(-1), Qt.ArrowType.UpArrow)
        self.down = self._button(self.tr("Move down"), lambda: self.moved.emit(1), Qt.ArrowType.DownArrow)
        self.remove = self._button(self.tr("Remove"), lambda: self.removed.emit())
        self.remove.setText("✕")
        gap, buttons = self.fontMetrics().averageCharWidth() // 2, (self.edit, self.up, self.down, self.remove)
        row = in_row(self.tick, (self.words, 1), *buttons, gap=gap)
        self._column = in_column(row, on=self)
        self.show_step(step)

    def _button(self, title: str, do: Callable[[], None], arrow: Qt.ArrowType = Qt.ArrowType.NoArrow) -> QToolButton:
        button = named(QToolButton(self), tip=title)
        button.setAutoRaise(True)
        button.setArrowType(arrow)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda: do())
        return button

    @property
    def _params(self) -> tuple[Any, ...]:
        return find_step(self.step["step"]).params[self._kind]

    def show_step(self, step: Mapping[str, Any]) -> None:
        """Show the values of the step, without a signal."""
        self.step = step
        text = step_text(step)
        self.words.setText(text)
        self.words.setEnabled(not step.get("off"))
        set_tip(self, find_step(step["step"]).help)
        for button in (self.edit, self.up, self.down, self.remove):
            button.setAccessibleName(f"{button.toolTip()}: {text}")
        self.tick.setAccessibleName(text)
        self.tick.setToolTip(self.tr("Apply this step, or skip it for now"))
        with QSignalBlocker(self.tick):
            self.tick.setChecked(not step.get("off"))
        if self.form is not None:
            self.form.set_values({name: _plain(value) for name, value in step.items()})

    def place(self, place: int, count: int) -> None:
        """Enable only the possible moves."""
        self.up.setEnabled(place > 0)
        self.down.setEnabled(place < count - 1)
        for button in (self.up, self.down):
            button.setVisible(count > 1)

    def unfold(self, on: bool) -> None:
        """Show or hide the fields of the values."""
        self.edit.setChecked(on)
        if on and self.form is None:
            self.form = ParameterForm(self._params, self, reset_button=False, taken=NO_LETTERS)
            margin = 2 * self.fontMetrics().averageCharWidth()
            self.form.setContentsMargins(margin, 0, 0, 0)
            self.form.set_values({name: _plain(value) for name, value in self.step.items()})
            self.form.changed.connect(self._edited)
            self._column.addWidget(self.form)
        if self.form is not None:
            self.form.setVisible(on)

    def _edited(self, values: Mapping[str, Any]) -> None:
        assert self.form is not None
        mattering = {p.name: values[p.name] for p in self._params if p.matters(values)}
        goes_on = self._dragging
        self._dragging = any(slider.isSliderDown() for slider in self.form.findChildren(QSlider))
        off = {"off": True} if self.step.get("off") else {}
        self.changed.emit({"step": self.step["step"], **mattering, **off}, goes_on and self._dragging)

    def _toggled(self, on: bool) -> None:
        self.changed.emit({k: v for k, v in self.step.items() if k != "off"} | ({} if on else {"off": True}), False)


class StepsSection(QWidget):
    """The list of the session's requested steps, without the normal noise at the end, which has its own tick box below.
    It requests changes from the session and shows the session's state."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stepsSection")
        self._session = session
        self.rows: list[StepRow] = []
        self._shown: tuple[str, ...] = ()
        self._region: Callable[[], QAction | None] = lambda: None
        self.title = QLabel(self.tr("Input steps"), self)
        self.add = QPushButton(self.tr("Add step"), self)
        self.add.setObjectName("addStep")
        self.add.setToolTip(self.tr("Change the input before the filter: crop, resize, convert values, add noise"))
        self.add.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.menu = QMenu(self.add)
        self.menu.setStyle(boxes())
        self.menu.setToolTipsVisible(True)
        self.add.setMenu(self.menu)
        head = in_row((self.title, 1), self.add)
        self._column = in_column(head, on=self, gap=self.fontMetrics().averageCharWidth() // 2)
        self.setEnabled(False)
        session.changed.connect(self._changed)

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.opened:
            self._take_input(change.after.input)
        elif change.steps:
            self._show_steps()

    def _take_input(self, shared: Any) -> None:
        self.setEnabled(True)
        self.menu.clear()
        for step in offered(shared.kind):
            if step.id != GAUSSIAN:  # its tick box is below
                action = self.menu.addAction(step_title(step))
                set_tip(action, step.help)
                action.setObjectName(f"addStep.{step.id}")
                action.triggered.connect(lambda _=False, id=step.id: self.append(id))
            if step.id == CROP and (region := self._region()) is not None:
                self.menu.addAction(region)
        self._shown = ()  # the rows are those of another kind of input
        self._show_steps()

    def offer_region(self, action: QAction) -> None:
        """Show the action that crops to the region next to the crop step, from the next input on."""
        self._region = ref(action)  # the window owns it

    def _listed(self) -> Steps:
        steps = self._session.steps
        return steps[:-1] if noise_of(steps) else steps

    def _show_steps(self) -> None:
        steps = self._listed()
        ids = tuple(step["step"] for step in steps)
        if ids != self._shown or len(self.rows) != len(ids):
            self._build(steps)
        self._shown = ids
        for place, (row, step) in enumerate(zip(self.rows, steps, strict=True)):
            row.show_step(step)
            row.place(place, len(ids))

    def _build(self, steps: Steps) -> None:
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()  # it is deleted a moment later
            row.deleteLater()
        assert self._session.original is not None
        self.rows = [StepRow(self._session.original.kind, step, self) for step in steps]
        for row in self.rows:
            self._column.addWidget(row)
            row.changed.connect(lambda step, drag, row=row: self._put(self.rows.index(row), [step], drag))
            row.removed.connect(lambda row=row: self._put(self.rows.index(row), []))
            row.moved.connect(lambda by, row=row: self._move(self.rows.index(row), by))
            row.opened.connect(lambda row=row: self.unfold(self.rows.index(row), row.edit.isChecked()))

    # User actions

    def append(self, id: str) -> None:
        """Add a step after the others, but before the noise, and show its fields."""
        input = self._session.input
        assert input is not None
        place = self._session.add_step(first_values(id, input.kind, input.array.shape))
        if place < len(self.rows):
            self.unfold(place, True)

    def unfold(self, place: int, on: bool) -> None:
        """Show the fields of one step and hide those of the others."""
        for other, row in enumerate(self.rows):
            row.unfold(on and other == place)

    def _put(self, place: int, steps: list[Mapping[str, Any]], drag: bool = False) -> None:
        before, original = self._session.steps, self._session.original
        assert original is not None
        wanted = [*before[:place], *steps, *before[place + 1 :]]
        if steps:
            wanted[place] = inside(wanted, place, INPUT_KINDS[original.kind].spatial(original.array.shape))
        self._session.set_steps(wanted, same_step=drag)
        if steps:
            self.rows[place].show_step(self._session.steps[place])  # the list is unchanged, as after a rejected crop

    def _move(self, place: int, by: int) -> None:
        steps, other = list(self._session.steps), place + by
        steps[place], steps[other] = steps[other], steps[place]
        self._session.set_steps(steps)
        self.rows[other].up.setFocus() if by < 0 else self.rows[other].down.setFocus()


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
