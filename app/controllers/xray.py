"""When a kernel is looked into: while somebody watches, whenever what is shown is no longer what is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.controllers.session import SessionController
from app.models.entry import Entry
from app.models.slot import RowSlot
from gpu_ops.types import Variant

State = Literal["empty", "waiting", "running", "shown", "stopped", "failed"]


class Wanted(NamedTuple):
    """All that an X-ray depends on. `against` is the variant it is compared with and that one's knobs, where it is."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    variant: str
    knobs: Mapping[str, Any]
    device: str
    against: tuple[str, Mapping[str, Any]] | None

    def within(self, other: Wanted | None) -> bool:
        """Whether the other brings all of this: a comparison more does not matter."""
        return other is not None and self in (other, other._replace(against=None))


class XRayController(QObject):
    """Asks for an X-ray of `variant` when there is time for it: runs go first, and it gives way to them.

    `changed` says that `state`, `content` or `reason` did: "waiting" for a run to end, "stopped" by a person, "failed"
    with a `reason`. `content` is the last X-ray there was, kept until there is another; only in "shown" it is of what
    is chosen. `variants_changed` says that there are others, or that another is chosen, to look into or to compare
    with; `measured_changed` that `measured` may be another.
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
        self._asked: Wanted | None = None
        self._had: Wanted | None = None
        self._given_up: Wanted | None = None
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
        self._session.choice_changed.connect(self._choice_changed)
        # The run of what is new is asked for first.
        self._session.input_changed.connect(self._update, later)
        self._session.choice_changed.connect(self._update, later)
        self._session.device_changed.connect(self._update, later)
        controller.devices_changed.connect(self._take_devices)
        controller.results.row_changed.connect(self.measured_changed)
        controller.results.rows_reset.connect(self.measured_changed)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The filter's variants that have kernels to look into."""
        return tuple(v for v in self._session.filter.variants if v.kernels)

    @property
    def against(self) -> str:
        """The variant that `variant` is compared with; "" for none, as for a variant and itself."""
        return self._against if self._against != self.variant else ""

    @property
    def gpu(self) -> str:
        """The GPU that `content` was simulated in the place of; "" where none measures anything."""
        device = self._had.device if self._had else ""
        return self._models.get(device, device) if device.startswith("cuda") else ""

    @property
    def measured(self) -> Entry | None:
        """What `gpu` measured of what `content` is of; None where it measured nothing yet, or something else."""
        had, results = self._had, self._controller.results
        if not had or not self.gpu or not self._wanted()._replace(against=None).within(had):
            return None
        slot = RowSlot(had.variant, had.device)
        entry = results.entry(slot) if slot in results else None
        return entry if entry and entry.seconds("kernel") and entry.row and entry.row.filter == had.filter else None

    # What a person does.

    def watch(self, on: bool) -> None:
        """Whether somebody looks: nothing is simulated for nobody."""
        self._watched = on
        if not on:
            self._controller.stop_xray()
        self._update()

    def choose(self, variant: str) -> None:
        """Look into this variant; one without kernels of its own changes nothing."""
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
        """Whether somebody looks at the comparison: else only one variant is simulated."""
        self._comparing = on
        self._update()

    def again(self) -> None:
        """Look anew, also where it was stopped or failed."""
        self._given_up = self._had = None
        self._update()

    # What changes.

    @Slot(object, str)
    def _choice_changed(self, choice: Any, what: str) -> None:
        if what == "filter":
            self._take_variants()

    def _take_variants(self) -> None:
        """Of a filter's variants the last one that is picked, or is with a GPU, else the last. It is compared with
        none."""
        self._against = ""
        ids = [v.id for v in self.variants]
        picked = [id for id in ids if id in self._session.choice.picks]
        first = [id for id in ids if id in self._session.filter.picked]
        self.variant = (picked or first or ids or [""])[-1]
        self.variants_changed.emit()

    @Slot(object)
    def _take_devices(self, devices: Any) -> None:
        self._models = {status.name: status.model for status in devices}

    def _wanted(self) -> Wanted:
        choice, session = self._session.choice, self._session
        knobs = {id: dict(choice.knobs.get(id, {})) for id in (self.variant, self.against)}
        against = (self.against, knobs[self.against]) if self.against and self._comparing else None
        params, own = dict(choice.params), knobs[self.variant]
        return Wanted(session.input, choice.filter, params, self.variant, own, session.device, against)

    @Slot()
    def _update(self) -> None:
        """Ask for what is missing, if there is time now; else `settled` comes back here."""
        wanted, running = self._wanted(), self.state == "running"
        if not self._watched or self._session.input is None or not self.variant:
            self._say("shown" if wanted.within(self._had) else "empty")
        elif wanted.within(self._had):
            if running:
                self._controller.stop_xray()
            self._say("shown")
        elif wanted.within(self._given_up):
            self._say("failed" if self.reason else "stopped")
        elif running and self._controller.busy and not wanted.within(self._asked):
            self._controller.stop_xray()
            self._say("waiting")
        elif self._controller.busy:
            self._say(self.state if running else "waiting")
        else:
            self._asked = wanted
            self._say("running")
            self._controller.xray(self.variant, wanted.against[0] if wanted.against else "")

    def _say(self, state: State) -> None:
        self.state = state
        self.changed.emit()

    @Slot(object)
    def _take(self, content: Any) -> None:
        self.content, self._had = content, self._asked
        self._say("shown" if self._wanted().within(self._had) else "waiting")

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self._given_up, self.reason = self._asked, sentence
        self._say("failed")

    @Slot()
    def _give_up(self) -> None:
        if self.state in ("running", "waiting"):
            self._given_up, self.reason = self._wanted(), ""
            self._say("stopped")
