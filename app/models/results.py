"""The results a window shows: one row for each variant on a device, in the order they were declared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.entry import (
    APART,
    Entry,
    FairBar,
    Key,
    State,
    fair,
    job_of,
    state_of,
    untimed,
)
from app.models.job_cells import device_model, job_cells
from app.models.subject import Subject
from gpu_ops.counters import in_order

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
    "share",
    "speedup",
    "against",
    "upload_s",
    "download_s",
    "elapsed_s",
    "elapsed_pinned_s",
    "error_max",
    "tolerance",
    "ok",
    "failure",
    "notes",
)
"""Where rows are simulated, their findings and one column for each counter follow."""


class Results(QObject):
    """Rows by (variant, device) with their states, and what is computed from them."""

    row_changed = Signal(object)
    rows_reset = Signal()
    baseline_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: dict[Key, Entry] = {}
        self._before: dict[Key, State] = {}
        self._baseline: Key | None = None
        self.provenance: dict[str, Any] = {}

    # ---------------------------------------------------------------- rows

    def declare(self, keys: Iterable[Key], titles: Mapping[str, str] | None = None) -> None:
        """Show these rows, in this order; rows that stay keep their results."""
        titles = titles or {}
        known = self._entries
        entries = {k: replace(known.get(k, Entry(k)), title=titles.get(k[0], "")) for k in keys}
        if list(entries.items()) != list(known.items()):  # a moving parameter declares the same rows again and again
            self._entries = entries
            self.rows_reset.emit()

    def load(
        self,
        rows: Sequence[Mapping[str, Any]],
        machine: str = "",
        recorded: bool = True,
        titles: Mapping[str, str] = {},
    ) -> None:
        """Replace everything by a report's rows; of several for one key the last counts."""
        self._entries = {}
        for row in rows:
            key = (row["variant"], row["device"])
            self._entries[key] = Entry(key, (titles or {}).get(key[0], ""), row, state_of(row), recorded, machine)
        self.rows_reset.emit()

    def put(
        self, row: Mapping[str, Any], recorded: bool = False, machine: str = "", subject: Subject | None = None
    ) -> None:
        """A row has come. One that was not declared goes to the end. Until it has times of its own the last ones stay
        beside it, marked stale, unless it failed."""
        key = (row["variant"], row["device"])
        new = key not in self._entries
        old = self._entries.get(key, Entry(key))
        state = state_of(row)
        kept = old.timed if state == "fresh" and untimed(row) and not untimed(old.timed) else {}
        self._entries[key] = replace(
            old,
            row=row,
            state="stale" if kept else state,
            recorded=recorded,
            machine=machine,
            subject=subject,
            current=True,
            past=kept,
        )
        if new:
            self.rows_reset.emit()
        else:
            self.row_changed.emit(key)

    def set_recorded(self, rows: Iterable[tuple[Mapping[str, Any], str]], titles: Mapping[str, str]) -> None:
        """Let these rows, each with its machine, stand after the session's own, in place of those put before."""
        before = len(self._entries)
        self._entries = {k: e for k, e in self._entries.items() if APART not in k[1]}
        changed = before != len(self._entries)
        for row, machine in rows:
            key = (row["variant"], f"{row['device']}{APART}{machine}")
            self._entries[key] = Entry(key, titles.get(key[0], ""), row, state_of(row), True, machine)
            changed = True
        if changed:
            self.rows_reset.emit()

    def set_running(self, keys: Iterable[Key]) -> None:
        """These rows are being measured; their last result stays visible meanwhile."""
        for key in keys:
            if key in self._entries and self._entries[key].state != "running":
                self._before[key] = self._entries[key].state
                self._set_state(key, "running")

    def compare_with(self, present: Callable[[str], Subject]) -> None:
        """The choice changed: rows that are of something else than `present` says of their variant are of the past."""
        self.mark_stale(k for k, e in list(self._entries.items()) if e.subject and e.subject != present(e.variant))

    def mark_stale(self, keys: Iterable[Key] | None = None) -> None:
        """These rows, or all, belong to the past. Recorded rows are what they always were."""
        for key in list(self._entries if keys is None else keys):
            entry = self._entries.get(key)
            if entry is None or not entry.row or entry.recorded:
                continue
            running = entry.state == "running"
            if running:
                self._before[key] = "stale"
            outdated = replace(entry, current=False, state="running" if running else "stale")
            if outdated != entry:
                self._entries[key] = outdated
                self.row_changed.emit(key)

    def stop_running(self) -> None:
        """The run was cancelled: rows without a new result are again what they were."""
        for key, entry in list(self._entries.items()):
            if entry.state == "running":
                self._set_state(key, self._before.get(key, "waiting"))

    def _set_state(self, key: Key, state: State) -> None:
        if self._entries[key].state != state:
            self._entries[key] = replace(self._entries[key], state=state)
            self.row_changed.emit(key)

    def clear(self) -> None:
        """No rows at all."""
        self._entries = {}
        self.rows_reset.emit()

    def keys(self) -> tuple[Key, ...]:
        return tuple(self._entries)

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries.values())

    def entry(self, key: Key) -> Entry:
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    # ---------------------------------------------------------------- comparing

    @property
    def baseline(self) -> Key | None:
        """What speed-ups are against."""
        return self._baseline

    def set_baseline(self, key: Key | None) -> None:
        if key != self._baseline:
            self._baseline = key
            self.baseline_changed.emit(key)

    def speedup(self, key: Key, stage: str = "kernel") -> float | None:
        """The baseline's kernel time over this row's stage.

        None when either was not timed or its time is in doubt, when they did different jobs, or when they ran on
        different machines.
        """
        base, entry = self._entries.get(self._baseline or ("", "")), self._entries.get(key)
        if base is None or entry is None:
            return None
        above, below = base.seconds("kernel"), entry.seconds(stage)
        comparable = base.origin == entry.origin and job_of(base.timed) == job_of(entry.timed)
        if not comparable or not above or not below or base.simulated or entry.simulated:
            return None
        if base.doubt("kernel") or entry.doubt(stage):
            return None
        return above / below

    def five_bars(self) -> tuple[FairBar, ...]:
        """The fair comparison: one core, the best of the CPU, the GPU's kernel, and the GPU from and to the host.

        All five come from one machine and one job: the one that fills most bars, live and fresh before others.
        """
        groups: dict[Any, list[Entry]] = {}
        for entry in self._entries.values():
            if entry.seconds("kernel") and entry.ok is not False and not entry.simulated:
                groups.setdefault((entry.origin, job_of(entry.timed)), []).append(entry)
        candidates = [(fair(members), members) for members in groups.values()]

        def merit(candidate: tuple[tuple[FairBar, ...], list[Entry]]) -> tuple[bool, int, bool]:
            bars, members = candidate
            fresh = any(e.state == "fresh" for e in members)
            return fresh, sum(b.seconds is not None for b in bars), not members[0].recorded

        return max(candidates, key=merit)[0] if candidates else fair([])

    def counters(self) -> tuple[str, ...]:
        """Ids of all that was counted in any simulated row, in the catalogue's order: what tells most is first."""
        return in_order(name for e in self._entries.values() if e.simulated for name in e.counters)

    # ---------------------------------------------------------------- files

    def machine(self, entry: Entry) -> str:
        """Where it ran: a recorded row's machine, else the model of its device as the engine told it."""
        return entry.machine or device_model(self.provenance, entry.device)

    def to_csv(self) -> str:
        """The table in the C locale: seconds, a point for decimals, one heading line."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        counters = self.counters()
        columns = (*CSV_COLUMNS, *(("findings", *counters) if counters else ()))
        writer.writerow(columns)
        for entry in self._entries.values():
            if entry.row:
                cells = {name: entry.counters.get(name, "") for name in counters} | self._csv_cells(entry)
                writer.writerow([cells[name] for name in columns])
        return text.getvalue()

    def _csv_cells(self, entry: Entry) -> dict[str, Any]:
        row, kernel = entry.timed, entry.stage("kernel") or {}
        speedup = self.speedup(entry.key)
        cells: dict[str, Any] = {name: row.get(name) for name in CSV_COLUMNS}
        cells |= {name: kernel.get(name) for name in ("q1_s", "q3_s", "n", "clock")}
        cells |= {"clock": "simulated"} if entry.simulated else {}
        cells |= {f"{stage}_s": entry.seconds(stage) for stage in ("kernel", "upload", "download")}
        cells |= {f"{stage}_s": entry.seconds(stage) for stage in ("elapsed", "elapsed_pinned")}
        cells |= {
            "ok": entry.ok,
            "state": entry.state,
            "recorded": entry.recorded,
            "machine": self.machine(entry),
            "speedup": speedup,
        }
        cells |= job_cells(row)
        cells |= {"against": " on ".join(self._baseline) if speedup and self._baseline else None}
        doubts = [f"{name}: {entry.doubt(name)}" for name in row.get("stages", {}) if entry.doubt(name)]
        cells["notes"] = "; ".join([*row.get("notes", []), *doubts])
        cells["findings"] = "; ".join(str(f["text"]) for f in entry.findings)
        return {name: "" if value is None else value for name, value in cells.items()}

    def to_report_rows(self) -> list[dict[str, Any]]:
        """The rows as a report holds them; recorded and stale ones say so."""
        rows = []
        for entry in self._entries.values():
            if entry.row:
                machine = self.machine(entry)
                mark: dict[str, Any] = {"machine": machine} if machine else {}
                if entry.recorded:
                    mark["recorded"] = True
                if entry.state == "stale":
                    mark["stale"] = True
                rows.append({**entry.timed, **mark})
        return rows

    def to_json(self) -> str:
        """A whole report as text, with the provenance the window has."""
        content = {"schema": "kernelscope-report/1", "provenance": self.provenance, "runs": self.to_report_rows()}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"
