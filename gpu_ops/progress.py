"""How long work on the host says how far it is, learns that it should stop, and is told from work that hangs.

An engine that says nothing for too long is ended. What counts as what:

* Work that comes in pieces – compiled loops over bands, references, statistics, files – calls `advance` between them.
  A piece takes some tens of milliseconds. Whoever listens is told how far it is, and may stop it there.
* One call that cannot be interrupted but ends by itself – a library's filter, a decoder, a compiler – runs inside
  `finite`. Meanwhile the engine says that it lives; to stop such a call its process is ended.
* Everything else says nothing. A kernel on a GPU may never end, and only its silence can tell: no wait for a device
  belongs inside `finite`.

Work may also have limits of time and memory (`limited`): whoever says how far it is meets them there, and so does
whoever waits for a call that cannot be interrupted (`patiently`).

Nobody listens unless somebody asked to (`listening`), so the same work runs unwatched from a script. The listener is
the calling thread's alone: threads that work for it report nothing, it does when it collects what they did.
"""

from __future__ import annotations

import math
import mmap
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from gpu_ops.errors import LimitReached

T = TypeVar("T")

EVERY = 0.1
"""Seconds between two reports of how far a piece of work is."""
LONG = 2.0
"""Seconds after which whoever waits should be told that there is work."""


class Cancelled(Exception):
    """Somebody asked to stop. Raised between steps, caught by whoever gave `stop`; never shown to a user."""


@dataclass
class _Listener:
    """Who listens, and which part of the whole the work at hand is."""

    stop: Callable[[], bool] | None
    tell: Callable[[float], None] | None
    told: float
    part: float = 0.0
    low: float = 0.0
    span: float = 1.0


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(stop: Callable[[], bool] | None, tell: Callable[[float], None] | None = None) -> Iterator[None]:
    """Inside, `advance` asks `stop` each time, and tells `tell` now and then which part of the whole is done, from 0
    to 1 and never less than before. No generator may yield inside: its caller would be listened to as well."""
    token = _listener.set(_Listener(stop, tell, time.monotonic()))
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass
class Limit:
    """What a piece of work may take: `seconds`, and `nbytes` of memory more than the process had – where the system
    says what it has, which is on Linux. `long` is called once, when the work has gone on for a while. `reached` says
    whether it met a limit."""

    seconds: float
    nbytes: int
    long: Callable[[], None] = lambda: None
    reached: bool = False
    _begun: float = field(default_factory=lambda: time.monotonic())
    _held: int = field(default_factory=lambda: resident_bytes() or 0)
    _looked: float = 0.0
    _told: bool = False

    def check(self) -> None:
        """Raises LimitReached where the work took more than it may."""
        now = time.monotonic()
        if now - self._begun >= self.seconds:
            self._stop(f"{self.seconds:g} s", "--deadline")
        if now - self._looked < EVERY:
            return
        self._looked = now
        if (resident_bytes() or 0) - self._held > self.nbytes:
            self._stop(f"{self.nbytes >> 20} MiB of memory", "--memory")
        if not self._told and now - self._begun >= LONG:
            self._told = True
            self.long()

    def _stop(self, what: str, flag: str) -> None:
        self.reached = True
        raise LimitReached(what, flag)


_limit: ContextVar[Limit | None] = ContextVar("limit", default=None)


@contextmanager
def limited(limit: Limit) -> Iterator[Limit]:
    """Inside, `advance` raises LimitReached when the work takes more than it may."""
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)


def resident_bytes() -> int | None:
    """Memory that this process has; None where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return None


@contextmanager
def stage(place: int, count: int) -> Iterator[None]:
    """What is advanced inside is stage `place` (from 0) of `count` equal ones of the work at hand."""
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
    """Inside, nobody is told how far it is; to stop is possible as before."""
    listener = _listener.get()
    with listening(listener.stop if listener is not None else None):
        yield


def advance(done: int, total: int) -> None:
    """Say that `done` of `total` pieces are done. Raises Cancelled when the work should stop, LimitReached."""
    limit = _limit.get()
    if limit is not None:
        limit.check()
    listener = _listener.get()
    if listener is None:
        return
    if listener.stop is not None and listener.stop():
        raise Cancelled
    now = time.monotonic()
    if listener.tell is not None and now - listener.told >= EVERY:
        listener.told = now
        listener.part = max(listener.part, listener.low + listener.span * done / total)
        listener.tell(listener.part)


def collect(results: Iterator[T], count: int) -> list[T]:
    """What threads make, as it comes: the `count` results of an executor's map. When the work is stopped those that
    are not begun are dropped. Raises Cancelled, and what the threads raise."""
    found: list[T] = []
    with closing(cast(Generator[T, None, None], results)):
        for result in results:
            found.append(result)
            advance(len(found), count)
    return found


def asked_to_stop() -> Callable[[], bool] | None:
    """Who can say that the work at hand should stop, for loops that ask by themselves."""
    listener = _listener.get()
    return None if listener is None else listener.stop


_counting = threading.Lock()
_finite_calls: list[float] = []
"""When each of those that run now is overdue."""


@contextmanager
def finite(seconds: float = math.inf) -> Iterator[None]:
    """Inside runs what ends by itself, in whichever thread. After so many seconds it no longer counts: whatever was
    thought of it, it may have no end."""
    end = time.monotonic() + seconds
    with _counting:
        _finite_calls.append(end)
    try:
        yield
    finally:
        with _counting:
            _finite_calls.remove(end)


_left: list[threading.Thread] = []


def patiently(call: Callable[[], T]) -> T:
    """What a call gives that cannot be interrupted, and lets other threads run. On the main thread its limits are met
    meanwhile, and Ctrl+C: then the call is left behind, and its process should end (`left_behind`)."""
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
        _left.append(thread)
        raise
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


def left_behind() -> bool:
    """Whether a call goes on that nobody waits for any more."""
    return any(thread.is_alive() for thread in _left)


def in_finite_call() -> bool:
    """Whether such a call runs now, in any thread."""
    now = time.monotonic()
    with _counting:
        return any(end > now for end in _finite_calls)
