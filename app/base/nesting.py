"""Handlers of Qt's events that may cause each other: a loop without an end is ended, and named in the log.

A handler that resizes what it hears of is called again before it returns. Where Python allows no more functions that
wait for each other, PySide6 crashes when Qt calls the next handler, and the person's work is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from PySide6.QtCore import qWarning

MOST_FRAMES = 400
"""Python's functions that may wait for each other in a handler. Python allows 1000, and the rest is enough for one more
round of a loop; the most that a window at rest or in motion has had is 45."""
TOLD = 12
"""Functions that the log names."""
Handler = TypeVar("Handler", bound=Callable[..., Any])


class _Nesting:
    """How many handlers wait for each other, and whether they are all to end."""

    def __init__(self) -> None:
        self.depth, self.ends = 0, False


_nesting = _Nesting()


def bounded(handler: Handler) -> Handler:
    """An override of one of Qt's handlers – resizeEvent, eventFilter, event … – that does nothing, and keeps the event
    from others, where so many functions wait for each other that it looks endless. From then on all do so until the
    outermost one has ended: a handler that causes two others would take for ever to unwind."""

    @wraps(handler)
    def call(self: Any, *event: Any) -> Any:
        nesting = _nesting
        if nesting.depth and (nesting.ends or _is_deep()):
            if not nesting.ends:
                nesting.ends = True
                qWarning(f"Handlers of events called each other without end and were ended, the last first: {_who()}")
            return True  # a void handler's answer is ignored
        nesting.depth += 1
        try:
            return handler(self, *event)
        finally:
            nesting.depth -= 1
            if not nesting.depth:
                nesting.ends = False

    return cast(Handler, call)


def _is_deep() -> bool:
    """Whether as many functions wait for each other as may."""
    try:
        sys._getframe(MOST_FRAMES)
    except ValueError:
        return False
    return True


def _who() -> str:
    """The names of the innermost functions of the loop, each once."""
    names: dict[str, None] = {}
    frame = sys._getframe(1)
    while frame is not None and len(names) < TOLD:
        if frame.f_code.co_filename != __file__:
            names[frame.f_code.co_qualname] = None
        frame = frame.f_back  # type: ignore[assignment]
    return ", ".join(names)
