"""Notes about a result inside its own file, where the format has a part that readers may skip."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import IO, Any

from gpu_ops.errors import plain
from gpu_ops.io.images.png import make_chunk
from gpu_ops.version import __version__

SOFTWARE = f"Kernelscope {__version__}"
PNG_END = make_chunk(b"IEND")
LARGEST_RIFF = 2**32 - 1

LONGEST = 1000
"""The most letters of one fact."""
ONE_OF = {"parameters": "parameter", "knobs": "knob", "versions": "version"}
"""The name of a line of grouped facts."""


def lines_of(about: Mapping[str, Any]) -> Iterator[str]:
    """One line "name: value" for each fact that is not empty; grouped facts have a line each."""
    for name, value in about.items():
        if isinstance(value, Mapping):
            for part, inner in value.items():
                yield f"{ONE_OF.get(name, name)} {part}: {plain(_words(inner), LONGEST)}"
        elif value not in (None, "", (), []):
            yield f"{name}: {plain(_words(value), LONGEST)}"


def comment_lines(about: Mapping[str, Any]) -> str:
    """The facts as the first lines of a table of comma-separated values, each after "# "."""
    return "".join(f"# {line}\n" for line in lines_of(about))


def _words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_words, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(inner)}" for name, inner in value.items())
    return str(value)


def add_note(file: IO[bytes], suffix: str, note: str) -> None:
    """Append a note to a complete PNG (as text chunks) or WAV (as an INFO list); other files stay unchanged. `file` is
    open for writing and ends with the content."""
    if suffix == ".png":
        _note_png(file, note)
    elif suffix == ".wav":
        _note_wav(file, note)


def _note_png(file: IO[bytes], note: str) -> None:
    """Two international text chunks before the end chunk, by the PNG specification, section 11.3.3.4."""
    file.seek(-len(PNG_END), 2)
    for keyword, text in (("Software", SOFTWARE), ("Description", note)):
        file.write(make_chunk(b"iTXt", keyword.encode() + b"\0\0\0\0\0", text.encode("utf-8", "replace")))
    file.write(PNG_END)


def _note_wav(file: IO[bytes], note: str) -> None:
    """A LIST chunk of type INFO after the samples; a file without space for it stays unchanged."""
    parts = b"INFO"
    for kind, text in ((b"ISFT", SOFTWARE), (b"ICMT", note)):
        data = text.encode("utf-8", "replace") + b"\0"
        parts += kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    size = file.seek(0, 2)
    room = size % 2 + 8 + len(parts)
    if size + room - 8 > LARGEST_RIFF:
        return
    file.write(b"\0" * (size % 2) + b"LIST" + struct.pack("<I", len(parts)) + parts)
    file.seek(4)
    file.write(struct.pack("<I", size + room - 8))
    file.seek(0, 2)
