"""Spectra as curves, over a linear or a logarithmic axis of frequencies."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.views.curves.curve_view import CurveView
from app.views.results.choice_button import ChoiceButton

translate = QCoreApplication.translate


class SpectraView(CurveView):
    """A CurveView with a button for a logarithmic axis below the curves; the key L turns it as well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        pane = self.pane
        self.log = ChoiceButton(pane)
        self.log.setObjectName("logarithmicAxis")
        self.log.setText(translate("SpectraView", "Log axis"))
        self.log.setAccessibleName(translate("SpectraView", "Logarithmic axis"))
        self.log.setToolTip(
            translate("SpectraView", "Only frequencies above zero, with equal widths for equal ratios (key L)")
        )
        self.log.clicked.connect(self.set_log)
        pane.foot.addWidget(self.log)
        key = QShortcut(QKeySequence(Qt.Key.Key_L), pane.plot)
        key.activated.connect(self._turn_axis)

    def set_log(self, log: bool) -> None:
        """Show the frequencies on a logarithmic or a linear axis."""
        self.pane.set_log(log)
        self.log.setChecked(log)

    def _turn_axis(self) -> None:
        self.set_log(not self.pane.scale.log)
