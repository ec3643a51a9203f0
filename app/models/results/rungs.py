"""The rungs of a ladder: which counters compare them, and why each differs from the rung before. No widgets."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from gpu_ops import FILTERS
from gpu_ops.counters import counted_in
from gpu_ops.errors import KernelscopeError
from gpu_ops.explaining.rungs import is_counted, rung_before, why
from gpu_ops.types import Filter

translate = QCoreApplication.translate


def counted_ids(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Ids of the counters and figures by which simulated rows can be compared: those of `explaining_ids` first."""
    found = counted_in(e.counters for e in entries if e.simulated)
    shown = dict.fromkeys(id for filter in _filters(entries) for id in filter.shows if id in found)
    return tuple(dict.fromkeys([*shown, *found]))


def explaining_ids(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Those that explain how the kernels of their filters differ; the first one where nothing is declared."""
    shown = {id for filter in _filters(entries) for id in filter.shows}
    counted = counted_ids(entries)
    return tuple(id for id in counted if id in shown) or counted[:1]


def _filters(entries: Sequence[Entry]) -> list[Filter]:
    ids = {e.row.filter for e in entries if e.simulated and e.row is not None}
    return [filter for filter in FILTERS if filter.id in ids]


def rung_lines(entries: Sequence[Entry], entry: Entry) -> list[str]:
    """What changed from the rung before to this one, the most telling sentence first; the idea of the first rung. [] of
    rows that nothing counted, for wrong results and for rows of an earlier setting. Only rows of one job are compared:
    work of a part is not that of the whole."""
    if not is_counted(entry.row) or not entry.current or entry.ok is False:
        return []
    assert entry.row is not None
    rungs = [e for e in entries if e.origin == entry.origin and e.current and e.ok is not False]
    before = rung_before([e.row for e in rungs], rungs.index(entry))
    if before is None:
        return [idea] if (idea := idea_of(entry)) else []
    other = rungs[before].row
    sentences = [sentence.text for sentence in why(other, entry.row)] if other is not None else []
    if not sentences:
        return [translate("Rows", "No counter differs by more than 2 % from {name}.").format(name=rungs[before].name)]
    if entries.index(entry) != entries.index(rungs[before]) + 1:
        text = translate("Rows", "Against {name}: {sentence}")
        sentences[0] = text.format(name=rungs[before].name, sentence=sentences[0])
    return sentences


def idea_of(entry: Entry) -> str:
    """What the variant of a row does, in a sentence; "" where this version has no such variant, and for an edited
    kernel, which may do something else."""
    if entry.row is not None and entry.row.edits:
        return ""
    try:
        return FILTERS.find(entry.row.filter).variant(entry.variant).idea if entry.row is not None else ""
    except KernelscopeError:
        return ""


def rung_sentences(entries: Sequence[Entry]) -> dict[RowSlot, str]:
    """The first of these sentences for each row that has one."""
    lines = {entry.slot: rung_lines(entries, entry) for entry in entries}
    return {slot: own[0] for slot, own in lines.items() if own}
