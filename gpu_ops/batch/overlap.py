"""How many files of a batch are at work at a time in one process, by its cores and the machine's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_ops.batch.file_bands import EXPANDED
from gpu_ops.batch.files import Item, stamp
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import cores
from gpu_ops.host import free_memory
from gpu_ops.running.parts import Executor, serial, threads

Planned = tuple[Item, Mapping[str, Any] | None]
"""A file, and its row of an earlier batch."""
AT_ONCE, MOST_AT_ONCE = 3, 16
"""Files that a worker has at a time, if it has as many cores: it reads one, computes another and writes a third; and
more where memory is large, because a GPU computes faster than a core hashes what is read and written."""


def at_once(spec: BatchSpec) -> int:
    """The most files that a process has at a time: one more than it has cores, because one reads from a disk."""
    return min(MOST_AT_ONCE, 1 + cores() // spec.workers)


def nbytes_of(file: Path) -> int:
    """The bytes of a file, or of all files of a store; 0 if there is none."""
    return int(stamp(file).get("bytes", 0))


def fits(spec: BatchSpec, sizes: Sequence[int]) -> bool:
    """Whether files of so many bytes can be at work together: one alone, and more if memory is free for all, loaded as
    a whole. A worker has AT_ONCE in any case."""
    if len(sizes) <= (AT_ONCE if spec.is_spread else 1):
        return True
    free = free_memory() // spec.workers
    allowed = free if spec.memory is None or spec.is_spread else min(free, spec.memory)
    return EXPANDED * sum(sizes) <= allowed


def overlapped(spec: BatchSpec) -> Executor[Planned, Any]:
    """Processes files of a batch in this process; reading, computing and writing of several overlap. Files of an edited
    kernel are processed one after the other: its limits count what this process does."""
    if spec.edits and not spec.is_spread:
        return serial
    nbytes = lru_cache(2 * MOST_AT_ONCE)(nbytes_of)  # a store can have many files, which are looked at once
    return threads(at_once(spec), lambda planned: fits(spec, [nbytes(item.file) for item, _ in planned]))
