"""Records of the European Data Format, EDF, EDF+ and BDF: continuous ones, discontinuous ones (EDF+D and BDF+D), whose
parts between gaps are read one by one, unfinished recordings, and records with channels without a scale. No library
here reads the last three.

In a discontinuous record the first annotation of every data record has its start time; adjacent data records form one
part. By the specifications of EDF (Kemp et al. 1992) and EDF+ (Kemp and Olivan 2003), sections 2.1 and 2.2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.io.inputs import Array
from gpu_ops.io.opening import PART, Decoded, Opening, Survey, note
from gpu_ops.io.signals.channels import Channel, choose, decoded_channels, survey_of
from gpu_ops.progress import advance

VERSION = b"0       "
BDF = b"\xffBIOSEMI"
FIXED, EACH = 256, 256
"""Bytes of the header before the channels, and of each channel."""
MOST_SIGNALS, MOST_RECORDS = 4096, 10**8
KIND = slice(192, 236)
"""The bytes of the header with the kind of record."""
KINDS = (b"EDF+D", b"BDF+D")
OPEN = b"-1"
"""The number of data records in the header of an unfinished recording."""
NOTES = ("EDF Annotations", "BDF Annotations")
ONSET = re.compile(rb"([+-]\d{1,15}(?:\.\d{1,15})?)(?:\x15[^\x14\x00]*)?\x14")
TOLERANCE = 1e-4
"""The share of a sample by which a record may begin too early or too late without a gap: the onsets are rounded."""
BLOCK = 1 << 24
"""Bytes that are read at a time."""
IN_A_SENTENCE, MOST_LISTED = 6, 100
"""The most parts that a sentence and a survey list."""


def is_edf(head: bytes) -> bool:
    """Whether a file begins with the header of an EDF record: a version, and a size that fits its number of
    channels."""
    size, count = head[184:192].strip(), head[252:256].strip()
    if not (head.startswith(VERSION) and size.isdigit() and count.isdigit()):
        return False
    return int(size) == FIXED + EACH * int(count)


def read_edf(opening: Opening) -> Decoded:
    """Physical values (N,) or (N, C) as float64, the rate in hertz, and the names of the channels with their units; of
    a record with gaps one part.

    Raises InputError for damaged and truncated files, for channels of different rates, and for gaps without a choice of
    the part; ParamError for a missing channel or part.
    """
    record = Records(opening)
    record.require_part()
    places = choose(opening, record.channels)
    channels = [record.channels[k] for k in places]
    array = np.empty((channels[0].samples, len(places)))
    record.read(places, array)
    part = {"step": "part", "index": record.chosen, "of": len(record.parts), "start": record.part.start}
    words = [*record.notes, *filter(None, [record.unscaled(places)])]
    return decoded_channels(array, channels, (*map(note, words), *([part] if record.has_gaps else [])))


def look_edf(opening: Opening) -> Survey:
    """The channels with their units, rates and lengths, and the parts of a record with gaps; asks where the rates
    differ, and where there are several parts."""
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


class Part(NamedTuple):
    """Data records without gaps between them: the index of the first, their number, and their start in seconds from the
    start of the record."""

    first: int
    records: int
    start: float


@dataclass(frozen=True)
class _Field:
    """A channel as the header has it. Its values begin `place` bytes into each data record."""

    channel: Channel
    each: int
    place: int
    offset: float
    step: float
    """The physical value is (stored + offset) * step."""
    notes: bool
    flat: bool
    """Whether the minimum and the maximum are equal, which gives no scale."""


class Records:
    """The data records of a file: its `channels`, with the lengths of the `part` that the choices ask for, and all
    `parts`, of which a continuous record has one. `notes` are remarks about missing facts in the header.

    Raises InputError for damaged files and for records out of order, ParamError for a missing part, OSError.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._damaged = InputError(f"{opening.name} is a damaged or cut record; copy it again.")
        with open(opening.path, "rb") as file:
            fixed = file.read(FIXED)
            count = self._whole(fixed[252:256], MOST_SIGNALS)
            fields = file.read(EACH * count)
        self._seconds, self.notes = self._number(fixed[244:252]), list[str]()
        self._bytes = 3 if fixed[KIND].startswith(b"BDF") else 2
        self._start = FIXED + EACH * count
        if not self._seconds > 0 or len(fields) < EACH * count:
            raise self._damaged
        self._fields = self._read_fields(fields, count)
        self._size = sum(field.each for field in self._fields) * self._bytes
        self._records = self._count_records(fixed[236:244])
        self.has_gaps = fixed[KIND].startswith(KINDS)
        self.parts = self._find_parts() if self.has_gaps else (Part(0, self._records, 0.0),)
        chosen = int(opening.choices.get(PART.name, PART.default))
        if chosen > 0 and not self.has_gaps:
            raise ParamError(f"{opening.name} has no gaps, and is one part; leave --{PART.name} out.")
        if chosen >= len(self.parts):
            raise ParamError(
                f"{opening.name} has {len(self.parts)} parts; choose one from 0 to {len(self.parts) - 1}, not {chosen}."
            )
        self.chosen = 0 if len(self.parts) == 1 else chosen
        self.part = self.parts[max(self.chosen, 0)]
        signals = [field for field in self._fields if not field.notes]
        self.channels = [f.channel._replace(samples=f.each * self.part.records) for f in signals]
        if not signals:
            raise InputError(f"{opening.name} has annotations only, and no channel; open another record.")

    def _count_records(self, field: bytes) -> int:
        """The number of data records: from the header, or from the size of the file if the header leaves it open."""
        size = os.path.getsize(self._opening.path)
        present, rest = divmod(size - self._start, self._size)
        if field.strip() != OPEN:
            records = self._whole(field, MOST_RECORDS)
            if (records, 0) != (present, rest):
                said = self._start + records * self._size
                raise InputError(
                    f"{self._opening.name} is damaged or cut: it has {size:,} bytes, and its header says "
                    f"{said:,}; copy it again."
                )
            return records
        if not 0 < present <= MOST_RECORDS:
            raise self._damaged
        lost = f"; {rest:,} bytes of another one at the end were left out" if rest else ""
        self.notes.append(f"the recording was not closed, so its {present} data records were counted{lost}")
        return present

    def unscaled(self, places: Sequence[int]) -> str:
        """The note on those of these channels whose scale is unknown; empty if all are known."""
        signals = [field for field in self._fields if not field.notes]
        flat = [plain(signals[k].channel.name, 40) for k in places if signals[k].flat]
        if not flat:
            return ""
        which = "channel" if len(flat) == 1 else "channels"
        return f"{which} {', '.join(flat)}: no scale, as the least value is also the greatest; given as stored"

    def span(self, index: int) -> str:
        """The start and end of a part: "9.75 s to 12.75 s"."""
        part = self.parts[index]
        return f"{part.start:,.10g} s to {part.start + part.records * self._seconds:,.10g} s"

    def words(self) -> str:
        """The parts with their times: "0 from 0 s to 10 s, 1 from 30 s to 45 s"."""
        shown = [f"{k} from {self.span(k)}" for k in range(min(len(self.parts), IN_A_SENTENCE))]
        more = len(self.parts) - IN_A_SENTENCE
        return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")

    def require_part(self) -> Part:
        """The part that is read. Raises InputError if there are several and none was chosen."""
        if self.chosen < 0:
            raise InputError(
                f"{self._opening.name} has gaps between {len(self.parts)} parts: {self.words()}; choose one with "
                f"--{PART.name}."
            )
        return self.part

    def read(self, places: Sequence[int], out: Array) -> None:
        """Fill `out`, (N, C), with the physical values of some channels in the part."""
        signals = [field for field in self._fields if not field.notes]
        fields, step = [signals[place] for place in places], max(1, BLOCK // self._size)
        with open(self._opening.path, "rb") as file:
            file.seek(self._start + self.part.first * self._size)
            for start in range(0, self.part.records, step):
                advance(start, self.part.records)
                count = min(step, self.part.records - start)
                data = file.read(count * self._size)
                if len(data) < count * self._size:
                    raise InputError(f"{self._opening.name} changed while it was read; load it again.")
                rows = np.frombuffer(data, np.uint8).reshape(count, self._size)
                for turn, field in enumerate(fields):
                    stored = _integers(rows[:, field.place : field.place + field.each * self._bytes], self._bytes)
                    where = slice(start * field.each, (start + count) * field.each)
                    out[where, turn] = (stored.reshape(-1) + field.offset) * field.step

    def _find_parts(self) -> tuple[Part, ...]:
        """The parts, from the start times of the data records."""
        onsets = self._onsets()
        finest = max(field.each for field in self._fields) / self._seconds
        late = np.diff(onsets) - self._seconds
        if (late < -TOLERANCE / finest).any():
            place = int(np.argmax(late < -TOLERANCE / finest)) + 1
            raise InputError(
                f"{self._opening.name}: record {place} begins before the one before it ends; its records must follow "
                "one another in time: save it again."
            )
        firsts = [0, *(np.flatnonzero(late > TOLERANCE / finest) + 1).tolist(), self._records]
        return tuple(Part(a, b - a, float(onsets[a] - onsets[0])) for a, b in zip(firsts[:-1], firsts[1:], strict=True))

    def _onsets(self) -> Array:
        """The start time of each data record in seconds, from the first of its annotations."""
        notes = next((field for field in self._fields if field.notes), None)
        if notes is None:
            raise InputError(
                f"{self._opening.name} says that it has gaps, and has no annotations that say where; save it again."
            )
        onsets = np.empty(self._records)
        with open(self._opening.path, "rb") as file:
            for record in range(self._records):
                advance(record, self._records)
                file.seek(self._start + record * self._size + notes.place)
                match = ONSET.match(file.read(min(notes.each * self._bytes, 64)))
                if match is None:
                    raise InputError(
                        f"{self._opening.name}: record {record} does not say when it begins; copy it again, or save it "
                        "as continuous EDF+."
                    )
                onsets[record] = float(match[1])
        return onsets

    def _read_fields(self, header: bytes, count: int) -> list[_Field]:
        """The channels; the header has each fact for all channels before the next fact."""

        def column(start: int, width: int, k: int) -> bytes:
            at = start * count + k * width
            return header[at : at + width]

        fields, place = [], 0
        for k in range(count):
            name = plain(column(0, 16, k).decode("latin-1").strip(), 40)
            unit = plain(column(96, 8, k).decode("latin-1").strip(), 20)
            low, high, bottom, top = (self._number(column(at, 8, k)) for at in (104, 112, 120, 128))
            each = self._whole(column(216, 8, k), 1 << 30)
            notes = name in NOTES
            step = (high - low) / (top - bottom) if top != bottom else 0.0
            flat = not notes and not step
            offset = high / step - top if step else 0.0
            channel = Channel(name, "" if flat else unit, each / self._seconds, 0)
            fields.append(_Field(channel, each, place, offset, step or 1.0, notes, flat))
            place += each * self._bytes
        return fields

    def _whole(self, field: bytes, most: int) -> int:
        number = int(field) if field.strip().isdigit() else 0
        if not 1 <= number <= most:
            raise self._damaged
        return number

    def _number(self, field: bytes) -> float:
        try:
            number = float(field)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise self._damaged
        return number


def _integers(rows: Array, width: int) -> Array:
    """Two's complement of 2 or 3 bytes, the lowest first, in float64."""
    if width == 2:
        return np.ascontiguousarray(rows).view("<i2").astype(np.float64)
    low, middle, high = (rows[:, k::3].astype(np.int32) for k in range(3))
    return (low | middle << 8 | ((high ^ 0x80) - 0x80) << 16).astype(np.float64)
