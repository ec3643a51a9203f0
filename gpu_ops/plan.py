"""Plans and the devices that execute them. A plan's steps read and write device arrays that are already allocated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, Protocol

import numpy as np

from gpu_ops.params import Value

DeviceArray = Any
"""An array in device memory: a NumPy array on the CPU, a CuPy array on CUDA."""
Mode = Literal["stream", "cold", "hot", "wall"]
Clock = Literal["cuda-event", "wall", "simulated"]
Checks = Literal["full", "sample", "off"]
How = Literal["direct", "graph", "reverse", "delayed", "shuffled", "counted"]
MemoryKind = Literal["device", "pageable", "pinned", "registered", "mapped", "managed"]
"""Kinds of memory: device memory; ordinary host memory (pageable); page-locked host memory (pinned); ordinary memory
page-locked after its allocation (registered); page-locked memory that kernels access directly (mapped); or memory that
the driver migrates on access (managed)."""
Engine = Literal["host", "upload", "kernel", "download", "device"]
"""What executes a step: the host, the copy engine of one direction, the multiprocessors, or either of the last two for
copies within the device."""
Where = Callable[[Any], bool]
"""Whether an array is in a kind of memory."""
DEFAULT_STREAM = -1
"""The number of the legacy default stream, with which streams of a `blocking` plan synchronise."""


@dataclass(frozen=True)
class Limits:
    """The limits of a device. `capability` is (major, minor), or (0, 0) for a CPU."""

    capability: tuple[int, int]
    threads_per_block: int
    shared_bytes: int
    multiprocessors: int
    l2_bytes: int
    memory_bytes: int
    copy_engines: int


@dataclass(frozen=True, eq=False)
class Launch:
    """One kernel launch. `args` are device arrays, None for a null pointer, and explicit NumPy scalars, checked against
    the kernel's parameters. `constants` maps __constant__ symbols to host arrays, copied before the plan first runs. An
    `early` launch uses programmatic dependent launch: it may begin before the previous launch in its stream has
    completed, and its kernel itself waits for that. It cannot be the first of its plan, and devices before compute
    capability 9.0 run it in order. `loops` gives, by name, the trip counts in the busiest thread of those loops that
    small inputs execute only once."""

    kernel: Any
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: tuple[Any, ...]
    shared_bytes: int = 0
    constants: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    name: str = ""
    stream: int = 0
    after: tuple[str, ...] = ()
    early: bool = False
    loops: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a library or a compiled CPU function; it must enqueue its work and return, or finish it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    stream: int = 0
    after: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Copy:
    """Copy `source` to `target`: same shape and dtype, each on the host or on the device. If the target is a texture,
    its contents are replaced. Rows of a 2D array on the device may be padded to a pitch."""

    target: DeviceArray
    source: DeviceArray
    name: str = "copy"
    stream: int = 0
    after: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Fill:
    """Set every element of `target` to `value`."""

    target: DeviceArray
    value: float
    name: str = "fill"
    stream: int = 0
    after: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Prefetch:
    """Prefetch managed memory to the device or to the host, in stream order, before it is accessed there."""

    target: DeviceArray
    to: Literal["device", "host"]
    name: str = "prefetch"
    stream: int = 0
    after: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class HostTask:
    """The host waits for the steps in `after`, calls `function(*args)`, and then continues to enqueue the following
    steps. `reads` and `writes` are the host arrays that it accesses. `synchronizes`: the driver runs no step
    concurrently with the call, as in a memory allocation."""

    function: Callable[..., object]
    args: tuple[Any, ...] = ()
    name: str = "host"
    after: tuple[str, ...] = ()
    reads: tuple[Any, ...] = ()
    writes: tuple[Any, ...] = ()
    synchronizes: bool = False
    stream: int = 0


Step = Launch | Call | Copy | Fill | Prefetch | HostTask


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps over memory that is already allocated. Steps of one stream run in order; `after` of a step names the steps
    of other streams that it waits for. `blocking` streams are created as by cudaStreamCreate: they synchronise with the
    default stream. A `graph` is launched as one CUDA graph. `peer_streams` are streams of the peer device, on which
    their kernels run."""

    steps: tuple[Step, ...]
    outputs: Mapping[str, DeviceArray]
    blocking: bool = False
    graph: bool = False
    peer_streams: frozenset[int] = frozenset()


Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """An error at a line of a kernel file. It occurred `count` times, first in `thread` (x, y, z) of `block` (x, y, z).

    `kind` is a short name such as "out of bounds"; `detail` describes the first occurrence and names the buffer.
    """

    kind: str
    severity: Severity
    kernel: str
    file: str
    line: int
    inlined_at: tuple[tuple[str, int], ...]
    count: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    detail: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + "".join(f" (from {f}:{n})" for f, n in self.inlined_at)
        times = f"{self.count:,} times, " if self.count > 1 else ""
        first = f"first in thread {_tuple(self.thread)} of block {_tuple(self.block)}"
        return f"{place}: {self.kind}: {self.detail} – {times}{first}"


def _tuple(numbers: tuple[int, int, int]) -> str:
    axes = numbers if numbers[2] else numbers[:2] if numbers[1] else numbers[:1]
    return f"({', '.join(map(str, axes))})" if len(axes) > 1 else str(axes[0])


@dataclass(frozen=True)
class LineCounts:
    """The counters of one kernel at one line of its source, from a simulated GPU; `inlined_at` are the call sites,
    innermost first."""

    kernel: str
    file: str
    line: int
    inlined_at: tuple[tuple[str, int], ...]
    counts: Mapping[str, int]


Space = Literal["global", "shared", "constant"]
Verb = Literal["load", "store", "atomic"]


@dataclass(frozen=True)
class Access:
    """One execution of a memory instruction by one warp. Each of `lanes` accesses `nbytes`, at `offsets` (bytes) from
    the beginning of `buffer`. The buffer begins `start` bytes into a 32-byte sector, or into the block's shared memory.
    `itemsize` is the size of an element in bytes, 0 if unknown; `buffer` is empty if no lane is inside a buffer."""

    space: Space
    verb: Verb
    nbytes: int
    buffer: str
    itemsize: int
    start: int
    lanes: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Trace:
    """The memory accesses of one warp of `block` (x, y, z) at a line of a kernel file or header, including those of
    inlined functions that the line calls: `count` in total, of which `accesses` are the first ones in order of
    execution."""

    file: str
    line: int
    block: tuple[int, int, int]
    warp: int
    count: int
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Span:
    """One executed step: its start and end, in seconds since the execution began, its stream, the bytes that it copied
    or filled (0 for kernels and calls), what executed it, and whether that was the peer device."""

    name: str
    start: float
    end: float
    stream: int
    nbytes: int
    engine: Engine = "kernel"
    peer: bool = False

    @classmethod
    def of(cls, step: Step, start: float, end: float, is_host: Where = lambda array: False, peer: bool = False) -> Span:
        """The span of a step; `is_host` tests whether an array is in host memory."""
        array = step.source if isinstance(step, Copy) else getattr(step, "target", None)
        nbytes = 0 if array is None else int(array.nbytes)
        return cls(step.name, start, end, step.stream, nbytes, engine_of(step, is_host), peer)


def engine_of(step: Step, is_host: Where) -> Engine:
    """What executes a step; `is_host` tests whether an array is in host memory."""
    if isinstance(step, HostTask):
        return "host"
    if isinstance(step, Prefetch):
        return "upload" if step.to == "device" else "download"
    if isinstance(step, Copy):
        source, target = is_host(step.source), is_host(step.target)
        return "upload" if source and not target else "download" if target and not source else "device"
    return "device" if isinstance(step, Fill) else "kernel"


@dataclass(frozen=True)
class Execution:
    """The result of executing a plan once: the total seconds, and a span for each step if it was traced. A simulated
    GPU adds its findings, the output of printf, its counters, the traces of the warps that it recorded, and the
    modes in which results must be the same."""

    elapsed: float
    spans: tuple[Span, ...] = ()
    findings: tuple[Finding, ...] = ()
    printed: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineCounts, ...] = ()
    traces: tuple[Trace, ...] = ()
    orders: tuple[How, ...] = ()


class Kernel(Protocol):
    """A compiled kernel, loaded on a device."""

    @property
    def name(self) -> str: ...

    @property
    def compile_seconds(self) -> float:
        """The time to compile its file, in seconds."""

    @property
    def resources(self) -> Mapping[str, int]:
        """Registers, spills, shared and constant bytes, as reported by the assembler."""


class Sampler(Protocol):
    """Times equivalent plans on different memory; each call gives one sample, in seconds per plan."""

    @property
    def clock(self) -> Clock: ...

    @property
    def mode(self) -> str: ...

    @property
    def host_seconds_per_step(self) -> float:
        """The host time to enqueue one step, in the last sample; 0 if steps run synchronously."""

    def sample(self) -> float: ...


class Device(Protocol):
    """Executes plans. It raises DeviceError if the device is missing, out of memory or lost, and KernelError if a
    kernel does not fit."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Literal["cpu", "cuda", "sim"]: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def limits(self) -> Limits: ...

    def session(self, edits: Mapping[str, str], checks: Checks = "full") -> Device:
        """A view of the device with its own kernel modules, in which `edits` {file: text} replace kernel files.
        `checks` sets how thoroughly a simulated GPU checks for errors."""

    def peer(self) -> Device:
        """Another device of this machine, with the same edits, which can access this one's memory by peer copies.
        Raises PeerMissing."""

    def as_current(self) -> AbstractContextManager[None]:
        """A context in which this is the thread's current device, for libraries that are called directly."""

    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        """A contiguous copy of a host array on the device, in `out` if given."""

    def download(self, array: DeviceArray, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """A copy of a device array on the host, in `out` if given. Waits until it is complete."""

    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> Any:
        """Uninitialised memory of that kind: a host array if it is pageable, pinned or registered, else an array that
        kernels accept. Raises DeviceMemoryError with needed and free bytes, PinnedMemoryError."""

    def is_pageable(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether the driver copies this host memory through a staging buffer; never on a CPU."""

    def host_view(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """The host's view of mapped or managed memory."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Uninitialised memory of the device: short for `allocate("device", …)`. Raises DeviceMemoryError."""

    def pitched(self, rows: int, columns: int, dtype: Any) -> DeviceArray:
        """Memory (rows, columns) with the driver's pitch, which is strides[0] in bytes. Raises DeviceMemoryError."""

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        """Copy between arrays of one shape and dtype, in stream order."""

    def fill(self, target: DeviceArray, value: float) -> None:
        """Set every element, in stream order."""

    def driver_call(self, what: str) -> None:
        """Call a driver function that synchronises implicitly: "pinned allocation", "device allocation", or "carveout",
        a change of the shared-memory carveout. Allocations are freed at once."""

    def register(self, array: np.ndarray[Any, Any]) -> None:
        """Page-lock host memory that was allocated elsewhere, so that copies to and from it run at full bandwidth.
        Raises DeviceError if the system forbids it."""

    def unregister(self, array: np.ndarray[Any, Any]) -> None:
        """Undo `register`; call it before that memory is freed."""

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> Kernel:
        """Kernel `name` of kernel file `source`, compiled and loaded. Raises KernelError with line and column."""

    def texture(self, array: DeviceArray, border: str = "nearest", linear: bool = False) -> Any:
        """A texture over a copy, made now, of a 1D or 2D array, as a launch argument; a Copy step updates it."""

    def image(self, array: DeviceArray, sampling: Any) -> Any:
        """A texture or surface over an array, as a launch argument; `sampling` is a `devices.images.Sampling`."""

    def library(self, name: str) -> ModuleType:
        """The module of another library, such as "cv2". Raises LibraryMissing, which says what to install."""

    def execute(self, plan: Plan, mode: How = "direct", trace: bool = False) -> Execution:
        """Run a plan to completion. "graph" launches it as one CUDA graph. A simulated GPU counts accesses in "counted"
        mode. In "reverse", "delayed" and "shuffled" mode it runs in another order, on which results must not depend."""

    def sampler(self, plans: Sequence[Plan], mode: Mode) -> Sampler:
        """A sampler over equivalent plans: stream rotates through them, cold flushes the cache before each sample, hot
        repeats the first one, wall times the first one by the wall clock, from the call to the synchronisation."""

    def free_bytes(self) -> int:
        """Bytes that can still be allocated."""

    def describe(self) -> dict[str, Any]:
        """Name, versions and current clocks, for a report's provenance."""

    def synchronize(self) -> None:
        """Wait until all work has completed. Raises DeviceError if it failed."""
