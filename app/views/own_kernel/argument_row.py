"""One argument of a launch: an array with its contents, type and shape, or a value."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.views.boxes import in_column, in_row
from app.views.labels import named
from app.views.parts import Combo, ElidedLabel
from gpu_ops.own_kernels.arguments import CONTENTS, DTYPES, GIVEN
from gpu_ops.own_kernels.presets import Parameter

CLOSE = 2
"""Pixels between a label and the fields below it."""
TEXT = "other"
"""The choice of an argument that is given as text, in the words of --arg."""
ShapeOf = Callable[[str], tuple[tuple[int, ...], str] | None]
"""The shape and the type of an array of the window, one of GIVEN; None where there is none."""


class ArgumentRow(QWidget):
    """The fields of one argument. `edited`: the user changed it."""

    edited = Signal()

    def __init__(self, parameter: Parameter, place: int, shape_of: ShapeOf, parent: QWidget) -> None:
        super().__init__(parent)
        self.parameter, self._shape_of = parameter, shape_of
        what = self.tr("argument {name}").format(name=parameter.name or place + 1)
        self.contents = named(
            Combo(self),
            f"own.contents.{place}",
            self.tr("Contents of {what}").format(what=what),
            self.tr(
                "What the array holds before the launch: input is the open picture or signal, result the present one; "
                "other takes FILE.npy, null, struct:… or pointers:…"
            ),
        )
        self.contents.addItems([*CONTENTS, *GIVEN, TEXT])
        self.dtype = named(
            Combo(self),
            f"own.dtype.{place}",
            self.tr("Type of {what}").format(what=what),
            self.tr("Element type"),
        )
        self.dtype.addItems(DTYPES)
        for combo in (self.contents, self.dtype):
            combo.set_letters(6)
        tip = self.tr("Elements of the array, such as 10000 or 480x640") if parameter.pointer else self.tr("The value")
        self.value = named(QLineEdit(self), f"own.value.{place}", what, tip)
        self.value.setMinimumWidth(8 * self.fontMetrics().averageCharWidth())
        label = ElidedLabel(parent=self)
        label.set_texts(parameter.declaration.replace("__restrict__ ", ""), parameter.name or parameter.dtype)
        label.setBuddy(self.value)
        in_column(label, in_row((self.contents, 1), (self.dtype, 1), (self.value, 1)), on=self, margins=0, gap=CLOSE)
        self.set_text(parameter.preset)
        self.contents.activated.connect(self._choose)
        self.dtype.activated.connect(self.edited)
        self.value.editingFinished.connect(self.edited)

    @property
    def text(self) -> str:
        """The argument as --arg takes it, or as NAME:DTYPE for an array of the window."""
        value, contents = self.value.text().strip(), self.contents.currentText()
        if not self.parameter.pointer or contents == TEXT:
            return value
        return f"{contents}:{self.dtype.currentText()}" + ("" if contents in GIVEN else f":{value}")

    def set_text(self, text: str) -> None:
        """Show such an argument."""
        if text == self.text and self.value.text():
            return
        content, dtype, shape = (*text.split(":"), "", "")[:3]
        array = self.parameter.pointer and content in (*CONTENTS, *GIVEN) and dtype in DTYPES
        self.contents.setCurrentText(content if array else TEXT)
        self.dtype.setCurrentText(dtype if array else self.parameter.dtype or "float32")
        self.value.setText(shape if array else text)
        self.show_fields()

    def _choose(self) -> None:
        if self.contents.currentText() not in GIVEN and self.value.isReadOnly():
            self.value.setText(self.parameter.preset.rpartition(":")[2])
        self.show_fields()
        self.edited.emit()

    def show_fields(self) -> None:
        """Show what the choice of contents needs: of an array of the window its present shape."""
        contents = self.contents.currentText()
        given = self.parameter.pointer and contents in GIVEN
        self.contents.setVisible(self.parameter.pointer)
        self.dtype.setVisible(self.parameter.pointer and contents != TEXT)
        self.value.setReadOnly(given)
        if given:
            found = self._shape_of(contents)
            text = self.tr("{shape} of {dtype}") if found else self.tr("none is there yet")
            shape, dtype = found or ((), "")
            self.value.setText(text.format(shape="x".join(map(str, shape)), dtype=dtype))
            self.value.setCursorPosition(0)
