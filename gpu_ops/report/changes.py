"""How rows changed since others of the same variants on the same job: by how much, and whether the spread allows to say
so."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from gpu_ops.counters import value_of
from gpu_ops.report.rows import Row
from gpu_ops.running.timing import compare

Verdict = Literal["faster", "slower", "same", "unsure"]


class Change(NamedTuple):
    """The time of a stage over that before, and what follows from the quartiles."""

    ratio: float
    verdict: Verdict

    @property
    def percent(self) -> str:
        """By how much the time changed: "−12.3 %", "+4 %", "×3.4" from three times on."""
        return percent_text(self.ratio)


def percent_text(ratio: float) -> str:
    """A ratio of two values as a change with its sign; from three times on as a factor."""
    if ratio >= 3:
        return f"×{ratio:.3g}"
    value = 100 * (ratio - 1)
    digits = 1 if abs(value) < 9.95 else 0
    text = f"{abs(value):.{digits}f} %"
    return f"±{text}" if not float(f"{abs(value):.{digits}f}") else f"{'−' if value < 0 else '+'}{text}"


def change(before: Row, after: Row, stage: str = "kernel") -> Change | None:
    """How the time of a stage changed; None where one of the two was not timed or is wrong."""
    old, new = before.stages.get(stage), after.stages.get(stage)
    if old is None or new is None or before.ok is False or after.ok is False or before.simulated or after.simulated:
        return None
    return Change(new.median / old.median, compare(new, old))  # type: ignore[arg-type]


def count_change(before: Row, after: Row, counter: str) -> float | None:
    """The ratio of a counter or figure of two simulated rows; None where one has none, or the one before is 0."""
    old, new = value_of(counter, before.counters), value_of(counter, after.counters)
    return new / old if old and new is not None and before.ok is not False and after.ok is not False else None


def subject_of(row: Row) -> Hashable:
    """What two rows must share to be compared over time: all but knobs, edits, kernels and protocol."""
    return (row.variant, row.device, *row.job, json.dumps(row.input, sort_keys=True))


@dataclass(frozen=True)
class Pair:
    """The rows of two reports of one measurement, compared by a stage; one of them is missing where a report lacks
    it."""

    before: Row | None
    after: Row | None
    stage: str = "kernel"

    @property
    def row(self) -> Row:
        """One of the two."""
        row = self.after or self.before
        assert row is not None
        return row

    @property
    def change(self) -> Change | None:
        """How the time changed."""
        return change(self.before, self.after, self.stage) if self.before and self.after else None

    @property
    def verdict(self) -> str:
        """Faster, slower, same or unsure; "wrong" or "failed" where it was not before; "added", "removed"; "untimed"
        where neither has a time."""
        before, after = self.before, self.after
        if before is None or after is None:
            return "added" if before is None else "removed"
        if after.ok is False and before.ok is not False:
            return "wrong"
        if after.failure and not before.failure:
            return "failed"
        found = self.change
        return found.verdict if found else "untimed"

    @property
    def regressed(self) -> bool:
        """Whether the second report is worse."""
        return self.verdict in ("slower", "wrong", "failed")


def pairs(before: Sequence[Row], after: Sequence[Row], stage: str = "kernel") -> list[Pair]:
    """The rows of two reports by their measurements, in the order of the second; what only the first has comes last.
    Rows of other knobs are the same measurement where each report has a single row of the variant on that job."""
    old, new = _by_measurement(before), _by_measurement(after)
    alone_before, alone_after = _alone(old.values()), _alone(new.values())
    taken: set[Hashable] = set()
    found = []
    for key, row in new.items():
        match = key if key in old else None
        if match is None and (subject := subject_of(row)) in alone_before and subject in alone_after:
            match = _measurement(alone_before[subject])
        if match is not None:
            taken.add(match)
        found.append(Pair(old[match] if match is not None else None, row, stage))
    return [*found, *(Pair(row, None, stage) for key, row in old.items() if key not in taken)]


def _measurement(row: Row) -> Hashable:
    """What a row measures, whatever its kernels are at the time."""
    return replace(row.key, edits=""), subject_of(row)


def _by_measurement(rows: Iterable[Row]) -> dict[Hashable, Row]:
    """The last row of each measurement."""
    return {_measurement(row): row for row in rows}


def _alone(rows: Iterable[Row]) -> dict[Hashable, Row]:
    """The rows that are the only ones of their variant on a job."""
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault(subject_of(row), []).append(row)
    return {subject: own[0] for subject, own in groups.items() if len(own) == 1}
