"""From choices to runs: the newest wins, older answers are dropped, and nothing here blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.models.messages import subject_of
from app.models.origin import Origin
from app.models.results import Results
from app.models.session import Session
from app.worker import Engine
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import (
    DoctorAnswer,
    DoctorRequest,
    Failed,
    Finished,
    Loaded,
    LoadRequest,
    Progress,
    Ready,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    SharedArray,
    XRayAnswer,
    XRayRequest,
)
from gpu_ops.types import Pick, Variant

LIVE_MS = 2000
"""A live run that takes longer gives way to newer choices; a shorter one is shown first, so that dragging shows all."""
SIMULATED = "sm_75"
"""What an X-ray simulates where the device that is chosen names no architecture: the one that a simulated GPU has."""
QUIET_MS = 400
"""After the last change: the live picture is then timed as well."""


class SessionController(QObject):
    """Runs what the session asks for. A click, a key and the command line all come through here.

    `outputs_changed(variant, array, statistics, origin)` brings a result's pixels or samples, and says which part of
    the input they are; `message(kind, sentence, details, subject)` everything a person must know, `succeeded(subject)`
    that what was said of a subject, as app.models.messages has them, holds no longer; `began` says that a job begins,
    `busy_changed(text)` what it does, empty when nothing runs, and `progressed(done, total)` how far it is, 0 of 0
    where nobody knows; `settled` says that all that was asked for is done, the timing after a pause included.
    `xrayed(content)` brings an X-ray, `xray_failed(sentence)` why there is none; `point_answered(answer)` brings what
    the engine says of the jobs of `run_points`; `cancelled` says that a person wants nothing of what runs.
    """

    outputs_changed = Signal(str, object, object, object)
    input_array_changed = Signal(object, object)
    message = Signal(str, str, str, str)
    succeeded = Signal(str)
    began = Signal()
    busy_changed = Signal(str)
    progressed = Signal(int, int)
    devices_changed = Signal(object)
    doctor_answered = Signal(object)
    settled = Signal()
    xrayed = Signal(object)
    xray_failed = Signal(str)
    point_answered = Signal(object)
    cancelled = Signal()

    def __init__(self, engine: Engine, session: Session, results: Results, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self.session, self.results = engine, session, results
        self._generation = 0
        self._jobs: dict[int, str] = {}
        self._waiting: str = ""
        self._held: dict[str, SharedArray] = {}
        self._input_segment = ""
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._time_live)
        self.timed_after_pause = True
        self._overdue = QTimer(self, singleShot=True, interval=LIVE_MS)
        self._overdue.timeout.connect(self._give_way)
        engine.answered.connect(self._answered)
        session.choice_changed.connect(self._choice_changed)
        session.input_changed.connect(self._input_changed)
        session.device_changed.connect(self._device_changed)
        session.baseline_changed.connect(self._set_baseline)

    @property
    def busy(self) -> bool:
        """Whether anything runs, waits, or is about to be timed."""
        return bool(self._jobs or self._waiting or self._quiet.isActive())

    def start(self) -> None:
        """Start the engine; one that runs already has its devices known."""
        if self._engine.devices:
            self._take_devices(self._engine.devices)
            self.results.provenance = self._engine.provenance
        self._engine.start()

    # What a person does.

    def open_file(self, path: str, options: Mapping[str, Any] | None = None) -> None:
        """Load a file in the engine; the input before stays until it is there."""
        self._submit("load", LoadRequest(self._engine.next_job(), path, dict(options or {})), self.tr("loading"))

    def open_sample(self, id: str, options: Mapping[str, Any] | None = None) -> None:
        """Make a sample in the engine."""
        self._submit("load", SampleRequest(self._engine.next_job(), id, dict(options or {})), self.tr("loading"))

    def run_live(self) -> None:
        """Picture first: run the picks, check samples of the result, time it once the person pauses."""
        self._run("live")

    def measure(self) -> None:
        """Careful timing of every pick, each held to the whole reference."""
        self._run("measure")

    def cancel(self) -> None:
        """Stop whatever runs; what is on the screen stays."""
        self._waiting = ""
        self._quiet.stop()
        self.cancelled.emit()
        for job in list(self._jobs):
            self._engine.cancel(job)

    def run_points(self, requests: Sequence[RunRequest]) -> tuple[int, ...]:
        """Run these one after the other and return their jobs; live runs wait until the last has ended. What they bring
        goes to `point_answered` and to no result of the session's."""
        self._quiet.stop()
        numbered = [replace(request, job=self._engine.next_job()) for request in requests]
        for request in numbered:
            self._submit("sweep", request, self.tr("sweeping"))
        return tuple(request.job for request in numbered)

    def timed_picks(self) -> tuple[Pick, ...]:
        """What is ticked, less what a simulated GPU runs, which has no time."""
        return self._picks("time")

    def xray(self, variant: str, against: str = "") -> None:
        """Look into a variant's kernels on a simulated GPU, and into those of another to compare it with. It gives way
        to whatever else is asked for."""
        assert self.session.input is not None
        choice, find = self.session.choice, self.session.filter.variant
        pick, other = self._pick(find(variant)), self._pick(find(against)) if against else None
        job, architecture = self._engine.next_job(), self._architecture()
        request = XRayRequest(job, self.session.input, choice.filter, choice.params, pick, architecture, other)
        self._submit("xray", request, self.tr("looking into the kernel"))

    def _architecture(self) -> str:
        """That of the device that is chosen, so that its counts are those of the code that runs there."""
        kind, _, named = self.session.device.partition(":")
        if kind == "sim" and named:
            return named
        known = {status.name: status.architecture for status in self._engine.devices}
        return known.get(self.session.device, "") or SIMULATED

    def stop_xray(self) -> None:
        """Let go of an X-ray at work; nothing is killed for it."""
        for job in [job for job, kind in self._jobs.items() if kind == "xray"]:
            self._engine.cancel(job, kill=False)

    def result_to_save(self) -> tuple[str, SharedArray, float | None] | None:
        """The last picked variant that has a result, with it and its rate; None where there is none, which is said."""
        there = [v for v in self.session.choice.picks if v in self._held]
        if not there or self.session.input is None:
            self.message.emit("warning", self.tr("There is no result to save yet; run a variant first."), "", "save")
            return None
        return there[-1], self._held[there[-1]], self.session.input.rate

    def save_result(self, path: str) -> None:
        """Save that result, by the file's suffix."""
        made = self.result_to_save()
        if made is not None:
            request = SaveRequest(self._engine.next_job(), path, made[1], made[2])
            self._submit(f"save/{path}", request, self.tr("saving"))

    def ask_doctor(self) -> None:
        self._submit("doctor", DoctorRequest(self._engine.next_job()), self.tr("examining this machine"))

    # What changes.

    @Slot(object)
    def _input_changed(self, shared: Any) -> None:
        self._generation += 1
        self.succeeded.emit("run")
        self.results.clear()
        self._declare()
        self.input_array_changed.emit(self._engine.array(shared.array), shared)
        self._release_outputs()
        if self._input_segment:
            self._engine.release(self._input_segment)
        self._input_segment = shared.array.segment
        self.run_live()

    @Slot(object, str)
    def _choice_changed(self, choice: Any, what: str) -> None:
        if what == "filter":
            self.succeeded.emit("run")
            self._generation += 1
            self.results.clear()
        self._declare()
        self.results.mark_stale()
        self.run_live()

    @Slot(str)
    def _device_changed(self, name: str) -> None:
        self._declare()
        self.run_live()

    # Running.

    def _declare(self) -> None:
        """The rows there will be: every picked variant on its device, in the filter's order."""
        picked = self._picks("live")
        titles = {v.id: v.title for v in self.session.filter.variants}
        self.results.declare([(p.variant, p.device) for p in picked], titles)
        self._set_baseline(self.session.baseline)

    @Slot(str)
    def _set_baseline(self, variant: str) -> None:
        """Speed-ups are against this variant, where it runs."""
        chosen = {v.id: v for v in self.session.filter.variants}.get(variant)
        self.results.set_baseline((variant, self._pick(chosen).device) if chosen else None)

    def _run(self, how: str) -> None:
        """Start a run, or remember it until the one in the engine has ended: only the newest is kept."""
        if self.session.input is None or not self.session.choice.picks:
            return
        self._quiet.stop()
        if any(kind in ("live", "time", "measure", "sweep") for kind in self._jobs.values()):
            self._waiting = how
            self._give_way()
            return
        self._start(how)

    def _give_way(self) -> None:
        """Ask what runs to stop for something newer; a live run gets its time first. Nothing is killed for it."""
        if not self._waiting:
            return
        for job, kind in list(self._jobs.items()):
            if kind in ("time", "measure") or (kind == "live" and not self._overdue.isActive()):
                self._engine.cancel(job, kill=False)

    def _start(self, how: str) -> None:
        assert self.session.input is not None
        # Only now: while a parameter moves, what the last run still brings is shown, marked stale.
        self._generation += 1
        choice = self.session.choice
        request = RunRequest(
            job=self._engine.next_job(),
            generation=self._generation,
            input=self.session.input,
            filter=choice.filter,
            params=choice.params,
            picks=self._picks(how),
            protocol={"live": "none", "time": "quick", "measure": "careful"}[how],  # type: ignore[arg-type]
            checks="full" if how == "measure" else "sample",
            roofs=how == "measure",
        )
        self.results.set_running([(p.variant, p.device) for p in request.picks])
        texts = {"live": self.tr("running"), "time": self.tr("timing"), "measure": self.tr("measuring")}
        self._submit(how, request, texts[how])

    def _picks(self, how: str) -> tuple[Pick, ...]:
        """What such a run is of. A simulated GPU has no time: what it counts came with the picture."""
        picks = (self._pick(v) for v in self.session.filter.variants if v.id in self.session.choice.picks)
        return tuple(p for p in picks if how != "time" or not p.device.startswith("sim"))

    def _pick(self, variant: Variant) -> Pick:
        device = "cpu" if variant.device == "cpu" else self.session.device
        return Pick(variant.id, device, self.session.choice.knobs.get(variant.id, {}))

    def _time_live(self) -> None:
        if "sweep" in self._jobs.values():
            self._quiet.start()
        if self._jobs or self.session.input is None:
            return
        if self._picks("time"):
            self._start("time")
        else:
            self.settled.emit()

    def _submit(self, kind: str, request: Any, text: str) -> None:
        self.stop_xray()
        self._jobs[request.job] = kind
        if kind == "live":
            self._overdue.start()
        self.began.emit()
        self.busy_changed.emit(text)
        self._engine.submit(request)

    # What the engine says.

    @Slot(object)
    def _answered(self, answer: Any) -> None:
        if isinstance(answer, RunUpdate) and answer.provenance:
            self.results.provenance = dict(answer.provenance)
        if isinstance(answer, Ready):
            self._take_devices(answer.devices)
        elif self._jobs.get(answer.job) == "sweep":
            self.point_answered.emit(answer)
            if isinstance(answer, Failed | Finished):
                self._end(answer.job)
        elif isinstance(answer, Progress):
            self.busy_changed.emit(answer.text)
            self.progressed.emit(answer.done, answer.total)
        elif isinstance(answer, Loaded):
            self.session.set_input(answer.input)
        elif isinstance(answer, RunUpdate):
            self._take_update(answer)
        elif isinstance(answer, DoctorAnswer):
            self.doctor_answered.emit(answer.content)
        elif isinstance(answer, XRayAnswer):
            self.xrayed.emit(answer.content)
        elif isinstance(answer, Failed):
            if self._jobs.get(answer.job) == "xray":
                self.xray_failed.emit(answer.sentence)
            subject = subject_of(self._jobs.get(answer.job, ""))
            self.message.emit("error", answer.sentence, answer.details, subject)
            self._end(answer.job)
        elif isinstance(answer, Finished):
            if not answer.cancelled:
                self.succeeded.emit(subject_of(self._jobs.get(answer.job, "")))
            self._end(answer.job, answer.cancelled)

    def _take_devices(self, devices: Sequence[DeviceStatus]) -> None:
        """Kernels run on the first CUDA device there is, or simulated where there is none, until another is picked."""
        there = [d.name for kind in ("cuda", "sim") for d in devices if d.available and d.kind == kind]
        self.session.set_devices(tuple(there))
        self.devices_changed.emit(devices)

    def _take_update(self, update: RunUpdate) -> None:
        """Rows of an older generation are dropped: what they show is no longer what is asked for."""
        fresh = update.generation == self._generation
        for name, shared in update.outputs.items():
            if fresh and name in {o.id for o in self.session.filter.outputs}:
                self._take_output(update, shared, update.statistics[name])
            else:
                self._engine.release(shared.segment)
        if fresh:
            self._put_row(update.row)
            if self._waiting:
                self.results.mark_stale()
            subject = f"run/{update.row['variant']}"
            if update.row["failure"] and update.row["failure_kind"] != "unsupported":
                self.message.emit("error", str(update.row["failure"]), "", subject)
            elif not update.row["failure"]:
                self.succeeded.emit(subject)

    def _put_row(self, row: Mapping[str, Any]) -> None:
        """A live row has no times yet: until they come the last ones stay beside it, marked stale."""
        key = (str(row["variant"]), str(row["device"]))
        last = self.results.entry(key).row if key in self.results else {}
        if "kernel" in last.get("stages", {}) and "kernel" not in row["stages"] and row["ok"] is not False:
            fresh = {name: row[name] for name in ("ok", "errors", "error_max", "tolerance", "notes", "failure")}
            self.results.put({**last, **fresh})
            self.results.mark_stale([key])
            return
        self.results.put(row)

    def _take_output(self, update: RunUpdate, shared: SharedArray, statistics: Any) -> None:
        variant, input = str(update.row["variant"]), self.session.input
        whole = input.array.shape[: len(update.place)] if input is not None else ()
        origin = Origin(str(update.row["device"]).startswith("sim"), update.place, whole)
        self.outputs_changed.emit(variant, self._engine.array(shared), statistics, origin)
        # The view has the new array now; nothing draws from the old segment any more.
        if variant in self._held:
            self._engine.release(self._held[variant].segment)
        self._held[variant] = shared

    def _release_outputs(self) -> None:
        for shared in self._held.values():
            self._engine.release(shared.segment)
        self._held.clear()

    def _end(self, job: int, cancelled: bool = False) -> None:
        kind = self._jobs.pop(job, "")
        if kind in ("live", "time", "measure"):
            self.results.stop_running()
        if self._waiting and not self._jobs:
            how, self._waiting = self._waiting, ""
            self._start(how)
            return
        if kind == "live" and self.timed_after_pause and not cancelled:
            self._quiet.start()
        if not self._jobs:
            self.busy_changed.emit("")
            if not self.busy:
                self.settled.emit()
