"""Writes requests to the engine and its answers into the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Slot

from app.base.worker import Engine
from app.models.log import Log
from gpu_ops import step_words
from gpu_ops.engine.kernel_messages import (
    BlockRequest,
    CliffsRequest,
    ContractRequest,
    PageRequest,
    PredictionRequest,
    TrafficRequest,
    XRayRequest,
)
from gpu_ops.engine.live.messages import LiveRequest
from gpu_ops.engine.messages import (
    DoctorRequest,
    Failed,
    Finished,
    FramesRequest,
    Loaded,
    LoadRequest,
    Ready,
    ResultRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Stepped,
    StepsRequest,
    SurveyRequest,
    TimelinesRequest,
    TransfersRequest,
)
from gpu_ops.engine.shared import SharedInput
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import Form
from gpu_ops.report.row_kinds import error_json
from gpu_ops.run_key import hash_of_edits
from gpu_ops.types import Pick

WHO = "engine"


class EngineLog(QObject):
    """Writes a line for each start, request, input, failed pick, failure and end; progress would be too many lines."""

    def __init__(self, engine: Engine, log: Log, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._log = engine, log
        self._begun: dict[int, float] = {}
        self._silent: set[int] = set()
        engine.asked.connect(self._log_request)
        engine.answered.connect(self._log_answer)

    @Slot(object)
    def _log_request(self, request: Any) -> None:
        if isinstance(request, LiveRequest) and request.do == "next" and request.after >= 0:
            self._silent.add(request.job)  # many a second
            return
        self._begun[request.job] = time.perf_counter()
        self._log.add(WHO, f"job {request.job}: {describe(request)}")

    @Slot(object)
    def _log_answer(self, answer: Any) -> None:
        write = _WRITERS.get(type(answer))
        if write is not None:
            write(self, answer)

    def _log_start(self, ready: Ready) -> None:
        devices = [f"{d.name} ({d.model})" if d.available else f"no {d.name}: {d.reason}" for d in ready.devices]
        process = f"process {self._engine.client.pid}, protocol {ready.protocol}"
        self._log.add(WHO, f"started, {process}; {'; '.join(devices)}")

    def _log_input(self, loaded: Loaded | Stepped) -> None:
        input = loaded.input
        self._log.add(WHO, f"job {loaded.job}: {input.name}, {_array(input)}")

    def _log_failure(self, failed: Failed) -> None:
        self._silent.discard(failed.job)
        text = f"job {failed.job}: failed ({failed.kind}){self._after(failed.job)}: {failed.sentence}"
        self._log.add(WHO, text, failed.details)

    def _log_end(self, finished: Finished) -> None:
        if finished.job in self._silent:
            self._silent.discard(finished.job)
            return
        how = "cancelled" if finished.cancelled else "done"
        self._log.add(WHO, f"job {finished.job}: {how}{self._after(finished.job)}")

    def _log_fault(self, update: RunUpdate) -> None:
        """Log a pick that failed or has a wrong result."""
        row = update.row
        where = f"job {update.job}: {row.variant} on {row.device}"
        if row.failure:
            self._log.add(WHO, f"{where} failed ({row.failure_kind}): {row.failure}")
        elif row.ok is False:
            self._log.add(WHO, f"{where} is wrong by {error_json(row.error_max)} where {row.tolerance} is allowed")

    def _after(self, job: int) -> str:
        start = self._begun.pop(job, None)
        return "" if start is None else f" after {time.perf_counter() - start:.3f} s"


_WRITERS: Mapping[type, Callable[[EngineLog, Any], None]] = {
    Ready: EngineLog._log_start,
    Loaded: EngineLog._log_input,
    Stepped: EngineLog._log_input,
    RunUpdate: EngineLog._log_fault,
    Failed: EngineLog._log_failure,
    Finished: EngineLog._log_end,
}
"""The method that writes each type of answer; other types are left out."""


def describe(request: Any) -> str:
    """A request in one line, with everything that is needed to repeat it."""
    return _DESCRIPTIONS[type(request)](request)


def _run(request: RunRequest) -> str:
    picks = ", ".join(f"{p.variant} on {p.device}{_values(p.knobs)}" for p in request.picks)
    how = f"protocol {request.protocol}, mode {request.mode}, checks {request.checks}"
    job = f"{request.filter}{_values(request.params)} of {_array(request.input)}"
    return f"run {job}; {how}; {picks}"


def _xray(request: XRayRequest) -> str:
    pick, other = request.pick, request.against
    job = f"{pick.variant}{_values(pick.knobs)} of {request.filter}{_values(request.params)}"
    beside = f", compared with {other.variant}{_values(other.knobs)}" if other else ""
    job += f", edited {hash_of_edits(pick.edits)}" if pick.edits else ""
    gpu = f"a simulated {request.architecture}"
    return f"X-ray of {job}{beside} on {gpu}; {_array(request.input)}"


def _kernels(picks: tuple[Pick, ...]) -> str:
    return ", ".join(
        f"{p.variant}{_values(p.knobs)}{f', edited {hash_of_edits(p.edits)}' if p.edits else ''}" for p in picks
    )


def _prediction(request: PredictionRequest) -> str:
    job = f"{request.filter}{_values(request.params)} of {_array(request.input)}"
    return f"counts of launches on {request.gpu}: {job}; {_kernels(request.picks)}"


def _traffic(request: TrafficRequest) -> str:
    picks = ", ".join(f"{pick.variant}{_values(pick.knobs)}" for pick in request.picks)
    where = f", footprint of {request.output}[{', '.join(map(str, request.place))}]" if request.place else ""
    job = f"{request.filter}{_values(request.params)} of {_array(request.input)}"
    return f"traffic on a simulated {request.architecture}: {job}; {picks}{where}"


def _page(request: PageRequest) -> str:
    over = "; ".join(f"{name} {', '.join(values)}" for name, values in request.over.items())
    job = f"{request.filter}{_values(request.params)} of {_array(request.input)}"
    gpu = f", predicted for {request.gpu.id}" if request.gpu else ""
    where = f"on a simulated {request.architecture}{gpu} into {request.path}"
    return f"counts over {over} {where}: {job}; {_kernels(request.picks)}"


def _cliffs(request: CliffsRequest) -> str:
    pick = request.pick
    edited = f", edited {hash_of_edits(pick.edits)}" if pick.edits else ""
    job = f"{pick.variant}{_values(pick.knobs)}{edited} of {request.filter}{_values(request.params)}"
    return f"cliffs of {job} on a simulated {request.architecture}; {_array(request.input)}"


def _block(request: BlockRequest) -> str:
    pick = request.pick
    edited = f", edited {hash_of_edits(pick.edits)}" if pick.edits else ""
    job = f"{pick.variant}{_values(pick.knobs)}{edited} of {request.filter}{_values(request.params)}"
    which = f"block {request.place or 'in the middle'} of launch {request.launch or 0}"
    order = ", also in another order" if request.other else ""
    return f"{which} of {job}{order} on a simulated {request.architecture}; {_array(request.input)}"


def _timelines(request: TimelinesRequest) -> str:
    picks = ", ".join(f"{p.variant} on {p.device}{_values(p.knobs)}" for p in request.picks)
    job = f"{request.filter}{_values(request.params)} of {_array(request.input)}"
    blocking = ", launch blocking" if request.launch_blocking else ""
    return f"timelines of {job}; {picks}; {_model(request)}{blocking}"


def _transfers(request: TransfersRequest) -> str:
    subject = f" of {_array(request.input)}{_values(request.params)}" if request.input else ""
    return f"{request.sweep} of transfers{subject} on {request.device}; {_model(request)}"


def _model(request: TimelinesRequest | TransfersRequest) -> str:
    """The queues and the rates of a simulated GPU."""
    rates, order = request.rates, ", in order" if request.in_order else ""
    speeds = f", at {rates.upload:g}, {rates.download:g} and {rates.kernel:g} B/s" if rates else ""
    return f"{request.copy_engines} copy engines{order}{speeds}"


def _save(request: SaveRequest) -> str:
    form, saving = request.result.form, request.saving
    levels = f" {saving.levels[0]:g} to {saving.levels[1]:g}" if saving.levels else ""
    mapping = f", mapping {saving.map}{levels}" if saving.map != "none" else ""
    return f"save {request.path}, {_form(form)}{mapping}"


def _values(values: Mapping[str, Any]) -> str:
    return "".join(f" {name}={value}" for name, value in values.items())


def _array(input: SharedInput) -> str:
    return f"{INPUT_KINDS[input.kind].size_text(input.array.shape, ' × ')} {input.array.dtype}"


def _form(form: Form) -> str:
    return f"{' × '.join(map(str, form.width_first))} {form.dtype}"


_DESCRIPTIONS: Mapping[type, Callable[[Any], str]] = {
    LoadRequest: lambda r: f"load {r.path}{_values(r.options)}",
    SurveyRequest: lambda r: f"read {r.path}{_values(r.choices)}",
    SampleRequest: lambda r: f"generate the sample {r.id}{_values(r.options)}",
    StepsRequest: lambda r: f"change {r.input.name}: {', '.join(step_words(step) for step in r.steps)}",
    ResultRequest: lambda r: f"use {r.name} as an input, {_form(r.result.form)}",
    LiveRequest: lambda r: f"{r.do} of the live source {r.source}",
    RunRequest: _run,
    XRayRequest: _xray,
    CliffsRequest: _cliffs,
    BlockRequest: _block,
    TrafficRequest: _traffic,
    ContractRequest: lambda r: f"contract of {r.filter} {r.pick.variant}, edited, on {r.pick.device}",
    PredictionRequest: _prediction,
    PageRequest: _page,
    TimelinesRequest: _timelines,
    TransfersRequest: _transfers,
    SaveRequest: _save,
    FramesRequest: lambda r: f"run {r.filter} {r.pick.variant} over all frames of {r.input.name} into {r.path}",
    DoctorRequest: lambda r: "examine this machine",
}
