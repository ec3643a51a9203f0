"""The verdict on a result that a view shows. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.pictures.layer import State
from app.models.results.results import Results
from app.models.results.row_differences import settings_text
from gpu_ops.types import REFERENCE


def verdict(results: Results, slot: RowSlot, shown: Subject | None, present: Subject) -> tuple[State | None, str]:
    """The state of the visible result, and its text; its row is in `slot`. A verdict is valid only where its own
    subject, the result's and the `present` one are equal."""
    entry = results.entry(slot) if slot in results else None
    is_current = entry is not None and entry.row is not None and entry.subject == present
    if is_current and entry is not None and entry.failure:
        return "failed", entry.failure
    if shown is None:
        return None, ""
    if present.key.variant == REFERENCE and shown == present:
        return None, ""  # every verdict is a comparison with the reference
    if shown != present:
        return "stale", _difference_text(shown, present)
    if not is_current or entry is None or entry.ok is None:
        edited = is_current and entry is not None and entry.row is not None and entry.row.edits
        return "unverified", QCoreApplication.translate("Pictures", "not checked yet") if edited else ""
    return ("fresh", "") if entry.ok else ("wrong", entry.fault)


def of_now(results: Results, shown: Subject | None, present: Subject) -> Subject:
    """What the visible result is compared with: the `present` one, or itself while frames follow one another. That of
    the frame before stays as it is until the next one comes, or all pictures would flicker."""
    same = results.playing and shown is not None and shown.key == present.key
    return shown if same and shown is not None else present


def _difference_text(shown: Subject, present: Subject) -> str:
    """The settings of a result that differ from the present choice: "of window 5". Those of another text are not
    named: the text is what differs."""
    if shown.key.edits and shown.key.edits != present.key.edits:
        return QCoreApplication.translate("Pictures", "of an earlier text")
    settings = settings_text(shown.key.unlike(present.key))
    return QCoreApplication.translate("Pictures", "of {what}").format(what=settings) if settings else ""
