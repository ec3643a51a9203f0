"""Session files: what is saved opens again as it was, and what cannot be opened changes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import QObject

from app.controllers.session import SessionController
from app.controllers.sessions import SMALL, SessionFiles
from app.models.curves.lanes import ChannelChoice
from app.models.experiment.history import Choice
from app.models.experiment.session import Session
from app.models.files.session_file import SavedInput, SavedSession, parse_session, read_session, saved_of, session_text
from app.models.files.session_view import Offered, View, put_channels, put_probe
from app.models.pictures.probe import Line, Probe
from app.models.pictures.viewport import Rect
from app.models.results.results import Results
from app.models.settings import Settings
from gpu_ops import KernelscopeError, apply_steps, sample, save
from gpu_ops.engine.messages import Failed, Finished, LoadRequest, RunRequest, SampleRequest, Stepped, StepsRequest
from gpu_ops.engine.shared import SharedArray
from gpu_ops.types import Input

OFFERED = Offered(("ladder", "sweep"), ("linear", "logarithmic"))
STEPS = ({"step": "crop", "start": [2, 3], "shape": [20, 30]}, {"step": "invert", "off": True})
CHOICE = Choice("mean2d", {"window": 5, "border": "reflect"}, ("naive",))
VIEW = View(
    mode="swipe",
    pair=("input", "naive"),
    scale="logarithmic",
    colormap="viridis",
    levels="manual",
    low=1.0,
    high=9.5,
    region=Rect(1, 2, 8, 9),
    line=Line(0.5, 1.0, 9.0, 7.25),
    tool="profile",
    front="profile",
    scale_bar=False,
    stacked=True,
    tab="sweep",
    layout="AAAA",
    presenter=True,
    xray="naive",
    against="shared",
    xray_tab="compare",
)


class Engine(FakeEngine):
    """Makes samples as well, and answers later where a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Any] | None = None
        self.released: list[str] = []

    def start(self) -> None: ...

    def submit(self, request: Any) -> None:
        if self.held is not None and isinstance(request, LoadRequest | SampleRequest):
            self.asked.append(request)
            self.held.append(request)
        elif isinstance(request, SampleRequest):
            self.asked.append(request)
            self.show(sample(request.id, **request.options), request.job)
        elif isinstance(request, LoadRequest) and "bad" in request.path:
            self.asked.append(request)
            self.answered.emit(Failed(request.job, f"{Path(request.path).name} is empty."))
        else:
            super().submit(request)

    def answer(self, request: Any) -> None:
        self.held = None
        self.submit(request)

    def release(self, segment: str) -> None:
        self.released.append(segment)

    def cancel(self, job: int, kill: bool = True) -> None:
        if self.held is None:
            super().cancel(job, kill)

    def do_steps(self) -> None:
        """Answer the newest request for steps."""
        request = [r for r in self.asked if isinstance(r, StepsRequest)][-1]
        shared = request.input
        before = Input(shared.kind, self.array(shared.array), shared.axes, shared.name, shared.origin, shared.rate)
        after = apply_steps(before, request.steps)
        name = f"steps{len(self.arrays)}"
        self.arrays[name] = after.array
        array = SharedArray(name, after.array.shape, after.array.dtype.name)
        made = replace(shared, array=array, axes=after.axes, origin=after.origin)
        self.answered.emit(Stepped(request.job, made, (name,)))
        self.answered.emit(Finished(request.job))


class Place(QObject):
    """All of a window but its widgets, and what it would say."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.engine = Engine()
        self.controller = SessionController(self.engine, Session(), Results(), self)  # type: ignore[arg-type]
        self.session = self.controller.session
        self.session.set_devices(("sim",))
        self.settings = settings or Settings()
        self.sessions = SessionFiles(self.controller, self.settings, self)
        self.sessions.offered = OFFERED
        self.said: list[str] = []
        self.asked: list[tuple[str, dict[str, Callable[[], object]]]] = []
        self.wanted: list[tuple[str, Callable[[str], object]]] = []
        self.views: list[tuple[str, View]] = []
        for speaker in (self.controller, self.sessions):
            speaker.message.connect(lambda kind, text, details, subject: self.said.append(text))
        self.sessions.asked.connect(lambda *question: self.asked.append(question))
        self.sessions.file_wanted.connect(lambda *question: self.wanted.append(question))
        self.sessions.restored.connect(lambda saved: self.views.append(("restored", saved.view)))
        self.sessions.placed.connect(lambda saved: self.views.append(("placed", saved.view)))

    def state(self) -> tuple[Any, ...]:
        """Everything that an experiment is."""
        session = self.session
        assert session.original is not None
        origin = {k: v for k, v in session.original.origin.items() if k != "path"}
        keys = tuple(session.shown.key(v) for v in session.choice.picks)
        return origin, session.choice.filter, keys, session.steps, session.baseline, session.device, session.output.id

    @property
    def name(self) -> str:
        return self.session.original.name if self.session.original is not None else ""


@pytest.fixture
def place(qapp) -> Place:
    return Place()


@pytest.fixture
def stack(tmp_path: Path) -> str:
    path = tmp_path / "a" / "stäck of three.npy"
    path.parent.mkdir()
    save(path, np.random.default_rng(0).random((3, 40, 50), dtype=np.float32))
    return str(path)


def set_up(place: Place, path: str) -> None:
    """A frame of a stack with steps, knobs and more."""
    place.controller.open_file(path, {"frame": 2})
    session = place.session
    session.set_filter("conv3x3")
    session.set_param("border", "wrap")
    session.set_picks(("serial", "bytes"))
    session.set_knobs("bytes", {"block_y": 4})
    session.set_steps(STEPS)
    session.set_device("sim:sm_90")
    session.set_baseline("parallel")


def written(path: Path, saved: SavedSession, folder: Path | None = None) -> str:
    path.write_text(session_text(saved, str(folder or path.parent)))
    return str(path)


# Text


def test_the_text_is_small_and_says_the_same_again(stack: str, place: Place) -> None:
    set_up(place, stack)
    saved = saved_of(place.session, replace(VIEW, pair=("input", "bytes"), xray="bytes", against=""), stack)
    text = session_text(saved)
    assert parse_session(text.encode(), "", OFFERED) == saved
    assert '  "variants": ["serial", "bytes"],\n' in text and "stäck" in text
    assert len(text) < 3000 and max(map(len, text.splitlines())) < 200
    older = json.loads(text)
    del older["view"]["xray"]["tab"]
    assert parse_session(json.dumps(older).encode(), "", OFFERED).view == replace(saved.view, xray_tab="")


def test_a_signal_alone_says_the_same_again(place: Place) -> None:
    place.controller.open_sample("noise", {"length": 50, "channels": 3, "seed": 4})
    saved = saved_of(place.session, View(span=(3, 20), only=1))
    assert parse_session(session_text(saved).encode(), "", OFFERED) == saved
    assert saved.input.options["seed"] == 4 and saved.input.nbytes == 50 * 3 * 4


def changed(content: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """The content with another value at a place such as "input.kind"."""
    copy = json.loads(json.dumps(content))
    *path, last = place.split(".")
    at = copy
    for name in path:
        at = at[name]
    at[last] = value
    return copy


BAD = (
    ("schema", "kernelscope-session/3", "reads up to kernelscope-session/2: update"),
    ("schema", "kernelscope-report/1", "It is no session file"),
    ("schema", None, "schema must be text"),
    ("filter", "sharpen", "There is no filter 'sharpen'"),
    ("filter", "mean", "mean takes a"),
    ("variants", ["serial", "warp"], "has no variant 'warp'"),
    ("variants", "serial", "variants must be a list of texts"),
    ("params", {"window": 4}, "window must be"),
    ("params", {"windw": 5}, "did you mean window"),
    ("params", [], "params must be an object"),
    ("knobs", {"naive": {"blok": 64}}, "did you mean block"),
    ("knobs", {"naive": {"block": 3}}, "block must be"),
    ("knobs", {"warp": {}}, "has no variant 'warp'"),
    ("steps", [{"step": "sharpen"}], "There is no step 'sharpen'"),
    ("steps", [{"step": "crop", "start": [0], "shape": [5, 5]}], "start must be"),
    ("steps", [3], "steps must be a list of objects"),
    ("device", "tpu:1", "There is no device 'tpu:1'"),
    ("baseline", "warp", "baseline must be one of"),
    ("output", "sound", "output must be one of image"),
    ("input", None, "input must be an object"),
    ("input.kind", "video", "input.kind must be one of"),
    ("input.absolute", "", "names neither a file"),
    ("input.absolute", "/x/\0y", "names neither a file"),
    ("input.options", {"frame": -1}, "frame must be"),
    ("input.options", {"nonfinite": "maybe"}, "input.options.nonfinite must be one of"),
    ("input.sample", "lena", "There is no sample 'lena'"),
    ("view.compare", {"mode": "blink"}, "view.compare.mode must be one of"),
    ("view.compare", {"first": "warp"}, "view.compare.first must be one of"),
    ("view.region", [1, 2, 3], "view.region must be 4 numbers"),
    ("view.region", [1, 2, 3, -4], "view.region must be 4 whole numbers"),
    ("view.line", [1, 2, 3, 10**400], "view.line must be 4 numbers"),
    ("view.levels", {"mode": "manual", "low": 0}, "view.levels.high is missing"),
    ("view.channels", {"only": -1}, "view.channels.only must be a whole number"),
    ("view.scale_bar", "yes", "view.scale_bar must be true or false"),
    ("view.tab", "kitchen", "view.tab must be one of ladder, sweep"),
    ("view", 3, "view must be an object"),
)


LONG = "n" * 100_000
PLACES = (
    *("filter", "params", "variants.0", "knobs.naive", "knobs", "steps.0", "device", "baseline", "output", "schema"),
    *("input.kind", "input.absolute", "input.hash", "input.sample", "input.options", "view.compare", "view.tab"),
)


@pytest.mark.parametrize("where", PLACES)
def test_a_long_name_makes_no_long_sentence(where: str, place: Place, stack: str, tmp_path: Path) -> None:
    place.controller.open_file(stack, {"frame": 2})
    place.session.set_picks(("naive",))
    place.session.set_knobs("naive", {"block": 64})
    place.session.set_steps(STEPS)
    content = json.loads(session_text(saved_of(place.session, VIEW, stack)))
    *path, last = [int(name) if name.isdigit() else name for name in where.split(".")]
    at = content
    for name in path:
        at = at[name]
    if isinstance(at.get(last) if isinstance(at, dict) else at[last], dict):
        at[last][LONG] = LONG
    else:
        at[last] = LONG
    file, texts = tmp_path / "long.kernelscope", []
    file.write_text(json.dumps(content))
    try:
        parse_session(file.read_bytes(), str(tmp_path), OFFERED)
    except KernelscopeError as error:
        texts.append(str(error))
    place.sessions.open(str(file))
    for question, answers in list(place.asked):
        texts.append(question)
        for answer in answers.values():
            answer()
    texts += [*place.said, *(name for name, _ in place.wanted)]
    assert max(map(len, texts), default=0) < 600


@pytest.mark.parametrize(("where", "value", "words"), BAD, ids=[f"{place}-{k}" for k, (place, *_) in enumerate(BAD)])
def test_what_a_session_may_not_say(where: str, value: Any, words: str) -> None:
    input = SavedInput("image", ("/x/a.npy",), "", "abc")
    saved = SavedSession(input, CHOICE)
    content = json.loads(session_text(saved))
    parse_session(json.dumps(content).encode(), "", OFFERED)
    with pytest.raises(KernelscopeError) as raised:
        parse_session(json.dumps(changed(content, where, value)).encode(), "", OFFERED)
    assert words in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"[1]", b'{"schema": "kernelscope-session/1"', b"[" * 100_000, b'{"schema": NaN}', b"9" * 5000],
)
def test_damaged_files_are_a_sentence(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.kernelscope").write_bytes(data)
    with pytest.raises(KernelscopeError, match=r"damaged|must be an object"):
        read_session(str(tmp_path / "a.kernelscope"), OFFERED)


def test_what_is_no_file_or_much_too_large(tmp_path: Path) -> None:
    with pytest.raises(KernelscopeError, match="is a folder"):
        read_session(str(tmp_path), OFFERED)
    with pytest.raises(KernelscopeError, match="does not exist"):
        read_session(str(tmp_path / "gone.kernelscope"), OFFERED)
    (tmp_path / "a.kernelscope").write_bytes(b" " * (5 << 20))
    with pytest.raises(KernelscopeError, match="too large"):
        read_session(str(tmp_path / "a.kernelscope"), OFFERED)


def test_what_a_newer_minor_version_adds_is_passed_over() -> None:
    saved = SavedSession(SavedInput("image", ("/x/a.npy",), "", "abc"), CHOICE, output="image")
    content = json.loads(session_text(saved)) | {"schema": "kernelscope-session/2.7", "mood": "calm"}
    content["view"]["smell"] = [1]
    content["input"]["options"]["weather"] = "fair"
    assert parse_session(json.dumps(content).encode(), "", OFFERED) == saved


def test_a_size_of_the_first_schema_was_height_by_width() -> None:
    saved = SavedSession(SavedInput("image", (), "noise", "", 6, {"size": "47x33"}), CHOICE, output="image")
    content = json.loads(session_text(saved)) | {"schema": "kernelscope-session/1"}
    found = parse_session(json.dumps(content).encode(), "", OFFERED)
    assert found.input.options["size"] == "33x47"
    content["schema"] = "kernelscope-session/2"
    assert parse_session(json.dumps(content).encode(), "", OFFERED).input.options["size"] == "47x33"


# Saved and opened again


def test_a_stack_comes_back_with_its_frame_steps_and_runs(stack: str, place: Place, tmp_path: Path) -> None:
    set_up(place, stack)
    path = str(tmp_path / "walk.kernelscope")
    place.sessions.save(path, View())
    assert place.sessions.path == path
    other = Place()
    other.sessions.open(path)
    assert other.state() == place.state() and other.sessions.path == path and not other.said
    assert other.controller.inputs.opened is not None and other.controller.inputs.opened.options["frame"] == 2
    assert not other.session.can_undo and [name for name, _ in other.views] == ["restored"]
    other.engine.do_steps()
    assert [name for name, _ in other.views] == ["restored", "placed"] and other.session.input_steps
    request = [r for r in other.engine.asked if isinstance(r, RunRequest)][-1]
    assert request.input is other.session.input and [p.variant for p in request.picks] == ["serial"]


def test_a_session_runs_once(place: Place, tmp_path: Path) -> None:
    place.controller.open_sample("camera")
    place.session.set_picks(("serial",))
    place.sessions.save(str(tmp_path / "a.kernelscope"), View())
    other = Place()
    other.sessions.open(str(tmp_path / "a.kernelscope"))
    (request,) = [r for r in other.engine.asked if isinstance(r, RunRequest)]
    other.engine.answered.emit(Finished(request.job))  # what waits would begin now
    assert [r for r in other.engine.asked if isinstance(r, RunRequest)] == [request]


def test_a_table_comes_back_with_its_columns(place: Place, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b;c\n" + "\n".join(f"{k};{2 * k};{k * k}" for k in range(40)) + "\n")
    place.controller.open_file(str(tmp_path / "t.csv"), {"columns": "2,c", "rate": 50.0})
    place.session.set_param("window", 7)
    place.sessions.save(str(tmp_path / "t.kernelscope"), View(only=1))
    other = Place()
    other.sessions.open(str(tmp_path / "t.kernelscope"))
    assert other.state() == place.state() and other.session.params["window"] == 7
    assert other.session.original is not None and place.session.original is not None
    assert other.session.original.rate == 50 and other.session.original.array.shape == (40, 2)
    np.testing.assert_array_equal(*(p.engine.array(p.session.original.array) for p in (place, other)))


def test_folders_that_are_moved_together(stack: str, place: Place, tmp_path: Path) -> None:
    set_up(place, stack)
    folder = Path(stack).parent
    place.sessions.save(str(folder / "walk.kernelscope"), View())
    folder.rename(tmp_path / "b")
    other = Place()
    other.sessions.open(str(tmp_path / "b" / "walk.kernelscope"))
    assert other.state() == place.state()


def test_a_session_that_is_moved_alone_finds_its_file(stack: str, place: Place, tmp_path: Path) -> None:
    set_up(place, stack)
    place.sessions.save(str(Path(stack).with_name("walk.kernelscope")), View())
    Path(stack).with_name("walk.kernelscope").rename(tmp_path / "walk.kernelscope")
    other = Place()
    other.sessions.open(str(tmp_path / "walk.kernelscope"))
    assert other.state() == place.state()


def test_another_file_beside_the_session_is_passed_by(stack: str, place: Place, tmp_path: Path) -> None:
    set_up(place, stack)
    (tmp_path / "c").mkdir()
    place.sessions.save(str(Path(stack).with_name("walk.kernelscope")), View())
    Path(stack).with_name("walk.kernelscope").rename(tmp_path / "c" / "walk.kernelscope")
    save(tmp_path / "c" / Path(stack).name, np.zeros((3, 40, 50), np.float32))
    other = Place()
    other.sessions.open(str(tmp_path / "c" / "walk.kernelscope"))
    assert other.state() == place.state() and not other.asked


# What is in the way


def saved_walk(stack: str, tmp_path: Path) -> tuple[Place, str]:
    """A session that was saved, and its file."""
    made, path = Place(), str(tmp_path / "walk.kernelscope")
    set_up(made, stack)
    made.sessions.save(path, View())
    return made, path


def test_a_file_that_moved_is_asked_for(stack: str, place: Place, tmp_path: Path) -> None:
    made, path = saved_walk(stack, tmp_path)
    Path(stack).rename(tmp_path / "moved.npy")
    place.controller.open_sample("camera")
    before = place.state()
    place.sessions.open(path)
    ((text, choices),) = place.asked
    assert "stäck of three.npy" in text and "was not found at its path" in text and place.state() == before
    choices["Choose the file…"]()
    ((name, take),) = place.wanted
    assert name == "stäck of three.npy"
    take(str(tmp_path / "moved.npy"))
    assert place.state() == made.state() and place.sessions.path == path


def test_another_content_is_said_and_taken_only_on_demand(stack: str, place: Place, tmp_path: Path) -> None:
    made, path = saved_walk(stack, tmp_path)
    save(stack, np.ones((3, 60, 70), np.float32))
    place.controller.open_sample("camera")
    before = place.state()
    place.sessions.open(path)
    ((text, choices),) = place.asked
    assert "has changed since" in text and place.state() == before
    assert "segment1" in place.engine.released
    choices["Use it anyway"]()
    assert place.state()[1:] == made.state()[1:] and place.name == Path(stack).name and len(place.asked) == 1
    save(stack, np.full((3, 60, 70), 7, np.float32))
    choices["Use it anyway"]()
    assert len(place.asked) == 2  # it has changed once more


def test_a_file_of_another_kind_is_refused(stack: str, place: Place, tmp_path: Path) -> None:
    _, path = saved_walk(stack, tmp_path)
    save(stack, np.ones(50, np.float32))
    content = json.loads(Path(path).read_text())
    content["input"] |= {"options": {}, "hash": ""}
    Path(path).write_text(json.dumps(content))
    place.controller.open_sample("camera")
    before = place.state()
    place.sessions.open(path)
    assert "is a signal, and the session needs an image" in place.said[-1] and place.state() == before


@pytest.mark.parametrize("otherwise", [False, True])
def test_what_cannot_be_read_changes_nothing(place: Place, tmp_path: Path, otherwise: bool) -> None:
    path = written(tmp_path / "a.kernelscope", SavedSession(SavedInput("image", (str(tmp_path / "bad.npy"),)), CHOICE))
    (tmp_path / "bad.npy").write_bytes(b"")
    (tmp_path / "b.kernelscope").write_text("{")
    place.controller.open_sample("camera")
    before = place.state()
    calls: list[int] = []
    for count, (name, reason) in enumerate((("a", "bad.npy is empty."), ("b", "damaged")), start=1):
        place.sessions.open(str(tmp_path / f"{name}.kernelscope"), (lambda: calls.append(1)) if otherwise else None)
        assert reason in place.said[-1] and "everything stays as it is" in place.said[-1]
        assert place.state() == before and len(calls) == count * otherwise
    assert Path(path).exists()


def test_a_device_that_is_not_here_is_said(stack: str, place: Place, tmp_path: Path) -> None:
    made, path = saved_walk(stack, tmp_path)
    content = json.loads(Path(path).read_text()) | {"device": "cuda:0"}
    Path(path).write_text(json.dumps(content))
    place.sessions.open(path)
    assert place.session.device == "sim" and place.session.choice == made.session.choice
    assert place.said == ["The session ran kernels on cuda:0, which is not here; they run on sim now."]


# What comes between


def test_the_newer_of_two_sessions_wins(stack: str, place: Place, tmp_path: Path) -> None:
    _, first = saved_walk(stack, tmp_path)
    second = written(tmp_path / "b.kernelscope", SavedSession(SavedInput("image", (), "camera"), CHOICE))
    place.engine.held = []
    place.sessions.open(first)
    place.sessions.open(second)
    one, two = place.engine.held
    place.engine.answer(one)
    assert place.session.original is None and place.engine.released == ["segment0"]
    place.engine.answer(two)
    assert place.name == "camera" and place.sessions.path == second and place.session.filter.id == "mean2d"


@pytest.mark.parametrize("late", [False, True])
def test_another_input_that_is_opened_gives_the_session_up(
    stack: str, place: Place, tmp_path: Path, late: bool
) -> None:
    _, path = saved_walk(stack, tmp_path)
    place.engine.held = []
    place.sessions.open(path)
    place.controller.open_sample("camera")
    one, two = place.engine.held
    for request in (two, one) if late else (one, two):
        place.engine.answer(request)
    assert place.name == "camera" and place.session.filter.id == "mean2d" and place.sessions.path == ""
    assert len(place.engine.released) == 1 and not place.views


def test_cancel_gives_the_session_up(stack: str, place: Place, tmp_path: Path) -> None:
    _, path = saved_walk(stack, tmp_path)
    place.controller.open_sample("camera")
    before = place.state()
    place.engine.held = []
    place.sessions.open(path)
    (request,) = place.engine.held
    place.controller.cancel()
    place.engine.answer(request)
    assert place.state() == before and not place.views and not place.said


def test_another_input_while_steps_are_done(stack: str, place: Place, tmp_path: Path) -> None:
    _, path = saved_walk(stack, tmp_path)
    place.sessions.open(path)
    place.controller.open_sample("ecg")
    assert [name for name, _ in place.views] == ["restored"] and place.sessions.path == ""


def test_what_runs_stops_for_a_session_and_goes_on_without_it(stack: str, place: Place, tmp_path: Path) -> None:
    _, path = saved_walk(stack, tmp_path)
    place.controller.open_sample("camera")
    runs = len([r for r in place.engine.asked if isinstance(r, RunRequest)])
    Path(stack).write_bytes(b"")
    place.sessions.open(path)
    assert len([r for r in place.engine.asked if isinstance(r, RunRequest)]) == runs + 1
    assert place.name == "camera" and place.sessions.path == ""


# The last session


def stored(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings" / "window.ini")


def test_the_last_session_is_kept_and_begins_the_next_window(stack: str, tmp_path: Path, qapp) -> None:
    made = Place(stored(tmp_path))
    made.sessions.keep_last(View())
    assert not made.sessions.has_last  # nothing was open
    set_up(made, stack)
    made.sessions.keep_last(View())
    assert made.sessions.has_last and made.sessions.path == ""
    calls: list[int] = []
    other = Place(stored(tmp_path))
    other.sessions.begin(lambda: calls.append(1))
    assert other.state() == made.state() and not calls and other.sessions.path == ""
    third = Place(stored(tmp_path))
    third.settings.set_reopened(False)
    third.sessions.begin(lambda: calls.append(1))
    assert third.session.original is None and calls == [1]
    third.sessions.open_last()
    assert third.state() == made.state()


def test_a_large_last_session_is_offered(stack: str, tmp_path: Path, qapp) -> None:
    made, calls = Place(stored(tmp_path)), []
    set_up(made, stack)
    made.sessions.keep_last(View())
    file = tmp_path / "settings" / "last.kernelscope"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(changed(content, "input.bytes", SMALL + 1)))
    other = Place(stored(tmp_path))
    other.sessions.begin(lambda: calls.append(1))
    ((text, choices),) = other.asked
    assert calls == [1] and "64.00 MiB" in text and other.session.original is None
    choices["Open the last session"]()
    assert other.state() == made.state()


def test_a_last_session_that_cannot_be_opened_leaves_the_usual_beginning(stack: str, tmp_path: Path, qapp) -> None:
    made = Place(stored(tmp_path))
    set_up(made, stack)
    made.sessions.keep_last(View())
    Path(stack).unlink()
    other = Place(stored(tmp_path))
    other.sessions.begin(lambda: other.controller.open_sample("camera"))
    assert other.name == "camera" and "was not found at its path" in other.asked[0][0]
    (tmp_path / "settings" / "last.kernelscope").write_text("?")
    third = Place(stored(tmp_path))
    third.sessions.begin(lambda: third.controller.open_sample("camera"))
    assert third.name == "camera" and "damaged" in third.said[-1]


def test_a_result_in_the_place_of_the_input_leaves_the_last_session(stack: str, tmp_path: Path, qapp) -> None:
    made = Place(stored(tmp_path))
    set_up(made, stack)
    made.sessions.keep_last(View())
    before = (tmp_path / "settings" / "last.kernelscope").read_bytes()
    made.engine.show(Input("image", np.ones((4, 5)), "yx", "made", {"result": "mean2d"}))
    made.sessions.keep_last(View())
    assert (tmp_path / "settings" / "last.kernelscope").read_bytes() == before
    with pytest.raises(KernelscopeError, match="made is a result, which no file holds"):
        made.sessions.save(str(tmp_path / "x.kernelscope"), View())
    assert not (tmp_path / "x.kernelscope").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_no_session_and_keeps_no_window_waiting(tmp_path: Path, qapp) -> None:
    os.mkfifo(tmp_path / "walk.kernelscope")
    with pytest.raises(KernelscopeError, match="walk.kernelscope is a pipe, and a session must be a file"):
        read_session(str(tmp_path / "walk.kernelscope"), OFFERED)
    (tmp_path / "settings").mkdir()
    os.mkfifo(tmp_path / "settings" / "last.kernelscope")
    place = Place(stored(tmp_path))
    place.sessions.begin(lambda: place.controller.open_sample("camera"))
    assert place.name == "camera"
    os.mkfifo(tmp_path / "settings" / "window.ini")
    assert stored(tmp_path).recent == (), "settings stay in memory"


# Places in the input


def test_a_region_outside_of_the_input_is_left_out(qapp) -> None:
    probe, other = Probe(), View(region=Rect(1, 2, 8, 9), line=Line(0, 0, 5, 5), front="profile")
    assert put_probe(other, probe, (9, 8)) and (probe.region, probe.line, probe.last) == (
        other.region,
        other.line,
        "profile",
    )
    for bad in (replace(other, region=Rect(1, 2, 9, 9)), replace(other, line=Line(0, 0, 5, 9.5)), View(span=(0, 3))):
        assert not put_probe(bad, probe, (9, 8)) and not probe.any
    assert put_probe(View(span=(2, 5)), probe, (5,)) and probe.span == (2, 5)
    assert not put_probe(View(span=(2, 6)), probe, (5,)) and not put_probe(View(span=(3, 3)), probe, (5,))
    assert not put_probe(replace(other, region=Rect(4, 4, 4, 5)), probe, (9, 8))


def test_a_channel_that_is_not_there_shows_all(qapp) -> None:
    choice = ChannelChoice()
    choice.set_names(("I", "II"))
    assert put_channels(View(only=1, stacked=True), choice) and (choice.only, choice.stacked) == (1, True)
    assert not put_channels(View(only=2), choice) and (choice.only, choice.stacked) == (None, False)


def test_a_variant_that_is_several_now_is_all_of_them() -> None:
    image = SavedInput("image", (), "camera", "", 1 << 18, {})
    saved = SavedSession(image, Choice("wavelet2d", {"levels": 2}, ("fused", "recomputed")), baseline="recomputed")
    text = session_text(replace(saved, view=View(pair=("recomputed", "fused"), xray="recomputed", against="fused")))
    content = json.loads(text) | {"knobs": {"recomputed": {"block": 64, "details": "kept"}}}
    opened = parse_session(json.dumps(content).encode(), "", OFFERED)
    assert opened.choice.picks == ("fused", "recomputed_blocks", "warp_strips", "warp_recomputed", "two_levels")
    assert opened.choice.knobs["recomputed_blocks"] == {"block": 64} and not opened.choice.knobs["two_levels"]
    assert opened.baseline == opened.view.xray == opened.view.pair[0] == "warp_strips"
    assert opened.view.against == opened.view.pair[1] == "fused"
