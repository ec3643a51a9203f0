"""FLAC and Ogg sound, decoded and encoded by libsndfile."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array
from gpu_ops.io.notes import SOFTWARE
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.pieces import write_from
from gpu_ops.io.signals.columns import hertz, length_words
from gpu_ops.io.signals.sound import DEFAULT_RATE, FRAMES, open_sound, read_samples
from gpu_ops.progress import advance

FLAC_CHANNELS, FLAC_RATE = 8, 655_350
"""The most channels and the highest rate of a FLAC file."""
OGG_PAGE = 27 + 255 + 255 * 255
"""The largest Ogg page in bytes: header, table, content."""
LAST_PAGE = 4
"""The flag of the last page of a stream."""
TAGS, LONGEST_TAG = ("title", "artist", "comment"), 300
"""The tags of sound files that a survey shows, and the most letters of each."""
TYPES = {"PCM_S8": "8-bit integers", "PCM_U8": "8-bit integers", "PCM_16": "16-bit integers",
         "PCM_24": "24-bit integers", "PCM_32": "32-bit integers", "FLOAT": "32-bit floats",
         "DOUBLE": "64-bit floats"}  # fmt: skip


def read_flac(opening: Opening) -> Decoded:
    """Samples (N,) or (N, C) and the rate in hertz: integers scaled to [-1, 1), in float32, or float64 for 24 bits.

    Raises InputError for damaged, truncated and too large files, and for files without their length.
    """
    return read_samples(opening, "FLAC file", "save it again as FLAC or WAV", whole=True)


def read_ogg(opening: Opening) -> Decoded:
    """Samples (N,) or (N, C) as float32, and the rate in hertz. Raises InputError for damaged, truncated and too large
    files."""
    _check_end(opening.path, opening.name)
    return read_samples(opening, "Ogg file", "save it again as Vorbis, Opus or FLAC")


def look_sound(opening: Opening) -> Survey:
    """Length, channels, rate and sample type of any sound file."""
    with open_sound(opening, "sound file", "save it again as WAV or FLAC") as file:
        kind = TYPES.get(file.subtype, file.subtype.replace("_", " ").capitalize())
        length = length_words(file.frames, file.samplerate) if 0 <= file.frames < 2**62 else "unknown"
        facts = (
            ("length", length),
            ("channels", str(file.channels)),
            ("rate", hertz(file.samplerate)),
            ("samples", kind),
            *(
                (tag, plain("; ".join(words.splitlines()), LONGEST_TAG))
                for tag in TAGS
                if (words := getattr(file, tag))
            ),
        )
        return Survey(f"{file.format.replace('WAVEX', 'WAV').replace('OGG', 'Ogg')} sound", facts)


def _check_end(path: Path, name: str) -> None:
    """Raises InputError where the last page of an Ogg file is missing or truncated: the decoder reads the rest without
    an error."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 2 * OGG_PAGE))
        tail = file.read()
    place = tail.rfind(b"OggS")
    while place >= 0:
        segments = tail[place + 27 : place + 27 + tail[place + 26]] if len(tail) > place + 27 else b""
        if segments and place + 27 + len(segments) + sum(segments) == len(tail) and tail[place + 5] & LAST_PAGE:
            return
        place = tail.rfind(b"OggS", 0, place) if place else -1
    raise InputError(f"{name} is cut short: the end of its sound is missing; copy or save it again.")


def write_flac(file: IO[bytes], array: Array, rate: float | None, name: str, about: str = "") -> None:
    """Writes (N,) or (N, C): floats from -1 to less than 1 as 24-bit integers, int8, uint8 and int16 unchanged in 16
    bits, and uint16 and int32 unchanged in 24 bits, where they fit. `rate` is whole hertz, 44100 when None, `about` a
    description in words, which becomes the comment."""
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] > FLAC_CHANNELS):
        raise InputError(
            f"{name} cannot hold shape {array.shape}; a FLAC file is (N,) or (N, C) with at most {FLAC_CHANNELS} "
            "channels: save as .npy."
        )
    hertz = DEFAULT_RATE if rate is None else rate
    if not (1 <= hertz <= FLAC_RATE and hertz == int(hertz)):
        raise InputError(
            f"{name} cannot hold a rate of {rate} Hz; a FLAC file takes whole hertz from 1 to {FLAC_RATE}: "
            "save as .npy."
        )
    wide = array.dtype.name not in ("int8", "uint8", "int16")
    data = io.BytesIO()  # the library does not report a full disk
    _encode(data, array, int(hertz), wide, name, about)
    write_from(file, np.frombuffer(data.getbuffer(), np.uint8))


def _encode(data: IO[bytes], array: Array, hertz: int, wide: bool, name: str, about: str) -> None:
    import soundfile

    failure = InputError(f"{name} cannot be encoded as FLAC; save as .wav or .npy.")
    columns, subtype = array.reshape(len(array), -1), "PCM_24" if wide else "PCM_16"
    with codec(failure):
        sound = soundfile.SoundFile(data, "w", hertz, columns.shape[1], subtype, format="FLAC")
    with sound:
        if about:  # before the samples, otherwise the library drops it
            with codec(failure):
                sound.comment, sound.software = about.encode("utf-8", "replace").decode(), SOFTWARE
        for start in range(0, len(columns), FRAMES):
            advance(start, len(columns))
            block = columns[start : start + FRAMES]
            whole = _in_24_bits(block, name) if wide else np.ascontiguousarray(block, np.int16)
            with codec(failure):
                sound.write(whole)


def _in_24_bits(block: Array, name: str) -> Array:
    """24-bit integers in the upper bits of int32, as the library expects them."""
    if block.dtype.kind not in "iuf" or block.dtype.name in ("uint32", "int64", "uint64"):
        raise InputError(f"{name} cannot hold {block.dtype.name}; FLAC takes floats or integers of at most 24 bits.")
    if block.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            whole = np.rint(block.astype(np.float64) * 2.0**23)
        low, high, limits = block.min(), block.max(), "-1 to less than 1"
    else:
        whole = block.astype(np.int64)
        low, high, limits = whole.min(), whole.max(), "-8388608 to 8388607"
    if not (whole.min() >= -(2**23) and whole.max() < 2**23):
        raise InputError(
            f"{name} cannot hold values from {low:g} to {high:g}; FLAC takes {limits}: "
            "scale it first, or save as .wav or .npy."
        )
    return (whole.astype(np.int32) << 8).astype(np.int32)
