"""Frames: what travels on standard input and output between two machines.

A frame is a fixed head of 32 bytes, a JSON head and a raw buffer, each of a limited length. The head is checked before
anything is allocated for the rest, so that garbage is an error at once and never a large buffer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.errors import DeviceError, plain

WIRE = 1
"""The version of the frames. That of the messages is gpu_ops.engine.messages.PROTOCOL."""
HEAD = struct.Struct(">2sBBIIIQQ")
"""Sign, version, kind, a zero, length of the JSON head, length of the buffer, number, acknowledged number."""
SIGN = b"KS"
LONGEST_HEAD = 16 << 20
LARGEST_BUFFER = 1 << 20
HELLO, MESSAGE, DATA, NOTE = range(4)
"""The kinds of frames: the first of a connection; a message of the engine; a part of an array; and what the two sides
ask of each other about arrays and the connection."""


class WireError(DeviceError):
    """Something arrived, or was to be sent, that is no part of the protocol."""


@dataclass(frozen=True)
class Frame:
    """One frame. `number` counts the frames of a side from 1, and is 0 for those that are not repeated after a lost
    connection; `seen` is the number of the last frame that the sender has received. Raises WireError if it is too
    long."""

    kind: int
    head: bytes
    buffer: bytes | memoryview = b""
    number: int = 0
    seen: int = 0

    def __post_init__(self) -> None:
        _check(len(self.head), len(self.buffer))

    @property
    def nbytes(self) -> int:
        return HEAD.size + len(self.head) + len(self.buffer)

    def bytes(self, seen: int = 0) -> bytes:
        """The frame as it travels."""
        sizes = len(self.head), len(self.buffer)
        return b"".join((HEAD.pack(SIGN, WIRE, self.kind, 0, *sizes, self.number, seen), self.head, self.buffer))

    def content(self) -> dict[str, Any]:
        """The JSON head of a frame that is no message. Raises WireError."""
        try:
            content = json.loads(self.head)
        except (ValueError, RecursionError) as error:
            raise WireError(f"a frame's head is no JSON ({plain(error, 80)})") from None
        if not isinstance(content, dict):
            raise WireError("a frame's head is no JSON object")
        return content


def headed(kind: int, buffer: bytes | memoryview = b"", **content: object) -> Frame:
    """A frame with this content as its JSON head."""
    return Frame(kind, json.dumps(content).encode(), buffer)


def note(name: str, **content: object) -> Frame:
    """A note of this name."""
    return Frame(NOTE, json.dumps({"is": name, **content}).encode())


def _check(head: int, buffer: int) -> None:
    if head > LONGEST_HEAD or buffer > LARGEST_BUFFER:
        raise WireError(
            f"a frame says that it has a head of {head:,} bytes and a buffer of {buffer:,}; at most "
            f"{LONGEST_HEAD:,} and {LARGEST_BUFFER:,} are allowed"
        )


@dataclass
class Decoder:
    """Turns bytes, in pieces of any size, into frames. It never holds more than one incomplete frame."""

    begun: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes. Raises WireError for bytes that are no frame."""
        self.begun += data
        start = 0
        try:
            while len(self.begun) - start >= HEAD.size:
                sign, version, kind, zero, head, buffer, number, seen = HEAD.unpack_from(self.begun, start)
                if sign != SIGN or zero or kind > NOTE:
                    raise WireError(f"these bytes are no frame of Kernelscope: {bytes(self.begun[start:][:16])!r}")
                if version != WIRE:
                    raise WireError(f"the other side sends frames of version {version}, and this one reads {WIRE}")
                _check(head, buffer)
                middle = start + HEAD.size + head
                if len(self.begun) < middle + buffer:
                    return
                parts = bytes(self.begun[start + HEAD.size : middle]), bytes(self.begun[middle : middle + buffer])
                start = middle + buffer
                yield Frame(kind, *parts, number, seen)
        finally:
            del self.begun[:start]
