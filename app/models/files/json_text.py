"""JSON that a person can read and compare, and its values, each checked. No widgets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from PySide6.QtCore import QCoreApplication

from gpu_ops.errors import InputError, plain

WIDEST = 100
"""The most letters of a list or an object that is written on one line."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sessions", text)


def readable(value: Any, indent: str = "") -> str:
    """Indented JSON; short values, and every list of numbers, are written on one line. Paths that are not valid UTF-8
    are escaped."""
    inner = indent + "  "
    line = json.dumps(value, ensure_ascii=not _is_text(value), allow_nan=False)
    flat = not isinstance(value, Mapping | list | tuple) or not value
    if flat or (indent and len(line) <= WIDEST) or _is_row(value):
        return line
    if isinstance(value, Mapping):
        members = [f"{inner}{json.dumps(key)}: {readable(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + readable(item, inner) for item in value) + f"\n{indent}]"


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value)


def _is_text(value: Any) -> bool:
    """Whether a value can be written as UTF-8: file names need not be valid text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def parsed(text: str) -> Any:
    """The parsed value. Raises ValueError, also for NaN and infinity, and for too deep nesting."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


class Fields:
    """The members of a JSON object, read one by one with their types. Members that are not read are ignored. Every
    method raises InputError that names the member and what it must be; one with a default takes that where the member
    is missing."""

    def __init__(self, content: Any, place: str = "") -> None:
        if not isinstance(content, dict):
            raise InputError(_tr("{name} must be an object.").format(name=place or _tr("The content")))
        self._content, self._place = content, place

    def _bad(self, name: str, allowed: str) -> InputError:
        path = f"{self._place}.{name}" if self._place else name
        if name not in self._content:
            return InputError(_tr("{name} is missing; it must be {allowed}.").format(name=path, allowed=allowed))
        text = _tr("{name} must be {allowed}, not {value}.")
        return InputError(text.format(name=path, allowed=allowed, value=plain(repr(self._content[name]), 60)))

    def has(self, name: str) -> bool:
        """Whether the member exists and is not null."""
        return self._content.get(name) is not None

    def names(self) -> tuple[str, ...]:
        """The names of all members."""
        return tuple(self._content)

    def text(self, name: str, default: str | None = None) -> str:
        value = self._content.get(name, default)
        if not isinstance(value, str):
            raise self._bad(name, _tr("text"))
        return value

    def one_of(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        value = self._content.get(name, default)
        if value not in allowed:
            raise self._bad(name, _tr("one of {names}").format(names=", ".join(filter(None, allowed))))
        return str(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self._content.get(name, default)
        if not isinstance(value, bool):
            raise self._bad(name, _tr("true or false"))
        return value

    def count(self, name: str, default: int) -> int:
        value = self._content.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._bad(name, _tr("a whole number, 0 or more"))
        return value

    def number(self, name: str) -> float:
        """A finite number, which must be there."""
        value = self._content.get(name)
        if not _is_finite(value):
            raise self._bad(name, _tr("a number"))
        return float(cast(float, value))

    def number_of(self, name: str, allowed: Sequence[float], default: float) -> float:
        """One of these numbers."""
        value = self._content.get(name, default)
        if not _is_finite(value) or value not in allowed:
            raise self._bad(name, _tr("one of {names}").format(names=", ".join(f"{number:g}" for number in allowed)))
        return float(cast(float, value))

    def numbers(self, name: str, count: int) -> tuple[float, ...] | None:
        """This many finite numbers; None where the member is missing or null."""
        value = self._content.get(name)
        if value is None:
            return None
        fits = isinstance(value, list) and len(value) == count and all(map(_is_finite, value))
        if not fits:
            raise self._bad(name, _tr("{count} numbers").format(count=count))
        return tuple(value)

    def whole(self, name: str, count: int) -> tuple[int, ...] | None:
        """This many whole numbers from 0 on; None where the member is missing or null."""
        value = self.numbers(name, count)
        if value is None:
            return None
        if not all(isinstance(number, int) and number >= 0 for number in value):
            raise self._bad(name, _tr("{count} whole numbers, 0 or more").format(count=count))
        return tuple(int(number) for number in value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._content.get(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._bad(name, _tr("a list of texts"))
        return tuple(value)

    def objects(self, name: str) -> tuple[dict[str, Any], ...]:
        """A list of objects, empty by default."""
        value = self._content.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._bad(name, _tr("a list of objects"))
        return tuple(value)

    def values(self, name: str) -> dict[str, Any]:
        """The members of an object, unchecked; empty by default."""
        value = self._content.get(name, {})
        if not isinstance(value, dict):
            raise self._bad(name, _tr("an object"))
        return value

    def fields(self, name: str, needed: bool = False) -> Fields:
        """The members of an object; empty by default, unless it is `needed`."""
        if needed and name not in self._content:
            raise self._bad(name, _tr("an object"))
        path = f"{self._place}.{name}" if self._place else name
        return Fields(self.values(name), path)


def _is_finite(value: Any) -> bool:
    """Whether a number is finite as a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < 1e300 and math.isfinite(value)
