"""Python processes of our own. None of them imports a module from the folder that a person works in: a `json.py` beside
downloaded pictures would be executed there."""

from __future__ import annotations

import json
import mmap
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import IO, Any

FOLDER = Path(__file__).resolve().parent
"""Where a process runs that needs no relative path: libraries look for settings in the current folder as well."""
SAFE = "PYTHONSAFEPATH"
"""With this variable Python puts neither the current folder nor that of a script in front of the module path."""


def environment() -> dict[str, str]:
    """The variables of a process that finds the modules that this one finds."""
    paths = dict.fromkeys(os.path.abspath(path) for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), SAFE: "1"}


_starting = RLock()


@contextmanager
def safe_path() -> Iterator[None]:
    """For processes that multiprocessing starts inside the block, and for its own helper, both by `python -c`. Threads
    wait for one another: the variable is this process's own, and each puts back what it found."""
    with _starting:
        before = os.environ.get(SAFE)
        os.environ[SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[SAFE]
            else:
                os.environ[SAFE] = before


Lines = queue.SimpleQueue[dict[str, Any] | None]
PATIENCE = 1.0


class LineProcess:
    """A Python process that answers JSON objects with JSON objects, one a line. `answers` get None at its end.

    `serve` is what it executes; that calls `serving`.
    """

    def __init__(self, serve: str) -> None:
        self.answers: Lines = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", serve],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=FOLDER,
            env=environment(),
        )
        self._reader = threading.Thread(target=self._listen, name="line-reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send it an object; one that is dead answers None."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def death(self) -> str:
        """How a process ended that answered None: "by signal 11" or "with code 1"."""
        with suppress(subprocess.TimeoutExpired):  # it runs and has closed its pipe, or sent what is no JSON
            self._process.wait(PATIENCE)
        self._process.kill()
        code = self._process.wait()
        return f"by signal {-code}" if code < 0 else f"with code {code}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError, OSError):
            for line in self._process.stdout:
                self.answers.put(json.loads(line))
        self.answers.put(None)

    def end(self) -> None:
        """Kill it, and wait for its end and its thread's."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):  # a request that it did not read
                pipe.close()


def serving() -> tuple[queue.SimpleQueue[dict[str, Any]], IO[bytes]]:
    """In such a process: its requests, and where its answers go. It ends when its caller is gone, whatever it does
    then."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they are meant for the caller, who ends this process
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not reach the answers
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_take_requests, args=(sys.stdin.buffer, requests), daemon=True).start()
    return requests, answers


def _take_requests(lines: IO[bytes], requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in lines:
        requests.put(json.loads(line))
    os._exit(0)


def send(answers: IO[bytes], answer: Mapping[str, Any]) -> None:
    """Send the caller an object."""
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def limit_memory(nbytes: int) -> None:
    """Limit the bytes that this process may allocate from now on; 0: no limit. Some systems ignore it."""
    if sys.platform == "win32" or not nbytes:
        return
    import resource

    with suppress(OSError, ValueError):
        now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (now + nbytes if hard < 0 else min(now + nbytes, hard), hard))
