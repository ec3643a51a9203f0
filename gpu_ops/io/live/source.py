"""What a live source is, and one that is open."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from gpu_ops.errors import plain

Array = np.ndarray[Any, Any]

Device = Literal["camera", "video", "microphone", "screen"]
CAMERAS = 4
"""The number of cameras that are offered where the system does not list them."""


@dataclass(frozen=True)
class LiveSource:
    """A source of frames. `place` is the number of a camera, the path of a video, or the name of a microphone, "" for
    the system's own.

    Pictures are of `width` by `height` pixels if the camera has that size, else of its nearest (0: its own), in
    `colour` (H, W, 3) or grey (H, W), uint8. A video comes at its own rate, once or, with `repeat`, again and again. A
    microphone gives blocks of so many `samples` (N,), float32 between -1 and 1, at `rate` hertz (0: its own).
    The window itself takes pictures of a screen, `rate` of them per second.
    """

    device: Device
    place: str = ""
    colour: bool = False
    width: int = 0
    height: int = 0
    repeat: bool = False
    samples: int = 0
    rate: float = 0.0

    @property
    def name(self) -> str:
        """The name of the input."""
        if self.device == "video":
            return plain(Path(self.place).name, 80)
        return f"{self.device.capitalize()} {plain(self.place, 80)}".strip()


class Opened(Protocol):
    """A source that is open, in the thread that reads it. `rate` is the number of frames per second, 0 if unknown."""

    rate: float

    def read(self) -> tuple[Array, int] | None:
        """The next frame, when it is there, and how many frames it is after the one before: 2 if one was left out. None
        at the end. Raises InputError."""

    def resume(self) -> None:
        """Frames are read again after a pause: leave out those of before."""

    def close(self) -> None:
        """Give the device back."""


def found_cameras() -> tuple[tuple[str, str], ...]:
    """Numbers and names of the cameras. Systems other than Linux list them only to their own libraries: there the first
    numbers are offered."""
    if sys.platform != "linux":
        return tuple((str(number), "") for number in range(CAMERAS))
    found = []
    for folder in Path("/sys/class/video4linux").glob("video*"):
        number = re.fullmatch(r"video(\d+)", folder.name)
        if number is not None and _first_line(folder / "index") in ("", "0"):  # others have no pictures of their own
            found.append((int(number[1]), _first_line(folder / "name")))
    return tuple((str(number), plain(name, 60)) for number, name in sorted(found))


def _first_line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").partition("\n")[0]
    except OSError:
        return ""
