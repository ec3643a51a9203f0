"""What a window hears of other machines besides answers: loaded at its start, before anything that connects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["connecting", "ready", "lost", "failed", "closed"]


@dataclass(frozen=True)
class LinkState:
    """What a connection does, in words; `sentence` says what to do where it failed."""

    host: str
    stage: Stage
    sentence: str = ""


@dataclass(frozen=True)
class Arrived:
    """More of an array of a host is here, in this segment: a cell for `step` × `step` values, or with 0 all values.
    `lost`: they will never come."""

    host: str
    segment: str
    step: int
    lost: bool = False
