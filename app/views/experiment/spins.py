"""Spin boxes that read numbers as people type them, and reject unreadable text instead of guessing."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox, QWidget

from app.base.numbers import shown
from app.models.number_input import parse_number
from app.views.wheel import FocusWheel
from gpu_ops.params import Param

LARGEST = 2**31 - 1


def typed_number(box: QSpinBox | QDoubleSpinBox, text: str) -> str:
    """The typed text without its prefix and its unit."""
    return text.removeprefix(box.prefix()).removesuffix(box.suffix()).strip()


class IntSpin(FocusWheel, QSpinBox):
    """A spin box that steps along the parameter's grid but accepts any typed text: a check rejects it later.

    `refused(text)` says that the typed text is not an integer; the previous value stays.
    """

    refused = Signal(str)

    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._param = param
        self._step = int(param.step or 1)
        self._low = int(param.low) if param.low is not None else -LARGEST
        self._high = min(int(param.high), LARGEST) if param.high is not None else LARGEST
        reach = min(10 ** (len(str(max(abs(self._low), abs(self._high)))) + 1) - 1, LARGEST)
        self._reach = reach
        self.setRange(-reach, reach)
        self.setKeyboardTracking(False)
        if param.unit:
            self.setSuffix(f" {param.unit}")

    def _read(self, text: str) -> int | None:
        number = parse_number(typed_number(self, text), self.locale())
        return int(number) if number is not None and abs(number) <= self._reach and number == int(number) else None

    def textFromValue(self, value: int) -> str:  # noqa: N802
        return shown(value)

    def valueFromText(self, text: str) -> int:  # noqa: N802
        number = self._read(text)
        return self.value() if number is None else number

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Accept every character: "2.5" without its point would be 25."""
        good = self._read(text) is not None
        return QValidator.State.Acceptable if good else QValidator.State.Intermediate, text, position

    def fixup(self, text: str) -> str:
        self.refused.emit(typed_number(self, text))
        return text

    def stepBy(self, steps: int) -> None:  # noqa: N802
        origin = self._low if self._param.low is not None else 0
        place = (self.value() - origin) // self._step + steps
        self.setValue(max(self._low, min(self._high, origin + place * self._step)))

    def stepEnabled(self) -> QSpinBox.StepEnabledFlag:  # noqa: N802
        flags = QSpinBox.StepEnabledFlag.StepNone
        if self.value() < self._high:
            flags |= QSpinBox.StepEnabledFlag.StepUpEnabled
        if self.value() > self._low:
            flags |= QSpinBox.StepEnabledFlag.StepDownEnabled
        return flags


class FloatSpin(FocusWheel, QDoubleSpinBox):
    """A spin box for numbers of any size: shows their significant digits and reads exponents. A narrow one, for use in
    a grid, has no buttons and space for fewer digits. `refused(text)` says that the typed text is not a number."""

    refused = Signal(str)

    def __init__(self, param: Param, parent: QWidget | None = None, narrow: bool = False) -> None:
        super().__init__(parent)
        self._narrow = narrow
        self.setDecimals(12)
        self.setRange(-1e300, 1e300)
        self.setKeyboardTracking(False)
        self._low = -math.inf if param.low is None else param.low
        self._high = math.inf if param.high is None else param.high
        self._step = param.step or nice_step(param)
        if narrow:
            self.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
        if param.unit:
            self.setSuffix(f" {param.unit}")

    def stepBy(self, steps: int) -> None:  # noqa: N802
        value = self.value() + steps * self._step_at(self.value())
        self.setValue(max(self._low, min(self._high, round(value, 12))))

    def _step_at(self, value: float) -> float:
        """A hundredth of the range; of a wide one, a tenth of the value's first digit."""
        if self._step <= 1:
            return self._step
        return 10.0 ** (math.floor(math.log10(abs(value))) - 1) if value else 0.1

    def textFromValue(self, value: float) -> str:  # noqa: N802
        return shown(value, "g", 7)

    def valueFromText(self, text: str) -> float:  # noqa: N802
        number = parse_number(typed_number(self, text), self.locale())
        return self.value() if number is None else number

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Accept every character."""
        good = parse_number(typed_number(self, text), self.locale()) is not None
        return QValidator.State.Acceptable if good else QValidator.State.Intermediate, text, position

    def fixup(self, text: str) -> str:
        self.refused.emit(typed_number(self, text))
        return text

    def sizeHint(self) -> QSize:  # noqa: N802
        """Wide enough for seven digits, or four if narrow, but not for the whole range."""
        hint = super().sizeHint()
        hint.setWidth(self._width())
        return hint

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        hint = super().minimumSizeHint()
        hint.setWidth(self._width())
        return hint

    def _width(self) -> int:
        metrics = self.fontMetrics()
        if self._narrow:
            return metrics.horizontalAdvance("−0.000" + self.suffix()) + metrics.height()
        return metrics.horizontalAdvance("−0.000000" + self.suffix()) + 3 * metrics.height()


class LevelSpin(FocusWheel, QDoubleSpinBox):
    """A spin box with a fixed number of decimals, and the minus sign of all other numbers."""

    def textFromValue(self, value: float) -> str:  # noqa: N802
        return shown(value, "f", self.decimals())


def nice_step(param: Param) -> float:
    """A hundredth of the range, rounded down to 1, 2 or 5 times a power of ten."""
    if param.low is None or param.high is None or param.high <= param.low:
        return 0.1
    raw = (param.high - param.low) / 100
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m for m in (5, 2, 1) if m * power <= raw * 1.0001) * power
