"""The ways to compare two results. No widgets."""

from __future__ import annotations

from typing import Literal

Mode = Literal["side by side", "swipe", "flicker", "difference"]
MODES: tuple[Mode, ...] = ("side by side", "swipe", "flicker", "difference")
