"""The state of a batch of blocks while it runs, as the generated functions of a kernel use it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.sim import warp
from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.clusters import ClusterOperations
from gpu_ops.devices.sim.copies import Copies
from gpu_ops.devices.sim.counters import Counters
from gpu_ops.devices.sim.findings import Findings, frame_places, say
from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes, whole_mask
from gpu_ops.devices.sim.printing import format_call, text_at
from gpu_ops.devices.sim.ptx.emit_memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOWS
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.scheduling.barriers import NamedBarriers
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.devices.sim.units.arrivals import ArrivalOperations
from gpu_ops.devices.sim.units.images import ImageOperations
from gpu_ops.devices.sim.units.tensor import TensorOperations
from gpu_ops.errors import KernelError, counted

WORKSPACE = "%workspace"
"""The name of the state of the grid's barriers among the variables."""
WIDEST = 16
"""Bytes of the widest access: a thread without local memory may still (wrongly) access it."""


@dataclass(frozen=True, eq=False)
class LaunchData:
    """The data of a launch: parameter bytes, and addresses of module variables. `shared_bytes` are
    followed by those that the system reserves."""

    params: Array
    symbols: dict[str, int]
    shared_bytes: int
    dynamic_bytes: int
    local_bytes: int


class Batch(ImageOperations, TensorOperations, ClusterOperations, ArrivalOperations):
    """The state `S` of generated functions. Loads return a list of arrays, one per element of a vector."""

    def __init__(
        self,
        layout: BatchLayout,
        launch_data: LaunchData,
        memory: GlobalMemory,
        shared: SharedMemory,
        findings: Findings,
        counters: Counters | None = None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self.poll = poll
        self.layout, self.launch_data = layout, launch_data
        self.memory, self.shared, self.findings, self.counters = memory, shared, findings, counters
        self.alive = layout.exist.copy()
        self.meetings = NamedBarriers(layout, shared)
        self.copies = Copies(layout, shared)
        self.local = np.zeros((layout.blocks, layout.width, max(launch_data.local_bytes, WIDEST)), np.uint8)
        self._symbols = {name: np.array([[a]], np.int64) for name, a in launch_data.symbols.items()}

    # Addresses and special values

    def symbol(self, name: str) -> Array:
        """The address of a variable of the module."""
        return self._symbols[name]

    def clock(self) -> Array:
        """A monotonic counter; its unit has no meaning on a real GPU."""
        return np.array([[time.perf_counter_ns()]], np.int64)

    def shared_size(self, name: str) -> Array:
        """Bytes of shared memory: the dynamic ones, or all."""
        dynamic = name == "%dynamic_smem_size"
        return np.array([[self.launch_data.dynamic_bytes if dynamic else self.launch_data.shared_bytes]], np.int32)

    def workspace(self, shift: int) -> Array:
        """Half of the address of the state of the grid's barriers."""
        return np.array([[self.launch_data.symbols[WORKSPACE] >> shift & 0xFFFFFFFF]], np.uint32).view(np.int32)

    def reserved(self) -> Array:
        """Where the shared memory that the system reserves begins."""
        return np.array([[reserved_from(self.launch_data.shared_bytes)]], np.int32)

    def is_space(self, address: Array, space: str) -> Array:
        """Whether generic addresses are in a state space."""
        return _window(address) == WINDOWS.get(space, 0)

    # Spaces

    def load_global(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        if self.counters is not None:
            self.counters.global_access(lanes, site, address)
        return self.memory.load(lanes, site, address, dtype, count)

    def load_const(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        if self.counters is not None:
            self.counters.constant_access(lanes, site, address)
        return self.memory.load(lanes, site, address, dtype, count)

    def store_global(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        if self.counters is not None:
            self.counters.global_access(lanes, site, address)
        self.memory.store(lanes, site, address, dtype, values)

    def atomic_global(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], needs_result: bool
    ) -> Array | None:
        if self.counters is not None:
            self.counters.global_access(lanes, site, address)
        return self.memory.atomic(lanes, site, address, dtype, name, values, needs_result)

    def load_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        return self.shared.load(lanes, site, address, dtype, count)

    def store_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        self.shared.store(lanes, site, address, dtype, values)

    def copy_async(
        self,
        lanes: Lanes,
        sites: tuple[Site, Site],
        to: Array,
        source: Array,
        count: int,
        given: Array | None,
        bypass: bool,
    ) -> None:
        """Copy `count` words from global memory to shared memory asynchronously, past L1 with `bypass`; where `given`
        bytes are 0, zeros."""
        target, origin = sites
        past = to + target.offset if bypass else None
        if given is None:
            values = self._load_to_copy(lanes, origin, source, count, past)
        else:
            size = lanes.fill_inactive(given)
            if ((size != 0) & (size != 4 * count)).any():
                place, whole = f"{origin.place.file}:{origin.place.line}", 4 * count
                raise KernelError(
                    f"{place}: a simulated GPU copies all {whole} bytes of a cp.async or none; give {whole} or 0."
                )
            values = self._loaded_where(lanes, origin, source, count, np.broadcast_to(size != 0, lanes.shape), past)
        if self.counters is not None:
            if bypass and given is not None:  # each is written as a store of its lanes
                self.counters.shared_access(lanes, target, to)
            else:
                self.counters.shared_access(lanes, target, to, source + origin.offset, bypass)
        self.copies.begin(lanes, target, to, np.uint32, values)

    def _load_to_copy(self, lanes: Lanes, site: Site, source: Array, count: int, past: Array | None) -> list[Array]:
        """Words from global memory that are copied; those that go past L1 to addresses `past` in shared memory."""
        if self.counters is not None:
            self.counters.global_access(lanes, site, source, past)
        return self.memory.load(lanes, site, source, np.uint32, count)

    def _loaded_where(
        self, lanes: Lanes, site: Site, source: Array, count: int, selection: Array, past: Array | None
    ) -> list[Array]:
        """Words from global memory for the lanes in `selection`, zeros for the others."""
        values = [np.zeros(lanes.shape, np.uint32) for _ in range(count)]
        some = lanes.subset(selection)
        if some is None:
            return values
        past = None if past is None else lanes.cut(past, selection)
        loaded = self._load_to_copy(some, site, lanes.cut(source, selection), count, past)
        where = selection if lanes.mask is None else selection & lanes.mask
        for value, one in zip(values, loaded, strict=True):
            value[where] = some.active(one)
        return values

    def commit_copies(self, lanes: Lanes) -> None:
        self.copies.commit(lanes)

    def wait_for_copies(self, lanes: Lanes, most: int | None) -> None:
        self.copies.wait(lanes, most)

    def atomic_shared(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], needs_result: bool
    ) -> Array | None:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        return self.shared.atomic(lanes, site, address, dtype, name, values, needs_result)

    def load_param(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """Load a kernel's parameter; usually all lanes use one address."""
        size = np.dtype(dtype).itemsize
        start = lanes.fill_inactive(address) + site.offset
        self._within(lanes, site, start, size * count, len(self.launch_data.params), "the parameters")
        at = start[..., None] + np.arange(size * count)
        raw = np.ascontiguousarray(self.launch_data.params[np.clip(at, 0, len(self.launch_data.params) - 1)])
        values = raw.view(dtype)
        return [values[..., k] for k in range(count)]

    def load_local(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """Load from each thread's own memory."""
        view, rows, threads, index = self._local(lanes, site, address, dtype, count)
        return [view[rows, threads, index + k] for k in range(count)]

    def store_local(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        view, rows, threads, index = self._local(lanes, site, address, dtype, len(values))
        wide = [np.broadcast_to(a, lanes.shape) for a in (rows, threads, index)]
        where = [lanes.active(a) for a in wide]
        for k, value in enumerate(values):
            view[where[0], where[1], where[2] + k] = lanes.active(value)

    def _local(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int
    ) -> tuple[Array, Array, Array, Array]:
        if self.counters is not None:
            self.counters.local_access(lanes, site, address)
        size = np.dtype(dtype).itemsize
        start = lanes.fill_inactive(address) + site.offset
        room = self.launch_data.local_bytes
        start = self._within(lanes, site, start, size * count, room, "local memory")
        whole = self.local[:, :, : self.local.shape[2] // size * size].view(dtype)
        return whole, lanes.rows, lanes.threads, start.astype(np.int64) // size

    def _within(self, lanes: Lanes, site: Site, start: Array, nbytes: int, room: int, name: str) -> Array:
        """The offsets; those out of bounds are reported and become 0."""
        if int(start.min()) >= 0 and int(start.max()) + nbytes <= room:
            return start
        bad = (start < 0) | (start > room - nbytes)
        text = f"{site.verb} {counted(nbytes, 'byte')} outside {name}, which has {counted(room, 'byte')}"
        self.findings.add("out of bounds", site.place, lanes, frame_places(lanes, bad), lambda at: text)
        return np.where(bad, 0, start)

    # Generic addresses

    def load_generic(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        parts = self._spaces(lanes, address, ("global", "shared", "local", "param"))
        if len(parts) == 1:
            space, part, window, _ = parts[0]
            return list(getattr(self, f"load_{space}")(part, site, address - window, dtype, count))
        results = [np.zeros(lanes.shape, dtype) for _ in range(count)]
        for space, part, window, selection in parts:
            values = getattr(self, f"load_{space}")(part, site, lanes.cut(address, selection) - window, dtype, count)
            for result, one in zip(results, values, strict=True):
                result[selection] = part.active(one)
        return results

    def store_generic(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        for space, part, window, selection in self._spaces(lanes, address, ("global", "shared", "local")):
            cut = [lanes.cut(v, selection) for v in values]
            getattr(self, f"store_{space}")(part, site, lanes.cut(address, selection) - window, dtype, cut)

    def atomic_generic(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], needs_result: bool
    ) -> Array | None:
        result = np.zeros(lanes.shape, dtype)
        for space, part, window, selection in self._spaces(lanes, address, ("global", "shared")):
            cut = [lanes.cut(v, selection) for v in values]
            at = lanes.cut(address, selection) - window
            old = getattr(self, f"atomic_{space}")(part, site, at, dtype, name, cut, needs_result)
            if old is not None:
                result[np.broadcast_to(selection, lanes.shape)] = part.active(old)
        return result if needs_result else None

    def _spaces(self, lanes: Lanes, address: Array, allowed: tuple[str, ...]) -> list[tuple[str, Lanes, int, Array]]:
        """The lanes, split by the space that they address: (space, lanes, window, mask in this frame). An address in a
        space that is not allowed counts as a global address, which is out of bounds."""
        window = _window(lanes.fill_inactive(address))
        names = {0: "global", **{window: space for space, window in WINDOWS.items() if space in allowed}}
        if self.shared.clusters is not None:
            names[SHARED_WINDOW] = "cluster"
        window = np.where(np.isin(window, list(names)), window, 0)
        spaces = []
        for value in np.unique(window):
            selection = np.broadcast_to(window == value, lanes.shape)
            if lanes.mask is not None:
                selection = selection & lanes.mask
            part = lanes if selection.all() or bool((window == value).all()) else lanes.subset(selection)
            if part is not None:
                spaces.append((names[int(value)], part, int(value), selection))
        return spaces

    # Warp-wide and block-wide operations

    def shuffle(
        self, lanes: Lanes, site: Site, mode: str, value: Array, by: Array, clamp: Array, mask: Array | None
    ) -> Any:
        if self.counters is not None and self.counters.observer is not None:
            own = lanes.special("%laneid")
            sources, _ = warp.shuffle(lanes, site, Findings(""), mode, own, by, clamp, mask)
            self.counters.observer.shuffled(sources, lanes)
        return warp.shuffle(lanes, site, self.findings, mode, value, by, clamp, mask)

    def vote(self, lanes: Lanes, mode: str, predicate: Array, mask: Array) -> Array:
        return warp.vote(lanes, mode, predicate, mask)

    def match(self, lanes: Lanes, mode: str, value: Array, mask: Array) -> Any:
        return warp.match(lanes, mode, value, mask)

    def reduce(self, lanes: Lanes, operation: str, value: Array, mask: Array) -> Array:
        return warp.reduce(lanes, operation, value, mask)

    def active_mask(self, lanes: Lanes) -> Array:
        return warp.active_mask(lanes)

    def warp_barrier(self, lanes: Lanes, mask: Array) -> None:
        self.shared.warp_barrier(lanes, mask, self.alive)

    def fence(self, lanes: Lanes, in_block: bool) -> None:
        self.shared.fence(lanes)
        if self.memory.races is not None and not in_block:
            self.memory.races.fence(lanes)

    def arrive(self, lanes: Lanes, site: Site, number: Array, threads: Array) -> None:
        self.meetings.arrive(lanes, site.place, number, threads)

    def barrier_reduce(self, lanes: Lanes, operation: str, predicate: Array) -> Array:
        """One result per block, from all threads that synchronise at the barrier."""
        mask = whole_mask(lanes)
        flags = np.broadcast_to(predicate, lanes.shape)
        if lanes.packed:
            whole = np.zeros(mask.shape, np.bool_)
            whole.reshape(-1)[lanes.flat] = flags[0]
            flags = whole
        if operation == "popc":
            answer = (flags & mask).sum(axis=1, keepdims=True).astype(np.int32)
        elif operation == "and":
            answer = (flags | ~mask).all(axis=1, keepdims=True)
        else:
            answer = (flags & mask).any(axis=1, keepdims=True)
        return lanes.gather(answer)

    # Printing, failures

    def printf(self, lanes: Lanes, site: Site, form: Array, arguments: Array) -> Array:
        """Collect what each thread prints, thread by thread."""
        form_at, arguments_at = lanes.active(form), lanes.active(arguments)
        rows, threads = (lanes.active(np.broadcast_to(a, lanes.shape)) for a in (lanes.rows, lanes.threads))
        text = text_at(self.memory.table, int(form_at[0]))
        for place in range(len(form_at)):
            self.poll()
            start = int(arguments_at[place]) - LOCAL_WINDOW
            data = self.local[rows[place], threads[place], start:].tobytes() if start >= 0 else b""
            self.findings.print(format_call(text, data, self.memory.table))
        return np.full((1, 1), 0, np.int32)

    def fail(self, lanes: Lanes, site: Site, message: Array | None) -> None:
        """An assertion or a trap ends the launch, as it does on hardware."""
        kind, text = "trap", "the kernel executes a trap"
        if message is not None:
            kind = "assertion failed"
            text = text_at(self.memory.table, int(lanes.active(message)[0]))
        self.findings.add(kind, site.place, lanes, lanes.places, lambda at: text)
        raise KernelError(f"{site.place.file}:{site.place.line}: {kind}: {text}.")

    def lost(self, lanes: Lanes, site: Site, pointer: Array) -> None:
        """A call through a pointer that leads to no function, or back to one that is running, ends the launch."""
        at = int(lanes.active(pointer)[0])
        text = f"calls the address {at:#x}, which is no function of the call's type that is not running already"
        self.findings.add("call of no function", site.place, lanes, lanes.places, say(text))
        raise KernelError(f"{site.place.file}:{site.place.line}: {text}; recursion is not simulated.")


def reserved_from(shared_bytes: int) -> int:
    """The first byte of reserved shared memory, after all others."""
    return -(-shared_bytes // 16) * 16


def _window(address: Array) -> Array:
    """The window of generic addresses of a space; 0 for global memory."""
    return address & (SHARED_WINDOW | LOCAL_WINDOW | PARAM_WINDOW)
