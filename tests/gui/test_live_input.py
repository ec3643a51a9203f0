"""Live input in the window: the newest frame wins, holding verifies, stopping gives the device back, and all that
interrupts it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import live_window, pause, real_engine
from PySide6.QtCore import QEvent, QObject, QRect
from pytestqt.qtbot import QtBot
from test_belonging import bring, engine, finish, kinds, picture, run, state

from app.base.paced import PACE_MS, Paced
from app.controllers.live import screen
from app.controllers.live.live import LiveController
from app.views.live.page import LivePage
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import from_array, save
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.messages import Failed, Finished, RunRequest
from gpu_ops.engine.shared import SharedArray, SharedInput
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import InputError
from gpu_ops.io.live.source import LiveSource

PICKS = ("serial", "parallel")
CAMERA = LiveSource("camera", "0")


class LiveEngine(FakeEngine):
    """Sends a frame when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def release(self, segment: str) -> None:
        self.released.append(segment)
        super().release(segment)

    @property
    def next(self) -> LiveRequest:
        return [r for r in self.asked if isinstance(r, LiveRequest) and r.do == "next"][-1]

    @property
    def done(self) -> list[str]:
        """What live requests asked for other than frames."""
        return [r.do for r in self.asked if isinstance(r, LiveRequest) and r.do != "next"]

    def send(self, number: int, array: np.ndarray, job: int = 0) -> None:
        """The frame of this number comes, as the answer to the last request."""
        made, job, name = from_array(array, name="Camera 0"), job or self.next.job, f"segment{len(self.arrays)}"
        self.arrays[name] = array
        meta = (made.axes, made.name, made.origin, None, True, statistics(array))
        shared = SharedInput(made.kind, SharedArray(name, array.shape, array.dtype.name), *meta)
        self.answered.emit(LiveFrame(job, shared, number, 25.0, 0.01))
        self.answered.emit(Finished(job))


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = make(qtbot, LiveEngine())
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(PICKS)
    return made


def live(window: MainWindow) -> LiveController:
    return window.context.live


def results(window: MainWindow, value: int) -> None:
    """The results of the present frame come."""
    request = run(window)
    for variant in PICKS:
        bring(window, request, variant, picture(value), ok=None)
    finish(window, request)


def begin(window: MainWindow, qtbot: QtBot, frames: int = 1) -> None:
    """Start the camera, and let so many frames come with their results."""
    live(window).start(CAMERA)
    for number in range(frames):
        engine(window).send(number, picture(number + 1))
        results(window, number + 1)
        qtbot.waitUntil(lambda number=number: engine(window).next.after == number)


def shown(window: MainWindow) -> int:
    return int(np.asarray(window.panes.pane(INPUT).layer.pyramid.array).max())


class Paints(QObject):
    """Counts how often pictures are painted, by the object's name."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.counts: dict[str, int] = {}
        self._canvases = {window.panes.pane(key).canvas: key for key in (INPUT, *PICKS)}
        for canvas in self._canvases:
            canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            key = self._canvases[watched]
            self.counts[key] = self.counts.get(key, 0) + 1
        return False


def test_each_picture_is_painted_once_for_each_frame(window: MainWindow, qtbot: QtBot) -> None:
    """Frames with equal levels: each picture once, when it comes. What follows frames at its own rate may change the
    layout, and so paint a frame again."""
    begin(window, qtbot, frames=2)
    pause()
    paints, asked = Paints(window), []
    for number in range(2, 7):
        engine(window).send(number, picture(2))
        pause(0)
        request = run(window)
        for variant in PICKS:
            bring(window, request, variant, picture(7), ok=None)
            pause(0)
        finish(window, request)
        qtbot.waitUntil(lambda number=number: engine(window).next.after == number)
        asked.append(dict(paints.counts))
        paints.counts.clear()
    assert asked.count({INPUT: 1, **dict.fromkeys(PICKS, 1)}) >= 3, asked


def test_what_follows_frames_at_its_own_rate_is_complete_in_the_end(qtbot: QtBot) -> None:
    """While frames play, the first request is followed at once, and the last one too, also where they end meanwhile."""
    seen, state = [], {"value": 0, "plays": True}
    owner = QObject()
    paced = Paced(lambda: seen.append(state["value"]), lambda: bool(state["plays"]), owner)
    for value in range(1, 6):
        state["value"] = value
        paced.ask()
    assert seen == [1]
    state["plays"] = False
    qtbot.waitUntil(lambda: seen == [1, 5], timeout=20 * PACE_MS)
    paced.ask()
    paced.ask()
    assert seen == [1, 5, 5, 5], "without frames each request is followed at once"


def test_the_next_frame_is_asked_for_when_all_results_of_the_last_are_shown(window: MainWindow, qtbot: QtBot) -> None:
    live(window).start(CAMERA)
    assert window.live_bar.isVisible() and window.live_bar.figures.text() == "waiting for the first frame"
    asked = engine(window).next
    assert (asked.after, asked.source) == (-1, CAMERA) and kinds(window) == ["live_frame"]
    engine(window).send(0, picture(1))
    assert shown(window) == 1 and run(window).checks == "off" and window.windowTitle() == "Camera 0 – Kernelscope"
    bring(window, run(window), PICKS[0], picture(1), ok=None)
    qtbot.wait(0)
    assert engine(window).next is asked, "one result has not come"
    bring(window, run(window), PICKS[1], picture(1), ok=None)
    finish(window, run(window))
    qtbot.waitUntil(lambda: engine(window).next.after == 0)
    window.display.set_levels(2, 9)
    engine(window).send(4, picture(5))
    results(window, 5)
    qtbot.waitUntil(lambda: engine(window).next.after == 4)
    assert shown(window) == 5 and live(window).dropped == 3 and window.display.mode != "auto", "the levels stay"
    qtbot.waitUntil(lambda: "3 dropped" in window.live_bar.figures.text())
    text = window.live_bar.figures.text()
    assert " of 25.0 frames per second, unverified" in text and " of 40.0 ms per frame" in text
    for width in (1200, 900):  # of the window, which begins with shorter words before it cuts any
        window.resize(width, 800)
        qtbot.waitUntil(lambda: window.live_bar.figures.shown_text().endswith("3 dropped"))
    assert len(window.controller.session.originals) == 1 and "segment0" in engine(window).released


def test_pictures_stay_as_they_are_until_the_results_of_the_next_frame_come(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot)
    layer = window.panes.pane(PICKS[0]).layer
    assert (layer.current, state(window, PICKS[0])) == (True, "unverified")
    engine(window).send(1, picture(2))
    assert shown(window) == 2 and (layer.current, state(window, PICKS[0])) == (True, "unverified")
    live(window).stop()


def test_a_held_frame_is_verified_and_goes_on_where_it_was(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot, 2)
    late = engine(window).next.job
    window.live_bar.hold.click()
    assert live(window).state == "held" and engine(window).done == ["hold"]
    engine(window).send(2, picture(3), late)
    qtbot.wait(0)
    assert shown(window) == 3 and run(window).checks == "sample" and "held" in window.live_bar.figures.text()
    asked = engine(window).next
    finish(window, run(window))
    qtbot.wait(0)
    assert engine(window).next is asked, "no frame follows"
    live(window).go_on()
    qtbot.waitUntil(lambda: engine(window).next.after == 2)
    assert window.controller.queue.playing


def test_frames_show_as_one_job_until_they_stop(window: MainWindow, qtbot: QtBot) -> None:
    """A stack that plays at a low rate has no job between two frames."""
    texts: list[str] = []
    window.controller.busy_changed.connect(lambda _: texts.append(window.status.busy.text()))
    begin(window, qtbot, 2)
    assert set(texts) == {"showing frames"} and window.actions_by_id["cancel"].isEnabled()
    window.controller.queue.jobs.clear()
    window.controller.queue.playing = False
    assert window.status.busy.text() == "" and not window.actions_by_id["cancel"].isEnabled()


def test_stopping_closes_the_device_and_keeps_the_last_frame(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot, 2)
    live(window).stop()
    qtbot.waitUntil(lambda: run(window).checks == "sample")
    assert engine(window).done == ["close"] and shown(window) == 2 and not window.live_bar.isVisible()
    segments = len(engine(window).released)
    engine(window).send(5, picture(9), engine(window).next.job)
    assert shown(window) == 2 and len(engine(window).released) == segments + 1, "it came too late"


def test_escape_and_another_input_close_the_device(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    begin(window, qtbot, 1)
    act(window, "cancel")
    qtbot.waitUntil(lambda: engine(window).done == ["close"])
    assert live(window).state == "off" and shown(window) == 1 and not window.controller.queue.playing
    begin(window, qtbot, 1)
    save(tmp_path / "one.png", picture(7))
    window.controller.open_file(str(tmp_path / "one.png"))
    qtbot.waitUntil(lambda: engine(window).done == ["close", "close"])
    assert live(window).state == "off" and shown(window) == 7


def test_a_stack_that_plays_makes_way(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "stack.npy", np.stack([picture(k) for k in range(5)]))
    window.controller.open_file(str(tmp_path / "stack.npy"))
    window.context.frames.toggle()
    live(window).start(CAMERA)
    engine(window).send(0, picture(9))
    assert not window.context.frames.playing and window.controller.queue.playing and shown(window) == 9
    results(window, 9)
    while kinds(window):
        results(window, 9)
    live(window).stop()


def test_measure_holds_the_frames(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot, 1)
    before = engine(window).next.job
    act(window, "measure")
    assert live(window).state == "held" and run(window).protocol == "careful"
    order = [r for r in engine(window).asked if isinstance(r, LiveRequest | RunRequest)][-2:]
    assert [type(r) for r in order] == [LiveRequest, RunRequest], "the device rests before anything is timed"
    engine(window).send(7, picture(9), before)
    qtbot.wait(0)
    assert shown(window) == 1 and run(window).protocol == "careful", "the frame that was on its way is left out"


def test_a_source_that_fails_or_ends_leaves_the_last_frame(window: MainWindow, qtbot: QtBot) -> None:
    begin(window, qtbot, 1)
    job = engine(window).next.job
    engine(window).answered.emit(Failed(job, "Camera 0 gives no more pictures; connect it again, then start it."))
    qtbot.waitUntil(lambda: run(window).checks == "sample")
    assert live(window).state == "off" and shown(window) == 1
    current = window.messages.current()
    assert current.kind == "error" and "no more pictures" in current.text
    begin(window, qtbot, 1)
    assert window.messages.current() is None, "it works again"
    job = engine(window).next.job
    engine(window).answered.emit(LiveFrame(job, None))
    engine(window).answered.emit(Finished(job))
    qtbot.waitUntil(lambda: run(window).checks == "sample")
    current = window.messages.current()
    assert (current.kind, current.text) == ("info", "Camera 0 has ended; its last frame stays.")


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_page_offers_the_fields_of_each_source(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    act(window, "live")
    page = window.parts.pages["live"].page
    assert isinstance(page, LivePage)
    fields = {
        "camera": {page.camera, page.extent, page.colour},
        "video": {page.file, page.repeat, page.colour},
        "microphone": {page.block},
        "screen": {page.x0, page.y0, page.across, page.down, page.rate, page.colour},
    }
    for place, (device, own) in enumerate(fields.items()):
        page.device.setCurrentIndex(place)
        assert page.source.device == device
        others = set().union(*fields.values()) - own
        assert all(f.isVisible() for f in own) and not any(f.isVisible() for f in others)
    page.device.setCurrentIndex(1)
    page.start.click()
    assert page.reason.text() == "Choose a video first." and live(window).state == "off"
    page._choose = lambda title, kinds: [str(tmp_path / "film.avi")]
    page.file.click()
    page.repeat.setChecked(True)
    page.start.click()
    assert engine(window).next.source == LiveSource("video", str(tmp_path / "film.avi"), repeat=True)
    assert not page.isVisible()


def test_a_region_that_the_system_does_not_show_is_refused(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="gives no picture of this region; choose one on the first screen"):
        screen.grab(QRect(-50, -50, 20, 20), False)
    live(window).start(LiveSource("screen", rate=10), QRect(-50, -50, 20, 20))
    assert live(window).state == "off" and "Wayland gives none" in window.messages.current().text
    window.grab()
    for colour, shape in ((False, (20, 30)), (True, (20, 30, 3))):
        array = screen.grab(QRect(0, 0, 30, 20), colour)
        assert array.shape == shape and array.dtype == np.uint8


def test_pictures_of_the_screen_come_when_they_are_due(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, now = live(window), [100.0]
    monkeypatch.setattr(controller, "_clock", lambda: now[0])
    monkeypatch.setattr(controller, "_grabbed", lambda: SharedArray("grabbed", (2, 2), "uint8"))
    controller.start(LiveSource("screen", rate=10.0), QRect(0, 0, 2, 2))
    asked = engine(window).next
    assert asked.frame is not None and engine(window).released[-1] == "grabbed", "the request holds it"
    engine(window).send(0, picture(1))
    results(window, 1)
    qtbot.wait(0)
    assert engine(window).next is asked and controller._due.isActive(), "the next one is due after a tenth of a second"
    now[0] += 0.35
    controller._tick()
    assert engine(window).next.after == 2, "two were left out"
    engine(window).send(3, picture(2))
    results(window, 2)
    assert controller.dropped == 2
    controller.hold()
    finish(window, run(window))
    now[0] += 60
    controller.go_on()
    now[0] += 0.15
    controller._tick()
    assert engine(window).next.after == 3, "none was left out while they were held"
    controller.stop()


@pytest.mark.thorough
def test_a_video_runs_with_two_variants_without_growth(qtbot: QtBot, tmp_path: Path) -> None:
    """The real engine: frames follow, what is held is verified, and shared memory stays as small as it was."""
    writer = cv2.VideoWriter(str(tmp_path / "film.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 30, (160, 120))
    for k in range(30):
        writer.write(np.full((120, 160, 3), 8 * k, np.uint8))
    writer.release()
    with real_engine() as real, live_window(qtbot, real, picks=PICKS) as window:
        controller, session = live(window), window.controller.session
        controller.start(LiveSource("video", str(tmp_path / "film.avi"), repeat=True))
        qtbot.waitUntil(lambda: controller._number - controller.dropped > 8)
        before, first = segments(), controller._number
        end = time.monotonic() + 2
        qtbot.waitUntil(lambda: time.monotonic() > end)
        assert controller._number > first + 30 and controller.state == "running"
        assert len(segments()) <= len(before) + 3 and len(session.originals) == 1
        controller.hold()
        qtbot.waitUntil(lambda: {state(window, v) for v in PICKS} == {"fresh"} and not window.controller.busy)
        held = np.asarray(window.panes.pane(INPUT).layer.pyramid.array)
        assert held.shape == (120, 160) and int(held.max()) - int(held.min()) <= 3, "one whole frame"
        controller.go_on()
        number = controller._number
        qtbot.waitUntil(lambda: controller._number > number)
        controller.stop()
        qtbot.waitUntil(lambda: {state(window, v) for v in PICKS} == {"fresh"} and not window.controller.busy)


def segments() -> list[str]:
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"kernelscope-{os.getpid()}-")]
