"""The tags of a TIFF's first page about its values, and their conversion to an image."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.images import stored
from gpu_ops.io.images.orientation import TAG, turn_upright
from gpu_ops.io.inputs import Array

WHITE_ZERO, BLACK_ZERO, RGB, PALETTE, SEPARATED, YCBCR = 0, 1, 2, 3, 5, 6
UNREAD = {8: "CIE L*a*b*", 9: "ICC L*a*b*", 10: "ITU L*a*b*", 32844: "LogL", 32845: "LogLuv"}
"""Photometric interpretations that are neither gray nor RGB, and that no reader here converts."""
JPEGS = (6, 7)
DEFLATES = (8, 32946)
LZMA = 34925
LZW, JPEG, PACKBITS = 5, 7, 32773
DECODED_BY_TIFFFILE = (1, PACKBITS, *DEFLATES, LZMA)
"""Compressions that tifffile decodes by itself."""
GROWTH = {1: 1, LZW: 4096, **dict.fromkeys(DEFLATES, 1032), PACKBITS: 64}
"""By compression number, the most bytes that one stored byte can decode to; others have no such bound."""
ALPHAS = (1, 2)
TILE_VALUES = 1 << 24
"""A tile may be larger than a small picture, up to this many values."""
EXTRA = "install the extra kernelscope[formats]"


@dataclass(frozen=True)
class TiffPage:
    """The form of a page: `shaped` is (planes, depth, height, width, samples), where either planes or samples is 1, and
    `dtype` that of the stored values. `colours` is the palette (N, 3)."""

    shaped: tuple[int, int, int, int, int]
    dtype: np.dtype[Any]
    photometric: int
    bits: int
    orientation: int
    alpha: bool
    colours: Array | None

    @property
    def values(self) -> int:
        return math.prod(self.shaped)

    @property
    def samples(self) -> int:
        return self.shaped[0] * self.shaped[4]

    @property
    def frames_per_plane(self) -> int:
        """How many of its samples are separate frames: all if they are neither gray nor colour."""
        return self.samples if self.samples > 4 or (self.samples == 2 and not self.alpha) else 1

    @property
    def images(self) -> int:
        """The number of images in the page: one for each plane of its depth, and for each sample that is a frame."""
        return self.shaped[1] * self.frames_per_plane

    def image(self, values: Array, index: int) -> Array:
        """One of its images, upright, from its values in the form `shaped`. Raises IndexError for a missing palette
        colour."""
        plane = np.moveaxis(values[:, index // self.frames_per_plane], 0, 2)  # (height, width, planes, samples)
        plane = plane.reshape(*plane.shape[:2], self.samples)
        if self.samples == 1 or self.frames_per_plane > 1:
            plane = plane[..., index % self.frames_per_plane]
        return turn_upright(self._convert(plane), self.orientation)

    def _convert(self, plane: Array) -> Array:
        if self.photometric == PALETTE and self.colours is not None:
            return stored.apply_palette(plane.astype(np.uint16), self.colours)
        if self.photometric == SEPARATED:
            return stored.from_cmyk(plane)
        if plane.dtype == np.bool_:
            plane = plane.astype(np.uint8) * np.uint8(255)
        if self._inverts:
            plane = stored.from_white_zero(plane, max(self.bits, 8))
        return stored.from_gray_alpha(plane) if self.alpha and self.samples == 2 else plane

    @property
    def _inverts(self) -> bool:
        return self.photometric == WHITE_ZERO and self.dtype.kind in "bu" and self.samples == 1

    @property
    def steps(self) -> tuple[dict[str, Any], ...]:
        """The steps from the stored values to an image."""
        found: list[dict[str, Any]] = []
        if self.photometric == PALETTE:
            found.append(stored.PALETTE)
        elif self.dtype == np.bool_:
            found.append(stored.stretch_step(1))
        if self.photometric == SEPARATED:
            found.append(stored.CMYK)
        if self._inverts:
            found.append(stored.WHITE_ZERO)
        if self.alpha and self.samples == 2:
            found.append(stored.GRAY_ALPHA)
        return (*found, *(({"step": "upright", "orientation": self.orientation},) if self.orientation > 1 else ()))

    def form(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of an image, by an example of one pixel."""
        corner = self.image(np.zeros((self.shaped[0], 1, 1, 1, self.shaped[4]), self.dtype), 0)
        height, width = self.shaped[2:4] if self.orientation < 5 else self.shaped[3:1:-1]
        return (height, width, *corner.shape[2:]), corner.dtype


def tifffile_library() -> Any:
    """tifffile, without its log lines: errors are reported here."""
    import tifffile

    tifffile.logger().addHandler(logging.NullHandler())
    return tifffile


class Tags(NamedTuple):
    """The tags of a page that tifffile reads on demand."""

    orientation: object
    colormap: object
    format: int
    segments: int


def read_tags(page: Any) -> Tags:
    """The tags of a page of tifffile, whose file is open; within `codec`."""
    colormap = page.colormap if int(page.photometric) == PALETTE else None
    return Tags(page.tags.valueof(TAG, 1), colormap, int(page.sampleformat), math.prod(page.chunked))


def describe_page(page: Any, tags: Tags, name: str, damaged: InputError) -> TiffPage:
    """The form of a page of tifffile. Raises InputError for values that cannot become an image."""
    dtype, shaped = page.dtype, tuple(int(n) for n in page.shaped)
    bits = page.bitspersample if isinstance(page.bitspersample, int) else 0
    if dtype is None or dtype.kind not in "biuf" or not bits:
        raise InputError(
            f"{name} holds samples of {plain(page.bitspersample, 20)} bits in format {tags.format}, which cannot be "
            "read; save it with 8, 16 or 32-bit integers or floats."
        )
    if len(shaped) != 5 or 0 in shaped:
        raise damaged
    photometric, samples = int(page.photometric), shaped[0] * shaped[4]
    alpha = tuple(page.extrasamples)[-1:] in tuple((kind,) for kind in ALPHAS)
    upright = tags.orientation if isinstance(tags.orientation, int) and 1 <= tags.orientation <= 8 else 1
    colours = None if tags.colormap is None else _find_colours(np.asarray(tags.colormap), damaged)
    result = TiffPage(shaped, np.dtype(dtype), photometric, bits, upright, alpha, colours)
    _check_meaning(result, int(page.compression), name)
    if photometric == PALETTE and (samples != 1 or result.colours is None or dtype.kind not in "bu" or bits > 16):
        raise damaged
    return result


def _check_meaning(page: TiffPage, compression: int, name: str) -> None:
    """Raises InputError for colour spaces that are not converted here."""
    colours = UNREAD.get(page.photometric, "")
    if page.photometric == YCBCR and compression not in JPEGS:
        colours = "YCbCr without JPEG compression"
    if page.photometric == SEPARATED and (page.samples != 4 or page.dtype.name not in ("uint8", "uint16")):
        colours = f"{page.samples} printing inks of {page.dtype}"
    if colours:
        raise InputError(f"{name} holds {colours}, which cannot be converted; save it as gray or RGB.")


def _find_colours(colours: Array, damaged: InputError) -> Array:
    """The palette (N, 3) of a tag (3, N): uint8 where all its 16-bit numbers are those of 8 bits, else uint16."""
    if colours.dtype != np.uint16 or colours.ndim != 2 or colours.shape[0] != 3:
        raise damaged
    narrow = (colours % 257 == 0).all() or (colours % 256 == 0).all()
    return np.ascontiguousarray((colours >> 8).astype(np.uint8).T if narrow else colours.T)


def find_decoder(page: Any, name: str) -> str:
    """The decoder of a page of tifffile: "tifffile", or "opencv" where a library that tifffile needs is missing. Raises
    InputError where neither can decode it."""
    if not _lacks(page):
        return "tifffile"
    simple = int(page.photometric) in (BLACK_ZERO, RGB) or int(page.compression) in JPEGS
    form = (page.shaped[4], page.planarconfig in (1, None))
    if _opencv_reads(int(page.compression)) and simple and form in ((1, True), (3, True)) and page.bitspersample >= 8:
        return "opencv"
    kind = getattr(page.compression, "name", str(page.compression))
    what = f"the compression {kind}" if int(page.compression) != 1 else f"samples of {page.bitspersample} bits"
    raise InputError(f"{name} has {what}, which needs the library imagecodecs; {EXTRA}, or save it uncompressed.")


def _opencv_reads(compression: int) -> bool:
    return compression in (1, LZW, JPEG, PACKBITS, *DEFLATES)


def _lacks(page: Any) -> bool:
    """Whether tifffile lacks a library for this page: without one it decodes only the simplest compressions."""
    if has_imagecodecs():
        return False
    by_tifffile = int(page.compression) in DECODED_BY_TIFFFILE and page.predictor in (1, 2)
    return not by_tifffile or page.bitspersample not in (1, 8, 16, 32, 64)


def has_imagecodecs() -> bool:
    """Whether imagecodecs is installed, which decodes the compressions that tifffile alone cannot."""
    try:
        import imagecodecs  # noqa: F401
    except ImportError:
        return False
    return True


def check_segments(page: Any, keyframe: Any, size: int, name: str, damaged: InputError) -> None:
    """Raises InputError unless the data of a page are within a file of `size` bytes and are enough for its values. A
    tile without bytes is an empty one, as mapping programs write it."""
    number, form = math.prod(keyframe.chunked), tuple(int(n) for n in keyframe.shaped)
    if keyframe.is_tiled and math.prod(keyframe.tile) * form[4] > max(math.prod(form), TILE_VALUES):
        raise damaged
    offsets, counts = page.dataoffsets, page.databytecounts
    if len(offsets) < number or len(counts) < number:
        raise damaged
    pairs = list(zip(offsets[:number], counts[:number], strict=True))
    missing = max((offset + count for offset, count in pairs), default=0) - size
    if missing > 0:
        raise InputError(f"{name} is cut short: {missing:,} bytes are missing; copy or save it again.")
    empty = sum(count == 0 for _, count in pairs)
    if empty and not (keyframe.is_tiled and empty < number):
        raise damaged
    growth = GROWTH.get(int(keyframe.compression))
    stored_bytes = sum(counts[:number])
    if growth and not empty and stored_bytes * growth < math.prod(form) * int(keyframe.bitspersample) // 8:
        words = f"{stored_bytes:,} bytes cannot hold {form[3]} × {form[2]} pixels"
        raise InputError(f"{name} is cut short: {words}; copy or save it again.")
