"""Caches for files that were read before: their hashes, and the stacks opened last; and hashes of files that are being
written. A file that has been written since counts as another file: its time, its size or its inode differs."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import PIECE
from gpu_ops.io.stacks import Stack
from gpu_ops.progress import advance

T = TypeVar("T")
Stamp = tuple[tuple[Hashable, ...], ...]

SAMPLED = "sampled-sha256:"
"""The prefix of the hash of large files, of which only the sizes and some pieces are hashed."""
LARGE = 1 << 28
"""Files of more bytes than this have a sampled hash."""
PIECES, PIECE_BYTES = 64, 1 << 16
"""A sampled hash covers PIECES evenly spaced pieces of PIECE_BYTES, including the first and the last bytes."""
HASHED = 1 << 20
"""Bytes that are hashed at a time: they stay in a cache, and no new memory is needed for each."""
MOST_STACKS, MOST_HASHES = 2, 64
FOLLOW_S = 0.2
"""Seconds of one wait for a hash."""
FRESH = 2.0
"""Seconds after a write in which some file systems may give a second write the same time."""


class _Recent(Generic[T]):
    """The most recently requested values by key, at most a given number. It is safe to use from any thread."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, created by `make` if missing. Exceptions of `make` are passed on."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


_stacks: _Recent[Stack] = _Recent(MOST_STACKS)
_hashes: _Recent[str] = _Recent(MOST_HASHES)


def stamp_of(files: Sequence[Path]) -> Stamp:
    """A value that changes when one of the files is written, replaced or renamed. Raises OSError."""
    stats = ((os.path.realpath(file), file.stat()) for file in files)
    return tuple((real, s.st_dev, s.st_ino, s.st_mtime_ns, s.st_size) for real, s in stats)


def _is_fresh(stamp: Stamp) -> bool:
    """Whether a file was written so recently that its next version may have the same stamp."""
    now = time.time_ns()
    return any(0 <= now - int(mtime) < FRESH * 1e9 for _, _, _, mtime, _ in stamp)  # type: ignore[call-overload]


def kept_stack(files: Sequence[Path], how: Hashable, make: Callable[[], Stack]) -> Stack:
    """The stack that `make` opens from these files with the options `how`, cached while it is one of the last and no
    file has been written since. Raises OSError, and the exceptions of `make`."""
    stamp = stamp_of(files)
    return make() if _is_fresh(stamp) else _stacks.get((stamp, how), make)


def known_hash(files: Sequence[Path], named: bool = False) -> str:
    """The hash of files as in `hash_files`, cached until one of them is written. Raises OSError."""
    stamp = stamp_of(files)
    if _is_fresh(stamp):
        return hash_files(files, named)
    return _hashes.get((stamp, named), lambda: hash_files(files, named))


def hash_files(files: Sequence[Path], named: bool = False, whole: bool = False) -> str:
    """SHA-256 in hexadecimal of the bytes of files, one after the other; with `named`, as for the files of a folder,
    each is preceded by its name and size.

    Unless `whole`, more than LARGE bytes are hashed by their sizes and some pieces, and the hash begins with SAMPLED.
    Raises OSError.
    """
    sizes = [file.stat().st_size for file in files]
    digest, total, done = hashlib.sha256(), max(sum(sizes), 1), 0
    sampled = total > LARGE and not whole
    if sampled:
        digest.update(f"{sizes}\n".encode())
    places = [k * (total - PIECE_BYTES) // (PIECES - 1) for k in range(PIECES)]
    for file, size in zip(files, sizes, strict=True):
        if named:
            digest.update(f"{file.name}\n{size}\n".encode())
        inside = [place - done for place in places if done <= place < done + size]
        with open(file, "rb") as opened:
            for start, end in ((p, min(p + PIECE_BYTES, size)) for p in inside) if sampled else ((0, size),):
                opened.seek(start)
                while start < end and (piece := opened.read(min(HASHED, end - start))):
                    digest.update(piece)
                    start += len(piece)
                    advance(min(done + start, total), total)
        done += size
    return SAMPLED + digest.hexdigest() if sampled else digest.hexdigest()


_noted: ContextVar[dict[Stamp, str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting_hashes() -> Iterator[dict[Stamp, str]]:
    """Inside, NPY files and those that are written by rows are hashed meanwhile: the SHA-256 of each by its stamp,
    which lacks the name."""
    noted: dict[Stamp, str] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def written_as(state: os.stat_result) -> Stamp:
    """A file without its name, which changes when it replaces another."""
    return ((state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size),)


@contextmanager
def hashed_meanwhile(file: IO[bytes], write: Callable[[Any], None]) -> Iterator[Callable[[Any], None]]:
    """A function that calls `write`, which writes the next bytes of a new file; those before them are final. Within
    `noting_hashes` a thread reads what was written, from the system's memory, and hashes it. Raises Cancelled."""
    noted = _noted.get()
    if noted is None:
        yield write
        return
    digest, pool = hashlib.sha256(), ThreadPoolExecutor(1)
    with open(file.name, "rb", buffering=0) as written:  # a buffer would have bytes that are not final

        def follow(end: int) -> None:
            while written.tell() < end and (piece := written.read(min(HASHED, end - written.tell()))):
                digest.update(piece)

        def write_next(rows: Any) -> None:
            write(rows)
            file.flush()
            pool.submit(follow, file.tell())

        try:
            yield write_next
            file.flush()
            last = pool.submit(follow, os.fstat(file.fileno()).st_size)
            while not wait([last], FOLLOW_S).done:
                advance(1, 1)
        finally:
            pool.shutdown(cancel_futures=True)
        state = os.fstat(file.fileno())
        if last.exception() is None and written.tell() == state.st_size:  # else it is read once more
            noted[written_as(state)] = digest.hexdigest()


def note_hash(file: IO[bytes], *parts: Array) -> None:
    """Within `noting_hashes`, hash a new file that has just these arrays of bytes, without reading it. Raises
    Cancelled."""
    noted = _noted.get()
    if noted is None:
        return
    file.flush()
    digest, state = hashlib.sha256(), os.fstat(file.fileno())
    for part in parts:
        for start in range(0, part.size, PIECE):
            advance(start, part.size)
            digest.update(part[start : start + PIECE].data)
    if sum(part.size for part in parts) == state.st_size:
        noted[written_as(state)] = digest.hexdigest()


def has_hash(files: Sequence[Path], known: str, recorded: object, named: bool = False) -> bool:
    """Whether the files, whose hash is `known`, have a hash that was recorded earlier, perhaps of all their bytes."""
    if known == recorded or not known.startswith(SAMPLED) or str(recorded).startswith(SAMPLED):
        return known == recorded
    return hash_files(files, named, whole=True) == recorded
