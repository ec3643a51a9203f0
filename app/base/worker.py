"""The engine as a QObject: answers from its reader thread become signals in the window's thread."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.client_jobs import EarlyAnswers
from gpu_ops.engine.messages import Answer, Ready, Request, RunUpdate
from gpu_ops.engine.shared import SharedArray
from gpu_ops.input_kinds import Spans
from gpu_ops.remote.asking import Asker
from gpu_ops.remote.engines import Engines
from gpu_ops.remote.news import Arrived, LinkState


class Engine(QObject):
    """Owns the engine's client; one that was started before has its answers in `early`. `answered` carries every
    answer, in the thread of this object; `asked` every request when it is submitted. `devices` and `provenance` are the
    engine's latest description of its machine. Engines on other machines are added to `client`; `link_changed` carries
    what their connections do, `arrived` that more of an array of one is here, and `question` what ssh asks."""

    answered = Signal(object)
    link_changed = Signal(object)
    arrived = Signal(object)
    question = Signal(object)
    asked = Signal(object)
    _heard = Signal(object)

    def __init__(
        self,
        parent: QObject | None = None,
        client: EngineClient | None = None,
        early: EarlyAnswers | None = None,
    ) -> None:
        super().__init__(parent)
        self.devices: tuple[DeviceStatus, ...] = ()
        self.provenance: dict[str, Any] = {}
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self._asker = Asker(self.question.emit)
        local = client or EngineClient(lambda answer: self.client.hear(answer))
        self.client = Engines(self._heard.emit, local, self._asker.variables)
        if early is not None:
            early.pass_on(self.client.hear)

    @Slot(object)
    def _take(self, answer: Answer | LinkState | Arrived) -> None:
        if isinstance(answer, LinkState):
            self.link_changed.emit(answer)
            return
        if isinstance(answer, Arrived):
            self.arrived.emit(answer)
            return
        if isinstance(answer, Ready):
            self.devices = answer.devices
        elif isinstance(answer, RunUpdate) and answer.provenance:
            self.provenance = dict(answer.provenance)
        self.answered.emit(answer)

    def start(self) -> None:
        """Start the engine's process; once it is ready, the answer Ready fills `devices`."""
        self.client.start()

    def next_job(self) -> int:
        return self.client.next_job()

    def submit(self, request: Request) -> None:
        """Queue a request; its answers come as signals."""
        self.asked.emit(request)
        self.client.submit(request)

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a job at its next check, or end the engine's process if that takes too long, unless `kill` is False."""
        self.client.cancel(job, kill)

    def array(self, shared: Any) -> Any:
        """A read-only view of an array in a shared-memory segment."""
        return self.client.pool.array(shared)

    def path(self, shared: SharedArray) -> str:
        """The file that has the array at its start."""
        return str(self.client.pool.path(shared.segment))

    def step(self, shared: SharedArray) -> int:
        """How many values along an axis one has that is in the array: 0 where it has all values of its own."""
        mirror = self.client.mirror(shared.segment)
        return 0 if mirror is None else mirror.step

    def look(self, shared: SharedArray, view: Spans, pixels: int) -> None:
        """A pane shows an array of another machine, or its part in `view`, on so many pixels: enough comes for that."""
        self.client.look(shared.segment, view, pixels)

    def fetch(self, shared: SharedArray) -> None:
        """Let all values of an array of another machine come."""
        self.client.whole(shared.segment, lambda come: None)

    def hold(self, segment: str) -> None:
        self.client.pool.hold(segment)

    def release(self, segment: str) -> None:
        self.client.pool.release(segment)

    def close(self) -> None:
        """End the engine's process and release all shared memory."""
        self.client.close()
        self._asker.close()
