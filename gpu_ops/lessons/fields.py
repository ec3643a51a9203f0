"""Reads files in TOML that a person has written. A fault names the file, the place and the allowed names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, plain

LARGEST = 1 << 20
"""The largest file, in bytes."""


def read_fields(path: Path, what: str) -> Fields:
    """The entries of a file that is `what`, such as "a lesson". Raises InputError where it is no TOML in UTF-8."""
    shown = plain(path.name, 80)
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{shown} has more than {LARGEST >> 20} MiB; {what} is one file of text.")
        return Fields(tomllib.loads(path.read_text(encoding="utf-8")), shown)
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown} is not UTF-8; save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{shown} is not TOML: {plain(error)}.") from None


class Fields:
    """The entries of a table, each read once. Every method raises InputError, which says where."""

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self._table, self.where, self._read = table, where, set[str]()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._table)

    def has(self, name: str) -> bool:
        return name in self._table

    def text(self, name: str, default: str | None = None) -> str:
        value = self._value(name, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self._wrong(name, "a text")
        return value.strip("\n")

    def integer(self, name: str, default: int | None = None) -> int:
        value = self._value(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self._value(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value or abs(value) > 1e300:
            raise self._wrong(name, "a number")
        return value

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts, or one text."""
        value = self._value(name, default)
        found = (value,) if isinstance(value, str) else value
        if not isinstance(found, list | tuple) or not all(isinstance(t, str) and t.strip() for t in found):
            raise self._wrong(name, "a list of texts")
        return tuple(found)

    def values(self, name: str, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        value = self._value(name, default)
        if not isinstance(value, Mapping):
            raise self._wrong(name, "a table, such as {window = 5}")
        return dict(value)

    def one_of(self, name: str, allowed: Iterable[str], default: str | None = None) -> str:
        value, allowed = self._value(name, default), tuple(allowed)
        if value not in allowed:
            raise self._wrong(name, f"one of {', '.join(allowed)}")
        return str(value)

    def table(self, name: str) -> Fields:
        value = self._value(name, None)
        if not isinstance(value, Mapping):
            raise self._wrong(name, "a table")
        return Fields(value, f"{self.where}, {name}")

    def tables(self, name: str) -> list[Mapping[str, Any]]:
        value = self._value(name, None)
        if not isinstance(value, list) or not value or not all(isinstance(v, Mapping) for v in value):
            raise self._wrong(name, f"one or more tables [[{name}]]")
        return value

    def finish(self) -> None:
        """Raise InputError for entries that nobody has read."""
        unknown = [plain(name, 40) for name in self._table if name not in self._read]
        if unknown:
            known = ", ".join(sorted(self._read))
            raise InputError(f"{self.where} has {', '.join(unknown)}, which is not known; it may have {known}.")

    def _value(self, name: str, default: Any) -> Any:
        self._read.add(name)
        if name not in self._table and default is None:
            raise InputError(f"{self.where} has no {name}; add it.")
        return self._table.get(name, default)

    def _wrong(self, name: str, wanted: str) -> InputError:
        return InputError(f"{self.where}: {name} is {plain(repr(self._table[name]), 60)}; it must be {wanted}.")
