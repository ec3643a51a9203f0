"""The newest frame of a live source. A thread reads; nobody waits for frames that are left out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import from_array
from gpu_ops.io.live.source import Array, LiveSource, Opened
from gpu_ops.progress import Cancelled
from gpu_ops.types import Input

SILENCE = 3.0
"""Seconds without a frame after which a source is given up; a slow one has the time of three frames."""
OPENING = 20.0
"""Seconds until the first frame: cameras take some to open."""
LOOK = 0.05
"""Seconds between two looks at whether the request was cancelled."""
CLOSING = 1.0
"""Seconds that a device may take to end its present read; it is closed after that."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame with its number from 0, which counts those that were left out. `rate` is the source's number of frames
    per second, 0 while unknown; `samples_per_second` is 0 for a picture."""

    array: Array
    number: int
    rate: float
    samples_per_second: float = 0.0

    def input(self, name: str) -> Input:
        """The frame as an input."""
        made = from_array(self.array, name=name, rate=self.samples_per_second or None, nonfinite="keep")
        return replace(made, origin={**made.origin, "frame": self.number})


class Newest:
    """Reads a source in a thread and keeps only its newest frame."""

    def __init__(self, source: LiveSource, open: Callable[[], Opened] | None = None) -> None:
        self.source = source
        self._open = open or opener(source)
        self._changed = threading.Condition()
        self._frame: Frame | None = None
        self._failure: InputError | None = None
        self._ended = self._held = self._closed = False
        self._last_sign = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"live {source.device}", daemon=True)
        self._thread.start()

    def after(self, number: int, stop: Callable[[], bool]) -> Frame | None:
        """The newest frame after that of this number, when there is one; None if the source has ended. Raises
        InputError where the source fails or falls silent, Cancelled when `stop` says so."""
        with self._changed:
            if self._held:
                self._held, self._last_sign = False, time.monotonic()
                self._changed.notify_all()
            while True:
                if self._frame is not None and self._frame.number > number:
                    return self._frame
                if self._failure is not None:
                    raise self._failure
                if self._ended:
                    return None
                if time.monotonic() - self._last_sign > self._patience():
                    raise InputError(
                        f"{self.source.name} has sent nothing for {self._patience():.0f} s; check its connection, "
                        "then start it again."
                    )
                self._changed.wait(LOOK)
                if stop():
                    raise Cancelled

    def _patience(self) -> float:
        if self._frame is None:
            return OPENING
        return max(SILENCE, 3 / self._frame.rate) if self._frame.rate else SILENCE

    def hold(self) -> None:
        """Read nothing until the next frame is asked for: what is measured meanwhile has the machine for itself."""
        with self._changed:
            self._held = True

    def close(self) -> None:
        """End the thread and give the device back."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(CLOSING)

    def _run(self) -> None:
        opened: Opened | None = None
        try:
            opened = self._open()
            self._read(opened)
        except InputError as error:
            self._end(error)
        except Exception as error:  # of a library or a driver
            what = f"{type(error).__name__}: {plain(error, 120)}"
            self._end(
                InputError(f"{self.source.name} cannot be read ({what}); check its connection and start it again.")
            )
        finally:
            if opened is not None:
                opened.close()

    def _read(self, opened: Opened) -> None:
        number = -1
        samples = float(getattr(opened, "samples_per_second", 0.0))
        while self._wants_more(opened):
            if (read := opened.read()) is None:
                self._end(None)
                return
            number += read[1]
            with self._changed:
                self._frame = Frame(read[0], number, opened.rate, samples)
                self._last_sign = time.monotonic()
                self._changed.notify_all()

    def _wants_more(self, opened: Opened) -> bool:
        """Wait while the frames are held. Returns False once the source is closed."""
        with self._changed:
            held = self._held
            while self._held and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
        if held:
            opened.resume()
        return True

    def _end(self, failure: InputError | None) -> None:
        with self._changed:
            self._failure, self._ended = failure, failure is None
            self._changed.notify_all()


def opener(source: LiveSource) -> Callable[[], Opened]:
    """What opens a source, in the thread that is to read it. Raises InputError for one that no engine reads."""
    if source.device in ("camera", "video"):
        from gpu_ops.io.live.pictures import Camera, Video

        return lambda: Camera(source) if source.device == "camera" else Video(source)
    if source.device == "microphone":
        from gpu_ops.io.live.sound import Microphone

        return lambda: Microphone(source)
    raise InputError(f"An engine reads a camera, a video or a microphone, not {plain(source.device, 40)}; choose one.")


class OneSource:
    """The one live source of an engine: another takes its place."""

    def __init__(self) -> None:
        self._newest: Newest | None = None

    def after(self, source: LiveSource, number: int, stop: Callable[[], bool]) -> Frame | None:
        """As Newest.after does. A source that has ended or failed is closed."""
        if self._newest is None or self._newest.source != source or number < 0:
            self.close()
            self._newest, number = Newest(source), -1
        frame: Frame | None = None
        try:
            frame = self._newest.after(number, stop)
        except InputError:
            self.close()
            raise
        if frame is None:
            self.close()
        return frame

    def hold(self) -> None:
        """See Newest."""
        if self._newest is not None:
            self._newest.hold()

    def close(self) -> None:
        """Give the device back."""
        newest, self._newest = self._newest, None
        if newest is not None:
            newest.close()
