"""The rows of a report: the bars of a ladder, what was counted, and a table of all figures, as texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from gpu_ops.counters import counted_in, counter_name, value_of
from gpu_ops.device_names import is_simulated
from gpu_ops.explaining.result_tables import duration
from gpu_ops.explaining.rungs import rung_before, why
from gpu_ops.explaining.sentences import number
from gpu_ops.filters import FILTERS
from gpu_ops.report.bounds import bound_note
from gpu_ops.report.changes import Change, change
from gpu_ops.report.machines import device_model
from gpu_ops.report.rows import Row
from gpu_ops.report.speedups import speedup
from gpu_ops.run_key import EDITS, differences
from gpu_ops.stages import stage_name
from gpu_ops.types import REFERENCE, Variant

COLOURS = {"cpu": "#b07a00", "cuda": "#0b6bb3"}


@dataclass(frozen=True)
class PageRow:
    """A row with the machine that it was recorded on, "" for this one, and the row that it is pinned to."""

    row: Row
    machine: str = ""
    pinned: Row | None = None

    @property
    def variant(self) -> Variant | None:
        """The row's variant; None where this version has no such one."""
        filter = next((f for f in FILTERS if f.id == self.row.filter), None)
        return next((v for v in filter.all_variants if v.id == self.row.variant), None) if filter else None

    @property
    def title(self) -> str:
        """The variant's title, else its id."""
        return self.variant.title if self.variant else self.row.variant

    @property
    def change(self) -> Change | None:
        """How its time changed since the pinned row."""
        return change(self.pinned, self.row) if self.pinned is not None else None


class Heading(NamedTuple):
    """A heading of the table, and whether its cells are numbers."""

    text: str
    number: bool = False


@dataclass(frozen=True)
class RowsOnPage:
    """Rows in the order of the page, and the one that speed-ups compare with. `pinned` says what changes are relative
    to."""

    rows: Sequence[PageRow]
    baseline: Row | None = None
    pinned: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """What the template shows of them."""
        measured = [one for one in self.rows if not is_simulated(one.row.device)]
        counted = [one for one in self.rows if is_simulated(one.row.device)]
        low, high = self._axis(measured)
        shown = _shown_counters(counted)
        base = self.baseline
        return {
            "measured": [self._measured(one, low, high) for one in measured],
            "counted": self._counted(counted, shown),
            "counters": [counter_name(id) for id in shown],
            "axis": (duration(low), duration(high)),
            "baseline": PageRow(base).title if base is not None else "",
            "pinned": self.pinned,
            "what_is_timed": stage_name("kernel", end_to_end=any(one.row.end_to_end for one in measured)),
            "headings": HEADINGS,
            "table": [self._cells(one) for one in self.rows],
            "notes": self._notes(),
        }

    def _axis(self, rows: Sequence[PageRow]) -> tuple[float, float]:
        """From a power of ten below the shortest time to the longest."""
        times = [t for one in rows if (kernel := one.row.stages.get("kernel")) for t in (kernel.median, kernel.q3)]
        if not times:
            return 1e-6, 1e-3
        low = 10.0 ** math.floor(math.log10(min(times) * 0.6))
        return low, max(max(times), 10 * low)

    @cached_property
    def names(self) -> list[str]:
        """A name for each row: its variant's title, and the settings that differ among rows of one variant, device and
        machine."""
        titles = [one.title for one in self.rows]
        groups: dict[tuple[str, str, str], list[int]] = {}
        for place, one in enumerate(self.rows):
            groups.setdefault((one.row.variant, one.row.device, one.machine), []).append(place)
        for places in groups.values():
            for place, own in zip(places, differences([self.rows[p].row.key for p in places]), strict=True):
                settings = ("edited" if name == EDITS else f"{name} {value_text(value)}" for name, value in own.items())
                titles[place] = " · ".join([titles[place], *settings])
        return titles

    def _name(self, one: PageRow) -> str:
        return next(name for name, other in zip(self.names, self.rows, strict=True) if other is one)

    def _measured(self, one: PageRow, low: float, high: float) -> dict[str, Any]:
        row, kernel, found = one.row, one.row.stages.get("kernel"), one.change
        kind = "cpu" if row.on_cpu else "cuda"

        def place(seconds: float) -> str:
            return f"{100 * min(1.0, max(0.0, math.log(seconds / low) / math.log(high / low))):.2f}"

        bar = None
        if kernel is not None and row.ok is not False:
            bar = {"width": place(kernel.median), "low": place(kernel.q1), "high": place(kernel.q3)}
            bar["colour"] = COLOURS[kind]
        return {
            "name": self._name(one),
            "device": row.device if one.machine else device_model(self.provenance, row.device) or row.device,
            "machine": one.machine,
            "bar": bar,
            "time": duration(kernel.median) if bar and kernel else "",
            "rate": f"{row.gbps:.4g}" if bar and row.gbps is not None else "",
            "shares": [f"{one:.0%}" if bar and one is not None else "" for one in row.shares],
            "speedup": self._speedup(one),
            "change": f"{found.percent} {found.verdict}" if found else "",
            "change_class": {"faster": "good", "slower": "bad"}.get(found.verdict, "muted") if found else "",
            "verdict": verdict_text(row),
            "verdict_class": _verdict_class(row),
            "reason": one.variant.idea if one.variant and one.variant.kernels and not one.machine else "",
        }

    def _speedup(self, one: PageRow) -> str:
        ratio = speedup(self.baseline, one.row) if self.baseline is not None and not one.machine else None
        return f"{ratio:.3g}" if ratio is not None else ""

    def _counted(self, rows: Sequence[PageRow], shown: Sequence[str]) -> list[dict[str, Any]]:
        most = {id: max((value_of(id, one.row.counters) or 0 for one in rows), default=0) or 1 for id in shown}
        result = []
        for place, one in enumerate(rows):
            before, idea = rung_before([other.row for other in rows], place), one.variant.idea if one.variant else ""
            sentences = [s.text for s in why(rows[before].row, one.row)] if before is not None else [idea]
            values = {id: value_of(id, one.row.counters) if one.row.ok is not False else None for id in shown}
            bars = [
                {"width": f"{100 * (value or 0) / most[id]:.2f}", "text": "–" if value is None else number(value)}
                for id, value in values.items()
            ]
            texts = {"name": self._name(one), "device": "simulated GPU", "machine": one.machine, "counts": bars}
            texts |= {"verdict": verdict_text(one.row), "verdict_class": _verdict_class(one.row)}
            result.append({**texts, "reason": sentences[0] if sentences else ""})
        return result

    def _cells(self, one: PageRow) -> list[str]:
        row, kernel = one.row, one.row.stages.get("kernel")
        ends = (row.seconds("elapsed"), row.seconds("elapsed_pinned"))
        error = "" if row.error_max is None else "infinite" if math.isinf(row.error_max) else f"{row.error_max:.2g}"
        return [
            self._name(one),
            f"{row.device}{f', recorded on {one.machine}' if one.machine else ''}",
            ", ".join(f"{name} {value_text(value)}" for name, value in row.knobs.items()),
            duration(kernel.median) if kernel else "",
            f"{duration(kernel.q1)} … {duration(kernel.q3)}" if kernel else "",
            f"{kernel.n}" if kernel else "",
            *("" if seconds is None else duration(seconds) for seconds in ends),
            error,
            "" if row.tolerance is None else f"{row.tolerance:.2g}",
            verdict_text(row),
        ]

    def _notes(self) -> list[str]:
        """Failures, notes, doubts, flags and bounds, each once, with the names of their rows."""
        owners: dict[str, list[str]] = {}
        for name, one in zip(self.names, self.rows, strict=True):
            row = one.row
            texts = [row.failure, *row.notes, *(str(f["text"]) for f in row.findings), row.flag, bound_note(row)]
            texts += [timing.doubt for timing in row.stages.values()]
            for text in dict.fromkeys(filter(None, texts)):
                owners.setdefault(text, []).append(name)
        return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in owners.items()]


def value_text(value: Any) -> str:
    """The value of a parameter or of a fact, its numbers with the minus sign."""
    if isinstance(value, list | tuple):
        return "; ".join(map(value_text, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value).replace("-", "−")


HEADINGS = (
    *(Heading("variant"), Heading("device"), Heading("knobs"), Heading("time", True), Heading("quartiles", True)),
    *(Heading("n", True), Heading("end to end", True), Heading("pinned", True), Heading("error", True)),
    *(Heading("allowed", True), Heading("verdict")),
)


def _shown_counters(rows: Sequence[PageRow]) -> tuple[str, ...]:
    """The counters that explain these ladders, else the first that was counted."""
    found = counted_in(one.row.counters for one in rows)
    ids = {one.row.filter for one in rows}
    declared = dict.fromkeys(id for filter in FILTERS if filter.id in ids for id in filter.shows if id in found)
    return tuple(declared) or found[:1]


def verdict_text(row: Row) -> str:
    """Right, wrong, unverified, or the kind of failure."""
    if row.failure:
        return row.failure_kind or "failed"
    if row.variant == REFERENCE:
        return "the definition"
    return {True: "✓ right", False: "✗ WRONG", None: "unverified"}[False if row.faulty else row.ok]


def _verdict_class(row: Row) -> str:
    return "bad" if row.failure or row.ok is False or row.faulty else "good" if row.ok else "muted"
