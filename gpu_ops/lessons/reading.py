"""Reads lessons from TOML files. A fault names the file, the page and the allowed names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.errors import InputError, plain
from gpu_ops.lessons.lesson import PANELS, Action, Exercise, Lesson, Page, Question, Setup, Trial
from gpu_ops.params import nearest

SHIPPED = Path(__file__).parents[2] / "resources" / "lessons"
LARGEST = 1 << 20
"""The largest file of a lesson, in bytes."""
LANGUAGE = "en"
KINDS = ("number", "choice", "order")


@cache
def shipped_lessons(language: str = LANGUAGE) -> tuple[Lesson, ...]:
    """The shipped lessons in their order; in English where there is no translation."""
    folder = SHIPPED / language
    paths = {p.name: p for p in (SHIPPED / LANGUAGE).glob("*.toml")} | {p.name: p for p in folder.glob("*.toml")}
    return tuple(sorted((read_lesson(path) for path in paths.values()), key=lambda lesson: lesson.number))


def read_fields(path: Path, what: str) -> Fields:
    """The entries of a TOML file of `what`. Raises InputError for what is none."""
    shown = plain(path.name, 80)
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{shown} has more than {LARGEST >> 20} MiB; {what} is one file of text.")
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown} is not UTF-8; save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{shown} is not TOML: {plain(error)}.") from None
    return Fields(content, shown)


def read_lesson(path: str | Path) -> Lesson:
    """The lesson in a file. Raises InputError for what is no lesson."""
    path = Path(path)
    fields = read_fields(path, "a lesson")
    shown = fields.where
    pages = fields.tables("page")
    lesson = Lesson(
        path.stem,
        fields.integer("number", 0),
        fields.text("title"),
        fields.text("about"),
        fields.integer("minutes"),
        tuple(_page(Fields(table, f"{shown}, page {n}")) for n, table in enumerate(pages, 1)),
    )
    fields.finish()
    return lesson


def _page(fields: Fields) -> Page:
    title, text = fields.text("title"), fields.text("text")
    setup = read_setup(fields.table("setup")) if fields.has("setup") else None
    runs = fields.table("runs") if fields.has("runs") else None
    if runs and setup is None:
        raise InputError(f"{fields.where}: runs need a setup; add [page.setup].")
    trials = tuple(_trial(name, runs.table(name), setup) for name in runs.names) if runs and setup else ()
    found = Page(
        title,
        text,
        setup,
        trials or (tuple(Trial(v, v, setup) for v in setup.variants) if setup else ()),
        _question(fields.table("question")) if fields.has("question") else None,
        _action(fields.table("action")) if fields.has("action") else None,
        _exercise(fields.table("exercise")) if fields.has("exercise") else None,
    )
    fields.finish()
    asked = [name for name in ("question", "action", "exercise") if getattr(found, name)]
    if len(asked) > 1:
        raise InputError(f"{fields.where} has {' and '.join(asked)}; a page has at most one of them.")
    if asked and asked != ["question"] and setup is None:
        raise InputError(f"{fields.where}: an {asked[0]} needs a setup; add [page.setup].")
    return found


def read_setup(fields: Fields, base: Setup | None = None) -> Setup:
    """The experiment in a table; what it does not name is that of `base`. Raises InputError."""
    old = base or Setup("", "", ())
    setup = Setup(
        fields.text("sample", old.sample or None),
        fields.text("filter", old.filter or None),
        fields.texts("variants", old.variants or None),
        fields.values("options", old.options if not fields.has("sample") else {}),
        {**old.params, **fields.values("params", {})},
        {**old.knobs, **fields.values("knobs", {})},
        fields.texts("steps", old.steps),
        fields.one_of("panel", PANELS, old.panel),
        fields.text("counter", old.counter),
    )
    fields.finish()
    _check_counter(setup, fields.where)
    return setup


def _check_counter(setup: Setup, where: str) -> None:
    """Raise InputError where a page has a counter that does not exist, or no X-ray that shows it."""
    known = (*COUNTERS, *FIGURES)
    if setup.counter and setup.counter not in known:
        text = f"{where}: there is no counter {plain(setup.counter, 40)!r}{nearest(setup.counter, known)}"
        raise InputError(f"{text}; choose from {', '.join(known)}.")
    if setup.counter and setup.panel != "xray":
        raise InputError(f'{where}: the counter {setup.counter} is shown in the X-ray; add panel = "xray".')


def _trial(name: str, fields: Fields, base: Setup) -> Trial:
    if not name.isidentifier():
        raise InputError(f"{fields.where}: {plain(name, 40)!r} is no name of a run; use letters, digits and _.")
    variant = fields.text("variant", base.variants[0])
    return Trial(name, variant, read_setup(fields, base))


def _question(fields: Fields) -> Question:
    kind = fields.one_of("kind", KINDS)
    choices = fields.texts("choices") if kind != "number" else ()
    computed = fields.texts("computed")
    if kind == "number":
        answer: Any = fields.number("answer")
    elif kind == "choice":
        answer = fields.one_of("answer", choices)
    else:
        answer = fields.texts("answer")
    if kind == "order" and sorted(answer) != sorted(choices):
        raise InputError(f"{fields.where}: the answer must have each choice once: {', '.join(choices)}.")
    wanted = 1 if kind == "number" else len(choices)
    if len(computed) != wanted:
        raise InputError(f"{fields.where}: computed has {len(computed)} expressions, of {wanted} that it must have.")
    tolerance = fields.number("tolerance", 0.0)
    question = Question(
        kind,  # type: ignore[arg-type]
        fields.text("ask"),
        answer,
        computed,
        fields.text("why"),
        choices,
        tolerance,
        fields.text("unit", ""),
    )
    fields.finish()
    return question


def _action(fields: Fields) -> Action:
    action = Action(fields.text("ask"), fields.values("params", {}), fields.texts("variants", ()))
    fields.finish()
    if not action.params and not action.variants:
        raise InputError(f"{fields.where} has no end; give params or variants that the reader must choose.")
    return action


def _exercise(fields: Fields) -> Exercise:
    exercise = Exercise(
        fields.text("variant"),
        fields.text("find"),
        fields.text("replace", ""),
        fields.text("ask"),
        fields.text("hint", ""),
    )
    fields.finish()
    return exercise


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
