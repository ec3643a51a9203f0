"""Spectra as curves: a linear or a logarithmic axis of frequencies, and marks on the peaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.models.curves.peaks import Peak
from app.models.results.view_data import DECIBEL, ViewData
from app.views.curves.curve_view import CurveView
from app.views.curves.peak_marks import PeakMarks
from app.views.results.choice_button import ChoiceButton
from app.views.results.reading import channel_names, quantity
from gpu_ops.types import Filter

translate = QCoreApplication.translate


class SpectraView(CurveView):
    """A CurveView with a button for a logarithmic axis below the curves; the key L turns it as well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        pane = self.pane
        self.peaks: tuple[Peak, ...] = ()
        self._peak_key = ""
        self.log = ChoiceButton(pane)
        self.log.setObjectName("logarithmicAxis")
        self.log.setText(translate("SpectraView", "Log axis"))
        self.log.setAccessibleName(translate("SpectraView", "Logarithmic axis"))
        self.log.setToolTip(
            translate("SpectraView", "Only frequencies above zero, with equal widths for equal ratios (key L)")
        )
        self.log.clicked.connect(self.set_log)
        pane.foot.addWidget(self.log)
        self.marks = PeakMarks(pane.plot.viewport(), self._screen)
        pane.box.sigRangeChanged.connect(self._mark)
        pane.box.sigResized.connect(self._mark)
        self.choice.changed.connect(self._mark)
        key = QShortcut(QKeySequence(Qt.Key.Key_L), pane.plot)
        key.activated.connect(self._turn_axis)

    def set_log(self, log: bool) -> None:
        """Show the frequencies on a logarithmic or a linear axis."""
        self.pane.set_log(log)
        self.log.setChecked(log)
        self._mark()

    def _turn_axis(self) -> None:
        self.set_log(not self.pane.scale.log)

    # Peaks

    def set_peaks(self, key: str, peaks: tuple[Peak, ...]) -> None:
        """Mark the peaks of a result."""
        self._peak_key, self.peaks = key, peaks
        self._mark()

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        super().arrange(keys, titles, filter)
        self._mark()

    def _mark(self) -> None:
        drawn = self._drawn[self._peak_key][0] if self._peak_key in self._drawn else None
        box = self.pane.box.sceneBoundingRect()
        area = QRectF(self.pane.plot.mapFromScene(box).boundingRect())
        visible = self.choice.visible(len(channel_names(drawn))) if drawn is not None else []
        ranked = sorted((p for p in self.peaks if p.channel in visible), key=lambda peak: -peak.height)
        self.marks.show_peaks([self._marked(drawn, peak) for peak in ranked if drawn is not None], area)

    def _marked(self, drawn: ViewData, peak: Peak) -> tuple[float, float, str]:
        """A peak in the plot's coordinates, with its frequency."""
        axis = drawn.form.axes[0]
        height = drawn.decade * math.log10(peak.height) if drawn.unit == DECIBEL else peak.height
        height = self.pane.lanes.place(peak.channel, height)
        return self.pane.scale.coordinate(peak.place), height, quantity(float(f"{peak.place:.5g}"), axis.unit)

    def _screen(self, x: float, y: float) -> QPointF:
        scene = self.pane.box.mapViewToScene(QPointF(x, y))
        return QPointF(self.pane.plot.mapFromScene(scene))
