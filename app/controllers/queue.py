"""Decides which job the engine gets next: the newest choice wins, and slow simulated runs come last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.base.worker import Engine
from app.models.experiment.job_kind import (
    DOCTOR,
    LIVE,
    LIVE_REST,
    MEASURE,
    PLAY,
    PREVIEW,
    SIMULATE,
    STEPS,
    SURVEY,
    SWEEP,
    TIME,
    XRAY,
    JobKind,
)
from app.models.experiment.refusal import refuses
from app.models.experiment.session import Session
from app.models.results.entry import untimed
from app.models.results.results import Results
from gpu_ops import active_steps
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import RunRequest, StepsRequest
from gpu_ops.input_kinds import Spans
from gpu_ops.run_key import RunKey
from gpu_ops.types import REFERENCE, Pick

QUIET_MS = 400
"""The pause after the last change, after which the live picture is timed as well."""

PATIENT = (LIVE, PLAY, TIME, SIMULATE, XRAY, DOCTOR, SURVEY, PREVIEW, LIVE_REST)
"""Jobs that the next frame does not wait for; of a live run it waits for the results, but not for the verdicts."""


class RunQueue(QObject):
    """`jobs` are the running jobs by number, each with its kind.

    `generation` grows with every run of a new choice and with every input: results of the newest generation belong to
    the present input. A run of a new choice waits for the input's requested steps, whose last request is
    `steps_request`. A simulated GPU begins with the part `in_view` where the whole takes long, and further parts come
    when every pick has one; another machine first sends what fills the `pixels` of a pane. `timed_after_pause`: time a
    live picture once the user pauses. While frames are `playing`, neither simulated GPUs nor panels begin what the next
    frame would stop. `began`: a job starts; `busy_changed(text)`: what it does (empty when nothing
    runs); `settled`: all requested work is done; `ended(job, kind, cancelled)`: a job has ended and the next has not
    started; `interrupted`: the user opens another input.
    """

    began = Signal()
    busy_changed = Signal(str)
    settled = Signal()
    ended = Signal(int, object, bool)
    interrupted = Signal()

    def __init__(self, engine: Engine, session: Session, results: Results, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._session, self._results = engine, session, results
        self.jobs: dict[int, JobKind] = {}
        self.generation = 0
        self.timed_after_pause = True
        self.steps_request: StepsRequest | None = None
        self._waiting: JobKind | None = None
        self._after_steps: JobKind | None = None
        self._to_simulate: tuple[Pick, ...] = ()
        self._to_complete: dict[RunKey, Pick] = {}
        self.in_view: Callable[[], Spans] = tuple
        self.pixels: Callable[[], int] = int
        self._unseen: set[RunKey] = set()
        self._interrupted = False
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._time_live)
        self._overdue = QTimer(self, singleShot=True)
        self._overdue.timeout.connect(self._give_way)

    @property
    def engine(self) -> Engine:
        """The engine, which receives the jobs."""
        return self._engine

    @property
    def unseen(self) -> bool:
        """Whether the current run still lacks some of its results."""
        return bool(self._unseen) and any(kind.run for kind in self.jobs.values())

    @property
    def waiting(self) -> bool:
        """Whether a run waits for others."""
        return self._waiting is not None

    @property
    def playing(self) -> bool:
        """Whether frames follow one another."""
        return self._results.playing

    @playing.setter
    def playing(self, on: bool) -> None:
        self._results.playing = on
        if not self.jobs:
            self.busy_changed.emit("")  # who shows what runs asks again

    @property
    def takes_frame(self) -> bool:
        """Whether another frame may come: all results of the last one are here, and nothing runs that it must not
        stop."""
        return not (self.waiting or self.unseen or any(kind not in PATIENT for kind in self.jobs.values()))

    @property
    def only_simulates(self) -> bool:
        """Whether only runs on a simulated GPU are left, which take long and continue after short jobs; not while
        frames play."""
        pending = self.playing or self._waiting or self._after_steps or self._quiet.isActive()
        return not pending and set(self.jobs.values()) <= {SIMULATE}

    @property
    def busy(self) -> bool:
        """Whether anything runs, waits, plays, or is about to be timed."""
        return bool(self.playing or self.jobs or self._waiting or self._simulates or self._quiet.isActive())

    @property
    def _simulates(self) -> bool:
        """Whether picks of a simulated GPU wait, or their further parts."""
        return bool(self._to_simulate or self._to_complete)

    def _forget_simulated(self) -> None:
        self._to_simulate, self._to_complete = (), {}

    def rest(self) -> None:
        """No frame follows any more: do what has waited for that."""
        if not self.jobs:
            self._start_next()

    def outdate(self) -> None:
        """The input or the filter changed: results of earlier runs no longer belong to the screen."""
        self.generation += 1
        self._interrupted = False

    def renew(self) -> None:
        """The input went through other steps: results of earlier runs belong to other values."""
        self.generation += 1

    def cancel(self) -> None:
        """Stop everything that runs and drop what waits; the input keeps its present steps."""
        self._waiting, self._after_steps, self._interrupted = None, None, False
        self._forget_simulated()
        self._quiet.stop()
        self._session.take_back_steps()
        for job in list(self.jobs):
            self._engine.cancel(job)

    def stop(self, kind: JobKind) -> None:
        """Stop the jobs of one kind without killing the engine."""
        for job in [job for job, its in self.jobs.items() if its is kind]:
            self._engine.cancel(job, kill=False)

    def make_way(self) -> None:
        """Postpone timing, and let a simulated GPU continue after the other work."""
        self._quiet.stop()
        self.stop(SIMULATE)

    def stop_for_frame(self) -> None:
        """Another frame of the input arrives, and a new run with it: stop the runs on this one without killing the
        engine."""
        self._quiet.stop()
        self._waiting, self._after_steps = None, None
        self._forget_simulated()
        for job, kind in list(self.jobs.items()):
            if kind.run or kind is STEPS:
                self._engine.cancel(job, kill=False)

    def run(self, how: JobKind) -> None:
        """Start a run, or keep it until the engine's present run has ended; only the newest request is kept."""
        if self._session.input is None or not (self._session.shown.ids or self._session.lacks_steps):
            return
        self._quiet.stop()
        self._forget_simulated()
        if any(kind.in_line for kind in self.jobs.values()):
            self._waiting = how
            self._give_way()
            return
        self._start(how)

    def _give_way(self) -> None:
        """Ask running jobs to stop for a newer one, without killing the engine. A live run may first show all of its
        results, but not verify them."""
        if not self._waiting:
            return
        patient = self._overdue.isActive() and bool(self._unseen)
        for job, kind in list(self.jobs.items()):
            if kind.patience_ms == 0 or (kind.patience_ms and not patient):
                self._engine.cancel(job, kill=False)

    def note_result(self, key: RunKey, partial: bool = False) -> None:
        """The result of a run has arrived; a `partial` one is of a part that equals the whole's result there."""
        if partial and self._to_simulate:
            self._to_complete[key] = self._to_simulate[0]
        elif self._to_simulate:
            self._to_complete.pop(key, None)  # the whole has followed the part
        self._unseen.discard(key)
        if not self._unseen:
            self._give_way()

    def _start(self, how: JobKind) -> None:
        """Start a run, after the steps that it needs."""
        if how.new and self._session.lacks_steps and self._do_steps():
            self._after_steps = how
        else:
            self._start_run(how)

    def _do_steps(self) -> bool:
        """Have the engine apply the requested steps. Returns whether there is something to wait for."""
        original, steps = self._session.original, active_steps(self._session.steps)
        if original is None or not steps:
            return False
        self.steps_request = StepsRequest(self._engine.next_job(), original, steps)
        self.submit(STEPS, self.steps_request)
        return True

    def _start_run(self, how: JobKind) -> None:
        """Start a run. A live run takes the fast picks only; their timing comes next, and simulated picks come last."""
        picks = self.picks(how)
        if how.new:
            # Only now: while a parameter moves, late results of the last run are shown, labelled with their settings.
            self.generation += 1
        if how.simulated == "after":
            self._to_simulate = tuple(p for p in picks if is_simulated(p.device))
            picks = tuple(p for p in picks if not is_simulated(p.device))
        if picks:
            self._submit_run(how, picks)
        else:
            self._start_next()

    def _submit_run(self, how: JobKind, picks: tuple[Pick, ...], rest: bool = False) -> None:
        assert self._session.input is not None
        choice = self._session.choice
        request = RunRequest(
            job=self._engine.next_job(),
            generation=self.generation,
            input=self._session.input,
            filter=choice.filter,
            params=choice.params,
            picks=picks,
            protocol=how.protocol,
            checks=how.checks,
            roofs=how.roofs,
            view=self.in_view(),
            pixels=self.pixels(),
            rest=rest,
        )
        shown = self._session.shown
        self._unseen = {shown.key_of(pick) for pick in picks}
        self._results.set_running([shown.slot(id) for id in shown.ids if shown.key(id) in self._unseen])
        self.submit(how, request)

    def picks(self, how: JobKind) -> tuple[Pick, ...]:
        """The picks of such a run. Picks of a simulated GPU are never timed: their counts came with the picture.
        Nothing is picked while the filter refuses the input. A careful run takes all pinned results, any other those
        that lack its result."""
        if refuses(self._session.filter, self._session.input):
            return ()
        shown, picks = self._session.shown, dict[RunKey, Pick]()
        ids = [v.id for v in self._session.filter.all_variants if v.id in self._session.choice.picks]
        ids += [id for id in shown.pins if shown.here(id) and (how is MEASURE or self._lacks(id, how))]
        for id in ids:
            if how.protocol != "none" and shown.pick(id).variant == REFERENCE:
                continue  # the reference is not timed
            picks.setdefault(shown.key(id), shown.pick(id))
        return tuple(p for p in picks.values() if how.simulated != "never" or not is_simulated(p.device))

    @property
    def pins_lack(self) -> bool:
        """Whether pinned results wait for a run."""
        return any(self._session.shown.here(id) and self._lacks(id, LIVE) for id in self._session.shown.pins)

    def _lacks(self, id: str, how: JobKind) -> bool:
        """Whether a pinned result is outdated or, for a run with timing, has no times."""
        slot, shown = self._session.shown.slot(id), self._session.shown
        entry = self._results.entry(slot) if slot in self._results else None
        if entry is None or entry.row is None or entry.subject != shown.subject_of_run(id):
            return True
        return how is TIME and not entry.failure and untimed(entry.row)

    def _time_live(self) -> None:
        """The user pauses: time the visible picture before a simulated GPU continues."""
        kinds = set(self.jobs.values())
        if SWEEP in kinds:
            self._quiet.start()
        elif kinds == {SIMULATE}:
            self._waiting = TIME
            self.stop(SIMULATE)
        elif not kinds and self._session.input is not None:
            self._start(TIME)

    def submit(self, kind: JobKind, request: Any) -> None:
        """Give the engine a job. A panel's job is stopped for it, unless both can run."""
        for aside in {other for other in self.jobs.values() if other.aside and not kind.beside}:
            self.stop(aside)
        self.jobs[request.job] = kind
        if kind.patience_ms:
            self._overdue.start(kind.patience_ms)
        self.began.emit()
        self.busy_changed.emit(QCoreApplication.translate("Jobs", kind.text))
        self._engine.submit(request)

    def interrupt(self) -> None:
        """The user opens another input: stop the runs on this one; they continue only if no other input comes."""
        running = [job for job, kind in self.jobs.items() if kind.of_input]
        self._interrupted = self._interrupted or bool(self._waiting or self._simulates or self._quiet.isActive())
        self._interrupted = self._interrupted or any(self.jobs[job].run for job in running)
        self._interrupted = self._interrupted or self._after_steps is not None
        self._waiting, self._after_steps = None, None
        self._forget_simulated()
        self._quiet.stop()
        self.interrupted.emit()
        for job in running:
            self._engine.cancel(job)

    def end(self, job: int, cancelled: bool = False) -> None:
        """A job has ended: clean up and start what comes next."""
        kind = self.jobs.pop(job, None)
        if kind is not None and kind.run:
            self._results.stop_running()
        if kind is SIMULATE and not cancelled and self._to_simulate:
            self._to_simulate = self._to_simulate[1:]
        elif kind is SIMULATE and not cancelled and self._to_complete:
            del self._to_complete[next(iter(self._to_complete))]
        if kind is LIVE and not cancelled and not self._waiting and self.timed_after_pause and self.picks(TIME):
            self._quiet.start()
        if kind is not None:
            self.ended.emit(job, kind, cancelled)
        how, self._after_steps = (self._after_steps, None) if kind is STEPS else (None, self._after_steps)
        if how is not None:  # after these steps, even if others have been requested since: a drag shows results
            self._start_run(how)
        elif not self.jobs:
            self._start_next()

    def _start_next(self) -> None:
        """Nothing runs: start what waits, else the next simulated pick, else the further parts of one."""
        if self._interrupted:  # no other input arrived
            self._interrupted, self._waiting = False, self._waiting or LIVE
        if self._waiting:
            how, self._waiting = self._waiting, None
            self._start(how)
        elif self._to_simulate:
            self._submit_run(SIMULATE, self._to_simulate[:1])
        elif self._to_complete:
            self._submit_run(SIMULATE, (next(iter(self._to_complete.values())),), rest=True)
        else:
            self.busy_changed.emit("")
            if not self.busy:
                self.settled.emit()
