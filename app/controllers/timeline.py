"""Asks for the timelines of the ticked variants or for a sweep of transfers, and keeps the queues of a simulated GPU as
a person chooses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal

from app.controllers.on_demand import OnDemand
from app.controllers.session import SessionController
from app.models.experiment.job_kind import SIMULATE, TIMELINE
from app.models.experiment.refusal import refuses
from app.models.timing.timelines import QueueModel
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import TimelinesAnswer, TimelinesRequest, TransfersAnswer, TransfersRequest
from gpu_ops.explaining.spans import Timeline
from gpu_ops.explaining.transfers.catalogue import FAMILY, KINDS, Kind
from gpu_ops.explaining.transfers.sweep import TransferSweep
from gpu_ops.types import REFERENCE, Pick

TIMELINES = "timelines"
"""The view of the ticked variants; others are sweeps by their ids."""


class Query(NamedTuple):
    """All that a view depends on; `model` is None where times are measured."""

    view: str
    input: Any
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    device: str
    model: QueueModel | None
    launch_blocking: bool


@dataclass(frozen=True)
class Timelines:
    """The timelines by variant, the reasons of variants without one, the variants' titles, and the input."""

    found: Mapping[str, Timeline]
    reasons: Mapping[str, str]
    titles: Mapping[str, str]
    input: Any = None


class TimelineController(OnDemand):
    """Asks for what the `view` shows: the timelines of the ticked variants that run on the GPU, or a sweep of transfers
    by its id. `model` are the queues of a simulated GPU, whose timelines take little time: they come before what is
    simulated. `model_changed`: there are other queues."""

    model_changed = Signal()
    content: Timelines | TransferSweep | None

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        self.model, self.view = QueueModel(), TIMELINES
        super().__init__(controller, TIMELINE, parent)
        controller.began.connect(self._update, Qt.ConnectionType.QueuedConnection)

    @property
    def missing(self) -> Literal["", "input", "type", "device", "variant"]:
        """What the user must choose first; "" where nothing is missing."""
        session = self._session
        if self.sweep is not None and not self.sweep.of_input:
            return "" if session.device else "device"
        if session.input is None:
            return "input"
        if self.sweep is None and refuses(session.filter, session.input):
            return "type"
        if not session.device:
            return "device"
        return "" if self.sweep is not None or any(map(self._on_gpu, self._ticked)) else "variant"

    @property
    def sweep(self) -> Kind | None:
        """The sweep that the view shows; None for timelines."""
        return KINDS.get(self.view)

    @property
    def predicts(self) -> bool:
        """Whether times are predicted: as a person chooses, and always where a view says nothing without seconds."""
        return self.simulated and (self.model.predicted or (self.sweep is not None and self.sweep.timed))

    @property
    def simulated(self) -> bool:
        """Whether the chosen GPU is a simulated one."""
        return is_simulated(self._session.device)

    @property
    def cpu_variants(self) -> tuple[str, ...]:
        """The titles of the ticked variants without a timeline, because no GPU runs them."""
        return tuple(self._titles[id] for id in self._ticked if not self._on_gpu(id))

    def set_model(self, model: QueueModel) -> None:
        """Set the model of the queues."""
        if model != self.model:
            self.model = model
            self.model_changed.emit()
            self._update()

    def set_view(self, view: str) -> None:
        """Show TIMELINES, or a sweep by its id."""
        if view != self.view:
            self.view = view
            self._update()

    @property
    def _titles(self) -> dict[str, str]:
        return {v.id: v.title for v in self._session.filter.all_variants}

    @property
    def _ticked(self) -> list[str]:
        picks = self._session.choice.picks
        return [v.id for v in self._session.filter.all_variants if v.id in picks and v.id != REFERENCE]

    def _on_gpu(self, variant: str) -> bool:
        return self._session.shown.device_of(variant) != "cpu"

    def _query(self) -> Query | None:
        session = self._session
        if self.missing:
            return None
        model = replace(self.model, predicted=self.predicts) if self.simulated else None
        where = (session.device, model, self.model.launch_blocking and self.sweep is None)
        if self.sweep is None:
            picks = tuple(session.shown.pick(id) for id in self._ticked if self._on_gpu(id))
            return Query(TIMELINES, session.input, session.choice.filter, dict(session.choice.params), picks, *where)
        params = dict(session.choice.params) if session.filter.family == FAMILY else {}
        of = (session.input, session.choice.filter if params else "", params) if self.sweep.of_input else (None, "", {})
        return Query(self.view, *of, (), *where)

    def _free(self) -> bool:
        return super()._free() or (self.simulated and self._controller.queue.only_simulates)

    def _ask(self, query: Query) -> None:
        super()._ask(query)
        self._controller.queue.stop(SIMULATE)  # the simulated run continues afterwards

    def _asked(self, query: Query) -> TimelinesRequest | TransfersRequest:
        model, job = query.model or QueueModel(), self._controller.queue.engine.next_job()
        how = (model.copy_engines, model.in_order, model.rates)
        about = (query.input, query.filter, query.params)
        if query.view == TIMELINES:
            return TimelinesRequest(job, *about, query.picks, *how, query.launch_blocking)
        return TransfersRequest(job, query.view, query.device, *about, *how)

    def _content_of(self, answer: TimelinesAnswer | TransfersAnswer) -> Timelines | TransferSweep:
        if isinstance(answer, TransfersAnswer):
            return answer.content
        return Timelines(answer.timelines, answer.reasons, self._titles, self._request.input)
