"""The results a window shows: one row for each variant on a device, in the order they were declared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.results.entry import Entry, FairBar, State, fair, state_of, untimed
from app.models.results.row_cells import pinned_cells, rows_csv
from app.models.results.row_differences import BETWEEN, row_differences
from gpu_ops import comment_lines
from gpu_ops.counters import in_order
from gpu_ops.report.about import about_rows
from gpu_ops.report.changes import subject_of
from gpu_ops.report.kernel_age import OLDER
from gpu_ops.report.machines import device_model
from gpu_ops.report.rows import Row, report_json
from gpu_ops.report.speedups import speedup
from gpu_ops.run_key import RunKey


@dataclass(frozen=True)
class Contract:
    """The verdict of a filter's whole contract on an edited kernel, and why in words: "90 of 90 cases right"."""

    right: bool
    text: str


def _kernel_of(row: Row | RunKey) -> tuple[str, ...]:
    """What the verdict of a contract depends on."""
    return row.filter, row.variant, row.edits, row.device


class Results(QObject):
    """Rows by their slots, with their states, and values computed from them. A row of the present choice has the slot
    of its variant on its device, every other row the slot of its own run: see RowSlot.

    While frames follow one another, `playing`, each result stays as it is until that of the next frame comes.
    `row_changed(slot)`; `rows_reset`: the rows or their order changed; `pinned_changed`: the rows to which changes are
    relative.
    """

    row_changed = Signal(object)
    rows_reset = Signal()
    baseline_changed = Signal(object)
    pinned_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: dict[RowSlot, Entry] = {}
        self._titles: Mapping[str, str] = {}
        self._own_titles: Mapping[RowSlot, str] = {}
        self._contracts: dict[tuple[str, ...], Contract] = {}
        self._raw: dict[RowSlot, tuple[Row, Subject | None]] = {}
        self._before: dict[RowSlot, State] = {}
        self._recorded: tuple[RowSlot, ...] = ()
        self._baseline: RowSlot | None = None
        self._pinned: dict[Any, Row] = {}
        self.provenance: dict[str, Any] = {}
        self.playing = False

    # ---------------------------------------------------------------- rows

    def declare(
        self,
        slots: Iterable[RowSlot],
        titles: Mapping[str, str] | None = None,
        own_titles: Mapping[RowSlot, str] | None = None,
    ) -> None:
        """Show these rows, in this order; rows that stay keep their results. With several settings of one variant each
        slot has a key, and a new slot takes over the row of the same run if there is one. `titles` are those of
        variants, `own_titles` those of rows that have another one than their variant."""
        self._titles, self._own_titles = titles or {}, own_titles or {}
        old = self._entries
        entries = {s: replace(old.get(s) or self._of_run(s), title=self._title(s)) for s in slots}
        if list(entries.items()) != list(old.items()):  # a moving parameter declares the same rows again and again
            self._entries = entries
            self._name_differences()
            self.rows_reset.emit()

    def _title(self, slot: RowSlot) -> str:
        """The title of a slot, else of its variant; a row that does not follow the choice is marked as such."""
        if slot in self._own_titles:
            return self._own_titles[slot]
        pinned = "" if slot.follows else QCoreApplication.translate("Results", "pinned")
        return BETWEEN.join(part for part in (self._titles.get(slot.variant, ""), pinned) if part)

    def _of_run(self, slot: RowSlot) -> Entry:
        """An entry for a new slot: with the row of the same run in another slot, if any, else empty."""
        own = (e for e in self._entries.values() if slot.key is not None and e.row is not None and not e.recorded)
        same = next((e for e in own if e.current and e.subject is not None and e.subject.key == slot.key), None)
        if same is None or same.row is None:
            return Entry(slot)
        return replace(same, slot=slot, state=state_of(same.row), past=None, difference="")

    def load(
        self, rows: Sequence[Row], machine: str = "", recorded: bool = True, titles: Mapping[str, str] | None = None
    ) -> None:
        """Replace everything by all rows of a report."""
        self._entries, self._recorded = {}, ()
        for row in rows:
            self._hold(row, machine, recorded, titles or {})
        self._name_differences()
        self.rows_reset.emit()

    def _hold(self, row: Row, machine: str, recorded: bool, titles: Mapping[str, str]) -> RowSlot:
        """Append a row in its own slot."""
        slot = RowSlot(row.variant, row.device, row.key, machine)
        while slot in self._entries:
            slot = replace(slot, number=slot.number + 1)
        self._entries[slot] = Entry(slot, titles.get(row.variant, ""), row, state_of(row), recorded)
        return slot

    def put(self, row: Row, subject: Subject | None = None, slot: RowSlot | None = None) -> None:
        """Take a new row: into this slot, else into the slot of its own run where that was declared, else into its
        variant's; a row that was not declared goes to the end. Until it has times of its own, the last ones stay,
        marked stale, unless the row failed. Its quality is the previous one of the same run until the engine has
        compared it again."""
        own = RowSlot(row.variant, row.device, row.key)
        slot = slot or (own if own in self._entries else replace(own, key=None))
        if row.edits:
            self._raw[slot] = row, subject
            row = self._as_checked(row)
        new = slot not in self._entries
        old = self._entries.get(slot, Entry(slot, self._titles.get(slot.variant, "")))
        state = state_of(row)
        if (
            state == "fresh"
            and not row.quality
            and old.row is not None
            and subject is not None
            and old.subject == subject
        ):
            row = replace(row, quality=old.row.quality)
        same = (
            old.timed is not None and old.timed.edits == row.edits
        )  # times of another text say nothing about this one
        past = old.timed if same and state == "fresh" and untimed(row) and not untimed(old.timed) else None
        entry = replace(old, row=row, state="stale" if past else state, subject=subject, current=True, past=past)
        self._entries[slot] = entry
        others = self._name_differences()
        if new:
            self.rows_reset.emit()
        else:
            for changed in dict.fromkeys((slot, *others)):
                self.row_changed.emit(changed)

    def set_contract(self, row: Row | RunKey, contract: Contract) -> None:
        """Take the verdict of the whole contract on an edited kernel: from now on its times count, or its results are
        wrong."""
        self._contracts[_kernel_of(row)] = contract
        raw = [(slot, *kept) for slot, kept in self._raw.items() if slot in self._entries]
        for slot, kept, subject in raw:
            if _kernel_of(kept) == _kernel_of(row) and self._entries[slot].row is not None:
                self.put(kept, subject, slot)

    def contract(self, row: Row | RunKey) -> Contract | None:
        """The verdict of the whole contract on an edited kernel; None where it has not been checked."""
        return self._contracts.get(_kernel_of(row))

    def _as_checked(self, row: Row) -> Row:
        """The row of an edited kernel as far as it counts: without times until its kernel has passed the contract."""
        contract = self.contract(row)
        if row.ok is not True or (contract is not None and contract.right):
            return row
        if contract is None:
            return replace(row, ok=None, stages={})
        note = QCoreApplication.translate("Results", "the contract is not met: {cases}").format(cases=contract.text)
        return replace(row, ok=False, notes=(*row.notes, note), stages={})

    def set_recorded(self, rows: Iterable[tuple[Row, str]], titles: Mapping[str, str]) -> None:
        """Put these rows, each with its machine, after the session's own; they replace earlier recorded rows."""
        gone = set(self._recorded) & set(self._entries)
        self._entries = {slot: entry for slot, entry in self._entries.items() if slot not in gone}
        self._recorded = tuple(self._hold(row, machine, True, titles) for row, machine in rows)
        if gone or self._recorded:
            self._name_differences()
            self.rows_reset.emit()

    def _name_differences(self) -> list[RowSlot]:
        """Set the text of what differs between rows of one variant, device and origin. Returns the rows whose text
        changed."""
        groups: dict[Any, list[tuple[RowSlot, Row]]] = {}
        for slot, entry in self._entries.items():
            if entry.timed is not None:
                own = slot if slot in self._own_titles else None  # its title says what it is
                groups.setdefault((slot.variant, slot.device, entry.origin, own), []).append((slot, entry.timed))
        texts_by_slot: dict[RowSlot, str] = {}
        for members in groups.values():
            texts = row_differences([row for _, row in members]) if len(members) > 1 else [""]
            texts_by_slot |= dict(zip((slot for slot, _ in members), texts, strict=True))
        changed = [slot for slot, entry in self._entries.items() if entry.difference != texts_by_slot.get(slot, "")]
        for slot in changed:
            self._entries[slot] = replace(self._entries[slot], difference=texts_by_slot.get(slot, ""))
        return changed

    def set_running(self, slots: Iterable[RowSlot]) -> None:
        """Mark these rows as running; their last results stay visible."""
        for slot in slots:
            if slot in self._entries and self._entries[slot].state != "running":
                self._before[slot] = self._entries[slot].state
                self._set_state(slot, "running")

    def compare_with(self, present: Callable[[RowSlot], Subject]) -> None:
        """The choice, the input or the text of an edited kernel changed: mark the rows stale whose subject is not the
        `present` one of their slot. Rows that it is again are up to date again."""
        for slot, entry in list(self._entries.items()):
            if entry.subject:
                self._set_current(slot, entry.subject == present(slot))

    def mark_stale(self, slots: Iterable[RowSlot] | None = None) -> None:
        """Mark these rows, or all, as stale. Recorded rows never are."""
        for slot in list(self._entries if slots is None else slots):
            self._set_current(slot, False)

    def _set_current(self, slot: RowSlot, current: bool) -> None:
        """Note whether a row is of the present choice."""
        entry = self._entries.get(slot)
        if entry is None or entry.row is None or entry.recorded or entry.current == current:
            return
        state = state_of(entry.row) if current and entry.past is None else "stale"
        if entry.state == "running":
            self._before[slot], state = state, "running"
        self._entries[slot] = replace(entry, current=current, state=state)
        self.row_changed.emit(slot)

    def stop_running(self) -> None:
        """The run ended: rows without a new result return to their state before it."""
        for slot, entry in list(self._entries.items()):
            if entry.state == "running":
                self._set_state(slot, self._before.get(slot, "waiting"))

    def _set_state(self, slot: RowSlot, state: State) -> None:
        if self._entries[slot].state != state:
            self._entries[slot] = replace(self._entries[slot], state=state)
            self.row_changed.emit(slot)

    def clear(self) -> None:
        """Remove all rows."""
        self._entries, self._recorded, self._raw = {}, (), {}
        self.rows_reset.emit()

    def slots(self) -> tuple[RowSlot, ...]:
        return tuple(self._entries)

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries.values())

    def entry(self, slot: RowSlot) -> Entry:
        return self._entries[slot]

    def __contains__(self, slot: object) -> bool:
        return slot in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    # ---------------------------------------------------------------- comparing

    @property
    def baseline(self) -> RowSlot | None:
        """The row that speed-ups are relative to."""
        return self._baseline

    def set_baseline(self, slot: RowSlot | None) -> None:
        if slot != self._baseline:
            self._baseline = slot
            self.baseline_changed.emit(slot)

    def speedup(self, slot: RowSlot, stage: str = "kernel") -> float | None:
        """The baseline's kernel time divided by the time of this row's stage.

        None when either was not timed or its time is in doubt, when they did different jobs, or when they ran on
        different machines.
        """
        base, entry = self._entries.get(self._baseline) if self._baseline else None, self._entries.get(slot)
        if base is None or entry is None or base.timed is None or entry.timed is None or base.origin != entry.origin:
            return None
        return speedup(base.timed, entry.timed, stage)

    def pin_times(self) -> int:
        """Keep the present rows, so that changes from now on are relative to them; returns their number. Recorded and
        wrong rows are left out."""
        own = (e.timed for e in self._entries.values() if not e.recorded and e.ok is not False and not e.failure)
        self._pinned = {subject_of(row): row for row in own if row is not None}
        self.pinned_changed.emit()
        return len(self._pinned)

    def unpin_times(self) -> None:
        self._pinned = {}
        self.pinned_changed.emit()

    @property
    def has_pinned(self) -> bool:
        """Whether rows were pinned."""
        return bool(self._pinned)

    def pinned(self, entry: Entry) -> Row | None:
        """The pinned row of the same variant, device and job, whatever its knobs are."""
        row = None if entry.recorded or entry.timed is None else self._pinned.get(subject_of(entry.timed))
        return None if row is entry.timed else row

    @property
    def end_to_end(self) -> bool:
        """Whether the times of the steps include copies from and to host memory."""
        return any(entry.timed.end_to_end for entry in self._entries.values() if entry.timed)

    def fair_bars(self) -> tuple[FairBar, ...]:
        """The fair comparison: one core, the best of the CPU, the GPU's kernel, and the GPU with transfers.

        All come from one machine and one job: the one that fills most bars, with fresh and live rows first.
        """
        groups: dict[Any, list[Entry]] = {}
        for entry in self._entries.values():
            if entry.timed and entry.seconds("kernel") and entry.ok is not False and not entry.simulated:
                groups.setdefault((entry.origin, entry.timed.job), []).append(entry)
        candidates = [(fair(members), members) for members in groups.values()]

        def precedence(candidate: tuple[tuple[FairBar, ...], list[Entry]]) -> tuple[bool, int, bool]:
            bars, members = candidate
            fresh = any(e.state == "fresh" for e in members)
            return fresh, sum(b.seconds is not None for b in bars), not members[0].recorded

        return max(candidates, key=precedence)[0] if candidates else fair([])

    def counters(self) -> tuple[str, ...]:
        """Ids of all counters in any simulated row, in the catalogue's order: the most informative first."""
        return in_order(name for e in self._entries.values() if e.simulated for name in e.counters)

    # ---------------------------------------------------------------- files

    def machine(self, entry: Entry) -> str:
        """Where a row ran: a recorded row's machine, else its device's model as the engine reports it."""
        return entry.machine or device_model(self.provenance, entry.device)

    def to_csv(self) -> str:
        """The table in the C locale: seconds, decimal points, one header line."""
        return rows_csv(self)

    def facts(self) -> dict[str, Any]:
        """What the rows share: input, filter, parameters, and the machine. Recorded rows count only where this machine
        has none."""
        with_times = [entry for entry in self._entries.values() if entry.timed is not None]
        own = [entry for entry in with_times if not entry.recorded] or with_times
        machines = {entry.machine for entry in own}
        elsewhere = machines.pop() if len(machines) == 1 else ""
        return about_rows([entry.timed for entry in own if entry.timed], self.provenance, elsewhere)

    def csv_file(self) -> str:
        """The table after its facts, each in a line that begins with "#"."""
        return comment_lines(self.facts()) + self.to_csv()

    def to_report_rows(self) -> list[dict[str, Any]]:
        """The rows as a report stores them; recorded, stale, and older kernels' rows are marked."""
        rows = []
        for entry in self._entries.values():
            if entry.timed is not None:
                machine = self.machine(entry)
                mark: dict[str, Any] = {"machine": machine} if machine else {}
                if entry.recorded:
                    mark["recorded"] = True
                if entry.older:
                    mark["age"] = OLDER
                if entry.state == "stale":
                    mark["stale"] = True
                mark |= {name: value for name, value in pinned_cells(self, entry).items() if value is not None}
                rows.append({**entry.timed.to_json(), **mark})
        return rows

    def to_json(self) -> str:
        """A whole report as text, with the window's provenance."""
        content = {**report_json(self.provenance, self.to_report_rows()), "about": self.facts()}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"
