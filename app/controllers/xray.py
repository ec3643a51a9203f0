"""Decides when to X-ray a kernel: while the panel is visible, whenever its content no longer fits the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import XRAY
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.xray.architecture import architecture_of
from gpu_ops.engine.messages import XRayRequest
from gpu_ops.types import Variant

State = Literal["empty", "waiting", "running", "shown", "stopped", "failed"]


class Query(NamedTuple):
    """All that an X-ray depends on. `against` is the variant to compare with and its knobs, or None."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    variant: str
    knobs: Mapping[str, Any]
    device: str
    against: tuple[str, Mapping[str, Any]] | None

    def within(self, other: Query | None) -> bool:
        """Whether the other query answers this one too; an extra comparison does not matter."""
        return other is not None and self in (other, other._replace(against=None))


class XRayController(QObject):
    """Asks for an X-ray of `variant` when the engine is free: runs go first, and an X-ray gives way to them.

    `changed`: `state`, `content` or `reason` changed. States are, among others, "waiting" for a run to end, "stopped"
    by the user, and "failed" with a `reason`. `content` is the last X-ray and stays until the next; it fits the present
    choice only in the state "shown". `variants_changed`: the list of variants, the chosen one or the one to compare
    with changed; `measured_changed`: `measured` may have changed.
    """

    changed = Signal()
    variants_changed = Signal()
    measured_changed = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._session = controller, controller.session
        self._watched = self._comparing = False
        self._against = ""
        self._models: dict[str, str] = {}
        self._request: Query | None = None
        self._content_query: Query | None = None
        self._stopped_query: Query | None = None
        self.state: State = "empty"
        self.content: Any = None
        self.reason = ""
        self.variant = ""
        self._take_variants()
        later = Qt.ConnectionType.QueuedConnection
        controller.settled.connect(self._update, later)
        controller.xrayed.connect(self._take)
        controller.xray_failed.connect(self._fail)
        controller.cancelled.connect(self._give_up)
        self._session.changed.connect(self._changed)
        self._session.changed.connect(self._update, later)  # queued, so that the controller requests its run first
        controller.devices_changed.connect(self._take_devices)
        controller.results.row_changed.connect(self.measured_changed)
        controller.results.rows_reset.connect(self.measured_changed)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The filter's variants that have kernels."""
        return tuple(v for v in self._session.filter.variants if v.kernels)

    @property
    def against(self) -> str:
        """The variant to compare `variant` with; "" for none, also where both are the same."""
        return self._against if self._against != self.variant else ""

    @property
    def gpu(self) -> str:
        """The real GPU that `content` was simulated for; "" where no real GPU is chosen."""
        device = self._content_query.device if self._content_query else ""
        return self._models.get(device, device) if device.startswith("cuda") else ""

    @property
    def measured(self) -> Entry | None:
        """The result that `gpu` measured for the kernel in `content`; None where there is none, or it is another
        one's."""
        query, results = self._content_query, self._controller.results
        if not query or not self.gpu or not self._query()._replace(against=None).within(query):
            return None
        slot = RowSlot(query.variant, query.device)
        entry = results.entry(slot) if slot in results else None
        return entry if entry and entry.seconds("kernel") and entry.row and entry.row.filter == query.filter else None

    # User actions

    def watch(self, on: bool) -> None:
        """Tell whether the panel is visible: a hidden one needs no X-ray."""
        self._watched = on
        if not on:
            self._stop()
        self._update()

    def choose(self, variant: str) -> None:
        """X-ray this variant; one without kernels of its own changes nothing."""
        if variant != self.variant and any(v.id == variant for v in self.variants):
            self.variant = variant
            self.variants_changed.emit()
            self._update()

    def compare_with(self, variant: str) -> None:
        """Compare with this variant, or with none."""
        if variant != self._against:
            self._against = variant
            self.variants_changed.emit()
            self._update()

    def watch_comparison(self, on: bool) -> None:
        """Tell whether the comparison is visible: else only one variant is simulated."""
        self._comparing = on
        self._update()

    def again(self) -> None:
        """X-ray again, also after a stop or a failure."""
        self._stopped_query = self._content_query = None
        self._update()

    # Changes of the session

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.filter:
            self._take_variants()

    def _take_variants(self) -> None:
        """Choose the last picked variant, else the last of the filter's default picks, else the last; no comparison."""
        self._against = ""
        ids = [v.id for v in self.variants]
        picked = [id for id in ids if id in self._session.choice.picks]
        first = [id for id in ids if id in self._session.filter.picked]
        self.variant = (picked or first or ids or [""])[-1]
        self.variants_changed.emit()

    @Slot(object)
    def _take_devices(self, devices: Any) -> None:
        self._models = {status.name: status.model for status in devices}

    def _query(self) -> Query:
        choice, session = self._session.choice, self._session
        knobs = {id: dict(choice.knobs.get(id, {})) for id in (self.variant, self.against)}
        against = (self.against, knobs[self.against]) if self.against and self._comparing else None
        params, own = dict(choice.params), knobs[self.variant]
        return Query(session.input, choice.filter, params, self.variant, own, session.device, against)

    @Slot()
    def _update(self) -> None:
        """Ask for what is missing if the engine is free; else `settled` calls again."""
        query, running = self._query(), self.state == "running"
        if not self._watched or self._session.input is None or not self.variant:
            self._set_state("shown" if query.within(self._content_query) else "empty")
        elif query.within(self._content_query):
            if running:
                self._stop()
            self._set_state("shown")
        elif query.within(self._stopped_query):
            self._set_state("failed" if self.reason else "stopped")
        elif running and self._controller.busy and not query.within(self._request):
            self._stop()
            self._set_state("waiting")
        elif self._controller.busy:
            self._set_state(self.state if running else "waiting")
        else:
            self._request = query
            self._set_state("running")
            self._ask(query)

    def _ask(self, query: Query) -> None:
        """X-ray the kernels on a simulated GPU. Any other job comes first."""
        session, engine = self._session, self._controller.queue.engine
        choice, other = session.choice, session.shown.pick(query.against[0]) if query.against else None
        architecture = architecture_of(session.device, engine.devices)
        about = (query.input, choice.filter, choice.params, session.shown.pick(self.variant), architecture, other)
        self._controller.queue.submit(XRAY, XRayRequest(engine.next_job(), *about))

    def _stop(self) -> None:
        """Stop a running X-ray without killing the engine."""
        self._controller.queue.stop(XRAY)

    def _set_state(self, state: State) -> None:
        self.state = state
        self.changed.emit()

    @Slot(object)
    def _take(self, content: Any) -> None:
        self.content, self._content_query = content, self._request
        self._set_state("shown" if self._query().within(self._content_query) else "waiting")

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self._stopped_query, self.reason = self._request, sentence
        self._set_state("failed")

    @Slot()
    def _give_up(self) -> None:
        if self.state in ("running", "waiting"):
            self._stopped_query, self.reason = self._query(), ""
            self._set_state("stopped")
