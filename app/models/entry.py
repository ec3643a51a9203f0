"""One row of the results: what a report says of it, what the window knows of it, and the five fair bars of several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from app.models.subject import Subject

Key = tuple[str, str]
"""Variant id and device name; after the device of a row recorded elsewhere, that machine's name."""
APART = " · "
State = Literal["waiting", "running", "fresh", "stale", "failed"]
"""Waiting: declared, and nothing came yet."""


@dataclass(frozen=True)
class Entry:
    """One row: a report's row with what the window knows of it. `row` is empty until there is a first result.

    `subject` is what the row is of, and `current` whether that is what is chosen now. Until a new row is timed, `past`
    is the last one that was: its times stand there meanwhile, marked stale.
    """

    key: Key
    title: str = ""
    row: Mapping[str, Any] = field(default_factory=dict)
    state: State = "waiting"
    recorded: bool = False
    machine: str = ""
    subject: Subject | None = None
    current: bool = True
    past: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        return self.key[0]

    @property
    def device(self) -> str:
        return self.key[1].partition(APART)[0]

    @property
    def name(self) -> str:
        """The title, or the id where none was given."""
        return self.title or self.variant

    @property
    def timed(self) -> Mapping[str, Any]:
        """The row that the times are of: its parameters, its rates and its verdict belong to them."""
        return self.past or self.row

    def stage(self, name: str) -> Mapping[str, Any] | None:
        """The timing of a stage: median_s, q1_s, q3_s, min_s, n, stop, clock, mode."""
        stages: Mapping[str, Mapping[str, Any]] = self.timed.get("stages", {})
        return stages.get(name)

    def seconds(self, name: str) -> float | None:
        """The median of a stage."""
        stage = self.stage(name)
        return stage["median_s"] if stage else None

    def doubt(self, name: str) -> str:
        """Why the time of a stage is worth nothing; empty where it is good."""
        return str((self.stage(name) or {}).get("doubt", ""))

    @property
    def clock(self) -> str:
        kernel = self.stage("kernel")
        return kernel["clock"] if kernel else ""

    @property
    def ok(self) -> bool | None:
        return False if faulty(self.row) else self.row.get("ok")

    @property
    def simulated(self) -> bool:
        """Whether a simulated GPU runs it: it counts its work and has no times."""
        return self.device.partition(":")[0] == "sim" or self.clock == "simulated"

    @property
    def counters(self) -> Mapping[str, int]:
        """What a simulated GPU counted, by name."""
        counters: Mapping[str, int] = self.row.get("counters", {})
        return counters

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """What a simulated GPU found wrong: kind, severity, file, line, count, block, thread, detail, text."""
        findings: Sequence[Mapping[str, Any]] = self.row.get("findings", ())
        return findings

    @property
    def printed(self) -> Sequence[str]:
        """Lines that the kernel printed."""
        printed: Sequence[str] = self.row.get("printed", ())
        return printed

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


def state_of(row: Mapping[str, Any]) -> State:
    """The state of a row that has just come."""
    return "failed" if row.get("failure") or row.get("ok") is False or faulty(row) else "fresh"


def untimed(row: Mapping[str, Any]) -> bool:
    """Whether a row has no time of what it computes."""
    return "kernel" not in row.get("stages", {})


def faulty(row: Mapping[str, Any]) -> bool:
    """Whether a simulated GPU found an error: then the result is wrong, whatever it looks like."""
    return any(f["severity"] == "error" for f in row.get("findings", ()))


def job_of(row: Mapping[str, Any]) -> str:
    """Rows with the same job may be compared; knobs and device are what differs."""
    return json.dumps([row.get(n) for n in ("filter", "params", "shape", "dtype", "mode")], sort_keys=True)


def fair(members: Sequence[Entry]) -> tuple[FairBar, ...]:
    """The five bars of rows that did one job on one machine."""
    translate = QCoreApplication.translate
    cpu = [e for e in members if e.device == "cpu"]
    gpu = [e for e in members if e.device != "cpu"]
    one_core = [e for e in cpu if e.variant == "serial"]
    return (
        _best("cpu_one", translate("Results", "CPU, one core"), one_core, "kernel"),
        _best("cpu_best", translate("Results", "CPU, best"), cpu, "kernel"),
        _best("gpu_kernel", translate("Results", "GPU, kernel alone"), gpu, "kernel"),
        _best("gpu_pageable", translate("Results", "GPU, from pageable memory"), gpu, "elapsed"),
        _best("gpu_pinned", translate("Results", "GPU, from pinned memory"), gpu, "elapsed_pinned"),
    )


def _best(id: str, title: str, members: Sequence[Entry], stage: str) -> FairBar:
    timed = [(s["median_s"], e, s["clock"]) for e in members if (s := e.stage(stage))]
    if not timed:
        return FairBar(id, title)
    seconds, entry, clock = min(timed, key=lambda t: t[0])
    return FairBar(id, title, seconds, entry.name, clock, entry)
