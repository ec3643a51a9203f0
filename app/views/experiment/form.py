"""A form of editors for parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.base.tips import set_tip
from app.views.boxes import in_row
from app.views.experiment.editors import (
    BoolEditor,
    ChoiceEditor,
    Editor,
    FloatEditor,
    GridEditor,
    IntEditor,
    TextEditor,
)
from app.views.experiment.look_editor import LookEditor
from app.views.keys import keyed, letter, yielding
from app.views.labels import named, sentence_label
from gpu_ops import KernelscopeError
from gpu_ops.params import Param, Value

THROTTLE_MS = 30


def label_text(name: str) -> str:
    """A parameter's name for a label."""
    return QCoreApplication.translate("Parameters", name.replace("_", " ").capitalize())


class ParameterForm(QWidget):
    """Editors for parameters. `changed(values)` is emitted at most every 30 ms while a slider moves, and at once on
    commit.

    `taken` are mnemonics used elsewhere; `letters` are the form's own. A value that does not pass its check is
    rejected: the last valid one applies, and the reason is shown below.
    """

    changed = Signal(object)

    def __init__(
        self,
        params: Sequence[Param],
        parent: QWidget | None = None,
        reset_button: bool = True,
        taken: Set[str] = frozenset(),
    ) -> None:
        super().__init__(parent)
        self._params = tuple(params)
        self._good: dict[str, Value] = {p.name: p.default for p in self._params}
        self._sent = dict(self._good)
        self._editors: dict[str, Editor] = {}
        self._labels: dict[str, QLabel] = {}
        self._reasons: dict[str, QLabel] = {}
        self._later = QTimer(self, singleShot=True, interval=THROTTLE_MS, timerType=Qt.TimerType.PreciseTimer)
        self._later.timeout.connect(self._emit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.letters: set[str] = set()
        buttons = self._build_buttons(taken) if reset_button and self._params else None
        layout.addLayout(self._build_rows(taken | self.letters))
        if buttons is not None:
            layout.addLayout(buttons)
        layout.addStretch(1)
        self._colour_reasons()
        self._show_relevant()

    def _build_rows(self, taken: Set[str]) -> QGridLayout:
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        texts = keyed((label_text(p.name) for p in self._params), taken)
        for place, (param, text) in enumerate(zip(self._params, texts, strict=True)):
            field = editor(param, self)
            field.setObjectName(f"editor.{param.name}")
            field.set_value(param.default)
            set_tip(field, param.help)
            field.edited.connect(lambda commit, name=param.name: self._edited(name, commit))
            label = named(QLabel(text, self), tip=param.help)
            label.setBuddy(field.control())
            field.name_controls(label.text().replace("&", ""), param.help)
            reason = sentence_label(f"reason.{param.name}", self)
            reason.hide()
            label.setMinimumHeight(field.control().sizeHint().height())  # aligned with the first line of a tall editor
            grid.addWidget(label, 2 * place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(field, 2 * place, 1)
            grid.addWidget(reason, 2 * place + 1, 0, 1, 2)
            self._editors[param.name], self._labels[param.name], self._reasons[param.name] = field, label, reason
            self.letters |= {letter(text)} - {""}
        return grid

    def _build_buttons(self, taken: Set[str]) -> QHBoxLayout:
        text = yielding(self.tr("Rese&t"), taken)
        self.letters |= {letter(text)} - {""}
        self.reset_button = QPushButton(text, self)
        self.reset_button.setObjectName("reset")
        self.reset_button.setToolTip(self.tr("Set every parameter to its default"))
        self.reset_button.setAccessibleName(self.tr("Reset all"))
        self.reset_button.clicked.connect(self.reset)
        row = in_row(1, self.reset_button)
        return row

    def editor(self, name: str) -> Editor:
        """The editor of a parameter."""
        return self._editors[name]

    def values(self) -> dict[str, Value]:
        """The last valid value of every parameter."""
        return dict(self._good)

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show these values, without a signal. Names that the form does not have are ignored.

        Raises ParamError for a value that does not pass its check; nothing is changed then.
        """
        checked = {p.name: p.check(values[p.name]) for p in self._params if p.name in values}
        self._later.stop()
        for name, value in checked.items():
            self._good[name] = value
            self._editors[name].set_value(value)
            self._say(name, "")
        self._sent = dict(self._good)
        self._show_relevant()

    def reset(self) -> None:
        """Set every parameter to its default, as a commit."""
        for param in self._params:
            self._good[param.name] = param.default
            self._editors[param.name].set_value(param.default)
            self._say(param.name, "")
        self._emit()

    def reason(self, name: str) -> str:
        """Why the last entry was rejected; empty if it was accepted."""
        return self._reasons[name].text()

    def _edited(self, name: str, commit: bool) -> None:
        field = self._editors[name]
        try:
            self._good[name] = field.param.check(field.value())
        except KernelscopeError as error:
            self._say(name, str(error))
            if not field.keeps_text:
                field.set_value(self._good[name])
            return
        self._say(name, "")
        if commit:
            self._later.stop()
            self._emit()
        elif not self._later.isActive():
            self._later.start()

    def _show_relevant(self) -> None:
        """Show the parameters that have an effect with the present values of the others."""
        for param in self._params:
            relevant = param.matters(self._good)
            self._editors[param.name].setVisible(relevant)
            self._labels[param.name].setVisible(relevant)
            self._reasons[param.name].setVisible(relevant and bool(self.reason(param.name)))

    def _emit(self) -> None:
        self._show_relevant()
        if self._good != self._sent:
            self._sent = dict(self._good)
            self.changed.emit(dict(self._good))

    def _say(self, name: str, sentence: str) -> None:
        label = self._reasons[name]
        label.setText(f"{colours_of(self.palette()).error.symbol} {sentence}" if sentence else "")
        label.setVisible(bool(sentence))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour_reasons()

    def _colour_reasons(self) -> None:
        colour = colours_of(self.palette()).error.colour
        for label in self._reasons.values():
            label.setPalette(inked(label.palette(), colour))


def editor(param: Param, parent: QWidget | None = None) -> Editor:
    """The editor for the parameter's kind."""
    if param.look is not None:
        return LookEditor(param, parent)
    if param.choices:
        return ChoiceEditor(param, parent)
    kinds: tuple[tuple[type, type[Editor]], ...] = (
        (bool, BoolEditor),
        (int, IntEditor),
        (float, FloatEditor),
        (tuple, GridEditor),
    )
    return next((maker for kind, maker in kinds if isinstance(param.default, kind)), TextEditor)(param, parent)
