"""Plans ready to run. All arguments are packed once, in advance, so that a launch costs only microseconds of Python."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.texture import Texture
from gpu_ops.devices.launches import check_constants, check_gaps, check_launch, check_refresh
from gpu_ops.errors import KernelError, KernelFault, LimitReached
from gpu_ops.plan import DEFAULT_STREAM, Call, Copy, Fill, HostTask, Launch, Limits, Plan, Prefetch, Span, Step
from gpu_ops.progress import advance, is_limited

_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"""
_WITHOUT_OPT_IN = 48 << 10
_NOT_READY = 600
"""cudaErrorNotReady"""
_LOOK_S = 5e-4
"""Seconds between two checks of a kernel whose time is limited."""


def wait_for(event: Any) -> None:
    """Wait until an event has completed. With a time limit, the wait ends there and raises KernelFault, because only
    the end of the process stops a kernel. Raises the driver's error for a kernel that failed."""
    from cupy.cuda import runtime

    # `Event.done` is also false after a kernel failed.
    while is_limited() and runtime.eventQuery(event.ptr) == _NOT_READY:
        try:
            advance(0, 1)
        except LimitReached as limit:
            what = f"A kernel still runs after {limit.limit}"
            more = f"; {limit.flag} allows more" if limit.flag else ""
            raise KernelFault(f"{what}: it may never end{more}.") from None
        time.sleep(_LOOK_S)
    event.synchronize()


class Prepared:
    """A plan as a list of functions that enqueue its steps. It keeps every object alive that they point to."""

    def __init__(
        self,
        plan: Plan,
        streams: Callable[[int], Any],
        limits: Limits,
        trace: bool = False,
        peer: Any = None,
    ) -> None:
        self.plan, self._peer = plan, peer
        self.capturable = not any(isinstance(step, Call | HostTask) for step in plan.steps)
        self._spans: list[tuple[Step, Any, Any]] = []
        self._peer_begin: Any = None
        self.host_clock = HostClock()
        self._keep: list[Any] = []
        self.operations: list[Callable[[], Any]] = []
        self.constants = [step for step in plan.steps if isinstance(step, Launch) and step.constants]
        self._add_steps(plan.steps, streams, limits, trace)

    def enqueue(self) -> None:
        """Enqueue every step, in order."""
        for operation in self.operations:
            operation()

    def spans_since(self, begin: Any) -> tuple[Span, ...]:
        """The spans of a traced execution that began with this event of the device. Events of two devices have no time
        between them: the peer's spans start when its first stream has waited for this event, a few microseconds
        later."""
        import cupy

        since, found = cupy.cuda.get_elapsed_time, list[Span]()
        for step, first, last in self._spans:
            peer = step.stream in self.plan.peer_streams
            zero = self._peer_begin if peer else begin
            found.append(Span.of(step, since(zero, first) * 1e-3, since(zero, last) * 1e-3, is_host, peer))
        return tuple(found)

    def _at(self, number: int) -> AbstractContextManager[Any]:
        """Inside the block, the device of a stream is the current one."""
        return self._peer.as_current() if number in self.plan.peer_streams else nullcontext()

    def _event(self, number: int, timing: bool = False) -> Any:
        """An event that a stream can record."""
        import cupy

        with self._at(number):
            return cupy.cuda.Event(disable_timing=not timing)

    def _add(self, number: int, *operations: Callable[[], Any]) -> None:
        """Add operations to a stream, while its device is the current one."""
        at_peer = number in self.plan.peer_streams
        self.operations += [partial(_call_at, self._peer, o) if at_peer else o for o in operations]

    def _add_steps(self, steps: Sequence[Step], streams: Callable[[int], Any], limits: Limits, trace: bool) -> None:
        used = sorted({step.stream for step in steps if not isinstance(step, HostTask)} - {0, DEFAULT_STREAM})
        names = {step.name for step in steps}
        names_awaited = {name for step in steps for name in step.after}
        if names_awaited - names:
            missing = sorted(names_awaited - names)[0]
            raise KernelError(f"A step waits for {missing!r}, which the plan does not have; name a step of the plan.")
        events = {step.name: self._event(step.stream) for step in steps if step.name in names_awaited}
        self._fork(streams, used, trace)
        for step in steps:
            if isinstance(step, HostTask):
                self.operations += [partial(wait_for, events[name]) for name in step.after]
                self.operations.append(self.host_clock.timed(step) if trace else partial(step.function, *step.args))
                continue
            stream = streams(step.stream)
            add = partial(self._add, step.stream)
            add(*(partial(stream.wait_event, events[name]) for name in step.after))
            with self._at(step.stream):
                operation = self._operation(step, stream, limits)
            if trace:
                begin, end = self._event(step.stream, True), self._event(step.stream, True)
                self._spans.append((step, begin, end))
                add(partial(begin.record, stream), operation, partial(end.record, stream))
            else:
                add(operation)
            if step.name in events:
                add(partial(events[step.name].record, stream))
        self._join(streams, used)

    def _fork(self, streams: Callable[[int], Any], used: list[int], trace: bool) -> None:
        """Make other streams wait for stream 0 at the start, which also adds them to a graph capture."""
        if used:
            fork = self._event(0)
            self._add(0, partial(fork.record, streams(0)))
        for i in used:
            self._add(i, partial(streams(i).wait_event, fork))
            if trace and self._peer_begin is None and i in self.plan.peer_streams:
                self._peer_begin = self._event(i, True)
                self._add(i, partial(self._peer_begin.record, streams(i)))

    def _join(self, streams: Callable[[int], Any], used: list[int]) -> None:
        for i in used:
            joined = self._event(i)
            self._add(i, partial(joined.record, streams(i)))
            self._add(0, partial(streams(0).wait_event, joined))

    def _operation(self, step: Step, stream: Any, limits: Limits) -> Callable[[], Any]:
        if isinstance(step, Launch):
            return self._launch(step, stream, limits)
        if isinstance(step, Copy):
            return self._copy(step, stream)
        if isinstance(step, Fill):
            return partial(_in_stream, stream, step.target.fill, (step.value,), {})
        if isinstance(step, Prefetch):
            return self._prefetch(step, stream)
        assert isinstance(step, Call)  # the host's own tasks are not in a stream
        return partial(_in_stream, stream, step.function, step.args, step.kwargs)

    def _prefetch(self, step: Prefetch, stream: Any) -> Callable[[], Any]:
        import cupy
        from cuda.bindings import driver

        self._keep.append(step.target)
        kinds, to = driver.CUmemLocationType, driver.CUmemLocation()
        to.type = kinds.CU_MEM_LOCATION_TYPE_DEVICE if step.to == "device" else kinds.CU_MEM_LOCATION_TYPE_HOST
        to.id = cupy.cuda.Device().id if step.to == "device" else 0
        prefetch = getattr(driver, "cuMemPrefetchAsync_v2", driver.cuMemPrefetchAsync)  # of CUDA 12, else of 13

        def enqueue() -> None:
            (status,) = prefetch(step.target.data.ptr, step.target.nbytes, to, 0, stream.ptr)
            if status != driver.CUresult.CUDA_SUCCESS:
                raise cupy.cuda.driver.CUDADriverError(int(status))

        return enqueue

    def _launch(self, step: Launch, stream: Any, limits: Limits) -> Callable[[], Any]:
        from cupy.cuda import driver

        kernel = step.kernel
        check_launch(step, kernel.entry, limits)
        check_constants(kernel.compiled, step.constants)
        declared = kernel.entry.resources.get("shared_bytes", 0)
        if declared + step.shared_bytes > _WITHOUT_OPT_IN:
            # The maximum for any block: launches of one kernel with other sizes share this attribute.
            driver.funcSetAttribute(kernel.pointer, _DYNAMIC_SHARED, limits.shared_bytes - declared)
        values = [_packed(arg) for arg in step.args]
        addresses = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(v) for v in values))
        self._keep += [values, addresses, kernel, step.args]
        at = ctypes.addressof(addresses)
        if step.early and limits.capability >= (9, 0):
            return early_launch(step, stream, at)
        launch = (kernel.pointer, *step.grid, *step.block, step.shared_bytes, stream.ptr, at)
        if kernel.entry.cooperative:
            return partial(driver.launchCooperativeKernel, *launch)
        return partial(driver.launchKernel, *launch, 0)

    def _copy(self, step: Copy, stream: Any) -> Callable[[], Any]:
        from cupy.cuda import runtime

        if isinstance(step.target, Texture):
            check_refresh(step.name, step.target.shape, step.target.dtype, step.source)
            check_gaps(step.name, step.source)
            return partial(step.target.refresh, step.source, stream)
        if step.target.nbytes != step.source.nbytes:
            raise KernelError(
                f"{step.name} copies {step.source.nbytes:,} bytes into {step.target.nbytes:,}; give arrays of one size."
            )
        self._keep += [step.target, step.source]
        kind = runtime.memcpyDefault
        if not (step.target.flags.c_contiguous and step.source.flags.c_contiguous):
            target, source = _rows(step.name, step.target), _rows(step.name, step.source)
            height, width = step.target.shape[0], step.target.nbytes // step.target.shape[0]
            return partial(runtime.memcpy2DAsync, *target, *source, width, height, kind, stream.ptr)
        return partial(
            runtime.memcpyAsync, address(step.target), address(step.source), step.target.nbytes, kind, stream.ptr
        )


class HostClock:
    """Times host tasks of an execution, in seconds since `start`."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._zero = 0.0

    def start(self) -> None:
        """Set the start: the execution's first event is in an empty stream."""
        self.spans.clear()
        self._zero = time.perf_counter()

    def timed(self, step: HostTask) -> Callable[[], None]:
        """A function that calls the step's function and records its span."""

        def call() -> None:
            begin = time.perf_counter() - self._zero
            step.function(*step.args)
            self.spans.append(Span.of(step, begin, time.perf_counter() - self._zero))

        return call


def is_host(array: Any) -> bool:
    """Whether an array is in host memory."""
    return isinstance(array, np.ndarray)


def _call_at(device: Any, operation: Callable[[], Any]) -> None:
    """A function and no method: a plan that refers to itself would keep its memory until the next collection."""
    with device.as_current():
        operation()


def _in_stream(stream: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    with stream:
        function(*args, **kwargs)


def address(array: Any) -> int:
    """The start address of an array on the host or the device."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def _rows(name: str, array: Any) -> tuple[int, int]:
    """The address of a 2D array's first row, and its pitch in bytes."""
    if array.ndim != 2 or (array.shape[1] > 1 and array.strides[1] != array.dtype.itemsize):
        raise KernelError(f"{name} copies an array with gaps between elements; give a 2D array of contiguous rows.")
    return address(array), int(array.strides[0])


def _packed(arg: Any) -> Any:
    """A ctypes object that holds the argument's bytes."""
    if arg is None:
        return ctypes.c_uint64(0)
    if isinstance(arg, np.generic):
        return ctypes.create_string_buffer(arg.tobytes(), arg.nbytes)
    return ctypes.c_uint64(arg.pointer if hasattr(arg, "pointer") else arg.data.ptr)


def early_launch(step: Launch, stream: Any, arguments: int) -> Callable[[], None]:
    """A function that enqueues the launch; `arguments` is the address of its array of argument pointers. The function
    raises CUDADriverError, as CuPy does."""
    from cuda.bindings import driver

    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = step.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = step.block
    config.sharedMemBytes, config.hStream = step.shared_bytes, stream.ptr
    config.attrs, config.numAttrs = [attribute], 1
    function = driver.CUfunction(step.kernel.pointer)

    def launch() -> None:
        (status,) = driver.cuLaunchKernelEx(config, function, arguments, 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            from cupy.cuda import driver as cupy_driver

            raise cupy_driver.CUDADriverError(int(status))

    return launch
