"""Files whose rows can be read separately, and files that are written row by row or frame by frame: images and signals
that are larger than memory.

Rows are read, not mapped: a file that is truncated meanwhile would crash a process that has it mapped. A row of a
signal is one sample with its channels.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, either, plain
from gpu_ops.host import free_memory
from gpu_ops.input_kinds import Kind
from gpu_ops.io import arrays
from gpu_ops.io.arrays import is_stack
from gpu_ops.io.codec import codec
from gpu_ops.io.files import LIMIT, hash_file, replacing, replacing_folder
from gpu_ops.io.formats import find_format
from gpu_ops.io.images import stores, tiff
from gpu_ops.io.images.tiff_writer import TiffWriter
from gpu_ops.io.inputs import Array, check_file_shape, find_kind
from gpu_ops.io.known import Stamp, hashed_meanwhile, stamp_of
from gpu_ops.io.memory import in_bands, read_at
from gpu_ops.io.opening import Opening
from gpu_ops.io.pieces import write_from
from gpu_ops.io.regular import require_regular
from gpu_ops.io.signals import sound
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.types import Facts, Pixel

ENDLESS = 1 << 62
"""A limit that no file reaches."""
NPY, TIFFS = ".npy", (".tif", ".tiff")
Write = Callable[[Array], None]
SMALL = 1 << 26
"""Files of fewer bytes are loaded without checking their size in memory."""


@dataclass(frozen=True)
class Rows:
    """A file whose rows are read on demand. `shape` is that of the whole, `dtype` that of its values in
    the machine's byte order. `read(start, stop)` returns rows in C order and raises InputError. `whole_reason` says why
    rows cannot be read separately, "" where they can; `piece_bytes` are decoded at once, however few rows are
    requested. `opened` are the arguments of `open_rows` after the path."""

    path: Path
    name: str
    kind: Kind
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[int, int], Array]
    stamp: Stamp
    rate: float | None = None
    whole_reason: str = ""
    piece_bytes: int = 0
    steps: tuple[Mapping[str, Any], ...] = ()
    facts: Facts = Facts()
    opened: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the file again."""
        return _open_again, (os.path.abspath(self.path), self.opened, self.stamp, self.name)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def origin(self) -> dict[str, Any]:
        """The origin of the values, as that of an Input. Raises OSError."""
        return {"path": os.fspath(self.path), "hash": hash_file(self.path), "steps": list(self.steps)}

    def check_unchanged(self) -> None:
        """Raises InputError where the file has been written since it was opened, OSError."""
        if stamp_of(stores.files_of_store(self.path)) != self.stamp:
            raise InputError(f"{self.name} changed while it was read; run it again.")


def open_rows(
    path: str | os.PathLike[str], kind: Kind | None = None, frame: int = 0, rate: float = 0.0, series: int = -1
) -> Rows | None:
    """The rows of a file; None for a format that is decoded as a whole, and for stacks in an array. `frame` and
    `series` are those of a TIFF, `rate` in hertz that of an array. Raises InputError for a damaged file."""
    file, name = Path(path), plain(os.fspath(path))
    if file.suffix.lower() not in _OPENERS or (file.is_dir() and not stores.is_zarr(file)):
        return None
    try:
        if not file.is_dir():
            require_regular(file, "an input")
            find_format(file, name)  # raises where content and suffix do not agree
        found = _OPENERS[file.suffix.lower()](file, name, kind, frame, rate, series)
        return None if found is None else replace(found, opened=(kind, frame, rate, series))
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}); check its name and permissions.") from None


@lru_cache(4)
def _open_again(path: str, opened: tuple[Any, ...], stamp: Stamp, name: str) -> Rows:
    """The rows of a file that another process has opened. Raises InputError where it is another file by now."""
    found = open_rows(path, *opened)
    if found is None or found.stamp != stamp:
        raise InputError(f"{name} changed while it was read, or is another file for the workers; run it again.")
    return replace(found, name=name)


def check_fits(path: str | os.PathLike[str], kind: Kind | None = None) -> None:
    """Raises InputError, with needed and free bytes, for a file whose rows can be read separately and that is too large
    to be opened as a whole."""
    file = Path(path)
    if not file.is_file() or file.stat().st_size < SMALL or (rows := open_rows(file, kind)) is None:
        return
    free, name = free_memory(), plain(file.name)
    if rows.nbytes > free:
        raise InputError(f"{name} needs {rows.nbytes:,} bytes, and this machine has {free:,} free; {in_bands(name)}.")
    if rows.size > LIMIT:
        raise InputError(
            f"{name} has {rows.size:,} values ({rows.nbytes:,} bytes; {free:,} are free), and at most {LIMIT:,} are "
            f"opened at once; {in_bands(name)}."
        )


def _open_npy(file: Path, name: str, kind: Kind | None, frame: int, rate: float, series: int) -> Rows | None:
    with open(file, "rb") as opened:
        dtype, shape, fortran = arrays.read_header(opened, name)
        place = opened.tell()
        if is_stack(shape, kind or ""):
            return None
        check_file_shape(shape, name)
        arrays.check_size(opened, dtype, shape, name)
    native = dtype.newbyteorder("=")
    row = math.prod(shape[1:]) * dtype.itemsize

    def read(start: int, stop: int) -> Array:
        values = read_at(file, name, place + start * row, (stop - start, *shape[1:]), dtype)
        return np.ascontiguousarray(values, native)

    reason = "its columns lie together in the file (Fortran order)" if fortran and len(shape) > 1 else ""
    own = kind or find_kind(shape, name)
    return Rows(file, name, own, shape, native, read, stamp_of([file]), rate or None, reason)


def _open_tiff(file: Path, name: str, kind: Kind | None, frame: int, rate: float, series: int) -> Rows | None:
    stamp = stamp_of([file])
    stack = tiff.TiffStack(file, name, ENDLESS, series)
    if frame >= stack.facts.frames:
        raise InputError(f"{name} has {stack.facts.frames:,} frames; choose one from 0 to {stack.facts.frames - 1:,}.")

    def read(start: int, stop: int) -> Array:
        return stack.read_rows(frame, start, stop)

    shape, native = stack.shape, stack.dtype.newbyteorder("=")
    about = (None, stack.whole_reason, stack.piece_bytes, stack.steps, stack.facts)
    return Rows(file, name, kind or "image", shape, native, read, stamp, *about)


def _open_wav(file: Path, name: str, kind: Kind | None, frame: int, rate: float, series: int) -> Rows | None:
    stamp, opening = stamp_of([file]), Opening(file, name, ENDLESS)
    about = ("WAV file", "save it again as PCM or float WAV")
    sound.check_whole(file, name)
    with sound.open_sound(opening, *about) as opened:
        frames, channels, hertz = opened.frames, opened.channels, float(opened.samplerate)
        dtype = np.dtype("float64" if opened.subtype in sound.WIDE else "float32")
    shape = (frames, channels) if channels > 1 else (frames,)

    def read(start: int, stop: int) -> Array:
        result = np.empty((stop - start, *shape[1:]), dtype)
        damaged = InputError(f"{name} is a damaged or unusual {about[0]}; {about[1]}.")
        with sound.open_sound(opening, *about) as opened, codec(damaged):
            opened.seek(start)
            if len(opened.read(out=result)) < len(result):
                raise damaged
        return result

    steps = sound.stream_steps(file)
    return Rows(file, name, kind or "signal", shape, dtype, read, stamp, hertz, steps=steps)


def _open_store(file: Path, name: str, kind: Kind | None, frame: int, rate: float, series: int) -> Rows | None:
    """The only array of a store; None where the reading choices must name one."""
    stamp = stamp_of(stores.files_of_store(file))
    with stores.stored(file, name, kind=kind or "") as found:
        if found.lead and frame >= math.prod(found.lead):
            raise InputError(f"{name} has {math.prod(found.lead):,} frames; choose one from 0 on.")
        shape, dtype, own_rate, facts = found.shape, found.dtype, found.rate, Facts(pixel=found.pixel)

    def read(start: int, stop: int) -> Array:
        with stores.stored(file, name, kind=kind or "") as found:
            return found.read(frame, start, stop)

    about = (read, stamp, rate or own_rate)
    return Rows(file, name, kind or find_kind(shape, name), shape, dtype, *about, facts=facts)


_OPENERS = {".npy": _open_npy, ".tif": _open_tiff, ".tiff": _open_tiff, ".wav": _open_wav}
_OPENERS |= dict.fromkeys((*stores.HDF5, stores.ZARR), _open_store)


def check_rows_target(path: str | os.PathLike[str], shape: tuple[int, ...]) -> None:
    """Raises InputError for a name whose format is not written row by row, or cannot store that shape."""
    allowed = rows_suffixes(shape)
    if Path(path).suffix.lower() not in allowed:
        names = either(allowed)
        raise InputError(f"{plain(os.fspath(path))} cannot be written in bands; choose a name that ends in {names}.")


def rows_suffixes(shape: tuple[int, ...]) -> tuple[str, ...]:
    """The suffixes of the formats that are written row by row and can store an array of that shape."""
    return (NPY, *TIFFS, stores.ZARR, *stores.HDF5) if len(shape) > 1 else (NPY, *stores.HDF5)


def check_frames_target(path: str | os.PathLike[str], kind: ViewKind) -> None:
    """Raises InputError for a name whose format cannot store a stack of outputs of this kind."""
    allowed = OUTPUT_KINDS[kind].stack_formats
    if Path(path).suffix.lower() not in allowed:
        raise InputError(
            f"{plain(os.fspath(path))} cannot hold a stack of results, each {OUTPUT_KINDS[kind].title}; choose a name "
            f"that ends in {' or '.join(allowed)}."
        )


def check_disk(path: str | os.PathLike[str], needed: int, what: str, disk: str) -> None:
    """Raises InputError where the disk of `path` has no space for so many bytes; the message says that `what` needs
    them on the `disk`."""
    free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
    if needed > free:
        raise InputError(f"{what} {needed:,} bytes, and {disk} has {free:,} free; choose another disk.")


def begin_rows(
    file: IO[bytes],
    path: str | os.PathLike[str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    frames: int | None = None,
    pixel: Pixel | None = None,
    note: str = "",
) -> Write:
    """A function that takes the next rows of an array of `shape` and writes them in the format of the path's suffix, or
    the next of so many `frames` of this shape. `pixel` and a `note` are stored in a TIFF. A file with fewer rows is
    damaged. Raises InputError for arrays that a TIFF cannot store, OSError."""
    if Path(path).suffix.lower() != NPY:
        return TiffWriter(file, shape, dtype, frames or 1, plain(os.fspath(path)), pixel, note).write_rows
    whole = shape if frames is None else (frames, *shape)
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": whole}
    np.lib.format.write_array_header_1_0(file, header)
    return lambda rows: write_from(file, np.ascontiguousarray(rows, dtype).reshape(-1).view(np.uint8))


@contextmanager
def writing_rows(
    path: str | os.PathLike[str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    pixel: Pixel | None,
    note: str,
    frames: int | None = None,
    token: str = "",
) -> Iterator[Write]:
    """Takes the next rows of an array, or the next of so many `frames` of this shape, for a file that replaces the old
    one at the end, when it has all. `token` names the temporary file, see `replacing`. Raises InputError where the disk
    has too little space."""
    name, suffix = plain(os.fspath(path)), Path(path).suffix.lower()
    if frames is None:
        check_rows_target(path, shape)
    check_disk(path, math.prod(shape) * (frames or 1) * dtype.itemsize, f"{name} needs", "its disk")
    if suffix == stores.ZARR:
        with (
            replacing_folder(path) as folder,
            stores.zarr_rows(folder, shape, dtype, frames, name, pixel, note) as rows,
        ):
            yield rows
        return
    with replacing(path, token=token) as file:
        if suffix in stores.HDF5:
            with stores.hdf5_rows(file, shape, dtype, frames, name, about=note) as rows:
                yield rows
            return
        with hashed_meanwhile(file, begin_rows(file, path, shape, dtype, frames, pixel, note)) as write:
            yield write
