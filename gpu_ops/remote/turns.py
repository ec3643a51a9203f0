"""Turns on the devices of an engine host: whoever asked first runs first, one at a time, so that times are taken alone.

Every window has an engine process of its own there, and at most one job of each waits or runs. A waiting job has a
ticket on each of its devices: a file with an ascending number, which its process has locked. The system unlocks the
tickets of a process that dies, and they count no more.
"""

from __future__ import annotations

import getpass
import os
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from gpu_ops.engine.kernel_messages import ContractRequest
from gpu_ops.engine.messages import (
    Answer,
    Failed,
    Finished,
    FramesRequest,
    Progress,
    Request,
    RunRequest,
    TimelinesRequest,
    TransfersRequest,
)
from gpu_ops.errors import DeviceError, counted, plain
from gpu_ops.io.part_files import lock

LOOK = 0.03
"""Seconds between two looks at the tickets before one's own."""
FOLDER = "KERNELSCOPE_TURNS"
"""The variable that names the folder of the tickets."""
MOST_OF_A_USER = "KERNELSCOPE_TURNS_PER_USER"
"""The variable that sets how many jobs of one user may wait for a device, by default DEFAULT_MOST."""
DEFAULT_MOST = 64
MOST_WAITING = 1000
"""The most jobs of one window that may wait."""


class TurnCancelled(Exception):
    """The job is not wanted any more."""


def devices_of(request: Request) -> tuple[str, ...]:
    """The devices that a request computes on, in the order in which every process takes its turns."""
    match request:
        case RunRequest() | TimelinesRequest():
            names = [pick.device for pick in request.picks]
        case ContractRequest() | FramesRequest():
            names = [request.pick.device]
        case TransfersRequest():
            names = [request.device]
        case _:
            names = []
    return tuple(sorted({name for name in names if not name.startswith("sim")}))


def _place() -> Path:
    return Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir()) / "kernelscope-turns")


def _folder() -> Path:
    """The folder of all users' tickets on this machine."""
    path = _place()
    with suppress(FileExistsError):
        path.mkdir()
        path.chmod(0o1777)
    return path


def _most_of_a_user() -> int:
    """How many jobs of one user may wait. Raises DeviceError."""
    text = os.environ.get(MOST_OF_A_USER) or str(DEFAULT_MOST)
    if not text.isdecimal() or int(text) < 1:
        raise DeviceError(f"{MOST_OF_A_USER} is {plain(text, 40)!r} there; set a number of jobs from 1, or unset it.")
    return int(text)


@contextmanager
def door(folder: Path) -> Iterator[None]:
    """One process at a time takes a ticket in a folder, or the path of a socket."""
    path = folder / "door"
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
            path.chmod(0o666)
        handle = os.open(path, os.O_RDWR)
    try:
        while True:
            with suppress(BlockingIOError):
                lock(handle)
                break
            time.sleep(LOOK / 10)
        yield
    finally:
        os.close(handle)


@contextmanager
def turn(device: str, waits: Callable[[int], None]) -> Iterator[None]:
    """Inside the block it is this process's turn on a device. `waits(n)` is called again and again while n jobs come
    first; it may raise. Raises DeviceError where too many jobs of this user wait."""
    folder, handle = _folder(), -1
    prefix = f"{device.replace(':', '-')}."
    try:
        with door(folder):
            tickets = list(folder.glob(f"{prefix}*"))
            alive = [path for path in tickets if _is_held(path)]
            own, most = sum(_is_mine(path) for path in alive), _most_of_a_user()
            if own >= most:
                raise DeviceError(
                    f"{counted(own, 'job')} of {getpass.getuser()} already wait for {device} here, and {most} may; "
                    f"close windows, or set {MOST_OF_A_USER} there."
                )
            number = max(map(_number, tickets), default=0) + 1  # no other process looks at so high a number
            path = folder / f"{prefix}{number}"
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            lock(handle)
        while before := sum(_number(p) < number and _is_held(p) for p in folder.glob(f"{prefix}*")):
            waits(before)
            time.sleep(LOOK)
        yield
    finally:
        if handle >= 0:
            with suppress(OSError):
                path.unlink()
            os.close(handle)


def _number(path: Path) -> int:
    return int(path.suffix[1:] or 0) if path.suffix[1:].isdigit() else 0


def _is_mine(path: Path) -> bool:
    with suppress(OSError):
        return path.stat().st_uid == os.getuid()
    return False


def _is_held(path: Path) -> bool:
    """Whether a living process has a ticket."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        lock(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    with suppress(OSError):
        path.unlink()
    return False


class Turns:
    """Passes the jobs of one window on to its engine, each when it is its turn. `answer` hears how many jobs are
    before it."""

    def __init__(self, submit: Callable[[Request], None], answer: Callable[[Answer], None]) -> None:
        self._submit, self._answer = submit, answer
        self._changed = threading.Condition()
        self._waiting: deque[Any] = deque()
        self._job = 0
        self._cancelled: set[int] = set()
        self._said = 0
        self._closed = False
        threading.Thread(target=self._work, name="turns", daemon=True).start()

    def submit(self, request: Any) -> None:
        """Queue a request; one that needs no device does not wait."""
        if not devices_of(request):
            self._submit(request)
            return
        with self._changed:
            full = len(self._waiting) >= MOST_WAITING
            if not full:
                self._waiting.append(request)
                self._changed.notify_all()
        if full:
            self._answer(Failed(request.job, f"{MOST_WAITING} jobs of this window wait; cancel some.", kind="engine"))

    def cancel(self, job: int) -> bool:
        """Drop a job that waits for its turn. Returns False for any other."""
        with self._changed:
            request = next((r for r in self._waiting if r.job == job), None)
            if request is not None:
                self._waiting.remove(request)
            elif self._job == job:
                self._cancelled.add(job)
                return True
            else:
                return False
        self._answer(Finished(job, cancelled=True))
        return True

    def end(self, job: int) -> None:
        """The engine has answered a job: the next one's turn comes."""
        with self._changed:
            if job == -self._job:
                self._job = 0
                self._changed.notify_all()

    def close(self) -> None:
        """Pass on nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                request = self._waiting.popleft()
                self._job, self._said = request.job, 0
            try:
                with ExitStack() as turns:
                    for device in devices_of(request):
                        turns.enter_context(turn(device, lambda n, request=request: self._wait(request.job, n)))  # type: ignore[misc]
                    self._run(request)
            except TurnCancelled:
                self._answer(Finished(request.job, cancelled=True))
            except DeviceError as error:
                self._answer(Failed(request.job, str(error), kind="device"))
            except OSError as error:
                why = f"{FOLDER} names another folder, for all users of the machine"
                sentence = f"{_place()} cannot be used for turns ({error.strerror}); {why}."
                self._answer(Failed(request.job, sentence, kind="device"))
            except Exception as error:
                traceback.print_exc()
                sentence = f"Its turn did not come ({plain(error, 160).rstrip('.')}); run it again."
                self._answer(Failed(request.job, sentence, kind="device"))

    def _wait(self, job: int, before: int) -> None:
        if job in self._cancelled or self._closed:
            self._cancelled.discard(job)
            raise TurnCancelled
        if before != self._said:
            self._said = before
            self._answer(Progress(job, f"waiting for {counted(before, 'other job')} on this machine"))

    def _run(self, request: Any) -> None:
        with self._changed:
            if request.job in self._cancelled:
                self._cancelled.discard(request.job)
                raise TurnCancelled
            self._job = -request.job  # it is the engine's now
        self._submit(request)
        with self._changed:
            while self._job and not self._closed:
                self._changed.wait()
