"""TIFF images and stacks of them, which are read page by page: the first frame costs no more than itself.

tifffile finds the pages, and decodes them with imagecodecs where that is installed; OpenCV takes the common
compressions where it is not. Values that lie in the file as they are come from there directly.
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

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io import pixel_size
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.memory import check_room, read_at
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.stacks import decode_stack
from gpu_ops.io.tiff_chain import check_chain
from gpu_ops.io.tiff_page import (
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
from gpu_ops.io.tiff_rows import read_segments, rows_place, segment_bytes
from gpu_ops.io.tiff_writer import TIFF_TYPES, TiffWriter, write_tiff
from gpu_ops.progress import advance
from gpu_ops.types import Facts, Pixel

__all__ = ["TIFF_TYPES", "TiffStack", "TiffWriter", "look_tiff", "open_tiff", "read_tiff", "write_tiff"]

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""Little and big byte order, with offsets of 4 and of 8 bytes."""


def read_tiff(opening: Opening) -> Decoded:
    """(H, W), (H, W, 3) or (H, W, 4) in the type that the file has: one frame, or a projection of all."""
    stack = open_tiff(opening)
    check_room(opening.name, math.prod(stack.shape) * stack.dtype.itemsize)
    return decode_stack(stack, opening)


def open_tiff(opening: Opening) -> TiffStack:
    """The frames of a TIFF. Raises InputError for a damaged file and for what cannot be decoded, OSError."""
    return TiffStack(opening.path, opening.name, opening.limit)


def look_tiff(opening: Opening) -> Survey:
    """Size, type, frames by their axes, compression and pixel size."""
    stack = open_tiff(opening)
    facts = [("size", f"{IMAGE.size_text(stack.shape, ' × ')}, {stack.dtype}")]
    if stack.facts.frames > 1:
        facts.append(("frames", f"{stack.facts.frames} ({stack.axes})" if stack.axes else f"{stack.facts.frames}"))
    if stack.others:
        facts.append(("other images", f"{stack.others} of another size or type, which are not read"))
    facts.append(("compression", stack.compression))
    if pixel := stack.facts.pixel:
        facts.append(("pixel", f"{pixel.x:g} × {pixel.y:g} {pixel.unit}"))
    return Survey("a TIFF image", tuple(facts), stack.facts.frames)


class TiffStack:
    """The frames of the first series of a TIFF: pages of one size and type in the order of their axes, such as time,
    depth, channel. `axes` says these in words, `others` counts the series that are left out.

    The file is open only while it is read. `read` raises InputError for a damaged frame.
    """

    def __init__(self, path: Path, name: str, limit: int) -> None:
        self._path, self._name = path, name
        self._damaged = InputError(f"{name} is a damaged TIFF file; copy or save it again.")
        self._size = path.stat().st_size
        check_chain(path, name, self._damaged)
        with codec(self._damaged):
            self._file = tifffile_library().TiffFile(path, _multifile=False)
        with self._opened(open=False), codec(self._damaged):
            self._series: Any = self._file.series[0]
            self._keyframe = keyframe = self._series.keyframe
            self.others = len(self._file.series) - 1
            self._pages = self._series.size // max(math.prod(keyframe.shaped), 1)
            leading = list(zip(self._series.axes, self._series.shape, strict=True))
            self.compression = "none" if int(keyframe.compression) == 1 else str(keyframe.compression.name)
            notes = (self._file.imagej_metadata if self._file.is_imagej else None) or {}
            said = int(notes.get("images", 1)) if self._series.kind != "imagej" else 1
            pixel, tags = self._find_pixel(str(notes.get("unit", ""))), read_tags(keyframe)
            present = len(self._file.pages)
        self._page = describe_page(keyframe, tags, name, self._damaged)
        check_limit(name, self._page.values, limit)
        self._decoder = find_decoder(keyframe, name)
        if self._pages < 1:
            raise self._damaged
        if present < said:
            raise InputError(f"{name} is cut short: it says {said} frames and has {present}; copy or save it again.")
        if self._series.dataoffset is not None:
            self._check_end(self._series.dataoffset + self._pages * self._page.values * self._page.dtype.itemsize)
        self.shape, self.dtype = self._page.form()
        self.steps = self._page.steps
        self.facts = Facts(self._pages * self._page.images, pixel)
        self.axes = ", ".join(f"{_AXES.get(axis, axis)} {n}" for axis, n in leading if axis in _AXES and n > 1)

    @contextmanager
    def _opened(self, open: bool = True) -> Iterator[None]:
        """Inside, tifffile's file is open."""
        if open:
            self._file.filehandle.open()
        try:
            yield
        finally:
            self._file.filehandle.close()

    def _find_pixel(self, unit: str) -> Pixel | None:
        """The size that OME's XML says, else the resolution tags, in ImageJ's unit where it has one."""
        if self._file.is_ome and (pixel := pixel_size.ome_pixel(str(self._file.ome_metadata))):
            return pixel
        return pixel_size.tag_pixel(self._keyframe, unit)

    def read(self, frame: int) -> Array:
        """One frame as `shape`, `dtype`; a map of the file, in its byte order, where that has the frame as it is."""
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
        """Why rows of a frame cannot be read alone, "" where they can."""
        if self._page.orientation > 1 or self._page.shaped[1] > 1:
            return "its rows are turned or lie in depth"
        return "its compression needs the library imagecodecs" if self._decoder != "tifffile" else ""

    @property
    def piece_bytes(self) -> int:
        """Bytes that are decoded at once, however few rows are wanted."""
        if self._is_plain:
            return 0
        return segment_bytes(self._keyframe, self._page.shaped, self._page.dtype)

    def read_rows(self, frame: int, start: int, stop: int) -> Array:
        """Some rows of one frame, as `read` gives them, read without the others where there is no `whole_reason`."""
        page, image = divmod(frame, self._page.images)
        found = self._page.image(self._read_page_rows(page, start, stop), image)
        return np.ascontiguousarray(found, self.dtype)

    def _read_page_rows(self, index: int, start: int, stop: int) -> Array:
        planes, depth, _, width, samples = shaped = self._page.shaped
        keyframe, offset, dtype = self._keyframe, self._series.dataoffset, self._page.dtype
        result = np.zeros((planes, depth, stop - start, width, samples), dtype)
        with self._opened():
            with codec(self._damaged):
                page = self._series.pages[index]
            if page is None:
                raise InputError(f"{self._name} keeps page {index} in another file, which cannot be read.")
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
        """Raises InputError for a strip or tile that would grow beyond its size: see `_check_growth`."""
        kind = int(self._keyframe.compression)
        if has_imagecodecs() or kind not in (*DEFLATES, LZMA):
            return
        if _grows(data, kind, self._most_of_a_piece, self._damaged):
            raise self._damaged

    @property
    def _is_plain(self) -> bool:
        """Whether the file holds the values of a page as they are, one after the other."""
        return bool(self._keyframe.is_contiguous and self._keyframe.fillorder == 1 and self._keyframe.predictor == 1)

    @property
    def _most_of_a_piece(self) -> int:
        """The most bytes that a strip or tile may become."""
        keyframe = self._keyframe
        segment = math.prod(keyframe.tile) if keyframe.is_tiled else keyframe.rowsperstrip * keyframe.imagewidth
        values = min(segment * max(self._page.shaped[4], 1), max(self._page.values, segment))
        return int(values * self._page.dtype.itemsize)

    def _read_page(self, index: int) -> Array:
        """The stored values of a page as its `shaped`."""
        keyframe, start, plain = self._keyframe, self._series.dataoffset, self._is_plain
        bytes_each = self._page.values * self._page.dtype.itemsize
        if plain and start is not None:
            return self._read_plain(start + index * bytes_each)
        with self._opened():
            with codec(self._damaged):
                page = self._series.pages[index]
            if page is None:
                raise InputError(f"{self._name} keeps page {index} in another file, which cannot be read.")
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

    def _read_plain(self, offset: int) -> Array:
        """A map of values that the file holds as they are."""
        page, stored = self._page, self._page.dtype.newbyteorder(self._file.byteorder)
        self._check_end(offset + page.values * stored.itemsize)
        return np.memmap(self._path, stored, "r", offset, page.shaped)

    def _check_end(self, end: int) -> None:
        if end > self._size:
            missing = end - self._size
            raise InputError(f"{self._name} is cut short: {missing} bytes are missing; copy or save it again.")

    def _check_growth(self, page: Any) -> None:
        """Raises InputError for data that would grow beyond its page: only imagecodecs stops there by itself."""
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
        """A page that tifffile misses a library for; OpenCV turns it upright, which is undone."""
        import cv2

        shaped, damaged = self._page.shaped, self._damaged
        with codec(damaged):
            found, images = cv2.imreadmulti(
                os.fspath(self._path), start=page.index, count=1, flags=cv2.IMREAD_UNCHANGED
            )
        if not found or len(images) != 1 or images[0].dtype != self._page.dtype:
            raise damaged
        values = _lay_back(np.asarray(images[0]), self._page)
        if values.shape[:2] != shaped[2:4] or values.size != self._page.values:
            raise damaged
        return values[..., ::-1].reshape(shaped) if shaped[4] == 3 else values.reshape(shaped)


_AXES = {"T": "time", "Z": "depth", "C": "channel", "S": "sample", "R": "row", "L": "exposure", "P": "place"}


def _lay_back(upright: Array, page: TiffPage) -> Array:
    """The picture as the file stores it, of one that is upright."""
    stored = upright
    if page.orientation in (3, 4, 7, 8):
        stored = stored[::-1]
    if page.orientation in (2, 3, 6, 7):
        stored = stored[:, ::-1]
    return stored.swapaxes(0, 1) if page.orientation >= 5 else stored


def _grows(data: bytes, compression: int, most: int, damaged: InputError) -> bool:
    """Whether compressed bytes become more than `most` bytes."""
    with codec(damaged):
        if compression == LZMA:
            return len(lzma.LZMADecompressor().decompress(data, most + 1)) > most
        return len(zlib.decompressobj().decompress(data, most + 1)) > most
