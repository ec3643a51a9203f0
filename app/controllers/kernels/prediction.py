"""Decides when to count for predicted times: while they are in front, whenever the counts no longer fit the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.kernels.after_xray import AfterXRay
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.history import Choice
from app.models.experiment.job_kind import PREDICTION
from app.models.results.entry import Entry
from app.models.xray.architecture import simulated_beside
from app.models.xray.gpu_choice import GpuChoice
from app.models.xray.predicted import CpuTime, Job
from gpu_ops import find_filter
from gpu_ops.engine.kernel_messages import Counted, PredictionAnswer, PredictionRequest
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu
from gpu_ops.types import Pick


class Query(NamedTuple):
    """Everything that the counts depend on: `first` are the picks of the X-ray, `ladder` those of all variants."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    gpu: str
    first: tuple[Pick, ...]
    ladder: tuple[Pick, ...]

    @property
    def picks(self) -> tuple[Pick, ...]:
        """Each pick once."""
        return (*self.first, *(pick for pick in self.ladder if pick not in self.first))

    def within(self, other: Query | None) -> bool:
        """Whether the answer to the other query answers this one too: it has these picks, and perhaps others."""
        return other is not None and self[:-2] == other[:-2] and all(pick in other.picks for pick in self.picks)


def _is_own_time(entry: Entry) -> bool:
    return entry.device == "cpu" and entry.current and not entry.recorded


class PredictionController(AfterXRay):
    """Requests counts of the variant of an X-ray, and of the one that it is compared with, for a GPU by its id. `gpu`
    may be another than that: its numbers can be changed, and change the times without new counts. `gpu_changed`: there
    are other numbers."""

    gpu_changed = Signal()
    cpu_changed = Signal()
    content: PredictionAnswer | None

    def __init__(self, controller: SessionController, xray: XRayController, parent: QObject | None = None) -> None:
        self.whole_ladder = False
        self._moved: tuple[Choice, set[str]] | None = None
        super().__init__(controller, xray, PREDICTION, parent)
        xray.gpu_changed.connect(self._take_gpu)
        for signal in (controller.results.row_changed, controller.results.rows_reset):
            signal.connect(self.cpu_changed)

    # User actions

    def choose_gpu(self, id: str) -> None:
        """Predict for this GPU, with its own numbers."""
        self._xray.choose_gpu(GpuChoice(id))

    def change_gpu(self, numbers: Mapping[str, float]) -> None:
        """Predict for the chosen GPU with these numbers, by the names of a GpuChoice."""
        now = self.gpu_choice
        wanted = now.with_numbers({**now.numbers, **numbers})
        moved = {name for name, value in wanted.as_json().items() if value != getattr(now, name)}
        goes_on = (self._session.choice, moved) == self._moved  # one undo takes back the whole way of a number
        self._xray.choose_gpu(wanted, goes_on)
        self._moved = self._session.choice, moved

    def show_ladder(self, on: bool) -> None:
        """Count all variants with kernels as well, or only those of the X-ray."""
        self.whole_ladder = on
        self.gpu_changed.emit()
        self._update()

    @Slot()
    def _take_gpu(self) -> None:
        self.gpu_changed.emit()
        self._update()

    # What is shown

    @property
    def gpu_choice(self) -> GpuChoice:
        """The chosen GPU and its numbers."""
        return self._xray.gpu_choice

    @property
    def gpu(self) -> Gpu:
        """The GPU that times are predicted for."""
        return self.gpu_choice.gpu

    @property
    def jobs(self) -> list[Job]:
        """What was counted of the variant and of the one to compare with; of an earlier choice, where the present one
        has not been counted yet."""
        return self._jobs("first")

    @property
    def ladder(self) -> list[Job]:
        """What was counted of all variants with kernels, as shipped, in their order; [] unless it is wanted."""
        return self._jobs("ladder") if self.whole_ladder else []

    def _jobs(self, which: Literal["first", "ladder"]) -> list[Job]:
        now, counted = self._query(), self._content_query
        if self.content is None or counted is None:
            return []
        query = now if now is not None and now.within(counted) else counted
        picks = query.first if which == "first" else query.ladder
        return [self._job(counted.filter, pick, self.content.counted[counted.picks.index(pick)]) for pick in picks]

    @property
    def counted_gpu(self) -> Gpu:
        """The GPU that `jobs` were counted for, with the numbers of `gpu` where it is the same."""
        return self.gpu if self.content is None or self.content.gpu == self.gpu.id else GPUS[self.content.gpu]

    @property
    def cpu(self) -> CpuTime | None:
        """The fastest time on the CPU of the present choice; None without one."""
        task = self._session.task
        timed = [(one.seconds("kernel"), one.name) for one in self._controller.results.entries() if _is_own_time(one)]
        known = [(found, name) for found, name in timed if found]
        if not known or task is None:
            return None
        found, name = min(known)
        work = self._session.filter.work(task)
        return CpuTime(name, found, math.prod(task.meta.shape), work.bytes_read + work.bytes_written)

    @property
    def input(self) -> Any:
        """The input of `jobs`."""
        return self._content_query.input if self._content_query else None

    def _job(self, filter: str, pick: Pick, counted: Counted) -> Job:
        draft = self._xray.drafts.of(filter, pick.variant)
        reason = draft.in_own_names(counted.reason) if pick.edits else counted.reason
        title = find_filter(filter).variant(pick.variant).title
        return Job(title, bool(pick.edits), replace(counted, reason=reason))

    # Requests and answers

    def _query(self) -> Query | None:
        session, xray = self._session, self._xray
        known = {variant.id for variant in session.filter.all_variants}
        # While the filter changes, the X-ray still has variants of the one before.
        if session.input is None or not {xray.variant, xray.against or xray.variant} <= known:
            return None
        picks = [replace(session.shown.pick(xray.variant), edits=dict(xray.edits))]
        if xray.against:
            picks.append(session.shown.pick(xray.against))
        rungs = [session.shown.pick(variant.id) for variant in xray.variants] if self.whole_ladder else []
        device = simulated_beside(session.device)
        first, ladder = (tuple(replace(pick, device=device) for pick in some) for some in (picks, rungs))
        choice = session.choice
        return Query(session.input, choice.filter, dict(choice.params), self.gpu.id, first, ladder)

    def _within(self, query: Query | None, other: Query | None) -> bool:
        return query is not None and query.within(other)

    def _asked(self, query: Query) -> PredictionRequest:
        about = (query.input, query.filter, query.params, query.picks, query.gpu)
        return PredictionRequest(self._controller.queue.engine.next_job(), *about)

    def _content_of(self, answer: PredictionAnswer) -> PredictionAnswer:
        return answer
