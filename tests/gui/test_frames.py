"""Frames of a stack in the window: which one shows, what stays, playback, and a filter over all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import live_window, real_engine, settle
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from scipy.ndimage import uniform_filter
from test_belonging import bring, engine, finish, kinds, run, state, verify

from app.controllers.frames import FrameController
from app.models.experiment.noise import Noise
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import save
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import (
    Finished,
    FramesRequest,
    LoadRequest,
    Ready,
    RunRequest,
    StepsRequest,
    XRayRequest,
)

PICKS = ("serial", "parallel")
COUNT = 12


class SlowEngine(FakeEngine):
    """Loads when the test says so; a cancelled job ends then as well."""

    def __init__(self) -> None:
        super().__init__()
        self.slow, self.waiting, self.cancelled, self.released = False, [], [], []

    def submit(self, request: Any) -> None:
        if self.slow and isinstance(request, LoadRequest):
            self.asked.append(request)
            self.waiting.append(request)
        else:
            super().submit(request)

    def load(self) -> None:
        """Do the loading that waits longest."""
        request = self.waiting.pop(0)
        self.asked.remove(request)
        super().submit(request)

    def cancel(self, job: int, kill: bool = True) -> None:
        self.cancelled.append((job, kill))
        super().cancel(job, kill)

    def release(self, segment: str) -> None:
        self.released.append(segment)


def stored() -> np.ndarray:
    """Frame k has the values 10k to 10k + 5."""
    return (10 * np.arange(COUNT)[:, None, None] + np.arange(1200).reshape(30, 40) % 6).astype(np.uint8)


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    np.save(tmp_path / "stack.npy", stored())
    os.utime(tmp_path / "stack.npy", ns=(10**18, 10**18))
    return tmp_path / "stack.npy"


@pytest.fixture
def window(qtbot: QtBot, stack: Path) -> MainWindow:
    made = make(qtbot, SlowEngine())
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(PICKS)
    made.controller.open_file(str(stack))
    return made


def frames(window: MainWindow) -> FrameController:
    return window.context.frames


def loads(window: MainWindow) -> list[int]:
    """The frames that were asked for after the first one."""
    return [r.options["frame"] for r in engine(window).asked if isinstance(r, LoadRequest) and "frame" in r.options]


def shown(window: MainWindow) -> int:
    """The frame whose values the input's pane shows."""
    return int(np.asarray(window.panes.pane(INPUT).layer.pyramid.array)[0, 0]) // 10


def verified(window: MainWindow) -> RunRequest:
    request = run(window)
    for variant in PICKS:
        bring(window, request, variant, stored()[0], ok=None)
        verify(window, request, variant)
    finish(window, request)
    window.controller.queue._quiet.stop()
    return request


def key(qtbot: QtBot, window: MainWindow, which: Qt.Key) -> None:
    qtbot.keyClick(window.frame_bar.slider, which)


def test_the_bar_is_there_for_stacks_alone(window: MainWindow, tmp_path: Path) -> None:
    bar = window.frame_bar
    assert bar.isVisible() and bar.number.text() == "frame 1 of 12" and not bar.real.text()
    assert window.actions_by_id["run_frames"].isEnabled()
    save(tmp_path / "one.png", stored()[3])
    window.controller.open_file(str(tmp_path / "one.png"))
    assert not bar.isVisible() and not window.actions_by_id["run_frames"].isEnabled()
    engine(window).end()


def test_keys_and_fields_choose_the_frame(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.frame_bar
    for do, frame in (
        (lambda: key(qtbot, window, Qt.Key.Key_Right), 1),
        (lambda: key(qtbot, window, Qt.Key.Key_End), 11),
        (lambda: qtbot.mouseClick(bar.on, Qt.MouseButton.LeftButton), 11),
        (lambda: qtbot.mouseClick(bar.back, Qt.MouseButton.LeftButton), 10),
        (lambda: bar.number.setValue(5), 4),
        (lambda: bar.slider.setValue(7), 6),
        (lambda: key(qtbot, window, Qt.Key.Key_Home), 0),
        (lambda: qtbot.mouseClick(bar.last, Qt.MouseButton.LeftButton), 11),
        (lambda: qtbot.mouseClick(bar.first, Qt.MouseButton.LeftButton), 0),
    ):
        do()
        assert (shown(window), frames(window).frame, bar.slider.value(), bar.number.value()) == (
            frame,
            frame,
            frame + 1,
            frame + 1,
        )


def test_everything_stays_but_the_picture(window: MainWindow) -> None:
    session = window.controller.session
    session.set_params({"window": 5, "border": "reflect"})
    verified(window)
    window.display.zoom_at(4, 10, 10)
    window.display.set_levels(2, 9)
    before = session.input.array.segment
    choice, place = session.choice, (window.display.centre, window.display.scale)
    frames(window).go(3)
    assert shown(window) == 3 and session.choice == choice
    assert (window.display.centre, window.display.scale) == place and not window.display.following
    assert (window.display.low, window.display.high) == (2, 9)
    assert [state(window, v) for v in PICKS] == ["stale", "stale"]
    assert run(window).input.origin["choices"] == {"frame": 3} and run(window).params["window"] == 5
    assert engine(window).released.count(before) == 1 and session.input.array.segment not in engine(window).released
    verified(window)
    assert [state(window, v) for v in PICKS] == ["fresh", "fresh"]


def test_levels_that_followed_follow(window: MainWindow) -> None:
    assert (window.display.low, window.display.high) == (0, 5)
    frames(window).go(3)
    assert (window.display.low, window.display.high) == (30, 35) and window.display.following


def test_the_wish_for_noise_stays(window: MainWindow) -> None:
    verified(window)
    window.controller.session.set_noise(Noise(5, 0))
    engine(window).answered.emit(Finished([r for r in engine(window).asked if isinstance(r, StepsRequest)][-1].job))
    frames(window).go(2)
    request = [r for r in engine(window).asked if isinstance(r, StepsRequest)][-1]
    assert request.input is window.controller.session.original and request.input.origin["choices"] == {"frame": 2}
    assert window.controller.session.noise == Noise(5, 0) and kinds(window) == ["steps"]


def test_the_newest_wins_and_no_queue_grows(window: MainWindow) -> None:
    verified(window)
    engine(window).slow = True
    for frame in (1, 2, 3, 7, 5):
        frames(window).go(frame)
    assert loads(window) == [1] and frames(window).frame == 5 and window.frame_bar.number.value() == 6
    engine(window).load()
    assert loads(window) == [1, 5] and shown(window) == 1
    engine(window).load()
    assert loads(window) == [1, 5] and shown(window) == 5


def test_a_frame_comes_while_a_run_is_at_work(window: MainWindow) -> None:
    old = run(window)
    engine(window).slow = True
    frames(window).go(4)
    assert (old.job, False) in engine(window).cancelled, "it stops without an end of the engine"
    engine(window).load()
    new = run(window)
    assert new.generation > old.generation and new.input.origin["choices"] == {"frame": 4}
    bring(window, old, "serial", stored()[0], ok=None)
    assert window.panes.pane("serial").layer.pyramid is None, "a late result of another frame is dropped"
    bring(window, new, "serial", stored()[4], ok=None)
    assert state(window, "serial") == "unverified" and window.panes.pane("serial").layer.current


def test_another_file_comes_while_it_plays(window: MainWindow, tmp_path: Path) -> None:
    verified(window)
    np.save(tmp_path / "other.npy", stored()[:3] + 100)
    clock = Clock(frames(window))
    frames(window).toggle()
    engine(window).slow = True
    clock.pass_by(0.25)
    assert loads(window) == [2]
    window.controller.open_file(str(tmp_path / "other.npy"))
    assert not [r for r in window.controller.queue.jobs.values() if r.id == "frame"]
    frames(window).go(9)
    clock.pass_by(5)
    assert loads(window) == [2], "nothing more of the old stack is asked for"
    engine(window).waiting.pop(0)
    engine(window).load()
    assert not frames(window).playing and (frames(window).count, frames(window).frame) == (3, 0)
    assert window.frame_bar.number.text() == "frame 1 of 3" and window.controller.session.input.name == "other.npy"
    finish(window, run(window))
    assert run(window).checks == "sample", "it is not one more frame that plays"


def test_a_frame_of_the_file_before_is_dropped(window: MainWindow, tmp_path: Path) -> None:
    np.save(tmp_path / "other.npy", stored() + 100)
    late = frames(window)
    window.controller.open_file(str(tmp_path / "other.npy"))
    present = window.controller.session.input
    request = [r for r in engine(window).asked if isinstance(r, LoadRequest)][0]
    engine(window).asked.clear()
    shared = type(present)(**{**vars(present), "origin": {**present.origin, "path": request.path}})
    late._take(shared)
    assert window.controller.session.input is present and shared.array.segment in engine(window).released


def test_a_projection_of_all_and_back(window: MainWindow) -> None:
    bar = window.frame_bar
    frames(window).go(2)
    bar.way.setCurrentIndex(1)
    bar.way.activated.emit(1)
    array = np.asarray(window.panes.pane(INPUT).layer.pyramid.array)
    assert np.array_equal(array, stored().max(axis=0)) and not bar.slider.isEnabled()
    bar.way.setCurrentIndex(2)
    bar.way.activated.emit(2)
    array = np.asarray(window.panes.pane(INPUT).layer.pyramid.array)
    assert np.array_equal(array, stored().mean(axis=0).astype(np.float32))
    assert run(window).input.array.dtype == "float32"
    bar.way.setCurrentIndex(0)
    bar.way.activated.emit(0)
    assert shown(window) == 2 and bar.slider.isEnabled() and frames(window).projection == "none"


def test_a_projection_that_is_cancelled_leaves_the_frame(window: MainWindow) -> None:
    verified(window)
    runs = len([r for r in engine(window).asked if isinstance(r, RunRequest)])
    engine(window).slow = True
    frames(window).project("mean")
    assert window.frame_bar.way.currentData() == "mean"
    window.controller.cancel()
    assert window.frame_bar.way.currentData() == "none" and shown(window) == 0
    assert len([r for r in engine(window).asked if isinstance(r, RunRequest)]) == runs and not kinds(window)


def test_a_frame_that_cannot_be_read_leaves_the_one_before(window: MainWindow, stack: Path) -> None:
    frames(window).go(3)
    before = run(window)
    data = stack.read_bytes()
    stack.write_bytes(data[:-1])
    frames(window).go(5)
    assert shown(window) == 3 and frames(window).frame == 3 and window.frame_bar.number.value() == 4
    assert run(window) is not before, "the run on that frame was stopped and begins again"
    stack.write_bytes(data)
    os.utime(stack, ns=(10**18, 10**18))
    frames(window).go(5)
    assert shown(window) == 5


def test_a_file_that_was_written_meanwhile_is_opened_again(window: MainWindow, stack: Path) -> None:
    window.display.set_levels(2, 9)
    np.save(stack, stored()[:5] + 1)
    frames(window).go(3)
    assert shown(window) == 3 and frames(window).count == 5 and window.display.mode == "auto"
    assert "was written by another program meanwhile" in window.messages.current().text


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self, controller: FrameController) -> None:
        self.now, self._frames = 100.0, controller
        controller._clock = lambda: self.now
        controller._timer.setInterval(10**6)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self._frames._tick()


def test_playing_leaves_out_what_comes_too_fast_and_says_the_real_rate(window: MainWindow, qtbot: QtBot) -> None:
    verified(window)
    clock, bar = Clock(frames(window)), window.frame_bar
    assert frames(window).real_rate == 0
    bar.rate.setValue(20)
    key(qtbot, window, Qt.Key.Key_Space)
    assert frames(window).playing and bar.play.toolTip() == "Stop (Space)"
    for frame in (2, 4, 6, 8):
        clock.pass_by(0.1)
        assert shown(window) == frame
        clock.pass_by(0.01)
        assert shown(window) == frame, "its results have not come"
        clock.now -= 0.01
        for variant in PICKS:
            bring(window, run(window), variant, stored()[frame], ok=None)
    assert loads(window) == [2, 4, 6, 8] and bar.real.text() == "shown: 10.0 per second, unverified"
    clock.pass_by(0.2)
    assert shown(window) == 0, "the first frame follows the last"
    key(qtbot, window, Qt.Key.Key_Space)
    assert not frames(window).playing and not bar.real.text()


def test_what_plays_is_verified_once_it_stops(window: MainWindow, qtbot: QtBot) -> None:
    assert verified(window).checks == "sample"
    clock = Clock(frames(window))
    frames(window).toggle()
    clock.pass_by(0.1)
    assert run(window).checks == "off"
    for variant in PICKS:
        bring(window, run(window), variant, stored()[1], ok=None)
    finish(window, run(window))
    assert state(window, PICKS[1]) == "unverified" and not window.controller.queue.jobs
    frames(window).stop()
    assert run(window).checks == "sample" and shown(window) == 1
    verified(window)
    assert state(window, PICKS[1]) == "fresh"
    frames(window).toggle()
    engine(window).slow = True
    clock.pass_by(0.1)
    asked = len(engine(window).asked)
    frames(window).stop()
    assert len(engine(window).asked) == asked, "another frame is on its way"
    engine(window).load()
    assert run(window).checks == "sample"


def test_what_the_next_frame_would_stop_begins_only_once_nothing_plays(window: MainWindow, qtbot: QtBot) -> None:
    verified(window)
    session, asked = window.controller.session, engine(window).asked
    engine(window).answered.emit(Ready(1, (DeviceStatus("sim", "simulated GPU", True),)))
    session.set_picks((*PICKS, "naive"))
    engine(window).end()
    window.controller.queue._quiet.stop()
    clock, before = Clock(frames(window)), len(asked)
    frames(window).toggle()
    act(window, "xray")
    for frame in (1, 2):
        clock.pass_by(0.1)
        for variant in PICKS:
            bring(window, run(window), variant, stored()[frame], ok=None)
        finish(window, run(window))
        qtbot.wait(0)
    later = asked[before:]
    assert [type(r) for r in later] == [LoadRequest, RunRequest] * 2
    assert {p.device for r in later if isinstance(r, RunRequest) for p in r.picks} == {"cpu"}
    frames(window).stop()
    verified_picks = run(window)
    assert verified_picks.checks == "sample" and kinds(window) == ["live"]
    finish(window, verified_picks)
    assert [p.variant for p in run(window).picks] == ["naive"]
    finish(window, run(window))
    window.controller.queue._quiet.stop()
    window.controller.queue.rest()
    qtbot.waitUntil(lambda: isinstance(asked[-1], XRayRequest))


def test_without_a_loop_the_last_frame_ends_it(window: MainWindow) -> None:
    window.controller.session.set_picks(())
    finish(window, run(window))
    clock = Clock(frames(window))
    window.frame_bar.loop.setChecked(False)
    frames(window).go(10)
    frames(window).toggle()
    clock.pass_by(3)
    assert shown(window) == 11 and frames(window).playing
    clock.pass_by(0.1)
    assert not frames(window).playing
    frames(window).toggle()
    clock.pass_by(0.1)
    assert shown(window) == 1, "it starts over"


def test_a_filter_over_all_frames_is_asked_for_and_nothing_is_left_of_a_cancelled_one(
    window: MainWindow, tmp_path: Path
) -> None:
    verified(window)
    proposed: list[str] = []
    window.files.target = lambda parent, title, *asked: proposed.extend(asked) or str(tmp_path / "out.npy")
    act(window, "run_frames")
    assert Path(proposed[0]).name == "stack-mean-window3-parallel-frames.npy" and kinds(window) == ["frames"]
    assert proposed[1].startswith("A NumPy array (*.npy);;A TIFF image (*.tif);;")
    request = engine(window).asked[-1]
    assert isinstance(request, FramesRequest) and request.pick.variant == "parallel" and request.output == "image"
    window.controller.session.set_params({"window": 7})
    assert kinds(window) == ["frames"], "a run waits for it"
    request.part.write_bytes(b"half")  # as of an engine that was ended
    window.controller.cancel()
    assert not request.part.exists() and not (tmp_path / "out.npy").exists() and not kinds(window)


def test_only_a_simulated_gpu_is_ticked(window: MainWindow) -> None:
    verified(window)
    window.controller.session.set_devices(("sim",))
    window.controller.session.set_picks(("naive",))
    act(window, "run_frames")
    assert "tick one that runs on the CPU or on a real GPU" in window.messages.current().text
    engine(window).end()


def test_a_folder_is_asked_for(window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "film").mkdir()
    for k in (1, 2, 10):
        save(tmp_path / "film" / f"{k}.png", stored()[k])
    window.files.folder_chooser = lambda parent, title, folder: str(tmp_path / "film")
    act(window, "open_folder")
    assert window.controller.session.input.name == "film" and frames(window).count == 3
    frames(window).go(2)
    assert shown(window) == 10
    engine(window).end()


@pytest.mark.thorough
def test_the_whole_way_with_an_engine(qtbot: QtBot, stack: Path, tmp_path: Path) -> None:
    with real_engine() as live, live_window(qtbot, live, "cpu", ("parallel",)) as window:
        controller = window.controller
        settle(qtbot, controller, lambda: controller.open_file(str(stack)))
        settle(qtbot, controller, lambda: frames(window).go(7))
        assert shown(window) == 7 and state(window, "parallel") == "fresh"
        settle(qtbot, controller, lambda: frames(window).run_all(str(tmp_path / "out.npy")))
        result, wanted = np.load(tmp_path / "out.npy"), stored().astype(float)
        for k in range(COUNT):
            assert np.abs(result[k] - uniform_filter(wanted[k], 3)).max() <= 0.5 + 1e-9
        assert result.dtype == np.uint8 and "Saved out.npy" in window.messages.current().text
        before = (tmp_path / "out.npy").read_bytes()
        np.save(tmp_path / "long.npy", np.resize(stored(), (400, 300, 300)))
        settle(qtbot, controller, lambda: controller.session.set_picks(("serial",)))
        # All frames take long with it: the run still goes on when the window hears of its first one.
        settle(qtbot, controller, lambda: controller.session.set_params({"window": 15, "border": "reflect"}))
        settle(qtbot, controller, lambda: controller.open_file(str(tmp_path / "long.npy")))
        said: list[str] = []
        controller.busy_changed.connect(said.append)
        frames(window).run_all(str(tmp_path / "out.npy"))
        qtbot.waitUntil(lambda: any("computing frame" in text for text in said))
        settle(qtbot, controller, controller.cancel)
        assert (tmp_path / "out.npy").read_bytes() == before
        assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".part")] == []
