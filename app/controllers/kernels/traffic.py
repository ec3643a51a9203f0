"""Decides when to record what the variants fetch of the input: while it is painted, whenever it is outdated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from app.controllers.kernels.after_xray import AfterXRay
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import TRAFFIC
from app.models.experiment.pin import Pin
from app.models.experiment.session import Session
from app.models.experiment.shown import variant_of
from app.models.traffic.recorded import Recorded, recorded
from app.models.xray.architecture import architecture_of, simulated_beside
from gpu_ops.engine.kernel_messages import TrafficAnswer, TrafficRequest
from gpu_ops.explaining.traffic.content import MEASURES, Measure
from gpu_ops.types import Pick

MOST = 4
"""Variants and edited kernels side by side whose traffic is recorded; the engine keeps as many."""
Line = tuple[str, int]


class Query(NamedTuple):
    """Everything that the traffic depends on."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    architecture: str
    output: str
    place: tuple[int, ...]


class TrafficController(AfterXRay):
    """Requests the traffic of the first ticked variants that have kernels, and of edited kernels, and the footprint of
    the result at `place` (row, column), () for none; `variant` is the one to tell about, "" for the first. `measure` is
    what is painted, of `line`, or of all lines (None). With `follows` it is the line of the X-ray. `shown_changed`: one
    of these changed."""

    shown_changed = Signal()

    def __init__(self, controller: SessionController, xray: XRayController, parent: QObject | None = None) -> None:
        self.place: tuple[int, ...] = ()
        self.variant = ""
        self.measure: Measure = "sectors"
        self.line: Line | None = None
        self.follows = False
        self._xray_line: Line | None = None
        super().__init__(controller, xray, TRAFFIC, parent)
        self._session.changed.connect(self._forget_place)

    @property
    def session(self) -> Session:
        return self._session

    @property
    def on(self) -> bool:
        """Whether the traffic is painted."""
        return self._watched

    @property
    def recorded(self) -> Recorded | None:
        """The traffic of the present choice; None while it is not known."""
        return self.content if self.state == "shown" else None

    @property
    def _ids(self) -> list[str]:
        """The ticked variants that have kernels, and edited kernels."""
        session, shown = self._session, self._session.shown
        ids = (id for id in shown.ids if id in session.choice.picks or shown.edited(id))
        return [id for id in ids if session.filter.variant(variant_of(id)).kernels]

    @property
    def left_out(self) -> list[str]:
        """The titles of the results that are not recorded because there are too many."""
        return [self._session.shown.name(id) for id in self._ids[MOST:]]

    def watch(self, on: bool) -> None:
        super().watch(on)
        self.shown_changed.emit()

    # User actions

    def set_measure(self, measure: Measure) -> None:
        """Paint another measure. Raises ValueError for one that there is not."""
        if measure not in MEASURES:
            raise ValueError(f"a measure is one of {', '.join(MEASURES)}, not {measure}")
        self.measure = measure
        self.shown_changed.emit()

    def set_line(self, line: Line | None, follows: bool = False) -> None:
        """Paint one line with all that it calls, the line of the X-ray (`follows`), or all lines (None)."""
        self.line, self.follows = (self._xray_line if follows else line), follows
        self.shown_changed.emit()

    def take_xray_line(self, file: str, line: int) -> None:
        """The cursor of the X-ray is at this line now."""
        self._xray_line = file, line
        if self.follows:
            self.set_line(None, True)

    def set_place(self, place: tuple[int, ...], variant: str = "") -> None:
        """Ask for the footprint of the result at (row, column), or at (sample,), and tell about that of a variant; the
        same again asks for none."""
        again = (place, variant) == (self.place, self.variant)
        self.place, self.variant = () if again else place, variant
        self._update()
        self.shown_changed.emit()

    @Slot(object)
    def _forget_place(self, change: Change) -> None:
        """Another input may have no such place, and another filter no such line."""
        known = self.place or self.line is not None or self.follows
        if known and (change.opened or change.stepped or change.filter):
            self.place, self.line, self.follows = (), None, False
            self.shown_changed.emit()

    # Requests

    def _query(self) -> Query | None:
        session = self._session
        if session.input is None:
            return None
        ids = self._ids[:MOST]
        if not ids:
            return None
        device = simulated_beside(session.device)
        picks = tuple(replace(session.shown.pick(id), device=device) for id in ids)
        architecture = architecture_of(session.device, self._controller.queue.engine.devices)
        about = (session.input, session.filter.id, dict(session.choice.params), picks, architecture)
        return Query(*about, session.output.id if self.place else "", self.place)

    def _asked(self, query: Query) -> TrafficRequest:
        return TrafficRequest(self._controller.queue.engine.next_job(), *query)

    def _content_of(self, answer: TrafficAnswer) -> Recorded:
        found = recorded(answer.content)
        for one, pick in zip(found.variants, self._request.picks, strict=True):
            if pick.edits:
                one.id = Pin.edited(pick.variant, pick.edits).id
                one.title = self.tr("{variant}, edited").format(variant=one.title)
        return found
