"""Compiles, while the engine has nothing to do, the kernels of a parameter's neighbouring values.

Radii and window sizes are constants of the compilation, so each new value costs half a second of NVRTC, which a slider
would show at every step.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.engine.messages import RunRequest
from gpu_ops.errors import KernelscopeError
from gpu_ops.filters import FILTERS
from gpu_ops.params import Param, Values
from gpu_ops.running.declared import offline_plan
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Pick

PAUSE = 0.3
"""Seconds without work, after which it begins."""
REACH = 2
"""Steps of a parameter in each direction."""
LOWEST = 19


class Ahead:
    """Begins after a run, in a thread of its own, and ends with the compilation that is running when real work
    comes. `compiled` hears of every neighbour; tests listen to it."""

    def __init__(self, compiled: Callable[[Pick, Values], object] = lambda pick, params: None) -> None:
        self._compiled = compiled
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._last: tuple[str, Values] = "", {}
        self._moved: Mapping[str, int] = {}

    def begin(self, request: RunRequest, meta: Meta) -> None:
        """Prepare for the next step after this run, whose input has that meta. A sweep has no next step, and a user's
        own kernels are never compiled unasked."""
        filter = FILTERS.find(request.filter)
        if (filter.id, request.params) != self._last:  # the timing of a picture goes no further
            self._moved = _moved(*self._last, filter, request.params)
            self._last = filter.id, request.params
        picks = [p for p in request.picks if filter.variant(p.variant).kernels and p.device != "cpu" and not p.edits]
        if not picks or request.size is not None or request.distinct is not None:
            return
        self.stop()
        self._stopped = threading.Event()
        work = (filter, picks, list(neighbours(filter, request.params, self._moved)), meta, self._stopped)
        self._thread = threading.Thread(target=self._compile, args=work, name="compile ahead", daemon=True)
        self._thread.start()

    def stop(self, wait: bool = False) -> None:
        """Real work comes: compile no further neighbour. With `wait` for the present one to end: it would disturb a
        measurement."""
        self._stopped.set()
        if wait and self._thread is not None:
            self._thread.join()

    def _compile(
        self, filter: Filter, picks: Sequence[Pick], values: Sequence[Values], meta: Meta, stopped: threading.Event
    ) -> None:
        if stopped.wait(PAUSE):
            return
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST)
        for params in values:
            for pick in picks:
                if stopped.is_set():
                    return
                with suppress(KernelscopeError):  # the value's own run says why it cannot
                    offline_plan(filter, pick, {**params, **pick.params}, meta, _offline(pick.device))
                    self._compiled(pick, params)


def _offline(name: str) -> OfflineDevice:
    """A device that compiles what the device of that name runs; it is open already."""
    device: Any = open_device(name)
    return OfflineDevice(device.architecture, limits=device.limits, assemble=device.kind == "cuda")


def _moved(before: str, values: Values, filter: Filter, now: Values) -> Mapping[str, int]:
    """The direction in which each parameter has moved since the run before."""
    if before != filter.id:
        return {}
    numbers = [p.name for p in filter.params if _steps(p) and values.get(p.name, now[p.name]) != now[p.name]]
    return {name: 1 if now[name] > values[name] else -1 for name in numbers}


def _steps(param: Param) -> bool:
    """Whether a parameter goes in steps from one whole number to the next."""
    return type(param.default) is int and not param.choices


def neighbours(filter: Filter, params: Values, moved: Mapping[str, int]) -> Iterator[Values]:
    """The allowed values next to these, nearest first: those of the parameter that has `moved` before the others, and
    in its direction before the other one."""
    numbers = [param for param in filter.params if _steps(param) and param.matters(params)]
    numbers.sort(key=lambda param: param.name not in moved)
    for distance in range(1, REACH + 1):
        for param in numbers:
            way = moved.get(param.name, 1)
            for sign in (way, -way):
                value = params[param.name] + sign * distance * int(param.step or 1)
                if (param.low is None or value >= param.low) and (param.high is None or value <= param.high):
                    yield {**params, param.name: value}
