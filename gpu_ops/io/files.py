"""Files to inputs and arrays to files. The ending of a name chooses the format; the content must agree."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import arrays, images, sound, text
from gpu_ops.io.inputs import KINDS, NONFINITE, Array, check_choice, make_input
from gpu_ops.progress import advance, finite, stage
from gpu_ops.types import Input, Kind

LIMIT = 2**30
"""Values a file may hold unless the caller allows more."""

HASHED = 1 << 24
"""Bytes hashed at a time."""

Reader = Callable[[Path, str, int], "Array | tuple[Array, float]"]
Writer = Callable[[IO[bytes], Array, "float | None", str], None]


@dataclass(frozen=True)
class Format:
    """A kind of file and what inputs it may hold. `read(path, name, limit)` gives an array, or an array and its rate in
    hertz."""

    title: str
    suffixes: tuple[str, ...]
    kinds: tuple[Kind, ...]
    read: Reader
    write: Writer | None = None


FORMATS = (
    Format("a PNG image", (".png",), ("image",), images.read_png, images.write_png),
    Format("a JPEG image", (".jpg", ".jpeg"), ("image",), images.read_jpeg),
    Format("a BMP image", (".bmp",), ("image",), images.read_bmp),
    Format("a NumPy array", (".npy",), ("image", "signal"), arrays.read_npy, arrays.write_npy),
    Format("WAV sound", (".wav",), ("signal",), sound.read_wav, sound.write_wav),
    Format("text", (".txt", ".dat", ".csv"), ("signal",), text.read_text, text.write_text),
)
"""In the order of preference: the first that can hold a result is proposed for it."""
BY_SUFFIX = {suffix: format for format in FORMATS for suffix in format.suffixes}

# What files begin with: formats that are read, by their first suffix, and others only to name them.
SIGNATURES = (
    (images.PNG_MAGIC, ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"BM", ".bmp"),
    (arrays.MAGIC, ".npy"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"PK\x03\x04", "a ZIP archive (as .npz files are)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"fLaC", "FLAC sound"),
    (b"OggS", "Ogg sound"),
    (b"ID3", "MP3 sound"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
TEXT_BYTES = bytes([9, 10, 11, 12, 13, *range(32, 127), *range(128, 256)])


def load(
    path: str | os.PathLike[str], *, kind: Kind | None = None, limit: int = LIMIT, nonfinite: str = "refuse"
) -> Input:
    """An Input from a PNG, JPEG, BMP, NPY, WAV or text file.

    Images are (H, W) or (H, W, C), signals (N,) or (N, C) with their rate in hertz where the file has one; `kind`
    overrules the shape, such as "signal" for an (N, C) array. At most `limit` values are decoded. `nonfinite` says what
    to do with NaN and infinity: "refuse", "keep" or "zero". Raises InputError in one sentence for anything wrong with
    the file, ParamError for the arguments.
    """
    if kind is not None:
        check_choice("kind", kind, KINDS)
    check_choice("nonfinite", nonfinite, NONFINITE)
    if limit < 1:
        raise ParamError(f"limit must be an integer of at least 1, not {limit!r}.")
    label, file = _name(path)
    try:
        _check_file(file, label)
        with stage(0, 2):
            decoded = _find_format(file, label).read(file, label, limit)
        with stage(1, 2):
            origin: dict[str, Any] = {"path": label, "hash": hash_file(file)}
    except OSError as error:
        raise InputError(f"{label} cannot be read ({error.strerror}); check its name and permissions.") from None
    except MemoryError:
        raise InputError(f"{label} does not fit in memory; load a smaller file.") from None
    if kind is not None:
        origin["kind"] = kind
    array, rate = decoded if isinstance(decoded, tuple) else (decoded, None)
    if rate is not None and kind not in (None, "signal"):
        raise InputError(f"{label} holds sound, which is a signal and no {kind}; leave the kind out.")
    natural: Kind | None = kind if rate is None else "signal"
    with finite():
        return make_input(array, natural, file.name, origin, rate, nonfinite, label)


def hash_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the file's bytes in hexadecimal. Raises OSError."""
    digest, done = hashlib.sha256(), 0
    with open(path, "rb") as file:
        size = max(os.fstat(file.fileno()).st_size, 1)
        while piece := file.read(HASHED):
            digest.update(piece)
            done += len(piece)
            advance(min(done, size), size)
    return digest.hexdigest()


def _name(path: str | os.PathLike[str]) -> tuple[str, Path]:
    name = os.fspath(path)
    if "\0" in name:
        raise InputError(f"{name!r} is no file name, a null character is in it; check the name.")
    return name, Path(name)


def _check_file(file: Path, name: str) -> None:
    try:
        info = file.stat()
    except FileNotFoundError:
        raise InputError(f"{name} does not exist; check the name.") from None
    if stat.S_ISDIR(info.st_mode):
        raise InputError(f"{name} is a folder; name a file in it.")
    if not stat.S_ISREG(info.st_mode):
        raise InputError(f"{name} is a device or pipe, not a file; save its content to a file first.")
    if info.st_size == 0:
        raise InputError(f"{name} is empty, 0 bytes; copy or save it again.")


def _find_format(file: Path, name: str) -> Format:
    suffix = file.suffix.lower()
    with open(file, "rb") as opened:
        holds = _holds(opened.read(4096))
    actual = BY_SUFFIX.get(holds)
    rename = f"rename it to end in {holds}"
    if suffix not in BY_SUFFIX:
        advice = f"it holds {actual.title}: {rename}" if actual else "convert it to one of these"
        raise InputError(f"{name} has the unknown file type {suffix!r}; known are {' '.join(BY_SUFFIX)}; {advice}.")
    format = BY_SUFFIX[suffix]
    if actual is not format:
        content, advice = (actual.title, rename) if actual else (holds, f"convert it to {format.title} first")
        raise InputError(f"{name} holds {content}, not {format.title} as its ending {suffix} says; {advice}.")
    return format


def _holds(head: bytes) -> str:
    """The first suffix of the format that a file begins like, or words for any other content."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return ".wav"
    for start, what in SIGNATURES:
        if head.startswith(start):
            return what
    return "binary data" if head.translate(None, TEXT_BYTES) else ".txt"


def save(path: str | os.PathLike[str], array: Array, *, rate: float | None = None, overwrite: bool = True) -> None:
    """Writes an array as PNG, NPY, WAV or text, by the name's ending.

    PNG takes (H, W) or (H, W, C) of uint8 or uint16; WAV (N,) or (N, C) of float32 or float64 with `rate` in hertz
    (44100 when None); text (N,) as "%.16f"; NPY any array. The file appears whole or not at all: an existing one stays
    untouched until the new one is complete. Raises InputError when it cannot be written so.
    """
    name, file = _name(path)
    array = np.asarray(array)
    format = BY_SUFFIX.get(file.suffix.lower())
    if format is None or format.write is None:
        known = " ".join(suffix for suffix, format in BY_SUFFIX.items() if format.write)
        raise InputError(f"{name} cannot be written as {file.suffix!r}; choose one of {known}.")
    if array.size == 0:
        raise InputError(f"{name} would be empty, shape {array.shape}; every axis needs at least one element.")
    with _replacing(name, overwrite) as opened:
        format.write(opened, array, rate, name)


@contextmanager
def _replacing(name: str, overwrite: bool) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place when all went well, and is gone otherwise."""
    target = Path(os.path.realpath(name))
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        if target.exists():
            if not target.is_file():
                raise InputError(f"{name} is a folder or device; choose a file name.")
            if not overwrite:
                raise InputError(f"{name} exists already; choose another name or allow it to be overwritten.")
        with open(part, "xb") as file:
            yield file
            with finite():
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise InputError(f"{name} cannot be written ({error.strerror}); choose a folder you may write to.") from None
    finally:
        with suppress(OSError):
            part.unlink()
