"""The arrays of an engine host that the window on another machine refers to: results by segment, and inputs that it has
sent, once each, by the hash of their bytes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.remote.wire import WireError

SENT = "sha256:"
"""What the name of an array begins with that the window has sent; all others are the host's own segments."""
CACHE = 4 << 30
"""The most bytes of inputs that the window no longer uses and that stay for the next time."""


def hash_of(array: np.ndarray[Any, Any]) -> str:
    """The name of an array that is sent: the hash of its bytes."""
    return SENT + hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()


@dataclass
class _Sent:
    segment: str
    nbytes: int
    arrived: int = 0


class Store:
    """Any thread may call any method."""

    def __init__(self, pool: SegmentPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._sent: dict[str, _Sent] = {}  # the longest unused first
        self._used: set[str] = set()

    def missing(self, names: Sequence[str]) -> list[str]:
        """Those of the arrays that are not here whole. The others are used from now on."""
        with self._lock:
            found = [n for n in names if n in self._sent and self._sent[n].arrived == self._sent[n].nbytes]
            self._used |= set(found)
            return [name for name in names if name not in found]

    def begin(self, name: str, nbytes: int) -> None:
        """An array of the window comes. Raises DeviceMemoryError, WireError for a name that is no hash."""
        if not name.startswith(SENT):
            raise WireError("an array was sent without its hash")
        with self._lock:
            if (before := self._sent.pop(name, None)) is not None:
                self._pool.release(before.segment)
            self._make_room(nbytes)
            self._used.add(name)
            self._sent[name] = _Sent(self._pool.take(nbytes), nbytes)

    def add(self, name: str, part: bytes) -> None:
        """The next bytes of an array. Raises WireError where they are too many, or are not those of the hash."""
        with self._lock:
            sent = self._sent.get(name)
            if sent is None:  # there was no memory for it, which its job says
                return
            if sent.arrived + len(part) > sent.nbytes:
                raise WireError("an array is longer than it was said to be")
            target = self._pool.array(SharedArray(sent.segment, (sent.nbytes,), "uint8"), writeable=True)
            target[sent.arrived : sent.arrived + len(part)] = np.frombuffer(part, np.uint8)
            sent.arrived += len(part)
            if sent.arrived == sent.nbytes and hash_of(target) != name:
                raise WireError("an array arrived with other bytes than its hash says")

    def unused(self, name: str) -> None:
        """The window does not use an array any more; it stays for a while."""
        with self._lock:
            self._used.discard(name)
            if name in self._sent:
                self._sent[name] = self._sent.pop(name)
                self._make_room(0)

    def here(self, shared: SharedArray) -> SharedArray:
        """An array of the window by its segment here. Raises DeviceMemoryError if it could not be taken."""
        if not shared.segment.startswith(SENT):
            return shared
        with self._lock:
            sent = self._sent.get(shared.segment)
        if sent is None or sent.arrived < sent.nbytes:
            raise DeviceMemoryError("The engine host has no memory for this input; choose a smaller one.")
        return replace(shared, segment=sent.segment)

    def there(self, shared: SharedArray) -> SharedArray:
        """An array by the name that the window has for it."""
        with self._lock:
            name = next((n for n, sent in self._sent.items() if sent.segment == shared.segment), None)
        return shared if name is None else replace(shared, segment=name)

    def _make_room(self, nbytes: int) -> None:
        unused = [name for name in self._sent if name not in self._used]
        kept = sum(self._sent[name].nbytes for name in unused) + nbytes
        for name in unused:
            if kept <= CACHE:
                return
            kept -= self._sent[name].nbytes
            self._pool.release(self._sent.pop(name).segment)
