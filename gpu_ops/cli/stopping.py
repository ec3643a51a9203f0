"""SIGTERM ends a command as Ctrl-C does: what is written so far stays whole, and what is half done is removed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object]
CTRL_C, TERMINATION = signal.SIGINT, signal.SIGTERM


@contextmanager
def handled(handler: Handler, *signals: signal.Signals) -> Iterator[None]:
    """Inside, these signals call the handler; one that this process was started to ignore stays ignored. Only the main
    thread gets signals: in another one nothing changes."""
    before = {}
    try:
        for number in signals:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    except ValueError:  # another thread
        pass
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """A handler that does what Ctrl-C does. Raises KeyboardInterrupt."""
    raise KeyboardInterrupt
