"""What a job needs of the engine: a way to answer, memory to answer in, and the wish to stop."""

from __future__ import annotations

import itertools
import mmap
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.engine.messages import Answer, Progress, SegmentGranted, SegmentWanted, SharedArray, SharedInput
from gpu_ops.engine.segments import Attachments
from gpu_ops.errors import DeviceError, DeviceMemoryError, InputError, KernelFault
from gpu_ops.measuring.affordable import affordable
from gpu_ops.measuring.provenance import machine
from gpu_ops.progress import Cancelled, advance, in_finite_call
from gpu_ops.types import Input

HEARTBEAT = 0.5
"""Seconds. A job that goes on without news says that it lives this often; see gpu_ops.progress for when it does."""
PARTS = 1000
CHUNK = 1 << 26
"""Bytes copied at a time."""
KEPT_INPUTS = 3


class Desk:
    """The run thread's side of the connection. `cancelled` and `granted` are set by the thread that reads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._tickets = itertools.count(1)
        self._attached = Attachments()
        self._pinned: dict[str, str] = {}
        self._inputs: list[tuple[SharedInput, Input]] = []
        self._parts: WeakKeyDictionary[Input, tuple[Input, tuple[int, ...]]] = WeakKeyDictionary()
        self._told: list[str] = []
        self._last = Progress(0, "")
        self._said = 0.0
        self.job = 0
        self.cancelled = 0
        self.granted: SimpleQueue[SegmentGranted] = SimpleQueue()

    def begin(self, job: int) -> None:
        """The next job is at work."""
        self.job, self._last = job, Progress(job, "beginning")

    def send(self, message: Answer | SegmentWanted) -> None:
        """Say something. Raises OSError when nobody is there any more."""
        with self._sending:
            self._connection.send(message)
        self._said = time.monotonic()

    def progress(self, text: str, done: int = 0, total: int = 0) -> None:
        """Say what is about to happen. Raises Cancelled."""
        self._last = Progress(self.job, text, done, total)
        self.send(self._last)
        if self.cancelled == self.job:
            raise Cancelled

    def part(self, part: float) -> None:
        """Say which part of what was said last is done, from 0 to 1."""
        self._last = Progress(self.job, self._last.text, int(PARTS * part), PARTS)
        self.send(self._last)

    def now(self, text: str) -> None:
        """Say what is about to happen, as far as the job was. Raises Cancelled."""
        self.progress(text, self._last.done, self._last.total)

    def stopped(self) -> bool:
        """Whether the job was cancelled. Being asked is a sign of life, which is passed on now and then."""
        self._repeat()
        return self.cancelled == self.job

    def beat(self) -> None:
        """For a thread of its own: a sign of life while a call runs that cannot be asked but ends by itself. Returns
        when nobody is there any more."""
        with suppress(OSError):
            while True:
                time.sleep(HEARTBEAT)
                if in_finite_call():
                    self._repeat()

    def _repeat(self) -> None:
        if time.monotonic() - self._said > HEARTBEAT / 2:
            self.send(self._last)

    def share(self, array: np.ndarray[Any, Any]) -> SharedArray:
        """A copy in a segment of the window's. Raises DeviceMemoryError when it has none to give, Cancelled."""
        self.send(SegmentWanted(next(self._tickets), array.nbytes))
        granted = self.granted.get()
        if not granted.segment:
            raise DeviceMemoryError(granted.reason)
        self._drop_inputs(granted.segment)
        shared = SharedArray(granted.segment, array.shape, array.dtype.name)
        target, source = self._attached.array(shared, writeable=True).reshape(-1), array.reshape(-1)
        step = max(CHUNK // array.itemsize, 1)
        for start in range(0, array.size, step):
            advance(start, array.size)
            target[start : start + step] = source[start : start + step]
        return shared

    def array(self, shared: SharedArray) -> np.ndarray[Any, Any]:
        """The window's array, not copied, read only. Raises InputError when it is gone."""
        try:
            return self._attached.array(shared)
        except OSError:
            raise InputError("The array is no longer in memory; load it again.") from None

    def input(self, shared: SharedInput) -> Input:
        """An input over the window's array; the same one for the same again, so that its reference is found again."""
        for known, input in self._inputs:
            if known == shared:
                return input
        array, clean = self.array(shared.array), None if shared.clean is None else self.array(shared.clean)
        for segment in shared.segments:
            self._drop_inputs(segment)
        named = (shared.axes, shared.name, shared.origin, shared.rate)
        input = Input(shared.kind, array, *named, clean=clean, finite=shared.finite)
        self._inputs = [(shared, input), *self._inputs[: KEPT_INPUTS - 1]]
        return input

    def middle(self, whole: Input) -> tuple[Input, tuple[int, ...]]:
        """What a simulated GPU takes of an input, and where it begins; the same one for the same input again."""
        if whole not in self._parts:
            part, place = affordable(whole)
            if part is whole:  # kept here it would keep itself
                return part, place
            self._parts[whole] = part, place
        return self._parts[whole]

    def pin(self, segment: str, devices: Iterable[str]) -> None:
        """Let the first CUDA device among `devices` pin a segment, once. Where that is forbidden copies are slower."""
        name = next((d for d in devices if d.startswith("cuda")), None)
        if name is None or segment in self._pinned:
            return
        with suppress(DeviceError):
            open_device(name).register(_bytes(self._attached.attach(segment)))
            self._pinned[segment] = name

    def provenance(self, device: str) -> dict[str, Any]:
        """Where figures of this device and those before come from; {} when the window knows of it already."""
        if device in self._told:
            return {}
        self._told.append(device)
        return machine(self._told, with_roofs=False)

    def forget(self, segment: str) -> None:
        """A segment is gone: unpin it and let go of it."""
        if segment in self._pinned:
            with suppress(DeviceError, KernelFault):
                open_device(self._pinned.pop(segment)).unregister(_bytes(self._attached.attach(segment)))
        self._drop_inputs(segment)
        self._attached.forget(segment)

    def _drop_inputs(self, segment: str) -> None:
        """An input that lay there is gone, and its reference with it."""
        self._inputs = [(shared, input) for shared, input in self._inputs if segment not in shared.segments]


def _bytes(map: mmap.mmap) -> np.ndarray[Any, Any]:
    return np.frombuffer(map, np.uint8)
