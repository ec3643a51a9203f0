"""Requests the timelines of the ticked variants, and keeps the user's model of a simulated GPU's queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal

from app.controllers.on_demand import OnDemand
from app.controllers.session import SessionController
from app.models.experiment.job_kind import SIMULATE, TIMELINE
from app.models.experiment.refusal import refuses
from app.models.timing.timelines import QueueModel
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import TimelinesAnswer, TimelinesRequest
from gpu_ops.explaining.spans import Timeline
from gpu_ops.types import REFERENCE, Pick


class Query(NamedTuple):
    """Everything that timelines depend on; `model` is None where they are measured."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    model: QueueModel | None


@dataclass(frozen=True)
class Timelines:
    """The timelines by variant, the reasons of variants without one, the variants' titles, and the input."""

    found: Mapping[str, Timeline]
    reasons: Mapping[str, str]
    titles: Mapping[str, str]
    input: Any = None


class TimelineController(OnDemand):
    """Requests the timelines of the ticked variants that run on the GPU. `model` describes the queues of a simulated
    GPU, whose timelines take little time: they are computed before simulated runs. `model_changed`: `model` has
    changed."""

    model_changed = Signal()
    content: Timelines | None

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        self.model = QueueModel()
        super().__init__(controller, TIMELINE, parent)
        controller.began.connect(self._update, Qt.ConnectionType.QueuedConnection)

    @property
    def missing(self) -> Literal["", "input", "type", "device", "variant"]:
        """What the user must choose first; "" where nothing is missing."""
        session = self._session
        if session.input is None:
            return "input"
        if refuses(session.filter, session.input):
            return "type"
        if not session.device:
            return "device"
        return "" if any(map(self._on_gpu, self._ticked)) else "variant"

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
        picks = tuple(session.shown.pick(id) for id in self._ticked if self._on_gpu(id))
        model = self.model if self.simulated else None
        return Query(session.input, session.choice.filter, dict(session.choice.params), picks, model)

    def _free(self) -> bool:
        return super()._free() or (self.simulated and self._controller.queue.only_simulates)

    def _ask(self, query: Query) -> None:
        super()._ask(query)
        self._controller.queue.stop(SIMULATE)  # the simulated run continues afterwards

    def _asked(self, query: Query) -> TimelinesRequest:
        model = query.model or QueueModel()
        about = (query.input, query.filter, query.params, query.picks)
        job = self._controller.queue.engine.next_job()
        return TimelinesRequest(job, *about, model.copy_engines, model.in_order, model.rates)

    def _content_of(self, answer: TimelinesAnswer) -> Timelines:
        return Timelines(answer.timelines, answer.reasons, self._titles, self._request.input)
