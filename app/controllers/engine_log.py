"""Writes what goes to the engine and what comes from it into the log."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Slot

from app.models.log import Log
from app.worker import Engine
from gpu_ops.engine.messages import (
    DoctorRequest,
    Failed,
    Finished,
    Loaded,
    LoadRequest,
    Ready,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    XRayRequest,
)

WHO = "engine"


class EngineLog(QObject):
    """Lines for starts, requests, inputs, failed picks, failures and ends; progress, which is too much, is left out."""

    def __init__(self, engine: Engine, log: Log, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._log = engine, log
        self._begun: dict[int, float] = {}
        engine.asked.connect(self._asked)
        engine.answered.connect(self._answered)

    @Slot(object)
    def _asked(self, request: Any) -> None:
        self._begun[request.job] = time.perf_counter()
        self._log.add(WHO, f"job {request.job}: {described(request)}")

    @Slot(object)
    def _answered(self, answer: Any) -> None:
        if isinstance(answer, Ready):
            devices = [f"{d.name} ({d.model})" if d.available else f"no {d.name}: {d.reason}" for d in answer.devices]
            process = f"process {self._engine.client.pid}, protocol {answer.protocol}"
            self._log.add(WHO, f"started, {process}; {'; '.join(devices)}")
        elif isinstance(answer, Loaded):
            made = answer.input
            self._log.add(WHO, f"job {answer.job}: {made.name}, {_array(made.array.shape, made.array.dtype)}")
        elif isinstance(answer, RunUpdate):
            self._tell_fault(answer)
        elif isinstance(answer, Failed):
            text = f"job {answer.job}: failed ({answer.kind}){self._after(answer.job)}: {answer.sentence}"
            self._log.add(WHO, text, answer.details)
        elif isinstance(answer, Finished):
            how = "cancelled" if answer.cancelled else "done"
            self._log.add(WHO, f"job {answer.job}: {how}{self._after(answer.job)}")

    def _tell_fault(self, update: RunUpdate) -> None:
        """A pick that failed, or whose result is wrong."""
        row = update.row
        where = f"job {update.job}: {row['variant']} on {row['device']}"
        if row["failure"]:
            self._log.add(WHO, f"{where} failed ({row['failure_kind']}): {row['failure']}")
        elif row["ok"] is False:
            self._log.add(WHO, f"{where} is wrong by {row['error_max']} where {row['tolerance']} is allowed")

    def _after(self, job: int) -> str:
        begun = self._begun.pop(job, None)
        return "" if begun is None else f" after {time.perf_counter() - begun:.3f} s"


def described(request: Any) -> str:
    """A request in one line, with all that is needed to make it again."""
    match request:
        case LoadRequest():
            return f"load {request.path}{_values(request.options)}"
        case SampleRequest():
            return f"make the sample {request.id}{_values(request.options)}"
        case RunRequest():
            picks = ", ".join(f"{p.variant} on {p.device}{_values(p.knobs)}" for p in request.picks)
            array = request.input.array
            how = f"protocol {request.protocol}, mode {request.mode}, checks {request.checks}"
            job = f"{request.filter}{_values(request.params)} of {_array(array.shape, array.dtype)}"
            return f"run {job}; {how}; {picks}"
        case XRayRequest():
            array, pick = request.input.array, request.pick
            job = f"{pick.variant}{_values(pick.knobs)} of {request.filter}{_values(request.params)}"
            other = request.against
            beside = f", compared with {other.variant}{_values(other.knobs)}" if other else ""
            gpu = f"a simulated {request.architecture}"
            return f"look into {job}{beside} on {gpu}; {_array(array.shape, array.dtype)}"
        case SaveRequest():
            return f"save {request.path}, {_array(request.result.form.shape, request.result.form.dtype)}"
        case DoctorRequest():
            return "examine this machine"
    return str(request)


def _values(values: Mapping[str, Any]) -> str:
    return "".join(f" {name}={value}" for name, value in values.items())


def _array(shape: tuple[int, ...], dtype: str) -> str:
    return f"{' × '.join(map(str, shape))} {dtype}"
