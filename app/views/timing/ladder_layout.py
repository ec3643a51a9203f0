"""The layout of the ladder: boxes only, no painting, so that tests can check that nothing overlaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from app.base.numbers import NONE
from app.base.terms import stage_column, stage_name
from app.models.results.entry import Entry, FairBar
from app.models.results.leads import in_order_of_time, lead_notes
from app.models.results.results import Results
from app.models.results.rungs import rung_sentences
from app.views.timing.ladder_axis import BAR_STAGES, MARKS, Axis, all_times, axis_for
from app.views.timing.ladder_counted import Bar, CountedBars
from app.views.timing.row_text import (
    cache_note,
    clock_name,
    entry_texts,
    failure_text,
    fair_texts,
    knobs_text,
    speedup_heading,
    state_text,
    sub_text,
    translate,
    verdict,
)
from gpu_ops.device_names import device_kind

COLUMNS = ("kernel", "rate", "share", "speedup", "change", "error", "verdict")
DROPPED_FIRST = ((), ("error",), ("error", "rate"), ("error", "rate", "share"), ("error", "rate", "share", "speedup"))
JUDGED = ("error", "verdict")
"""Columns that simulated rows have too; the others show times."""


@dataclass(frozen=True)
class Line:
    """One row with its texts; either `entry` or `fair` is set. `counted` are the bars of a simulated row, `reason`
    explains why it differs from the previous variant."""

    rect: QRectF
    name: QRectF
    sub: QRectF
    bars: QRectF
    cells: Mapping[str, QRectF]
    texts: Mapping[str, str]
    entry: Entry | None = None
    fair: FairBar | None = None
    counted: tuple[Bar, ...] = ()
    reason: QRectF = field(default_factory=QRectF)


@dataclass(frozen=True)
class Section:
    """Lines that share a time axis, or the columns of a simulated section, whose `names` are those of counters."""

    title: str
    heading: QRectF
    axis: Axis
    axis_box: QRectF
    heads: Mapping[str, QRectF]
    lines: tuple[Line, ...]
    show_axis: bool = True
    names: Mapping[str, QRectF] = field(default_factory=dict)
    is_counted: bool = False


@dataclass(frozen=True)
class LegendItem:
    rect: QRectF
    kind: str
    text: str


@dataclass(frozen=True)
class Geometry:
    """The layout of the whole ladder."""

    width: float
    height: float
    narrow: bool
    legend: tuple[LegendItem, ...]
    sections: tuple[Section, ...]
    columns: tuple[str, ...]
    headings: Mapping[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for section in self.sections for line in section.lines)


class Builder:
    """Lays the ladder out for a width and a font: the rows of `counters` with a bar for each, and where `reasons` are
    wanted, why each row differs from the rung before. A `compact` one is narrow, and counted rows take two lines:
    their device is in the section's title, and their reason is shortened to a line."""

    def __init__(
        self,
        width: float,
        font: QFontMetricsF,
        small: QFontMetricsF,
        results: Results,
        log: bool,
        counters: Sequence[str] = (),
        reasons: bool = True,
        compact: bool = False,
    ) -> None:
        self.width, self.font, self.small, self.results, self.log = width, font, small, results, log
        self.counters = counters
        self.unit = font.height()
        self.margin = self.unit * 0.6
        self.entries = results.entries()
        self.measured = in_order_of_time([e for e in self.entries if not e.simulated])
        self.simulated = [e for e in self.entries if e.simulated]
        self.has_times, self.has_counts = any(all_times(self.measured)), any(e.counters for e in self.simulated)
        bars = results.fair_bars()
        self.fair = bars if any(b.seconds for b in bars) else ()
        sentences = rung_sentences(self.entries) if reasons else {}
        self.texts = {e.slot: {**entry_texts(e, results), "reason": sentences.get(e.slot, "")} for e in self.entries}
        # Verdicts and states come and go with every frame, and must not move the columns.
        self.verdicts = [verdict(replace(e, current=True)) for e in self.entries]
        self.headings = {
            "kernel": stage_column("kernel", results.end_to_end),
            "rate": translate("Rows", "rate"),
            "share": translate("Rows", "of roof"),
            "speedup": speedup_heading(results),
            "change": translate("Rows", "vs pinned"),
            "error": translate("Rows", "error"),
            "verdict": translate("Rows", "verdict"),
        }
        self.compact = compact
        self._choose_columns()
        span = (self.bar_left, self.bar_left + self.bar_width + (0.0 if self.narrow else self.timed + self.unit * 0.5))
        pinned = {e.slot: row for e in self.simulated if (row := results.pinned(e)) is not None}
        self.bars = CountedBars(counters, self.simulated, span, self.unit, small, self.narrow, pinned, self.compact)

    # ---------------------------------------------------------------- columns

    def _column_width(self, name: str) -> float:
        texts = self.verdicts if name == "verdict" else [t[name] for t in self.texts.values()]
        widest = max(map(self.font.horizontalAdvance, texts), default=0.0)
        widest += self.unit * 1.2 if name == "verdict" else 0.0
        if name == "kernel":
            widest = max([widest, *(self.font.horizontalAdvance(fair_texts(b)["kernel"]) for b in self.fair)])
        return max(widest, self._heading_width(name)) + self.unit

    def _heading_width(self, name: str) -> float:
        """The minimum width at which a heading takes at most two lines; a very long one is shortened."""
        words = self.headings[name].split()
        widths = [
            max(self.small.horizontalAdvance(" ".join(part)) for part in (words[:k], words[k:]) if part)
            for k in range(1, len(words) + 1)
        ]
        return min(min(widths, default=0.0) + 2, 9 * self.unit)

    def _choose_columns(self) -> None:
        titles = [*(e.name for e in self.entries), *(b.title for b in self.fair)]
        whole = max(map(self.font.horizontalAdvance, titles), default=0.0) + self.unit
        wanted = max([whole, *(self._sub_width(replace(e, state="running")) + self.unit for e in self.entries)])
        self.name_width = min(wanted, max(self.width * 0.28, whole), 22 * self.unit)
        cells = {c: [t[c] for t in self.texts.values()] for c in COLUMNS} | {"verdict": self.verdicts}
        filled = {c for c, texts in cells.items() if any(texts)}
        for dropped in DROPPED_FIRST:
            self.columns = tuple(c for c in COLUMNS if c in filled and c not in dropped)
            self.widths = {c: self._column_width(c) for c in self.columns}
            self.timed = sum(width for c, width in self.widths.items() if c not in JUDGED)
            room = self.width - 2 * self.margin - self.name_width - sum(self.widths.values())
            if room >= 11 * self.unit and not self.compact and (self.has_times or self.has_counts):
                self.narrow, self.bar_left, self.bar_width = False, self.margin + self.name_width, room - self.unit
                return
        self.narrow, self.bar_left, self.bar_width = True, self.margin, self.width - 2 * self.margin

    # ---------------------------------------------------------------- building

    def build(self) -> Geometry:
        top = self.margin
        legend, top = self._legend(top)
        sections: list[Section] = []
        if self.measured:
            section, top = self._section(self.measured, top)
            sections.append(section)
        if self.simulated:
            section, top = self._counted_section(top + (self.unit * 0.5 if sections else 0.0))
            sections.append(section)
        if self.fair and sections:
            section, top = self._fair_section(sections[0].axis, top + self.unit * 0.5)
            sections.append(section)
        return Geometry(
            self.width, top + self.margin, self.narrow, legend, tuple(sections), self.columns, self.headings
        )

    def _legend(self, top: float) -> tuple[tuple[LegendItem, ...], float]:
        items: list[LegendItem] = []
        x, gap = self.margin, self.unit * 1.2
        for kind, text in legend_texts(self.entries):
            width = min(self.small.horizontalAdvance(text) + self.unit * 1.6, self.width - 2 * self.margin)
            if x > self.margin and x + width > self.width - self.margin:
                x, top = self.margin, top + self.unit * 1.1
            items.append(LegendItem(QRectF(x, top, width, self.unit), kind, text))
            x += width + gap
        top += self.unit * 1.1 if items else 0.0
        for note in dict.fromkeys([*lead_notes(self.measured), *map(cache_note, self.entries)]):
            if note:
                rect = self._wrapped(note, self.margin, top)
                items.append(LegendItem(rect, "note", note))
                top = rect.bottom()
        return tuple(items), top + (self.unit * 0.4 if items else 0.0)

    def _cells(self, counted: bool, top: float, height: float) -> dict[str, QRectF]:
        """The boxes of a line's columns; the bars of counters replace all times."""
        x, gap = self.bar_left + self.bar_width + self.unit, self.unit * 0.5
        cells: dict[str, QRectF] = {}
        for name in self.columns:
            if name in JUDGED or not counted:
                cells[name] = QRectF(x, top, self.widths[name] - gap, height)
            x += self.widths[name]
        return cells

    def _heading_lines(self) -> int:
        wide = any(
            self.small.horizontalAdvance(self.headings[c]) > self.widths[c] - self.unit * 0.5 for c in self.columns
        )
        return 2 if wide else 1

    def _axis_span(self) -> tuple[float, float]:
        """The axis inside the bar box: with space for the arrows on its left and for a mark on its right."""
        return self.bar_left + self.unit * 1.1, self.bar_left + self.bar_width - self.unit * 0.6

    def _section(self, entries: Sequence[Entry], top: float) -> tuple[Section, float]:
        """The section of measured rows; without a time it has no axis."""
        tall = self.unit * 1.3 * (self.has_times if self.narrow else self._heading_lines())
        heading, heads = QRectF(), {} if self.narrow else self._cells(False, top, tall)
        box = QRectF(self.bar_left, top + tall - self.unit * 1.3, self.bar_width, self.unit * 1.3)
        axis_box = box if self.has_times else QRectF()
        top += tall
        axis = axis_for(all_times(entries), *self._axis_span(), self.log)
        lines, top = self._lines(entries, top)
        return Section("", heading, axis, axis_box, heads, lines, self.has_times), top

    def _counted_section(self, top: float) -> tuple[Section, float]:
        """The section of simulated rows, with a bar for each counter; they give no times."""
        title = translate("Rows", "Counted work (simulated)")
        heading = QRectF(self.margin, top, self.width - 2 * self.margin, self.unit * 1.5)
        tall = self.bars.head_height if self.narrow else max(self.bars.head_height, self.unit * 1.3)
        heads = {} if self.narrow else self._cells(True, heading.bottom(), tall)
        names = self.bars.heads(heading.bottom() + tall - self.bars.head_height)
        lines, top = self._lines(self.simulated, heading.bottom() + tall)
        axis = axis_for([], *self._axis_span(), False)
        return Section(title, heading, axis, QRectF(), heads, lines, False, names, True), top

    def _lines(self, entries: Sequence[Entry], top: float) -> tuple[tuple[Line, ...], float]:
        lines = []
        for entry in entries:
            lines.append(self._line(top, self.texts[entry.slot], entry=entry))
            top = lines[-1].rect.bottom()
        return tuple(lines), top

    def _fair_section(self, axis: Axis, top: float) -> tuple[Section, float]:
        """The bars of the fair comparison, on the axis of the measured rows; it is drawn again if a simulated section
        is in between."""
        titled, again = self.unit * 1.7, self.unit * 1.3 if self.simulated else 0.0
        heading = QRectF(self.margin, top, self.width - 2 * self.margin, titled)
        box = QRectF(self.bar_left, heading.bottom(), self.bar_width, again)
        top = box.bottom()
        lines = []
        for bar in self.fair:
            lines.append(self._line(top, fair_texts(bar), fair=bar))
            top = lines[-1].rect.bottom()
        title = translate("Rows", "The fair comparison")
        return Section(title, heading, axis, box, {}, tuple(lines), show_axis=bool(again)), top

    def _line(
        self, top: float, texts: Mapping[str, str], entry: Entry | None = None, fair: FairBar | None = None
    ) -> Line:
        return (self._narrow_line if self.narrow else self._wide_line)(top, texts, entry, fair)

    def _wide_line(self, top: float, texts: Mapping[str, str], entry: Entry | None, fair: FairBar | None) -> Line:
        unit = self.unit
        simulated = entry is not None and entry.simulated
        height = max(unit * (2.5 if entry else 1.5), self.bars.height + unit * 0.5 if simulated else 0.0)
        height -= unit * 0.3 if texts.get("reason") else 0.0
        reason = self._reason(texts, self.bar_left, top + height)
        rect = QRectF(0, top, self.width, height + reason.height())
        name_top = top + unit * 0.25
        width = self.name_width - unit * 0.6
        name = QRectF(self.margin, name_top, width, unit)
        sub = QRectF(self.margin, name_top + unit, width, unit if entry else 0)
        bars = QRectF(self.bar_left, top + unit * 0.25, self.bar_width, height - unit * 0.4)
        cells = self._cells(simulated, top, height)
        counted = self.bars.bars(entry, bars.center().y() - self.bars.height / 2) if entry and simulated else ()
        if not entry:
            x = self.bar_left + self.bar_width + unit
            first = self.widths.get("kernel", 5 * unit)
            cells = {}
            cells["kernel"] = QRectF(x, top, first - unit * 0.5, height)
            cells["who"] = QRectF(x + first, top, self.width - self.margin - x - first, height)
        return Line(rect, name, sub, bars, cells, texts, entry, fair, counted, reason)

    def _reason(self, texts: Mapping[str, str], left: float, top: float) -> QRectF:
        """The box of the sentence below a row, as high as needed."""
        text = texts.get("reason", "")
        if not text:
            return QRectF()
        return self._wrapped("" if self.compact else text, left, top)

    def _wrapped(self, text: str, left: float, top: float) -> QRectF:
        """The box of a small text of several lines, one at least, to the right margin."""
        room = QRectF(left, top, self.width - self.margin - left, 100 * self.unit)
        tall = self.small.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()
        return QRectF(left, top, room.width(), max(tall, self.small.height()) + self.unit * 0.2)

    def _narrow_line(self, top: float, texts: Mapping[str, str], entry: Entry | None, fair: FairBar | None) -> Line:
        """Lay out name and verdict, then the row's description with its numbers, then the bar."""
        if fair:
            return self._narrow_fair(top, texts, fair)
        assert entry is not None
        unit, inner = self.unit, self.width - 2 * self.margin
        name, right = self._ends(top + unit * 0.25, texts.get("verdict", ""))
        shown = [texts[c] for c in ("kernel", "rate", "share", "speedup") if texts[c] and texts[c] != NONE]
        shown += [f"{self.headings['change']} {texts['change']}"] if texts["change"] else []
        words = "" if (self.has_counts if entry.simulated else self.has_times) else failure_text(entry)
        barless = not (self.has_counts if entry.simulated else self.has_times) and self._fits(entry, words)
        shown += [words] if words and barless else []
        summary = {**texts, "summary": " · ".join(shown)}
        # If the description leaves no space, even with shortened knobs, the numbers get their own line.
        figures = min(self.small.horizontalAdvance(summary["summary"]) + 2, inner)
        beside = bool(shown) and self._fits(entry, summary["summary"])
        bare = self.compact and entry.simulated and not (entry.recorded or entry.part or state_text(entry))
        sub = QRectF(self.margin, name.bottom(), inner - figures if beside else inner, 0.0 if bare else unit)
        y = sub.top() if beside else sub.bottom()
        cell = QRectF(self.margin + inner - figures, y, figures, unit if shown else 0)
        y = max(cell.bottom(), sub.bottom()) + unit * 0.05
        counted = self.bars.bars(entry, y) if entry.simulated else ()
        height = self.bars.height if counted else 0.0 if barless else unit * 1.5
        bars = QRectF(self.bar_left, y, self.bar_width, height)
        reason = self._reason(texts, self.margin, bars.bottom() + unit * 0.2)
        rect = QRectF(0, top, self.width, max(bars.bottom(), reason.bottom()) + unit * 0.15 - top)
        return Line(rect, name, sub, bars, {"verdict": right, "summary": cell}, summary, entry, None, counted, reason)

    def _fits(self, entry: Entry, text: str) -> bool:
        """Whether a small text fits into the line of a row's description, with its knobs shortened."""
        inner = self.width - 2 * self.margin
        figures = min(self.small.horizontalAdvance(text) + 2, inner)
        return self._sub_width(entry, knobs_text(entry.row)) + figures <= inner

    def _narrow_fair(self, top: float, texts: Mapping[str, str], fair: FairBar) -> Line:
        """Lay out title and time, then the variant, then the bar; one line if it was not measured."""
        unit, measured = self.unit, fair.seconds is not None
        name, right = self._ends(top + unit * 0.2, texts["kernel" if measured else "who"])
        if not measured and self.font.horizontalAdvance(fair.title) > name.width():
            texts = {**texts, "who": NONE}
            name, right = self._ends(top + unit * 0.2, NONE)
        rows = unit if measured else 0.0
        sub = QRectF(self.margin, name.bottom(), self.width - 2 * self.margin, rows)
        bars = QRectF(self.bar_left, sub.bottom(), self.bar_width, rows * 0.8)
        rect = QRectF(0, top, self.width, bars.bottom() + unit * 0.2 - top)
        cells = {"kernel": right, "who": sub} if measured else {"who": right}
        return Line(rect, name, QRectF(), bars, cells, texts, fair=fair)

    def _ends(self, top: float, tail: str) -> tuple[QRectF, QRectF]:
        """The boxes of a line's name and, on the right, of `tail` with its symbol."""
        inner = self.width - 2 * self.margin
        width = min(self.font.horizontalAdvance(tail) + self.unit * 1.6, inner * 0.5)
        return QRectF(self.margin, top, inner - width, self.unit), QRectF(
            self.margin + inner - width, top, width, self.unit
        )

    def _sub_width(self, entry: Entry, less: str = "") -> float:
        """The width of a row's description without what may be shortened; chips are wider than their words."""
        return self.small.horizontalAdvance(sub_text(entry)) - self.small.horizontalAdvance(less) + 2 * self.unit


def legend_texts(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """The entries of the legend, each with its clocks."""
    copying = any(entry.timed.end_to_end for entry in entries if entry.timed)
    words = {
        "cpu": translate("Rows", "{stage}, CPU").format(stage=stage_name("kernel", "cpu")),
        "kernel": translate("Rows", "{stage}, GPU").format(stage=stage_name("kernel", "", copying)),
        **{stage: stage_name(stage) for stage in ("upload", "download", *MARKS)},
    }
    clocks: dict[str, dict[str, None]] = {kind: {} for kind in words}
    for entry in entries:
        for stage in (*BAR_STAGES, *MARKS):
            if found := entry.stage(stage):
                kind = "cpu" if stage == "kernel" and device_kind(entry.device) == "cpu" else stage
                clocks[kind][clock_name(found.clock)] = None
    items = [(kind, f"{words[kind]} · {' / '.join(used)}") for kind, used in clocks.items() if used]
    if any(e.seconds("kernel") is not None for e in entries):
        items.append(("quartiles", translate("Rows", "quartiles")))
    if any(e.shortest is not None for e in entries):
        items.append(("bound", translate("Rows", "bound by a launch and memory")))
    if any(e.simulated for e in entries):
        items.append(("simulated", translate("Rows", "counted, simulated")))
    if any(e.recorded for e in entries):
        items.append(("recorded", translate("Rows", "recorded elsewhere")))
    return [*items, ("stale", translate("Rows", "stale"))] if any(e.state == "stale" for e in entries) else items
