"""Progress of long work on the host: how it is reported, how work is cancelled, and how it differs from a hang.

The window ends an engine that is silent for too long. There are three kinds of work:

* Work in pieces – compiled loops over bands, references, statistics, files – calls `advance` between two pieces, each
  of which takes some tens of milliseconds. `advance` reports progress to the listener, and the listener can cancel the
  work there.
* A single call that cannot be interrupted but terminates by itself – a library's filter, a decoder, a compiler – runs
  inside `finite`. Meanwhile the engine sends heartbeats. Only ending the process stops such a call.
* All other work is silent. A kernel on a GPU may never terminate, and only silence reveals that, so no wait for a
  device may be inside `finite`.

Work may also have limits of time and memory (`limited`). `advance` checks them, and so does `interruptible` while it
waits for a call that cannot be interrupted.

Without a listener (`listening`), for example in a script, the same work runs without reports. A listener belongs to its
own thread: worker threads report nothing; the calling thread does when it collects their results.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from gpu_ops.errors import LimitReached
from gpu_ops.processes import cpu_seconds, has_worked

T = TypeVar("T")

EVERY = 0.1
"""The minimum time between two progress reports, in seconds."""
LONG = 2.0
"""Seconds after which the user should be notified that work is in progress."""


class Cancelled(Exception):
    """The work was cancelled. Raised between steps, caught by the caller that passed `stop`, never shown."""


@dataclass
class _Listener:
    """The functions of a listener, see `listening`. The current stage is the share of the whole from `low` to `low +
    span`."""

    stop: Callable[[], bool] | None
    report: Callable[[float], None] | None
    tell: Callable[[str], None] | None
    last_report: float
    part: float = 0.0
    low: float = 0.0
    span: float = 1.0


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(
    stop: Callable[[], bool] | None,
    report: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Inside, `advance` calls `stop` each time, and now and then `report` with the part of the whole that is done, from
    0 to 1 and never less than before; `aside` calls `tell`. No generator may yield inside, or the listener would hear
    its caller as well."""
    token = _listener.set(_Listener(stop, report, tell, time.monotonic()))
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass
class Limit:
    """Limits of a piece of work: `seconds`, and `nbytes` of memory in addition to what the process already had, which
    only Linux reports. `long` is called once, when the work has run for a while. `what` is its name in the error,
    which names the command line's options unless they are `fixed`. Work that is `computed` by this process has the
    seconds for itself: those that other programs take on a loaded machine do not count. `reached` tells whether a limit
    was exceeded."""

    seconds: float
    nbytes: int
    long: Callable[[], None] = lambda: None
    what: str = ""
    fixed: bool = False
    computed: bool = True
    reached: bool = False
    _start: float = field(default_factory=lambda: time.monotonic())
    _cpu_at_start: float | None = field(default_factory=lambda: cpu_seconds(os.getpid()))
    _bytes_at_start: int = field(default_factory=lambda: resident_bytes() or 0)
    _last_look: float = 0.0
    _is_long: bool = False

    def check(self) -> None:
        """Raises LimitReached if the work has exceeded a limit."""
        now = time.monotonic()
        if now - self._last_look < min(EVERY, self.seconds / 2):
            return
        self._last_look = now
        before = self._cpu_at_start if self.computed else None
        if has_worked(os.getpid(), before, now - self._start, self.seconds):
            self._stop(f"{self.seconds:g} s", "--deadline")
        if (resident_bytes() or 0) - self._bytes_at_start > self.nbytes:
            self._stop(f"{self.nbytes >> 20} MiB of memory", "--memory")
        if not self._is_long and now - self._start >= LONG:
            self._is_long = True
            self.long()

    def _stop(self, what: str, flag: str) -> None:
        self.reached = True
        raise LimitReached(what, "" if self.fixed else flag, self.what)


_limit: ContextVar[Limit | None] = ContextVar("limit", default=None)


@contextmanager
def limited(limit: Limit) -> Iterator[Limit]:
    """Inside, `advance` raises LimitReached when the work exceeds a limit."""
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)


def is_limited() -> bool:
    """Whether the work has limits."""
    return _limit.get() is not None


def resident_bytes() -> int | None:
    """The resident memory of this process in bytes; None if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return None


@contextmanager
def stage(place: int, count: int) -> Iterator[None]:
    """The work inside is stage `place` (from 0) of `count` equal stages of the current work."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    low, span = listener.low, listener.span
    listener.low, listener.span = low + span * place / count, span / count
    try:
        yield
    finally:
        listener.low, listener.span = low, span


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, work reports no progress, but can still be cancelled."""
    listener = _listener.get()
    with listening(listener.stop if listener is not None else None):
        yield


def advance(done: int, total: int) -> None:
    """Report that `done` of `total` pieces are complete. Raises Cancelled if the work should stop, LimitReached."""
    limit = _limit.get()
    if limit is not None:
        limit.check()
    listener = _listener.get()
    if listener is None:
        return
    if listener.stop is not None and listener.stop():
        raise Cancelled
    now = time.monotonic()
    if listener.report is not None and now - listener.last_report >= EVERY:
        listener.last_report = now
        listener.part = max(listener.part, listener.low + listener.span * done / total)
        listener.report(listener.part)


def aside(what: str) -> None:
    """Inform the listener about what takes time besides the work itself, such as "compiling"; "" for nothing more."""
    listener = _listener.get()
    if listener is not None and listener.tell is not None:
        listener.tell(what)


def collect(results: Iterator[T], count: int) -> list[T]:
    """The `count` results of an executor's map, with progress after each. Cancelling the work drops the tasks that have
    not begun. Raises Cancelled, and what the threads raise."""
    items: list[T] = []
    with closing(cast(Generator[T, None, None], results)):
        for item in results:
            items.append(item)
            advance(len(items), count)
    return items


def stop_request() -> Callable[[], bool] | None:
    """The listener's `stop`, for loops that call it themselves; None without a listener or if it cannot cancel."""
    listener = _listener.get()
    return None if listener is None else listener.stop


_counting = threading.Lock()
_finite_calls: list[float] = []
"""For each call that is running, the time after which it is overdue."""


@contextmanager
def finite(seconds: float = math.inf) -> Iterator[None]:
    """Inside runs a call that terminates by itself, in any thread. After `seconds` it no longer counts as finite,
    because the estimate may have been wrong."""
    end = time.monotonic() + seconds
    with _counting:
        _finite_calls.append(end)
    try:
        yield
    finally:
        with _counting:
            _finite_calls.remove(end)


_abandoned_threads: list[threading.Thread] = []


def interruptible(call: Callable[[], T]) -> T:
    """The result of a call that cannot be interrupted itself, but releases the interpreter's lock. On the main thread a
    limit or Ctrl+C abandons the call; it continues in its thread, so the process should end soon
    (`has_abandoned_calls`)."""
    limit = _limit.get()
    if threading.current_thread() is not threading.main_thread():
        return call()
    done: list[T | BaseException] = []

    def run() -> None:
        try:
            done.append(call())
        except BaseException as error:
            done.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(EVERY)
            if limit is not None:
                limit.check()
    except BaseException:
        _abandoned_threads.append(thread)
        raise
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


def has_abandoned_calls() -> bool:
    """Whether an abandoned call is still running."""
    return any(thread.is_alive() for thread in _abandoned_threads)


def in_finite_call() -> bool:
    """Whether a call inside `finite` is running, in any thread."""
    now = time.monotonic()
    with _counting:
        return any(end > now for end in _finite_calls)
