"""NumPy's NPY files: arrays, and those of three or four axes as stacks, of which one frame is read at a time, whatever
the file's size and order. Only the header is NumPy's to read, so that a file can unpickle and allocate nothing
unchecked."""

from __future__ import annotations

import io
import math
import os
import tokenize
import warnings
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.input_kinds import IMAGE_CHANNELS, STACK
from gpu_ops.io.inputs import Array, check_file_shape, check_limit
from gpu_ops.io.known import kept_stack, note_hash
from gpu_ops.io.memory import check_memory, read_at
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.pieces import read_into, write_from
from gpu_ops.io.signals.columns import chosen_rate
from gpu_ops.io.stacks import Stack, decode_stack
from gpu_ops.progress import advance
from gpu_ops.types import Facts

MAGIC = b"\x93NUMPY"
HEADERS = {
    1: np.lib.format.read_array_header_1_0,
    2: np.lib.format.read_array_header_2_0,
    3: np.lib.format.read_array_header_2_0,
}
"""NumPy's readers of the header versions; the third version differs only in the encoding of field names, which inputs
lack."""
WIDEST = 8
"""Bytes of the widest numbers that are read."""
BLOCK = 1 << 26
"""Bytes of neighbouring frames that one pass through a file in Fortran order reads together."""
PASS = 1 << 24
"""Bytes that such a pass reads at a time."""


def read_npy(opening: Opening) -> Decoded:
    """The file's array in its own type, or a frame of it where it is a stack. Raises InputError for damaged, cut, too
    large and unsuitable files."""
    path, name, limit, choices = opening
    kind = str(choices.get("kind", ""))
    with open(path, "rb") as file:
        dtype, shape, fortran = read_header(file, name)
        if is_stack(shape, kind):
            return decode_stack(_open_stack(opening, Layout(dtype, shape, fortran, file.tell())), opening)
        check_stack(shape, kind, name)
        check_file_shape(shape, name)
        if choices.get("frame", 0):
            raise ParamError(f"{name} has shape {shape}, which is no stack of frames; leave the frame out.")
        count = math.prod(shape)
        check_limit(name, count, limit)
        place = file.tell()
        check_size(file, dtype, shape, name)
        check_memory(name, count * dtype.itemsize)
    array = read_at(path, name, place, (count,), dtype)
    return Decoded(array.reshape(shape, order="F" if fortran else "C"), chosen_rate(opening))


def look_npy(opening: Opening) -> Survey:
    """The shape and the type of the array, and the number of frames of a stack."""
    with open(opening.path, "rb") as file:
        dtype, shape, _ = read_header(file, opening.name)
    frames = shape[0] if is_stack(shape, str(opening.choices.get("kind", ""))) else 1
    size = " × ".join(map(str, shape)) or "one number"
    counted = (("frames", f"{frames:,}"),) if frames > 1 else ()
    return Survey("a NumPy array", (("shape", f"{size}, {dtype}"), *counted), frames)


def _open_stack(opening: Opening, layout: Layout) -> Stack:
    def make() -> Stack:
        with open(opening.path, "rb") as file:
            file.seek(layout.offset)
            check_size(file, layout.dtype, layout.shape, opening.name)
        return ArrayStack(opening.path, opening.name, layout)

    return kept_stack([opening.path], layout, make)


def check_size(file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> None:
    """Raises InputError where fewer bytes follow than the array has."""
    needed_bytes, present_bytes = math.prod(shape) * dtype.itemsize, os.fstat(file.fileno()).st_size - file.tell()
    if present_bytes < needed_bytes:
        raise InputError(
            f"{name} is cut short: it holds {present_bytes:,} of {needed_bytes:,} bytes of data; copy or save it again."
        )


def read_header(file: IO[bytes], name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """The dtype and the shape of an array, and whether it is in column-major order. Raises InputError for a damaged
    header and for unsupported types."""
    damaged = InputError(f"{name} has a damaged NPY header; save the array again with numpy.save.")
    try:
        read = HEADERS[np.lib.format.read_magic(file)[0]]
        with warnings.catch_warnings():  # about the spelling of the header
            warnings.simplefilter("ignore")
            shape, fortran, dtype = read(file)
    except (KeyError, ValueError, SyntaxError, TypeError, RecursionError, MemoryError, tokenize.TokenError):
        raise damaged from None
    if any(type(n) is not int or not 0 <= n < 2**63 for n in shape):
        raise damaged
    if dtype.kind not in "biuf":
        what = "pickled Python objects" if dtype.hasobject else f"values of type {plain(dtype, 40)}"
        raise InputError(f"{name} holds {what}; only real numbers can be read: save it as integers or floats.")
    if dtype.itemsize > WIDEST:
        raise InputError(f"{name} holds values of type {dtype}, which not every machine has; save it as float64.")
    return dtype, shape, fortran


def write_npy(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes any array without Python objects; `rate` is not kept."""
    if array.dtype.hasobject:
        raise InputError(f"{name} cannot hold Python objects; convert the array to numbers first.")
    # Header and data go through the same buffered file: NumPy's own writer may bypass the buffer.
    whole = np.asarray(array, order="C")
    header, values = io.BytesIO(), whole.reshape(-1).view(np.uint8)
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(whole))
    file.write(header.getvalue())
    write_from(file, values)
    note_hash(file, np.frombuffer(header.getbuffer(), np.uint8), values)


def is_stack(shape: tuple[int, ...], kind: str) -> bool:
    """Whether a file's array is frames: (D, H, W), or (D, H, W, C) with C = 1, 3 or 4. Three axes whose last has 1, 3
    or 4 elements are an image (H, W, C), unless the caller requests the kind "stack"."""
    if kind not in ("", STACK.id) or 0 in shape:
        return False
    colours = shape[-1:] and shape[-1] in IMAGE_CHANNELS
    return bool(len(shape) == 4 and colours) or (len(shape) == 3 and (kind == STACK.id or not colours))


def check_stack(shape: tuple[int, ...], kind: str, name: str) -> None:
    """Raises InputError where the kind "stack" is requested and the shape does not suit it."""
    if kind == STACK.id and not is_stack(shape, kind):
        raise InputError(
            f"{name} has shape {plain(shape, 60)}, and a stack is (D, H, W) or (D, H, W, C) with C = 1, 3 or 4; "
            "leave the kind out."
        )


class Layout(NamedTuple):
    """The layout of the values in an NPY file: type and shape, whether the first axis varies fastest, and the offset of
    the first value in bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int


class ArrayStack:
    """A Stack of an NPY file. The file is opened for each frame and never mapped: a file that is truncated meanwhile is
    then an error, while a map would crash the process. Boolean frames become uint8 of 0 and 255."""

    def __init__(self, path: Path, name: str, layout: Layout) -> None:
        self._path, self._name, self._layout = path, name, layout
        self._block: tuple[int, Array] = (-1, np.empty(0))
        self.shape = layout.shape[1:]
        self.dtype = np.dtype(np.uint8) if layout.dtype == np.bool_ else layout.dtype.newbyteorder("=")
        self.facts = Facts(frames=layout.shape[0])
        self.steps: tuple[dict[str, Any], ...] = ()

    def read(self, frame: int) -> Array:
        stored = self._read_across(frame) if self._layout.fortran else self._read_along(frame)
        if stored.dtype == np.bool_:
            return stored.astype(np.uint8) * np.uint8(255)
        values: Array = stored.astype(self.dtype, copy=False)
        return values

    def _read_along(self, frame: int) -> Array:
        """A frame whose values are contiguous."""
        layout, values = self._layout, np.empty(self.shape, self._layout.dtype)
        with open(self._path, "rb") as file:
            file.seek(layout.offset + frame * values.nbytes)
            self._check(read_into(file, values.reshape(-1).view(np.uint8)), values.nbytes)
        return values

    def _read_across(self, frame: int) -> Array:
        """A frame whose values are strided by the number of frames: a pass through the whole file, which also keeps the
        frames around it for later requests."""
        count = max(1, min(self._layout.shape[0], BLOCK // (math.prod(self.shape) * self._layout.dtype.itemsize)))
        if self._block[0] != frame // count:
            self._block = frame // count, self._pass(frame // count * count, count)
        values: Array = self._block[1][frame % count].copy()
        return values

    def _pass(self, first: int, count: int) -> Array:
        """The frames from `first` on, at most `count`."""
        layout, frames = self._layout, self._layout.shape[0]
        pixels = math.prod(self.shape)
        found = np.empty((min(count, frames - first), pixels), layout.dtype)
        step = max(1, PASS // (frames * layout.dtype.itemsize))
        with open(self._path, "rb") as file:
            file.seek(layout.offset)
            for start in range(0, pixels, step):
                advance(start, pixels)
                piece = np.empty((min(step, pixels - start), frames), layout.dtype)
                flat = piece.reshape(-1).view(np.uint8)
                self._check(file.readinto(flat.data) or 0, flat.size)
                found[:, start : start + step] = piece[:, first : first + len(found)].T
        frames_found: Array = np.stack([values.reshape(self.shape, order="F") for values in found])
        return frames_found

    def _check(self, read: int, needed: int) -> None:
        if read < needed:
            raise InputError(f"{self._name} was cut short while it was read; copy or save it again.")
