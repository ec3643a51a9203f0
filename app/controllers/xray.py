"""When a kernel is looked into: while somebody watches, whenever what is shown is no longer what is chosen."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.controllers.session import SessionController
from gpu_ops.types import Variant

State = Literal["empty", "waiting", "running", "shown", "stopped", "failed"]


class XRayController(QObject):
    """Asks for an X-ray of `variant` when there is time for it: runs go first, and it gives way to them.

    `changed` says that `state`, `content` or `reason` did: "waiting" for a run to end, "stopped" by a person, "failed"
    with a `reason`. `content` is the last X-ray there was, kept until there is another; only in "shown" it is of what
    is chosen. `variants_changed` says that there are others, or that another is chosen.
    """

    changed = Signal()
    variants_changed = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._session = controller, controller.session
        self._watched = False
        self._asked: Any = None
        self._had: Any = None
        self._given_up: Any = None
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

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The filter's variants that have kernels to look into."""
        return tuple(v for v in self._session.filter.variants if v.kernels)

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
        """Of a filter's variants the last one that is picked, else the last."""
        ids = [v.id for v in self.variants]
        picked = [id for id in ids if id in self._session.choice.picks]
        self.variant = (picked or ids or [""])[-1]
        self.variants_changed.emit()

    def _wanted(self) -> Any:
        """All that an X-ray depends on."""
        choice, session = self._session.choice, self._session
        knobs = choice.knobs.get(self.variant, {})
        return session.input, choice.filter, dict(choice.params), self.variant, dict(knobs), session.device

    @Slot()
    def _update(self) -> None:
        """Ask for what is missing, if there is time now; else `settled` comes back here."""
        wanted, running = self._wanted(), self.state == "running"
        if not self._watched or self._session.input is None or not self.variant:
            self._say("empty" if self._had != wanted else "shown")
        elif wanted == self._had:
            self._say("shown")
        elif wanted == self._given_up:
            self._say("failed" if self.reason else "stopped")
        elif running and self._controller.busy and wanted != self._asked:
            self._controller.stop_xray()
            self._say("waiting")
        elif self._controller.busy:
            self._say(self.state if running else "waiting")
        else:
            self._asked = wanted
            self._say("running")
            self._controller.xray(self.variant)

    def _say(self, state: State) -> None:
        self.state = state
        self.changed.emit()

    @Slot(object)
    def _take(self, content: Any) -> None:
        self.content, self._had = content, self._asked
        self._say("shown" if self._had == self._wanted() else "waiting")

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self._given_up, self.reason = self._asked, sentence
        self._say("failed")

    @Slot()
    def _give_up(self) -> None:
        if self.state in ("running", "waiting"):
            self._given_up, self.reason = self._wanted(), ""
            self._say("stopped")
