"""One argument of a launch: an array with its contents, type and shape, or a value."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import Combo
from gpu_ops.own_kernels.arguments import CONTENTS, DTYPES
from gpu_ops.own_kernels.presets import Parameter

TEXT = "other"
"""The choice of an argument that is given as text, in the words of --arg."""


class ArgumentRow(QWidget):
    """The fields of one argument. `edited`: the user changed it."""

    edited = Signal()

    def __init__(self, parameter: Parameter, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.parameter = parameter
        what = self.tr("argument {name}").format(name=parameter.name or place + 1)
        self.contents = named(
            Combo(self),
            f"own.contents.{place}",
            self.tr("Contents of {what}").format(what=what),
            self.tr("What the array holds before the launch; other takes FILE.npy, null, struct:… or pointers:…"),
        )
        self.contents.addItems([*CONTENTS, TEXT])
        self.dtype = named(
            Combo(self),
            f"own.dtype.{place}",
            self.tr("Type of {what}").format(what=what),
            self.tr("Element type"),
        )
        self.dtype.addItems(DTYPES)
        tip = self.tr("Elements of the array, such as 10000 or 480x640") if parameter.pointer else self.tr("The value")
        self.value = named(QLineEdit(self), f"own.value.{place}", what, tip)
        in_row(self.contents, self.dtype, (self.value, 1), on=self)
        self.set_text(parameter.preset)
        self.contents.activated.connect(self._choose)
        self.dtype.activated.connect(self.edited)
        self.value.textEdited.connect(self.edited)

    @property
    def text(self) -> str:
        """The argument as --arg takes it."""
        value = self.value.text().strip()
        if not self.parameter.pointer or self.contents.currentText() == TEXT:
            return value
        return f"{self.contents.currentText()}:{self.dtype.currentText()}:{value}"

    def set_text(self, text: str) -> None:
        """Show an argument as --arg takes it."""
        content, dtype, shape = (*text.split(":"), "", "")[:3]
        array = self.parameter.pointer and content in CONTENTS and dtype in DTYPES
        self.contents.setCurrentText(content if array else TEXT)
        self.dtype.setCurrentText(dtype if array else self.parameter.dtype or "float32")
        self.value.setText(shape if array else text)
        self._show_fields()

    def _choose(self) -> None:
        self._show_fields()
        self.edited.emit()

    def _show_fields(self) -> None:
        self.contents.setVisible(self.parameter.pointer)
        self.dtype.setVisible(self.parameter.pointer and self.contents.currentText() != TEXT)
