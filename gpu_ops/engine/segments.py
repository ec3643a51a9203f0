"""Shared memory: files in a memory directory that both processes map.

The window's process owns them: only it creates, reuses and removes them, through a SegmentPool. The engine maps them by
name, through Attachments. A mapping stays valid until the last array over it is gone, even after its file is removed.
"""

from __future__ import annotations

import errno
import itertools
import mmap
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceMemoryError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows: a mapped file cannot be removed there, which serves as the lock
    flock = None  # type: ignore[assignment]

CACHE_BYTES = 1 << 30
"""The maximum number of bytes of free segments that stay for reuse."""
ROOMIEST = 2
"""A request may reuse a free segment up to this many times as large."""
_NAME = re.compile(r"kernelscope-\d+-\d+")
_numbers = itertools.count()


def directories() -> tuple[Path, ...]:
    """The directories for segments, best first: in memory, else among the temporary files."""
    memory = Path("/dev/shm")
    temporary = Path(tempfile.gettempdir())
    return (memory, temporary) if memory.is_dir() and os.access(memory, os.W_OK) else (temporary,)


@dataclass(eq=False)
class _Segment:
    """A mapped file. `holders` counts its users; at 0 it is free."""

    path: Path
    map: mmap.mmap
    holders: int = 1

    @property
    def nbytes(self) -> int:
        return len(self.map)


class SegmentPool:
    """Segments of this process. Any thread may call any method.

    At most `cache_bytes` of free segments stay for reuse; beyond that, the least recently used ones are removed.
    """

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._cache_bytes = cache_bytes
        self._lock = threading.RLock()
        self._segments: dict[str, _Segment] = {}
        self._free: dict[str, None] = {}  # in the order in which they became free
        self._listeners: list[Callable[[str], None]] = []
        self._free_listeners: list[Callable[[str], None]] = []
        # For a pool that is never closed: at its end, or at the interpreter's.
        self._finalizer = weakref.finalize(self, _remove_all, self._segments)

    @property
    def nbytes(self) -> int:
        """Bytes of all segments, held and free."""
        with self._lock:
            return sum(s.nbytes for s in self._segments.values())

    def take(self, nbytes: int) -> str:
        """The name of a segment of at least `nbytes`, with one holder. Raises DeviceMemoryError if memory is full."""
        size = max(-(-nbytes // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        with self._lock:
            candidates = [n for n in self._free if size <= self._segments[n].nbytes <= ROOMIEST * size]
            if candidates:
                name = min(candidates, key=lambda n: self._segments[n].nbytes)
                del self._free[name]
                self._segments[name].holders = 1
                return name
            segment = _create(size)
            if segment is None:
                self._drop_free(0)
                segment = _create(size)
            if segment is None:
                places = " and ".join(map(str, directories()))
                raise DeviceMemoryError(f"{places} cannot hold {size:,} bytes more; close results or free space there.")
            self._segments[segment.path.name] = segment
            return segment.path.name

    def path(self, name: str) -> Path:
        """The file of a segment. Raises KeyError if there is none."""
        with self._lock:
            return self._segments[name].path

    def hold(self, name: str) -> None:
        """Add a holder. Raises KeyError if the segment has none."""
        with self._lock:
            if self._segments[name].holders == 0:
                raise KeyError(name)
            self._segments[name].holders += 1

    def release(self, name: str) -> None:
        """Remove a holder; after the last one the segment is free for other content. After `close` it does nothing."""
        with self._lock:
            segment = self._segments.get(name)
            if segment is None:
                return
            if segment.holders == 0:
                raise ValueError(f"segment {name} is released more often than it was acquired")
            segment.holders -= 1
            if segment.holders == 0:
                for listener in self._free_listeners:
                    listener(name)
                self._free[name] = None
                self._drop_free(self._cache_bytes)

    def array(self, shared: SharedArray, writeable: bool = False) -> np.ndarray[Any, Any]:
        """A view, valid while the segment has a holder. Raises KeyError if the segment is gone."""
        with self._lock:
            return _view(self._segments[shared.segment].map, shared, writeable)

    def watch(self, listener: Callable[[str], None]) -> None:
        """Call `listener(name)` whenever a segment is removed. The listener must neither wait nor use the pool."""
        with self._lock:
            self._listeners.append(listener)

    def watch_free(self, listener: Callable[[str], None]) -> None:
        """Call `listener(name)` whenever a segment has no holder any more, before it gets other content. The listener
        must neither wait nor use the pool."""
        with self._lock:
            self._free_listeners.append(listener)

    def unwatch(self, listener: Callable[[str], None]) -> None:
        """Undo `watch` and `watch_free`."""
        with self._lock:
            for listeners in (self._listeners, self._free_listeners):
                with suppress(ValueError):
                    listeners.remove(listener)

    def close(self) -> None:
        """Remove every segment. Arrays over them stay valid. A second call does nothing."""
        with self._lock:
            self._free.clear()
            for name in list(self._segments):
                self._drop(name)

    def _drop_free(self, cache_bytes: int) -> None:
        while self._free and sum(self._segments[n].nbytes for n in self._free) > cache_bytes:
            self._drop(next(iter(self._free)))

    def _drop(self, name: str) -> None:
        self._free.pop(name, None)
        _remove(self._segments.pop(name))
        for listener in self._listeners:
            listener(name)


def _view(map: mmap.mmap, shared: SharedArray, writeable: bool) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.ndarray(shared.shape, shared.dtype, buffer=map)
    array.flags.writeable = writeable
    return array


def _create(size: int) -> _Segment | None:
    """A new segment in the first directory with space for it, or None."""
    for directory in directories():
        while True:
            path = directory / f"kernelscope-{os.getpid()}-{next(_numbers)}"
            try:
                return _Segment(path, _new_map(path, size))
            except (FileExistsError, BlockingIOError):
                continue  # left by a dead process with our number, or being removed as such by another one
            except (OSError, OverflowError):
                break
    return None


def _new_map(path: Path, size: int) -> mmap.mmap:
    """Create and map a file and reserve its space, so that a full directory is an error here and not a signal later."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        # The map keeps the file open and so keeps the lock, which shows other processes that the owner is alive.
        if flock is not None:
            flock(handle, LOCK_EX | LOCK_NB)
            if os.fstat(handle).st_nlink == 0:
                raise BlockingIOError(errno.EAGAIN, "cleaned away before it was locked")
        _reserve(handle, path, size)
        return mmap.mmap(handle, size)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(handle)


def _reserve(handle: int, path: Path, size: int) -> None:
    fallocate = getattr(os, "posix_fallocate", None)
    if fallocate is None:
        if shutil.disk_usage(path.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.truncate(handle, size)
        return
    try:
        fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        os.truncate(handle, size)  # this file system cannot reserve space


def _remove(segment: _Segment) -> None:
    """Remove the file. The map is not closed, because arrays over it would become invalid: it is unmapped with the last
    reference to it. Windows removes the file only then."""
    del segment.map
    with suppress(OSError):
        segment.path.unlink()


def _remove_all(segments: dict[str, _Segment]) -> None:
    while segments:
        _remove(segments.popitem()[1])


def clean_stale() -> int:
    """Remove the segments of dead processes. Returns how many there were."""
    removed = 0
    for directory in directories():
        for path in directory.glob("kernelscope-*"):
            if _NAME.fullmatch(path.name):
                with suppress(OSError):
                    _remove_stale(path)
                    removed += 1
    return removed


def _remove_stale(path: Path) -> None:
    """Remove a segment. Raises OSError if its owner still has the lock. Process numbers prove nothing, because the
    system reuses them and they differ between containers."""
    if flock is None:
        path.unlink()
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        path.unlink()
    finally:
        os.close(handle)


class Attachments:
    """Maps segments of another process by name."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}

    def attach(self, name: str) -> mmap.mmap:
        """The segment's memory, mapped once. Raises FileNotFoundError if it is gone."""
        if name not in self._maps:
            if not _NAME.fullmatch(name):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            self._maps[name] = _map_existing(name)
        return self._maps[name]

    def array(self, shared: SharedArray, writeable: bool = False) -> np.ndarray[Any, Any]:
        """A view of a segment."""
        return _view(self.attach(shared.segment), shared, writeable)

    def forget(self, name: str) -> None:
        """Unmap a segment; its memory is released with the last array over it."""
        self._maps.pop(name, None)


def _map_existing(name: str) -> mmap.mmap:
    handle = open_segment(name)
    try:
        return mmap.mmap(handle, os.fstat(handle).st_size)
    finally:
        os.close(handle)


def open_segment(name: str) -> int:
    """A descriptor of a segment's file, which the caller closes. Raises FileNotFoundError if it is gone."""
    for directory in directories():
        with suppress(FileNotFoundError):
            flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            return os.open(directory / name, flags)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
