"""Decides when to X-ray a kernel: while the panel is visible, whenever its content no longer fits the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.on_demand import OnDemand
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import XRAY
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.xray.architecture import architecture_of
from gpu_ops.engine.messages import XRayRequest
from gpu_ops.types import Variant


class Query(NamedTuple):
    """Everything that an X-ray depends on. `against` is the variant to compare with and its knobs, or None."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    variant: str
    knobs: Mapping[str, Any]
    device: str
    against: tuple[str, Mapping[str, Any]] | None

    def within(self, other: Query | None) -> bool:
        """Whether the answer to the other query answers this one too; an extra comparison does not matter."""
        return other is not None and self in (other, other._replace(against=None))


class XRayController(OnDemand):
    """Requests an X-ray of `variant`. `variants_changed`: the list of variants, the chosen one or the one to compare
    with changed; `measured_changed`: `measured` may have changed.
    """

    variants_changed = Signal()
    measured_changed = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(controller, XRAY, parent)
        self._comparing = False
        self._against = ""
        self._models: dict[str, str] = {}
        self.variant = ""
        self._take_variants()
        self._session.changed.connect(self._changed)
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
        """The result that `gpu` measured for the kernel in `content`; None without one, or where it belongs to another
        kernel or GPU."""
        query, results = self._content_query, self._controller.results
        now = self._query()
        if not query or not self.gpu or now is None or not now._replace(against=None).within(query):
            return None
        slot = RowSlot(query.variant, query.device)
        entry = results.entry(slot) if slot in results else None
        return entry if entry and entry.seconds("kernel") and entry.row and entry.row.filter == query.filter else None

    # User actions

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
        """Set whether the comparison is visible: otherwise only one variant is simulated."""
        self._comparing = on
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

    def _query(self) -> Query | None:
        choice, session = self._session.choice, self._session
        if session.input is None or not self.variant:
            return None
        knobs = {id: dict(choice.knobs.get(id, {})) for id in (self.variant, self.against)}
        against = (self.against, knobs[self.against]) if self.against and self._comparing else None
        params, own = dict(choice.params), knobs[self.variant]
        return Query(session.input, choice.filter, params, self.variant, own, session.device, against)

    def _within(self, query: Query | None, other: Query | None) -> bool:
        return query is not None and query.within(other)

    def _asked(self, query: Query) -> XRayRequest:
        """X-ray the kernels on a simulated GPU."""
        session, engine = self._session, self._controller.queue.engine
        choice, other = session.choice, session.shown.pick(query.against[0]) if query.against else None
        architecture = architecture_of(session.device, engine.devices)
        about = (query.input, choice.filter, choice.params, session.shown.pick(self.variant), architecture, other)
        return XRayRequest(engine.next_job(), *about)
