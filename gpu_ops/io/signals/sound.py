"""WAV files with all channels: libsndfile reads them; this module writes them, because that library does not report a
full disk."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import MOST_CHANNELS
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array, check_channels, check_limit
from gpu_ops.io.memory import check_memory
from gpu_ops.io.opening import Decoded, Opening, note
from gpu_ops.io.pieces import write_from
from gpu_ops.progress import advance

if TYPE_CHECKING:
    import soundfile
    from _typeshed import WriteableBuffer

DEFAULT_RATE = 44100
WIDE = ("PCM_24", "PCM_32", "DOUBLE")
"""Encodings that need more precision than float32; they are read as float64."""
FRAMES = 1 << 20
"""Frames that are decoded at a time."""
UNKNOWN_SIZE = 2**32 - 1
STREAMED = (range(0x7FFFF000, 0x80000001), range(0xFFFFF000, UNKNOWN_SIZE + 1))
"""Placeholder lengths of programs that do not know the length yet; 0 is one if samples follow."""
LARGEST = 2**32 - 4096
"""The most bytes of samples in a WAV file, without its header."""
MOST_CHUNKS = 1000
"""The most chunks before the samples; two or three are usual."""
IEEE_FLOAT = 3


def read_wav(opening: Opening) -> Decoded:
    """Samples (N,) or (N, C) and the rate in hertz: float32, or float64 for 24 and 32-bit integers and doubles.

    Integers are scaled to [-1, 1). A file without its length is read to its end, with a note. Raises InputError for
    damaged, truncated and too large files, and too many channels.
    """
    check_whole(opening.path, opening.name)
    decoded = read_samples(opening, "WAV file", "save it again as PCM or float WAV")
    return decoded._replace(steps=stream_steps(opening.path))


def stream_steps(path: Path) -> tuple[dict[str, Any], ...]:
    """The note on a WAV file without its length; none for others. Raises OSError."""
    if samples_of_stream(path) is None:
        return ()
    return (note("the header does not say how long the sound is, so it was read to the end of the file"),)


def read_samples(opening: Opening, what: str, advice: str, whole: bool = False) -> Decoded:
    """The samples of a sound file, in the types of read_wav; `what` it is and the `advice` are for errors. With
    `whole`, a file with fewer samples than in its header counts as truncated. Raises InputError."""
    name = opening.name
    damaged = InputError(f"{name} is a damaged or unusual {what}; {advice}.")
    with open_sound(opening, what, advice) as file:
        if file.frames >= 2**62:
            raise InputError(f"{name} does not say how long it is; {advice}.")
        check_channels(file.channels, name)
        check_limit(name, file.frames * file.channels, opening.limit)
        frames = file.frames
        shape = (frames, file.channels) if file.channels > 1 else (frames,)
        dtype = np.dtype("float64" if file.subtype in WIDE else "float32")
        check_memory(name, frames * file.channels * dtype.itemsize)
        array = np.empty(shape, dtype)
        done, read = 0, 1
        while read:
            with codec(damaged):
                read = len(file.read(out=array[done : done + FRAMES]))
            done += read
            advance(done, max(len(array), 1))
        if whole and done < frames:
            raise InputError(f"{name} is cut short: it holds {done:,} of {frames:,} samples; copy or save it again.")
        return Decoded(array[:done], float(file.samplerate))


@contextmanager
def open_sound(opening: Opening, what: str, advice: str) -> Iterator[soundfile.SoundFile]:
    """The file opened by libsndfile; a WAV file without its length is read to its end. Raises InputError, with
    `advice`, if it cannot be opened."""
    import soundfile

    damaged = InputError(f"{opening.name} is a damaged or unusual {what}; {advice}.")
    path, start = opening.path, samples_of_stream(opening.path)
    with ExitStack() as opened:
        # As bytes where the system's names are bytes: the library rejects a name that is not UTF-8.
        named = os.fsencode(path) if os.name == "posix" else path
        source = named if start is None else opened.enter_context(_Measured(path, start))
        with codec(damaged):
            file = opened.enter_context(soundfile.SoundFile(source))
        if file.frames < 0 or file.samplerate < 1:
            raise damaged
        yield file


class _Measured(io.FileIO):
    """A WAV file with corrected lengths in its header, which are 4 bytes each: one at offset 4, one before the samples
    at `start`."""

    def __init__(self, path: Path, start: int) -> None:
        super().__init__(path)
        size = os.path.getsize(path)
        self._lengths = {4: struct.pack("<I", size - 8), start - 4: struct.pack("<I", size - start)}

    def readinto(self, buffer: WriteableBuffer) -> int:
        place, view = self.tell(), memoryview(buffer).cast("B")
        count = super().readinto(view) or 0
        for at, length in self._lengths.items():
            for k, byte in enumerate(length, start=at - place):
                if 0 <= k < count:
                    view[k] = byte
        return count

    def read(self, size: int | None = -1) -> bytes:
        wanted = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        data = bytearray(max(wanted, 0))
        return bytes(data[: self.readinto(data)])


def samples_of_stream(path: Path) -> int | None:
    """The offset of the samples in a WAV file without its length, because its recording was not finished or it was
    written to a pipe; None for any other file. Raises OSError."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        if file.read(4) != b"RIFF" or size >= UNKNOWN_SIZE:
            return None
        for name, length in _chunks(file):
            if name == b"data":
                start = file.tell()
                open_end = length == 0 and start < size and not _has_chunks(file, size)
                return start if open_end or any(length in span for span in STREAMED) else None
    return None


def _chunks(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """The name and the length of each chunk of a WAV file; at each yield the file position is at the chunk's
    content."""
    file.seek(12)
    for _ in range(MOST_CHUNKS):
        if len(head := file.read(8)) < 8:
            return
        name, length = struct.unpack("<4sI", head)
        start = file.tell()
        yield name, length
        file.seek(start + length + length % 2)


def _has_chunks(file: IO[bytes], size: int) -> bool:
    """Whether only chunks, and no samples, follow up to the end of the file."""
    while len(head := file.read(8)) == 8:
        name, length = struct.unpack("<4sI", head)
        if not name.isascii() or file.seek(length + length % 2, os.SEEK_CUR) > size + 1:
            return False
    return not head


def check_whole(path: Path, name: str) -> None:
    """Raises InputError where the sizes do not agree: the decoder reads the rest of a truncated file without an
    error."""
    size, count = os.path.getsize(path), 0
    with open(path, "rb") as file:
        for chunk, length in _chunks(file):
            count += 1
            if chunk == b"data":
                present_bytes = size - file.tell()
                if length > present_bytes and not any(length in span for span in STREAMED):
                    raise InputError(
                        f"{name} is cut short: it holds {present_bytes:,} of {length:,} bytes of sound; "
                        "copy or save it again."
                    )
                return
    if count < MOST_CHUNKS:
        raise InputError(f"{name} is cut short: it holds no sound; copy or save it again.")
    raise InputError(f"{name} has more than {MOST_CHUNKS} chunks before its sound; save it again as PCM or float WAV.")


def write_wav(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes (N,) or (N, C) as float or double; `rate` is whole hertz, 44100 when None."""
    if array.dtype.name not in ("float32", "float64"):
        raise InputError(f"{name} cannot hold {array.dtype.name}; convert to float32 or float64, or save as .npy.")
    if array.ndim not in (1, 2):
        raise InputError(f"{name} cannot hold shape {array.shape}; a WAV file is (N,) or (N, C): save as .npy.")
    channels = array.shape[1] if array.ndim == 2 else 1
    if channels > MOST_CHANNELS:
        raise InputError(
            f"{name} cannot hold {channels:,} channels, at most {MOST_CHANNELS:,}; save fewer, or as .npy."
        )
    if array.nbytes > LARGEST:
        raise InputError(f"{name} would be over 4 GiB, more than a WAV file can be; save as .npy.")
    hertz = DEFAULT_RATE if rate is None else rate
    if not (1 <= hertz < 2**31 and hertz == int(hertz)):
        raise InputError(f"{name} cannot hold a rate of {rate} Hz; a WAV file takes whole hertz from 1: save as .npy.")
    samples = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    file.write(_wav_header(samples.nbytes, samples.itemsize, channels, int(hertz)))
    write_from(file, samples.reshape(-1).view(np.uint8))


def _wav_header(nbytes: int, itemsize: int, channels: int, hertz: int) -> bytes:
    """The bytes before the samples of a WAV file of floats, by Microsoft's and IBM's description of 1991 and its
    additions of 1994: "fmt " describes the samples, "fact" has their number per channel."""
    frame = itemsize * channels
    speed = min(hertz * frame, 2**32 - 1)
    format = struct.pack("<4sIHHIIHHH", b"fmt ", 18, IEEE_FLOAT, channels, hertz, speed, frame, 8 * itemsize, 0)
    fact = struct.pack("<4sII", b"fact", 4, nbytes // frame)
    rest = b"WAVE" + format + fact + struct.pack("<4sI", b"data", nbytes)
    return struct.pack("<4sI", b"RIFF", len(rest) + nbytes) + rest
