"""Memory that two processes see: files in a memory directory, mapped by both sides.

The window's process owns them: it alone makes, reuses and removes them, through a SegmentPool. The engine's maps them
by name, through Attachments. What is mapped stays valid until the last array over it is gone, even when its file has
been removed.
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

from gpu_ops.engine.messages import SharedArray
from gpu_ops.errors import DeviceMemoryError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows: a file that is mapped cannot be removed there, which serves as the lock
    flock = None  # type: ignore[assignment]

KEPT = 1 << 30
"""Bytes of free segments kept for reuse."""
ROOMIEST = 2
"""A free segment serves requests down to this part of its size."""
_NAME = re.compile(r"kernelscope-\d+-\d+")
_numbers = itertools.count()


def directories() -> tuple[Path, ...]:
    """Where segments may lie, best first: in memory, else among the temporary files."""
    memory = Path("/dev/shm")
    temporary = Path(tempfile.gettempdir())
    return (memory, temporary) if memory.is_dir() and os.access(memory, os.W_OK) else (temporary,)


@dataclass(eq=False)
class _Segment:
    """A mapped file. `holders` counts who needs it; at 0 it is free."""

    path: Path
    map: mmap.mmap
    holders: int = 1

    @property
    def nbytes(self) -> int:
        return len(self.map)


class SegmentPool:
    """Segments of this process. All methods may be called from any thread.

    `kept` is how many bytes of free segments stay for reuse; beyond it the ones not used for longest go.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.RLock()
        self._segments: dict[str, _Segment] = {}
        self._free: dict[str, None] = {}  # in the order in which they became free
        self._listeners: list[Callable[[str], None]] = []
        # Also when nobody closes the pool: at its end, or the interpreter's.
        self._finalizer = weakref.finalize(self, _remove_all, self._segments)

    @property
    def nbytes(self) -> int:
        """Bytes of all segments, held and free."""
        with self._lock:
            return sum(s.nbytes for s in self._segments.values())

    def take(self, nbytes: int) -> str:
        """The name of a segment of at least `nbytes`, held once. Raises DeviceMemoryError when memory is full."""
        size = max(-(-nbytes // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        with self._lock:
            fitting = [n for n in self._free if size <= self._segments[n].nbytes <= ROOMIEST * size]
            if fitting:
                name = min(fitting, key=lambda n: self._segments[n].nbytes)
                del self._free[name]
                self._segments[name].holders = 1
                return name
            segment = _create(size)
            if segment is None:
                self._drop_free(0)
                segment = _create(size)
            if segment is None:
                places = " and ".join(map(str, directories()))
                raise DeviceMemoryError(f"{places} cannot hold {size} bytes more; close results or free space there.")
            self._segments[segment.path.name] = segment
            return segment.path.name

    def hold(self, name: str) -> None:
        """Count one more holder. Raises KeyError unless somebody holds it."""
        with self._lock:
            if self._segments[name].holders == 0:
                raise KeyError(name)
            self._segments[name].holders += 1

    def release(self, name: str) -> None:
        """Count one holder less; with the last one the segment is free for other content. Nothing after `close`."""
        with self._lock:
            segment = self._segments.get(name)
            if segment is None:
                return
            if segment.holders == 0:
                raise ValueError(f"segment {name} is released more often than it was held")
            segment.holders -= 1
            if segment.holders == 0:
                self._free[name] = None
                self._drop_free(self._kept)

    def array(self, shared: SharedArray, writeable: bool = False) -> np.ndarray[Any, Any]:
        """A view, valid as long as the segment is held. Raises KeyError for a segment that is gone."""
        with self._lock:
            return _view(self._segments[shared.segment].map, shared, writeable)

    def watch(self, listener: Callable[[str], None]) -> None:
        """Call `listener(name)` whenever a segment goes. It must neither wait nor use the pool."""
        with self._lock:
            self._listeners.append(listener)

    def unwatch(self, listener: Callable[[str], None]) -> None:
        """Undo `watch`."""
        with self._lock, suppress(ValueError):
            self._listeners.remove(listener)

    def close(self) -> None:
        """Remove every segment. Arrays over them stay valid. Closing again does nothing."""
        with self._lock:
            self._free.clear()
            for name in list(self._segments):
                self._drop(name)

    def _drop_free(self, kept: int) -> None:
        while self._free and sum(self._segments[n].nbytes for n in self._free) > kept:
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
    """A new segment in the first directory with room for it, or None."""
    for directory in directories():
        while True:
            path = directory / f"kernelscope-{os.getpid()}-{next(_numbers)}"
            try:
                return _Segment(path, _new_map(path, size))
            except (FileExistsError, BlockingIOError):
                continue  # left by a dead process that had our number, or being cleaned away as such
            except (OSError, OverflowError):
                break
    return None


def _new_map(path: Path, size: int) -> mmap.mmap:
    """Make and map a file whose space is reserved, so that a full directory is an error here and no signal later."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        # The map keeps the file open and with it the lock, by which others see that the owner lives.
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
        os.truncate(handle, size)  # a file system that cannot reserve


def _remove(segment: _Segment) -> None:
    """Remove the file. The map is never closed: NumPy only refers to it, and arrays over it would dangle. It is
    unmapped with its last reference, before which Windows removes no file."""
    del segment.map
    with suppress(OSError):
        segment.path.unlink()


def _remove_all(segments: dict[str, _Segment]) -> None:
    while segments:
        _remove(segments.popitem()[1])


def clean_stale() -> int:
    """Remove what processes that died left behind, and say how many segments that were."""
    removed = 0
    for directory in directories():
        for path in directory.glob("kernelscope-*"):
            if _NAME.fullmatch(path.name):
                with suppress(OSError):
                    _remove_stale(path)
                    removed += 1
    return removed


def _remove_stale(path: Path) -> None:
    """Remove a segment unless its owner keeps the lock: then raises OSError. Process numbers would not tell: they are
    reused, and differ between containers."""
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
    """Segments of another process, mapped here by name."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}

    def attach(self, name: str) -> mmap.mmap:
        """The segment's memory, mapped once. Raises FileNotFoundError when it is gone."""
        if name not in self._maps:
            if not _NAME.fullmatch(name):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            self._maps[name] = _map_existing(name)
        return self._maps[name]

    def array(self, shared: SharedArray, writeable: bool = False) -> np.ndarray[Any, Any]:
        """A view of it."""
        return _view(self.attach(shared.segment), shared, writeable)

    def forget(self, name: str) -> None:
        """Let go of a segment; its memory goes with the last array over it."""
        self._maps.pop(name, None)


def _map_existing(name: str) -> mmap.mmap:
    for directory in directories():
        path = directory / name
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
            try:
                return mmap.mmap(handle, os.fstat(handle).st_size)
            finally:
                os.close(handle)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
