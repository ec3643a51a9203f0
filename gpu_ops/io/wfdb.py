"""Records of PhysioNet's WFDB form, as of the MIT-BIH databases: a header in text, and files of samples beside it.

The form is described in the WFDB manual, header(5) and signal(5).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.channels import Channel, choose, survey_of
from gpu_ops.io.columns import labels_of
from gpu_ops.io.inputs import Array
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.packed import BITS, unpack
from gpu_ops.io.regular import require_regular
from gpu_ops.progress import advance, stage
from gpu_ops.types import Facts

LONGEST_HEADER = 1 << 20
MOST_SIGNALS = 1000
USUAL_GAIN, USUAL_RATE, USUAL_UNIT = 200.0, 250.0, "mV"
"""What the manual takes where a header is silent."""
RECORD = re.compile(r"(\S+?)(/\d+)?\s+(\d+)(?:\s+([0-9.eE+]+)\S*(?:\s+(\d+))?.*)?")
FORMAT = re.compile(r"(\d+)(?:x(\d+))?(?::(\d+))?(?:\+(\d+))?")
GAIN = re.compile(r"([-0-9.eE+]+)(?:\((-?\d+)\))?(?:/(\S+))?")
FRAMES = 1 << 20


@dataclass(frozen=True)
class _Signal:
    """One line of a header: `file` beside it, number of the `format`, `each` samples in a frame, `offset` in bytes."""

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
class _Record:
    rate: float
    frames: int
    signals: tuple[_Signal, ...]

    def channels(self) -> list[Channel]:
        return [Channel(s.name, s.unit, self.rate * s.each, self.frames * s.each) for s in self.signals]


def read_record(opening: Opening) -> Decoded:
    """Physical values (N,) or (N, C) as float64, NaN where a sample is marked as missing, the rate in hertz, and the
    names of the channels with their units.

    Raises InputError for headers and files of samples that are damaged, cut or missing, for forms that it does not
    know, and for channels of several rates; ParamError for a channel that is not there.
    """
    record = _header(opening)
    places = choose(opening, channels := record.channels())
    array = np.empty((channels[places[0]].samples, len(places)))
    files: dict[str, str] = {}
    names = list(dict.fromkeys(record.signals[k].file for k in places))
    for turn, file in enumerate(names):
        with stage(turn, len(names)):
            group = [k for k, signal in enumerate(record.signals) if signal.file == file]
            files[file] = _read_file(
                opening, record, group, {k: array[:, places.index(k)] for k in group if k in places}
            )
    labels = labels_of([channels[k].label for k in places])
    step = {"step": "physical", "units": [channels[k].unit for k in places], "files": files}
    return Decoded(array[:, 0] if len(places) == 1 else array, channels[places[0]].rate, (step,), Facts(labels=labels))


def look_record(opening: Opening) -> Survey:
    """The channels with their units, rates and lengths; asks where their rates differ."""
    return survey_of(opening, "a WFDB record", _header(opening).channels())


def _header(opening: Opening) -> _Record:
    name = opening.name
    with open(opening.path, "rb") as file:
        data = file.read(LONGEST_HEADER + 1)
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    match = RECORD.fullmatch(lines[0]) if lines and len(data) <= LONGEST_HEADER else None
    if match is None:
        raise InputError(f"{name} is no header of a WFDB record; its first line is a name, channels, rate and length.")
    if match[2]:
        raise InputError(f"{name} is a record of several segments; open the header of one of them.")
    count = int(match[3]) if len(match[3]) < 9 else MOST_SIGNALS + 1
    if not 1 <= count <= MOST_SIGNALS or len(lines) < 1 + count:
        raise InputError(f"{name} describes {len(lines) - 1} of {plain(match[3], 20)} channels; copy it again.")
    signals = tuple(_signal(line, name, k + 1) for k, line in enumerate(lines[1 : 1 + count]))
    rate = _number(match[4], USUAL_RATE, name)
    if not 0 < rate < 1e12:
        raise InputError(f"{name} has a rate of {rate:g} Hz; a rate is above 0: correct its first line.")
    frames = int(match[5]) if match[5] and len(match[5]) < 16 else 0
    return _Record(rate, frames or _frames(opening, signals), signals)


def _signal(line: str, name: str, number: int) -> _Signal:
    fields = line.split(maxsplit=8)
    match = FORMAT.fullmatch(fields[1]) if len(fields) > 1 and len(fields[1]) < 40 else None
    gains = GAIN.fullmatch(fields[2]) if len(fields) > 2 and len(fields[2]) < 80 else None
    if match is None or (len(fields) > 2 and gains is None):
        raise InputError(f"{name}, channel {number}: '{plain(line, 60)}' has no format and gain; copy it again.")
    if int(match[1]) not in BITS:
        known = ", ".join(map(str, BITS))
        raise InputError(f"{name}, channel {number} has format {match[1]}; only {known} can be read: convert it to 16.")
    if match[3] and int(match[3]):
        raise InputError(f"{name}, channel {number} is shifted by {match[3]} samples, which cannot be undone yet.")
    if "/" in fields[0] or "\\" in fields[0] or fields[0] in ("-", "~", "..", "."):
        raise InputError(f"{name}, channel {number}: {plain(fields[0], 40)!r} is no file beside it; copy it there.")
    zero = int(_number(fields[4] if len(fields) > 4 else None, 0.0, name))
    gain = _number(gains[1] if gains else None, 0.0, name) or USUAL_GAIN
    baseline = int(gains[2]) if gains and gains[2] else zero
    checksum = int(_number(fields[6], 0.0, name)) & 0xFFFF if len(fields) > 6 else None
    title = fields[8] if len(fields) > 8 else f"channel {number}"
    unit = gains[3] if gains and gains[3] else USUAL_UNIT
    each = int(match[2] or 1)
    if not 1 <= each <= 10_000:
        raise InputError(f"{name}, channel {number} has {each} samples in a frame; at least 1 and 10000 at most.")
    return _Signal(fields[0], int(match[1]), each, int(match[4] or 0), gain, baseline, unit, checksum, title)


def _number(text: str | None, usual: float, name: str) -> float:
    try:
        value = float(text) if text is not None else usual
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or abs(value) > 1e15:
        raise InputError(f"{name} has '{plain(text, 40)}' where a number should be; copy it again.")
    return value


def _frames(opening: Opening, signals: Sequence[_Signal]) -> int:
    """The number of frames by the size of the first file, where the header does not say it."""
    path, size = _beside(opening, signals[0].file)
    group = [signal for signal in signals if signal.file == signals[0].file]
    bits = sum(signal.each for signal in group) * BITS[group[0].format]
    frames = (size - group[0].offset) * 8 // bits
    if frames < 1:
        raise InputError(f"{plain(path.name)} holds no samples; copy it again.")
    return frames


def _beside(opening: Opening, file: str) -> tuple[Path, int]:
    """The path and the size of a file of samples."""
    path = opening.path.with_name(file)
    if not path.exists():
        raise InputError(f"{opening.name} needs {plain(file, 60)} beside it, which is not there; copy it there.")
    require_regular(path, "a file of samples")
    return path, path.stat().st_size


def _read_file(opening: Opening, record: _Record, group: Sequence[int], out: Mapping[int, Array]) -> str:
    """Fill the wanted channels of one file with physical values; returns the SHA-256 of its samples. `group` are all
    channels of the file. Raises InputError where it is cut, or does not have the sums of its header."""
    signals = [record.signals[k] for k in group]
    path, size = _beside(opening, signals[0].file)
    if len({(signal.format, signal.offset) for signal in signals}) > 1:
        raise InputError(f"{opening.name} gives {plain(path.name)} several formats; copy it again.")
    width = sum(signal.each for signal in signals)
    count, offset = record.frames * width, signals[0].offset
    needed_bytes = -(-count * BITS[signals[0].format] // 8)
    if size - offset < needed_bytes:
        raise InputError(
            f"{plain(path.name)} is cut short: it holds {max(0, size - offset)} of {needed_bytes} bytes of samples; "
            "copy it again."
        )
    sums, digest = dict.fromkeys(out, 0), hashlib.sha256()
    step = FRAMES // width // 12 * 12 or 12  # whole bytes, and whole groups of samples
    with open(path, "rb") as file:
        file.seek(offset)
        for start in range(0, record.frames, step):
            advance(start, record.frames)
            frames = min(step, record.frames - start)
            data = file.read(-(-frames * width * BITS[signals[0].format] // 8))
            digest.update(data)
            samples, missing = unpack(data, frames * width, signals[0].format)
            if len(samples) < frames * width:
                raise InputError(f"{plain(path.name)} changed while it was read; load it again.")
            _spread(samples.reshape(frames, width), missing, start, signals, group, out, sums)
    for k, total in sums.items():
        expected = record.signals[k].checksum
        if expected is not None and total & 0xFFFF != expected:
            raise InputError(
                f"{plain(path.name)} is damaged: the sum of channel {k + 1} is {total & 0xFFFF}, and "
                f"{opening.name} says {expected}; copy both again."
            )
    return digest.hexdigest()


def _spread(
    samples: Array,
    missing: int | None,
    start: int,
    signals: Sequence[_Signal],
    group: Sequence[int],
    out: Mapping[int, Array],
    sums: dict[int, int],
) -> None:
    """Put the samples of some frames, (frames, width), into the wanted channels, and add them up."""
    column = 0
    for k, signal in zip(group, signals, strict=True):
        if k in out:
            own = samples[:, column : column + signal.each].reshape(-1)
            sums[k] += int(own.sum(dtype=np.int64))
            values = (own - float(signal.baseline)) / signal.gain
            if missing is not None:
                values[own == missing] = np.nan
            out[k][start * signal.each : start * signal.each + len(own)] = values
        column += signal.each
