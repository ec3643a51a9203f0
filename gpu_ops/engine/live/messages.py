"""The messages about live input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpu_ops.engine.shared import SharedArray, SharedInput
from gpu_ops.io.live.source import LiveSource


@dataclass(frozen=True)
class LiveRequest:
    """The "next" thing to `do` is to make an input of the source's newest frame `after` that of this number, as soon as
    there is one; -1 starts the source. "hold" reads nothing until the next frame is requested, "close" gives the device
    back. A picture that the window took of a screen is in `frame`, uint8 (H, W) or (H, W, 3)."""

    job: int
    source: LiveSource
    after: int = -1
    do: Literal["next", "hold", "close"] = "next"
    frame: SharedArray | None = None


@dataclass(frozen=True)
class LiveFrame:
    """The answer to a LiveRequest for the next frame. `number` counts the source's frames from 0, also those that were
    left out, `rate` is the number of frames per second that it sends, 0 while unknown, and `waited` the seconds until
    there was a new one. Without an `input` the source has ended."""

    job: int
    input: SharedInput | None
    number: int = 0
    rate: float = 0.0
    waited: float = 0.0
