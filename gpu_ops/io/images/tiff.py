"""TIFF images and stacks of them, which are read page by page: the first frame does not wait for the others.

tifffile finds the pages, and decodes them with imagecodecs if that is installed; otherwise OpenCV decodes the common
compressions. Uncompressed values are read from the file directly.
"""

from __future__ import annotations

import lzma
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.codec import codec
from gpu_ops.io.images import frame_axes, pixel_size
from gpu_ops.io.images.tiff_chain import check_chain
from gpu_ops.io.images.tiff_page import (
    DEFLATES,
    LZMA,
    TiffPage,
    check_segments,
    describe_page,
    find_decoder,
    has_imagecodecs,
    read_tags,
    tifffile_library,
)
from gpu_ops.io.images.tiff_rows import read_segments, rows_place, segment_bytes
from gpu_ops.io.images.tiff_series import (
    Frames,
    elsewhere,
    files_of_set,
    find_frames,
    main_series,
    missing_of,
    series_words,
)
from gpu_ops.io.images.tiff_writer import TIFF_TYPES, write_tiff
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.memory import check_memory, read_at
from gpu_ops.io.opening import SERIES, Decoded, Opening, Survey, note
from gpu_ops.io.stacks import decode_stack
from gpu_ops.progress import advance
from gpu_ops.types import Facts, Pixel

__all__ = ["TIFF_TYPES", "TiffStack", "look_tiff", "open_tiff", "read_tiff", "write_tiff"]

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""Little and big endian, with offsets of 4 and of 8 bytes."""
MOST_SERIES = 8
"""The most series that a survey describes."""


def read_tiff(opening: Opening) -> Decoded:
    """(H, W), (H, W, 3) or (H, W, 4) in the type that the file has: one frame, or a projection of all."""
    stack = open_tiff(opening)
    check_memory(opening.name, math.prod(stack.shape) * stack.dtype.itemsize)
    return decode_stack(stack, opening)


def open_tiff(opening: Opening) -> TiffStack:
    """The frames of a TIFF. Raises InputError for a damaged file and for what cannot be decoded, OSError."""
    return TiffStack(opening.path, opening.name, opening.limit, int(opening.choices.get(SERIES.name, -1)))


def look_tiff(opening: Opening) -> Survey:
    """Size, type, frames by their axes, compression and pixel size."""
    stack = open_tiff(opening)
    facts = [("size", f"{IMAGE.size_text(stack.shape, ' × ')}, {stack.dtype}")]
    if stack.facts.frames > 1:
        facts.append(("frames", f"{stack.facts.frames} ({stack.axes})" if stack.axes else f"{stack.facts.frames}"))
    several = {SERIES.name: tuple(range(len(stack.series)))} if len(stack.series) > 1 else {}
    if several:
        facts += [(f"series {number}", words) for number, words in enumerate(stack.series[:MOST_SERIES])]
    facts += frame_axes.step_facts(stack.facts.frame_axes)
    facts += [("compression", stack.compression), *(("note", words) for words in stack.notes)]
    if pixel := stack.facts.pixel:
        facts.append(("pixel", f"{pixel.x:g} × {pixel.y:g} {pixel.unit}"))
    return Survey("a TIFF image", tuple(facts), stack.facts.frames, several, {name: stack.chosen for name in several})


class TiffStack:
    """The frames of one series of a TIFF: pages of one size and type in the order of their axes, such as time, depth,
    channel. `axes` describes these in words, `series` describes all series, of which `chosen` is this one: the main
    one, or the `wanted` one. `notes` are sentences about deviations from the file's metadata. With `alone` the file is
    read page by page, as if it did not belong to a set.

    The file is open only while it is read. `read` raises InputError for a damaged frame.
    """

    def __init__(self, path: Path, name: str, limit: int, wanted: int = -1, alone: bool = False) -> None:
        self._path, self._name, self._limit, self._alone = path, name, limit, alone
        self._others: dict[Path, TiffStack] = {}
        self.notes: tuple[str, ...] = ()
        self._damaged = InputError(f"{name} is a damaged TIFF file; copy or save it again.")
        self._size = path.stat().st_size
        check_chain(path, name, self._damaged)
        with codec(self._damaged):
            self._file = tifffile_library().TiffFile(path, _multifile=False)
        with self._opened(open=False):
            self._find_series(wanted)
            keyframe = self._keyframe
            with codec(self._damaged):
                leading = list(zip(self._series.axes, self._series.shape, strict=True))
                self.compression = "none" if int(keyframe.compression) == 1 else str(keyframe.compression.name)
                notes = (self._file.imagej_metadata if self._file.is_imagej else None) or {}
                pixel, tags = self._find_pixel(str(notes.get("unit", ""))), read_tags(keyframe)
                xml = str(self._file.ome_metadata or "") if self._file.is_ome else ""
                steps = frame_axes.imagej_steps(notes) if notes else frame_axes.ome_steps(xml)
        self._page = describe_page(keyframe, tags, name, self._damaged)
        check_limit(name, self._page.values, limit)
        self._decoder = find_decoder(keyframe, name)
        pages, self._offset, _ = self._frames
        if pages < 1:
            raise self._damaged
        if self._offset is not None:
            self._check_end(self._offset + pages * self._page.values * self._page.dtype.itemsize)
        self.shape, self.dtype = self._page.form()
        self.steps = (*self._page.steps, *map(note, self.notes))
        frames = pages * self._page.images
        self.facts = Facts(frames, pixel, frame_axes=frame_axes.of_series(leading, frames, steps))
        self.axes = ", ".join(f"{_AXES.get(axis, axis)} {n}" for axis, n in leading if axis in _AXES and n > 1)

    def _find_series(self, wanted: int) -> None:
        """Choose a series and find its frames; the file is open. Raises InputError, ParamError."""
        with codec(self._damaged):
            xml = str(self._file.ome_metadata or "") if self._file.is_ome and not self._alone else ""
        others = files_of_set(xml, self._path, self._name)
        missing = missing_of(self._path, others)
        with codec(self._damaged):
            self._file._multifile = bool(others)
            series = self._file.series
            self.series = tuple(map(series_words, series))
            main = main_series(series)
        if wanted >= len(series):
            what = f"{self._name} has {len(series)} series of frames"
            raise ParamError(f"{what}; choose one from 0 to {len(series) - 1}, not {wanted}.")
        self.chosen = main if wanted < 0 else wanted
        self._series: Any = series[self.chosen]
        self._keyframe = self._series.keyframe
        if self._alone:
            self._frames = Frames(len(self._file.pages), None)
            return
        self._frames = find_frames(self._file, self._series, self._size, missing, self._damaged)
        self.notes = (*self._frames.notes, *filter(None, (elsewhere(xml),)))

    @contextmanager
    def _opened(self, open: bool = True) -> Iterator[None]:
        """Inside the block, tifffile's file is open."""
        if open:
            self._file.filehandle.open()
        try:
            yield
        finally:
            self._file.filehandle.close()

    def _find_pixel(self, unit: str) -> Pixel | None:
        """The size in OME's XML, else in the resolution tags, in ImageJ's unit if there is one."""
        if self._file.is_ome and (pixel := pixel_size.ome_pixel(str(self._file.ome_metadata))):
            return pixel
        return pixel_size.tag_pixel(self._keyframe, unit)

    def read(self, frame: int) -> Array:
        """One frame as `shape`, `dtype`; a map of the file, in its byte order, where the frame is stored
        uncompressed."""
        page, image = divmod(frame, self._page.images)
        values = self._read_page(page)
        try:
            found = self._page.image(values, image)
        except IndexError:
            raise self._damaged from None
        whole = isinstance(found, np.memmap) and found.flags.c_contiguous
        return found if whole else np.ascontiguousarray(found, self.dtype)

    @property
    def whole_reason(self) -> str:
        """Why rows of a frame cannot be read separately, "" where they can."""
        if self._page.orientation > 1 or self._page.shaped[1] > 1:
            return "its rows are rotated or along depth"
        return "its compression needs the library imagecodecs" if self._decoder != "tifffile" else ""

    @property
    def piece_bytes(self) -> int:
        """Bytes that are decoded at once, however few rows are requested."""
        if self._is_plain:
            return 0
        return segment_bytes(self._keyframe, self._page.shaped, self._page.dtype)

    def read_rows(self, frame: int, start: int, stop: int) -> Array:
        """Some rows of one frame, as in `read`; the other rows are not read unless there is a `whole_reason`."""
        page, image = divmod(frame, self._page.images)
        found = self._page.image(self._read_page_rows(page, start, stop), image)
        return np.ascontiguousarray(found, self.dtype)

    def _read_page_rows(self, index: int, start: int, stop: int) -> Array:
        planes, depth, _, width, samples = shaped = self._page.shaped
        keyframe, offset, dtype = self._keyframe, self._offset, self._page.dtype
        result = np.zeros((planes, depth, stop - start, width, samples), dtype)
        with self._opened():
            page = self._find_page(index)
            if page is None:
                return result
            if page.parent is not self._file:
                return self._read_elsewhere(page)[:, :, start:stop]
            if offset is None or not self._is_plain:
                check_segments(page, keyframe, self._size, self._name, self._damaged)
                offset = page.dataoffsets[0]
            else:
                offset += index * self._page.values * dtype.itemsize
            if not self._is_plain:
                with codec(self._damaged):
                    handle = self._file.filehandle
                    read_segments(page, keyframe, handle, result, start, self._check_piece, self._damaged)
                return result
        stored = dtype.newbyteorder(self._file.byteorder)
        for plane in range(planes):
            place = rows_place(offset, shaped, dtype.itemsize, plane, start)
            result[plane, 0] = read_at(self._path, self._name, place, result.shape[2:], stored)
        return result

    def _check_piece(self, data: bytes) -> None:
        """Raises InputError for a strip or tile that would decode to more than its size: see `_check_growth`."""
        kind = int(self._keyframe.compression)
        if has_imagecodecs() or kind not in (*DEFLATES, LZMA):
            return
        if _grows(data, kind, self._most_of_a_piece, self._damaged):
            raise self._damaged

    @property
    def _is_plain(self) -> bool:
        """Whether the file has the values of a page uncompressed and contiguous."""
        return bool(self._keyframe.is_contiguous and self._keyframe.fillorder == 1 and self._keyframe.predictor == 1)

    @property
    def _most_of_a_piece(self) -> int:
        """The maximum number of bytes of a decoded strip or tile."""
        keyframe = self._keyframe
        segment = math.prod(keyframe.tile) if keyframe.is_tiled else keyframe.rowsperstrip * keyframe.imagewidth
        values = min(segment * max(self._page.shaped[4], 1), max(self._page.values, segment))
        return int(values * self._page.dtype.itemsize)

    def _read_page(self, index: int) -> Array:
        """The stored values of a page in its form `shaped`."""
        keyframe, start, plain = self._keyframe, self._offset, self._is_plain
        bytes_each = self._page.values * self._page.dtype.itemsize
        if plain and start is not None:
            return self._read_plain(start + index * bytes_each)
        with self._opened():
            page = self._find_page(index)
            if page is None:
                return np.zeros(self._page.shaped, self._page.dtype)
            if page.parent is not self._file:
                return self._read_elsewhere(page)
            check_segments(page, keyframe, self._size, self._name, self._damaged)
            if plain:
                return self._read_plain(page.dataoffsets[0])
            if self._decoder == "opencv":
                return self._decode_opencv(page)
            self._check_growth(page)
            with codec(self._damaged):
                values = page.asarray(squeeze=False)
        if values.shape != self._page.shaped or values.dtype != self._page.dtype:
            raise self._damaged
        return np.asarray(values)

    def _find_page(self, index: int) -> Any:
        """A page of tifffile; None for one that is missing. The file is open."""
        with codec(self._damaged):
            listed = index < len(self._series.pages) and self._offset == self._series.dataoffset
            return self._series.pages[index] if listed else self._file.pages[index]

    def _read_elsewhere(self, page: Any) -> Array:
        """The stored values of a page of another file of the set."""
        path = self._path.with_name(page.parent.filename)
        if path not in self._others:
            self._others[path] = TiffStack(path, plain(path), self._limit, alone=True)
        other = self._others[path]
        if (other._page.shaped, other._page.dtype) != (self._page.shaped, self._page.dtype):
            raise InputError(
                f"{other._name} and {self._name} are files of one set, and their frames are of different sizes or "
                "types; save each set as one file."
            )
        return np.array(other._read_page(page.index))  # a map would be taken for one of this file

    def _read_plain(self, offset: int) -> Array:
        """A map of values that the file has uncompressed."""
        page, stored = self._page, self._page.dtype.newbyteorder(self._file.byteorder)
        self._check_end(offset + page.values * stored.itemsize)
        return np.memmap(self._path, stored, "r", offset, page.shaped)

    def _check_end(self, end: int) -> None:
        if end > self._size:
            missing = end - self._size
            raise InputError(f"{self._name} is cut short: {missing:,} bytes are missing; copy or save it again.")

    def _check_growth(self, page: Any) -> None:
        """Raises InputError for data that would decode to more than their page: only imagecodecs stops there by
        itself."""
        kind = int(self._keyframe.compression)
        if has_imagecodecs() or kind not in (*DEFLATES, LZMA):
            return
        most = self._most_of_a_piece
        with open(self._path, "rb") as file:
            for i, (offset, count) in enumerate(zip(page.dataoffsets, page.databytecounts, strict=False)):
                advance(i, len(page.dataoffsets))
                file.seek(offset)
                if count and _grows(file.read(count), kind, most, self._damaged):
                    raise self._damaged

    def _decode_opencv(self, page: Any) -> Array:
        """A page that tifffile lacks a library for; OpenCV rotates it upright, which is undone."""
        import cv2

        shaped, damaged = self._page.shaped, self._damaged
        with codec(damaged):
            found, images = cv2.imreadmulti(
                os.fspath(self._path), start=page.index, count=1, flags=cv2.IMREAD_UNCHANGED
            )
        if not found or len(images) != 1 or images[0].dtype != self._page.dtype:
            raise damaged
        values = _to_file_orientation(np.asarray(images[0]), self._page)
        if values.shape[:2] != shaped[2:4] or values.size != self._page.values:
            raise damaged
        return values[..., ::-1].reshape(shaped) if shaped[4] == 3 else values.reshape(shaped)


_AXES = {"T": "time", "Z": "depth", "C": "channel", "S": "sample", "R": "row", "L": "exposure", "P": "place"}


def _to_file_orientation(upright: Array, page: TiffPage) -> Array:
    """The picture in the orientation of the file, from an upright one."""
    stored = upright
    if page.orientation in (3, 4, 7, 8):
        stored = stored[::-1]
    if page.orientation in (2, 3, 6, 7):
        stored = stored[:, ::-1]
    return stored.swapaxes(0, 1) if page.orientation >= 5 else stored


def _grows(data: bytes, compression: int, most: int, damaged: InputError) -> bool:
    """Whether compressed bytes decode to more than `most` bytes."""
    with codec(damaged):
        if compression == LZMA:
            return len(lzma.LZMADecompressor().decompress(data, most + 1)) > most
        return len(zlib.decompressobj().decompress(data, most + 1)) > most
