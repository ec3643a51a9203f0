"""SIGTERM ends a command as Ctrl-C does: finished files stay, and incomplete ones are removed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object]
CTRL_C, TERMINATION = signal.SIGINT, signal.SIGTERM


@contextmanager
def handled(handler: Handler, *signals: signal.Signals) -> Iterator[None]:
    """Inside the block, these signals call the handler; a signal that was ignored at the process's start stays ignored.
    Only the main thread gets signals: in another thread nothing changes."""
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
