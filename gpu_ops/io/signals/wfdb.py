"""Records in PhysioNet's WFDB format, as in the MIT-BIH databases: a header in text, and files of samples next to it.

A record may consist of segments, each a record itself. In a fixed layout all have the same channels; in a variable
layout the first segment only describes them, and the others have some of them. The format is described in the WFDB
manual, header(5) and signal(5). No library here reads it: the package wfdb needs pandas, matplotlib and network
clients.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.signals.channels import choose, decoded_channels, survey_of
from gpu_ops.io.signals.packed import bytes_of, unpack
from gpu_ops.io.signals.wfdb_header import NOTHING, Record, Signal, beside, channels_of, read_header
from gpu_ops.progress import advance, stage

FRAMES = 1 << 20


class _Part(NamedTuple):
    """A segment of a record: the frame where it begins, how to open it, and its header."""

    start: int
    opening: Opening
    record: Record


class _Whole(NamedTuple):
    """A record with the segments that have samples; `signals` are its channels, `by_name` says how a segment's channels
    are matched to them: by name, or by index."""

    record: Record
    signals: tuple[Signal, ...]
    parts: tuple[_Part, ...]
    by_name: bool


def read_record(opening: Opening) -> Decoded:
    """Physical values (N,) or (N, C) as float64, the rate in hertz, and the names of the channels with their units.
    Samples are NaN where they are marked as missing, in gaps between segments, and where a segment lacks the channel.

    Raises InputError for headers and files of samples that are damaged, truncated or missing, for unknown formats, and
    for channels of different rates; ParamError for a missing channel.
    """
    whole = _whole(opening)
    record, signals = whole.record, whole.signals
    places = choose(opening, channels := channels_of(signals, record.rate, record.frames))
    array = np.full((channels[places[0]].samples, len(places)), np.nan)
    files: dict[str, str] = {}
    for turn, part in enumerate(whole.parts):
        with stage(turn, len(whole.parts)):
            own = _own_places(part, whole, places)
            each = signals[places[0]].each
            rows = slice(part.start * each, (part.start + part.record.frames) * each)
            columns = {mine: array[rows, places.index(place)] for place, mine in own.items()}
            files |= _read_part(part, columns)
    return decoded_channels(array, [channels[k] for k in places], files=files)


def look_record(opening: Opening) -> Survey:
    """The channels with their units, rates and lengths, and the segments; asks where the rates differ."""
    whole = _whole(opening)
    found = survey_of(opening, "a WFDB record", channels_of(whole.signals, whole.record.rate, whole.record.frames))
    segments = whole.record.segments
    if not segments:
        return found
    gap = sum(s.frames for s in segments if s.name == NOTHING)
    words = f"{len(whole.parts):,}" + (f", with gaps of {gap / whole.record.rate:,.6g} s" if gap else "")
    return replace(found, facts=(*found.facts, ("segments", words)))


def _whole(opening: Opening) -> _Whole:
    """The record with the headers of its segments. Raises InputError where these do not agree, OSError."""
    record = read_header(opening.path, opening.name)
    if not record.segments:
        return _Whole(record, record.signals, (_Part(0, opening, record),), False)
    parts: list[_Part] = []
    signals: tuple[Signal, ...] = ()
    by_name, start = False, 0
    for turn, segment in enumerate(record.segments):
        advance(turn, len(record.segments))
        if segment.name != NOTHING:
            path, _ = beside(opening.path, opening.name, f"{segment.name}.hea")
            own = opening._replace(path=path, name=plain(path))
            found = read_header(path, own.name)
            _check_segment(found, segment.frames, record, own.name)
            if not signals:
                signals, by_name = found.signals, segment.frames == 0
            if segment.frames:
                parts.append(_Part(start, own, found))
        start += segment.frames
    if len(signals) != record.count:
        raise InputError(
            f"{opening.name} has {record.count:,} channels, and its first segment {len(signals):,}; copy both again."
        )
    return _Whole(record, signals, tuple(parts), by_name)


def _check_segment(found: Record, frames: int, record: Record, name: str) -> None:
    """Raises InputError for the header of a segment that does not match the record."""
    if found.segments:
        raise InputError(f"{name} is a segment that has segments itself; open one of its own.")
    if found.rate != record.rate:
        raise InputError(f"{name} has {found.rate:g} Hz, and its record {record.rate:g} Hz; copy both again.")
    if found.frames != frames:
        raise InputError(f"{name} has {found.frames:,} frames, and its record says {frames:,}; copy both again.")


def _own_places(part: _Part, whole: _Whole, places: Sequence[int]) -> dict[int, int]:
    """The indices of the requested channels in a segment, by their indices in the record; missing ones are left out.
    Raises InputError for a channel with another unit or number of samples per frame there."""
    signals = part.record.signals
    if not whole.by_name and len(signals) != len(whole.signals):
        raise InputError(
            f"{part.opening.name} has {len(signals):,} channels, and the segments before it {len(whole.signals):,}; "
            "copy it again."
        )
    names = [signal.name for signal in signals]
    own = {}
    for place in places:
        wanted = whole.signals[place]
        if whole.by_name and wanted.name not in names:
            continue
        own[place] = names.index(wanted.name) if whole.by_name else place
        found = signals[own[place]]
        if (found.each, found.unit) != (wanted.each, wanted.unit):
            raise InputError(
                f"{part.opening.name} has {plain(found.name, 40)} in {plain(found.unit, 20)}, {found.each} in a frame; "
                f"its record has {plain(wanted.unit, 20)}, {wanted.each} in a frame: choose other channels."
            )
    return own


def _read_part(part: _Part, columns: Mapping[int, Array]) -> dict[str, str]:
    """Fill the requested channels of one record, by their indices in it. Returns the hashes of its files by name."""
    signals, files = part.record.signals, {}
    names = list(dict.fromkeys(signals[k].file for k in columns))
    for turn, file in enumerate(names):
        with stage(turn, len(names)):
            group = [k for k, signal in enumerate(signals) if signal.file == file]
            files[file] = _read_file(part.opening, part.record, group, {k: columns[k] for k in group if k in columns})
    return files


def _read_file(opening: Opening, record: Record, group: Sequence[int], out: Mapping[int, Array]) -> str:
    """Fill the requested channels of one file with physical values. Returns the SHA-256 of its samples. `group` are all
    channels of the file. Raises InputError where it is truncated, or its checksums differ from the header's."""
    signals = [record.signals[k] for k in group]
    path, size = beside(opening.path, opening.name, signals[0].file)
    if len({(signal.format, signal.offset) for signal in signals}) > 1:
        raise InputError(f"{opening.name} gives {plain(path.name)} several formats; copy it again.")
    width = sum(signal.each for signal in signals)
    count, offset = record.frames * width, signals[0].offset
    needed_bytes = bytes_of(count, signals[0].format)
    if size - offset < needed_bytes:
        raise InputError(
            f"{plain(path.name)} is cut short: it holds {max(0, size - offset):,} of {needed_bytes:,} bytes of "
            "samples; copy it again."
        )
    sums, digest = dict.fromkeys(out, 0), hashlib.sha256()
    step = FRAMES // width // 12 * 12 or 12  # whole bytes, and whole groups of samples
    with open(path, "rb") as file:
        file.seek(offset)
        for start in range(0, record.frames, step):
            advance(start, record.frames)
            frames = min(step, record.frames - start)
            data = file.read(bytes_of(frames * width, signals[0].format))
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
    signals: Sequence[Signal],
    group: Sequence[int],
    out: Mapping[int, Array],
    sums: dict[int, int],
) -> None:
    """Copy the samples of some frames, (frames, width), into the requested channels, and add them to the checksums."""
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
