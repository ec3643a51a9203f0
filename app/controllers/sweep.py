"""Sweeps on this machine, separate from the session's results, and recorded sweeps of other machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.recorded import Reports
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.refusal import refusal_sentence, refuses
from app.models.timing.ghosts import ghost_rows, nearest_setting
from app.models.timing.laws import LawPicture, law_pictures
from app.models.timing.sweep import Option, Sweep, SweepRun, options, parse_values, plan_runs, recorded_sweeps
from app.models.timing.sweep_occupancy import Occupied
from app.models.xray.architecture import architecture_of
from gpu_ops import recorded_steps
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import Failed, Finished, OccupancyAnswer, Progress, RunRequest, RunUpdate
from gpu_ops.errors import KernelscopeError
from gpu_ops.input_kinds import INPUT_KINDS, InputKind
from gpu_ops.report.machines import machine_name
from gpu_ops.report.sweeps import SIZE, Varied, swept_counters
from gpu_ops.stages import STAGES
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Pick

PARTS = 1000
"""The steps of progress within one run."""
GENERATION = -1
"""A generation that no run of the session has."""
Setting = tuple[str, int, dict[str, Any]]
"""A filter, an input by its number, and parameters."""


class SweepController(QObject):
    """Runs the ticked variants at several values of one quantity, times them quickly, and compares every result with
    the whole reference. The rows stay out of the session's results.

    `changed`: `shown` (the visible sweep, or None), `over` (what the visible laws are over, or ""), `figure` (the stage
    or counter that sweeps show), `ghost` (the machine whose recorded GPU rows are shown for comparison, or ""),
    `running` or `done` changed. `options_changed`: `options` (what may vary) or `recorded` (the filter's recorded
    sweeps) changed. `refused(sentence)` says why a sweep cannot start; it is "" once one starts.
    """

    changed = Signal()
    options_changed = Signal()
    refused = Signal(str)

    def __init__(
        self, controller: SessionController, reports: Callable[[], Reports], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._controller, self._session, self._read = controller, controller.session, reports
        self._reports: Reports | None = None
        self._recorded_of = ""
        self._jobs: dict[int, int] = {}
        self._done = self._total = 0
        self.options: tuple[Option, ...] = ()
        self.recorded: tuple[Sweep, ...] = ()
        self.made: Sweep | None = None
        self.shown: Sweep | None = None
        self.over = ""
        self.figure = "kernel"
        self.ghost = ""
        self._made_of: Setting | None = None
        controller.point_answered.connect(self._take)
        self._session.changed.connect(self._changed)

    @property
    def kind(self) -> InputKind:
        """The kind of input of a sweep."""
        return INPUT_KINDS[self._session.filter.accepts]

    @property
    def filter(self) -> Filter:
        """The present filter."""
        return self._session.filter

    @property
    def running(self) -> bool:
        return bool(self._jobs)

    @property
    def done(self) -> tuple[int, int]:
        """The number of finished runs, without cancelled ones, and of all runs."""
        return self._done, self._total

    @property
    def current(self) -> bool:
        """Whether the visible sweep is a recorded one, or was made of the present filter, parameters and input."""
        made = self.made
        return self.shown is not made or made is None or self._made_of == self._setting(made.varied)

    def _setting(self, varied: Varied) -> Setting:
        """What a sweep is made of, but for what varies."""
        params = {name: value for name, value in self._session.params.items() if name != varied.name}
        return self._session.choice.filter, self._session.inputs, params

    @property
    def provenance(self) -> Mapping[str, Any]:
        """The machine and versions that sweeps run on."""
        return self._controller.results.provenance

    @property
    def laws(self) -> tuple[LawPicture, ...]:
        """The laws of the present filter, with the times of its sweeps."""
        sweeps = [sweep for sweep in (self.made, *self.recorded) if sweep is not None]
        return law_pictures(self._session.filter, recorded_steps(), sweeps)

    @property
    def law(self) -> LawPicture | None:
        """The visible laws; None where a sweep is visible."""
        return next((picture for picture in self.laws if picture.over == self.over), None)

    # User actions

    def watch(self) -> None:
        """The panel is visible: read recorded reports the first time."""
        if self._reports is None:
            self._reports = self._read()
            self._update()

    def start(self, option: Option, text: str) -> None:
        """Sweep over the values in the text."""
        try:
            points = self._plan_runs(option, text)
        except KernelscopeError as error:
            self.refused.emit(str(error))
            return
        shared, choice, filter = self._session.input, self._session.choice, self._session.filter
        assert shared is not None
        swept = {pick.variant for pick in self._picks()}
        left_out = tuple(v.title for v in filter.variants if v.id in choice.picks and v.id not in swept)
        self.over = ""
        occupied = Occupied(self._architecture())
        self.made = self.shown = Sweep(filter, option.varied, option.where, uncounted=left_out, occupied=occupied)
        if option.varied == SIZE and not self.counting:
            self._add_ghosts(self.made)
        self._made_of = self._setting(option.varied)
        self._apply()
        noise = option.where == "noise"
        checks: Literal["full", "sample"] = "sample" if self.counting else "full"
        run = partial(RunRequest, 0, GENERATION, shared, choice.filter, noise=noise, outputs=False, checks=checks)
        requests = [
            run(
                p.params,
                p.picks,
                size=p.size,
                distinct=p.distinct,
                occupancy_for=p.occupancy_for,
                architecture=self._architecture(),
            )
            for p in points
        ]
        self._done, self._total = 0, len(points)
        self.refused.emit("")
        self._controller.succeeded.emit("sweep")
        jobs = self._controller.run_points(requests)
        self._jobs = dict(zip(jobs, (p.value for p in points), strict=True))
        self.changed.emit()

    def _plan_runs(self, option: Option, text: str) -> tuple[SweepRun, ...]:
        if self._session.input is None:
            raise KernelscopeError(self.tr("A sweep needs an input; open a file or a sample."))
        if refuses(self._session.filter, self._session.input):
            raise KernelscopeError(refusal_sentence(self._session.filter, self._session.input))
        if self.running:
            raise KernelscopeError(self.tr("A sweep is already running; wait until it ends, or cancel it."))
        choice, ticked = self._session.choice, map(self._session.shown.pick, self._session.choice.picks)
        picks = self._picks()
        if self.counting and not picks:
            raise KernelscopeError(self.tr("No ticked variant runs on a simulated GPU; tick one with a kernel."))
        values = parse_values(text)
        return plan_runs(self._session.filter, option, values, choice.params, picks, self._meta(), ticked)

    @property
    def counting(self) -> bool:
        """Whether a counter is to be swept, and not a time."""
        return self.figure not in STAGES

    def _picks(self) -> tuple[Pick, ...]:
        """The ticked variants that the next sweep runs: those that are timed, or to count, those that are simulated."""
        if not self.counting:
            return self._controller.timed_picks()
        shown = self._session.shown
        picks = map(shown.pick, self._session.choice.picks)
        return tuple(pick for pick in picks if is_simulated(pick.device))

    def _add_ghosts(self, sweep: Sweep) -> None:
        """Give a sweep the recorded GPU rows of the ticked variants, by machine, or else what has recorded rows."""
        meta, picks = self._meta(), self._session.choice.picks
        job = sweep.filter, self._session.params, meta.shape, meta.dtype, (self._reports or {}).values()
        found = ghost_rows(*job)
        ticked = {machine: tuple(row for row in rows if row.variant in picks) for machine, rows in found.items()}
        sweep.ghosts = {machine: rows for machine, rows in ticked.items() if rows}
        sweep.for_ghosts = {} if found else nearest_setting(*job)

    @property
    def figures(self) -> tuple[str, ...]:
        """The stages and counters that can be chosen: those of the visible sweep, and what a new one could show."""
        there = self.shown.figures() if self.shown is not None else ()
        new = swept_counters(self._session.filter) if self._session.simulated else ()
        return tuple(dict.fromkeys(("kernel", *there, *new, *((self.figure,) if self.shown is None else ()))))

    def show_figure(self, figure: str) -> None:
        """Show this stage or counter of sweeps."""
        self.figure = figure
        self._apply()
        self.changed.emit()

    def show_ghost(self, machine: str) -> None:
        """Show the recorded GPU rows of a machine for comparison with the sweep; "" for none."""
        self.ghost = machine
        self._apply()
        self.changed.emit()

    def _apply(self) -> None:
        """Let the visible sweep show what is chosen, as far as it has that."""
        if self.shown is not None:
            has = self.figure in self.shown.figures() or self.shown is self.made
            self.shown.shown = self.figure if has else "kernel"
            self.shown.ghost = self.ghost if self.ghost in self.shown.ghosts else ""

    def _architecture(self) -> str:
        """The GPU whose occupancy is computed."""
        return architecture_of(self._session.device, self._controller.queue.engine.devices)

    def show(self, sweep: Sweep | None) -> None:
        """Show a recorded sweep, or the one from this machine."""
        self.shown, self.over = sweep, ""
        self._apply()
        self.changed.emit()

    def show_law(self, over: str) -> None:
        """Show the filter's laws over "n" or "p"."""
        self.over = over
        self.changed.emit()

    # Changes of the session

    def _meta(self) -> Meta:
        shared = self._session.input
        assert shared is not None
        return Meta(shared.kind, tuple(shared.array.shape), shared.array.dtype, shared.finite)

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.filter and self.counting:
            self.figure = "kernel"  # another filter is explained by other counters
        if change.filter or change.input or change.device:
            self._update()
        if self.made is not None and (change.input or change.experiment):
            self.changed.emit()  # it may be of another setting now

    def _update(self) -> None:
        """Update what may vary and the recorded sweeps for the present input and filter."""
        filter, shared = self._session.filter, self._session.input
        fits = shared is not None and shared.kind == filter.accepts
        self.options = options(filter, self._meta(), self._session.params) if fits else ()
        if self._reports is not None and self._recorded_of != filter.id:
            self._recorded_of = filter.id
            sweeps = [recorded_sweeps(filter, r.rows, machine_name(r.provenance)) for r in self._reports.values()]
            self.recorded = tuple(sweep for group in sweeps for sweep in group)
            if self.shown is not self.made:
                self.show(self.made)
        if self.over and self.law is None:
            self.show(self.shown)
        self.options_changed.emit()

    @Slot(object)
    def _take(self, answer: Any) -> None:
        """Take the engine's answer about one run."""
        sweep = self.made
        if sweep is None or answer.job not in self._jobs:
            return
        if isinstance(answer, Progress):
            self._report_progress(answer)
        elif isinstance(answer, OccupancyAnswer):
            value = self._jobs[answer.job]
            sweep.occupied.put(value, answer.variants)
            if answer.reasons and not answer.variants:
                sweep.failures[value] = answer.reasons[0]
            self.changed.emit()
        elif isinstance(answer, RunUpdate):
            row = answer.row
            if answer.stage == "timed" or row.failure or row.ok is False:
                sweep.put(row)
                self.changed.emit()
        elif isinstance(answer, Failed | Finished):
            value = self._jobs.pop(answer.job)
            self._done += not (isinstance(answer, Finished) and answer.cancelled)
            if isinstance(answer, Failed):
                sweep.failures[value] = answer.sentence
                self._controller.message.emit("error", answer.sentence, answer.details, "sweep")
            self.changed.emit()

    def _report_progress(self, answer: Progress) -> None:
        """Report the progress of the whole sweep; all values count the same."""
        done, total = self.done
        text = self.tr("sweep, run {place} of {total}: {text}")
        self._controller.busy_changed.emit(text.format(place=done + 1, total=total, text=answer.text))
        part = PARTS * answer.done // answer.total if answer.total else 0
        self._controller.progressed.emit(PARTS * done + part, PARTS * total)
