"""Turns choices into runs: the newest choice wins, older answers are dropped, and nothing here blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from PySide6.QtCore import QObject, Signal, Slot

from app.base.worker import Engine
from app.controllers.chosen import Chosen, choose
from app.controllers.inputs import Inputs
from app.controllers.outputs import Outputs
from app.controllers.queue import RunQueue
from app.models.experiment.change import Change
from app.models.experiment.job_kind import (
    DOCTOR,
    FRAME,
    LIVE,
    LOAD,
    MEASURE,
    PLAY,
    PREVIEW,
    RESTORE,
    SAVE,
    STEPS,
    SWEEP,
    TIME,
)
from app.models.experiment.refusal import refuses
from app.models.experiment.session import Session
from app.models.experiment.subject import Subject
from app.models.results.results import Results
from gpu_ops import Saving
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.live.messages import LiveFrame
from gpu_ops.engine.messages import (
    DoctorAnswer,
    DoctorRequest,
    Failed,
    Finished,
    Loaded,
    LoadRequest,
    OccupancyAnswer,
    Progress,
    Ready,
    ResultSaved,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Seen,
    Stepped,
    Surveyed,
    TimelinesAnswer,
    TransfersAnswer,
)
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import InputError
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.report.rows import Row
from gpu_ops.types import Pick

Demanded = Seen | TimelinesAnswer | TransfersAnswer
"""Answers with the content of panels."""


class SessionController(QObject):
    """Runs what the session asks for. A click, a key and the command line all come through here.

    `input_array_changed(array, shared)` carries another input, `stepped_array_changed(array, shared)` the same one
    after other steps. `outputs_changed(variant, name, shown)` carries the output `name` of a variant; `message(kind,
    sentence, details, subject)` everything the user must know; `succeeded(subject)` says that earlier messages about a
    subject (see app.models.messages) no longer apply, and `nonfinite_found(sentence, found, request)` that the user
    must choose how to open a file. `began` says that a job begins, `busy_changed(text)` what it does (empty when
    nothing runs), `progressed(done, total)` its progress (0 of 0 where unknown), and `settled` that all requested work
    is done, including the timing after a pause. `named_row` makes the sentences of an edited kernel's row name the
    edited files. `saved(answer)` says that a result was saved and how its values were
    converted. `demanded(kind, answer)` carries a panel's content, requested by a job of that kind, `demand_failed(kind,
    sentence)` says why there is none; `point_answered(answer)` carries the engine's answers to the jobs of
    `run_points`, `frame_loaded(shared)` another frame, `session_answered(answer)` the input of a session that is being
    opened, or the failure; `cancelled` says that the user has cancelled everything that runs.
    """

    outputs_changed = Signal(str, str, object)
    input_array_changed = Signal(object, object)
    stepped_array_changed = Signal(object, object)
    message = Signal(str, str, str, str)
    nonfinite_found = Signal(str, object, object)
    succeeded = Signal(str)
    began = Signal()
    busy_changed = Signal(str)
    progressed = Signal(int, int)
    devices_changed = Signal(object)
    doctor_answered = Signal(object)
    settled = Signal()
    demanded = Signal(object, object)
    demand_failed = Signal(object, str)
    point_answered = Signal(object)
    frame_loaded = Signal(object)
    session_answered = Signal(object)
    cancelled = Signal()
    saved = Signal(object)

    def __init__(self, engine: Engine, session: Session, results: Results, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self.session, self.results = engine, session, results
        self.queue = RunQueue(engine, session, results, self)
        self.queue.began.connect(self.began)
        self.queue.busy_changed.connect(self.busy_changed)
        self.queue.settled.connect(self.settled)
        self.named_row: Callable[[Row], Row] = lambda row: row
        self.loading: LoadRequest | None = None
        self._outputs = Outputs(engine, session, self.queue, self.outputs_changed.emit)
        self.inputs = Inputs(engine, session, self.queue, self)
        self.inputs.message.connect(self.message)
        engine.answered.connect(self._take_answer)
        engine.arrived.connect(self._take_arrived)
        self.queue.settled.connect(self._outputs.fetch)
        self.look_again = self._outputs.look_again
        session.changed.connect(self._changed)

    @property
    def busy(self) -> bool:
        """Whether anything runs, waits, plays, or is about to be timed."""
        return self.queue.busy

    def start(self) -> None:
        """Start the engine; if it runs already, take its known devices."""
        if self._engine.devices:
            self._take_devices(self._engine.devices)
            self.results.provenance = self._engine.provenance
        self._engine.start()

    # User actions

    def open_file(self, path: str, options: Mapping[str, Any] | None = None) -> None:
        """Load a file in the engine at once; the present input stays until the new one has come."""
        self.queue.interrupt()
        self.loading = LoadRequest(self._engine.next_job(), path, dict(options or {}))
        self.queue.submit(LOAD, self.loading)

    def open_sample(self, id: str, options: Mapping[str, Any] | None = None) -> None:
        """Have the engine generate a sample at once."""
        self.queue.interrupt()
        self.queue.submit(LOAD, SampleRequest(self._engine.next_job(), id, dict(options or {})))

    def run_live(self) -> None:
        """Run the picks for a quick picture, check samples of the results, and time them once the user pauses. While
        frames are `playing`, there is no check and no timing: the next frame comes too soon."""
        self.queue.run(PLAY if self.queue.playing else LIVE)

    def measure(self) -> None:
        """Time every pick with care and compare each with the whole reference."""
        self.queue.run(MEASURE)

    def cancel(self) -> None:
        """Stop whatever runs; the screen stays as it is."""
        self.cancelled.emit()
        self.queue.cancel()

    def run_points(self, requests: Sequence[RunRequest]) -> tuple[int, ...]:
        """Run these one after the other and return their jobs; live runs wait until the last has ended. Their answers
        go to `point_answered` only, not into the session's results."""
        self.queue.make_way()
        numbered = [replace(request, job=self._engine.next_job()) for request in requests]
        for request in numbered:
            self.queue.submit(SWEEP, request)
        return tuple(request.job for request in numbered)

    def timed_picks(self) -> tuple[Pick, ...]:
        """The ticked variants without those on a simulated GPU, which have no times."""
        return self.queue.picks(TIME)

    def result_to_save(self, looked_at: str = "") -> Chosen | None:
        """The present output of the variant that is `looked_at`, else of the last picked one that has the whole input's
        result. None, with a message, where there is none."""
        variant = choose(self.session, self._outputs.results, self._outputs.origins, looked_at)
        if not variant:
            self.message.emit("warning", self.tr("There is no result to save yet; run a variant first."), "", "save")
            return None
        key, input = (variant, self.session.output.id), self.session.input
        rate = input.rate if input is not None and OUTPUT_KINDS[self._outputs.results[key].kind].heard else None
        return Chosen(variant, self._outputs.results[key], self._outputs.origins[key], rate)

    def save_result(self, path: str, what: Chosen, saving: Saving) -> None:
        """Save a result in the format of the file's suffix, with this mapping and these facts."""
        input, subject = self.session.input, what.origin.subject
        own = input is not None and subject is not None and subject.input == self.session.inputs  # else: other steps
        how = replace(saving, pixel=input.facts.pixel if own and input is not None else None)
        request = SaveRequest(self._engine.next_job(), path, what.result, what.rate, how)
        self.queue.submit(replace(SAVE, subject=f"{SAVE.subject}/{path}"), request)

    def use_result(self, looked_at: str = "") -> None:
        """Use the result to be saved as the input."""
        variant = choose(self.session, self._outputs.results, self._outputs.origins, looked_at)
        if variant:
            key = variant, self.session.output.id
            self.inputs.use_result(*key, self._outputs.results[key], self._outputs.origins[key])
        else:
            self.message.emit("warning", self.tr("There is no result to use yet; run a variant first."), "", "open")

    def array_of(self, name: str) -> SharedArray:
        """The array of the input after its steps ("input"), or of the result to be saved. Raises InputError."""
        if name == "input":
            if self.session.input is None:
                raise InputError(self.tr("There is no input; open an image or a signal first."))
            return self.session.input.array
        variant = choose(self.session, self._outputs.results, self._outputs.origins, "")
        if not variant:
            raise InputError(self.tr("There is no result to use yet; run a variant first."))
        return self._outputs.results[variant, self.session.output.id].array

    def ask_doctor(self) -> None:
        self.queue.submit(DOCTOR, DoctorRequest(self._engine.next_job()))

    # Changes of the session

    @Slot(object)
    def _changed(self, change: Change) -> None:
        """Show existing results at once, drop those that no longer belong to the screen, and run the missing ones."""
        session, anew = self.session, change.opened or change.filter
        if anew:
            self.succeeded.emit("run")
            self.queue.outdate()
            self.results.clear()
        elif change.stepped:
            self.queue.renew()
        if change.input or change.experiment or change.steps:
            self._outputs.keep(() if anew else session.shown.ids)
        if change.input or change.experiment or change.steps or change.device:
            self._declare()
            self._outputs.share()
            self.results.compare_with(session.shown.subject_of)
        elif change.baseline:
            self._set_baseline()
        if change.input:
            self._show_input(change)
        if change.originals:
            self.inputs.tidy()
        if change.opened or change.device or self._lacks_run(change):
            self.run_live()

    def _show_input(self, change: Change) -> None:
        shared = change.after.input
        assert shared is not None
        array = self._engine.array(shared.array)
        self._outputs.look(shared.array)
        if change.opened:
            self.input_array_changed.emit(array, shared)
            self.inputs.replaced(shared)
        else:  # results of the previous steps stay, labelled as such, until new ones arrive
            self.stepped_array_changed.emit(array, shared)
            self.inputs.stepped()

    def _lacks_run(self, change: Change) -> bool:
        """Whether results of the present choice are missing. Those of other steps wait for the steps."""
        if change.picks_or_settings or (change.pins and self.queue.pins_lack):
            return True
        return change.steps and (change.stepped or self.session.lacks_steps)

    # Running

    def _declare(self) -> None:
        """Declare the rows to come: every ticked variant on its device, in the filter's order, before its pins."""
        session, shown = self.session, self.session.shown
        titles = {v.id: v.title for v in session.filter.all_variants}
        ticked = [] if refuses(session.filter, session.input) else [v for v in titles if v in session.choice.picks]
        self.results.declare([shown.slot(id) for id in shown.with_pins(ticked)], titles, shown.slot_titles)
        self._set_baseline()

    def _set_baseline(self) -> None:
        """Set the variant that speed-ups are relative to, on its device."""
        variant = self.session.baseline
        exists = any(v.id == variant for v in self.session.filter.variants)
        self.results.set_baseline(self.session.shown.slot(variant) if exists else None)

    # Answers of the engine

    @Slot(object)
    def _take_answer(self, answer: Any) -> None:
        point = self.queue.jobs.get(getattr(answer, "job", 0)) is SWEEP
        (_OF_POINTS if point else _OF_JOBS)[type(answer)](self, answer)

    def _take_arrived(self, arrived: Any) -> None:
        self._outputs.take_arrived(arrived)
        if (input := self.session.input) is not None and input.array.segment == arrived.segment:
            self.stepped_array_changed.emit(self._engine.array(input.array), input)

    def _take_ready(self, ready: Ready) -> None:
        self._take_devices(ready.devices)

    def _take_progress(self, progress: Progress) -> None:
        kind = self.queue.jobs.get(progress.job)
        if kind is not None and kind.beside and len(self.queue.jobs) > 1:
            return  # the other job has further answers
        self.busy_changed.emit(progress.text)
        self.progressed.emit(progress.done, progress.total)

    def _take_loaded(self, loaded: Loaded) -> None:
        kind = self.queue.jobs.get(loaded.job)
        if kind is FRAME:
            self.frame_loaded.emit(loaded.input)
        elif kind is RESTORE:
            self.session_answered.emit(loaded)
        else:
            self.inputs.take_loaded(loaded, self.loading if self.loading and self.loading.job == loaded.job else None)

    def _take_demanded(self, answer: Demanded) -> None:
        kind = self.queue.jobs.get(answer.job)
        if kind is not None:
            self.demanded.emit(kind, answer)

    def _take_end(self, finished: Finished) -> None:
        kind = self.queue.jobs.get(finished.job)
        if kind is not None and not finished.cancelled:
            self.succeeded.emit(kind.subject)
        self.queue.end(finished.job, finished.cancelled)

    def _take_failure(self, failed: Failed) -> None:
        kind = self.queue.jobs.get(failed.job)
        if kind is not None and kind.aside:
            self.demand_failed.emit(kind, failed.sentence)
        if failed.nonfinite is not None and self.loading is not None and self.loading.job == failed.job:
            self.nonfinite_found.emit(failed.sentence, failed.nonfinite, self.loading)
        elif kind is RESTORE:
            self.session_answered.emit(failed)
        elif kind is not PREVIEW:
            sentence = self.inputs.fail(failed) if kind is STEPS else failed.sentence
            self.message.emit("error", sentence, failed.details, kind.subject if kind else "")
        self.queue.end(failed.job)

    def _take_point(self, answer: Progress | RunUpdate | OccupancyAnswer) -> None:
        """Pass on a sweep's answer; the session takes only the machine's provenance from it."""
        if isinstance(answer, RunUpdate):
            self._take_provenance(answer)
        self.point_answered.emit(answer)

    def _end_point(self, ended: Finished | Failed) -> None:
        self.point_answered.emit(ended)
        self.queue.end(ended.job)

    def _take_provenance(self, update: RunUpdate) -> None:
        if update.provenance:
            self.results.provenance = dict(update.provenance)

    def _take_devices(self, devices: Sequence[DeviceStatus]) -> None:
        """Offer the devices; the first CUDA device, else a simulated GPU, runs kernels until the user picks another."""
        names = [d.name for kind in ("cuda", "sim") for d in devices if d.available and d.kind == kind]
        self.session.set_devices(tuple(names))
        self.devices_changed.emit(devices)

    def _take_update(self, update: RunUpdate) -> None:
        """Take a run's results; those of an older generation, or of a variant that was unticked meanwhile, are dropped.
        While a parameter moves, the newest run may belong to an earlier setting: its results are labelled with it."""
        self._take_provenance(update)
        update = replace(update, row=self.named_row(update.row)) if update.row.edits else update
        fresh = update.generation == self.queue.generation
        ids = self.session.shown.ids_of(update.key) if fresh else []
        self._outputs.take(update, ids)
        for id in ids:
            made = Subject(self.session.inputs, update.key)
            self.results.put(update.row, made, self.session.shown.slot(id))
        if ids:
            self.results.compare_with(self.session.shown.subject_of)
            subject = f"run/{update.key.variant}"
            if update.row.failure and update.row.failure_kind != "unsupported":
                self.message.emit("error", update.row.failure, "", subject)
            elif not update.row.failure:
                self.succeeded.emit(subject)
        if fresh:
            self.queue.note_result(update.key, bool(update.place) and update.exact and not update.row.failure)


_OF_JOBS: Mapping[type, Callable[[SessionController, Any], None]] = {
    Ready: SessionController._take_ready,
    Progress: SessionController._take_progress,
    Loaded: SessionController._take_loaded,
    Stepped: lambda self, stepped: self.inputs.take_stepped(stepped),
    Surveyed: lambda *_: None,  # handled by ImportController
    LiveFrame: lambda *_: None,  # handled by LiveController
    ResultSaved: lambda controller, answer: controller.saved.emit(answer),
    RunUpdate: SessionController._take_update,
    DoctorAnswer: lambda controller, answer: controller.doctor_answered.emit(answer.content),
    **dict.fromkeys(get_args(Demanded), SessionController._take_demanded),
    Failed: SessionController._take_failure,
    Finished: SessionController._take_end,
}
"""The method that takes each type of answer."""
_OF_POINTS: Mapping[type, Callable[[SessionController, Any], None]] = {
    Progress: SessionController._take_point,
    RunUpdate: SessionController._take_point,
    OccupancyAnswer: SessionController._take_point,
    Failed: SessionController._end_point,
    Finished: SessionController._end_point,
}
"""The same for answers to the jobs of `run_points`."""
