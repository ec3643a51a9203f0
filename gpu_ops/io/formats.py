"""The file formats: what each can store, its reader and writer, and its first bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import Kind
from gpu_ops.io import arrays, npz
from gpu_ops.io.images import animated, apng, dicom, png, stores, tiff, videos
from gpu_ops.io.images import jpeg_bmp as images
from gpu_ops.io.opening import (
    COLUMNS,
    DECIMAL,
    FRAME,
    HEADER,
    MEMBER,
    PART,
    PROJECT,
    RATE,
    SEPARATOR,
    SERIES,
    Decoded,
    Opening,
    Survey,
)
from gpu_ops.io.signals import compressed, edf, sound, tables, text, wfdb
from gpu_ops.io.signals.compressed import look_sound
from gpu_ops.params import Param

Reader = Callable[[Opening], Decoded]
Surveyor = Callable[[Opening], Survey]
Writer = Callable[..., None]


@dataclass(frozen=True)
class Format:
    """A file format and the kinds of input that it can hold. `write` takes (file, array, rate in hertz, name) and calls
    the file `name` in errors. `choices` are the reading choices; `look` surveys a file, and a format without it has no
    choices. A `foreign` format is decoded by another library: its files are read in a separate process. The writer of a
    `scaled` format takes the size of a `pixel` as well, that of a format that stores facts (`has_facts`) a description
    `about`. `text` says that its content is text, and only the suffix distinguishes it from other text. A format is not
    `asked` if so few of its files need choices that they are surveyed only at the user's request."""

    title: str
    suffixes: tuple[str, ...]
    kinds: tuple[Kind, ...]
    read: Reader
    write: Writer | None = None
    choices: tuple[Param, ...] = ()
    look: Surveyor | None = None
    foreign: bool = False
    scaled: bool = False
    has_facts: bool = False
    text: bool = False
    asked: bool = True


FRAMES = (FRAME, PROJECT)
STORE = (*FRAMES, MEMBER, RATE)
SIGNALS: tuple[Kind, ...] = ("signal",)
TEXTS, TABLE = (".txt", ".dat", ".csv", ".tsv"), (COLUMNS, SEPARATOR, DECIMAL, HEADER, RATE)

FORMATS = (
    Format(
        "a PNG image",
        (".png",),
        ("image",),
        apng.read_png,
        png.write_png,
        FRAMES,
        apng.look_png,
        foreign=True,
        scaled=True,
        asked=False,
    ),
    Format(
        "a TIFF image",
        (".tif", ".tiff"),
        ("image",),
        tiff.read_tiff,
        tiff.write_tiff,
        (*FRAMES, SERIES),
        tiff.look_tiff,
        True,
        True,
        True,
    ),
    Format("a JPEG image", (".jpg", ".jpeg"), ("image",), images.read_jpeg, foreign=True),
    Format("a BMP image", (".bmp",), ("image",), images.read_bmp, foreign=True),
    Format("a WebP image", (".webp",), ("image",), animated.read_webp, None, FRAMES, animated.look_webp, True),
    Format("a GIF image", (".gif",), ("image",), animated.read_gif, None, FRAMES, animated.look_gif, True),
    Format("a DICOM image", (".dcm",), ("image",), dicom.read_dicom, None, FRAMES, dicom.look_dicom, True),
    Format(
        "a NumPy array",
        (".npy",),
        ("image", "signal", "stack"),
        arrays.read_npy,
        arrays.write_npy,
        (*FRAMES, RATE),
        arrays.look_npy,
    ),
    Format("a NumPy archive", (".npz",), ("image", "signal"), npz.read_npz, None, (MEMBER, RATE), npz.look_npz),
    Format(
        "an HDF5 file",
        stores.HDF5,
        ("image", "signal", "stack"),
        stores.read_store,
        stores.write_hdf5,
        STORE,
        stores.look_store,
        foreign=True,
        has_facts=True,
    ),
    Format("a Zarr", (stores.ZARR,), ("image", "stack"), stores.read_store, None, STORE, stores.look_store, True),
    Format("WAV sound", (".wav",), SIGNALS, sound.read_wav, sound.write_wav, (), look_sound, foreign=True),
    Format(
        "FLAC sound",
        (".flac",),
        SIGNALS,
        compressed.read_flac,
        compressed.write_flac,
        (),
        look_sound,
        foreign=True,
        has_facts=True,
    ),
    Format("Ogg sound", (".ogg", ".oga", ".opus"), SIGNALS, compressed.read_ogg, None, (), look_sound, foreign=True),
    Format("text", TEXTS, SIGNALS, tables.read_table, text.write_text, TABLE, tables.look_table),
    Format("an EDF record", (".edf", ".bdf"), SIGNALS, edf.read_edf, None, (COLUMNS, PART), edf.look_edf),
    Format("a WFDB record", (".hea",), SIGNALS, wfdb.read_record, None, (COLUMNS,), wfdb.look_record, text=True),
    Format("a video", videos.SUFFIXES, ("stack",), videos.read_video, None, FRAMES, videos.look_video, True),
)
"""In the order of preference: the first format that can hold a result is the default for it."""
BY_SUFFIX = {suffix: format for format in FORMATS for suffix in format.suffixes}
IMAGE_SUFFIXES = tuple(suffix for suffix, format in BY_SUFFIX.items() if "image" in format.kinds)

# The first bytes of files: for formats that are read, by their first suffix; for others, to name them in errors.
SIGNATURES = (
    (png.MAGIC, ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"BM", ".bmp"),
    (arrays.MAGIC, ".npy"),
    *((magic, ".gif") for magic in animated.GIF_MAGICS),
    *((magic, ".tif") for magic in tiff.MAGICS),
    (b"fLaC", ".flac"),
    (b"OggS", ".ogg"),
    (edf.BDF, ".edf"),
    (npz.MAGIC, "a ZIP archive without NumPy arrays"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF", ".h5"),
    (b"ID3", "MP3 sound"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
TEXT_BYTES = bytes([9, 10, 11, 12, 13, *range(32, 127), *range(128, 256)])


def find_format(file: Path, name: str) -> Format:
    """The format of a file, by its suffix and its first bytes, which must agree. Raises InputError, OSError."""
    with open(file, "rb") as opened:
        head = opened.read(4096)
    if not head:
        raise InputError(f"{name} is empty, 0 bytes; copy or save it again.")
    suffix, holds = file.suffix.lower(), _holds(head)
    actual = BY_SUFFIX.get(holds)
    rename = f"rename it to end in {holds}"
    if suffix not in BY_SUFFIX:
        advice = f"it holds {actual.title}: {rename}" if actual else "convert it to one of these"
        raise InputError(
            f"{name} has the unknown file type '{plain(suffix, 20)}'; the types are {' '.join(BY_SUFFIX)}; {advice}."
        )
    format = BY_SUFFIX[suffix]
    if actual is not format and not (format.text and holds == ".txt"):
        content, advice = (actual.title, rename) if actual else (holds, f"convert it to {format.title} first")
        header = file.with_suffix(".hea")
        if suffix == ".dat" and not actual and header.exists():
            advice = f"open {plain(header.name)} beside it"
        raise InputError(f"{name} holds {content}, not {format.title} as its ending {suffix} says; {advice}.")
    return format


def _holds(head: bytes) -> str:
    """The first suffix of the format that the first bytes of a file show, or words for any other content."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return ".wav"
    if videos.is_video(head):
        return ".mp4"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head[dicom.MAGIC_AT :].startswith(dicom.MAGIC):
        return ".dcm"
    if npz.is_npz(head):
        return ".npz"
    if edf.is_edf(head):
        return ".edf"
    for start, what in SIGNATURES:
        if head.startswith(start):
            return what
    return "binary data" if head.translate(None, TEXT_BYTES) else ".txt"
