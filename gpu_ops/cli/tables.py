"""Results as text: aligned columns, each with its unit, every speed-up with the names of both sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from gpu_ops.counters import CATALOGUE, counter_name, in_order, value_of
from gpu_ops.explaining.sentences import number
from gpu_ops.report.bounds import bound_note, roofs_text
from gpu_ops.report.rows import Row
from gpu_ops.report.speedups import fair_bars, library_leads
from gpu_ops.report.sweeps import counts_of
from gpu_ops.run_key import EDITS, differences
from gpu_ops.stages import END_TO_END, STAGES, stage_column, stage_name
from gpu_ops.types import REFERENCE, Claim, Quality

BARS = {
    "cpu_one": "CPU, one core",
    "cpu_best": "CPU, best",
    "gpu_kernel": "GPU, kernel",
    "gpu_pageable": "GPU, from pageable memory",
    "gpu_pinned": "GPU, from pinned memory",
    "gpu_streamed": "GPU, pinned and streamed",
}
"""The names of the bars of the fair comparison."""


SHARES = ("share", "of peak", "of bound")
"""The headings of a time's shares: of the roof, of the data sheet's peak, and of the shortest time that a launch and
the memory that holds the buffers allow."""


def seconds(value: float | None) -> str:
    """A time with a suitable unit."""
    if value is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value / 1e-9:.4g} ns"


PRINTERS: Mapping[str, Callable[[float], str]] = {
    "count": number,
    "best": number,
    "ratio": lambda value: f"{value:.3g}",
    "duration": seconds,
}


def value_text(value: float, hint: str) -> str:
    """A value of a counter or a stage, formatted by the catalogue's hint."""
    return PRINTERS[hint](value)


def align(rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()) -> str:
    """Columns of equal width; those in `numbers` are right-aligned. The first row is the heading."""
    rows = [list(r) for r in rows]
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in numbers else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def align_filled(lines: Sequence[Sequence[str]], numbers: Collection[str]) -> str:
    """`align` without columns that are empty in every row; columns whose heading is in `numbers` are right-aligned."""
    columns = [i for i in range(len(lines[0])) if any(line[i] for line in lines[1:])]
    right = frozenset(place for place, i in enumerate(columns) if lines[0][i] in numbers)
    return align([[line[i] for i in columns] for line in lines], right)


def _time(row: Row, stage: str) -> str:
    median = row.seconds(stage)
    return "" if median is None else value_text(median, STAGES[stage].hint)


def names(rows: Sequence[Row]) -> list[str]:
    """A name for each row: its variant, with the settings that differ where several rows have one variant and
    device."""
    result = [row.variant for row in rows]
    for own in {(row.variant, row.device) for row in rows}:
        places = [i for i, row in enumerate(rows) if (row.variant, row.device) == own]
        for i, differing in zip(places, differences([rows[i].key for i in places]), strict=True):
            result[i] = " · ".join([result[i], *map(_setting, differing.items())])
    return result


def _setting(item: tuple[str, object]) -> str:
    return "edited" if item[0] == EDITS else f"{item[0]} {item[1]}"


def bench_table(rows: Sequence[Row], claim: Claim | None, baseline: str) -> str:
    """A comparison: time, spread, bandwidth, shares of the roof, of the data sheet's peak and of the bound, speed-up,
    end-to-end times, error, verdict, published."""
    kernel = stage_column("kernel", any(row.end_to_end for row in rows))
    whole = [stage_column(id) for id in END_TO_END]
    heading = ["variant", "device", kernel, "q1 … q3", "n", "GB/s", *SHARES, f"× {baseline}"]
    heading += [*whole, "error", "verdict"]
    if claim:
        heading.append(f"{claim.source} published")
    lines = [heading]
    for name, row in zip(names(rows), rows, strict=True):
        line = [name, row.device, *_timing_cells(row)]
        line += [_time(row, stage) for stage in END_TO_END]
        line += [error_text(row), verdict(row)]
        if claim:
            line.append(_published(row, claim, baseline))
        lines.append(line)
    return align_filled(lines, {kernel, "n", "GB/s", *SHARES, f"× {baseline}", *whole, "error"})


def roofs_block(found: Mapping[str, Mapping[str, float]]) -> str:
    """The roofs of devices, by their names in a report."""
    lines = []
    for name, roofs in found.items():
        first, *others = roofs_text(roofs)
        lines += [f"roofs      {name}: {first}", *(f"           {line}" for line in others)]
    return "\n".join(lines)


def _timing_cells(row: Row) -> list[str]:
    kernel = row.stages.get("kernel")
    if not kernel:
        return [""] * (5 + len(SHARES))
    speedup = row.speedup.stages.get("kernel") if row.speedup else None
    spread = f"{seconds(kernel.q1)} … {seconds(kernel.q3)}"
    shares = ["" if value is None else f"{value:.3f}" for value in row.shares]
    gbps = f"{row.gbps:.4g}" if row.gbps is not None else ""
    against = "unsure" if kernel.doubt else f"{speedup:.4g}" if speedup else ""
    return [seconds(kernel.median), spread, str(kernel.n), gbps, *shares, against]


def counted_table(rows: Sequence[Row]) -> str:
    """The counts of a simulated GPU in its rows, the most important counter for speed; "" where nothing was
    simulated."""
    simulated = [(name, row) for name, row in zip(names(rows), rows, strict=True) if row.simulated and row.counters]
    if not simulated:
        return ""
    id = in_order(id for _, row in simulated for id in row.counters)[0]
    heading = ["counted, never timed", "device", counter_name(id), "error", "verdict"]
    lines = [[name, r.device, number(r.counters.get(id, 0)), error_text(r), verdict(r)] for name, r in simulated]
    return align([heading, *lines], frozenset({2, 3}))


def sweep_table(id: str, points: Sequence[Mapping[str, str]], rows: Mapping[int, Sequence[Row]]) -> str:
    """The values of a counter: a line for each point, a column for each variant and device; "" where it has none."""
    columns = list(dict.fromkeys((one.variant, one.device) for own in rows.values() for one in own))
    several = len({device for _, device in columns}) > 1
    names = [f"{variant} on {device}" if several else variant for variant, device in columns]
    axes = list(points[0])
    lines = [[*axes, *names]]
    for place, point in enumerate(points):
        values = {(one.variant, one.device): counter_text(id, one) for one in rows[place]}
        lines.append([*(point[axis] for axis in axes), *(values.get(column, "") for column in columns)])
    filled = any(cell for line in lines[1:] for cell in line[len(axes) :])
    return align_filled(lines, {*axes, *names}) if filled else ""


def counter_text(id: str, row: Row) -> str:
    """A count of a right result; a wrong one's work is not compared."""
    if row.ok is False or row.failure:
        return verdict(row)
    value = value_of(id, counts_of(row))
    hint = next(counter.hint for counter in CATALOGUE if counter.id == id)
    return "" if value is None else value_text(value, hint)


def error_text(row: Row) -> str:
    """The largest error of a row; "" where it was not verified."""
    if row.error_max is None:
        return ""
    return "infinite" if math.isinf(row.error_max) else f"{row.error_max:.2g}"


def quality_table(rows: Sequence[Row]) -> str:
    """How close the input and the outputs are to the original without noise; "" without an original."""
    lines = [["against the original", "output", "SNR", "PSNR", "SSIM"]]
    for name, row in zip(names(rows), rows, strict=True):
        for output, q in row.quality.items():
            figures = (_change(q.before.snr, q.after.snr), _change(q.before.psnr, q.after.psnr))
            lines.append([name, output, *(f"{t} dB" if t else "" for t in figures), _ssim_text(q)])
    return align_filled(lines, ()) if len(lines) > 1 else ""


def _change(before: float | None, after: float | None, digits: str = ".2f") -> str:
    """A value before and after: "22.42 → 28.05"; "" where one is not defined."""
    return "" if before is None or after is None else f"{before:{digits}} → {after:{digits}}".replace("inf", "infinite")


def _ssim_text(quality: Quality) -> str:
    return _change(quality.before.ssim, quality.after.ssim, ".4f")


def verdict(row: Row) -> str:
    """Right, wrong, unverified, or the kind of failure."""
    if row.failure:
        return row.failure_kind
    if row.variant == REFERENCE:
        return "the definition"
    return {True: "right", False: "WRONG", None: "unverified"}[row.ok]


def _published(row: Row, claim: Claim, baseline: str) -> str:
    figure = claim.figures.get(row.variant)
    base = claim.figures.get(baseline)
    if figure is None:
        return ""
    ratio = f" (×{base / figure:.4g})" if base and row.variant != baseline else ""
    return seconds(figure) + ratio


def footnotes(rows: Sequence[Row]) -> str:
    """Failures, notes, flags and bounds, each once, with the names of their variants; then the libraries that are
    faster than all other variants."""
    owners: dict[str, list[str]] = {}
    row_names = names(rows)
    for name, row in zip(row_names, rows, strict=True):
        texts = [row.failure] if row.failure else list(row.notes)
        texts += [f["text"] for f in row.findings]
        doubts = {stage_name(stage, end_to_end=row.end_to_end): t.doubt for stage, t in row.stages.items()}
        texts += [f"{name}: {doubt}" for name, doubt in doubts.items() if doubt]
        for text in filter(None, [*texts, row.flag, bound_note(row)]):
            owners.setdefault(text, []).append(name)
    lines = [f"  {', '.join(dict.fromkeys(who))}: {text}" for text, who in owners.items()]
    for lead in library_leads(rows):
        slower = f"{row_names[lead.other]}, the fastest of the others on {rows[lead.other].device}"
        lines.append(f"  {row_names[lead.library]}: faster than {slower}, which takes {lead.ratio:.2f} times as long")
    return "\n".join(lines)


def fair_table(rows: Sequence[Row]) -> str:
    """The fair comparison: one core, the best of the CPU, the GPU's kernel, and the GPU with transfers from and to host
    memory."""
    row_names = names(rows)
    return "\n".join(
        f"  {BARS[bar.id]:26}{seconds(bar.timing.median):>10}  {row_names[bar.place]}"
        for bar in fair_bars(rows)
        if bar.place is not None and bar.timing is not None
    )
