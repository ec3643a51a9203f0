"""Tables of recorded results as Markdown: each names its machine and roofs, and marks rows of older kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from gpu_ops.errors import KernelscopeError, ReportError
from gpu_ops.explaining.judging import RECORDED
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.files import read_report
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.machines import device_model
from gpu_ops.report.rows import Report, Row
from gpu_ops.report.speedups import library_leads, speedup
from gpu_ops.running.timing import compare
from gpu_ops.stages import END_TO_END

OLDER = "†"
"""The mark of a time whose kernel has changed since it was recorded."""
MARKER = re.compile(r"<!-- results: ([\w-]+) -->\n(.*?)<!-- end -->", re.DOTALL)
"""Matches a section of a Markdown file that a table fills."""
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True)
class Recorded:
    """Rows of the report `report` in resources/recorded, without ".json". `where` selects them by values: of shape,
    dtype, variant, a parameter, a knob, or an option of the input. A row without such a value is included too, because
    only some variants have a knob."""

    title: str
    report: str
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """Kernel times with their shares of the roof: a row per variant, a column per job, or with `turned` a row per job.
    Only `variants` are listed, or all of them. `corner` is the heading of the first column."""

    jobs: tuple[Recorded, ...]
    variants: tuple[str, ...] = ()
    turned: bool = False
    corner: str = "variant"


@dataclass(frozen=True)
class Details:
    """All measurements of one job: a row per variant."""

    job: Recorded


@dataclass(frozen=True)
class Overview:
    """A row per job: the processor, the first kernel of the ladder, the fastest one, and CuPy."""

    jobs: tuple[Recorded, ...]


@dataclass(frozen=True)
class Contest:
    """A row per job: the fastest kernel, the fastest library on the GPU, and the one that is faster."""

    jobs: tuple[Recorded, ...]


@dataclass(frozen=True)
class Ahead:
    """A row per job of all reports in which a library is faster than every kernel or compiled loop of its device; with
    the kernels of today that the report does not have."""


Table = Grid | Details | Overview | Contest | Ahead


def swept(
    report: str, name: str, values: Iterable[Any], where: Mapping[str, Any] | None = None
) -> tuple[Recorded, ...]:
    """The jobs of a sweep of `name` over these values."""
    return tuple(
        Recorded(f"{value:,}" if isinstance(value, int) else str(value), report, {**(where or {}), name: value})
        for value in values
    )


def table_text(table: Table) -> str:
    """The table as Markdown, and below it a line with its machine, roofs and marks. Raises ReportError where a report
    is missing or a job does not choose one row of each variant."""
    if isinstance(table, Ahead):
        used, lines = _ahead()
    else:
        jobs = (table.job,) if isinstance(table, Details) else table.jobs
        used = [(job.report, list(_rows(job).values())) for job in jobs]
        lines = _lines(table)
    text = "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])
    words = [] if isinstance(table, Details) else [_brackets(used)]
    words += [f"{OLDER} the kernel has changed since this was recorded"] if OLDER in text else []
    return f"{text}\n\n*{'; '.join([*_machines(used), *filter(None, words)])}.*\n"


def _lines(table: Grid | Details | Overview | Contest) -> list[list[str]]:
    """The heading and the rows of a table of chosen jobs."""
    if isinstance(table, Details):
        return _details(table.job)
    if isinstance(table, Overview):
        return _overview(table.jobs)
    return _contest(table.jobs) if isinstance(table, Contest) else _grid(table)


def rewritten(text: str, tables: Mapping[str, Table]) -> str:
    """A Markdown text with all its marked sections rewritten. Raises ReportError for an unknown table, and for a
    section without an end."""

    def section(found: re.Match[str]) -> str:
        name = found[1]
        if name not in tables:
            raise ReportError(f"There is no table {name!r}; choose from {', '.join(tables)}.")
        return f"<!-- results: {name} -->\n\n{table_text(tables[name])}\n<!-- end -->"

    if text.count("<!-- results:") != len(MARKER.findall(text)):
        raise ReportError("A section begins with <!-- results: NAME --> and ends with <!-- end -->; one here does not.")
    return MARKER.sub(section, text)


# ---------------------------------------------------------------- rows


@lru_cache(None)
def _report(name: str) -> Report:
    path = RECORDED / f"{name}.json"
    if not path.is_file():
        raise ReportError(f"{name} is no recorded report; choose one of {RECORDED.name}/*.json.")
    return read_report(path)


def _has(row: Row, name: str, wanted: Any) -> bool:
    own = {"shape": row.shape, "dtype": row.dtype, "variant": row.variant}
    for values in (own, row.params, row.knobs, row.input):
        if name in values:
            return bool(values[name] == wanted)
    return True


def _rows(job: Recorded) -> dict[str, Row]:
    """The timed rows of a job by variant, in the order of the registry."""
    found: dict[str, Row] = {}
    for row in _report(job.report).rows:
        if row.seconds("kernel") is not None and all(_has(row, *one) for one in job.where.items()):
            if row.variant in found:
                raise ReportError(f"{job.report} has several rows of {row.variant} for {job.title}; say more in where.")
            found[row.variant] = row
    if not found:
        raise ReportError(f"{job.report} has no timed rows for {job.title}.")
    return {id: found[id] for id in _ordered(found.values())}


def _ordered(rows: Iterable[Row]) -> list[str]:
    """The variants of these rows in the registry's order, then those no longer in it, then libraries on a GPU."""
    rows = list(rows)
    filters = {row.filter for row in rows}
    known = [v.id for f in FILTERS if f.id in filters for v in f.variants]
    ids = {row.variant for row in rows}
    ordered = [id for id in dict.fromkeys(known) if id in ids] + sorted(ids - set(known))
    peers = {row.variant for row in rows if row.device != "cpu" and not row.source_hash}
    return sorted(ordered, key=lambda id: id in peers)


def _title(row: Row) -> str:
    """The title of a row's variant; its id if the registry no longer has it."""
    try:
        return FILTERS.find(row.filter).variant(row.variant).title
    except KernelscopeError:
        return row.variant


# ---------------------------------------------------------------- cells


def duration(seconds: float) -> str:
    """A time with three digits, or four where the first one is 1, so that all are about equally precise."""
    unit, scale = next((one for one in UNITS if seconds >= one[1]), UNITS[-1])
    digits = 4 if f"{seconds / scale:e}".startswith("1") else 3
    return f"{seconds / scale:#.{digits}g}".rstrip(".") + f" {unit}"


def _share(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.1g}" if value < 0.01 else f"{value:.3f}"


def _cell(row: Row | None, named: bool = False) -> str:
    """A kernel time, with the share of the roof on a GPU; with `named` also the variant, before it."""
    if row is None:
        return ""
    share = f" ({_share(row.share)})" if row.share is not None and row.device != "cpu" else ""
    doubt = "" if row.is_comparable("kernel") else " unsure"
    name = f"{_title(row)}: " if named else ""
    return f"{name}{duration(row.stages['kernel'].median)}{share}{doubt}{_mark(row)}"


def _mark(row: Row) -> str:
    return f" {OLDER}" if has_older_kernels(row) else ""


def _heading(titles: set[str]) -> str:
    """The heading of a variant, which has another number on the ladder of each filter."""
    first = min(titles)
    return first if len(titles) == 1 else first.lstrip("0123456789 ")


def _grid(table: Grid) -> list[list[str]]:
    found = [(job, _rows(job)) for job in table.jobs]
    every: dict[str, set[str]] = {}
    for _, rows in found:
        for id, row in rows.items():
            every.setdefault(id, set()).add(_title(row))
    ids = [
        id
        for id in _ordered(row for _, rows in found for row in rows.values())
        if not table.variants or id in table.variants
    ]
    missing = set(table.variants) - set(ids)
    if missing:
        raise ReportError(f"No row is of {', '.join(sorted(missing))}.")
    if table.turned:
        heading = [table.corner, *(_heading(every[id]) for id in ids)]
        return [heading, *([job.title, *(_cell(rows.get(id)) for id in ids)] for job, rows in found)]
    heading = [table.corner, *(job.title for job, _ in found)]
    return [heading, *([_heading(every[id]), *(_cell(rows.get(id)) for _, rows in found)] for id in ids)]


HOST_MEMORY = dict(zip(END_TO_END, ("pageable", "pinned", "streamed"), strict=True))
"""What a stage end to end is called where the heading says that it is one."""


def _details(job: Recorded) -> list[list[str]]:
    rows = _rows(job)
    whole_stages = [s for s in END_TO_END if any(s in row.stages for row in rows.values())]
    memory = " / ".join(HOST_MEMORY[stage] for stage in whole_stages)
    lines = [["variant", "kernel", "share of roof", "× one core", f"end to end, {memory}", "error"]]
    for row in rows.values():
        ratio = speedup(rows["serial"], row) if "serial" in rows else None
        whole = [duration(t) for stage in whole_stages if (t := row.seconds(stage)) is not None]
        share = "" if row.share is None or row.device == "cpu" else f"{row.share:.3f}"
        error = "" if row.error_max is None else f"{row.error_max:.1e}"
        times = "" if row.device == "cpu" else " / ".join(whole)
        lines.append(
            [
                _title(row),
                duration(row.stages["kernel"].median) + _mark(row),
                share,
                f"{ratio:.3g}" if ratio else "",
                times,
                error,
            ]
        )
    return lines


def _overview(jobs: Sequence[Recorded]) -> list[list[str]]:
    lines = [["job", "CPU, one core", "CPU, all cores", "first kernel", "fastest kernel", "CuPy"]]
    for job in jobs:
        rows = _rows(job)
        kernels = [row for row in rows.values() if row.source_hash]
        fastest = min(kernels, key=lambda row: row.stages["kernel"].median)
        peers = [row for row in rows.values() if row.device != "cpu" and not row.source_hash]
        peer = min(peers, key=lambda row: row.stages["kernel"].median, default=None)
        processor = [_cell(rows.get(id)) for id in ("serial", "parallel")]
        lines.append([job.title, *processor, _cell(kernels[0]), _cell(fastest, True), _cell(peer)])
    return lines


def _contest(jobs: Sequence[Recorded]) -> list[list[str]]:
    lines = [["job", "fastest kernel", "fastest library on the GPU", "faster"]]
    for job in jobs:
        rows = [row for row in _rows(job).values() if row.device != "cpu"]
        kernel, library = (
            min((row for row in rows if bool(row.source_hash) == own), key=_time, default=None) for own in (True, False)
        )
        lines.append([job.title, _cell(kernel, True), _cell(library, library is not None), _faster(kernel, library)])
    return lines


def _time(row: Row) -> float:
    return row.stages["kernel"].median


def _faster(kernel: Row | None, library: Row | None) -> str:
    """Which of the two is faster, and how many times, by the rule of all comparisons."""
    if kernel is None or library is None:
        return ""
    verdict, ratio = compare(kernel.stages["kernel"], library.stages["kernel"]), _time(library) / _time(kernel)
    if verdict == "same":
        return "the same"
    return f"kernel, {ratio:.2f} ×" if verdict == "faster" else f"library, {1 / ratio:.2f} ×"


def _ahead() -> tuple[Used, list[list[str]]]:
    lines = [["job", "on", "library", "fastest other variant", "ratio", "kernels that the record does not have"]]
    used: Used = []
    for path in sorted(RECORDED.glob("*.json")):
        rows = _report(path.stem).rows
        for library, other, ratio in library_leads(rows):
            row = rows[library]
            ids = {one.variant for one in rows if one.job == row.job}
            new = [v.title for v in FILTERS.find(row.filter).variants if v.kernels and v.id not in ids]
            used.append((path.stem, [row, rows[other]]))
            on, since = ("processor", "") if row.device == "cpu" else ("GPU", ", ".join(new))
            lines.append([_job_title(row), on, _cell(row, True), _cell(rows[other], True), f"{ratio:.2f}", since])
    return used, lines


def _job_title(row: Row) -> str:
    """A job by its filter, the size and type of its input, and the parameters that are not at their defaults."""
    filter = FILTERS.find(row.filter)
    usual = {p.name: p.default for p in filter.params}
    size = INPUT_KINDS[filter.accepts].size_text(row.shape)
    return ", ".join([filter.title, size, row.dtype, *(f"{n} {v}" for n, v in row.params.items() if v != usual.get(n))])


# ---------------------------------------------------------------- the line below


Used = list[tuple[str, list[Row]]]
"""The rows that a table shows, each group with the name of its report."""


def _brackets(used: Used) -> str:
    rows = [row for _, group in used for row in group]
    kinds = sorted({row.roof.kind for row in rows if row.roof and row.device != "cpu"})
    return f"in brackets the share of the {' or '.join(kinds)} roof" if kinds else ""


def _machines(used: Used) -> list[str]:
    """Each machine of these rows, in their order."""
    groups: dict[str, Used] = {}
    for one in used:
        groups.setdefault(_prefix(one[0]), []).append(one)
    return [_machine(prefix, some) for prefix, some in groups.items()]


def _prefix(report: str) -> str:
    """The prefix of a report's name, which is its machine: h200-box-8192 is of the machine h200."""
    return report.split("-")[0]


def _machine(prefix: str, used: Used) -> str:
    """One machine: its GPU, its processor where that was timed, and the roofs of the GPU."""
    reports = [_report(name) for name, _ in used]
    rows = [row for _, group in used for row in group]
    roofs = {"copy": [roof for report in reports if (roof := _copy_roof(report)) is not None], "read": []}
    for row in rows:
        if row.roof is not None and row.device != "cpu":
            roofs[row.roof.kind].append(row.roof.bytes_s)
    named = [f"{kind} roof {_span(values)} TB/s" for kind, values in roofs.items() if values]
    timed, first = any(row.device == "cpu" for row in rows), reports[0].provenance
    processor = f" with {first.get('threads')} threads of an {first.get('cpu')}" if timed else ""
    return ", ".join([f"{_gpu_model(prefix)}{processor}", *named])


def _span(values: Sequence[float]) -> str:
    low, high = (f"{one / 1e12:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _copy_roof(report: Report) -> float | None:
    devices = report.provenance.get("devices", {})
    found = [float(d["roofs"]["copy_bytes_s"]) for name, d in devices.items() if name != "cpu" and "roofs" in d]
    return found[0] if found else None


@lru_cache(None)
def _gpu_model(prefix: str) -> str:
    """The GPU of a machine. Reports of the processor alone do not name it, the others do."""
    for path in sorted(RECORDED.glob(f"{prefix}-*.json")):
        provenance = _report(path.stem).provenance
        models = [device_model(provenance, name) for name in provenance.get("devices", {}) if name != "cpu"]
        if any(models):
            return next(model for model in models if model)
    raise ReportError(f"No report of {prefix} names its GPU.")
