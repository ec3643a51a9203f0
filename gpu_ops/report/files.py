"""Report files: written in one step after every row, and checked when they are read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, ReportError, plain
from gpu_ops.io.part_files import growing
from gpu_ops.io.regular import require_regular
from gpu_ops.report.check import fault_of
from gpu_ops.report.provenance import machine
from gpu_ops.report.row_kinds import Bound, Roof
from gpu_ops.report.rows import Report, Row
from gpu_ops.running.roofline import Roofs, roofs, roofs_at
from gpu_ops.running.timing import rotated
from gpu_ops.types import Experiment, Run, Timing, Work

IMPOSSIBLE = 1.05

LARGEST = 1 << 26
"""The maximum number of bytes of a report that is read; a row takes about two thousand."""
MOST_DIGITS = 300
"""The most digits of an integer in a report, which a float still represents."""


def row(run: Run, experiment: Experiment, with_roofs: bool = True) -> Row:
    """One run as a report's row. Speed-ups are added by `with_speedups`, which needs the other rows. Without roofs the
    row has a bandwidth but no share; with them the device's roofs are measured on first use, which takes seconds.
    Transfers have no share: their bandwidth is the bus's."""
    result, kernel = Row.of(run, experiment), run.timings.get("kernel")
    with_roofs = with_roofs and not result.end_to_end
    return replace(result, **_against_roofs(run, kernel, experiment.mode)) if kernel and with_roofs else result


def report_of(runs: Iterable[Run], experiment: Experiment) -> Report:
    """The runs of an experiment as a report, which a notebook shows as a table: the last run of each pick. Shares of
    the roof are left out, because measuring the roof takes seconds."""
    last = {run.key: run for run in runs}
    devices = list(dict.fromkeys(run.pick.device for run in last.values()))
    return Report(machine(devices, with_roofs=False), tuple(Row.of(run, experiment) for run in last.values()))


def _against_roofs(run: Run, kernel: Timing, mode: str) -> dict[str, Any]:
    """The fields of a row that compare its bandwidth, from the minimum bytes of the job, with the device's roofs."""
    work = run.work
    kind = "read" if work.bytes_written * 20 < work.bytes_read else "copy"
    large, same = roofs(run.pick.device), roofs_at(run.pick.device, work.bytes_read)
    roof, rate = getattr(large, kind), work.bytes / kernel.median
    shares = {"share": rate / roof, "share_same_size": rate / getattr(same, kind)}
    fields: dict[str, Any] = {**shares, "roof": Roof(kind, roof)}
    if large.peak is not None:
        fields["share_peak"] = rate / large.peak
    bound = bound_of(large, kind, work, mode)
    if bound is not None:
        fields |= {"bound": bound, "share_bound": bound.seconds(work.bytes) / kernel.median}
    if min(*shares.values(), fields.get("share_bound", min(shares.values()))) > IMPOSSIBLE:
        fields["flag"] = "faster than its roof: the data stayed in a cache, or the kernel skips work"
    return fields


def bound_of(roofs: Roofs, kind: str, work: Work, mode: str) -> Bound | None:
    """The bound of a job: the memory that holds all buffers through which its timing rotates, and one launch. None
    where only DRAM was measured, as on a CPU."""
    launch = roofs.graph_launch if mode == "hot" else roofs.launch
    l2 = roofs.l2_read if kind == "read" else roofs.l2_copy
    if launch is None or l2 is None or roofs.l2_bytes is None:
        return None
    copies = {"stream": rotated(roofs.l2_bytes, work.bytes_read), "hot": 1}.get(mode)
    fits = copies is not None and copies * work.bytes <= roofs.l2_bytes
    return Bound("L2", l2, launch) if fits else Bound("DRAM", getattr(roofs, kind), launch)


def target_of(path: str | Path) -> Path:
    """The file that a report for `path` is written to, after links: a regular file, or a new one. Raises
    ReportError."""
    name = plain(path)
    try:
        target = Path(os.path.realpath(path))
        if str(path) and (not target.exists() or target.is_file()):
            return target
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise ReportError(f"{name} cannot be written ({reason}); choose another file for --json.") from error
    raise ReportError(f"{name or 'Nothing'} is no file to write to; name one for --json, or - for standard output.")


def write_report(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a report in one step: readers see the old file or the new one. Raises ReportError."""
    target = target_of(path)
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    try:
        with growing(target) as file:
            file.write(text.encode())
    except OSError as error:
        reason = error.strerror
        raise ReportError(f"{plain(path)} cannot be written ({reason}); choose another file for --json.") from error


def read_report(path: str | Path) -> Report:
    """A report of this major version or an earlier one; all needed fields are there and have the right types. Raises
    ReportError saying what the file is instead."""
    name = plain(path)
    try:
        require_regular(Path(path), "a report")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ReportError(f"{name} is not a report: it is larger than {LARGEST >> 20} MiB.")
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    except InputError as error:
        raise ReportError(str(error)) from error
    except OSError as error:
        raise ReportError(f"{name} cannot be read ({error.strerror}).") from error
    except RecursionError:
        raise ReportError(f"{name} is not a report: its lists and objects are nested too deeply.") from None
    except ValueError as error:
        raise ReportError(f"{name} is not a report: it is not JSON ({plain(error, 120)}).") from error
    fault = fault_of(content)
    if fault:
        raise ReportError(f"{name} {fault}.")
    return Report.from_json(content)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number in JSON")
    return value


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)
