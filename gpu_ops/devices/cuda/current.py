"""The current device. CUDA and CuPy keep one for each thread, and mean it by all that names none: allocations, streams,
kernels, graphs. Here it is set for as long as work goes on, and put back afterwards."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Worker(Protocol):
    """Something that works on one device."""

    def at_work(self) -> AbstractContextManager[None]:
        """While it is open, the device is the thread's current one."""


W = TypeVar("W", bound=Worker)


def on_its_device(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """A method that runs with its object's device as the current one, whichever was before, and is again afterwards."""

    @wraps(method)
    def there(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.at_work():
            return method(self, *args, **kwargs)

    return there


class Kept:
    """Things of a device that belong to what is current when they are let go of: modules, textures. Whoever holds this
    must hold none of them by itself."""

    def __init__(self, index: int, *things: Any) -> None:
        self.things = list(things)
        weakref.finalize(self, let_go, index, self.things.clear).atexit = False

    @property
    def first(self) -> Any:
        return self.things[0]


def let_go(index: int, free: Callable[[], Any]) -> None:
    """Call `free` on a device, unless that is lost."""
    import cupy

    with suppress(cupy.cuda.runtime.CUDARuntimeError), cupy.cuda.Device(index):
        free()
