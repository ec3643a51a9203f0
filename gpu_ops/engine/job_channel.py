"""The engine's connection for a job: it sends answers, gets segments for their arrays, and receives the
cancellation."""

from __future__ import annotations

import itertools
import math
import mmap
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.engine.messages import Answer, Progress, SegmentGrant, SegmentRequest
from gpu_ops.engine.segments import Attachments, open_segment
from gpu_ops.engine.shared import SharedArray, SharedInput
from gpu_ops.errors import DeviceError, DeviceMemoryError, InputError, KernelFault
from gpu_ops.io.memory import allocating, same_memory
from gpu_ops.progress import Cancelled, advance, in_finite_call
from gpu_ops.report.provenance import machine
from gpu_ops.running.affordable import affordable
from gpu_ops.types import Input

HEARTBEAT = 0.5
"""Seconds between two heartbeats of a job without news; gpu_ops.progress explains which work sends them."""
BRIEF = 0.1
"""Seconds in which a job for one frame of many says nothing: its steps would be read by nobody, and each message takes
four threads to their turn."""
PARTS = 1000
CHUNK = 1 << 26
"""Bytes to copy at a time."""
INPUT_CACHE_SIZE = 3


class JobChannel:
    """The run thread's side of the connection. The reading thread sets `cancelled_job` and fills `grants`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._tickets = itertools.count(1)
        self._attached = Attachments()
        self._pinned: dict[str, str] = {}
        self._inputs: list[tuple[SharedInput, Input]] = []
        self._parts: WeakKeyDictionary[Input, tuple[Input, tuple[int, ...]]] = WeakKeyDictionary()
        self._reported_devices: dict[str, bool] = {}
        self._allocated: list[tuple[SharedArray, np.ndarray[Any, Any]]] = []
        self._last = Progress(0, "")
        self._last_sent = self._quiet_until = 0.0
        self.job = 0
        self.cancelled_job = 0
        self.grants: SimpleQueue[SegmentGrant] = SimpleQueue()

    def begin(self, job: int, of_frame: bool = False) -> None:
        """Start the next job; one `of_frame` says nothing of its steps while it is BRIEF."""
        self.job, self._last, self._allocated = job, Progress(job, "beginning"), []
        self._quiet_until = time.monotonic() + BRIEF if of_frame else 0.0

    def send(self, message: Answer | SegmentRequest) -> None:
        """Send a message. Raises OSError if the window is gone."""
        self.send_concurrent(message)
        self._last_sent = time.monotonic()

    def send_concurrent(self, message: Answer | SegmentRequest) -> None:
        """Send a message that does not count as a heartbeat of the running job."""
        with self._sending:
            self._connection.send(message)

    def progress(self, text: str, done: int = 0, total: int = 0) -> None:
        """Report the next step, and how much is done. Raises Cancelled."""
        self._last = Progress(self.job, text, done, total)
        if time.monotonic() >= self._quiet_until:
            self.send(self._last)
        if self.cancelled_job == self.job:
            raise Cancelled

    def report_part(self, part: float) -> None:
        """Report which part of the job is done, from 0 to 1, with the last text."""
        self._last = Progress(self.job, self._last.text, int(PARTS * part), PARTS)
        self.send(self._last)

    def announce(self, text: str) -> None:
        """Report the next step, with the progress so far. Raises Cancelled."""
        self.progress(text, self._last.done, self._last.total)

    def should_stop(self) -> bool:
        """Whether the job was cancelled. A job that calls this is alive, so this also sends a heartbeat now and
        then."""
        self._repeat()
        return self.cancelled_job == self.job

    def beat(self) -> None:
        """Run in a separate thread: send heartbeats during a finite call. Returns when the window is gone."""
        with suppress(OSError):
            while True:
                time.sleep(HEARTBEAT)
                if in_finite_call():
                    self._repeat()

    def _repeat(self) -> None:
        if time.monotonic() - self._last_sent > HEARTBEAT / 2:
            with self._sending:  # the newest one: another thread may have sent one meanwhile
                self._connection.send(self._last)
            self._last_sent = time.monotonic()

    def share(self, array: np.ndarray[Any, Any]) -> SharedArray:
        """A copy of an array in a segment of the window. Raises DeviceMemoryError if the window has no memory,
        Cancelled."""
        there = next((s for s, a in self._allocated if same_memory(a, array)), None)
        if there is not None:
            return replace(there, shape=array.shape)
        shared = self._segment(array.shape, array.dtype)
        target, source = self._attached.array(shared, writeable=True).reshape(-1), array.reshape(-1)
        step = max(CHUNK // array.itemsize, 1)
        for start in range(0, array.size, step):
            advance(start, array.size)
            target[start : start + step] = source[start : start + step]
        return shared

    @contextmanager
    def allocating(self, devices: Sequence[str] = ()) -> Iterator[None]:
        """Inside the block, large files are read, and large results copied from these devices, into segments of the
        window, which `share` need not copy. The window reclaims those that the job does not share."""
        opened: list[int] = []

        def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], int | None]:
            shared = self._segment(shape, dtype)
            array = self._attached.array(shared, writeable=True).view(dtype)
            self.pin(shared.segment, devices)
            self._allocated.append((shared, array))
            if sys.platform != "linux":  # other threads send to sockets only
                return array, None
            opened.append(open_segment(shared.segment))
            return array, opened[-1]

        try:
            with allocating(allocate):
                yield
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _segment(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SharedArray:
        self.send(SegmentRequest(next(self._tickets), math.prod(shape) * dtype.itemsize))
        grant = self.grants.get()
        if not grant.segment:
            raise DeviceMemoryError(grant.reason)
        self._drop_inputs(grant.segment)
        return SharedArray(grant.segment, shape, dtype.name)

    def array(self, shared: SharedArray) -> np.ndarray[Any, Any]:
        """The window's array, read-only and not copied. Raises InputError if it is gone."""
        try:
            return self._attached.array(shared)
        except OSError:
            raise InputError("The array is no longer in memory; load it again.") from None

    def input(self, shared: SharedInput) -> Input:
        """An Input over the window's array. The same `shared` gives the same Input again, which caches its
        reference."""
        for key, input in self._inputs:
            if key == shared:
                return input
        array, clean = self.array(shared.array), None if shared.clean is None else self.array(shared.clean)
        for segment in shared.segments:
            self._drop_inputs(segment)
        meta = (shared.axes, shared.name, shared.origin, shared.rate)
        input = Input(shared.kind, array, *meta, clean=clean, finite=shared.finite, facts=shared.facts)
        self._inputs = [(shared, input), *self._inputs[: INPUT_CACHE_SIZE - 1]]
        return input

    def middle(self, whole: Input) -> tuple[Input, tuple[int, ...]]:
        """The part of an input that a simulated GPU runs in reasonable time, and where it begins. The part is cached
        for each input."""
        if whole not in self._parts:
            part, place = affordable(whole)
            if part is whole:  # as a value of this dictionary it would keep its own key alive
                return part, place
            self._parts[whole] = part, place
        return self._parts[whole]

    def pin(self, segment: str, devices: Iterable[str]) -> None:
        """Let the first CUDA device among `devices` pin a segment, once. If the system does not allow it, copies are
        slower."""
        name = next((d for d in devices if d.startswith("cuda")), None)
        if name is None or segment in self._pinned:
            return
        with suppress(DeviceError):
            open_device(name).register(_bytes(self._attached.attach(segment)))
            self._pinned[segment] = name

    def provenance(self, device: str, roofs: bool = False) -> dict[str, Any]:
        """The provenance of this device and those before it, with the roofs of those that were measured, as `roofs`
        says of this one; {} if all of it has been sent before."""
        known = self._reported_devices.get(device)
        if known is not None and known >= roofs:
            return {}
        self._reported_devices[device] = roofs or bool(known)
        return machine([*self._reported_devices], [name for name, has in self._reported_devices.items() if has])

    def forget(self, segment: str) -> None:
        """Unpin and unmap a segment that the window is removing."""
        if segment in self._pinned:
            with suppress(DeviceError, KernelFault):
                open_device(self._pinned.pop(segment)).unregister(_bytes(self._attached.attach(segment)))
        self._drop_inputs(segment)
        self._attached.forget(segment)

    def _drop_inputs(self, segment: str) -> None:
        """Drop inputs, with their references, in a segment that gets new content."""
        self._inputs = [(shared, input) for shared, input in self._inputs if segment not in shared.segments]


def _bytes(map: mmap.mmap) -> np.ndarray[Any, Any]:
    return np.frombuffer(map, np.uint8)
