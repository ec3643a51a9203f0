"""One CUDA device with its own streams, which is current only while it works: see `gpu_ops.devices.cuda.current`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.compiler import Compiled, Entry, compile_kernel, instances_of
from gpu_ops.devices.cuda.activity import recorded
from gpu_ops.devices.cuda.current import AsCurrent, DeviceObjects, enable_access, on_its_device
from gpu_ops.devices.cuda.memory import (
    DRIVER_CALLS,
    ManagedBytes,
    allocate,
    allocate_managed,
    allocate_pitched,
    content_of,
    host_view,
    is_pinned,
)
from gpu_ops.devices.cuda.prepare import Prepared, wait_for
from gpu_ops.devices.cuda.properties import architecture_of, limits_of, nvml_state, transfer_abilities
from gpu_ops.devices.cuda.sampling import CudaSampler, Hold
from gpu_ops.devices.cuda.texture import Image, Texture, make_image, make_texture
from gpu_ops.devices.images import Sampling
from gpu_ops.devices.instruments import HOLD, READ
from gpu_ops.devices.launches import grid1d
from gpu_ops.devices.libraries import import_library
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.errors import DeviceError, DeviceMemoryError, KernelError, KernelFault, PeerMissing
from gpu_ops.params import Value
from gpu_ops.plan import (
    DEFAULT_STREAM,
    Checks,
    Copy,
    DeviceArray,
    Execution,
    How,
    Launch,
    Limits,
    MemoryKind,
    Mode,
    Plan,
    Sampler,
    Span,
)

MOST_MODULES = 64
"""The most loaded modules without variables of their own that the sessions of a device share; the oldest is dropped,
and unloaded with its last kernel."""


@dataclass(frozen=True, eq=False)
class CudaKernel:
    """A kernel in a loaded module. `pointer` is the driver's function handle."""

    name: str
    entry: Entry
    compiled: Compiled
    module: DeviceObjects
    pointer: int

    @property
    def compile_seconds(self) -> float:
        return self.compiled.seconds

    @property
    def resources(self) -> Mapping[str, int]:
        return self.entry.resources

    def content(self, name: str, nbytes: int) -> np.ndarray[Any, Any]:
        """The first bytes of a __device__ variable, (nbytes,) uint8. Raises KernelError without such a variable."""
        return content_of(self.module.first, self.compiled.source, name, nbytes)


@dataclass(eq=False)
class _Shared:
    """The state shared by all sessions of a device."""

    architecture: str
    limits: Limits
    modules: dict[str, DeviceObjects] = field(default_factory=dict)
    streams: dict[tuple[int, bool], Any] = field(default_factory=dict)
    peer: _Shared | None = None
    hold: Hold | None = None
    flush: Prepared | None = None
    managed: ManagedBytes = field(default_factory=ManagedBytes)


class CudaDevice:
    """See `gpu_ops.plan.Device`. Created by `gpu_ops.devices.open_device("cuda:0")`."""

    kind: Literal["cuda"] = "cuda"
    clock: Literal["cuda-event"] = "cuda-event"

    def __init__(self, index: int, shared: _Shared | None = None, edits: Mapping[str, str] | None = None) -> None:
        import cupy

        self._cupy = cupy
        self.name = f"cuda:{index}"
        self._edits = dict(edits or {})
        self._modules: dict[str, DeviceObjects] = {}
        self._constants: dict[tuple[int, str], bytes] = {}
        self._index = index
        self._peer: CudaDevice | None = None
        if shared is None:  # the query takes a millisecond, and live runs open a session each
            with self.as_current():
                properties = cupy.cuda.runtime.getDeviceProperties(index)
                limits = limits_of(properties, cupy.cuda.runtime.memGetInfo()[1])
            shared = _Shared(architecture_of(limits.capability), limits)
        self._shared, self.limits = shared, shared.limits

    def as_current(self) -> AsCurrent:
        """Inside the block, this is the thread's current device, and failures of CUDA become this project's errors: see
        `as_error`."""
        return AsCurrent(self._cupy, self._index)

    def session(self, edits: Mapping[str, str], checks: Checks = "full") -> CudaDevice:
        return CudaDevice(self._index, self._shared, edits)

    def peer(self) -> CudaDevice:
        count = self._cupy.cuda.runtime.getDeviceCount()
        if count < 2:
            raise PeerMissing(f"{self.name} is the only CUDA device that is visible, and this needs a second one.")
        if self._peer is None:
            self._peer = CudaDevice((self._index + 1) % count, self._shared.peer, self._edits)
            if self._shared.peer is None:
                self._shared.peer = self._peer._shared
                enable_access(self._index, self._peer._index)
        return self._peer

    @property
    def architecture(self) -> str:
        """The architecture that kernels are compiled for, such as "sm_90"."""
        return self._shared.architecture

    def stream(self, index: int, blocking: bool = False) -> Any:
        """The CUDA stream of that number, created on first use. Streams from 1 on may be `blocking`: these synchronise
        with the default stream, non-blocking ones do not."""
        if index == DEFAULT_STREAM:
            return self._cupy.cuda.Stream.null
        key = index, blocking and index > 0
        found = self._shared.streams.get(key)
        return self._new_stream(*key) if found is None else found

    @on_its_device
    def _new_stream(self, index: int, blocking: bool) -> Any:
        return self._shared.streams.setdefault((index, blocking), self._cupy.cuda.Stream(non_blocking=not blocking))

    @on_its_device
    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        if isinstance(out, np.ndarray):  # a plan with copies of its own has its outputs on the host
            np.copyto(out, array)
            return out
        array = np.asarray(array, order="C")  # ascontiguousarray would give a scalar an axis
        target = self.empty(array.shape, array.dtype) if out is None else out
        stream = self.stream(0)
        target.set(array, stream=stream)
        stream.synchronize()
        return target

    @on_its_device
    def download(self, array: DeviceArray, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        result = np.empty(array.shape, array.dtype) if out is None else out
        if isinstance(array, np.ndarray):
            np.copyto(result, array)
            return result
        array.get(stream=self.stream(0), out=result, blocking=True)
        return result

    @on_its_device
    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        try:
            with self.stream(0):
                return self._cupy.empty(shape, dtype)
        except self._cupy.cuda.memory.OutOfMemoryError:
            needed = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            raise DeviceMemoryError(
                f"{self.name} cannot allocate {needed:,} bytes; {self.free_bytes():,} are free. Use a smaller input."
            ) from None

    @on_its_device
    def pitched(self, rows: int, columns: int, dtype: Any) -> DeviceArray:
        array = allocate_pitched(rows, columns, np.dtype(dtype), self._index)
        if array is None:
            needed = rows * columns * np.dtype(dtype).itemsize
            raise DeviceMemoryError(
                f"{self.name} cannot allocate {needed:,} bytes; {self.free_bytes():,} are free. Use a smaller input."
            )
        return array

    @on_its_device
    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        Prepared(Plan((Copy(target, source),), {}), self.stream, self.limits).enqueue()

    @on_its_device
    def fill(self, target: DeviceArray, value: float) -> None:
        with self.stream(0):
            single = target.dtype.itemsize == 1 and target.flags.c_contiguous
            if single and isinstance(target, self._cupy.ndarray):  # CuPy's own kernel takes longer to launch
                target.data.memset_async(int(value) % 256, target.nbytes)
            else:
                target.fill(value)

    @on_its_device
    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> Any:
        if kind == "device":
            return self.empty(shape, dtype)
        if kind == "managed":
            return allocate_managed(shape, dtype, self._index, self._shared.managed, self.free_bytes())
        return allocate(kind, shape, dtype, self._index)

    @on_its_device
    def is_pageable(self, array: np.ndarray[Any, Any]) -> bool:
        return not is_pinned(array)

    def host_view(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        return host_view(array)

    @on_its_device
    def driver_call(self, what: str) -> None:
        DRIVER_CALLS[what]()

    @on_its_device
    def register(self, array: np.ndarray[Any, Any]) -> None:
        self._cupy.cuda.runtime.hostRegister(array.ctypes.data, array.nbytes, 1)  # 1: pinned for all devices

    @on_its_device
    def unregister(self, array: np.ndarray[Any, Any]) -> None:
        self._cupy.cuda.runtime.hostUnregister(array.ctypes.data)

    @on_its_device
    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> CudaKernel:
        instances = instances_of(source, name, self._edits)
        compiled = compile_kernel(source, self._shared.architecture, defines, self._edits, instances=instances)
        entry = compiled.entry(name)
        modules = self._modules if compiled.has_variables else self._shared.modules
        if compiled.key not in modules:
            modules[compiled.key] = DeviceObjects(self._index, self._cupy.cuda.function.Module())
            modules[compiled.key].first.load(compiled.cubin)
        module = modules[compiled.key]
        while len(self._shared.modules) > MOST_MODULES:
            self._shared.modules.pop(next(iter(self._shared.modules)))
        return CudaKernel(name, entry, compiled, module, int(module.first.get_function(entry.symbol).ptr))

    @on_its_device
    def texture(self, array: DeviceArray, border: str = "nearest", linear: bool = False) -> Texture:
        with self.stream(0):
            return make_texture(array, border, linear, self._index)

    @on_its_device
    def image(self, array: DeviceArray, sampling: Sampling) -> Image:
        with self.stream(0):
            return make_image(array, sampling, self._index)

    def library(self, name: str) -> ModuleType:
        return import_library(name)

    @on_its_device
    def prepare(self, plan: Plan, trace: bool = False) -> Prepared:
        """A plan with packed arguments, and its constants on the device."""
        own = partial(self.stream, blocking=True) if plan.blocking else self.stream
        peer = self.peer() if plan.peer_streams else None

        def streams(number: int) -> Any:
            return peer.stream(number) if peer is not None and number in plan.peer_streams else own(number)

        prepared = Prepared(plan, streams, self.limits, trace, peer)
        for launch in prepared.constants:
            (self.peer() if launch.stream in plan.peer_streams else self)._set_constants(launch)
        self.stream(0).synchronize()
        if plan.graph and not trace:
            graph = self.capture(prepared, 1)
            prepared.operations = [partial(graph.launch, self.stream(0))]
        return prepared

    @on_its_device
    def _set_constants(self, launch: Launch) -> None:
        for symbol, value in launch.constants.items():
            data = np.ascontiguousarray(value)
            key = (id(launch.kernel.module), symbol)
            if self._constants.setdefault(key, data.tobytes()) != data.tobytes():
                raise KernelError(f"Constant {symbol} would need two values at once; plan in a session for each.")
            address = launch.kernel.module.first.get_global_var(symbol)
            address = int(address.ptr if hasattr(address, "ptr") else address)
            # On the default stream, the copy might end after kernels on the other streams began to read.
            runtime, stream = self._cupy.cuda.runtime, self.stream(0)
            runtime.memcpyAsync(address, data.ctypes.data, data.nbytes, runtime.memcpyHostToDevice, stream.ptr)
            stream.synchronize()

    @on_its_device
    def execute(self, plan: Plan | Prepared, mode: How = "direct", trace: bool = False) -> Execution:
        """Execute a plan, or one that `prepare` made ready without a trace."""
        prepared, stream = self.prepare(plan, trace) if isinstance(plan, Plan) else plan, self.stream(0)
        begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        graph = self.capture(prepared, 1) if mode == "graph" and not (trace or prepared.plan.graph) else None
        begin.record(stream)
        prepared.host_clock.start()
        try:
            if graph is not None:
                graph.launch(stream)
            else:
                prepared.enqueue()
            end.record(stream)
            wait_for(end)
        except KernelFault:
            raise
        except BaseException:  # of a task of the host: nothing may use the memory that its caller frees
            with suppress(self._cupy.cuda.runtime.CUDARuntimeError, DeviceError):
                self.synchronize()
            raise
        elapsed = self._cupy.cuda.get_elapsed_time(begin, end) * 1e-3
        return Execution(elapsed, (*prepared.host_clock.spans, *prepared.spans_since(begin)))

    @on_its_device
    def recorded(self, plan: Plan) -> tuple[Execution, tuple[Span, ...]]:
        """A traced execution of a plan, and CUPTI's records of it. Raises LibraryMissing, DeviceError."""
        found: list[Execution] = []
        spans = recorded(lambda: found.append(self.execute(plan, trace=True)))
        return found[0], spans

    @on_its_device
    def capture(self, prepared: Prepared, times: int) -> Any:
        """A CUDA graph that runs a prepared plan `times` times. Raises KernelError for plans that call libraries."""
        if not prepared.capturable:
            raise KernelError("A plan that calls a library or the host cannot become a graph; execute it directly.")
        stream = self.stream(0)
        stream.begin_capture()
        for _ in range(times):
            prepared.enqueue()
        return stream.end_capture()

    @on_its_device
    def sampler(self, plans: Sequence[Plan], mode: Mode) -> Sampler:
        prepared = [self.prepare(plan) for plan in plans]
        return CudaSampler(self, prepared, mode)

    @on_its_device
    def hold(self) -> None:
        """Block stream 0 until `release`, at most 0.4 s."""
        if self._shared.hold is None:
            words = self.allocate("pinned", (2,), np.int32)
            self._shared.hold = Hold(self.kernel(HOLD.source, HOLD.name), self.stream(0), words)
        self._shared.hold.start()

    @on_its_device
    def release(self) -> Any:
        """Unblock stream 0. Returns a function that says, once the stream has continued, whether the hold had expired
        before."""
        assert self._shared.hold is not None
        return self._shared.hold.release()

    @on_its_device
    def flush(self) -> None:
        """Evict everything from L2 by reading a large buffer; reading leaves no dirty lines."""
        if self._shared.flush is None:
            words = max(2 * self.limits.l2_bytes, 64 << 20) // 16
            source, sink = self.empty((words * 4,), np.uint32), self.empty((1,), np.uint32)
            self.fill(source, 1)
            kernel = self.kernel(READ.source, READ.name, READ.defines)
            grid = grid1d(words, 256 * 16)
            launch = Launch(kernel, grid, (256, 1, 1), (source, sink, np.int64(words)), name="flush")
            self._shared.flush = self.prepare(Plan((launch,), {}))
        self._shared.flush.enqueue()

    @on_its_device
    def free_bytes(self) -> int:
        pool = self._cupy.get_default_memory_pool()
        free = int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())
        limit = int(pool.get_limit())  # set by the user, see CUPY_GPU_MEMORY_LIMIT; 0 is none
        return min(free, max(limit - int(pool.used_bytes()), 0)) if limit else free

    @on_its_device
    def describe(self) -> dict[str, Any]:
        runtime = self._cupy.cuda.runtime
        properties = runtime.getDeviceProperties(self._index)
        return {
            "device": self.name,
            "model": properties["name"].decode(),
            "architecture": self._shared.architecture,
            "multiprocessors": int(properties["multiProcessorCount"]),
            "driver_cuda": runtime.driverGetVersion(),
            "runtime_cuda": runtime.runtimeGetVersion(),
            "transfers": transfer_abilities(self._index),
            "cupy": self._cupy.__version__,
            "nvrtc": ".".join(map(str, nvrtc_version())),
            **nvml_state(self._index),
        }

    @on_its_device
    def synchronize(self) -> None:
        for stream in self._shared.streams.values():
            stream.synchronize()
