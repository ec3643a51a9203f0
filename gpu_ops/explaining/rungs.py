"""Why one row of a simulated GPU differs from the row before: the sentences of an X-ray, from the counters of rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from gpu_ops.counters import ACCESSES, FIGURES
from gpu_ops.explaining.sentences import Sentence, changes
from gpu_ops.filters import FILTERS
from gpu_ops.report.rows import Row
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter

UNCHANGED = "memory"
"""The rule whose sentence says what did not change: it comes last."""


def is_counted(row: Row | None) -> bool:
    """Whether a simulated GPU counted the accesses of a right result."""
    return row is not None and row.simulated and ACCESSES in row.counters and row.ok is not False


def rung_before(rows: Sequence[Row | None], place: int) -> int | None:
    """The place of the last row before this one that may be compared with it: it did the same job on the same device,
    counted in the same part of the input, with another variant. An edited kernel is compared with the shipped one, and
    a shipped one never with an edited one. None where there is none."""
    row = rows[place]
    if row is None or not is_counted(row):
        return None
    for before in range(place - 1, -1, -1):
        other = rows[before]
        if other is None or not is_counted(other) or _work(other) != _work(row) or other.edits:
            continue
        return before if other.variant != row.variant or row.edits else None
    return None


def _work(row: Row) -> tuple[Hashable, ...]:
    return row.job, row.counted, row.device


def why(before: Row, after: Row) -> list[Sentence]:
    """What changed from one counted row to another of the same job; first what rests on the counters that the filter
    shows, in their order."""
    filter = FILTERS.find(after.filter)
    task = _task(filter, after)
    outputs = sum(math.prod(output.form(task).shape) for output in filter.given(task.params))
    least_bytes = filter.work(task).bytes
    facts = [_facts(row, outputs, least_bytes) for row in (before, after)]
    sentences = changes(facts[0], facts[1], filter.unit(task))
    shown = [FIGURES[id].parts if id in FIGURES else (id,) for id in filter.shows]

    def rank(sentence: Sentence) -> tuple[bool, int]:
        places = [place for place, counters in enumerate(shown) if {*counters} & {*sentence.evidence}]
        return sentence.rule == UNCHANGED, min(places, default=len(shown))

    return sorted(sentences, key=rank)


def _task(filter: Filter, row: Row) -> Task:
    return Task.of(Meta(filter.accepts, row.counted, row.dtype), row.params, row.knobs)


def _facts(row: Row, outputs: int, least_bytes: int) -> dict[str, Any]:
    """Counts for each element of the result."""
    found: dict[str, Any] = {name: value / outputs for name, value in row.counters.items()}
    return found | {"least_bytes": least_bytes / outputs, "launches": row.counters.get("launches", 0)}
