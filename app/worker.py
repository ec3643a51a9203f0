"""The engine as a QObject: what its reader thread hears becomes a signal in the window's thread."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import Answer, Ready, Request, RunUpdate


class Engine(QObject):
    """Owns the engine's client. `answered` carries every answer, in the thread this object lives in; `asked` every
    request, as it is submitted. `devices` and `provenance` are what it said of its machine, to whichever window."""

    answered = Signal(object)
    asked = Signal(object)
    _heard = Signal(object)

    def __init__(self, parent: QObject | None = None, client: EngineClient | None = None) -> None:
        super().__init__(parent)
        self.devices: tuple[DeviceStatus, ...] = ()
        self.provenance: dict[str, Any] = {}
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.client = client or EngineClient(self._heard.emit)

    @Slot(object)
    def _take(self, answer: Answer) -> None:
        if isinstance(answer, Ready):
            self.devices = answer.devices
        elif isinstance(answer, RunUpdate) and answer.provenance:
            self.provenance = dict(answer.provenance)
        self.answered.emit(answer)

    def start(self) -> None:
        """Start the child; Ready comes when it works, and `devices` is filled then."""
        self.client.start()

    def next_job(self) -> int:
        return self.client.next_job()

    def submit(self, request: Request) -> None:
        """Queue a request; its answers come as signals."""
        self.asked.emit(request)
        self.client.submit(request)

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a job: between its pieces, or by ending the child when that takes too long, unless `kill` is False."""
        self.client.cancel(job, kill)

    def array(self, shared: Any) -> Any:
        """A read-only view of an array that lies in a segment."""
        return self.client.pool.array(shared)

    def hold(self, segment: str) -> None:
        self.client.pool.hold(segment)

    def release(self, segment: str) -> None:
        self.client.pool.release(segment)

    def close(self) -> None:
        """End the child and give all shared memory back."""
        self.client.close()
