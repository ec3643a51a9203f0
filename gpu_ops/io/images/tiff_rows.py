"""Reads rows of a TIFF page from the strips or tiles that contain them, without the rest of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import Array
from gpu_ops.progress import advance

Shaped = tuple[int, int, int, int, int]


def segment_rows(keyframe: Any) -> int:
    """Rows of a strip or a tile."""
    return int(keyframe.tilelength if keyframe.is_tiled else min(keyframe.rowsperstrip, keyframe.imagelength))


def segment_bytes(keyframe: Any, shaped: Shaped, dtype: np.dtype[Any]) -> int:
    """Bytes of one decoded strip, or of the row of tiles that covers the same rows."""
    return segment_rows(keyframe) * shaped[3] * shaped[4] * dtype.itemsize


def read_segments(
    page: Any,
    keyframe: Any,
    handle: Any,
    result: Array,
    start: int,
    check: Callable[[bytes], None],
    damaged: InputError,
) -> None:
    """Fill `result` (planes, 1, rows, width, samples) with the rows from `start` on. `page` and `keyframe` are those of
    tifffile, and `handle` is its open file; `check` gets the bytes of each segment before they are decoded. A segment
    without bytes is empty: its values are 0. Raises InputError for a segment of an unexpected size."""
    chosen = list(_touched(keyframe, result.shape, start))
    how: dict[str, Any] = {"_fullsize": keyframe.is_tiled}
    if int(keyframe.compression) in (6, 7, 34892, 33007):
        how |= {"jpegtables": page.jpegtables, "jpegheader": keyframe.jpegheader}
    for done, index in enumerate(chosen):
        advance(done, len(chosen))
        count = page.databytecounts[index]
        if not count:
            continue  # an empty one
        handle.seek(page.dataoffsets[index])
        data = handle.read(count)
        check(data)
        segment, (plane, _, first, column, _), _ = keyframe.decode(data, index, **how)
        if segment is None or segment.dtype != result.dtype:
            raise damaged
        _place(np.asarray(segment)[0], result[plane, 0], first - start, column)


def _touched(keyframe: Any, shape: tuple[int, ...], start: int) -> Iterator[int]:
    """The numbers of the segments that contain rows from `start` on, of all planes."""
    height, rows = segment_rows(keyframe), shape[2]
    down = -(-keyframe.imagelength // height)
    across = -(-keyframe.imagewidth // keyframe.tilewidth) if keyframe.is_tiled else 1
    for plane in range(shape[0]):
        for row in range(start // height, min(-(-(start + rows) // height), down)):
            first = (plane * down + row) * across
            yield from range(first, first + across)


def _place(segment: Array, target: Array, row: int, column: int) -> None:
    """Copy a segment (rows, columns, samples), whose row 0 is `row` of the target, as far as it is inside."""
    top, bottom = max(row, 0), min(row + len(segment), len(target))
    right = min(column + segment.shape[1], target.shape[1])
    target[top:bottom, column:right] = segment[top - row : bottom - row, : right - column]


def rows_place(offset: int, shaped: Shaped, itemsize: int, plane: int, start: int) -> int:
    """The offset in bytes of the rows of a plane in a file that has a page uncompressed and contiguous."""
    return offset + (plane * shaped[2] + start) * math.prod(shaped[3:]) * itemsize
