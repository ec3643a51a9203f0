"""Headers of WFDB records: the signals of a record and their files, or the segments that it consists of.

The format is described in the WFDB manual, header(5) and signal(5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.regular import require_regular
from gpu_ops.io.signals.channels import Channel
from gpu_ops.io.signals.packed import GROUPS, samples_in

LONGEST_HEADER = 1 << 20
MOST_SIGNALS, MOST_SEGMENTS = 1000, 20_000
USUAL_GAIN, USUAL_RATE, USUAL_UNIT = 200.0, 250.0, "mV"
"""The manual's defaults for missing entries of a header."""
RECORD = re.compile(r"(\S+?)(?:/(\d+))?\s+(\d+)(?:\s+([0-9.eE+]+)\S*(?:\s+(\d+))?.*)?")
FORMAT = re.compile(r"(\d+)(?:x(\d+))?(?::(\d+))?(?:\+(\d+))?")
GAIN = re.compile(r"([-0-9.eE+]+)(?:\((-?\d+)\))?(?:/(\S+))?")
SEGMENT = re.compile(r"(\S+)\s+(\d{1,15})\b.*")
NOTHING = "~"
"""The name of a segment without samples, and the file of a signal that a layout only describes."""


@dataclass(frozen=True)
class Signal:
    """One line of a header: the `file` next to it, the number of the `format`, `each` samples per frame, `offset` in
    bytes."""

    file: str
    format: int
    each: int
    offset: int
    gain: float
    baseline: int
    unit: str
    checksum: int | None
    name: str


@dataclass(frozen=True)
class Segment:
    """A segment of a record, by the name of its header without the suffix; NOTHING is a gap."""

    name: str
    frames: int


@dataclass(frozen=True)
class Record:
    """A header. `rate` is the number of frames per second; it has either signals or segments."""

    rate: float
    frames: int
    count: int
    signals: tuple[Signal, ...] = ()
    segments: tuple[Segment, ...] = ()


def channels_of(signals: Sequence[Signal], rate: float, frames: int) -> list[Channel]:
    """The signals as channels of so many frames."""
    return [Channel(s.name, s.unit, rate * s.each, frames * s.each) for s in signals]


def read_header(path: Path, name: str) -> Record:
    """The header at `path`, called `name` in errors. Raises InputError for an invalid one, OSError."""
    with open(path, "rb") as file:
        data = file.read(LONGEST_HEADER + 1)
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    match = RECORD.fullmatch(lines[0]) if lines and len(data) <= LONGEST_HEADER else None
    if match is None:
        raise InputError(f"{name} is no header of a WFDB record; its first line is a name, channels, rate and length.")
    rate = _number(match[4], USUAL_RATE, name)
    if not 0 < rate < 1e12:
        raise InputError(f"{name} has a rate of {rate:g} Hz; a rate is above 0: correct its first line.")
    frames = int(match[5]) if match[5] and len(match[5]) < 16 else 0
    count = int(match[3]) if len(match[3]) < 9 else MOST_SIGNALS + 1
    if match[2]:
        segments = _segments(lines[1:], match[2], name)
        total = sum(segment.frames for segment in segments)
        if not 1 <= count <= MOST_SIGNALS or total < 1 or (frames and frames != total):
            raise InputError(f"{name} says {frames:,} frames, and its segments have {total:,}; copy it again.")
        return Record(rate, total, count, segments=segments)
    if not 1 <= count <= MOST_SIGNALS or len(lines) < 1 + count:
        raise InputError(f"{name} describes {len(lines) - 1} of {plain(match[3], 20)} channels; copy it again.")
    signals = tuple(_signal(line, name, k + 1) for k, line in enumerate(lines[1 : 1 + count]))
    layout = all(signal.file == NOTHING for signal in signals)
    return Record(rate, frames if frames or layout else _frames(path, name, signals), count, signals)


def _segments(lines: Sequence[str], said: str, name: str) -> tuple[Segment, ...]:
    """The segments of a record in order."""
    count = int(said) if len(said) < 9 else MOST_SEGMENTS + 1
    if not 1 <= count <= MOST_SEGMENTS or len(lines) < count:
        raise InputError(f"{name} names {len(lines)} of {plain(said, 20)} segments; copy it again.")
    found = []
    for number, line in enumerate(lines[:count], start=1):
        match = SEGMENT.fullmatch(line)
        if match is None or match[1] in (".", "..") or "/" in match[1] or "\\" in match[1]:
            raise InputError(f"{name}, segment {number}: {plain(line, 60)!r} is no name and length; copy it again.")
        found.append(Segment(match[1], int(match[2])))
    return tuple(found)


def _signal(line: str, name: str, number: int) -> Signal:
    fields = line.split(maxsplit=8)
    match = FORMAT.fullmatch(fields[1]) if len(fields) > 1 and len(fields[1]) < 40 else None
    gains = GAIN.fullmatch(fields[2]) if len(fields) > 2 and len(fields[2]) < 80 else None
    if match is None or (len(fields) > 2 and gains is None):
        raise InputError(f"{name}, channel {number}: '{plain(line, 60)}' has no format and gain; copy it again.")
    dummy = fields[0] == NOTHING
    if int(match[1]) not in GROUPS and not dummy:
        known = ", ".join(map(str, GROUPS))
        raise InputError(f"{name}, channel {number} has format {match[1]}; only {known} can be read: convert it to 16.")
    if match[3] and int(match[3]):
        raise InputError(f"{name}, channel {number} is shifted by {match[3]} samples, which cannot be undone yet.")
    if "/" in fields[0] or "\\" in fields[0] or fields[0] in ("-", "..", "."):
        raise InputError(f"{name}, channel {number}: {plain(fields[0], 40)!r} is no file beside it; copy it there.")
    zero = int(_number(fields[4] if len(fields) > 4 else None, 0.0, name))
    gain = _number(gains[1] if gains else None, 0.0, name) or USUAL_GAIN
    baseline = int(gains[2]) if gains and gains[2] else zero
    checksum = int(_number(fields[6], 0.0, name)) & 0xFFFF if len(fields) > 6 else None
    title = fields[8] if len(fields) > 8 else f"channel {number}"
    unit = gains[3] if gains and gains[3] else USUAL_UNIT
    each = int(match[2] or 1)
    if not 1 <= each <= 10_000:
        raise InputError(f"{name}, channel {number} has {each:,} samples in a frame; at least 1 and 10,000 at most.")
    return Signal(fields[0], int(match[1]), each, int(match[4] or 0), gain, baseline, unit, checksum, title)


def _number(text: str | None, usual: float, name: str) -> float:
    try:
        value = float(text) if text is not None else usual
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or abs(value) > 1e15:
        raise InputError(f"{name} has '{plain(text, 40)}' where a number should be; copy it again.")
    return value


def _frames(path: Path, name: str, signals: Sequence[Signal]) -> int:
    """The number of frames from the size of the first file, if the header does not give it."""
    first, size = beside(path, name, signals[0].file)
    group = [signal for signal in signals if signal.file == signals[0].file]
    frames = samples_in(size - group[0].offset, group[0].format) // sum(signal.each for signal in group)
    if frames < 1:
        raise InputError(f"{plain(first.name)} holds no samples; copy it again.")
    return frames


def beside(path: Path, name: str, file: str) -> tuple[Path, int]:
    """The path and the size of a file next to the header. Raises InputError if it is missing."""
    found = path.with_name(file)
    if file == NOTHING:
        raise InputError(f"{name} describes the channels of other files and has none itself; open the record instead.")
    if not found.exists():
        raise InputError(f"{name} needs {plain(file, 60)} beside it, which is not there; copy it there.")
    require_regular(found, "a file of samples")
    return found, found.stat().st_size
