"""The parts of a lesson. A lesson is a list of pages; a page has text, an experiment to set up, and at most one of a
question, an action and an exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_ops.params import Values

QuestionKind = Literal["number", "choice", "order"]
PANELS = ("pictures", "ladder", "xray", "block_steps", "sweep", "timeline")
"""The parts of the window that a page may open."""
TABS = ("report", "addresses", "block_sizes", "cliffs", "compare", "predicted", "ptx", "sass")
"""The tabs below the source in the X-ray that a page may open, in their order."""


@dataclass(frozen=True)
class Setup:
    """An experiment: a sample with its options and the steps after it (as `--step` takes them), a family of filters,
    parameters, and the ids of variants with their knobs. `panel` is the part of the window that shows it, one of
    PANELS; in the X-ray `tab` is the one of TABS in front, and `counter` the one for each line, "" for any."""

    sample: str
    filter: str
    variants: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    params: Values = field(default_factory=dict)
    knobs: Values = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    panel: str = "pictures"
    tab: str = "report"
    counter: str = ""


@dataclass(frozen=True)
class Trial:
    """A run of one variant that expressions name: the page's setup, with what differs."""

    name: str
    variant: str
    setup: Setup


@dataclass(frozen=True)
class Question:
    """A prediction that the reader makes before the page shows the answer.

    `answer` is the author's: a number, one of `choices`, or the choices in order. `computed` are the expressions that
    confirm it: of a number its value; of a choice a condition for each, of which exactly one holds; of an order a value
    for each, in which the order ascends. A number within the relative `tolerance` is right. `why` explains the answer.
    """

    kind: QuestionKind
    ask: str
    answer: Any
    computed: tuple[str, ...]
    why: str
    choices: tuple[str, ...] = ()
    tolerance: float = 0.0
    unit: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the answer is a number."""
        return self.kind == "number"

    def right(self, given: Any) -> bool:
        """Whether an answer is right. A number that is not finite never is."""
        if not self.is_number:
            return bool(given == self.answer)
        return bool(abs(float(given) - float(self.answer)) <= self.tolerance * abs(float(self.answer)))


@dataclass(frozen=True)
class Action:
    """Something to do in the window: `ask` says what. It is done when the experiment has these parameters and shows
    these variants ({} and () where any will do)."""

    ask: str
    params: Values = field(default_factory=dict)
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """A kernel to repair: the first file of a variant in which `find` is replaced once by `replace`. `hint` helps."""

    variant: str
    find: str
    replace: str
    ask: str
    hint: str = ""

    def broken(self, text: str) -> str:
        """The text of the file with its fault."""
        return text.replace(self.find, self.replace, 1)


@dataclass(frozen=True)
class Page:
    """One page: a title, text in Markdown, and what belongs to it. `line` is where it begins in its file, from 1."""

    title: str
    text: str
    setup: Setup | None = None
    trials: tuple[Trial, ...] = ()
    question: Question | None = None
    action: Action | None = None
    exercise: Exercise | None = None
    line: int = 1


@dataclass(frozen=True)
class Lesson:
    """A lesson. `id` is the name of its file, `minutes` how long a reader takes, `number` its place in the list."""

    id: str
    number: int
    title: str
    about: str
    minutes: int
    pages: tuple[Page, ...]
