"""Pictures of a camera or of a video, which OpenCV reads."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError, either, plain
from gpu_ops.io.live.source import Array, LiveSource, found_cameras
from gpu_ops.io.regular import require_regular

USUAL_RATE = 30.0
"""Frames per second of a video whose file names no possible rate."""
FASTEST = 1000.0
LATE = 3
"""Frames that a video may lag behind its times; further ones are left out, but never the last one."""
KEPT = 8
"""Frames at most that a driver keeps while nobody reads."""
AT_ONCE = 0.004
"""Seconds in which a kept frame comes; one that is new takes longer."""
MEASURED = 30
"""Intervals over which the rate of a camera is measured."""


def _library() -> Any:
    import cv2

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # what fails is said in a sentence
    return cv2


class _Pictures:
    """What cameras and videos have in common."""

    def __init__(self, source: LiveSource) -> None:
        self._source, self._cv2 = source, _library()
        self._capture: Any = None

    def _pixels(self, picture: Array) -> Array:
        """The values of a picture of OpenCV, whose colours are blue, green and red."""
        cv2, gray = self._cv2, picture.ndim == 2
        if gray and not self._source.colour:
            return picture
        code = cv2.COLOR_GRAY2RGB if gray else cv2.COLOR_BGR2RGB if self._source.colour else cv2.COLOR_BGR2GRAY
        pixels: Array = cv2.cvtColor(picture, code)
        return pixels

    def close(self) -> None:
        if self._capture is not None:
            self._capture.release()


class Camera(_Pictures):
    """An open camera. Raises InputError where there is none, or none that this program may read."""

    def __init__(self, source: LiveSource) -> None:
        super().__init__(source)
        number = _camera_number(source)
        self._name = f"Camera {number}"
        _check_node(number)
        cv2, capture = self._cv2, self._cv2.VideoCapture(number)
        self._capture = capture
        if not capture.isOpened():
            capture.release()
            raise InputError(f"{self._name} cannot be opened; {_advice()}.")
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        for property, value in ((cv2.CAP_PROP_FRAME_WIDTH, source.width), (cv2.CAP_PROP_FRAME_HEIGHT, source.height)):
            if value:
                capture.set(property, value)
        self.rate = 0.0
        self._times: deque[float] = deque(maxlen=MEASURED + 1)

    def read(self) -> tuple[Array, int]:
        came, picture = self._capture.read()
        if not came:
            raise InputError(f"{self._name} gives no more pictures; connect it again, then start it.")
        self._times.append(time.monotonic())
        if len(self._times) > 1 and self._times[-1] > self._times[0]:
            self.rate = (len(self._times) - 1) / (self._times[-1] - self._times[0])
        return self._pixels(picture), 1

    def resume(self) -> None:
        self._times.clear()
        for _ in range(KEPT):
            start = time.monotonic()
            if not self._capture.grab() or time.monotonic() - start > AT_ONCE:
                return


def _camera_number(source: LiveSource) -> int:
    if not source.place.isdecimal() or len(source.place) > 4:
        raise InputError(f"A camera is chosen by its number from 0, not {plain(repr(source.place), 40)}.")
    return int(source.place)


def _check_node(number: int) -> None:
    """On Linux a camera is a file. Raises InputError unless it is there and may be read."""
    if sys.platform != "linux":
        return
    node = f"/dev/video{number}"
    if not os.path.exists(node):
        others = [f"camera {found}" for found, _ in found_cameras()]
        advice = f"choose {either(others)}" if others else "connect one, or choose a video in its place"
        raise InputError(f"There is no camera {number} ({node}); {advice}.")
    if not os.access(node, os.R_OK | os.W_OK):
        command = "sudo usermod -aG video $USER"
        raise InputError(f"This account may not read {node}; join its group with: {command}, and log in again.")


def _advice() -> str:
    if sys.platform == "darwin":
        return "allow it in System Settings, Privacy & Security, Camera, and close other programs that use it"
    return "close other programs that use it, then start it again"


class Video(_Pictures):
    """An open video, whose frames come when they are due. Raises InputError for what is none."""

    def __init__(self, source: LiveSource) -> None:
        super().__init__(source)
        self._path = Path(source.place).absolute()
        self._name = source.name
        require_regular(self._path, "a video")
        self._open()
        rate = float(self._capture.get(self._cv2.CAP_PROP_FPS))
        self.rate = rate if 0 < rate <= FASTEST else USUAL_RATE
        self._decoded = False
        self._place, self._start = 0, time.monotonic()

    def _open(self) -> None:
        self.close()
        # FFmpeg alone: others take a name with a percent sign as those of many pictures.
        self._capture = self._cv2.VideoCapture(str(self._path), self._cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise InputError(f"{self._name} is no video that OpenCV reads; choose an AVI, MP4, MKV or WebM file.")

    def read(self) -> tuple[Array, int] | None:
        wait = self._start + self._place / self.rate - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        picture, frames = self._next(), 1
        while picture is not None and -wait * self.rate > LATE:
            newer = self._capture.read()[1]
            if newer is None:
                break
            picture, frames, wait = newer, frames + 1, wait + 1 / self.rate
        if picture is None:
            return None
        self._place += frames
        return self._pixels(picture), frames

    def _next(self) -> Array | None:
        """The next picture of OpenCV, of a video that repeats after its last one the first; None at the end."""
        picture: Array | None = self._capture.read()[1]
        if picture is None and self._decoded and self._source.repeat:
            self._open()
            picture = self._capture.read()[1]
        if picture is None and not self._decoded:
            raise InputError(
                f"{self._name} has no picture that OpenCV can decode; play it elsewhere, or save it again."
            )
        self._decoded = True
        return picture

    def resume(self) -> None:
        self._start = time.monotonic() - self._place / self.rate
