"""lesson: list the lessons, read one, or check files of lessons."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_ops.cli.tables import align
from gpu_ops.errors import FINE, WRONG, ParamError, counted, plain
from gpu_ops.lessons.checking import check_lesson
from gpu_ops.lessons.lesson import Lesson, Page
from gpu_ops.lessons.reading import read_lesson, shipped_lessons


def add_lesson(commands: Any) -> None:
    """The command `lesson` with its three actions."""
    text = "list the lessons, print them with their answers, or check that every answer is what is counted"
    parser = commands.add_parser("lesson", help=text, description=text)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("lessons", nargs="*", metavar="FILE", help="files or ids (default: all shipped lessons)")
    parser.set_defaults(json=None, command=run)


def run(args: argparse.Namespace) -> int:
    """List, show or check lessons. Exit code 3 where an answer is not what is counted."""
    lessons = [find_lesson(name) for name in args.lessons] or shipped_lessons()
    return ACTIONS[args.action](lessons)


def find_lesson(name: str) -> Lesson:
    """The lesson with this id, or in this file. Raises ParamError that names the ids."""
    shipped = {lesson.id: lesson for lesson in shipped_lessons()}
    if name in shipped:
        return shipped[name]
    if not Path(name).exists():
        raise ParamError(f"There is no lesson {plain(name, 60)!r}; choose from {', '.join(shipped)}, or name a file.")
    return read_lesson(name)


def _list(lessons: Sequence[Lesson]) -> int:
    print(align([("id", "takes", "lesson"), *((one.id, f"{one.minutes} min", one.title) for one in lessons)]))
    return FINE


def _show(lessons: Sequence[Lesson]) -> int:
    print("\n\n".join(map(handout, lessons)))
    return FINE


def _check(lessons: Sequence[Lesson]) -> int:
    return WRONG if any([_checked(lesson) for lesson in lessons]) else FINE


def _checked(lesson: Lesson) -> bool:
    """Print whether a lesson is right; returns whether it is not."""
    faults = check_lesson(lesson)
    questions = counted(sum(page.question is not None for page in lesson.pages), "question")
    print("\n".join(faults) or f"{lesson.id}: right, {counted(len(lesson.pages), 'page')}, {questions}")
    return bool(faults)


def handout(lesson: Lesson) -> str:
    """A lesson in Markdown, with the answers after the pages."""
    parts = [f"# {lesson.title}\n\n{lesson.about}"]
    parts += [f"## {n}. {page.title}\n\n{page.text}{_asked(page)}" for n, page in enumerate(lesson.pages, 1)]
    answers = [f"{n}. {_answer(page)}" for n, page in enumerate(lesson.pages, 1) if page.question or page.exercise]
    return "\n\n".join([*parts, "## Answers\n\n" + "\n".join(answers)] if answers else parts)


def _asked(page: Page) -> str:
    ask = next((part.ask for part in (page.question, page.action, page.exercise) if part), "")
    choices = "".join(f"\n* {choice}" for choice in page.question.choices) if page.question else ""
    return (f"\n\n**{ask}**" if ask else "") + (f"\n{choices}" if choices else "")


def _answer(page: Page) -> str:
    if page.exercise is not None:
        return f"Missing: `{page.exercise.find}`. {page.exercise.hint}".rstrip()
    question = page.question
    assert question is not None
    given = question.answer
    shown: Sequence[Any] = given if isinstance(given, tuple) else (given,)
    unit = f" {question.unit}" if question.unit else ""
    return f"{', '.join(map(str, shown))}{unit}. {' '.join(question.why.split())}"


ACTIONS: Mapping[str, Callable[[Sequence[Lesson]], int]] = {"list": _list, "show": _show, "check": _check}
