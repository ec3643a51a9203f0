"""Reads lessons from TOML files. A fault names the file, the page, the line and the allowed names."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.errors import plain
from gpu_ops.lessons.fields import Fields, read_fields
from gpu_ops.lessons.lesson import PANELS, TABS, Action, Exercise, Lesson, Page, Question, Setup, Trial
from gpu_ops.params import nearest

SHIPPED = Path(__file__).parents[2] / "resources" / "lessons"
LANGUAGE = "en"
KINDS = ("number", "choice", "order")


@cache
def shipped_lessons(language: str = LANGUAGE) -> tuple[Lesson, ...]:
    """The shipped lessons in their order; in English where there is no translation."""
    folder = SHIPPED / language
    paths = {p.name: p for p in (SHIPPED / LANGUAGE).glob("*.toml")} | {p.name: p for p in folder.glob("*.toml")}
    return tuple(sorted((read_lesson(path) for path in paths.values()), key=lambda lesson: lesson.number))


def read_lesson(path: str | Path) -> Lesson:
    """The lesson in a file. Raises InputError for what is no lesson, with all faults, one on each line."""
    path = Path(path)
    fields = read_fields(path, "a lesson", collects=True)
    lesson = Lesson(
        path.stem,
        fields.integer("number", 0),
        fields.text("title"),
        fields.text("about"),
        fields.integer("minutes"),
        tuple(map(_page, fields.tables("page"))),
    )
    fields.finish()
    return lesson


def _page(fields: Fields) -> Page:
    title, text = fields.text("title"), fields.text("text")
    setup = read_setup(fields.table("setup")) if fields.has("setup") else None
    found = Page(
        title,
        text,
        setup,
        read_trials(fields, setup),
        _question(fields.table("question")) if fields.has("question") else None,
        _action(fields.table("action")) if fields.has("action") else None,
        _exercise(fields.table("exercise")) if fields.has("exercise") else None,
        fields.line,
    )
    fields.finish()
    asked = [name for name in ("question", "action", "exercise") if getattr(found, name)]
    if len(asked) > 1:
        fields.refuse(f" has {' and '.join(asked)}; a page has at most one of them.")
    if asked and asked != ["question"] and setup is None:
        fields.refuse(f": an {asked[0]} needs a setup; add [page.setup].")
    return found


def read_trials(fields: Fields, setup: Setup | None) -> tuple[Trial, ...]:
    """The runs of a page or scene: those in its table of runs, else its variants."""
    if not fields.has("runs"):
        return tuple(Trial(variant, variant, setup) for variant in setup.variants) if setup else ()
    runs = fields.table("runs")
    if setup is None:
        fields.refuse(": runs need a setup; add one.")
        return ()
    return tuple(_trial(name, runs.table(name), setup) for name in runs.names)


def read_setup(fields: Fields, base: Setup | None = None) -> Setup:
    """The experiment in a table; what it does not name is that of `base`."""
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
        fields.one_of("tab", TABS, old.tab),
        fields.text("counter", old.counter),
    )
    fields.finish()
    if fields.fine:
        _check_xray(setup, fields)
    return setup


def _check_xray(setup: Setup, fields: Fields) -> None:
    """Refuse a counter that does not exist, and a page without an X-ray that shows it or the tab."""
    if fields.has("tab") and setup.panel != "xray":
        fields.refuse(f': the tab {setup.tab} is in the X-ray; add panel = "xray".', "tab")
    known = (*COUNTERS, *FIGURES)
    if setup.counter and setup.counter not in known:
        text = f": there is no counter {plain(setup.counter, 40)!r}{nearest(setup.counter, known)}"
        fields.refuse(f"{text}; choose from {', '.join(known)}.", "counter")
    elif setup.counter and setup.panel != "xray":
        fields.refuse(f': the counter {setup.counter} is shown in the X-ray; add panel = "xray".', "counter")


def _trial(name: str, fields: Fields, base: Setup) -> Trial:
    if not name.isidentifier():
        fields.refuse(f": {plain(name, 40)!r} is no name of a run; use letters, digits and _.")
    variant = fields.text("variant", next(iter(base.variants), ""))
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
    if kind == "order" and fields.fine and sorted(answer) != sorted(choices):
        fields.refuse(f": the answer must have each choice once: {', '.join(choices)}.", "answer")
    if fields.fine:
        check_computed(fields, computed, 1 if kind == "number" else len(choices))
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


def check_computed(fields: Fields, computed: tuple[str, ...], wanted: int) -> None:
    """Refuse another number of expressions."""
    if len(computed) != wanted:
        fields.refuse(f": computed has {len(computed)} expressions, of {wanted} that it must have.", "computed")


def _action(fields: Fields) -> Action:
    action = Action(fields.text("ask"), fields.values("params", {}), fields.texts("variants", ()))
    fields.finish()
    if fields.fine and not action.params and not action.variants:
        fields.refuse(" has no end; give params or variants that the reader must choose.")
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
