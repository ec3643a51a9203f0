"""An experiment on the host: the time of a workload that needs memory while more and more of it is page-locked."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from gpu_ops.errors import DeviceError
from gpu_ops.explaining.transfers.sweep import Point
from gpu_ops.host import free_memory, total_memory
from gpu_ops.progress import advance

STEPS = 4
SHARE = 0.5
"""The most that is locked, of the memory that is free at the beginning."""
BLOCK = 64 << 20
"""Bytes that are locked at a time."""
WORK = 256 << 20
"""Bytes that the workload allocates, writes and reads; a tenth of what is free where that is less."""
REPEATS = 5
LEAST = 1.02
"""What a time must be a multiple of to be called longer."""


def most(limit: int | None = None) -> int:
    """The bytes that the experiment will lock at most: SHARE of what is free, or the limit of the system."""
    wanted = int(SHARE * free_memory())
    return max(min(wanted, locking_limit() if limit is None else limit), 0)


def locking_limit() -> int:
    """The bytes that the system lets this process lock."""
    if sys.platform == "win32":
        return total_memory()  # VirtualLock says so where it is too much
    import resource

    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return total_memory()
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return total_memory() if soft == resource.RLIM_INFINITY else soft


def points(most_bytes: int) -> Iterator[Point]:
    """A point for each amount of locked memory, from none to `most_bytes` and then none again: the quartiles of the
    workload's time."""
    work = min(WORK, free_memory() // 10)
    held: list[mmap.mmap] = []
    try:
        for step in range(STEPS + 1):
            advance(step, STEPS + 2)
            _lock_up_to(held, most_bytes * step // STEPS)
            yield _point(held, work)
    finally:
        for block in held:
            block.close()  # which unlocks it
    yield _point([], work)


def _point(held: list[mmap.mmap], work: int) -> Point:
    _workload(work)
    q1, median, q3 = np.percentile([_workload(work) for _ in range(REPEATS)], (25, 50, 75))
    locked = sum(len(block) for block in held)
    return {"locked": locked, "time": float(median), "q1": float(q1), "q3": float(q3), "work": work}


def _workload(nbytes: int) -> float:
    """Seconds to allocate memory, write it and read it."""
    start = time.perf_counter()
    memory = np.empty(nbytes // 8)
    memory.fill(1.0)
    memory.sum()
    del memory
    return time.perf_counter() - start


def _lock_up_to(held: list[mmap.mmap], nbytes: int) -> None:
    while (locked := sum(len(block) for block in held)) + mmap.PAGESIZE <= nbytes:
        block = mmap.mmap(-1, min(BLOCK, (nbytes - locked) // mmap.PAGESIZE * mmap.PAGESIZE))
        held.append(block)
        _lock(block, locked)


def _lock(block: mmap.mmap, before: int) -> None:
    """Raises DeviceError where the system locks no more."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(block))
    if sys.platform == "win32":
        done = bool(ctypes.windll.kernel32.VirtualLock(ctypes.c_void_p(address), ctypes.c_size_t(len(block))))
    else:
        library = ctypes.CDLL(None, use_errno=True)
        done = library.mlock(ctypes.c_void_p(address), ctypes.c_size_t(len(block))) == 0
    if not done:
        raise DeviceError(
            f"The system locks no more than {before >> 20} MiB of memory for this process; raise its limit (ulimit -l)."
        )


def verdict(found: Sequence[Point]) -> str:
    """What the experiment shows, in a sentence: an effect is one that goes away when the memory is free again."""
    before, most_locked, after = found[0], found[-2], found[-1]
    what = f"with {most_locked['locked'] >> 20} MiB locked the workload takes {most_locked['time'] * 1e3:.1f} ms, "
    what += f"before {before['time'] * 1e3:.1f} ms and afterwards {after['time'] * 1e3:.1f} ms"
    idle = (before, after)
    if all(most_locked["q1"] > one["q3"] and most_locked["time"] > LEAST * one["time"] for one in idle):
        return f"An effect: {what}."
    return f"No effect here: {what}; the memory that is left is enough for it."
