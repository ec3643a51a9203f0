"""All state of a batch of blocks while it runs, as the functions of a kernel see it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.sim import warp
from gpu_ops.devices.sim.access import GlobalMemory
from gpu_ops.devices.sim.barriers import Meetings
from gpu_ops.devices.sim.counters import Counters
from gpu_ops.devices.sim.emit_memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOWS
from gpu_ops.devices.sim.findings import Findings, frame_places
from gpu_ops.devices.sim.lanes import Array, Lanes, Launched, whole_mask
from gpu_ops.devices.sim.printing import formatted, text_at
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.devices.sim.sites import Site
from gpu_ops.errors import KernelError

WIDEST = 16
"""Bytes of the widest access: a thread that has no memory of its own may still ask for it."""


@dataclass(frozen=True, eq=False)
class Launching:
    """What a launch brings: parameter bytes, addresses of module variables, textures by handle."""

    params: Array
    symbols: dict[str, int]
    textures: dict[int, Any]
    shared_bytes: int
    dynamic_bytes: int
    local_bytes: int


class Batch:
    """The S of generated functions. Loads return a list of arrays, one for each element of a vector."""

    def __init__(
        self,
        launched: Launched,
        launching: Launching,
        memory: GlobalMemory,
        shared: SharedMemory,
        findings: Findings,
        counters: Counters | None = None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self.poll = poll
        self.launched, self.launching = launched, launching
        self.memory, self.shared, self.findings, self.counters = memory, shared, findings, counters
        self.alive = launched.exist.copy()
        self.meetings = Meetings(launched, shared)
        self.local = np.zeros((launched.blocks, launched.width, max(launching.local_bytes, WIDEST)), np.uint8)
        self._symbols = {name: np.array([[a]], np.int64) for name, a in launching.symbols.items()}

    # Addresses and special values

    def symbol(self, name: str) -> Array:
        """The address of a variable of the module."""
        return self._symbols[name]

    def clock(self) -> Array:
        """Some time that grows; it says nothing about a GPU."""
        return np.array([[time.perf_counter_ns()]], np.int64)

    def shared_size(self, name: str) -> Array:
        """Bytes of shared memory: those asked for at launch, or all."""
        dynamic = name == "%dynamic_smem_size"
        return np.array([[self.launching.dynamic_bytes if dynamic else self.launching.shared_bytes]], np.int32)

    def is_space(self, address: Array, space: str) -> Array:
        """Whether generic addresses lie in a space."""
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
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], wanted: bool
    ) -> Array | None:
        if self.counters is not None:
            self.counters.global_access(lanes, site, address)
        return self.memory.atomic(lanes, site, address, dtype, name, values, wanted)

    def load_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        return self.shared.load(lanes, site, address, dtype, count)

    def store_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        self.shared.store(lanes, site, address, dtype, values)

    def atomic_shared(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], wanted: bool
    ) -> Array | None:
        if self.counters is not None:
            self.counters.shared_access(lanes, site, address)
        return self.shared.atomic(lanes, site, address, dtype, name, values, wanted)

    def load_param(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """A kernel's parameter: mostly at an address all agree on."""
        size = np.dtype(dtype).itemsize
        start = lanes.calm(address) + site.offset
        self._within(lanes, site, start, size * count, len(self.launching.params), "the parameters")
        at = start[..., None] + np.arange(size * count)
        raw = np.ascontiguousarray(self.launching.params[np.clip(at, 0, len(self.launching.params) - 1)])
        values = raw.view(dtype)
        return [values[..., k] for k in range(count)]

    def load_local(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """Each thread's own memory."""
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
        start = lanes.calm(address) + site.offset
        room = self.launching.local_bytes
        start = self._within(lanes, site, start, size * count, room, "local memory")
        whole = self.local[:, :, : self.local.shape[2] // size * size].view(dtype)
        return whole, lanes.rows, lanes.threads, start.astype(np.int64) // size

    def _within(self, lanes: Lanes, site: Site, start: Array, nbytes: int, room: int, name: str) -> Array:
        """The offsets, with those that are out of bounds reported and set to 0."""
        if int(start.min()) >= 0 and int(start.max()) + nbytes <= room:
            return start
        bad = (start < 0) | (start > room - nbytes)
        text = f"{site.verb} {nbytes} bytes outside {name} ({room} bytes)"
        self.findings.add("out of bounds", site.place, lanes, frame_places(lanes, bad), lambda at: text)
        return np.where(bad, 0, start)

    # Generic addresses

    def load_generic(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        parts = self._spaces(lanes, address, ("global", "shared", "local", "param"))
        if len(parts) == 1:
            space, part, window, _ = parts[0]
            return list(getattr(self, f"load_{space}")(part, site, address - window, dtype, count))
        results = [np.zeros(lanes.shape, dtype) for _ in range(count)]
        for space, part, window, chosen in parts:
            found = getattr(self, f"load_{space}")(part, site, lanes.cut(address, chosen) - window, dtype, count)
            for result, one in zip(results, found, strict=True):
                result[chosen] = part.active(one)
        return results

    def store_generic(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        for space, part, window, chosen in self._spaces(lanes, address, ("global", "shared", "local")):
            cut = [lanes.cut(v, chosen) for v in values]
            getattr(self, f"store_{space}")(part, site, lanes.cut(address, chosen) - window, dtype, cut)

    def atomic_generic(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], wanted: bool
    ) -> Array | None:
        result = np.zeros(lanes.shape, dtype)
        for space, part, window, chosen in self._spaces(lanes, address, ("global", "shared")):
            cut = [lanes.cut(v, chosen) for v in values]
            at = lanes.cut(address, chosen) - window
            found = getattr(self, f"atomic_{space}")(part, site, at, dtype, name, cut, wanted)
            if found is not None:
                result[np.broadcast_to(chosen, lanes.shape)] = part.active(found)
        return result if wanted else None

    def _spaces(self, lanes: Lanes, address: Array, allowed: tuple[str, ...]) -> list[tuple[str, Lanes, int, Array]]:
        """The lanes split by the space they address: (space, lanes, window, which of this frame). What is in none that
        is allowed counts as global memory, where it is out of bounds."""
        window = _window(lanes.calm(address))
        names = {0: "global", **{window: space for space, window in WINDOWS.items() if space in allowed}}
        window = np.where(np.isin(window, list(names)), window, 0)
        found = []
        for value in np.unique(window):
            chosen = np.broadcast_to(window == value, lanes.shape)
            if lanes.mask is not None:
                chosen = chosen & lanes.mask
            part = lanes if chosen.all() or bool((window == value).all()) else lanes.subset(chosen)
            if part is not None:
                found.append((names[int(value)], part, int(value), chosen))
        return found

    # Other lanes

    def shuffle(self, lanes: Lanes, site: Site, mode: str, value: Array, by: Array, clamp: Array) -> Any:
        return warp.shuffle(lanes, site, self.findings, mode, value, by, clamp)

    def vote(self, lanes: Lanes, mode: str, predicate: Array, mask: Array) -> Array:
        return warp.vote(lanes, mode, predicate, mask)

    def match(self, lanes: Lanes, mode: str, value: Array, mask: Array) -> Any:
        return warp.match(lanes, mode, value, mask)

    def reduce(self, lanes: Lanes, operation: str, value: Array, mask: Array) -> Array:
        return warp.reduce(lanes, operation, value, mask)

    def active_mask(self, lanes: Lanes) -> Array:
        return warp.active_mask(lanes)

    def warp_barrier(self, lanes: Lanes) -> None:
        self.shared.warp_barrier(lanes)

    def arrive(self, lanes: Lanes, site: Site, number: Array, threads: Array) -> None:
        self.meetings.arrive(lanes, site.place, number, threads)

    def barrier_reduce(self, lanes: Lanes, operation: str, predicate: Array) -> Array:
        """One answer for each block, of all threads that meet at the barrier."""
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

    # The rest

    def texture(self, lanes: Lanes, site: Site, handle: Array, where: list[Array], dtype: Any) -> list[Array]:
        """Four components; those the texture has not are 0, the last 1."""
        if self.counters is not None:
            self.counters.texture_access(lanes, site)
        handles = np.unique(lanes.active(handle))
        texture = self.launching.textures.get(int(handles[0])) if len(handles) == 1 else None
        if texture is None:
            place = f"{site.place.file}:{site.place.line}"
            raise KernelError(f"{place}: a texture is read that was not passed to the kernel.")
        value = texture.fetch([lanes.calm(w) for w in where]).astype(dtype)
        zero = np.zeros((1, 1), dtype)
        return [value, zero, zero, zero + dtype(1)]

    def printf(self, lanes: Lanes, site: Site, form: Array, given: Array) -> Array:
        """Keep what each thread prints, thread by thread."""
        form_at, given_at = lanes.active(form), lanes.active(given)
        rows, threads = (lanes.active(np.broadcast_to(a, lanes.shape)) for a in (lanes.rows, lanes.threads))
        text = text_at(self.memory.table, int(form_at[0]))
        for place in range(len(form_at)):
            self.poll()
            start = int(given_at[place]) - LOCAL_WINDOW
            data = self.local[rows[place], threads[place], start:].tobytes() if start >= 0 else b""
            self.findings.print(formatted(text, data, self.memory.table))
        return np.full((1, 1), 0, np.int32)

    def fail(self, lanes: Lanes, site: Site, message: Array | None) -> None:
        """An assertion or a trap ends the launch, as it does on hardware."""
        kind, text = "trap", "the kernel stops by a trap"
        if message is not None:
            kind = "assertion failed"
            text = text_at(self.memory.table, int(lanes.active(message)[0]))
        self.findings.add(kind, site.place, lanes, lanes.places, lambda at: text)
        raise KernelError(f"{site.place.file}:{site.place.line}: {kind}: {text}.")


def _window(address: Array) -> Array:
    """The window that generic addresses lie in; 0 for global memory."""
    return address & (SHARED_WINDOW | LOCAL_WINDOW | PARAM_WINDOW)
