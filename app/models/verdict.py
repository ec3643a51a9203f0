"""What is known of a result that is shown, and of nothing else. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.models.apart import settings_text
from app.models.layer import State
from app.models.results import Results
from app.models.slot import RowSlot
from app.models.subject import Subject


def verdict(results: Results, shown: Subject | None, present: Subject) -> tuple[State | None, str]:
    """The state of what is shown of a variant, and more words about it. `present` is what a result would be of now: a
    verdict stands only where it, the result and what is chosen now are of the same."""
    slot = RowSlot(present.key.variant, present.key.device)
    entry = results.entry(slot) if slot in results else None
    known = entry is not None and entry.row is not None and entry.subject == present
    if known and entry is not None and entry.failure:
        return "failed", entry.failure
    if shown is None:
        return None, ""
    if shown != present:
        return "stale", _unlike_text(shown, present)
    if not known or entry is None or entry.ok is None:
        return "unverified", ""
    return ("fresh" if entry.ok else "wrong"), ""


def _unlike_text(shown: Subject, present: Subject) -> str:
    """In what a result differs from what is chosen now: "of window 5"."""
    unlike = settings_text(shown.key.unlike(present.key))
    return QCoreApplication.translate("Pictures", "of {what}").format(what=unlike) if unlike else ""
