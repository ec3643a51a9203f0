"""The numbers of the GPU that times are predicted for: each has a slider and a box."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractSpinBox, QWidget

from app.base.tips import set_tip
from app.models.xray.gpu_choice import LEAST, MOST, MOST_KIB, MOST_MULTIPROCESSORS, GpuChoice
from app.views.boxes import in_row
from app.views.experiment.editors import float_stops, slider_stops
from app.views.experiment.spins import LevelSpin
from app.views.flow import FlowLayout
from app.views.labels import buddy, named
from app.views.wheel import CountSpin, Slider
from gpu_ops.params import Param

LETTERS = 30
"""The width of a number with its name, its slider and its box, alike for all, so that they are in columns."""


class GpuNumber(QWidget):
    """A number with its name, a slider and a box. The number of the GPU as it is has a stop of its own."""

    def __init__(self, text: str, spin: Any, stops: Sequence[float], parent: QWidget) -> None:
        super().__init__(parent)
        self.spin, self._all, self._stops = spin, stops, list(stops)
        name = spin.objectName()
        self.slider = named(Slider(Qt.Orientation.Horizontal, self), f"{name}.slider", title=spin.accessibleName())
        set_tip(self.slider, spin.toolTip())
        self.slider.setMinimumWidth(4 * self.fontMetrics().averageCharWidth())
        spin.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        in_row(buddy(text, spin), (self.slider, 1), spin, on=self)
        self.slider.valueChanged.connect(lambda place: spin.setValue(self._stops[place]))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(LETTERS * self.fontMetrics().averageCharWidth(), 0).expandedTo(self.minimumSizeHint())

    def show_value(self, value: float, own: float) -> None:
        """Show a value, of a GPU that has `own` as it is."""
        self._stops = sorted({*self._all, own})
        place = min(bisect_left(self._stops, value), len(self._stops) - 1)
        if place and value - self._stops[place - 1] < self._stops[place] - value:
            place -= 1
        with QSignalBlocker(self.slider), QSignalBlocker(self.spin):
            self.slider.setRange(0, len(self._stops) - 1)
            self.slider.setValue(place)
            self.spin.setValue(value)


class GpuNumbers(QWidget):
    """All numbers that can be changed, by the names of a GpuChoice. `changed`: the user has changed one."""

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, gap=self.fontMetrics().averageCharWidth())
        self._flow.setContentsMargins(0, 0, 0, 0)
        factor = float_stops(Param("factor", 1.0, low=LEAST, high=MOST))
        memory, l2 = self.tr("Factor of the bandwidth of device memory"), self.tr("Factor of the bandwidth of L2")
        stay = self.tr("{number}; launches stay as planned for the GPU as it is")
        shared = stay.format(number=self.tr("Shared memory of a multiprocessor"))
        many = stay.format(number=self.tr("Multiprocessors"))
        clock, kib = self.tr("Factor of the clock"), self.tr(" KiB")
        self.numbers = {
            "bandwidth": GpuNumber(self.tr("Memory"), self._factor("bandwidth", memory), factor, self),
            "l2": GpuNumber(self.tr("L2"), self._factor("l2", l2), factor, self),
            "clock": GpuNumber(self.tr("Clock"), self._factor("clock", clock), factor, self),
            "kib_of_shared": self._count("kib_of_shared", self.tr("Shared"), shared, MOST_KIB, kib),
            "multiprocessors": self._count("multiprocessors", self.tr("Multiprocessors"), many, MOST_MULTIPROCESSORS),
        }
        for number in self.numbers.values():
            self._flow.addWidget(number)
            number.spin.valueChanged.connect(self.changed)

    def _factor(self, name: str, title: str) -> LevelSpin:
        spin = named(LevelSpin(self), f"xray.prediction.{name}", title=title, tip=title)
        spin.setPrefix("×")
        spin.setRange(LEAST, MOST)
        spin.setSingleStep(LEAST)
        return spin

    def _count(self, name: str, text: str, title: str, most: int, unit: str = "") -> GpuNumber:
        spin = named(CountSpin(self), f"xray.prediction.{name}", title=title, tip=title)
        spin.setRange(1, most)
        spin.setSuffix(unit)
        return GpuNumber(text, spin, slider_stops(Param(name, 1, low=1, high=most)), self)

    def add(self, widget: QWidget) -> None:
        """Show another widget behind the numbers."""
        self._flow.addWidget(widget)

    @property
    def spins(self) -> dict[str, Any]:
        """The boxes of the numbers."""
        return {name: number.spin for name, number in self.numbers.items()}

    @property
    def values(self) -> dict[str, float]:
        """The numbers that are shown."""
        return {name: spin.value() for name, spin in self.spins.items()}

    def show_choice(self, choice: GpuChoice) -> None:
        """Show the numbers of a GPU."""
        own = GpuChoice(choice.id).numbers
        for name, value in choice.numbers.items():
            self.numbers[name].show_value(value, own[name])
