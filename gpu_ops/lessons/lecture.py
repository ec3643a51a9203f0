"""Lectures: scenes that are shown one after the other, in one TOML file. A fault names the file, the scene, and what to
do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu_ops.errors import KernelscopeError, plain, shortened
from gpu_ops.explaining.xray import XRay
from gpu_ops.lessons.checking import Figures, check_question, check_setup
from gpu_ops.lessons.experiments import input_of
from gpu_ops.lessons.fields import Fields, read_fields
from gpu_ops.lessons.lesson import Question, Setup, Trial
from gpu_ops.lessons.reading import LANGUAGE, check_computed, read_setup, read_trials

SHIPPED = Path(__file__).parents[2] / "resources" / "lectures"
SESSION = ".kernelscope"


@dataclass(frozen=True)
class Poll:
    """A question to the class. `answer` is one of `choices`. `computed` are the conditions that confirm it, as in a
    lesson, one for each choice; () for a question that nothing computes."""

    ask: str
    choices: tuple[str, ...]
    answer: str
    computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """What is shown: either `setup`, an experiment as in a lesson, or the `session` file at this path. `notes` are for
    the lecturer, `text` for the handout; both are Markdown. `trials` are the runs that the question's conditions name,
    `line` is where the scene begins in its file, from 1."""

    title: str
    text: str
    notes: str = ""
    setup: Setup | None = None
    session: Path | None = None
    poll: Poll | None = None
    trials: tuple[Trial, ...] = ()
    line: int = 1

    @property
    def panel(self) -> str:
        """The part of the window that shows the scene, one of PANELS."""
        return self.setup.panel if self.setup is not None else "pictures"

    @property
    def part(self) -> str:
        """What is alone on the screen at first: the panel, or "tabs" for the tab of the X-ray that the setup names,
        unless that is the report, which is read next to its source."""
        return "tabs" if self.setup is not None and self.setup.tab != "report" else self.panel


@dataclass(frozen=True)
class Lecture:
    """A lecture of about so many `minutes`, read from the file at `path`."""

    path: Path
    title: str
    about: str
    minutes: int
    scenes: tuple[Scene, ...]

    def where(self, place: int) -> str:
        """The file, its line and a scene, counted from 0, for messages."""
        scene = self.scenes[place]
        return f"{plain(self.path.name, 80)}, scene {place + 1} ({plain(scene.title, 60)}, line {scene.line})"


def shipped_lectures() -> tuple[Lecture, ...]:
    """The lectures that come with the program."""
    return tuple(read_lecture(path) for path in sorted((SHIPPED / LANGUAGE).glob("*.toml")))


def read_lecture(path: str | Path) -> Lecture:
    """The lecture in a file. Raises InputError for what is none, with all faults, one on each line; names are compared
    by `check_lecture`."""
    path = Path(path)
    fields = read_fields(path, "a lecture", collects=True)
    lecture = Lecture(
        path.absolute(),
        fields.text("title"),
        fields.text("about"),
        fields.integer("minutes"),
        tuple(_scene(scene, path.absolute().parent) for scene in fields.tables("scene")),
    )
    fields.finish()
    return lecture


def _scene(fields: Fields, folder: Path) -> Scene:
    if fields.has("setup") == fields.has("session"):
        fields.refuse(" needs either a setup, as in a lesson, or the name of a session's file.")
    name = fields.text("session") if fields.has("session") else ""
    if name and not name.endswith(SESSION):
        fields.refuse(f": session is {plain(name, 60)!r}; it must end in {SESSION}.", "session")
    setup = read_setup(fields.table("setup")) if fields.has("setup") else None
    scene = Scene(
        fields.text("title"),
        fields.text("text"),
        fields.text("notes", ""),
        setup,
        folder / name if name else None,
        _poll(fields.table("question"), setup) if fields.has("question") else None,
        read_trials(fields, setup),
        fields.line,
    )
    fields.finish()
    return scene


def _poll(fields: Fields, setup: Setup | None) -> Poll:
    ask, choices = fields.text("ask"), fields.texts("choices")
    answer = fields.one_of("answer", choices) if fields.fine else fields.text("answer")
    poll = Poll(ask, choices, answer, fields.texts("computed", ()))
    fields.finish()
    if poll.computed and fields.fine:
        check_computed(fields, poll.computed, len(choices))
        if setup is None:
            fields.refuse(": computed needs a setup; a session has no runs to compute from.", "computed")
    return poll


def check_lecture(lecture: Lecture) -> list[str]:
    """What is wrong in a lecture, a sentence for each fault; [] where nothing is. Counts on the simulated GPU what the
    questions compute."""
    rays = dict[str, XRay]()
    faults = ((place, fault) for place, scene in enumerate(lecture.scenes) for fault in _faults(scene, rays))
    return [f"{lecture.where(place)}: {fault}" for place, fault in faults]


def _faults(scene: Scene, rays: dict[str, XRay]) -> list[str]:
    if scene.session is not None:
        return [] if scene.session.is_file() else [missing(scene.session)]
    assert scene.setup is not None
    try:
        check_setup(scene.setup)
        input_of(scene.setup)
        for trial in scene.trials:
            check_setup(trial.setup).variant(trial.variant)
        poll = scene.poll
        if poll is None or not poll.computed:
            return []
        question = Question("choice", poll.ask, poll.answer, poll.computed, "", poll.choices)
        return check_question(question, Figures(scene.trials, rays))
    except KernelscopeError as error:
        return [shortened(error.sentence())]


def missing(session: Path) -> str:
    """The sentence about a session whose file has moved."""
    return f"there is no {plain(session)}; move the file there, or name its new place."
