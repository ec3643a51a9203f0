"""The current device. CUDA and CuPy have one for each thread and use it for every call that names no device:
allocations, streams, kernels, graphs. This module sets it for the duration of some work and restores the previous one
afterwards; failures of CUDA meanwhile become this project's errors.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import wraps
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gpu_ops.errors import DeviceError, DeviceLost, DeviceMemoryError, KernelFault

P = ParamSpec("P")
R = TypeVar("R")


class Worker(Protocol):
    """An object that works on one device."""

    def as_current(self) -> AbstractContextManager[None]:
        """Inside the block, the device is the thread's current device."""


W = TypeVar("W", bound=Worker)


def on_its_device(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """A method that makes its object's device current while it runs, and restores the previous device afterwards."""

    @wraps(method)
    def wrapper(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.as_current():
            return method(self, *args, **kwargs)

    return wrapper


class DeviceObjects:
    """Driver objects, such as modules and textures, that must be freed while their device `index` is current. The owner
    must keep no other reference to them, or they might be freed with another device current."""

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


def enable_access(*devices: int) -> None:
    """Enable direct peer access between two devices for kernels and copies, where their link allows it. Otherwise the
    driver copies through the host."""
    import cupy
    from cupy.cuda import runtime

    for one, other in (devices, devices[::-1]):
        if runtime.deviceCanAccessPeer(one, other):
            with cupy.cuda.Device(one):
                try:
                    runtime.deviceEnablePeerAccess(other)
                except runtime.CUDARuntimeError as error:
                    if error.status != _ALREADY_ENABLED:
                        raise


_ALREADY_ENABLED = 704
# Codes of cudaError_t and CUresult that a kernel causes while it runs.
FAULTS = {
    700: "an illegal memory access",
    710: "a failed assertion",
    714: "a stack error",
    715: "an illegal instruction",
    716: "a misaligned address",
    717: "an invalid address space",
    718: "an invalid program counter",
    719: "an unspecified launch failure",
    721: "tensor memory that was not released",
}
# Codes after which the process cannot use the device any more, without a kernel's fault: the driver shuts down (4),
# the context is invalid or destroyed (201, 709), an uncorrectable error of memory or NVLink (214, 220), a contained
# exception (226), the service that shares the GPU is gone (806, 810), an external device failed (911), unknown (999).
LOST = {4, 201, 214, 220, 226, 709, 806, 810, 911, 999}


class AsCurrent:
    """See `CudaDevice.as_current`. A class and not a generator, because a short plan enters it ten times per run."""

    __slots__ = ("_cuda", "_device")

    def __init__(self, cupy: ModuleType, index: int) -> None:
        self._cuda = cupy.cuda
        self._device = self._cuda.Device(index)

    def __enter__(self) -> None:
        self._device.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._device.__exit__(kind, error, trace)
        if error is None:
            return
        if isinstance(error, self._cuda.runtime.CUDARuntimeError | self._cuda.driver.CUDADriverError):
            raise as_error(int(error.status), str(error)) from error
        if isinstance(error, self._cuda.memory.OutOfMemoryError):
            raise DeviceMemoryError(f"The device's memory is full: {error}. Use a smaller input.") from error


TIMEOUT = 702
"""cudaErrorLaunchTimeout"""


def as_error(status: int, text: str) -> KernelFault | DeviceError:
    """KernelFault if a kernel caused it, DeviceLost if the context is lost for another reason, else DeviceError."""
    if status == TIMEOUT:
        return KernelFault(
            "A kernel ran longer than the system allows on a GPU that draws the screen (its watchdog, a few seconds), "
            "and was ended. Give it less work, or take a GPU without a display, and start again."
        )
    if status in FAULTS:
        return KernelFault(f"A kernel failed with {FAULTS[status]}; correct it and start again.")
    if status in LOST:
        return DeviceLost(
            f"The device is lost: {text}. Start again; if it happens again, check the driver and the GPU."
        )
    return DeviceError(f"CUDA failed: {text}. Use a smaller input, or check the driver.")
