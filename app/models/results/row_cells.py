"""The rows of the results as a table of comma-separated values. No widgets."""

from __future__ import annotations

import csv
import io
from typing import Any, Protocol

from app.models.experiment.job_cells import job_cells
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from gpu_ops.report.changes import change
from gpu_ops.report.kernel_age import OLDER
from gpu_ops.report.row_kinds import CLOSENESS, error_json
from gpu_ops.report.rows import Row
from gpu_ops.stages import END_TO_END

CSV_COLUMNS = (
    "filter",
    "variant",
    "device",
    "machine",
    *("params", "knobs", "shape", "dtype", "input", "input_hash", "mode", "protocol"),
    "state",
    "recorded",
    "clock",
    "kernel_s",
    "q1_s",
    "q3_s",
    "n",
    "gbps",
    *("share", "share_peak", "share_bound", "bound_memory"),
    "speedup",
    "against",
    "upload_s",
    "download_s",
    *(f"{stage}_s" for stage in END_TO_END),
    "error_max",
    "tolerance",
    "ok",
    "failure",
    "notes",
)
"""Tables with edited kernels have a column for the hash of the edits; tables with simulated rows one for their findings
and one for each counter; tables of inputs whose noise-free original is known the columns of QUALITY."""
QUALITY = ("quality_of", *(f"{key}_{side}" for key in CLOSENESS.values() for side in ("before", "after")))
"""The output that was compared, and each figure of the input and of that output."""
PINNED = ("pinned_kernel_s", "change", "change_verdict")
"""With pinned times: the pinned one, the present one over it, and faster, slower, same or unsure."""


class Table(Protocol):
    """What the cells need of the Results."""

    @property
    def baseline(self) -> RowSlot | None: ...
    @property
    def has_pinned(self) -> bool: ...
    def entries(self) -> tuple[Entry, ...]: ...
    def counters(self) -> tuple[str, ...]: ...
    def speedup(self, slot: RowSlot, stage: str = "kernel") -> float | None: ...
    def pinned(self, entry: Entry) -> Row | None: ...
    def machine(self, entry: Entry) -> str: ...


def rows_csv(results: Table) -> str:
    """The table in the C locale: seconds, decimal points, one header line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    entries, counters = results.entries(), results.counters()
    edited = any(entry.timed.edits for entry in entries if entry.timed)
    compared = any(entry.row.quality for entry in entries if entry.row)
    columns = (*CSV_COLUMNS, *(QUALITY if compared else ()), *(["edits"] if edited else []))
    columns += PINNED if results.has_pinned else ()
    columns += ("findings", *counters) if counters else ()
    writer.writerow(columns)
    for entry in entries:
        if entry.timed is not None:
            cells = {name: entry.counters.get(name, "") for name in counters}
            cells |= _csv_cells(results, entry, entry.timed) | _quality_cells(entry.row)
            writer.writerow([cells[name] for name in columns])
    return text.getvalue()


def _csv_cells(results: Table, entry: Entry, row: Row) -> dict[str, Any]:
    kernel, content, ratio = row.stages.get("kernel"), row.to_json(), results.speedup(entry.slot)
    cells: dict[str, Any] = {name: content.get(name) for name in CSV_COLUMNS}
    cells |= {name: None for name in ("q1_s", "q3_s", "n", "clock")}
    cells |= {"q1_s": kernel.q1, "q3_s": kernel.q3, "n": kernel.n, "clock": kernel.clock} if kernel else {}
    cells |= {"bound_memory": row.bound.memory} if row.bound else {}
    cells |= {"clock": "simulated"} if entry.simulated else {}
    for stage in ("kernel", "upload", "download", *END_TO_END):
        cells[f"{stage}_s"] = row.seconds(stage)
    cells |= {
        "edits": row.edits,
        "ok": entry.ok,
        "state": entry.state,
        "recorded": entry.recorded,
        "machine": results.machine(entry),
    }
    base = results.baseline
    cells |= {"speedup": ratio, "against": f"{base.variant} on {base.device}" if ratio and base else None}
    cells |= job_cells(row) | pinned_cells(results, entry)
    notes = [*([OLDER] if entry.older else []), *row.notes]
    cells["notes"] = "; ".join([*notes, *(f"{name}: {t.doubt}" for name, t in row.stages.items() if t.doubt)])
    cells["findings"] = "; ".join(str(f["text"]) for f in entry.findings)
    return {name: "" if value is None else value for name, value in cells.items()}


def pinned_cells(results: Table, entry: Entry) -> dict[str, Any]:
    """How the time of a row changed since it was pinned; {} where that is not known."""
    before = results.pinned(entry)
    found = change(before, entry.timed) if before is not None and entry.timed is not None else None
    values = (before.seconds("kernel"), found.ratio, found.verdict) if before and found else (None,) * len(PINNED)
    return dict(zip(PINNED, values, strict=True))


def _quality_cells(row: Row | None) -> dict[str, Any]:
    """The quality of the first output that has one; infinite where nothing differs."""
    cells: dict[str, Any] = dict.fromkeys(QUALITY, "")
    if row is None or not row.quality:
        return cells
    name, found = next(iter(row.quality.items()))
    for side, closeness in (("before", found.before), ("after", found.after)):
        for figure, key in CLOSENESS.items():
            value = error_json(getattr(closeness, figure))
            cells[f"{key}_{side}"] = "" if value is None else value
    return {**cells, "quality_of": name}
