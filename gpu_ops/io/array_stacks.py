"""NPY files of three or four axes as stacks: one frame is read at a time, whatever the file's size and order."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import IMAGE_CHANNELS, STACK
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import read_into
from gpu_ops.progress import advance
from gpu_ops.types import Facts

BLOCK = 1 << 26
"""Bytes of neighbouring frames that one pass through a file in Fortran order takes along."""
PASS = 1 << 24
"""Bytes of such a pass at a time."""


def is_stack(shape: tuple[int, ...], kind: str) -> bool:
    """Whether a file's array is frames: (D, H, W), or (D, H, W, C) with C = 1, 3 or 4. Three axes whose last has 1, 3
    or 4 elements are an image (H, W, C), unless the caller asks for the kind "stack"."""
    if kind not in ("", STACK.id) or 0 in shape:
        return False
    colours = shape[-1:] and shape[-1] in IMAGE_CHANNELS
    return bool(len(shape) == 4 and colours) or (len(shape) == 3 and (kind == STACK.id or not colours))


def check_stack(shape: tuple[int, ...], kind: str, name: str) -> None:
    """Raises InputError where the kind "stack" is asked for and the shape is none."""
    if kind == STACK.id and not is_stack(shape, kind):
        raise InputError(
            f"{name} has shape {plain(shape, 60)}, and a stack is (D, H, W) or (D, H, W, C) with C = 1, 3 or 4; "
            "leave the kind out."
        )


class Layout(NamedTuple):
    """Where an NPY file has its values: their type and shape, whether the first axis varies fastest, and the offset of
    the first one in bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int


class ArrayStack:
    """A Stack of an NPY file. The file is opened for each frame and never mapped: a file that is cut short meanwhile is
    an error then, where a map would end the process. Boolean frames become uint8 of 0 and 255."""

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
        """A frame whose values lie together."""
        layout, values = self._layout, np.empty(self.shape, self._layout.dtype)
        with open(self._path, "rb") as file:
            file.seek(layout.offset + frame * values.nbytes)
            self._check(read_into(file, values.reshape(-1).view(np.uint8)), values.nbytes)
        return values

    def _read_across(self, frame: int) -> Array:
        """A frame whose values lie as far apart as there are frames: a pass through the whole file, which keeps the
        frames around it for the next ones."""
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
