"""The CPU as a device: plans are calls, arrays are NumPy's, times are wall-clock."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.images import Sampling
from gpu_ops.devices.libraries import import_library
from gpu_ops.errors import DeviceError, DeviceMemoryError, KernelError, PeerMissing
from gpu_ops.host import free_memory, total_memory
from gpu_ops.params import Value
from gpu_ops.plan import (
    Call,
    Checks,
    Copy,
    DeviceArray,
    Execution,
    Fill,
    HostTask,
    How,
    Launch,
    Limits,
    MemoryKind,
    Mode,
    Plan,
    Sampler,
    Span,
    Step,
)
from gpu_ops.progress import finite

SHORTEST_SAMPLE = 1e-3
"""The shortest sample in seconds. Clock and interpreter are too imprecise for shorter ones, so short plans are
batched."""
LARGE = 1 << 26
"""From this many bytes on, the free memory is checked before an allocation."""
SETTLED_FROM = 0.05
"""Seconds. A sample this long is not affected by the work before it."""


class CpuDevice:
    """All cores of this machine."""

    name = "cpu"
    kind: Literal["cpu"] = "cpu"
    clock: Literal["wall"] = "wall"

    def __init__(self) -> None:
        self.limits = Limits((0, 0), 0, 0, os.cpu_count() or 1, last_level_cache(), total_memory(), 0)

    def session(self, edits: Mapping[str, str], checks: Checks = "full") -> CpuDevice:
        return self

    def as_current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        with finite():
            if out is None:
                _check_memory(array.nbytes)
                return np.array(array, order="C")  # a copy, so that no variant can change the caller's input
            np.copyto(out, array)
            return out

    def download(self, array: DeviceArray, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        with finite():
            if out is None:
                return np.array(array)
            np.copyto(out, array)
            return out

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        needed = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        _check_memory(needed)
        try:
            return np.empty(shape, dtype)
        except MemoryError:
            raise DeviceMemoryError(f"This needs {needed:,} bytes; {self.free_bytes():,} are free.") from None

    def pitched(self, rows: int, columns: int, dtype: Any) -> DeviceArray:
        raise DeviceError("The CPU has no pitched memory; pick a CUDA device.")

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        np.copyto(target, source)

    def fill(self, target: DeviceArray, value: float) -> None:
        target.fill(value)

    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        return self.empty(shape, dtype)  # a CPU has one kind of memory

    def is_pageable(self, array: np.ndarray[Any, Any]) -> bool:
        return False

    def host_view(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        view: np.ndarray[Any, Any] = array
        return view

    def driver_call(self, what: str) -> None:
        """There is no driver."""

    def register(self, array: np.ndarray[Any, Any]) -> None:
        """Nothing to do: the CPU reads all memory alike."""

    def unregister(self, array: np.ndarray[Any, Any]) -> None:
        """Nothing to do: `register` did nothing."""

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> Any:
        raise KernelError(f"{source} is CUDA C, which the CPU cannot run; pick a CUDA device or a cpu variant.")

    def texture(self, array: DeviceArray, border: str = "nearest", linear: bool = False) -> Any:
        raise DeviceError("The CPU has no textures; pick a CUDA device.")

    def image(self, array: DeviceArray, sampling: Sampling) -> Any:
        raise DeviceError("The CPU has no textures; pick a CUDA device.")

    def peer(self) -> CpuDevice:
        raise PeerMissing("The CPU has no second device beside it; pick a CUDA device.")

    def library(self, name: str) -> ModuleType:
        return import_library(name)

    def execute(self, plan: Plan, mode: How = "direct", trace: bool = False) -> Execution:
        start = time.perf_counter()
        spans = []
        with finite():  # CPU variants end by themselves; banded ones report progress as well
            for step in plan.steps:
                begin = time.perf_counter() - start
                run_step(step)
                spans.append(Span.of(step, begin, time.perf_counter() - start))
        return Execution(time.perf_counter() - start, tuple(spans) if trace else ())

    def sampler(self, plans: Sequence[Plan], mode: Mode) -> Sampler:
        return CpuSampler(plans, mode, self.limits.l2_bytes)

    def free_bytes(self) -> int:
        return free_memory()

    def describe(self) -> dict[str, Any]:
        return {"device": "cpu", "model": cpu_model(), "threads": os.cpu_count()}

    def synchronize(self) -> None:
        """CPU steps are done when they return."""


def _check_memory(needed: int) -> None:
    """Raises DeviceMemoryError for more than is free: the system would grant it, and kill the process that uses it."""
    if needed >= LARGE and needed > (free := free_memory()):
        raise DeviceMemoryError(f"This needs {needed:,} bytes; {free:,} are free.")


def run_step(step: Step) -> None:
    """Run one step to its end. Raises KernelError for a kernel launch, which the CPU cannot run."""
    if isinstance(step, Call):
        step.function(*step.args, **step.kwargs)
    elif isinstance(step, HostTask):
        step.function(*step.args)
    elif isinstance(step, Copy):
        np.copyto(step.target, step.source)
    elif isinstance(step, Fill):
        step.target.fill(step.value)
    elif isinstance(step, Launch):
        raise KernelError("The CPU cannot run a kernel launch; pick a CUDA device.")


class CpuSampler:
    """Wall time of plans: stream rotates through them, cold reads a large buffer before each, hot repeats the first."""

    clock: Literal["wall"] = "wall"
    host_seconds_per_step = 0.0
    _last: CpuSampler | None = None

    def __init__(self, plans: Sequence[Plan], mode: Mode, cache_bytes: int) -> None:
        self.mode = mode
        self._plans = plans[:1] if mode in ("hot", "wall") else plans
        self._next = 0
        self._batch = 1
        self._seconds = 0.0
        self._flush = np.ones(max(2 * cache_bytes, 64 << 20) // 8) if mode == "cold" else None

    def sample(self) -> float:
        with finite():
            return self._sample()

    def _sample(self) -> float:
        if self._flush is not None:
            self._flush.sum()
        else:
            self._settle()
        start = time.perf_counter()
        for _ in range(self._batch):
            self._run_next()
        seconds = self._seconds = (time.perf_counter() - start) / self._batch
        if self.mode in ("stream", "hot") and seconds * self._batch < SHORTEST_SAMPLE:
            self._batch = min(int(SHORTEST_SAMPLE / max(seconds, 1e-7)) + 1, 10_000)
        return seconds

    def _run_next(self) -> None:
        for step in self._plans[self._next].steps:
            run_step(step)
        self._next = (self._next + 1) % len(self._plans)

    def _settle(self) -> None:
        """Do two untimed runs after another sampler: its library's idle threads spin for a while and would take half
        the cores. Long samples do not need it."""
        if CpuSampler._last is not self and self._seconds < SETTLED_FROM:
            for _ in range(2):
                self._run_next()
        CpuSampler._last = self


@cache
def cpu_model() -> str:
    """The processor's name as the system reports it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


@cache
def last_level_cache() -> int:
    """Bytes of the largest cache of core 0; 32 MiB where the system does not report it."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        sizes.append(int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text))
    return max(sizes, default=32 << 20)
