"""One engine process for all views of a notebook: it starts with the first one and ends with the last."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.about import segments_of_answer
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import Answer, Failed, Finished, Ready, Request
from gpu_ops.engine.segments import SegmentPool

Listener = Callable[[Answer], None]


class SharedEngine:
    """An engine and who listens to which of its jobs. Listeners are called in the client's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, Listener] = {}
        self._users: list[Listener] = []
        self.devices: tuple[DeviceStatus, ...] = ()
        self.client = EngineClient(self._hear)

    @property
    def pool(self) -> SegmentPool:
        return self.client.pool

    def join(self, user: Listener) -> None:
        """Tell `user` when an engine is ready, or that none starts; at once if one is."""
        with self._lock:
            self._users.append(user)
        if self.devices:
            user(Ready(0, self.devices))
        self.client.start()

    def leave(self, user: Listener) -> bool:
        """Undo `join`. Returns whether it was the last user."""
        with self._lock:
            self._users.remove(user)
            self._listeners = {job: heard for job, heard in self._listeners.items() if heard is not user}
            return not self._users

    def submit(self, request: Request, listener: Listener) -> None:
        """Queue a request, whose answers the listener gets."""
        with self._lock:
            self._listeners[request.job] = listener
        self.client.submit(request)

    def _hear(self, answer: Answer) -> None:
        if isinstance(answer, Ready):
            self.devices = answer.devices
        if isinstance(answer, Ready) or answer.job == 0:
            with self._lock:
                users = list(self._users)
            for user in users:
                user(answer)
            return
        with self._lock:
            ended = isinstance(answer, Finished | Failed)
            listener = self._listeners.pop(answer.job, None) if ended else self._listeners.get(answer.job)
        if listener is not None:
            listener(answer)
            return
        for name in segments_of_answer(answer):  # nobody waits for it any more
            self.pool.release(name)


_lock = threading.Lock()
_shared: SharedEngine | None = None


def acquire(user: Listener) -> SharedEngine:
    """The engine of this process, started where there is none. Each `acquire` needs a `release`."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = SharedEngine()
        _shared.join(user)
        return _shared


def release(engine: SharedEngine, user: Listener) -> None:
    """Leave the engine; with its last user it ends, and its memory is freed."""
    global _shared
    with _lock:
        if engine.leave(user) and engine is _shared:
            _shared = None
            engine.client.close()
