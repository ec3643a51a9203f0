"""The named sets of parameter values of a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app.views.boxes import in_row
from app.views.experiment.search_combo import disable
from app.views.labels import buddy, named
from app.views.parts import Combo
from gpu_ops.types import Filter

LETTER = "p"
"""The mnemonic of the chooser, which the form next to it must not use."""


class PresetChooser(QWidget):
    """Shows the preset that equals the values, "custom" without one. `chosen(values)` carries the values of a preset
    that the user picks; hidden for a filter without presets."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("presets")
        self._presets: dict[str, dict[str, Any]] = {}
        self.combo = named(
            Combo(self), "preset", title=self.tr("Preset"), tip=self.tr("Common values for several parameters at once")
        )
        self.combo.set_letters(12)
        label = buddy(self.tr("&Preset"), self.combo)
        in_row(label, (self.combo, 1), on=self)
        self.combo.activated.connect(self._activated)

    def set_filter(self, filter: Filter) -> None:
        """Offer this filter's presets."""
        checks = {param.name: param.check for param in filter.params}
        self._presets = {
            name: {key: checks[key](value) for key, value in values.items()} for name, values in filter.presets.items()
        }
        with QSignalBlocker(self.combo):
            self.combo.clear()
            for name in self._presets:
                self.combo.addItem(QCoreApplication.translate("Presets", name), name)
            self.combo.addItem(self.tr("custom"))
        disable(self.combo, self.combo.count() - 1)  # follows from the values; the user cannot choose it
        self.setVisible(bool(self._presets))

    def show_values(self, params: Mapping[str, Any]) -> None:
        """Show the preset with these values."""
        fitting = [n for n, values in self._presets.items() if all(params.get(k) == v for k, v in values.items())]
        place = list(self._presets).index(fitting[0]) if fitting else len(self._presets)
        self.combo.setCurrentIndex(place)

    def _activated(self, place: int) -> None:
        name = self.combo.itemData(place)
        if name:
            self.chosen.emit(self._presets[name])
