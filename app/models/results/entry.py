"""One row of the results, as a report and the window know it, and the bars of the fair comparison of several rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.results.row_differences import BETWEEN
from gpu_ops import FILTERS
from gpu_ops.counters import value_of
from gpu_ops.device_names import is_simulated
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.rows import Row
from gpu_ops.report.speedups import fair_bars
from gpu_ops.types import Timing

State = Literal["waiting", "running", "fresh", "stale", "failed"]
""""Waiting": declared, but without a result yet."""


@dataclass(frozen=True)
class Entry:
    """A report's row with the window's state of it. `row` is None until the first result.

    `subject` is the run of the row, and `current` whether that is the present choice. Until a new row is timed, `past`
    is the last timed one: its times stay visible, marked stale. `difference` distinguishes the row from other rows of
    its variant.
    """

    slot: RowSlot
    title: str = ""
    row: Row | None = None
    state: State = "waiting"
    recorded: bool = False
    subject: Subject | None = None
    current: bool = True
    past: Row | None = None
    difference: str = ""

    @property
    def variant(self) -> str:
        return self.slot.variant

    @property
    def device(self) -> str:
        return self.slot.device

    @property
    def machine(self) -> str:
        """The machine of a recorded row; "" for a row of this session."""
        return self.slot.machine

    @property
    def older(self) -> bool:
        """Whether the kernels of a recorded row have changed since."""
        return self.recorded and self.timed is not None and has_older_kernels(self.timed)

    @property
    def name(self) -> str:
        """The title, else the id, and the settings that differ from other rows of the variant."""
        return BETWEEN.join(part for part in (self.title or self.variant, self.difference) if part)

    @property
    def timed(self) -> Row | None:
        """The row with the times: its parameters, rates and verdict belong to them."""
        return self.past or self.row

    def stage(self, name: str) -> Timing | None:
        """The timing of a stage."""
        return self.timed.stages.get(name) if self.timed else None

    def seconds(self, name: str) -> float | None:
        """The median of a stage."""
        return self.timed.seconds(name) if self.timed else None

    @property
    def shortest(self) -> float | None:
        """The shortest kernel time that a launch and the memory with the buffers allow."""
        return self.timed.shortest if self.timed else None

    def doubt(self, name: str) -> str:
        """Why the time of a stage is uncertain; empty where it is reliable."""
        stage = self.stage(name)
        return stage.doubt if stage else ""

    @property
    def ok(self) -> bool | None:
        if self.row is None:
            return None
        return False if self.row.faulty else self.row.ok

    @property
    def fault(self) -> str:
        """Why a result that agrees with the reference is wrong all the same, such as memory that was written outside
        the arrays, or a contract that is not met: the last note. "" where the values are wrong."""
        row = self.row
        if row is None or row.ok is not False or row.error_max is None or row.tolerance is None or not row.notes:
            return ""
        return row.notes[-1] if row.error_max <= row.tolerance else ""

    @property
    def failure(self) -> str:
        """Why there is no result; empty where there is one, or none yet."""
        return self.row.failure if self.row else ""

    @property
    def simulated(self) -> bool:
        """Whether a simulated GPU runs the row: it has counts but no times."""
        return is_simulated(self.device) or bool(self.timed and self.timed.simulated)

    @property
    def part(self) -> tuple[int, ...]:
        """The extents of the part of the input that a simulated GPU ran; () for all of it."""
        row = self.row
        if row is None or not row.counted_shape:
            return ()
        return INPUT_KINDS[FILTERS.find(row.filter).accepts].spatial(row.counted_shape)

    @property
    def counters(self) -> Mapping[str, int]:
        """What a simulated GPU counted, by name."""
        return self.row.counters if self.row else {}

    def counted(self, id: str) -> float | None:
        """The value of a counter or figure; None where nothing that it rests on was counted."""
        return value_of(id, self.counters)

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """The problems that a simulated GPU found: kind, severity, file, line, count, block, thread, detail, text."""
        return self.row.findings if self.row else ()

    @property
    def printed(self) -> Sequence[str]:
        """Lines that the kernel printed."""
        return self.row.printed if self.row else ()

    @property
    def origin(self) -> tuple[bool, str]:
        """The source of the values; values of different origins are not compared."""
        return self.recorded, self.machine


@dataclass(frozen=True)
class FairBar:
    """One bar of the fair comparison; `seconds` is None where nothing was measured."""

    id: str
    title: str
    seconds: float | None = None
    variant: str = ""
    clock: str = ""
    entry: Entry | None = None


def state_of(row: Row) -> State:
    """The state of a row that has just arrived."""
    return "failed" if row.failure or row.ok is False or row.faulty else "fresh"


def untimed(row: Row | None) -> bool:
    """Whether a row has no kernel time."""
    return row is None or "kernel" not in row.stages


def fair(members: Sequence[Entry]) -> tuple[FairBar, ...]:
    """The bars of the fair comparison of rows that did one job on one machine."""
    translate = QCoreApplication.translate
    titles = {
        "cpu_one": translate("Results", "CPU, one core"),
        "cpu_best": translate("Results", "CPU, best"),
        "gpu_kernel": translate("Results", "GPU, kernel alone"),
        "gpu_pageable": translate("Results", "GPU, from pageable memory"),
        "gpu_pinned": translate("Results", "GPU, from pinned memory"),
        "gpu_streamed": translate("Results", "GPU, pinned and streamed"),
    }
    timed_rows = [(entry, row) for entry in members if (row := entry.timed)]
    bars = []
    for bar in fair_bars([row for _, row in timed_rows]):
        entry = timed_rows[bar.place][0] if bar.place is not None else None
        if entry is None or bar.timing is None:
            bars.append(FairBar(bar.id, titles[bar.id]))
        else:
            bars.append(FairBar(bar.id, titles[bar.id], bar.timing.median, entry.name, bar.timing.clock, entry))
    return tuple(bars)
