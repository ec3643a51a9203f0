"""A device that plans and compiles for one architecture but runs nothing: for checks on machines with no GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.compiler import Compiled, Entry, compile_kernel, instances_of
from gpu_ops.devices.cpu import CpuDevice
from gpu_ops.devices.launches import PITCH, check_constants, check_launch, check_refresh, check_texture
from gpu_ops.devices.limits import limits_of
from gpu_ops.errors import DeviceError
from gpu_ops.params import Value
from gpu_ops.plan import Copy, DeviceArray, Execution, How, Launch, Limits, Mode, Plan, Sampler


@dataclass(frozen=True, eq=False)
class OfflineKernel:
    """A compiled kernel that no device has loaded."""

    name: str
    entry: Entry
    compiled: Compiled

    @property
    def compile_seconds(self) -> float:
        return self.compiled.seconds

    @property
    def resources(self) -> Mapping[str, int]:
        return self.entry.resources


@dataclass(frozen=True, eq=False)
class OfflineTexture:
    """A texture without content; `shape` and `dtype` are those of its array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pointer: int = 0


class OfflineDevice(CpuDevice):
    """A device that compiles kernels and checks launches. Its arrays are NumPy's, with meaningless content."""

    def __init__(
        self,
        architecture: str,
        edits: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        assemble: bool = True,
    ) -> None:
        """`limits` are those of a real GPU; without them, of a small GPU of this architecture. Kernels that are not
        assembled have no resources, as on the simulated GPU, with which they share the compiled programs."""
        super().__init__()
        self.architecture, self._assemble = architecture, assemble
        self._edits = dict(edits or {})
        self.limits = limits or limits_of(architecture)

    def peer(self) -> OfflineDevice:
        """The same device: kernels of a second GPU are compiled alike."""
        return self

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> OfflineKernel:
        instances = instances_of(source, name, self._edits)
        compiled = compile_kernel(source, self.architecture, defines, self._edits, self._assemble, instances)
        return OfflineKernel(name, compiled.entry(name), compiled)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        # All elements share one address, so that plans of any size take no memory.
        return np.broadcast_to(np.zeros((), dtype), shape)

    def download(self, array: DeviceArray, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """`out`, or the array: nothing is copied, because the content of both is meaningless."""
        found: np.ndarray[Any, Any] = array if out is None else out
        return found

    def pitched(self, rows: int, columns: int, dtype: Any) -> np.ndarray[Any, Any]:
        """Rows a multiple of 512 bytes apart, as on the simulated GPU; all elements share one address."""
        itemsize = np.dtype(dtype).itemsize
        strides = (-(-columns * itemsize // PITCH) * PITCH, itemsize)
        return np.lib.stride_tricks.as_strided(np.zeros((), dtype), (rows, columns), strides, writeable=False)

    def texture(self, array: DeviceArray, border: str = "nearest", linear: bool = False) -> OfflineTexture:
        check_texture(array, border, linear)
        return OfflineTexture(array.shape, array.dtype)

    def check(self, plan: Plan) -> None:
        """Raises KernelError if a launch does not fit its kernel or this architecture, or an array its texture."""
        for step in plan.steps:
            if isinstance(step, Launch):
                check_launch(step, step.kernel.entry, self.limits)
                check_constants(step.kernel.compiled, step.constants)
            elif isinstance(step, Copy) and isinstance(step.target, OfflineTexture):
                check_refresh(step.name, step.target.shape, step.target.dtype, step.source)

    def execute(self, plan: Plan, mode: How = "direct", trace: bool = False) -> Execution:
        raise DeviceError("This device only compiles and checks; pick cuda:N to run.")

    def sampler(self, plans: Any, mode: Mode) -> Sampler:
        raise DeviceError("This device only compiles and checks; pick cuda:N to run.")


class CountingDevice(OfflineDevice):
    """It counts the bytes that plans would allocate."""

    nbytes = 0

    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        self.nbytes += 0 if out is not None else array.nbytes
        return super().upload(array, out)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        return self._counted(super().empty(shape, dtype))

    def pitched(self, rows: int, columns: int, dtype: Any) -> np.ndarray[Any, Any]:
        return self._counted(super().pitched(rows, columns, dtype))

    def _counted(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        self.nbytes += array.nbytes
        return array
