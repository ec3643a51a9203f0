"""The controls of how differences are measured and coloured."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from app.models.pictures.difference_style import GAINS, MEASURES, SHARES, DifferenceStyle
from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.parts import Combo, TickBox, number


class DifferenceBar(QWidget):
    """What is measured, where the colour is full, whether single pixels are drawn larger, and `jump`, which has its
    action from elsewhere and goes to the largest difference. It shows and changes a `style`."""

    def __init__(self, style: DifferenceStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("differenceBar")
        self._style = style
        self.measure = self._combo("differenceMeasure", self.tr("What is measured of two pictures"))
        for measure, text in zip(MEASURES, self._measures(), strict=True):
            self.measure.addItem(text, measure)
        self.share = self._combo("differenceShare", self.tr("Percentile of what differs, at which the colour is full"))
        for share in SHARES:
            text = self.tr("largest") if share == SHARES[-1] else self.tr("{share} %").format(share=number(share))
            self.share.addItem(text, share)
        self.gain = self._combo("differenceGain", self.tr("Gain: how many times stronger the colours are"))
        for gain in GAINS:
            self.gain.addItem(self.tr("× {gain}").format(gain=number(gain)), gain)  # noqa: RUF001 - the sign of times
        self.grow = named(TickBox(self.tr("Enlarge single pixels"), self), "differenceGrow")
        self.grow.setToolTip(self.tr("Draw scattered pixels larger while the picture is reduced"))
        self.jump = named(QToolButton(self), "differenceJump")
        unit = self.fontMetrics().averageCharWidth()
        row = FlowLayout(self, gap=unit, wide=True)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.measure, self.share, self.gain, self.grow, self.jump):
            row.addWidget(widget)
        self.grow.toggled.connect(lambda on: style.set(grow=on))
        style.changed.connect(self._show)
        self._show()

    def _measures(self) -> tuple[str, ...]:
        return self.tr("signed"), self.tr("absolute"), self.tr("relative, in %"), self.tr("in ulp")

    def _combo(self, name: str, tip: str) -> Combo:
        combo = named(Combo(self), name, title=tip, tip=tip)
        combo.activated.connect(self._choose)
        return combo

    @Slot()
    def _choose(self) -> None:
        measure, share, gain = (combo.currentData() for combo in (self.measure, self.share, self.gain))
        self._style.set(measure=measure, share=share, gain=gain)

    @Slot()
    def _show(self) -> None:
        look = self._style.look
        for combo, value in ((self.measure, look.measure), (self.share, look.share), (self.gain, look.gain)):
            combo.setCurrentIndex(combo.findData(value))
        with QSignalBlocker(self.grow):
            self.grow.setChecked(look.grow)
