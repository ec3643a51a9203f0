"""A folder of images as a stack: its frames are the images in it, in the natural order of their names unless their
headers give another order."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array
from gpu_ops.io.opening import Decoded
from gpu_ops.progress import advance
from gpu_ops.types import Facts, FrameAxes

Decode = Callable[[Path], Decoded]
EXIF_ORIENTATION, LYING = 0x0112, range(5, 9)
"""The tag of a picture's orientation, and its values for pictures that are rotated by 90 degrees."""


def natural(name: str) -> tuple[Any, ...]:
    """A key that sorts "frame 2" before "frame 10"."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in re.split(r"(\d+)", name))


def frames_of(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The images of a folder by their suffixes, in natural order, without hidden files. Raises OSError."""
    with os.scandir(folder) as entries:
        names = [
            e.name
            for e in entries
            if not e.name.startswith(".") and Path(e.name).suffix.lower() in suffixes and e.is_file()
        ]
    return [folder / name for name in sorted(names, key=lambda name: (natural(name), name))]


class FolderStack:
    """A Stack of the images `files`, which `decode` reads; `steps` record how they were ordered, and `distance` is that
    of neighbouring planes in millimetres, 0 where unknown.

    Raises InputError that names the first two images of different sizes; their types are known only when they are read.
    """

    def __init__(
        self,
        files: Sequence[Path],
        name: str,
        decode: Decode,
        suffixes: Collection[str],
        steps: tuple[dict[str, Any], ...] = (),
        distance: float = 0.0,
    ) -> None:
        if not files:
            raise InputError(
                f"{name} is a folder without images; name a file in it, or a folder of images that end in "
                f"{' '.join(suffixes)}."
            )
        self._files, self._decode = tuple(files), decode
        _check_sizes(files)
        first = decode(files[0])
        self.shape, self.dtype, self.steps = first.array.shape, first.array.dtype, (*steps, *first.steps)
        self._check(0, first)
        self._first: Array | None = first.array
        axes = FrameAxes("Z", (len(files),), distance=distance) if distance and len(files) > 1 else FrameAxes()
        self.facts = Facts(len(files), first.facts.pixel, frame_axes=axes)

    def read(self, frame: int) -> Array:
        if frame == 0 and self._first is not None:
            array, self._first = self._first, None  # the caller may change it
            return array
        decoded = self._decode(self._files[frame])
        self._check(frame, decoded)
        return decoded.array

    def _check(self, frame: int, decoded: Decoded) -> None:
        """Raises InputError for an image whose form differs from the first one's, or for a file that is not an
        image."""
        array, name = decoded.array, plain(self._files[frame])
        if array.ndim not in (2, 3) or decoded.facts.frames != 1:
            what = "a stack itself" if decoded.facts.frames != 1 else "no image"
            raise InputError(f"{name} is {what}; a folder of frames holds one image per file: move it elsewhere.")
        if (array.shape, array.dtype) != (self.shape, self.dtype):
            raise _unlike(
                plain(self._files[0]),
                f"{IMAGE.size_text(self.shape)} of {self.dtype}",
                name,
                f"{IMAGE.size_text(array.shape)} of {array.dtype}",
            )


def _unlike(one: str, size: str, other: str, its: str) -> InputError:
    return InputError(
        f"{one} is {size} and {other} is {its}; a folder opens as a stack if its images have one size and type: "
        "move the others elsewhere."
    )


def _check_sizes(files: Sequence[Path]) -> None:
    """Raises InputError that names the first two images of different sizes, as far as their headers give them."""
    first: tuple[int, int] | None = None
    first_file = files[0]
    for place, file in enumerate(files):
        advance(place, len(files))
        size = _size(file)
        if size is None:
            continue
        if first is None:
            first, first_file = size, file
        elif size != first:
            sizes = (f"{width} x {height}" for width, height in (first, size))
            raise _unlike(plain(first_file), next(sizes), plain(file), next(sizes))


def _size(file: Path) -> tuple[int, int] | None:
    """Width and height in an image's header; None where it has none, and its decoder will report why."""
    if file.suffix.lower() == ".npy":
        return None
    from PIL import Image

    unknown = InputError("unknown")
    with suppress(InputError), codec(unknown), Image.open(file) as picture:
        lies = picture.format == "JPEG" and picture.getexif().get(EXIF_ORIENTATION) in LYING
        width, height = picture.size
        return (height, width) if lies else (width, height)
    return None
