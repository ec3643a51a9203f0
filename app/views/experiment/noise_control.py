"""Noise on the input: a tick box, its amount, and its seed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QSlider, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.base.tips import set_tip
from app.models.experiment.noise import Noise, span_of, usual_sigma
from app.views.boxes import in_row
from app.views.experiment.editors import FloatEditor, IntEditor
from app.views.keys import letter
from app.views.labels import sentence_label
from app.views.parts import TickBox
from app.views.wheel import Slider
from gpu_ops import NOISE, KernelscopeError

STOPS = 200
"""Steps of the slider from no noise to half of the values' span; a typed number may be larger."""


class NoiseControl(QWidget):
    """`changed(noise, drag)` carries the user's choice: a Noise, or None. While the slider moves it is emitted for each
    position, and `drag` says that it continues the previous one."""

    changed = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("noiseControl")
        self._span, self._default = 1.0, 0.0
        self._noise: Noise | None = None
        self._dragging = False
        self.tick = TickBox(self.tr("N&oise"), self)
        self.tick.setObjectName("noise")
        self.tick.setToolTip(self.tr("Add normal noise to the input; the original is kept to compare results with"))
        self.slider = Slider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(1, STOPS)
        self.slider.setPageStep(STOPS // 10)
        self.sigma, self.seed = FloatEditor(NOISE[0], self), IntEditor(NOISE[1], self)
        self._seed_label, self._reason = QLabel(self.tr("Seed"), self), sentence_label("reason.noise", self)
        self._name()
        self._arrange()
        self.tick.toggled.connect(self._toggled)
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderReleased.connect(self._end_drag)
        for field in (self.sigma, self.seed):
            field.edited.connect(self._edited)
        self.show_noise(None)
        self.setEnabled(False)

    @property
    def letters(self) -> set[str]:
        """The mnemonics in use."""
        return {letter(self.tick.text())} - {""}

    def _name(self) -> None:
        sigma, seed = self.tr("Sigma of the noise"), self.tr("Seed of the noise")
        self.slider.setAccessibleName(sigma)
        self.sigma.name_controls(sigma, NOISE[0].help)
        self.seed.name_controls(seed, NOISE[1].help)
        self.sigma.spin.setPrefix("σ ")
        for field, param in ((self.sigma, NOISE[0]), (self.seed, NOISE[1])):
            set_tip(field, param.help)
        for slider in self.seed.findChildren(QSlider):
            slider.hide()  # seeds have no order
        self._seed_label.setBuddy(self.seed.control())
        self._colour()

    def _arrange(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        row = in_row((self.slider, 1), self.sigma)
        grid.addWidget(self.tick, 0, 0)
        grid.addLayout(row, 0, 1)
        grid.addWidget(self._seed_label, 1, 0)
        grid.addWidget(self.seed, 1, 1)
        grid.addWidget(self._reason, 2, 0, 1, 2)

    # What is shown

    def set_input(self, shared: Any) -> None:
        """Adapt to another input: its span, and an initial sigma for it."""
        self.set_unit(shared)
        self.setEnabled(True)
        self._say("")
        if self._noise is None:
            self._show_sigma(self._default)

    def set_unit(self, shared: Any) -> None:
        """Adapt to the span of an input without noise; requested noise stays."""
        before, self._span = self._span, span_of(shared)
        self._default = usual_sigma(self._span)
        if self._noise is not None:
            self._show_sigma(self._noise.sigma)
        elif self._span != before:
            self._show_sigma(self._default)

    def show_noise(self, noise: Noise | None) -> None:
        """Show the requested noise, without a signal."""
        self._noise = noise
        with QSignalBlocker(self.tick):
            self.tick.setChecked(noise is not None)
        if noise is not None:
            self._show_sigma(noise.sigma)
            self.seed.set_value(noise.seed)
        for widget in (self.slider, self.sigma, self.seed, self._seed_label):
            widget.setVisible(noise is not None)
        if noise is None:
            self._say("")

    def _show_sigma(self, sigma: float) -> None:
        self.sigma.set_value(sigma)
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(2 * STOPS * min(sigma / self._span, 1.0)))

    # User actions

    def _toggled(self, on: bool) -> None:
        self._want(Noise(float(self.sigma.spin.value()) or self._default, int(self.seed.spin.value())) if on else None)

    def _slid(self, place: int) -> None:
        sigma = float(f"{self._span * place / (2 * STOPS):.3g}")
        self.sigma.set_value(sigma)
        self._edited()

    def _edited(self, _commit: bool = True) -> None:
        try:
            sigma, seed = (f.param.check(f.value()) for f in (self.sigma, self.seed))
        except KernelscopeError as error:
            self._return()
            self._say(str(error))
            return
        self._say("")
        self._want(Noise(float(sigma), int(seed)) if sigma else None)  # type: ignore[arg-type]

    def _return(self) -> None:
        """Show the last valid values again."""
        if self._noise is not None:
            self._show_sigma(self._noise.sigma)
            self.seed.set_value(self._noise.seed)

    def _want(self, noise: Noise | None) -> None:
        if noise != self._noise:
            self.show_noise(noise)
            self.changed.emit(noise, self._dragging)
            self._dragging = self.slider.isSliderDown()

    def _end_drag(self) -> None:
        self._dragging = False

    def _say(self, sentence: str) -> None:
        """Show why the last entry was rejected; "" if it was accepted."""
        self._reason.setText(f"{colours_of(self.palette()).error.symbol} {sentence}" if sentence else "")
        self._reason.setVisible(bool(sentence))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_reason"):
            self._colour()

    def _colour(self) -> None:
        self._reason.setPalette(inked(self._reason.palette(), colours_of(self.palette()).error.colour))
