"""Global and constant memory: arrays at their real addresses, with their bounds and the written bytes."""

from __future__ import annotations

import bisect
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.errors import DeviceMemoryError, KernelError, counted
from gpu_ops.plan import MemoryKind

ALIGNMENT = 512
NO_OWNER = -1
NEVER = -1
THREAD = (1 << 32) - 1
MOST_UNITS = 1 << 22
"""Races are not looked for in larger allocations."""
ADDRESSES = (1 << 64) - 1
FAR = 1 << 30
"""Messages relate an address only to memory that is nearer than this many bytes."""


class Allocation:
    """One allocation of memory. `written` says which bytes are initialised; None: all of them."""

    def __init__(self, raw: Array, base: int, nbytes: int, itemsize: int, kind: MemoryKind) -> None:
        self.raw = weakref.ref(raw)
        self.base, self.nbytes, self.itemsize, self.kind = base, nbytes, itemsize, kind
        self.written: Array | None = np.zeros(nbytes, np.bool_)

    def bytes(self) -> Array:
        """The bytes of the allocation."""
        raw = self.raw()
        assert raw is not None
        start = self.base - address_of(raw)
        return raw[start : start + self.nbytes]

    def mark(self, first: int, nbytes: int) -> None:
        """Mark `nbytes` bytes from `first` on as initialised."""
        if self.written is not None:
            self.written[first : first + nbytes] = True
            if self.written.all():
                self.written = None


class Memory:
    """The allocations of a simulated device. An array on the device is a NumPy array in one of them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._by_raw: dict[int, Allocation] = {}
        self._pinned: set[tuple[int, int]] = set()

    def empty(self, shape: tuple[int, ...], dtype: Any, kind: MemoryKind = "device") -> Array:
        """Uninitialised memory that kernels access. Raises DeviceMemoryError if the device is full."""
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if self.used + nbytes > self.limit:
            free = self.limit - self.used
            raise DeviceMemoryError(
                f"This needs {nbytes:,} bytes, the simulated GPU has {free:,}. Use a smaller input."
            )
        try:
            raw = np.empty(nbytes + 2 * ALIGNMENT, np.uint8)
        except MemoryError:
            raise DeviceMemoryError(f"This machine has no {nbytes:,} bytes left. Use a smaller input.") from None
        start = -address_of(raw) % ALIGNMENT
        allocation = Allocation(raw, address_of(raw) + start, nbytes, dtype.itemsize, kind)
        self._by_raw[id(raw)] = allocation
        self.used += nbytes
        weakref.finalize(raw, self._drop, id(raw), nbytes)
        return raw[start : start + nbytes].view(dtype).reshape(shape)

    def zeros(self, nbytes: int) -> Array:
        """Memory that kernels access, all of it zero."""
        array = self.empty((nbytes,), np.uint8)
        array.fill(0)
        self.mark(array)
        return array

    def _drop(self, key: int, nbytes: int) -> None:
        self._by_raw.pop(key, None)
        self.used -= nbytes

    def allocation(self, array: Array) -> Allocation | None:
        """The allocation that contains an array; None for a host array."""
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return self._by_raw.get(id(owner))

    def pin(self, array: Array) -> None:
        """Page-lock a host array for its lifetime, or until `unpin`."""
        self._pinned.add(ends := (address_of(array), address_of(array) + array.nbytes))
        weakref.finalize(array, self._pinned.discard, ends).atexit = False

    def unpin(self, array: Array) -> None:
        self._pinned.discard((address_of(array), address_of(array) + array.nbytes))

    def is_pinned(self, array: Array) -> bool:
        """Whether a host array is in page-locked memory."""
        low = address_of(array)
        return any(start <= low < end for start, end in self._pinned)

    def mark(self, array: Array) -> None:
        """Mark all of an array as initialised; for pitched rows, the rows but not the gaps between them."""
        allocation = self.allocation(array)
        if allocation is not None:
            for part in (array,) if array.flags.c_contiguous else array:
                allocation.mark(address_of(part) - allocation.base, part.nbytes)

    def region(self, array: Array, name: str) -> Region:
        """An array as a kernel's argument. Raises KernelError if it is not on this device."""
        allocation = self.allocation(array)
        if allocation is None:
            raise KernelError(f"The argument {name} is not in the simulated GPU's memory; upload it first.")
        low = address_of(array)
        size = array.dtype.itemsize
        high = low + sum((n - 1) * apart for n, apart in zip(array.shape, array.strides, strict=True)) + size
        return Region(name, low, high, allocation.base, allocation.bytes(), size, allocation)

    def others(self, regions: Iterable[Region]) -> list[Region]:
        """All allocations without a region in `regions`: kernels may reach them through pointers in memory."""
        bases = {r.base for r in regions}
        return [
            Region(
                f"an allocation of {counted(a.nbytes, 'byte')}",
                a.base,
                a.base + a.nbytes,
                a.base,
                a.bytes(),
                a.itemsize,
                a,
            )
            for a in list(self._by_raw.values())
            if a.base not in bases and a.raw() is not None
        ]


class Track:
    """The accesses of a launch to an allocation, in units of `unit` bytes: stamps (see `races`) of the last write, of
    the last read, and of the last read of another thread; the kind of that write, and its site."""

    def __init__(self, unit: int, nbytes: int) -> None:
        units = -(-nbytes // unit)
        self.unit = unit
        self.writes, self.reads, self.others = (np.full(units, NEVER, np.int64) for _ in range(3))
        self.kinds = np.zeros(units, np.int8)
        self.sites = np.zeros(units, np.int32)


@dataclass(eq=False)
class Region:
    """Addresses that a kernel may use, low ≤ address < high, with the `name` from its source. `data` are the bytes from
    address `base` on; `owners` has, for each element, the last block that stored to it in this launch. `track`: its
    accesses in this launch, where the kernel may both read and write it."""

    name: str
    low: int
    high: int
    base: int
    data: Array
    itemsize: int
    allocation: Allocation | None = None
    owners: Array | None = None
    track: Track | None = None

    def __post_init__(self) -> None:
        self._views: dict[tuple[Any, int], Array] = {}

    def view(self, dtype: Any, count: int) -> Array:
        """The data as elements of `dtype`, or as rows (n, count) of them."""
        key = (dtype, count)
        if key not in self._views:
            size = np.dtype(dtype).itemsize * count
            whole = self.data[: len(self.data) // size * size].view(dtype)
            self._views[key] = whole.reshape(-1, count) if count > 1 else whole
        return self._views[key]

    def elements(self, address: int, nbytes: int) -> str:
        """The elements at an address by their index, such as "x[3]" or "x[4] to x[7]"; else its bytes."""
        first, rest = divmod(address - self.low, self.itemsize)
        if rest or nbytes % self.itemsize or not self.name.isidentifier():
            return f"{counted(nbytes, 'byte')} at byte {address - self.low} of {self.name}"
        last = first + nbytes // self.itemsize - 1
        return f"{self.name}[{first}]" + (f" to {self.name}[{last}]" if last > first else "")

    def outside(self, address: int, nbytes: int) -> str:
        """The elements at an address that is not in this region, and how large the region is."""
        what, size = self.elements(address, nbytes), self.high - self.low
        items, noun = (size // self.itemsize, "element") if what.startswith(f"{self.name}[") else (size, "byte")
        return f"{what}, but {self.name} has {counted(items, noun)}"


class Table:
    """The regions of a launch."""

    def __init__(self, regions: list[Region]) -> None:
        self.regions = sorted(regions, key=lambda r: r.low)
        self._lows = [r.low for r in self.regions]
        self._last: dict[int, Region] = {}

    def find(self, site: int, low: int, high: int) -> Region | None:
        """The region that contains all addresses low ≤ a < high. A site usually stays in one region."""
        region = self._last.get(site)
        if region is not None and region.low <= low and high <= region.high:
            return region
        for region in self._before(low):
            if region.low <= low and high <= region.high:
                self._last[site] = region
                return region
        return None

    def _before(self, address: int) -> list[Region]:
        """Regions that begin at or before an address, nearest first; the arguments of a launch may overlap."""
        return self.regions[: bisect.bisect_right(self._lows, address)][::-1]

    def nearest(self, address: int, nbytes: int) -> str:
        """Describe an access outside all regions by the nearest one, as in "x[3], but x has 3 elements"."""
        address = address & ADDRESSES
        if address < FAR:
            return f"{counted(nbytes, 'byte')} at byte {address} of a null pointer"
        if not self.regions:
            return f"{counted(nbytes, 'byte')} at address {address:#x}, but the kernel has no memory"
        distances = [max(r.low - address, address + nbytes - r.high, 0) for r in self.regions]
        near = min(range(len(distances)), key=distances.__getitem__)
        if distances[near] > FAR:
            return f"{counted(nbytes, 'byte')} at address {address:#x}, where the kernel has no memory"
        region = self.regions[near]
        is_inside = region.low <= address and address + nbytes <= region.high
        return region.elements(address, nbytes) if is_inside else region.outside(address, nbytes)


def address_of(array: Array) -> int:
    """The address of an array."""
    return int(array.__array_interface__["data"][0])
