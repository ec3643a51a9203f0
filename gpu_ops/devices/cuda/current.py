"""The current device. CUDA and CuPy have one for each thread and use it for every call that names no device:
allocations, streams, kernels, graphs. This module sets it while work goes on and restores the previous one afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Worker(Protocol):
    """An object that works on one device."""

    def at_work(self) -> AbstractContextManager[None]:
        """Inside, the device is the thread's current device."""


W = TypeVar("W", bound=Worker)


def on_its_device(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """A method that makes its object's device current while it runs, and restores the previous one afterwards."""

    @wraps(method)
    def wrapper(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.at_work():
            return method(self, *args, **kwargs)

    return wrapper


class DeviceObjects:
    """Driver objects, such as modules and textures, that must be freed while their device `index` is current. The owner
    of this must hold no other reference to them, or they would be freed with another device current."""

    def __init__(self, index: int, *objects: Any) -> None:
        self.objects = list(objects)
        weakref.finalize(self, free_on_device, index, self.objects.clear).atexit = False

    @property
    def first(self) -> Any:
        return self.objects[0]


def free_on_device(index: int, free: Callable[[], Any]) -> None:
    """Call `free` with device `index` current, unless the device is lost."""
    import cupy

    with suppress(cupy.cuda.runtime.CUDARuntimeError), cupy.cuda.Device(index):
        free()
