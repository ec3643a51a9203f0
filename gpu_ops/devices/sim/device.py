"""The simulated GPU as a device. Arrays are NumPy's; it interprets kernels and has no clock."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gpu_ops.devices.compiler import Compiled, Entry, compile_kernel, instances_of
from gpu_ops.devices.cpu import cpu_model
from gpu_ops.devices.images import Sampling, no_variable
from gpu_ops.devices.launches import (
    PITCH,
    check_constants,
    check_gaps,
    check_launch,
    check_refresh,
    check_texture,
    check_variables,
)
from gpu_ops.devices.limits import limits_of
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.devices.sass.disassembler import machine_code
from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sass.parted import Parted, parted_lanes
from gpu_ops.devices.sass.unrolled import UnrolledLoop, unrolled_loops
from gpu_ops.devices.sass.widths import Pieces, access_pieces, retried
from gpu_ops.devices.sim.findings import Findings
from gpu_ops.devices.sim.launch import Made, Options, run_launch
from gpu_ops.devices.sim.memory import Memory, Region
from gpu_ops.devices.sim.ptx.inline import function_addresses
from gpu_ops.devices.sim.ptx.kernels import LoadedKernel, load_kernel
from gpu_ops.devices.sim.streams.ordering import check_early, check_order
from gpu_ops.devices.sim.streams.queues import Cost, Queues, Timeline
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import DeviceError, KernelError
from gpu_ops.host import free_memory
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
)

if TYPE_CHECKING:
    from gpu_ops.devices.sim.block_run.recording import Recording
    from gpu_ops.devices.sim.block_run.run import BlockRun

DEFAULT_ARCHITECTURE = "sm_75"
_OPTIONS_OF: Mapping[How, Mapping[str, Any]] = {
    "reverse": {"reverse": True},
    "delayed": {"late": 1},
    "shuffled": {"late": 2},
    "counted": {"counters": "full"},
}
"""What the ways to execute a plan change."""


@dataclass(frozen=True, eq=False)
class SimKernel:
    """A kernel with the variables of its module, which belong to one session."""

    name: str
    compiled: Compiled
    loaded: LoadedKernel
    variables: Mapping[str, Region]
    edits: Mapping[str, str] = field(repr=False)
    keep: tuple[Any, ...] = field(repr=False)

    @property
    def entry(self) -> Entry:
        return self.loaded.entry

    @property
    def compile_seconds(self) -> float:
        return self.compiled.seconds + self.loaded.seconds

    def content(self, name: str, nbytes: int) -> np.ndarray[Any, Any]:
        """The first bytes of a __device__ variable, (nbytes,) uint8. Raises KernelError without such a variable."""
        if name not in self.variables:
            raise KernelError(no_variable(self.compiled.source, name, self.variables))
        return self.variables[name].data[:nbytes].copy()

    @cached_property
    def sass(self) -> tuple[SassLine, ...]:
        """The machine code; nothing where there is none to read."""
        try:
            return machine_code(self.compiled, self.entry.symbol)
        except DeviceError:
            return ()

    @cached_property
    def pieces(self) -> Mapping[int, Pieces] | None:
        """The requests of accesses that the machine code makes in another way than the PTX, by the PTX's line; None
        where there is no machine code to read."""
        body = self.loaded.program.functions[self.entry.symbol].body
        return access_pieces(body, self.sass) if self.sass else None

    @cached_property
    def retried(self) -> frozenset[int]:
        """The lines of the PTX with atomic operations that the machine code tries again."""
        return retried(self.loaded.program.functions[self.entry.symbol].body, self.sass)

    @cached_property
    def loops(self) -> Mapping[int, UnrolledLoop]:
        """The loops that the assembler unrolls, by the number of their basic block."""
        return unrolled_loops((code.block for code in self.loaded.code.blocks), self.sass)

    @cached_property
    def parted(self) -> Parted:
        """Where lanes that have parted stay apart."""
        return parted_lanes([code.block for code in self.loaded.code.blocks], self.sass)

    @property
    def resources(self) -> Mapping[str, int]:
        """The assembler's report. The simulation does not need it, so the assembler runs now, unless it has run
        already."""
        c = self.compiled
        instances = instances_of(c.source, self.name, self.edits)
        assembled = compile_kernel(c.source, c.architecture, c.defines, self.edits, instances=instances)
        return assembled.entry(self.name).resources


class SimDevice:
    """See `gpu_ops.plan.Device`. It has the limits of a GPU of `architecture` and compiles for it. With `assemble`, the
    assembler runs when a kernel is compiled: one compilation instead of two if its report is needed."""

    kind: Literal["sim"] = "sim"
    clock: Literal["simulated"] = "simulated"

    def __init__(
        self,
        architecture: str = DEFAULT_ARCHITECTURE,
        options: Options = Options(),  # noqa: B008 - frozen
        memory: Memory | None = None,
        edits: Mapping[str, str] | None = None,
        assemble: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self.architecture, self.options, self._assemble = architecture, options, assemble
        self.name = "sim" if architecture == DEFAULT_ARCHITECTURE else f"sim:{architecture}"
        self.limits: Limits = limits or limits_of(architecture)
        self._memory = memory or Memory(self.limits.memory_bytes)
        self._edits = dict(edits or {})
        self._modules: dict[str, tuple[dict[str, Region], tuple[Any, ...]]] = {}
        self._peer: SimDevice | None = None

    def session(self, edits: Mapping[str, str], checks: Checks = "full") -> SimDevice:
        options = self.options if checks == "full" else replace(self.options, checks=checks)
        return self.with_options(options, edits)

    def with_options(self, options: Options, edits: Mapping[str, str] | None = None) -> SimDevice:
        """The same device and memory with other options."""
        own = self._edits if edits is None else edits
        return SimDevice(self.architecture, options, self._memory, own, self._assemble, self.limits)

    def peer(self) -> SimDevice:
        """A second GPU, whose memory kernels of the first one can access as well."""
        if self._peer is None:
            self._peer = SimDevice(
                self.architecture, self.options, self._memory, self._edits, self._assemble, self.limits
            )
        return self._peer

    def as_current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        target = self.empty(array.shape, array.dtype) if out is None else out
        np.copyto(target, array)
        self._memory.mark(target)
        return target

    def download(self, array: DeviceArray, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        if out is None:
            return np.array(array)
        np.copyto(out, array)
        self._memory.mark(out)  # the host's view of memory that kernels access
        return out

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        return self._memory.empty(shape, dtype)

    def pitched(self, rows: int, columns: int, dtype: Any) -> DeviceArray:
        """Rows a multiple of 512 bytes apart, similar to the pitch that a driver chooses."""
        itemsize = np.dtype(dtype).itemsize
        pitch = -(-columns * itemsize // PITCH) * PITCH
        return self.empty((rows, pitch // itemsize), dtype)[:, :columns]

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        if isinstance(target, SimTexture):
            target.refresh(source)
            return
        np.copyto(target, source)
        self._memory.mark(target)

    def fill(self, target: DeviceArray, value: float) -> None:
        target.fill(value)
        self._memory.mark(target)

    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        if kind not in ("pageable", "pinned", "registered"):
            return self._memory.empty(shape, dtype, kind)
        array = np.empty(shape, dtype)
        if kind != "pageable":
            self._memory.pin(array)
        return array

    def host_view(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        view: np.ndarray[Any, Any] = array
        return view

    def driver_call(self, what: str) -> None:
        """There is no driver."""

    def register(self, array: np.ndarray[Any, Any]) -> None:
        self._memory.pin(array)

    def unregister(self, array: np.ndarray[Any, Any]) -> None:
        self._memory.unpin(array)

    def kernel(self, source: str, name: str, defines: Mapping[str, Value] | None = None) -> SimKernel:
        instances = instances_of(source, name, self._edits)
        compiled = compile_kernel(source, self.architecture, defines, self._edits, self._assemble, instances=instances)
        loaded = load_kernel(compiled, name, self._edits)
        check_variables(name, loaded.dynamic_from, compiled.constants)
        if compiled.key not in self._modules:
            self._modules[compiled.key] = self._module(loaded)
        variables, keep = self._modules[compiled.key]
        return SimKernel(name, compiled, loaded, variables, self._edits, keep)

    def _module(self, loaded: LoadedKernel) -> tuple[dict[str, Region], tuple[Any, ...]]:
        """Memory for the constant and global variables of a module, with their initial values."""
        regions, arrays = {}, []
        for variable in loaded.program.variables.values():
            if variable.space in ("const", "global") and variable.nbytes:
                array = self.empty((variable.nbytes,), np.uint8)
                array[:] = 0
                array[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
                self._memory.mark(array)
                regions[variable.name] = self._memory.region(array, variable.name)
                arrays.append(array)
        places = {name: region.low for name, region in regions.items()} | function_addresses(loaded.program)
        for variable in loaded.program.variables.values():
            for link in variable.links if variable.name in regions else ():
                value = (places[link.symbol.name] + link.symbol.offset) >> link.shift & ((1 << 8 * link.nbytes) - 1)
                raw = np.frombuffer(value.to_bytes(link.nbytes, "little"), np.uint8)
                regions[variable.name].data[link.at : link.at + link.nbytes] = raw
        return regions, tuple(arrays)

    def texture(self, array: DeviceArray, border: str = "nearest", linear: bool = False) -> SimTexture:
        check_texture(array, border, linear)
        return SimTexture(array, Sampling({"nearest": "clamp", "zero": "border"}[border], linear))

    def image(self, array: DeviceArray, sampling: Sampling) -> SimTexture:
        return SimTexture(array, sampling)

    def library(self, name: str) -> ModuleType:
        raise DeviceError(f"{name} runs on a CUDA device only; the simulated GPU runs kernels.")

    def execute(self, plan: Plan, mode: How = "direct", trace: bool = False) -> Execution:
        for step in plan.steps:
            if isinstance(step, Launch):
                check_launch(step, step.kernel.entry, self.limits)
                check_constants(step.kernel.compiled, step.constants)
            elif isinstance(step, Copy) and isinstance(step.target, SimTexture):
                check_refresh(step.name, step.target.array.shape, step.target.array.dtype, step.source)
                check_gaps(step.name, step.source)
        start = time.perf_counter()
        findings, printed, lines = [], [], []
        traces: list[Any] = []
        counters: Counter[str] = Counter()
        options = replace(self.options, **_OPTIONS_OF.get(mode, {}))
        check_order(plan, self.is_pageable)
        if self.limits.capability >= (9, 0):  # before, launches begin in order
            check_early(plan)
        for step in plan.steps:
            if isinstance(step, Launch):
                result = self._launch(step, options)
                findings += result.found
                printed += result.printed
                counters.update(result.counters)
                lines += result.lines()
                traces += result.traces
            elif isinstance(step, Copy):
                self.copy(step.target, step.source)
            elif isinstance(step, Fill):
                self.fill(step.target, step.value)
            elif isinstance(step, HostTask):
                step.function(*step.args)
                for array in step.writes:
                    self._memory.mark(array)
            elif isinstance(step, Call):
                raise KernelError(f"{step.name} calls a library; the simulated GPU runs kernels only.")
        elapsed = time.perf_counter() - start
        trace_spans = self.timeline(plan) if trace else ()
        found, text = tuple(findings), tuple(printed)
        return Execution(elapsed, trace_spans, found, text, dict(counters), tuple(lines), tuple(traces), _orders(plan))

    def timeline(
        self,
        plan: Plan,
        queues: Queues = Queues(),  # noqa: B008 - frozen
        cost: Cost = lambda step, engine, kind_of: 1.0,
    ) -> tuple[Span, ...]:
        """When the steps of a plan begin and end on such queues; without a cost every step takes as long."""
        return Timeline(plan, self.is_host, self.kind_of, queues, cost).run()

    def is_host(self, array: DeviceArray) -> bool:
        """Whether an array is in host memory, pageable or pinned."""
        return isinstance(array, np.ndarray) and self._memory.allocation(array) is None

    def is_pageable(self, array: DeviceArray) -> bool:
        """Whether an array is in host memory that the GPU cannot access."""
        return self.kind_of(array) == "pageable"

    def kind_of(self, array: DeviceArray) -> MemoryKind:
        """The kind of memory that an array is in; registered memory is pinned."""
        if not isinstance(array, np.ndarray):
            return "device"  # a texture
        allocation = self._memory.allocation(array)
        if allocation is not None:
            return allocation.kind
        return "pinned" if self._memory.is_pinned(array) else "pageable"

    def record_block(self, launch: Launch, recording: Recording) -> BlockRun:
        """One block of a launch, step by step. Raises KernelError; see `gpu_ops.devices.sim.block_run.recording`."""
        from gpu_ops.devices.sim.block_run.recording import record_block  # only its panel needs it

        check_launch(launch, launch.kernel.entry, self.limits)
        kernel: SimKernel = launch.kernel
        _set_constants(launch)
        loaded = load_kernel(kernel.compiled, kernel.name, kernel.edits, by_line=True)
        return record_block(launch, loaded, self._memory, kernel.variables, kernel.edits, recording)

    def _launch(self, launch: Launch, options: Options) -> Findings:
        kernel: SimKernel = launch.kernel
        _set_constants(launch)
        made = Made()
        if options.counters != "off":
            made = Made(unsettled=kernel.loaded.unsettled, sass=kernel.sass if options.costs else ())
            if options.machine_code:
                made = Made(kernel.pieces, kernel.loops, kernel.parted, made.sass, made.unsettled, kernel.retried)
        return run_launch(launch, kernel.loaded, self._memory, kernel.variables, options, made)

    def sampler(self, plans: Sequence[Plan], mode: Mode) -> Sampler:
        raise DeviceError("A simulated GPU counts; it does not measure time. Time this on a CUDA device.")

    def free_bytes(self) -> int:
        return min(self.limits.memory_bytes - self._memory.used, free_memory())

    def describe(self) -> dict[str, Any]:
        return {
            "device": self.name,
            "model": f"simulated {self.architecture} on {cpu_model()}",
            "architecture": self.architecture,
            "nvrtc": ".".join(map(str, nvrtc_version())),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    def synchronize(self) -> None:
        """Launches are done when they return."""


def _set_constants(launch: Launch) -> None:
    """Copy a launch's constants to its module's variables."""
    for symbol, value in launch.constants.items():
        data = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
        launch.kernel.variables[symbol].data[: len(data)] = data


def _orders(plan: Plan) -> tuple[How, ...]:
    """The orders in which results must be the same: if blocks read what others publish, also two in which they publish
    late."""
    depends = any(step.kernel.loaded.code.depends for step in plan.steps if isinstance(step, Launch))
    return ("reverse", "delayed", "shuffled") if depends else ("reverse",)
