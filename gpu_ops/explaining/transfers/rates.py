"""The rates of recorded machines: what the model of the queues needs to predict the times that were measured there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, ParamError, ReportError, plain
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.transfers.sweep import Point, TransferSweep, sweep_of_json
from gpu_ops.params import nearest
from gpu_ops.report.machines import machine_name
from gpu_ops.report.rows import Report, Row

LATENCY = 5e-6


@cache
def recorded_sweeps() -> dict[str, TransferSweep]:
    """The sweeps shipped with the product, by file name without its ending."""
    from gpu_ops.explaining.judging import RECORDED  # a window begins without reports

    paths = sorted((RECORDED / "transfers").glob("*.json"))
    return {path.stem: sweep_of_json(json.loads(path.read_text()), path.name) for path in paths}


@cache
def recorded_rates() -> dict[str, Rates]:
    """The rates of every machine with a recorded report of transfers, by the machine's short name."""
    from gpu_ops.explaining.judging import RECORDED
    from gpu_ops.report.files import read_report

    found: dict[str, Rates] = {}
    for path in sorted(RECORDED.glob("*-transfer-*.json")):
        name = machine_of(path)
        rates = rates_of(read_report(path))
        if rates is not None and name not in found:
            found[name] = rates
    for name, sweep in recorded_sweeps().items():
        machine = name.partition("-")[0]
        if machine in found:
            found[machine] = replace(found[machine], **_from_sweep(sweep, found[machine]))
    return found


def sweep_named(id: str, name: str) -> TransferSweep:
    """The sweep of this kind that was recorded on a machine, or that a FILE.json has. Raises ParamError that names
    what is recorded, ReportError for a file of something else, InputError for one that cannot be read."""
    if name.endswith(".json"):
        found = sweep_of_json(_read(Path(name)), name)
        if found.id != id:
            raise ParamError(f"{plain(name)} has the sweep {found.id}, not {id}; name that one.")
        return found
    known = recorded_sweeps()
    if f"{name}-{id}" not in known:
        raise ParamError(
            f"There is no recorded sweep {id} of {plain(name, 60)!r}; recorded are {', '.join(known) or 'none'}. Name "
            "one by its machine, or a FILE.json that kernelscope transfers wrote."
        )
    return known[f"{name}-{id}"]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{plain(path)} cannot be read ({error.strerror}); name a file of kernelscope transfers."
        ) from None
    except ValueError:
        raise ReportError(f"{plain(path)} is no JSON; name a file that kernelscope transfers wrote.") from None


def machine_of(path: Path) -> str:
    """The short name of the machine of a recorded file."""
    return path.name.partition("-")[0]


def rates_named(name: str) -> Rates:
    """The rates of a recorded machine, or of a report FILE.json of transfers. Raises ParamError that names all
    machines, ReportError for a file that is none."""
    from gpu_ops.report.files import read_report

    known = recorded_rates()
    if name in known:
        return known[name]
    if name.endswith(".json"):
        rates = rates_of(read_report(name))
        if rates is None:
            raise ParamError(
                f"{plain(name)} has no times of transfers from pinned and pageable memory on a GPU; record them by "
                "kernelscope bench transfer --variant pinned pageable managed --json FILE.json."
            )
        return rates
    raise ParamError(
        f"There are no recorded rates of {plain(name, 60)!r}{nearest(name, list(known))}; choose from "
        f"{', '.join(known)}, or name a report FILE.json of kernelscope bench transfer."
    )


def rates_of(report: Report) -> Rates | None:
    """The rates with which the model predicts the times of a report's transfers, from its largest input; None where the
    report has none from pinned and pageable memory. Both directions are taken to be equally fast: only their sum is
    known. Kernels run at the device's roof."""
    rows = [row for row in report.rows if row.filter.startswith("transfer") and row.device != "cpu" and _timed(row)]
    by_variant = {row.variant: row for row in sorted(rows, key=lambda row: row.bytes)}
    pinned, pageable = by_variant.get("pinned"), by_variant.get("pageable")
    if pinned is None or pageable is None or pinned.bytes != pageable.bytes:
        return None
    roofs = report.provenance.get("devices", {}).get(pinned.device, {}).get("roofs", {})
    kernel = float(roofs.get("copy_bytes_s", 0.0)) or 1e12
    nbytes, whole = pinned.bytes, _seconds(pinned)
    steps = 3 * LATENCY + nbytes * int(pinned.params["repeats"]) / kernel
    bus = nbytes / max(whole - steps, 1e-9)
    host = nbytes / max(_seconds(pageable) - whole, 1e-9)
    rates = Rates(bus, bus, kernel, host, latency=LATENCY, machine=machine_name(report.provenance))
    managed = by_variant.get("managed")
    if managed is not None and managed.knobs.get("prefetch") == "no" and managed.bytes == nbytes:
        rates = replace(rates, migration=2 * nbytes / _seconds(managed))  # to the host and to the device, both arrays
    staged = by_variant.get("staged")
    if staged is not None and staged.bytes == nbytes:
        rates = replace(rates, threads=nbytes / _seconds(staged))  # its threads fill and empty buffers all the time
    return rates


class Lock(NamedTuple):
    """The time to lock memory and to unlock it again: `latency` seconds, and its bytes at a `rate`. All points that it
    was fitted to are within a share of that time, `within`."""

    latency: float
    rate: float
    within: float


def fitted_lock(points: Sequence[Point]) -> Lock:
    """The line through the locking times of a sweep over sizes, by least squares of the relative errors."""
    nbytes, seconds = (np.array([point[name] for point in points], float) for name in ("nbytes", "locking"))
    terms = np.stack([1 / seconds, nbytes / seconds], axis=1)
    latency, slope = np.linalg.lstsq(terms, np.ones(len(points)))[0]
    within = np.abs(terms @ (latency, slope) - 1).max()
    return Lock(float(latency), float(1 / slope), float(within))


def _timed(row: Row) -> bool:
    return bool(row.ok and not row.edits and "kernel" in row.stages)


def _seconds(row: Row) -> float:
    return row.stages["kernel"].median


def _from_sweep(sweep: TransferSweep, rates: Rates) -> Mapping[str, Any]:
    """What a recorded sweep knows better."""
    largest = max((point["nbytes"] for point in sweep.points if "nbytes" in point), default=0)
    if sweep.id == "registering":
        lock = fitted_lock(sweep.points)
        return {"locking": lock.rate, "lock_latency": lock.latency}
    if sweep.id != "memory":
        return {}
    found = {(p["memory"], p["direction"]): largest / p["time"] for p in sweep.where(nbytes=largest)}
    upload, pageable = found["pinned", "to device"], found["pageable", "to device"]
    there, back = (found.get(("managed", direction), rates.migration) for direction in ("to device", "to host"))
    return {
        "upload": upload,
        "download": found["pinned", "to host"],
        "host": 1 / max(1 / pageable - 1 / upload, 1e-15),
        "migration": 2 / (1 / there + 1 / back),  # the model has one rate for both directions
    }
