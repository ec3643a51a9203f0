"""Reports: the schema kernelscope-report/1, written after every row, read with unknown keys ignored."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, ReportError, plain
from gpu_ops.io.regular import require_regular
from gpu_ops.measuring.report_check import MAJOR, SCHEMA, fault_of
from gpu_ops.measuring.roofline import roofs, roofs_at
from gpu_ops.types import Experiment, Run, Timing

IMPOSSIBLE = 1.05
LARGEST = 1 << 26
"""Bytes of a report that is read; a row takes about two thousand."""
MOST_DIGITS = 300
"""Of a whole number in a report: a float still holds it."""


def row(run: Run, experiment: Experiment, with_roofs: bool = True) -> dict[str, Any]:
    """One run as a report's row. Speed-ups are added by `with_speedups`, which sees the other rows. Without roofs
    there is a bandwidth but no share; with them the device's are measured on first use, which takes seconds."""
    kernel = run.timings.get("kernel")
    result: dict[str, Any] = {
        "filter": run.filter,
        "variant": run.pick.variant,
        "device": run.pick.device,
        "clock": kernel.clock if kernel else "simulated" if run.pick.device.startswith("sim") else None,
        "params": _plain(run.params),
        "knobs": _plain(run.pick.knobs),
        "shape": list(run.shape),
        "dtype": run.dtype,
        "input": dict(experiment.input.origin),
        "mode": experiment.mode,
        "protocol": experiment.protocol,
        "checks": experiment.checks,
        "stages": {name: _stage(t) for name, t in run.timings.items()},
        "errors": {k: {"max": _number(e.max), "rms": _number(e.rms)} for k, e in run.errors.items()},
        "error_max": _number(max((e.relative for e in run.errors.values()), default=math.nan)),
        "tolerance": _number(max((e.tolerance for e in run.errors.values()), default=math.nan)),
        "ok": run.ok,
        "notes": list(run.notes),
        "failure": run.failure,
        "failure_kind": run.failure_kind,
        "bytes": run.work.bytes,
        "source_hash": run.source_hash,
    }
    if run.pick.device.startswith("sim"):
        result["counters"] = dict(run.counters)
        result["findings"] = [{**vars(f), "text": str(f)} for f in run.findings]
        result["printed"] = list(run.printed)
    if kernel:
        result["gbps"] = run.work.bytes / kernel.median / 1e9
        if with_roofs:
            result.update(_against_roofs(run, kernel))
    return result


def _against_roofs(run: Run, kernel: Timing) -> dict[str, Any]:
    """The share of what the device can do that the bandwidth, by the least bytes of the job, amounts to."""
    reads_only = run.work.bytes_written * 20 < run.work.bytes_read
    kind = "read" if reads_only else "copy"
    buffer = run.work.bytes_read
    large, same = roofs(run.pick.device), roofs_at(run.pick.device, buffer)
    roof = getattr(large, kind)
    rate = run.work.bytes / kernel.median
    found = {
        "share": rate / roof,
        "roof": {"kind": kind, "bytes_s": roof},
        "share_same_size": rate / getattr(same, kind),
    }
    if min(found["share"], found["share_same_size"]) > IMPOSSIBLE:
        found["flag"] = "faster than its own roof: the data stayed in a cache, or something is not done"
    return found


def _stage(t: Timing) -> dict[str, Any]:
    return {
        "median_s": t.median,
        "q1_s": t.q1,
        "q3_s": t.q3,
        "min_s": t.min,
        "n": t.n,
        "stop": t.stop,
        "clock": t.clock,
        "mode": t.mode,
        **({"doubt": t.doubt} if t.doubt else {}),
    }


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _number(value: float) -> float | str | None:
    """JSON knows no infinity: a word stands for it, null for no number at all."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "infinite"


def with_speedups(rows: Sequence[dict[str, Any]], baseline: str) -> list[dict[str, Any]]:
    """Rows with `speedup` against the baseline variant of the same job, kernel against kernel and end to end; none
    where one of the times is in doubt."""
    base = {_job_key(r): r for r in rows if r["variant"] == baseline and _sure(r, "kernel")}
    result = []
    for r in rows:
        against = base.get(_job_key(r))
        if against is not None and "kernel" in r["stages"]:
            seconds = against["stages"]["kernel"]["median_s"]
            speedup = {"against": f"{baseline} on {against['device']}"}
            for stage in ("kernel", "elapsed", "elapsed_pinned"):
                if _sure(r, stage):
                    speedup[stage] = seconds / r["stages"][stage]["median_s"]
            r = {**r, "speedup": speedup}
        result.append(r)
    return result


def _sure(r: Mapping[str, Any], stage: str) -> bool:
    """Whether a row has a time of this stage that may be compared."""
    return stage in r["stages"] and not r["stages"][stage].get("doubt")


def _job_key(r: Mapping[str, Any]) -> str:
    return json.dumps([r["filter"], r["params"], r["shape"], r["dtype"], r["mode"]], sort_keys=True)


def row_key(r: Mapping[str, Any]) -> str:
    """What makes two rows the same measurement, for resuming."""
    names = (
        "filter",
        "variant",
        "device",
        "params",
        "knobs",
        "shape",
        "dtype",
        "input",
        "mode",
        "protocol",
        "source_hash",
    )
    return json.dumps([r.get(n) for n in names], sort_keys=True)


def report(provenance: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A whole report."""
    return {"schema": f"{SCHEMA}/{MAJOR}", "provenance": dict(provenance), "runs": list(rows)}


def written_to(path: str | Path) -> Path:
    """The file that a report for `path` goes to: where a link leads, itself a regular file or none yet. Raises
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
    target = written_to(path)
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())  # a disk that is full may say so only now
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        reason = error.strerror
        raise ReportError(f"{plain(path)} cannot be written ({reason}); choose another file for --json.") from error


def read_report(path: str | Path) -> dict[str, Any]:
    """A report of this major version or an earlier one, with every field that a reader needs in its own type. Raises
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
        raise ReportError(f"{name} is not a report: its lists and objects lie too deep in one another.") from None
    except ValueError as error:
        raise ReportError(f"{name} is not a report: it is not JSON ({plain(error, 120)}).") from error
    fault = fault_of(content)
    if fault:
        raise ReportError(f"{name} {fault}.")
    return dict(content)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number that JSON knows")
    return value


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def same_machine(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether two provenances are of machines whose figures may share a report."""
    models = [{n: d.get("model") for n, d in p.get("devices", {}).items()} for p in (a, b)]
    shared = set(models[0]) & set(models[1])
    return a.get("cpu") == b.get("cpu") and all(models[0][n] == models[1][n] for n in shared)
