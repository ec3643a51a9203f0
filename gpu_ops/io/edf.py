"""Records of the European Data Format, EDF, EDF+ and BDF, read with pyedflib; those with gaps, which it does not take,
part by part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io.channels import Channel, choose, decoded_channels, survey_of
from gpu_ops.io.codec import codec
from gpu_ops.io.edf_parts import EACH, FIXED, MOST_LISTED, MOST_SIGNALS, Records, is_odd, part_step
from gpu_ops.io.opening import PART, Decoded, Opening, Survey, note
from gpu_ops.progress import advance, stage

VERSION = b"0       "
BDF = b"\xffBIOSEMI"
PIECE = 1 << 20
"""Samples of a channel that are read at a time."""


def is_edf(head: bytes) -> bool:
    """Whether a file begins with the header of an EDF record: a version, and a size that fits its number of
    channels."""
    size, count = head[184:192].strip(), head[252:256].strip()
    if not (head.startswith(VERSION) and size.isdigit() and count.isdigit()):
        return False
    return int(size) == FIXED + EACH * int(count)


def read_edf(opening: Opening) -> Decoded:
    """Physical values (N,) or (N, C) as float64, the rate in hertz, and the names of the channels with their units.

    Raises InputError for damaged and cut files, for channels of several rates, and where pyedflib is not installed;
    ParamError for a channel that is not there.
    """
    if is_odd(opening.path):
        return _read_part(opening)
    _check_one_part(opening)
    damaged = _damaged(opening)
    with _record(opening) as record:
        channels = _channels(opening, record)
        places = choose(opening, channels)
        samples = channels[places[0]].samples
        array = np.empty((samples, len(places)))
        for done, place in enumerate(places):
            for start in range(0, samples, PIECE):
                advance(done * samples + start, samples * len(places))
                count = min(PIECE, samples - start)
                with codec(damaged):
                    part = record.readSignal(place, start, count)
                if len(part) != count:
                    raise damaged
                array[start : start + count, done] = part
    return decoded_channels(array, [channels[k] for k in places])


def look_edf(opening: Opening) -> Survey:
    """The channels with their units, rates and lengths, and the parts of a record with gaps; asks where the rates
    differ, and where there are several parts."""
    if is_odd(opening.path):
        return _look_parts(opening)
    _check_one_part(opening)
    with _record(opening) as record:
        return survey_of(opening, "an EDF record", _channels(opening, record))


def _read_part(opening: Opening) -> Decoded:
    """One part of a record with gaps, or all of one whose header leaves something open."""
    record = Records(opening)
    record.require_part()
    channels = record.channels
    places = choose(opening, channels)
    array = np.empty((channels[places[0]].samples, len(places)))
    for turn, place in enumerate(places):
        with stage(turn, len(places)):
            record.read(place, array[:, turn])
    steps = (part_step(record),) if record.has_gaps else ()
    words = [*record.notes, *filter(None, [record.unscaled(places)])]
    return decoded_channels(array, [channels[k] for k in places], (*map(note, words), *steps))


def _look_parts(opening: Opening) -> Survey:
    record = Records(opening)
    found, count = survey_of(opening, "an EDF record", record.channels), len(record.parts)
    odd = tuple(("note", words) for words in (*record.notes, record.unscaled(range(len(record.channels)))) if words)
    found = replace(found, facts=(*found.facts, *odd))
    if count == 1:
        return found
    shown = tuple((f"part {k}", record.span(k)) for k in range(min(count, MOST_LISTED)))
    facts = (*found.facts, ("parts", f"{count:,}, with gaps between"), *shown)
    allowed, asks = {**found.allowed, PART.name: tuple(range(count))}, found.asks or record.chosen < 0
    chosen = {**found.found, PART.name: max(record.chosen, 0)}
    return replace(found, facts=facts, allowed=allowed, found=chosen, asks=asks)


def _check_one_part(opening: Opening) -> None:
    """Raises ParamError where another part than the only one is asked for."""
    if int(opening.choices.get(PART.name, PART.default)) > 0:
        raise ParamError(f"{opening.name} has no gaps, and is one part; leave --{PART.name} out.")


def _damaged(opening: Opening) -> InputError:
    return InputError(
        f"{opening.name} is a damaged, cut or interrupted EDF record; copy it again, or save it as continuous EDF+."
    )


def _check_size(opening: Opening) -> None:
    """Raises InputError where the file has another size than its header says."""
    with open(opening.path, "rb") as file:
        fixed = file.read(FIXED)
        count = _whole(fixed[252:256])
        fields = file.read(EACH * count) if 0 < count <= MOST_SIGNALS else b""
        size = file.seek(0, os.SEEK_END)
    records = _whole(fixed[236:244])
    each = [_whole(fields[start : start + 8]) for start in range(216 * count, 224 * count, 8)]
    if len(fields) < EACH * count or not each or min(each) < 1 or records < 1:
        raise _damaged(opening)
    wide = 3 if fixed.startswith(BDF) else 2
    needed_bytes = FIXED + EACH * count + records * sum(each) * wide
    if size != needed_bytes:
        raise InputError(
            f"{opening.name} is damaged or cut: it has {size} bytes, and its header says {needed_bytes}; copy it again."
        )


def _whole(field: bytes) -> int:
    """The number in a field of the header, -1 where it has none."""
    return int(field) if field.strip().isdigit() else -1


@contextmanager
def _record(opening: Opening) -> Iterator[Any]:
    try:
        import pyedflib
    except ImportError:
        raise InputError(
            f"{opening.name} needs pyedflib: install it with pip install 'kernelscope[formats]'."
        ) from None
    _check_size(opening)
    with codec(_damaged(opening)), redirect_stdout(StringIO()):
        record = pyedflib.EdfReader(os.fspath(opening.path), annotations_mode=pyedflib.DO_NOT_READ_ANNOTATIONS)
    try:
        yield record
    finally:
        record.close()


def _channels(opening: Opening, record: Any) -> list[Channel]:
    with codec(_damaged(opening)):
        counts = record.getNSamples()
        found = [
            Channel(
                record.getLabel(k).strip(),
                record.getPhysicalDimension(k).strip(),
                float(record.getSampleFrequency(k)),
                int(counts[k]),
            )
            for k in range(record.signals_in_file)
        ]
    if not found or any(channel.samples < 1 or not channel.rate > 0 for channel in found):
        raise InputError(f"{opening.name} has no channel, or one without samples or rate; save it again as EDF.")
    return found
