"""Live sources: a video in the place of a camera, a camera and a microphone that are pretended, and all that goes
wrong."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from gpu_ops.errors import InputError
from gpu_ops.io.live import newest, pictures, sound
from gpu_ops.io.live import source as sources
from gpu_ops.io.live.newest import Newest, OneSource
from gpu_ops.io.live.source import LiveSource, found_cameras
from gpu_ops.progress import Cancelled
from gpu_ops.version import install

RATE, COUNT, STEP = 100.0, 20, 10
GREY_ERROR = 3
"""Levels by which the video's compression changes a grey area."""


def going_on() -> bool:
    return False


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Frame k has the grey level 10k + 20."""
    path = tmp_path_factory.mktemp("live") / "short film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), RATE, (64, 48))
    for k in range(COUNT):
        writer.write(np.full((48, 64, 3), STEP * k + 20, np.uint8))
    writer.release()
    return path


def level(array: np.ndarray) -> int:
    """Which frame of the video it is."""
    found = (float(array.mean()) - 20) / STEP
    assert abs(found - round(found)) * STEP <= GREY_ERROR
    return round(found)


class Steps:
    """A source whose frames come when the test says so."""

    def __init__(self) -> None:
        self.rate, self.closed, self.resumed = 50.0, 0, 0
        self._more = threading.Semaphore(0)
        self.given: list[Any] = []
        self.asked = threading.Semaphore(0)

    def give(self, what: Any) -> None:
        self.given.append(what)
        self._more.release()

    def read(self) -> Any:
        self.asked.release()
        self._more.acquire()
        what = self.given.pop(0)
        if isinstance(what, Exception):
            raise what
        return what

    def resume(self) -> None:
        self.resumed += 1

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def steps() -> Iterator[Steps]:
    made = Steps()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newest, "CLOSING", 0.01)
        yield made
    made.give(None)


def pretended(steps: Steps, device: Any = "camera") -> Newest:
    return Newest(LiveSource(device, "0"), lambda: steps)


def wait_for(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_a_video_gives_all_its_frames_to_who_is_fast_enough_and_then_ends(video: Path) -> None:
    live, seen, start = OneSource(), [], time.monotonic()
    source = LiveSource("video", str(video))
    number = -1
    while (frame := live.after(source, number, going_on)) is not None:
        assert frame.array.dtype == np.uint8 and frame.array.shape == (48, 64) and frame.rate == RATE
        assert level(frame.array) == frame.number > number, "a number counts the frames that were left out"
        number = frame.number
        seen.append(number)
    assert seen[-1] == COUNT - 1 and len(seen) >= 2
    assert time.monotonic() - start >= (COUNT - 1) / RATE, "frames come at the video's own rate"
    assert live.after(source, -1, going_on) is not None, "it can be started again"
    live.close()


def test_frames_that_nobody_takes_are_left_out_and_counted(steps: Steps) -> None:
    live = pretended(steps)
    for k in range(3):
        steps.give((np.full((4, 4), k, np.uint8), 1))
    steps.give((np.full((4, 4), 9, np.uint8), 2))
    wait_for(lambda: not steps.given)
    steps.asked.acquire()
    wait_for(lambda: live._frame is not None and live._frame.number == 4)
    frame = live.after(0, going_on)
    assert frame is not None and (frame.number, int(frame.array[0, 0])) == (4, 9), "0, 1, 2, and 4 after one was lost"
    made = frame.input(live.source.name)
    assert (made.kind, made.name, made.origin["frame"], made.rate) == ("image", "Camera 0", 4, None)
    live.close()


@pytest.mark.parametrize("repeat", [False, True])
def test_a_video_that_lags_leaves_frames_out_but_not_the_last_one(
    video: Path, repeat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(pictures, "time", SimpleNamespace(monotonic=lambda: now[0]))
    opened = pictures.Video(LiveSource("video", str(video), repeat=repeat))
    first = 8 - pictures.LATE
    for lag, last, frames in ((7.5, first, first + 1), (0, first + 1, 1), (2 * COUNT, COUNT - 1, COUNT - 2 - first)):
        now[0] += lag / RATE
        read = opened.read()
        assert read is not None and (level(read[0]), read[1]) == (last, frames)
    assert (opened.read() is not None) == repeat
    opened.close()


def test_a_video_repeats_and_comes_in_colour(tmp_path: Path) -> None:
    path = tmp_path / "red.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 400, (16, 16))
    for _ in range(3):
        writer.write(np.full((16, 16, 3), (0, 0, 250), np.uint8))  # blue, green, red
    writer.release()
    opened = pictures.Video(LiveSource("video", str(path), colour=True, repeat=True))
    for _ in range(8):
        read = opened.read()
        assert read is not None and read[0].shape == (16, 16, 3)
        assert read[0][..., 0].mean() > 200 and read[0][..., 2].mean() < 50
    opened.close()
    opened = pictures.Video(LiveSource("video", str(path)))
    assert sum(count for _, count in iter(opened.read, None)) == 3
    opened.close()


def test_held_frames_stay_and_nothing_is_read_until_they_go_on(steps: Steps) -> None:
    live = pretended(steps)
    steps.give((np.zeros((4, 4), np.uint8), 1))
    assert live.after(-1, going_on) is not None
    live.hold()
    steps.give((np.ones((4, 4), np.uint8), 1))  # the read that had begun
    wait_for(lambda: not steps.given)
    time.sleep(0.05)
    assert steps.asked._value == 2 and steps.resumed == 0, "two reads so far, and none begins"
    steps.give((np.full((4, 4), 2, np.uint8), 1))
    frame = live.after(1, going_on)
    assert frame is not None and int(frame.array[0, 0]) == 2 and steps.resumed == 1
    live.close()
    assert steps.closed == 0, "its read has not ended"
    steps.give((np.zeros((4, 4), np.uint8), 1))
    wait_for(lambda: steps.closed == 1)


def test_what_fails_is_a_sentence_and_gives_the_device_back(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newest, "OPENING", 0.1)
    live = pretended(steps)
    with pytest.raises(InputError, match=r"Camera 0 has sent nothing for 0 s; check its connection"):
        live.after(-1, going_on)
    steps.give(RuntimeError("usb\nbroke"))
    wait_for(lambda: steps.closed == 1)
    with pytest.raises(InputError, match=r"Camera 0 cannot be read \(RuntimeError: usb\\nbroke\)"):
        live.after(-1, going_on)


def test_a_request_that_waits_can_be_cancelled(steps: Steps) -> None:
    live = pretended(steps)
    with pytest.raises(Cancelled):
        live.after(-1, lambda: True)
    live.close()


BAD = [
    ("camera", "first", "A camera is chosen by its number from 0, not 'first'."),
    ("camera", "4999", "There is no camera 4999 (/dev/video4999); "),
    ("video", "no file.avi", "does not exist; check the name."),
    ("video", ".", "is a folder; name a file in it."),
    ("screen", "", "An engine reads a camera, a video or a microphone, not screen; choose one."),
]


@pytest.mark.parametrize("device, place, words", BAD, ids=lambda v: str(v)[:12])
def test_a_source_that_is_not_there_is_named(tmp_path: Path, device: Any, place: str, words: str) -> None:
    place = str(tmp_path / place) if device == "video" else place
    with pytest.raises(InputError) as raised:
        OneSource().after(LiveSource(device, place), -1, going_on)
    assert words in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"no video", b"RIFF\0\0\0\0AVI LIST" + bytes(500)], ids=["0", "text", "head"])
def test_a_file_that_is_no_video_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.avi").write_bytes(content)
    with pytest.raises(InputError, match=r"odd\.avi (is no video that OpenCV reads|has no picture)"):
        OneSource().after(LiveSource("video", str(tmp_path / "odd.avi")), -1, going_on)


class Capture:
    """OpenCV's capture of a camera that gives this many pictures, of which the first `kept` come at once. It has its
    own clock, in seconds."""

    def __init__(self, count: int = 10, kept: int = 0) -> None:
        self.count, self.kept, self.set_to, self.released, self.now = count, kept, {}, False, 0.0

    def isOpened(self) -> bool:  # noqa: N802
        return self.count > 0

    def set(self, what: int, value: float) -> None:
        self.set_to[what] = value

    def grab(self) -> bool:
        if self.kept == 0:
            self.now += 2 * pictures.AT_ONCE
        self.kept, self.count = max(self.kept - 1, 0), self.count - 1
        return self.count >= 0

    def read(self) -> tuple[bool, Any]:
        return self.grab(), np.zeros((2, 2, 3), np.uint8)

    def release(self) -> None:
        self.released = True


def camera(monkeypatch: pytest.MonkeyPatch, capture: Capture, **more: Any) -> pictures.Camera:
    monkeypatch.setattr(pictures, "_check_node", lambda number: None)
    monkeypatch.setattr(cv2, "VideoCapture", lambda number: capture)
    monkeypatch.setattr(pictures, "time", SimpleNamespace(monotonic=lambda: capture.now))
    return pictures.Camera(LiveSource("camera", "1", **more))


def test_a_camera_gets_its_size_and_says_when_it_is_pulled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture(3)
    opened = camera(monkeypatch, capture, width=640, height=480)
    sizes = {cv2.CAP_PROP_FRAME_WIDTH: 640, cv2.CAP_PROP_FRAME_HEIGHT: 480, cv2.CAP_PROP_BUFFERSIZE: 1}
    assert capture.set_to == sizes
    for _ in range(3):
        assert opened.read()[0].shape == (2, 2)
    assert opened.rate == pytest.approx(0.5 / pictures.AT_ONCE), "the rate is measured"
    with pytest.raises(InputError, match=r"Camera 1 gives no more pictures; connect it again, then start it\."):
        opened.read()
    opened.close()
    assert capture.released
    with pytest.raises(InputError, match=r"Camera 1 cannot be opened; "):
        camera(monkeypatch, Capture(0))


def test_after_a_pause_a_camera_leaves_out_the_pictures_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture(10, kept=3)
    opened = camera(monkeypatch, capture)
    opened.resume()
    assert capture.count == 6, "three of before, and one that was new"


@pytest.mark.skipif(sys.platform != "linux", reason="a camera is a file on Linux alone")
def test_a_camera_that_this_account_may_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures.os.path, "exists", lambda path: True)
    monkeypatch.setattr(pictures.os, "access", lambda path, how: False)
    with pytest.raises(InputError, match="may not read /dev/video3; join its group with: sudo usermod -aG video"):
        pictures.Camera(LiveSource("camera", "3"))


def test_cameras_are_listed_by_number_without_their_second_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node, index, name in (("video10", "0", "Desk\n"), ("video2", "0", "Lid"), ("video3", "1", "Lid")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "index").write_text(index)
        (tmp_path / node / "name").write_text(name)
    monkeypatch.setattr(sources, "Path", lambda path: tmp_path)
    monkeypatch.setattr(sources.sys, "platform", "linux")
    assert found_cameras() == (("2", "Lid"), ("10", "Desk"))
    monkeypatch.setattr(sources.sys, "platform", "darwin")
    assert [number for number, _ in found_cameras()] == ["0", "1", "2", "3"]


class Stream:
    """A stream of sounddevice that gives this value."""

    value, calls = 0.5, []

    def __init__(self, **how: Any) -> None:
        self.how = how
        if how["samplerate"] == 1:
            raise Library.PortAudioError("Invalid sample rate")

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")

    def close(self) -> None:
        self.calls.append("close")

    def read(self, samples: int) -> tuple[np.ndarray, bool]:
        if self.value is None:
            raise Library.PortAudioError("Device unavailable")
        return np.full((samples, 1), self.value, np.float32), False


class Library:
    """What is used of sounddevice."""

    class PortAudioError(Exception):
        pass

    InputStream = Stream

    @staticmethod
    def query_devices(name: str | None, kind: str) -> dict[str, Any]:
        if name == "gone":
            raise ValueError("No input device matching 'gone'")
        return {"name": "Desk mic", "default_samplerate": 48000.0}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Stream]:
    monkeypatch.setitem(sys.modules, "sounddevice", Library)
    Stream.value, Stream.calls = 0.5, []
    return Stream


def test_a_microphone_gives_blocks_at_its_own_rate(library: type[Stream]) -> None:
    live = Newest(LiveSource("microphone", samples=480))
    frame = live.after(-1, going_on)
    assert frame is not None and frame.rate == 100
    made = frame.input("microphone")
    assert (made.kind, made.array.shape, made.array.dtype, made.rate) == ("signal", (480,), np.float32, 48000.0)
    live.close()
    opened = sound.Microphone(LiveSource("microphone"))
    opened.resume()
    assert library.calls[-3:] == ["start", "stop", "start"]


def test_a_microphone_that_is_off_gone_or_refused(library: type[Stream], monkeypatch: pytest.MonkeyPatch) -> None:
    opened = sound.Microphone(LiveSource("microphone", samples=24000))
    library.value = 0.0
    with pytest.raises(InputError, match="Desk mic gives nothing but zeros; switch it on, and allow this program"):
        for _ in range(20):
            opened.read()
    library.value = 0.5
    opened = sound.Microphone(LiveSource("microphone", samples=24000))
    opened.read()
    library.value = 0.0
    assert all(opened.read() for _ in range(20)), "what was heard before may fall silent"
    library.value = None
    with pytest.raises(InputError, match="Desk mic gives no more sound; connect it again"):
        opened.read()
    with pytest.raises(InputError, match=r"There is no microphone gone; connect or enable one"):
        sound.Microphone(LiveSource("microphone", "gone"))
    with pytest.raises(InputError, match=r"cannot be opened \(Invalid sample rate\).* its own rate, 48000 Hz"):
        sound.Microphone(LiveSource("microphone", rate=1))
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(InputError, match=re.escape(install("audio"))):
        sound.Microphone(LiveSource("microphone"))
