"""One editor for each kind of parameter. An editor has a value and reports changes; forms check it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QSizePolicy, QSlider, QWidget

from app.base.numbers import shown
from app.models.number_input import parse_number
from app.views.boxes import in_row
from app.views.experiment.spins import FloatSpin, IntSpin, nice_step
from app.views.parts import Combo, TickBox
from app.views.wheel import Slider
from gpu_ops import KernelscopeError
from gpu_ops.params import Param, Value

STOPS = 256
LOG_RATIO = 200
WIDEST, WIDEST_RATIO = 1000.0, 1e9
"""The widest ranges of a slider for numbers that need not be integers."""
A_DECADE = 20
"""Slider stops per factor of ten."""


class Editor(QWidget):
    """The base class: `edited(commit)` says whether the change is final or the middle of a drag."""

    edited = Signal(bool)

    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.param = param
        self._refused: str | None = None
        self.keeps_text = False
        """Whether an invalid text stays for correction; other editors return to the last valid value."""

    def value(self) -> object:
        """The present value. Raises KernelscopeError where the typed text cannot be read."""
        raise NotImplementedError

    def _refuse(self, text: str) -> None:
        """Reject a typed text that is not a suitable number."""
        self._refused = text
        self.edited.emit(True)

    def _check_typed(self) -> None:
        text, self._refused = self._refused, None
        if text is None:
            return
        if not text:
            sentence = self.tr("{name} must be {allowed}; the field is empty.")
        elif parse_number(text, QLocale()) is not None:
            sentence = self.tr("{name} must be {allowed}, not {text}.")
        else:
            sentence = self.tr("{name} must be {allowed}; “{text}” is not a number or is ambiguous.")
        raise KernelscopeError(sentence.format(name=self.param.name, allowed=self.param.allowed, text=text))

    def set_value(self, value: Value) -> None:
        """Show a value without a signal."""
        raise NotImplementedError

    def control(self) -> QWidget:
        """The control that gets the focus from the label's mnemonic."""
        raise NotImplementedError

    def name_controls(self, name: str, help: str) -> None:
        """Set accessible names for screen readers."""
        for control in [self.control(), *self.findChildren(QSlider)]:
            control.setAccessibleName(name)
            control.setAccessibleDescription(help)

    def _place(self, *widgets: QWidget) -> None:
        layout = in_row(*((widget, int(isinstance(widget, QSlider))) for widget in widgets), on=self)
        if not any(isinstance(w, QSlider | QLineEdit) for w in widgets):
            layout.addStretch(1)


def slider_stops(param: Param) -> list[int]:
    """The values of a slider: all if they are few, else evenly spaced, or geometrically where the range is wide."""
    if param.low is None or param.high is None:
        return []
    low, high, step = int(param.low), int(param.high), int(param.step or 1)
    last = (high - low) // step
    if last <= STOPS and not high > LOG_RATIO * max(low, 1):
        return [low + step * k for k in range(last + 1)]
    shares = [i / (STOPS - 1) for i in range(STOPS)]
    if high > LOG_RATIO * max(low, 1) and low >= 0:
        shift = 1 if low == 0 else 0
        ratio = (high + shift) / (low + shift)
        targets = [(low + shift) * ratio**s - shift for s in shares]
    else:
        targets = [low + (high - low) * s for s in shares]
    return sorted({low + step * min(last, round((t - low) / step)) for t in targets})


def float_stops(param: Param) -> list[float]:
    """The values of a slider for numbers with limits: round steps, or geometric ones where the range is wide.
    None where it is too wide for a slider."""
    if param.low is None or param.high is None or param.high <= param.low:
        return []
    low, high = float(param.low), float(param.high)
    if low > 0 and LOG_RATIO < high / low <= WIDEST_RATIO:
        count = math.ceil(math.log10(high / low) * A_DECADE)
        values = (float(f"{low * (high / low) ** (k / count):.2g}") for k in range(count + 1))
        return sorted({min(max(value, low), high) for value in values})
    if high - low > WIDEST:
        return []
    step = param.step or nice_step(param)
    inner = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return sorted({low, high} | {round(step * k, 12) for k in inner if low <= round(step * k, 12) <= high})


class NumberEditor(Editor):
    """A spin box, and a slider where there are `stops` for it."""

    def __init__(
        self, param: Param, spin: IntSpin | FloatSpin, stops: Sequence[float], parent: QWidget | None = None
    ) -> None:
        super().__init__(param, parent)
        self.spin = spin
        spin.setParent(self)
        spin.valueChanged.connect(self._spun)
        spin.refused.connect(self._refuse)
        self._stops = list(stops) if len(stops) > 2 else []
        if self._stops:
            self.slider = Slider(Qt.Orientation.Horizontal, self)
            self.slider.setRange(0, len(self._stops) - 1)
            self.slider.setPageStep(max(1, len(self._stops) // 10))
            self.slider.valueChanged.connect(self._slid)
            self.slider.sliderReleased.connect(lambda: self.edited.emit(True))
            self._place(self.slider, spin)
        else:
            self._place(spin)

    def _spun(self, value: float) -> None:
        self._show_on_slider(value)
        self.edited.emit(True)

    def _slid(self, place: int) -> None:
        self._show_in_spin(self._stops[place])
        self.edited.emit(not self.slider.isSliderDown())

    def _show_in_spin(self, value: float) -> None:
        self.spin.blockSignals(True)
        self.spin.setValue(value)  # type: ignore[arg-type]
        self.spin.blockSignals(False)

    def _show_on_slider(self, value: float) -> None:
        if not self._stops:
            return
        place = min(bisect_left(self._stops, value), len(self._stops) - 1)
        if place and value - self._stops[place - 1] < self._stops[place] - value:
            place -= 1
        self.slider.blockSignals(True)
        self.slider.setValue(place)
        self.slider.blockSignals(False)

    def value(self) -> object:
        self._check_typed()
        return self.spin.value()

    def control(self) -> QWidget:
        return self.spin


class IntEditor(NumberEditor):
    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, IntSpin(param), slider_stops(param), parent)

    def set_value(self, value: Value) -> None:
        self._show_in_spin(int(value))  # type: ignore[arg-type]
        self._show_on_slider(int(value))  # type: ignore[arg-type]


class FloatEditor(NumberEditor):
    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, FloatSpin(param), float_stops(param), parent)

    def set_value(self, value: Value) -> None:
        self._show_in_spin(float(value))  # type: ignore[arg-type]
        self._show_on_slider(float(value))  # type: ignore[arg-type]


class BoolEditor(Editor):
    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, parent)
        self.box = TickBox("", self)
        self.box.toggled.connect(lambda: self.edited.emit(True))
        self._place(self.box)

    def value(self) -> object:
        return self.box.isChecked()

    def set_value(self, value: Value) -> None:
        self.box.blockSignals(True)
        self.box.setChecked(bool(value))
        self.box.blockSignals(False)

    def control(self) -> QWidget:
        return self.box


class ChoiceEditor(Editor):
    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, parent)
        self.combo = Combo(self)
        for choice in param.choices:
            number = isinstance(choice, int | float) and not isinstance(choice, bool)
            self.combo.addItem(shown(choice) if number else str(choice), choice)  # type: ignore[arg-type]
        self.combo.currentIndexChanged.connect(lambda: self.edited.emit(True))
        self._place(self.combo)

    def value(self) -> object:
        return self.param.choices[self.combo.currentIndex()]

    def set_value(self, value: Value) -> None:
        self.combo.blockSignals(True)
        self.combo.setCurrentIndex(self.param.choices.index(value))
        self.combo.blockSignals(False)

    def control(self) -> QWidget:
        return self.combo


class TextEditor(Editor):
    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, parent)
        self.keeps_text = True
        self.line = QLineEdit(self)
        self.line.editingFinished.connect(lambda: self.edited.emit(True))
        self._place(self.line)

    def value(self) -> object:
        return self.line.text()

    def set_value(self, value: Value) -> None:
        self.line.setText(str(value))

    def control(self) -> QWidget:
        return self.line


PAIRS = {"start": ("y", "x"), "shape": ("height", "width"), "size": ("height", "width")}
"""The axes of the two numbers of a position, and of a size, in an image."""


class GridEditor(Editor):
    """A tuple of numbers: nine make three rows of three. Positions and sizes in an image are shown as x before y, and
    width before height."""

    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(param, parent)
        count = len(param.default)  # type: ignore[arg-type]
        side = math.isqrt(count)
        self._columns = columns = side if side > 1 and side * side == count else min(count, 4)
        self._axes: tuple[str, ...] = PAIRS.get(param.name, ()) if count == 2 else ()
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.spins = [FloatSpin(param, self, narrow=True) for _ in range(count)]
        for place, spin in enumerate(self.spins):
            spin.valueChanged.connect(lambda: self.edited.emit(True))
            spin.refused.connect(self._refuse)
            spin.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            if not self._axes:
                layout.addWidget(spin, place // columns, place % columns)
        if self._axes:
            self._order(layout)

    def _order(self, layout: QGridLayout) -> None:
        """Put the second number first, and label both."""
        signs = ("x", "y") if self._axes[1] == "x" else ("", "×")
        for column, (sign, spin) in enumerate(zip(signs, reversed(self.spins), strict=True)):
            if sign:
                layout.addWidget(QLabel(sign, self), 0, 2 * column)
            layout.addWidget(spin, 0, 2 * column + 1)
            layout.setColumnStretch(2 * column + 1, 1)
        QWidget.setTabOrder(self.spins[1], self.spins[0])

    def name_controls(self, name: str, help: str) -> None:
        for place, spin in enumerate(self.spins):
            row, column = divmod(place, self._columns)
            spin.setAccessibleDescription(help)
            if self._axes:
                axis = QCoreApplication.translate("Axes", self._axes[place])
                spin.setAccessibleName(self.tr("{name}, {axis}").format(name=name, axis=axis))
                continue
            spin.setAccessibleName(
                self.tr("{name}, row {row}, column {column}").format(name=name, row=row + 1, column=column + 1)
            )

    def value(self) -> object:
        self._check_typed()
        return tuple(spin.value() for spin in self.spins)

    def set_value(self, value: Value) -> None:
        assert isinstance(value, tuple)
        for spin, number in zip(self.spins, value, strict=True):
            spin.blockSignals(True)
            spin.setValue(number)
            spin.blockSignals(False)

    def control(self) -> QWidget:
        return self.spins[1 if self._axes else 0]
