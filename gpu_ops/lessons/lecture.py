"""Lectures: scenes that are shown one after the other, in one TOML file. A fault names the file, the scene, and what to
do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu_ops.errors import InputError, KernelscopeError, plain, shortened
from gpu_ops.lessons.checking import check_setup
from gpu_ops.lessons.experiments import input_of
from gpu_ops.lessons.fields import Fields, read_fields
from gpu_ops.lessons.lesson import Setup
from gpu_ops.lessons.reading import LANGUAGE, read_setup

SHIPPED = Path(__file__).parents[2] / "resources" / "lectures"
SESSION = ".kernelscope"


@dataclass(frozen=True)
class Poll:
    """A question to the class. `answer` is one of `choices`."""

    ask: str
    choices: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Scene:
    """What is shown: either `setup`, an experiment as in a lesson, or the `session` file at this path. `notes` are for
    the lecturer, `text` for the handout; both are Markdown."""

    title: str
    text: str
    notes: str = ""
    setup: Setup | None = None
    session: Path | None = None
    poll: Poll | None = None

    @property
    def panel(self) -> str:
        """The part of the window that the scene begins with, one of PANELS."""
        return self.setup.panel if self.setup is not None else "pictures"


@dataclass(frozen=True)
class Lecture:
    """A lecture of about so many `minutes`, read from the file at `path`."""

    path: Path
    title: str
    about: str
    minutes: int
    scenes: tuple[Scene, ...]

    def where(self, place: int) -> str:
        """The file and a scene, counted from 0, for messages."""
        return f"{plain(self.path.name, 80)}, scene {place + 1} ({plain(self.scenes[place].title, 60)})"


def shipped_lectures() -> tuple[Lecture, ...]:
    """The lectures that come with the program."""
    return tuple(read_lecture(path) for path in sorted((SHIPPED / LANGUAGE).glob("*.toml")))


def read_lecture(path: str | Path) -> Lecture:
    """The lecture in a file. Raises InputError for what is none; names are compared by `check_lecture`."""
    path = Path(path)
    fields = read_fields(path, "a lecture")
    scenes = [Fields(table, f"{fields.where}, scene {n}") for n, table in enumerate(fields.tables("scene"), 1)]
    lecture = Lecture(
        path.absolute(),
        fields.text("title"),
        fields.text("about"),
        fields.integer("minutes"),
        tuple(_scene(scene, path.absolute().parent) for scene in scenes),
    )
    fields.finish()
    return lecture


def _scene(fields: Fields, folder: Path) -> Scene:
    if fields.has("setup") == fields.has("session"):
        raise InputError(f"{fields.where} needs either a setup, as in a lesson, or the name of a session's file.")
    name = fields.text("session") if fields.has("session") else ""
    if name and not name.endswith(SESSION):
        raise InputError(f"{fields.where}: session is {plain(name, 60)!r}; it must end in {SESSION}.")
    scene = Scene(
        fields.text("title"),
        fields.text("text"),
        fields.text("notes", ""),
        read_setup(fields.table("setup")) if fields.has("setup") else None,
        folder / name if name else None,
        _poll(fields.table("question")) if fields.has("question") else None,
    )
    fields.finish()
    return scene


def _poll(fields: Fields) -> Poll:
    choices = fields.texts("choices")
    poll = Poll(fields.text("ask"), choices, fields.one_of("answer", choices))
    fields.finish()
    return poll


def check_lecture(lecture: Lecture) -> list[str]:
    """What is wrong in a lecture, a sentence for each scene; [] where nothing is. Runs no kernel."""
    faults = ((place, _fault(scene)) for place, scene in enumerate(lecture.scenes))
    return [f"{lecture.where(place)}: {fault}" for place, fault in faults if fault]


def _fault(scene: Scene) -> str:
    if scene.session is not None:
        return "" if scene.session.is_file() else missing(scene.session)
    assert scene.setup is not None
    try:
        check_setup(scene.setup)
        input_of(scene.setup)
    except KernelscopeError as error:
        return shortened(error.sentence())
    return ""


def missing(session: Path) -> str:
    """The sentence about a session whose file has moved."""
    return f"there is no {plain(session)}; move the file there, or name its new place."
