"""The engine's catalogues of counters and stages in the reader's language.

Their texts are translated here, in the context "Catalogue", and nowhere else in the window.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.counters import counter_name as counter_in_english
from gpu_ops.stages import STAGES
from gpu_ops.stages import stage_name as stage_in_english


def tr(text: str) -> str:
    """A text of a catalogue."""
    return QCoreApplication.translate("Catalogue", text)


def counter_name(id: str) -> str:
    """What a counter or figure is called."""
    return tr(counter_in_english(id))


def counter_tip(id: str) -> str:
    """What a counter or figure counts, and in what; nothing for one that is not in the catalogue."""
    known = COUNTERS.get(id) or FIGURES.get(id)
    if known is None:
        return ""
    unit = QCoreApplication.translate("Terms", "Unit: {unit}").format(unit=tr(known.unit))
    return f"{tr(known.description)}\n{unit}"


def stage_name(id: str, device: str = "") -> str:
    """What a stage is called on a device."""
    return tr(stage_in_english(id, device))


def stage_column(id: str) -> str:
    """What heads a stage's column."""
    return tr(STAGES[id].column)


def stage_tip(id: str) -> str:
    """What a stage times."""
    return tr(STAGES[id].description)
