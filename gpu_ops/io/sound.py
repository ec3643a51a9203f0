"""WAV files, all channels, through libsndfile."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import IO

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.progress import advance, finite

DEFAULT_RATE = 44100
WIDE = ("PCM_24", "PCM_32", "DOUBLE")
"""Encodings that float32 cannot hold with room to spare; they are read as float64."""
FRAMES = 1 << 20
"""Frames decoded at a time."""
UNKNOWN_SIZE = 2**32 - 1
LARGEST = 2**32 - 4096
"""Bytes of samples a WAV file can hold beside its header."""


def read_wav(path: Path, name: str, limit: int) -> tuple[Array, float]:
    """Samples (N,) or (N, C) and the rate in hertz: float32, or float64 for 24 and 32-bit integers and doubles.

    Integers are scaled to [-1, 1). Raises InputError for damaged, cut and too large files.
    """
    import soundfile

    _check_whole(path, name)
    try:
        with soundfile.SoundFile(path) as file:
            check_limit(name, file.frames * file.channels, limit)
            shape = (file.frames, file.channels) if file.channels > 1 else (file.frames,)
            array = np.empty(shape, "float64" if file.subtype in WIDE else "float32")
            done = 0
            while len(part := file.read(out=array[done : done + FRAMES])):
                done += len(part)
                advance(done, len(array))
            return array[:done], float(file.samplerate)
    except soundfile.SoundFileError:
        raise InputError(f"{name} is a damaged or unusual WAV file; save it again as PCM or float WAV.") from None


def _check_whole(path: Path, name: str) -> None:
    """The decoder reads what is left of a cut file without a word, so the sizes are compared here."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(12)
        while len(head := file.read(8)) == 8:
            chunk, length = struct.unpack("<4sI", head)
            if chunk == b"data":
                there = size - file.tell()
                if length > there and length != UNKNOWN_SIZE:
                    raise InputError(
                        f"{name} is cut short: it holds {there} of {length} bytes of sound; copy or save it again."
                    )
                return
            file.seek(length + length % 2, os.SEEK_CUR)
    raise InputError(f"{name} is cut short: it holds no sound; copy or save it again.")


def write_wav(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes (N,) or (N, C) as float or double; `rate` is whole hertz, 44100 when None."""
    import soundfile

    subtype = {"float32": "FLOAT", "float64": "DOUBLE"}.get(array.dtype.name)
    if subtype is None:
        raise InputError(f"{name} cannot hold {array.dtype.name}; convert to float32 or float64, or save as .npy.")
    if array.ndim > 2:
        raise InputError(f"{name} cannot hold shape {array.shape}; a WAV file is (N,) or (N, C): save as .npy.")
    if array.nbytes > LARGEST:
        raise InputError(f"{name} would be over 4 GiB, more than a WAV file can be; save as .npy.")
    hertz = DEFAULT_RATE if rate is None else rate
    if not (1 <= hertz < 2**31 and hertz == int(hertz)):
        raise InputError(f"{name} cannot hold a rate of {rate} Hz; a WAV file takes whole hertz from 1: save as .npy.")
    try:
        with finite():
            soundfile.write(file, array, int(hertz), subtype=subtype, format="WAV")
    except soundfile.SoundFileError:
        raise InputError(f"{name} cannot hold {array.shape[-1]} channels; save fewer, or save as .npy.") from None
