"""Files that get the frames of a stack one after the other, so that no more than one of them is in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.frame_axes import imagej_lines
from gpu_ops.io.inputs import Array
from gpu_ops.io.notes import lines_of
from gpu_ops.io.pieces import write_from
from gpu_ops.io.tiff_writer import TiffWriter, resolution
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.types import FrameAxes, Pixel

UNKNOWN = FrameAxes()
TIFF = ".tif"


class FrameFile(Protocol):
    """Gets frames of one shape and type in order. A file that got fewer than it was made for is damaged."""

    def write(self, frame: Array) -> None: ...


def check_frame_file(path: str | os.PathLike[str], kind: ViewKind) -> None:
    """Raises InputError for a name whose ending cannot hold a stack of outputs of this kind."""
    allowed = OUTPUT_KINDS[kind].stack_formats
    if Path(path).suffix.lower() not in allowed:
        raise InputError(
            f"{plain(os.fspath(path))} cannot hold a stack of results, each {OUTPUT_KINDS[kind].title}; choose a name "
            f"that ends in {' or '.join(allowed)}."
        )


def begin_frames(
    file: IO[bytes],
    path: str | os.PathLike[str],
    first: Array,
    count: int,
    pixel: Pixel | None,
    about: Mapping[str, Any],
    axes: FrameAxes = UNKNOWN,
) -> FrameFile:
    """A file of `count` frames like the `first`, in the format of the path's ending: (D, …) as NPY, or pages of a TIFF
    with the size of a `pixel`, the `axes` along which they lie and the facts `about` them. Raises InputError for what a
    TIFF cannot hold, OSError."""
    if Path(path).suffix.lower() == TIFF:
        pixel = pixel if resolution(pixel) else None  # no unit where the file has no size in it
        note = "\n".join((*imagej_lines(axes, count, pixel), *lines_of(about)))
        return TiffWriter(file, first.shape, first.dtype, count, plain(os.fspath(path)), pixel, note)
    return _NpyFrames(file, first, count)


class _NpyFrames:
    def __init__(self, file: IO[bytes], first: Array, count: int) -> None:
        self._file = file
        header: dict[str, Any] = np.lib.format.header_data_from_array_1_0(first)
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (count, *first.shape)})

    def write(self, frame: Array) -> None:
        write_from(self._file, frame.reshape(-1).view(np.uint8))
