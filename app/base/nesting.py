"""Guards handlers of Qt's events against endless recursion: the loop is ended, and the log names its functions.

A resize handler that resizes its own widget is called again before it returns. At Python's recursion limit PySide6
crashes when Qt calls the next handler, and the user's work is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from PySide6.QtCore import qWarning

MOST_FRAMES = 400
"""The largest depth of Python's call stack in a handler. Python allows 1000, and the rest is enough for one more round
of a loop; 45 is the largest depth seen in normal use."""
LOGGED_FUNCTIONS = 12
"""How many functions the log names."""
Handler = TypeVar("Handler", bound=Callable[..., Any])


class _Nesting:
    """The number of nested handlers, and whether all of them are to return."""

    def __init__(self) -> None:
        self.depth, self.ends = 0, False


_nesting = _Nesting()


def bounded(handler: Handler) -> Handler:
    """An override of one of Qt's handlers – resizeEvent, eventFilter, event … – that does nothing, and keeps the event
    from others, where the call stack is so deep that the recursion looks endless. From then on all handlers do nothing
    until the outermost one has returned: with two calls per handler, unwinding would take for ever."""

    @wraps(handler)
    def call(self: Any, *event: Any) -> Any:
        nesting = _nesting
        if nesting.depth and (nesting.ends or _is_deep()):
            if not nesting.ends:
                nesting.ends = True
                qWarning(f"Handlers of events called each other without end and were ended, the last first: {_names()}")
            return True  # the result of a handler that returns nothing is ignored
        nesting.depth += 1
        try:
            return handler(self, *event)
        finally:
            nesting.depth -= 1
            if not nesting.depth:
                nesting.ends = False

    return cast(Handler, call)


def _is_deep() -> bool:
    """Whether the call stack has reached its largest allowed depth."""
    try:
        sys._getframe(MOST_FRAMES)
    except ValueError:
        return False
    return True


def _names() -> str:
    """The names of the innermost functions of the loop, each once."""
    names: dict[str, None] = {}
    frame = sys._getframe(1)
    while frame is not None and len(names) < LOGGED_FUNCTIONS:
        if frame.f_code.co_filename != __file__:
            names[frame.f_code.co_qualname] = None
        frame = frame.f_back  # type: ignore[assignment]
    return ", ".join(names)
