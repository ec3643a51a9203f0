"""Hearing signals, through a sound library that writes down what it is given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot
from simulated_rows import shared_result

from app.base.worker import Engine
from app.controllers.look import Appearance
from app.controllers.playback import INPUT, Playback
from app.controllers.session import SessionController
from app.models.curves.sound import HIGHEST, LOWEST, Track, to_sound
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.models.results.view_data import OutputData
from app.shell.actions import build_actions, fill_menu_bar
from app.views.curves.sound_menu import SoundMenu
from app.views.window.main_window import MainWindow
from gpu_ops.version import install

RATE = 44100.0
ROOT = Path(__file__).parent.parent.parent


class Library:
    """What the window uses of the sound library. `turn` asks the open stream for a block, as the device would."""

    class PortAudioError(Exception):
        pass

    class CallbackStop(Exception):
        pass

    def __init__(self, channels: int = 2, refused: tuple[float, ...] = (), absent: bool = False, busy: bool = False):
        self.channels, self.refused, self.absent, self.busy = channels, refused, absent, busy
        self.streams: list[SimpleNamespace] = []

    def query_devices(self, *, kind: str) -> dict[str, Any]:
        assert kind == "output"
        if self.absent:
            raise self.PortAudioError("Error querying device -1")
        return {"name": "Speaker", "max_output_channels": self.channels, "default_samplerate": 48000.0}

    def check_output_settings(self, *, channels: int, dtype: str, samplerate: float) -> None:
        if samplerate in self.refused:
            raise self.PortAudioError("Invalid sample rate")

    def OutputStream(self, **options: Any) -> SimpleNamespace:  # noqa: N802
        if self.busy:
            raise self.PortAudioError("Device unavailable")
        stream = SimpleNamespace(**options, latency=0.0, calls=[])
        stream.start = lambda: stream.calls.append("start")
        stream.abort = lambda: (stream.calls.append("abort"), self._finish(stream))
        stream.close = lambda: stream.calls.append("close")
        self.streams.append(stream)
        return stream

    @staticmethod
    def _finish(stream: SimpleNamespace) -> None:
        assert stream.finished_callback() is None  # the real one refuses anything else

    def turn(self, count: int) -> np.ndarray[Any, Any]:
        stream = self.streams[-1]
        out = np.full((count, stream.channels), 9, stream.dtype)
        try:
            stream.callback(out, count, None, None)
        except self.CallbackStop:
            self._finish(stream)
        return out


class Controller(QObject):
    """The signals of a session's controller."""

    input_array_changed = Signal(object, object)
    stepped_array_changed = Signal(object, object)
    outputs_changed = Signal(str, str, object)

    def __init__(self) -> None:
        super().__init__()
        self.session = Session()

    def give(self, variant: str, array: Any) -> None:
        """A variant's result comes."""
        shown = OutputData(shared_result("signal", variant, array, None), array)
        self.outputs_changed.emit(variant, self.session.output.id, shown)

    def bring(self, array: Any, rate: float | None = RATE, kind: str = "signal") -> None:
        self.input_array_changed.emit(array, SimpleNamespace(kind=kind, rate=rate))


@pytest.fixture
def controller(qapp: QApplication) -> Iterator[Controller]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())  # for the numbers in sentences
    yield Controller()
    QLocale.setDefault(before)


def listener(controller: Controller, library: Callable[[], Any]) -> tuple[Playback, list[str]]:
    playback, said = Playback(controller, library, controller), []  # type: ignore[arg-type]
    playback.message.connect(lambda kind, sentence, _details: said.append(f"{kind}: {sentence}"))
    return playback, said


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def playback(controller: Controller, library: Library) -> Iterator[Playback]:
    playback, said = listener(controller, lambda: library)
    yield playback
    playback.stop()
    assert said == []


# Samples.


@pytest.mark.parametrize("dtype,low,middle,high", [
    ("uint8", 0, 128, 255), ("uint16", 0, 1 << 15, 65535), ("int8", -128, 0, 127), ("int16", -(1 << 15), 0, 32767),
    ("int32", -(1 << 31), 0, (1 << 31) - 1),
])  # fmt: skip
def test_integers_are_scaled_by_their_full_scale(dtype: str, low: int, middle: int, high: int) -> None:
    found = to_sound(np.array([[low], [middle], [high]], dtype))
    assert found.dtype == np.float32 and found[:2, 0].tolist() == [-1, 0]
    assert 0.99 < found[2, 0] <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_are_clipped_and_nan_is_silent(dtype: str) -> None:
    samples = np.array([[0.25, -3, np.nan], [7, np.inf, -np.inf]], dtype)
    found = to_sound(samples)
    assert found.dtype == np.float32 and found.tolist() == [[0.25, -1, 0], [1, 1, -1]]
    assert samples[0, 1] == -3


def test_only_real_numbers_make_sound() -> None:
    with pytest.raises(ValueError, match="integers or floats, not complex"):
        to_sound(np.zeros((2, 1), complex))


def test_a_track_ends_in_silence() -> None:
    track = Track(np.full((5, 2), 0.5, np.float32))
    out = np.full((4, 2), 9, np.float32)
    assert track.channels == 2 and track.fill(out) and (out == 0.5).all()
    assert not track.fill(out) and out[:, 0].tolist() == [0.5, 0, 0, 0]


# Playing.


def test_a_mono_input_is_played_to_its_end(qtbot: QtBot, controller: Controller, playback: Playback, library) -> None:
    signal = np.linspace(-1, 1, 100, dtype=np.float32)
    controller.bring(signal)
    assert playback.choices.keys() == {INPUT} and not playback.playing and not library.streams
    playback.toggle()
    stream = library.streams[0]
    assert playback.playing and stream.calls == ["start"]
    assert (stream.samplerate, stream.channels, stream.dtype) == (RATE, 1, "float32")
    heard = np.concatenate([library.turn(40) for _ in range(3)])
    assert np.array_equal(heard[:100, 0], signal) and not heard[100:].any()
    qtbot.waitUntil(lambda: not playback.playing)
    assert stream.calls == ["start", "abort", "close"]


def test_channels_stay_apart(controller: Controller, playback: Playback, library: Library) -> None:
    signal = np.array([[1000, -1000], [2000, -2000]], np.int16)
    controller.bring(signal)
    playback.toggle()
    assert np.allclose(library.turn(2), signal / 32768)


def test_the_place_that_is_heard_moves(
    qtbot: QtBot, controller: Controller, playback: Playback, library: Library
) -> None:
    places: list[float | None] = []
    playback.moved.connect(places.append)
    controller.bring(np.zeros(100_000, np.float32))
    playback.toggle()
    library.streams[0].latency = 0.5
    library.turn(44100)
    qtbot.waitUntil(lambda: 0.5 in places)
    playback.toggle()
    assert places[-1] is None and not playback.playing
    assert library.streams[0].calls == ["start", "abort", "close"]


def test_a_result_goes_on_where_the_input_was(controller: Controller, playback: Playback, library: Library) -> None:
    controller.session.set_picks(("serial", "parallel"))
    controller.bring(np.arange(8, dtype=np.float32) / 10)
    controller.give("serial", np.full(8, -0.5, np.float32))
    controller.give("spectrum", np.zeros(5, np.float32))  # another shape: not to be heard
    assert playback.choices.keys() == {INPUT, "serial"}
    playback.toggle()
    library.turn(2)
    playback.choose("serial")
    assert len(library.streams) == 1 and library.turn(2)[:, 0].tolist() == [-0.5, -0.5]
    controller.give("serial", np.full(8, 0.75, np.float32))  # a parameter was moved
    assert library.turn(1).tolist() == [[0.75]]
    playback.choose(INPUT)
    assert library.turn(1)[0, 0] == np.float32(0.5)
    playback.stop()
    playback.choose("serial")  # nothing played: from the start
    assert playback.playing and len(library.streams) == 2


def test_a_result_that_goes_is_no_longer_heard(controller: Controller, playback: Playback) -> None:
    controller.session.set_picks(("serial", "parallel"))
    controller.bring(np.zeros(8, np.float32))
    for variant in ("serial", "parallel"):
        controller.give(variant, np.zeros(8, np.float32))
    playback.choose("serial")
    controller.session.set_picks(("serial",))
    assert playback.playing and playback.choices.keys() == {INPUT, "serial"}
    controller.session.set_filter("mean1d" if controller.session.filter.id == "mean2d" else "mean2d")
    assert not playback.playing and playback.choices.keys() == {INPUT} and playback.chosen == INPUT


def test_other_noise_is_heard_at_once(controller: Controller, playback: Playback, library: Library) -> None:
    controller.bring(np.arange(8, dtype=np.float32) / 10)
    playback.toggle()
    library.turn(2)
    controller.stepped_array_changed.emit(np.full(8, 0.25, np.float32), None)
    assert library.turn(2)[:, 0].tolist() == [0.25, 0.25] and playback.playing


@pytest.mark.parametrize("kind", ["signal", "image"])
def test_another_input_ends_it(controller: Controller, playback: Playback, library: Library, kind: str) -> None:
    controller.bring(np.zeros(8, np.float32))
    playback.toggle()
    controller.bring(np.zeros((8, 8), np.float32), kind=kind)
    assert not playback.playing and library.streams[0].calls == ["start", "abort", "close"]
    assert playback.choices.keys() == ({INPUT} if kind == "signal" else set())


def test_an_unplugged_device_does_no_harm(controller: Controller, playback: Playback, library: Library) -> None:
    controller.bring(np.zeros(8, np.float32))
    playback.toggle()

    def gone() -> None:
        raise library.PortAudioError("Device unavailable")

    library.streams[0].abort = gone
    playback.stop()
    assert not playback.playing


# Why nothing is heard.


def missing() -> Any:
    raise ModuleNotFoundError("No module named 'sounddevice'")


def without_portaudio() -> Any:
    raise OSError("PortAudio library not found")


@pytest.mark.parametrize(
    "library,shape,rate,words",
    [
        (missing, (8,), RATE, ("sounddevice", install("audio"))),
        (without_portaudio, (8,), RATE, ("PortAudio", "sudo apt install libportaudio2)")),
        (lambda: Library(absent=True), (8,), RATE, ("No sound output", "connect or enable one")),
        (lambda: Library(busy=True), (8,), RATE, ("Speaker cannot be opened (Device unavailable)", "try again")),
        (lambda: Library(refused=(RATE,)), (8,), RATE, ("takes 48000 Hz and not 44100 Hz", "settings")),
        (lambda: Library(channels=2), (8, 3), RATE, ("Speaker has 2 channels but the signal has 3", "settings")),
        (missing, (8,), None, ("without a sample rate", "4000 to 384000 Hz")),
        (missing, (8,), 360.0, ("360 Hz cannot be played", "4000 to 384000 Hz")),
        (missing, (8,), 1e6, ("1000000 Hz cannot be played", "4000 to 384000 Hz")),
    ],
)
def test_why_nothing_is_heard(
    controller: Controller,
    library: Callable[[], Any],
    shape: tuple[int, ...],
    rate: float | None,
    words: tuple[str, ...],
) -> None:
    playback, said = listener(controller, library)
    controller.bring(np.zeros(shape, np.float32), rate)
    playback.toggle()
    assert not playback.playing and len(said) == 1 and said[0].startswith("warning: ")
    assert all(word in said[0] for word in words), said
    assert said[0].endswith((".", "libportaudio2)", install("audio")))


@pytest.mark.parametrize("rate", [LOWEST, HIGHEST])
def test_rates_at_the_limits_are_heard(controller: Controller, playback: Playback, rate: float) -> None:
    controller.bring(np.zeros(8, np.float32), rate)
    playback.toggle()
    assert playback.playing


def test_the_library_is_not_loaded_with_the_window() -> None:
    code = "import sys, app.shell.window; print('sounddevice' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"


# In the window.


def test_the_menu(qtbot: QtBot, controller: Controller, playback: Playback) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    actions = build_actions(window)
    menu = fill_menu_bar(window.menuBar(), actions)["view/sound"]
    sounds = SoundMenu(menu, actions["play"], playback, lambda: {"serial": "Serial & plain"})
    assert not actions["play"].isEnabled()
    controller.session.set_picks(("serial", "parallel"))
    controller.bring(np.zeros(8, np.float32))
    controller.give("serial", np.zeros(8, np.float32))
    menu.aboutToShow.emit()
    assert [a.text() for a in sounds.actions] == ["&1  Input", "&2  Serial && plain"]
    assert actions["play"].isEnabled() and sounds.actions[0].isChecked()
    sounds.actions[1].trigger()
    assert playback.chosen == "serial" and actions["play"].isChecked() and sounds.actions[1].isChecked()
    playback.stop()
    assert not actions["play"].isChecked()
    for _ in range(3):
        menu.aboutToShow.emit()
    assert [a for a in menu.actions() if a.isCheckable()] == [actions["play"], *sounds.actions]


def test_in_the_window(qtbot: QtBot) -> None:
    """The key's action plays, says why not, and closing is silent."""
    engine, library = Engine(), Library()
    session = SessionController(engine, Session(), Results())
    window = MainWindow(session, Appearance(QApplication.instance(), "light"))  # type: ignore[arg-type]
    qtbot.addWidget(window)
    window.show()
    play, playback = window.actions_by_id["play"], window.context.playback
    assert not play.isEnabled()
    samples = np.zeros(90_000, np.float32)
    result = shared_result("signal", "tone", samples, None, rate=RATE)
    shared = SimpleNamespace(kind="signal", rate=RATE, origin={}, name="tone", result=result)
    session.input_array_changed.emit(samples, shared)
    assert play.isEnabled()
    playback._library = missing
    play.trigger()
    assert "sounddevice" in window.messages.current().text and not play.isChecked()
    playback._library = lambda: library
    play.trigger()
    assert play.isChecked() and window.messages.current() is None
    library.turn(44100)
    qtbot.waitUntil(lambda: window.signal_pane.plot.heard.isVisible() and window.signal_pane.plot.heard.value() == 1.0)
    window.close()
    assert not playback.playing and library.streams[0].calls[-1] == "close"
    assert not window.signal_pane.plot.heard.isVisible()
    engine.close()
