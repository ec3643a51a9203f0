"""Requests a panel's content for the present choice from the engine: while the panel is visible, and whenever its
content is outdated."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.controllers.session import SessionController
from app.models.experiment.job_kind import SIMULATE, JobKind
from gpu_ops.device_names import device_host
from gpu_ops.remote.naming import hosts_of

State = Literal["empty", "waiting", "running", "shown", "stopped", "failed"]


class OnDemand(QObject):
    """Requests content by jobs of a `kind` when the engine is free: runs go first, and stop these jobs.

    `changed`: `state`, `content` or `reason` changed. States are, among others, "waiting" for a run to end, "stopped"
    by the user, and "failed" with a `reason`. `content` is the last answer and stays until the next; it fits the
    present choice only in the state "shown". A query has everything that the content depends on.
    """

    changed = Signal()

    def __init__(self, controller: SessionController, kind: JobKind, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._session, self._kind = controller, controller.session, kind
        self._watched = False
        self._request: Any = None
        self._content_query: Any = None
        self._stopped_query: Any = None
        self.state: State = "empty"
        self.content: Any = None
        self.reason = ""
        self._host = self._next_host = ""
        later = Qt.ConnectionType.QueuedConnection
        controller.settled.connect(self._update, later)
        controller.demanded.connect(self._take)
        controller.demand_failed.connect(self._fail)
        controller.cancelled.connect(self._mark_stopped)
        self._session.changed.connect(self._update, later)  # queued, so that the controller requests its run first

    @property
    def where(self) -> str:
        """Which machine has computed `content`: "computed on gpu-host"; "" where there is no other than this one."""
        if self.content is None or not (self._host or device_host(self._session.device)):
            return ""
        here = self.tr("computed on this machine")
        return self.tr("computed on {host}").format(host=self._host) if self._host else here

    # Overridden by every panel

    def _query(self) -> Any:
        """Everything that the content depends on now; None where there is nothing to request."""
        raise NotImplementedError

    def _within(self, query: Any, other: Any) -> bool:
        """Whether the answer to the other query, or None, answers this one too."""
        return bool(query == other)

    def _asked(self, query: Any) -> Any:
        """The request for the engine."""
        raise NotImplementedError

    def _content_of(self, answer: Any) -> Any:
        """What the panel shows of an answer."""
        return answer.content

    def _free(self) -> bool:
        """Whether the engine can take a job now."""
        return not self._controller.busy

    # User actions

    def watch(self, on: bool) -> None:
        """Set whether the panel is visible: a hidden one needs no content."""
        self._watched = on
        if not on:
            self._stop()
        self._update()

    def again(self) -> None:
        """Request the content again, also after a stop or a failure."""
        self._stopped_query = self._content_query = None
        self._update()

    # Requests and answers

    @Slot()
    def _update(self) -> None:
        """Request missing content if the engine is free; otherwise `settled` calls this again."""
        query, running = self._query(), self.state == "running"
        if query is None:
            self._stop()
            self._set_state("empty")
        elif not self._watched:
            self._set_state("shown" if self._within(query, self._content_query) else "empty")
        elif self._within(query, self._content_query):
            if running:
                self._stop()
            self._set_state("shown")
        elif self._within(query, self._stopped_query):
            self._set_state("failed" if self.reason else "stopped")
        elif running and self._controller.busy and not self._within(query, self._request):
            self._stop()
            self._set_state("waiting")
        elif running and self._controller.busy:
            self._set_state("running")
        elif not self._free():
            self._set_state("waiting")
        else:
            self._request = query
            self._set_state("running")
            self._ask(query)

    def _ask(self, query: Any) -> None:
        request = self._asked(query)
        self._next_host = "".join(hosts_of(request)[:1])
        self._controller.queue.submit(self._kind, request)

    def _stop(self) -> None:
        """Stop a running job without killing the engine."""
        self._controller.queue.stop(self._kind)

    def _set_state(self, state: State) -> None:
        self.state = state
        self.changed.emit()

    @Slot(object, object)
    def _take(self, kind: JobKind, answer: Any) -> None:
        """Take an answer, but not that of a job that was stopped."""
        if kind is self._kind and self.state == "running":
            self.content, self._content_query = self._content_of(answer), self._request
            self._host = self._next_host
            self._set_state("shown" if self._within(self._query(), self._content_query) else "waiting")

    @Slot(object, str)
    def _fail(self, kind: JobKind, sentence: str) -> None:
        if kind is self._kind:
            self._stopped_query, self.reason = self._request, sentence
            self._set_state("failed")

    @Slot()
    def _mark_stopped(self) -> None:
        if self.state in ("running", "waiting"):
            self._stopped_query, self.reason = self._query(), ""
            self._set_state("stopped")


class BeforeSimulated(OnDemand):
    """Requests content before what is left to run on a simulated GPU, which takes longer."""

    def __init__(self, controller: SessionController, kind: JobKind, parent: QObject | None = None) -> None:
        super().__init__(controller, kind, parent)
        controller.began.connect(self._update, Qt.ConnectionType.QueuedConnection)

    def _free(self) -> bool:
        return super()._free() or self._controller.queue.only_simulates

    def _ask(self, query: Any) -> None:
        super()._ask(query)
        self._controller.queue.stop(SIMULATE)  # the simulated run continues afterwards
