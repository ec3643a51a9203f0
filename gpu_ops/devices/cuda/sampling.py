"""Timing on CUDA: the stream is blocked until everything to time is enqueued, so launch overhead on the host is not
measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from gpu_ops.devices.cuda.current import Worker, on_its_device
from gpu_ops.devices.cuda.prepare import Prepared
from gpu_ops.plan import Clock, Mode

SHORTEST_SAMPLE = 2e-3
"""The minimum length in seconds of one sample, which is a batch of plans."""
FEWEST = 4
QUEUE = 512
"""The most operations in the queue at a time; the driver blocks at about 1,000, which would deadlock a blocked
stream."""
CALL_COST = 16
"""A library call may enqueue this many operations."""
HOLD_LIMIT_NS = 400_000_000
GRAPH_BELOW = 20e-6
GRAPH_LENGTH = 20


class Holder(Worker, Protocol):
    """The part of CudaDevice that a sampler uses, see there."""

    def stream(self, index: int) -> Any: ...
    def hold(self) -> None: ...
    def release(self) -> Any: ...
    def flush(self) -> None: ...
    def capture(self, prepared: Prepared, times: int) -> Any: ...


class CudaSampler:
    """One sample per call: seconds per plan between two events. If a plan itself waits for the device, which cannot end
    while the stream is blocked, the sampler changes to the wall clock and `clock` says so."""

    clock: Clock = "cuda-event"

    def __init__(self, device: Holder, plans: Sequence[Prepared], mode: Mode) -> None:
        import cupy

        self._cupy = cupy
        self._device = device
        self._stream = device.stream(0)
        self._plans = plans[:1] if mode in ("hot", "wall") else plans
        self._next = 0
        self._graph: Any = None
        self._events = (cupy.cuda.Event(), cupy.cuda.Event())
        self.mode: str = mode
        self.host_seconds_per_step = 0.0
        per_plan = sum(CALL_COST if not p.capturable else 1 for p in plans[:1]) * max(len(plans[0].operations), 1)
        self._most = max(1, QUEUE // per_plan)
        self._batch = min(FEWEST, self._most) if mode in ("stream", "hot") else 1
        if mode == "wall":
            self.clock = "wall"
        self._calibrate()

    def as_current(self) -> AbstractContextManager[None]:
        """See `CudaDevice.as_current`."""
        return self._device.as_current()

    @on_its_device
    def sample(self) -> float:
        for _ in range(2):  # the machine may have paused once, so it gets a second try
            if self.clock == "wall":
                break
            seconds = self._held_sample()
            if seconds is not None:
                return seconds
        self.clock = "wall"
        return self._by_wall()

    def _held_sample(self) -> float | None:
        """One sample with the stream blocked, or None if the hold expired before everything was enqueued."""
        self._device.hold()
        if self.mode == "cold":
            self._device.flush()
        self._events[0].record(self._stream)
        start = time.perf_counter()
        self._enqueue()
        spent = time.perf_counter() - start
        self._events[1].record(self._stream)
        expired = self._device.release()
        self._events[1].synchronize()
        if expired():
            return None
        self.host_seconds_per_step = spent / (self._batch * max(len(self._plans[0].operations), 1))
        return float(self._cupy.cuda.get_elapsed_time(*self._events)) * 1e-3 / (self._batch * self._repeats)

    @property
    def _repeats(self) -> int:
        return GRAPH_LENGTH if self._graph is not None else 1

    def _enqueue(self) -> None:
        if self._graph is not None:
            for _ in range(self._batch):
                self._graph.launch(self._stream)
            return
        for _ in range(self._batch):
            self._plans[self._next].enqueue()
            self._next = (self._next + 1) % len(self._plans)

    def _by_wall(self) -> float:
        self._stream.synchronize()
        start = time.perf_counter()
        self._enqueue()
        self._stream.synchronize()
        return (time.perf_counter() - start) / (self._batch * self._repeats)

    def _calibrate(self) -> None:
        """Warm up, then choose the batch: long enough to time, short enough for the queue."""
        for plan in self._plans:
            plan.enqueue()
        if self.mode == "cold":
            self._device.flush()
        self._stream.synchronize()
        if self.mode in ("cold", "wall"):
            return
        seconds = min(self.sample() for _ in range(2))
        if self.mode == "hot" and seconds < GRAPH_BELOW and self._plans[0].capturable:
            self._graph = self._device.capture(self._plans[0], GRAPH_LENGTH)
            self._batch = 1
            seconds = self.sample() * GRAPH_LENGTH
        self._batch = int(np.clip(math.ceil(SHORTEST_SAMPLE / max(seconds, 1e-7)), min(FEWEST, self._most), self._most))


class Hold:
    """The kernel that blocks a stream, and the pinned words that it polls."""

    def __init__(self, kernel: Any, stream: Any, words: np.ndarray[Any, Any]) -> None:
        import ctypes

        from cupy.cuda import driver

        self._words = words
        base = words.ctypes.data
        values = [ctypes.c_uint64(base), ctypes.c_uint64(base + 4), ctypes.c_int64(HOLD_LIMIT_NS)]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in values))
        self._keep = (kernel, values, pointers)
        launch = (kernel.pointer, 1, 1, 1, 1, 1, 1, 0, stream.ptr, ctypes.addressof(pointers), 0)
        self._launch: Callable[[], Any] = lambda: driver.launchKernel(*launch)

    def start(self) -> None:
        self._words[:] = 0
        self._launch()

    def release(self) -> Callable[[], bool]:
        self._words[0] = 1
        return lambda: bool(self._words[1])
