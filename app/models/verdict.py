"""What is known of a result that is shown, and of nothing else. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.models.layer import State
from app.models.results import Results
from app.models.subject import Subject


def verdict(results: Results, shown: Subject | None, present: Subject) -> tuple[State | None, str]:
    """The state of what is shown of a variant, and more words about it. `present` is what a result would be of now: a
    verdict stands only where it, the result and what is chosen now are of the same."""
    key = (present.variant, present.device)
    entry = results.entry(key) if key in results else None
    known = entry is not None and bool(entry.row) and entry.subject == present
    if known and entry is not None and entry.row.get("failure"):
        return "failed", str(entry.row["failure"])
    if shown is None:
        return None, ""
    if shown != present:
        return "stale", _unlike_text(shown, present)
    if not known or entry is None or entry.ok is None:
        return "unverified", ""
    return ("fresh" if entry.ok else "wrong"), ""


def _unlike_text(shown: Subject, present: Subject) -> str:
    """In what a result differs from what is chosen now: "of window 5"."""
    unlike = ", ".join(f"{name} {value}" for name, value in shown.unlike(present).items())
    return QCoreApplication.translate("Pictures", "of {what}").format(what=unlike) if unlike else ""
