"""Reads a report of Nsight Compute: a .ncu-rep through NVIDIA's module ncu_report, or what `ncu --csv` prints.

The counters are those that follow from addresses. Their names are those of `ncu --query-metrics` (2025.3), and in the
tables of a page "source" those of the columns.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_ops.errors import ReportError, plain
from gpu_ops.io.regular import require_regular
from gpu_ops.version import install, upgrade

SUFFIXES = (".ncu-rep", ".csv")
LARGEST = 256 << 20
"""The most bytes of a report that is read."""
SECTORS, IDEAL = "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal"
WAVEFRONTS, IDEAL_WAVEFRONTS = "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal"
METRICS: Mapping[str, str] = {
    SECTORS: "L2 Theoretical Sectors Global",
    IDEAL: "L2 Theoretical Sectors Global Ideal",
    WAVEFRONTS: "L1 Wavefronts Shared",
    IDEAL_WAVEFRONTS: "L1 Wavefronts Shared Ideal",
    "inst_executed": "Instructions Executed",
}
"""The metrics that are read, and their columns on the page "source"."""
_LINES = "ncu --import REPORT --csv --page source --print-source cuda,sass"
Place = tuple[str, int]


@dataclass(frozen=True)
class ProfiledLaunch:
    """A launch as Nsight Compute saw it. `lines` has metrics by file and line, empty if the report has none, and NaN
    where one of a line is not a number; a total that was not collected, or is not a number, is missing. `architecture`
    is such as sm_90, "" if unknown, and so are the other texts; `grid` and `block` are () if unknown."""

    kernel: str
    card: str = ""
    architecture: str = ""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    totals: Mapping[str, float] = field(default_factory=dict)
    lines: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)


def read_profile(path: str | Path) -> list[ProfiledLaunch]:
    """The launches of a report. Raises ReportError where it is none, or where the module that reads it is missing,
    InputError for a name without a file."""
    file = Path(path)
    if file.suffix not in SUFFIXES:
        endings = " or ".join(SUFFIXES)
        raise ReportError(f"{plain(file)} is no report of Nsight Compute; its name must end in {endings}.")
    require_regular(file, "a profile")
    size = file.stat().st_size
    if size > LARGEST:
        raise ReportError(f"{plain(file)} is larger than {LARGEST >> 20} MiB; profile fewer launches (ncu -c 1).")
    launches = list(_of_report(file) if file.suffix == ".ncu-rep" else _of_table(file))
    if not launches:
        raise ReportError(f"{plain(file)} has no kernel; {_LINES} prints one that can be read.")
    return launches


# A .ncu-rep


def _of_report(file: Path) -> Iterator[ProfiledLaunch]:
    try:
        import ncu_report
    except ImportError:
        raise ReportError(
            f"Reading {plain(file.name)} needs NVIDIA's module ncu_report: {install('ncu')}; "
            f"or read the output of {_LINES}."
        ) from None
    try:
        context = ncu_report.load_report(str(file))
        if context is None:
            raise ValueError("it is damaged, or of a newer version than the module")
        ranges = [context.range_by_idx(n) for n in range(context.num_ranges())]
        for actions in ranges:
            for number in range(actions.num_actions()):
                yield _of_action(actions.action_by_idx(number))
    except (RuntimeError, ValueError, AttributeError, TypeError) as error:
        raise ReportError(f"{plain(file)} cannot be read ({plain(str(error))}); try {upgrade('ncu-report')}.") from None


def _of_action(action: Any) -> ProfiledLaunch:
    if not action.name():
        raise ValueError("it is damaged")

    def value(name: str) -> Any:
        metric = action.metric_by_name(name)
        return metric.value() if metric is not None and metric.has_value() else None

    def extents(what: str) -> tuple[int, ...]:
        found = [value(f"launch__{what}_dim_{axis}") for axis in "xyz"]
        return () if None in found else tuple(map(int, found))

    lines: dict[Place, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    totals: dict[str, float] = {}
    for name in METRICS:
        metric = action.metric_by_name(name)
        if metric is None:
            continue
        if (whole := value(name)) is not None and _is_number(whole):
            totals[name] = whole
        if not metric.has_correlation_ids():
            continue
        addresses = metric.correlation_ids()
        for number in range(metric.num_instances()):
            place, one = action.source_info(addresses.as_uint64(number)), metric.as_double(number)
            if place is not None:
                lines[place.file_name(), place.line()][name] += one
    major, minor = (value(f"device__attribute_compute_capability_{part}") for part in ("major", "minor"))
    architecture = f"sm_{major}{minor}" if major is not None and minor is not None else ""
    card = str(value("device__attribute_display_name") or "")
    own = {place: dict(metrics) for place, metrics in lines.items()}
    return ProfiledLaunch(action.name(), card, architecture, extents("grid"), extents("block"), totals, own)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


# Tables


def _of_table(file: Path) -> list[ProfiledLaunch]:
    text = file.read_text(encoding="utf-8", errors="replace")
    rows = [row for row in csv.reader(io.StringIO(text[text.find('"') :] if '"' in text else "")) if row]
    if rows and "Kernel Name" in rows[0] and len(rows[0]) > len(METRICS):
        return [_of_raw(dict(zip(rows[0], row, strict=False))) for row in rows[2:]]  # the second row has units
    if any(row[:2] == ["Line No", "Source"] and "Address" in row for row in rows):
        return _of_lines(rows)
    raise ReportError(
        f"{plain(file)} is no table with a line of source or a launch in each row; print one by {_LINES}, or by "
        "--page raw."
    )


def _of_raw(row: Mapping[str, str]) -> ProfiledLaunch:
    """A row of a page "raw": totals alone."""
    extents = {what: tuple(map(int, re.findall(r"\d+", row.get(f"{what} Size", "")))) for what in ("Grid", "Block")}
    architecture = f"sm_{row['CC'].replace('.', '')}" if row.get("CC") else ""
    totals = {name: number for name in METRICS if (number := _number(row.get(name, ""))) is not None}
    card = row.get("device__attribute_display_name", "")
    return ProfiledLaunch(row["Kernel Name"], card, architecture, extents["Grid"], extents["Block"], totals)


def _of_lines(rows: Sequence[Sequence[str]]) -> list[ProfiledLaunch]:
    """A page "source" with the lines of each file, and below each its instructions, which have no number."""
    found: dict[str, dict[Place, dict[str, float]]] = defaultdict(dict)
    file, kernel, columns = "", "", {}
    for row in rows:
        if len(row) == 2:
            file, kernel = (row[1], kernel) if row[0].startswith("File") else (file, row[1])
        elif row[0] == "Line No":
            columns = {name: row.index(column) for name, column in METRICS.items() if column in row}
        elif row[0].isdigit():
            cells = {n: row[place] for n, place in columns.items() if place < len(row) and row[place] not in ("", "-")}
            numbers = {n: math.nan if (number := _number(cell)) is None else number for n, cell in cells.items()}
            found[kernel][file, int(row[0])] = numbers
    return [ProfiledLaunch(kernel, totals=_summed(lines), lines=lines) for kernel, lines in found.items()]


def _summed(lines: Mapping[Place, Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for metrics in lines.values():
        for name, value in metrics.items():
            total[name] += value
    return {name: value for name, value in total.items() if math.isfinite(value)}


def _number(text: str) -> float | None:
    """A number of a table; None for "nan", "n/a" and other words."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
