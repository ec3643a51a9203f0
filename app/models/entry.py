"""One row of the results: what a report says of it, what the window knows of it, and the five fair bars of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.models.apart import BETWEEN
from app.models.slot import RowSlot
from app.models.subject import Subject
from gpu_ops.device_names import is_simulated
from gpu_ops.measuring.rows import Row
from gpu_ops.measuring.standing import five_bars
from gpu_ops.types import Timing

State = Literal["waiting", "running", "fresh", "stale", "failed"]
"""Waiting: declared, and nothing came yet."""


@dataclass(frozen=True)
class Entry:
    """One row: a report's row with what the window knows of it. There is no `row` until there is a first result.

    `subject` is what the row is of, and `current` whether that is what is chosen now. Until a new row is timed, `past`
    is the last one that was: its times stand there meanwhile, marked stale. `apart` says in what it differs from other
    rows of its variant, where there are any.
    """

    slot: RowSlot
    title: str = ""
    row: Row | None = None
    state: State = "waiting"
    recorded: bool = False
    subject: Subject | None = None
    current: bool = True
    past: Row | None = None
    apart: str = ""

    @property
    def variant(self) -> str:
        return self.slot.variant

    @property
    def device(self) -> str:
        return self.slot.device

    @property
    def machine(self) -> str:
        """Where a recorded row was made; "" for one made here."""
        return self.slot.machine

    @property
    def name(self) -> str:
        """The title, or the id where none was given, and what differs from other rows of the variant."""
        return BETWEEN.join(part for part in (self.title or self.variant, self.apart) if part)

    @property
    def timed(self) -> Row | None:
        """The row that the times are of: its parameters, its rates and its verdict belong to them."""
        return self.past or self.row

    def stage(self, name: str) -> Timing | None:
        """The timing of a stage."""
        return self.timed.stages.get(name) if self.timed else None

    def seconds(self, name: str) -> float | None:
        """The median of a stage."""
        return self.timed.seconds(name) if self.timed else None

    def doubt(self, name: str) -> str:
        """Why the time of a stage is worth nothing; empty where it is good."""
        stage = self.stage(name)
        return stage.doubt if stage else ""

    @property
    def ok(self) -> bool | None:
        if self.row is None:
            return None
        return False if self.row.faulty else self.row.ok

    @property
    def failure(self) -> str:
        """Why there is no result; empty where there is one, or none yet."""
        return self.row.failure if self.row else ""

    @property
    def simulated(self) -> bool:
        """Whether a simulated GPU runs it: it counts its work and has no times."""
        return is_simulated(self.device) or bool(self.timed and self.timed.simulated)

    @property
    def counters(self) -> Mapping[str, int]:
        """What a simulated GPU counted, by name."""
        return self.row.counters if self.row else {}

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """What a simulated GPU found wrong: kind, severity, file, line, count, block, thread, detail, text."""
        return self.row.findings if self.row else ()

    @property
    def printed(self) -> Sequence[str]:
        """Lines that the kernel printed."""
        return self.row.printed if self.row else ()

    @property
    def origin(self) -> tuple[bool, str]:
        """Where the figures come from; figures of different origins are not compared."""
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
    """The state of a row that has just come."""
    return "failed" if row.failure or row.ok is False or row.faulty else "fresh"


def untimed(row: Row | None) -> bool:
    """Whether there is no time of what a row computes."""
    return row is None or "kernel" not in row.stages


def fair(members: Sequence[Entry]) -> tuple[FairBar, ...]:
    """The five bars of rows that did one job on one machine."""
    translate = QCoreApplication.translate
    titles = {
        "cpu_one": translate("Results", "CPU, one core"),
        "cpu_best": translate("Results", "CPU, best"),
        "gpu_kernel": translate("Results", "GPU, kernel alone"),
        "gpu_pageable": translate("Results", "GPU, from pageable memory"),
        "gpu_pinned": translate("Results", "GPU, from pinned memory"),
    }
    timed = [(entry, row) for entry in members if (row := entry.timed)]
    found = []
    for bar in five_bars([row for _, row in timed]):
        entry = timed[bar.place][0] if bar.place is not None else None
        if entry is None or bar.timing is None:
            found.append(FairBar(bar.id, titles[bar.id]))
        else:
            found.append(FairBar(bar.id, titles[bar.id], bar.timing.median, entry.name, bar.timing.clock, entry))
    return tuple(found)
