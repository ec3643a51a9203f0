"""The engine's catalogues of counters and stages in the user's language.

Their texts are translated here, in the context "Catalogue", and nowhere else in the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.counters import counter_name as counter_in_english
from gpu_ops.stages import STAGES
from gpu_ops.stages import stage_column as column_in_english
from gpu_ops.stages import stage_name as stage_in_english

if TYPE_CHECKING:
    from gpu_ops.lessons.glossary import Term


def tr(text: str) -> str:
    """Translate a text of a catalogue."""
    return QCoreApplication.translate("Catalogue", text)


def counter_name(id: str) -> str:
    """The name of a counter or a derived value."""
    return tr(counter_in_english(id))


def counter_tip(id: str) -> str:
    """What a counter or a derived value says, and its unit; empty where the catalogue lacks it."""
    counter = COUNTERS.get(id) or FIGURES.get(id)
    if counter is None:
        return ""
    unit = QCoreApplication.translate("Terms", "Unit: {unit}").format(unit=tr(counter.unit))
    return f"{tr(counter.description)}\n{unit}"


def term_tip(term: Term) -> str:
    """What a term of the glossary means, for a tool tip."""
    return f"{term.name}: {QCoreApplication.translate('Glossary', term.text)}"


def meanings(text: str) -> str:
    """What the terms in a text mean, a paragraph for each; empty where it has none."""
    from gpu_ops.lessons.glossary import terms_in  # reads the glossary, at first use

    return "\n\n".join(dict.fromkeys(term_tip(term) for _, _, term in terms_in(text)))


def counter_help(id: str) -> str:
    """The tip of a counter, followed by what the words of its name mean."""
    return "\n\n".join(filter(None, (counter_tip(id), meanings(counter_in_english(id)))))


def stage_name(id: str, device: str = "", end_to_end: bool = False) -> str:
    """The name of a stage on a device; `end_to_end` is whether the plan includes copies from and to host memory."""
    return tr(stage_in_english(id, device, end_to_end))


def stage_column(id: str, end_to_end: bool = False) -> str:
    """The header of a stage's column; `end_to_end` is whether the plan includes copies from and to host memory."""
    return tr(column_in_english(id, end_to_end))


def stage_tip(id: str) -> str:
    """The description of a stage."""
    return tr(STAGES[id].description)
