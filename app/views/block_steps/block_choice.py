"""Chooses the launch and the block that are recorded."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLabel, QSpinBox, QWidget

from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.parts import Combo
from gpu_ops.devices.sim.block_run.compared import BlockSteps


class BlockChoice(QWidget):
    """`chosen(launch, place)`: the user has chosen a launch, with `place` None, or a block of it."""

    chosen = Signal(int, object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.launches = named(Combo(self), "block.launch", title=self.tr("Launch"), tip=self.tr("The kernel launch"))
        self.launches.set_letters(16)
        self._word = QLabel(self.tr("Block"), self)
        self.axes = [named(QSpinBox(self), f"block.{axis}") for axis in "xyz"]
        self.of = named(QLabel(self), "block.grid")
        for label in (self._word, self.of):
            label.setMinimumHeight(self.axes[0].sizeHint().height())
        self._flow = FlowLayout(self, gap=self.fontMetrics().averageCharWidth())
        self._flow.setContentsMargins(0, 0, 0, 0)
        for part in (self.launches, self._word, *self.axes, self.of):
            self._flow.addWidget(part)
        for axis, box in zip("xyz", self.axes, strict=True):
            box.setAccessibleName(self.tr("Block {axis}").format(axis=axis))
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._choose_block)
        self.launches.activated.connect(lambda place: self.chosen.emit(place, None))

    def add(self, part: QWidget) -> None:
        """Put another control behind these."""
        self._flow.addWidget(part)

    def show_choice(self, content: BlockSteps) -> None:
        """Show what was recorded."""
        launches, run = content.launches, content.run
        names = [f"{n}. {one.kernel}" for n, one in enumerate(launches, 1)]
        if names != [self.launches.itemText(n) for n in range(self.launches.count())]:
            self.launches.clear()
            self.launches.addItems(names)
        self.launches.setCurrentIndex(content.launch)
        self.launches.setVisible(len(launches) > 1)
        for box, at, extent in zip(self.axes, run.place, run.grid, strict=True):
            with QSignalBlocker(box):
                box.setRange(0, extent - 1)
                box.setValue(at)
        self.axes[2].setVisible(run.grid[2] > 1)
        self.axes[1].setVisible(run.grid[1] > 1 or run.grid[2] > 1)
        size = self.tr(" × ").join(str(n) for n in run.grid if n > 1) or "1"
        threads = self.tr(" × ").join(str(n) for n in run.block if n > 1) or "1"
        self.of.setText(self.tr("of {size}, {threads} threads each").format(size=size, threads=threads))

    def _choose_block(self) -> None:
        place = tuple(box.value() for box in self.axes)
        self.chosen.emit(max(self.launches.currentIndex(), 0), place)
