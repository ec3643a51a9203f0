"""Libraries among the rows of a ladder: their places by time, and a sentence where one is the fastest. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.results.entry import Entry
from gpu_ops.report.speedups import library_leads, library_of


def in_order_of_time(entries: Sequence[Entry]) -> list[Entry]:
    """The entries in their order, but each library after the last slower variant of the same job on the same device, so
    that all variants below it are faster. A library without a reliable time stays."""
    libraries = {e.slot for e in entries if e.timed is not None and library_of(e.timed)}
    found = [e for e in entries if e.slot not in libraries or _group(e) is None]
    for library in (e for e in entries if e.slot in libraries and _group(e) is not None):
        group, seconds = _group(library), library.seconds("kernel") or 0.0
        others = [place for place, e in enumerate(found) if e.slot not in libraries and _group(e) == group]
        slower = [place for place in others if (found[place].seconds("kernel") or 0.0) >= seconds]
        if not others:
            place = entries.index(library)
        elif slower:
            place = slower[-1] + 1
        else:
            place = others[0]
        found.insert(place, library)
    return found


def _group(entry: Entry) -> Any:
    """Entries of one group have comparable times; None without a reliable one."""
    row = entry.timed
    if row is None or not row.is_comparable("kernel") or entry.simulated or entry.ok is False:
        return None
    return entry.origin, row.job, row.device


def lead_notes(entries: Sequence[Entry]) -> list[str]:
    """A sentence for each library that is faster than all other variants of its job, device and machine."""
    notes = []
    for origin in dict.fromkeys(e.origin for e in entries):
        rows = [(e, row) for e in entries if e.origin == origin and (row := e.timed) is not None and e.ok is not False]
        for lead in library_leads([row for _, row in rows]):
            library, other = rows[lead.library][0], rows[lead.other][0]
            text = QCoreApplication.translate(
                "Rows",
                "{library} is faster than all others on {device}: the next, {other}, takes {ratio} times as long.",
            )
            named = {"library": library.name, "other": other.name, "device": library.machine or library.device}
            notes.append(text.format(**named, ratio=f"{lead.ratio:.2f}"))
    return notes
