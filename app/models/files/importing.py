"""How a file may be read: the choices that suit it, and those that were remembered for files like it. No widgets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpu_ops import FORMATS, KernelscopeError
from gpu_ops.io.opening import COLUMNS, FRAME, HEADER, MEMBER, PART, PROJECT, SEPARATOR, SERIES, Survey
from gpu_ops.params import Param, Value, Values

HEADER_LINES = 20
"""The most lines before a table that the dialog offers, unless the file has more."""
MOST_REMEMBERED = 50
_OF_STACKS = {FRAME.name, PROJECT.name}
_OF_ONE_FILE = {FRAME.name, PART.name, SERIES.name}
"""Choices that select a part of one file and do not apply to the next file."""


def has_survey(path: str) -> bool:
    """Whether a file of this name is likely to need choices. A folder is read with its defaults."""
    suffix = Path(path).suffix.lower()
    return any(suffix in format.suffixes and format.look is not None and format.asked for format in FORMATS)


def choices_of(survey: Survey, path: str) -> tuple[Param, ...]:
    """The choices of a file's format, by the title in its survey, or else by the file's suffix."""
    suffix = Path(path).suffix.lower()
    titled = [format for format in FORMATS if format.title == survey.title]
    fitting = titled or [format for format in FORMATS if suffix in format.suffixes]
    return fitting[0].choices if fitting else ()


def fields(choices: Sequence[Param], survey: Survey) -> tuple[Param, ...]:
    """The choices that apply to this file, narrowed to the values that it allows."""
    narrowed = (_narrowed(param, survey) for param in choices)
    return tuple(param for param in narrowed if param is not None)


def _narrowed(param: Param, survey: Survey) -> Param | None:
    """One choice with the values that this file allows; None where there is nothing to choose."""
    allowed = tuple(survey.allowed.get(param.name, ()))
    if param.name in _OF_STACKS and survey.frames <= 1:
        return None
    if param.name == FRAME.name:
        return replace(param, high=survey.frames - 1)
    if param.name == HEADER.name:
        most = max(HEADER_LINES, int(survey.found.get(param.name, 0)))
        return replace(param, choices=tuple(range(-1, most + 1)))
    if param.name in (PART.name, SERIES.name) and not allowed:
        return None
    if param.name == COLUMNS.name or not allowed:
        return param if column_names(survey) or param.name not in (COLUMNS.name, SEPARATOR.name) else None
    if param.name in (MEMBER.name, PART.name, SERIES.name):
        first = survey.found.get(param.name, allowed[0])
        return replace(param, choices=allowed, default=first) if len(allowed) > 1 else None
    return replace(param, choices=allowed if param.default in allowed else (param.default, *allowed))


def changed(values: Values, choices: Sequence[Param]) -> dict[str, Value]:
    """The values that differ from the defaults of the format's own choices."""
    return {p.name: values[p.name] for p in choices if p.name in values and values[p.name] != p.default}


def kind_key(survey: Survey) -> str:
    """A key for files that are read alike: their format, the names of their columns, or, without names, their number,
    and the names of their arrays."""
    names = column_names(survey)
    named = any(not name.strip().isdigit() for name in names)
    columns = list(names) if named else len(names)
    return json.dumps([survey.title, columns, [str(name) for name in survey.allowed.get(MEMBER.name, ())]])


def fits(values: Values, choices: Sequence[Param], survey: Survey) -> bool:
    """Whether these remembered values can be used in this file."""
    known = {param.name: param for param in fields(choices, survey)}
    try:
        return all(name in known and known[name].check(value) is not None for name, value in values.items())
    except KernelscopeError:
        return False


def must_ask(survey: Survey, values: Values | None) -> bool:
    """Whether the user must choose first: the remembered `values` do not say which part of this file to read."""
    return survey.asks and (values is None or PART.name in survey.allowed)


def lasting(values: Values) -> dict[str, Value]:
    """The values that apply to the next file as well."""
    return {name: value for name, value in values.items() if name not in _OF_ONE_FILE}


def column_names(survey: Survey) -> tuple[str, ...]:
    """The names of the columns to choose from, in the order of their numbers. A survey names them in the heading of its
    table, or, where its table has a row for each, as the allowed ones."""
    allowed = tuple(str(name) for name in survey.allowed.get(COLUMNS.name, ()))
    return survey.heading if set(allowed) <= set(survey.heading) else allowed


def pickable(survey: Survey) -> tuple[int, ...]:
    """The numbers of the columns that can be chosen."""
    allowed = survey.allowed.get(COLUMNS.name, ())
    return tuple(place for place, name in enumerate(column_names(survey)) if not allowed or name in allowed)


def row_choice(survey: Survey) -> str:
    """The choice whose values are the rows of the survey's table: columns, member, or "" where the rows are samples."""
    if column_names(survey) != survey.heading and survey.rows:
        return COLUMNS.name
    return MEMBER.name if survey.allowed.get(MEMBER.name) and survey.rows else ""


def chosen_columns(text: str, names: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the columns that a text such as "2,ecg,5-8" selects, as readers parse it: a name takes precedence
    over a number. () for the default. Words that match no column are ignored."""
    lower, whole = [name.casefold() for name in names], text.strip()
    places: list[int] = []
    for word in [whole] if whole.casefold() in lower else (part.strip() for part in whole.split(",")):
        ends = re.fullmatch(r"([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?", word)
        if word and word.casefold() in lower:
            places.append(names.index(word) if word in names else lower.index(word.casefold()))
        elif ends and 1 <= int(ends[1]) <= int(ends[2] or ends[1]) <= len(names):
            places += range(int(ends[1]) - 1, int(ends[2] or ends[1]))
    return tuple(dict.fromkeys(places))


def toggled(text: str, names: Sequence[str], place: int) -> str:
    """The text that selects the same columns, with this column added or removed."""
    places = set(chosen_columns(text, names)) ^ {place}
    return ",".join(_by_number(names, place) for place in sorted(places))


def _by_number(names: Sequence[str], place: int) -> str:
    """A column by its number; by its name where another column's name is that number."""
    return names[place] if str(place + 1) in names else str(place + 1)


def values_words(values: Values, choices: Sequence[Param]) -> str:
    """Choices in words: "columns 2,3, rate 100 Hz"."""
    units = {param.name: param.unit for param in choices}
    shown = ((name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in values.items())
    return ", ".join(f"{name} {text} {units.get(name, '')}".rstrip() for name, text in shown if text)


@dataclass(frozen=True)
class Question:
    """A file whose reader needs or allows choices. `choices` are those of its format, `values` those that differ from
    their defaults, and `key` is its kind_key. `remembered` says that values are remembered for this key."""

    path: str
    survey: Survey
    choices: tuple[Param, ...]
    values: Values = field(default_factory=dict)
    key: str = ""
    remembered: bool = False

    @property
    def fields(self) -> tuple[Param, ...]:
        """The choices that matter in this file."""
        return fields(self.choices, self.survey)


class Memory:
    """Remembered choices by kind of file, the newest last. `text` is their form in a settings file."""

    def __init__(self, text: str = "") -> None:
        self._values = _read(text)

    @property
    def text(self) -> str:
        return json.dumps(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: str) -> Values | None:
        """The values for a kind of file; None where there are none."""
        return self._values.get(key)

    def put(self, key: str, values: Values) -> None:
        """Remember these values; the oldest are forgotten."""
        others = {k: v for k, v in self._values.items() if k != key}
        kept = [*others.items(), (key, dict(values))][-MOST_REMEMBERED:]
        self._values = dict(kept)

    def drop(self, key: str) -> None:
        """Forget the values for a kind of file."""
        self._values.pop(key, None)


def _read(text: str) -> dict[str, Mapping[str, Value]]:
    """The choices in a settings file; none where its text is not of this program."""
    try:
        content = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {key: value for key, value in content.items() if isinstance(value, dict)}
