"""Reads a report of Nsight Compute: a .ncu-rep through NVIDIA's module ncu_report, or what `ncu --csv` prints."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_ops.errors import ReportError, plain
from gpu_ops.explaining.profiler.instructions import profiled_instructions
from gpu_ops.explaining.profiler.launches import EXECUTED, METRICS, Place, ProfiledLaunch
from gpu_ops.explaining.profiler.tables import LINES, read_table
from gpu_ops.io.regular import require_regular
from gpu_ops.version import install, upgrade

SUFFIXES = (".ncu-rep", ".csv")
LARGEST = 256 << 20
"""The most bytes of a report that is read."""


def read_profile(path: str | Path) -> list[ProfiledLaunch]:
    """The launches of a report. Raises ReportError where it is none, or where the module that reads it is missing,
    InputError for a name without a file."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        endings = " or ".join(SUFFIXES)
        raise ReportError(f"{plain(file)} is no report of Nsight Compute; its name must end in {endings}.")
    require_regular(file, "a profile")
    size = file.stat().st_size
    if size > LARGEST:
        raise ReportError(f"{plain(file)} is larger than {LARGEST >> 20} MiB; profile fewer launches (ncu -c 1).")
    launches = _read(file, file.stat().st_mtime_ns, size)
    if not launches:
        raise ReportError(f"{plain(file)} has no kernel; {LINES} prints one that can be read.")
    return launches


@lru_cache(1)
def _read(file: Path, changed: int, size: int) -> list[ProfiledLaunch]:
    """The launches of a file as it is since it `changed`. An edited kernel is compared at each pause in typing."""
    return list(_of_report(file) if file.suffix.lower() == ".ncu-rep" else read_table(file))


# A .ncu-rep


def _of_report(file: Path) -> Iterator[ProfiledLaunch]:
    try:
        import ncu_report
    except ImportError:
        raise ReportError(
            f"Reading {plain(file.name)} needs NVIDIA's module ncu_report: {install('ncu')}; "
            f"or read the output of {LINES}."
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
    code: dict[int, str] = {}
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
            address, one = addresses.as_uint64(number), metric.as_double(number)
            place = action.source_info(address)
            if name == EXECUTED:
                code[address] = action.sass_by_pc(address)
            if place is not None:
                lines[place.file_name(), place.line()][name] += one
    major, minor = (value(f"device__attribute_compute_capability_{part}") for part in ("major", "minor"))
    architecture = f"sm_{major}{minor}" if major is not None and minor is not None else ""
    card = str(value("device__attribute_display_name") or "")
    own = {place: dict(metrics) for place, metrics in lines.items()}
    shape, instructions = (extents("grid"), extents("block")), profiled_instructions(code.items())
    return ProfiledLaunch(action.name(), card, architecture, *shape, totals, own, instructions)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
