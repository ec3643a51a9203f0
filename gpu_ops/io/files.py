"""Loads inputs from files and saves arrays to files. The suffix of a name selects the format; the content must
agree."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.input_kinds import IMAGE, Kind
from gpu_ops.io import decoder_process, folders, known
from gpu_ops.io.arrays import is_stack
from gpu_ops.io.formats import BY_SUFFIX, FRAMES, IMAGE_SUFFIXES, SIGNALS, Format, find_format
from gpu_ops.io.images.dicom import SCALED
from gpu_ops.io.images.dicom_slices import ORDER, Slices, sort_slices
from gpu_ops.io.images.stores import ZARR, files_of_store, is_zarr, zarr_rows
from gpu_ops.io.images.tiff_series import sibling_files
from gpu_ops.io.inputs import FILE_KINDS, NONFINITE, Array, check_choice, enough_memory, make_input
from gpu_ops.io.memory import offset_of, read_at
from gpu_ops.io.notes import add_note
from gpu_ops.io.opening import FRAME, Decoded, Opening, Survey
from gpu_ops.io.part_files import growing, growing_folder
from gpu_ops.io.regular import require_regular
from gpu_ops.io.stacks import Stack, decode_stack
from gpu_ops.params import Value
from gpu_ops.progress import finite
from gpu_ops.types import Input, Pixel

DICOM = ".dcm"
LIMIT = 2**30
"""The most values of a file, unless the caller allows more."""


def load(
    path: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    limit: int = LIMIT,
    nonfinite: str = "refuse",
    **choices: object,
) -> Input:
    """An Input from a file of one of FORMATS, or from a folder of images of one size and type.

    Images are (H, W) or (H, W, C), signals (N,) or (N, C) with their rate in hertz where the file has one. A stack
    gives one frame or a projection as an image, and `facts.frames` says how many it has. `kind` overrules the shape,
    such as "signal" for an (N, C) array, or "stack" for (D, H, 3). At most `limit` values are decoded. `nonfinite` is
    the rule for NaN and infinity: "refuse", "keep" or "zero". `choices` are those of the file's format, such as
    frame=3; `survey` shows what a file offers. Raises InputError for anything wrong with the file, ParamError for the
    arguments.
    """
    if kind is not None:
        check_choice("kind", kind, FILE_KINDS)
    check_choice("nonfinite", nonfinite, NONFINITE)
    if limit < 1:
        raise ParamError(f"limit must be an integer of at least 1, not {limit!r}.")
    name, file = os.fspath(path), Path(path)
    label = plain(name)
    _require_input(file, name)
    with enough_memory(name, "load a smaller file"):
        try:
            format = _find_format(file, label)
            _check_kind(format, label, kind)
            opening = Opening(file, label, limit, {**_check_choices(format, label, choices), "kind": kind or ""})
            decoded, digest = _decode_and_hash(format, opening)
        except OSError as error:
            raise InputError(f"{label} cannot be read ({error.strerror}); check its name and permissions.") from None
        origin: dict[str, Any] = {"path": name, "hash": digest, "steps": decoded.steps}
        chosen = {p.name: v for p in format.choices if (v := opening.choices[p.name]) != p.default}
        origin |= {**({"choices": chosen} if chosen else {}), **({"kind": kind} if kind is not None else {})}
        if decoded.rate is not None and kind not in (None, "signal"):
            raise InputError(f"{label} holds sound, which is a signal and no {kind}; leave the kind out.")
        is_signal = decoded.rate is not None or (kind is None and format.kinds == SIGNALS)
        natural: Kind | None = "image" if kind == "stack" else "signal" if is_signal else kind
        with finite():
            about = (origin, decoded.rate, nonfinite, label, decoded.facts)
            return make_input(decoded.array, natural, plain(file.name or file.resolve().name), *about)


def _decode_and_hash(format: Format, opening: Opening) -> tuple[Decoded, str]:
    """The content of a file and its hash, both of the same state of the file. Raises InputError, OSError."""
    parts = _parts(opening.path)
    before = known.stamp_of(parts)
    fault, result = None, None
    with ThreadPoolExecutor(1) as hasher:
        digest = hasher.submit(hash_file, opening.path)
        try:
            result = _decode(format, opening), digest.result()
        except InputError as error:  # a file that is being written is read as damaged
            fault = error
    if known.stamp_of(_parts(opening.path)) != before:
        raise InputError(f"{opening.name} changed while it was read; load it again.")
    if result is None:
        assert fault is not None
        raise fault
    return result


def survey(path: str | os.PathLike[str], **choices: object) -> Survey:
    """The content of a file and its reading choices, found without reading all of it; `choices` as in load(). Raises
    InputError for anything wrong with the file, ParamError for the choices."""
    file, label = Path(path), plain(os.fspath(path))
    _require_input(file, os.fspath(path))
    try:
        format = _find_format(file, label)
        opening = Opening(file, label, LIMIT, _check_choices(format, label, choices))
        found = Survey(format.title) if format.look is None else _look(format, opening)
    except OSError as error:
        raise InputError(f"{label} cannot be read ({error.strerror}); check its name and permissions.") from None
    nbytes = sum(part.stat().st_size for part in _parts(file))
    return replace(found, facts=(*found.facts, ("file", f"{nbytes:,} bytes")))


def _decode(format: Format, opening: Opening) -> Decoded:
    """The content of a file; no part of it stays mapped."""
    decoded = decoder_process.read(format.read, opening) if format.foreign else format.read(opening)
    offset = offset_of(decoded.array)
    if offset is None:
        return decoded
    shape, dtype = decoded.array.shape, decoded.array.dtype
    return decoded._replace(array=read_at(opening.path, opening.name, offset, shape, dtype))


def _look(format: Format, opening: Opening) -> Survey:
    assert format.look is not None
    return decoder_process.look(format.look, opening) if format.foreign else format.look(opening)


def _check_choices(format: Format, name: str, choices: Mapping[str, object]) -> dict[str, Value]:
    """A value for each choice of the format. Raises ParamError for a choice that the format lacks."""
    known = {param.name: param for param in format.choices}
    for choice in choices:
        if choice not in known:
            what = f"{name} is {format.title}, which has no choice {plain(choice, 40)!r}"
            raise ParamError(f"{what}; its choices are {', '.join(known) or 'none'}.")
    return {key: param.check(choices.get(key, param.default)) for key, param in known.items()}


def hash_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 in hexadecimal of the file's bytes, or of pieces of a large file; for a folder, that of its images. It is
    recomputed only when the file has changed. Raises OSError."""
    file = Path(path)
    return known.known_hash(_parts(file), named=file.is_dir())


def same_file(path: str | os.PathLike[str], now: str, recorded: object) -> bool:
    """Whether a file with the hash `now` is the one whose hash was recorded earlier. Raises OSError."""
    file = Path(path)
    return known.has_hash(_parts(file), now, recorded, named=file.is_dir())


def _require_input(file: Path, name: str) -> None:
    """Raises InputError unless it is a regular file or a folder."""
    if not (name and os.path.isdir(file)):
        require_regular(file, "an input")


def _parts(file: Path) -> list[Path]:
    """The files of an input: the file with the others of its set, or the images of a folder. Raises OSError."""
    if is_zarr(file):
        return files_of_store(file)
    if file.is_dir():
        return folders.frames_of(file, IMAGE_SUFFIXES)
    return [file, *(sibling_files(file) if BY_SUFFIX.get(file.suffix.lower()) is BY_SUFFIX[".tif"] else ())]


def _find_format(file: Path, name: str) -> Format:
    if is_zarr(file):
        return BY_SUFFIX[ZARR]
    return FOLDER if file.is_dir() else find_format(file, name)


def _read_folder(opening: Opening) -> Decoded:
    return decode_stack(_open_folder(opening), opening)


def _look_folder(opening: Opening) -> Survey:
    """The size, the type and the number of a folder's images."""
    stack = _open_folder(opening)
    size, frames = IMAGE.size_text(stack.shape, " × "), stack.facts.frames
    ordered = (("order", f"by {step['by']}") for step in stack.steps if step["step"] == ORDER)
    return Survey(FOLDER.title, (("size", f"{size}, {stack.dtype}"), ("frames", f"{frames:,}"), *ordered), frames)


def _open_folder(opening: Opening) -> Stack:
    """The images of a folder, all read in the same way."""
    files = _parts(opening.path)

    def open() -> Stack:
        slices = all(file.suffix.lower() == DICOM for file in files) and len(files) > 1
        found = sort_slices(files) if slices else Slices(tuple(files))

        def decode(file: Path) -> Decoded:
            name = plain(file)
            format = _find_format(file, name)
            choices = {**_check_choices(format, name, {}), "kind": "", SCALED: found.scaled}
            return found.named(format.read(Opening(file, name, opening.limit, choices)))

        how = (opening.name, decode, IMAGE_SUFFIXES, found.steps, found.distance)
        return folders.FolderStack(found.files, *how)

    return known.kept_stack(files, "folder", open)


FOLDER = Format("a folder of images", (), ("image", "stack"), _read_folder, None, FRAMES, _look_folder, True)


def _check_kind(format: Format, name: str, kind: Kind | None) -> None:
    """Raises InputError where a stack is requested and the format has none."""
    if kind == "stack" and FRAME not in format.choices:
        raise InputError(f"{name} is {format.title}, which holds no stack; leave the kind out.")


def save(
    path: str | os.PathLike[str],
    array: Array,
    *,
    rate: float | None = None,
    pixel: Pixel | None = None,
    overwrite: bool = True,
    note: str = "",
) -> None:
    """Writes an array as PNG, TIFF, NPY, WAV, FLAC or text, by the name's suffix.

    PNG takes (H, W) or (H, W, C) of uint8 or uint16; TIFF these, (D, H, W) and (D, H, W, C), of integers of 8 to 32
    bits, float32 and float64; both with the size of a `pixel` where it is known; WAV (N,) or (N, C) of float32 or
    float64 with `rate` in hertz (44100 when None); FLAC (N,) or (N, C) of floats from -1 to less than 1, in 24 bits,
    or of integers; text (N,) as "%.16f"; NPY any array. Writing is atomic: an existing file stays unchanged until the
    new one is complete. Some formats have space for a `note`. Raises InputError when the format cannot store the array
    or the file cannot be written.
    """
    name, array = plain(os.fspath(path)), np.asarray(array)
    format = BY_SUFFIX.get(Path(path).suffix.lower())
    if format is None or not (format.write or format.suffixes == (ZARR,)):
        endings = " ".join([*(suffix for suffix, format in BY_SUFFIX.items() if format.write), ZARR])
        raise InputError(f"{name} cannot be written as '{plain(Path(path).suffix, 20)}'; choose one of {endings}.")
    if array.size == 0:
        raise InputError(f"{name} would be empty, shape {array.shape}; every axis needs at least one element.")
    if format.suffixes == (ZARR,):
        frames = array.shape[0] if is_stack(array.shape, "") else None
        shape = array.shape[1:] if frames else array.shape
        with replacing_folder(path, overwrite) as folder:
            if len(shape) not in (2, 3):
                raise InputError(
                    f"{name} cannot hold shape {array.shape}; a Zarr is an image or a stack: save as .npy."
                )
            with zarr_rows(folder, shape, array.dtype, frames, name, pixel, note) as rows:
                for part in array if frames else (array,):
                    rows(part)
        return
    assert format.write is not None
    write = partial(format.write, pixel=pixel) if format.scaled else format.write
    with replacing(path, overwrite) as opened:
        write(opened, array, rate, name, **({"about": note} if note and format.has_facts else {}))
        if note and not format.has_facts:
            add_note(opened, Path(path).suffix.lower(), note)


@contextmanager
def replacing(path: str | os.PathLike[str], overwrite: bool = True, token: str = "") -> Iterator[IO[bytes]]:
    """A new file in the target's folder, which replaces the target at the end, or is removed after an error. Its name
    is `part_of` with this token, or with a random one. Raises InputError."""
    name = plain(os.fspath(path))
    with enough_memory(name, "save a smaller array"), _part_file(Path(path), name, overwrite, token) as opened:
        yield opened


@contextmanager
def replacing_folder(path: str | os.PathLike[str], overwrite: bool = True) -> Iterator[Path]:
    """As `replacing`, for a format that is a folder. Raises InputError."""
    name, target = plain(os.fspath(path)), Path(os.path.realpath(path))
    try:
        if target.exists():
            if not is_zarr(target) or not (any(target.glob("zarr.json")) or any(target.glob(".z*"))):
                raise InputError(f"{name} is no Zarr that can be replaced; choose another name.")
            if not overwrite:
                raise InputError(f"{name} exists already; choose another name or allow it to be overwritten.")
        with enough_memory(name, "save a smaller array"), growing_folder(target) as folder:
            yield folder
    except OSError as error:
        raise _unwritten(name, error) from None


def _unwritten(name: str, error: OSError) -> InputError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    advice = "free some space, or choose another folder" if full else "choose a folder you may write to"
    return InputError(f"{name} cannot be written ({error.strerror}); {advice}.")


@contextmanager
def _part_file(file: Path, name: str, overwrite: bool, token: str) -> Iterator[IO[bytes]]:
    try:
        target = Path(os.path.realpath(file))
    except ValueError:
        raise InputError(f"{name} is no file name, because it has a null character; check the name.") from None
    try:
        if target.exists():
            if not target.is_file():
                raise InputError(f"{name} is a folder or device; choose a file name.")
            if not overwrite:
                raise InputError(f"{name} exists already; choose another name or allow it to be overwritten.")
        with growing(target, token) as opened:
            yield opened
    except OSError as error:
        raise _unwritten(name, error) from None
