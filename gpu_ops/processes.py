"""Child Python processes. None of them imports a module from the user's current folder: a `json.py` next to downloaded
pictures would be executed there."""

from __future__ import annotations

import ast
import gc
import inspect
import json
import mmap
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import IO, Any

from gpu_ops.errors import KernelscopeError, plain

FOLDER = Path(__file__).resolve().parent
"""The working directory of a process that needs no relative path: libraries also look for settings in the current
folder."""
SAFE = "PYTHONSAFEPATH"
"""With this variable set, Python adds neither the current folder nor the script's folder to the module path."""


def environment() -> dict[str, str]:
    """The environment of a process that finds the same modules as this one."""
    paths = dict.fromkeys(os.path.abspath(path) for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), SAFE: "1"}


_starting = RLock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Sets the environment for processes that multiprocessing starts inside the block, and for its helper process, both
    started by `python -c`. Threads exclude one another: the variable is global to this process, and each thread
    restores its former value."""
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


def check_guard(what: str) -> None:
    """Raises KernelscopeError where processes of multiprocessing, which import the main script, would run it again: the
    statement that it executes is not under `if __name__ == "__main__":`."""
    main = sys.modules["__main__"]
    file, frame = getattr(main, "__file__", None), inspect.currentframe()
    while frame is not None and not (frame.f_globals is vars(main) and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    if file is None or frame is None or frame.f_code.co_filename != file:  # a notebook, or a function in a thread
        return
    words = f"{what} starts processes, each of which imports {plain(Path(file).name)} and would run it again"
    try:
        nodes = list(ast.walk(ast.parse(Path(file).read_bytes())))
    except OSError:
        raise KernelscopeError(f"{what} starts processes that import the script; save it as a file first.") from None
    guards = [node for node in nodes if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    if not any(node.lineno <= frame.f_lineno <= (node.end_lineno or 0) for node in guards):
        raise KernelscopeError(f'{words}; put its statements under if __name__ == "__main__":')


@contextmanager
def without_main() -> Iterator[None]:
    """Processes that multiprocessing starts inside the block do not import this program's main module: it may be a
    script without `if __name__ == "__main__":`, which would run again in each of them."""
    with _starting:
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def importing() -> Iterator[None]:
    """For imports at the start of a process: the garbage collector is paused, because it would scan objects of loaded
    modules repeatedly although they live until the process ends."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def cpu_seconds(pid: int) -> float | None:
    """Seconds that a process and all that it has started have had a processor; None where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        started = {int(c) for f in Path(f"/proc/{pid}/task").glob("*/children") for c in f.read_text().split()}
    except (OSError, ValueError, IndexError, AttributeError):
        return None
    return own + sum(cpu_seconds(child) or 0.0 for child in started)


STARVED = 5.0
"""How many times as long as its limit work may take where other programs have the processor."""


def has_worked(pid: int, before: float | None, elapsed: float, seconds: float) -> bool:
    """Whether a process has worked for so many seconds since it had had a processor for `before`, `elapsed` seconds
    ago: on a loaded machine it takes longer, and a limit is one of the work."""
    if elapsed < seconds or before is None or elapsed >= STARVED * seconds:
        return elapsed >= seconds
    now = cpu_seconds(pid)
    return now is None or now - before >= seconds


Lines = queue.SimpleQueue[dict[str, Any] | None]
PATIENCE = 1.0


class LineProcess:
    """A Python process that answers JSON objects with JSON objects, one per line. `answers` receives None when it ends.

    `serve` is the code that it executes, which calls `serving`. With `as_command` it writes to the standard output and
    error of this process, in the current folder, and gets its signals; answers come through another pipe.
    """

    def __init__(self, serve: str, as_command: bool = False) -> None:
        self.answers: Lines = queue.SimpleQueue()
        start, given = _with_pipe if as_command else _with_output, [sys.executable, "-c", serve]
        self._process, self._answers = start(given)
        self._reader = threading.Thread(target=self._listen, name="line-reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send it an object; a process that has ended answers None."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def exit_code(self, patience: float = PATIENCE) -> int:
        """The exit code of a process that answered None, or minus the number of the signal that ended it."""
        with suppress(subprocess.TimeoutExpired):  # it is running but has closed its pipe, or sent invalid JSON
            self._process.wait(patience)
        self._process.kill()
        return self._process.wait()

    def exit_reason(self) -> str:
        """How a process that answered None ended: "by signal 11" or "with code 1"."""
        code = self.exit_code()
        return f"by signal {-code}" if code < 0 else f"with code {code}"

    def interrupt(self, patience: float) -> None:
        """Ask a process that gets signals to stop, and wait for it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)

    def _listen(self) -> None:
        with suppress(ValueError, OSError):
            for line in self._answers:
                self.answers.put(json.loads(line))
        self.answers.put(None)

    def end(self) -> None:
        """Kill it, and wait until it and its thread have ended."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._answers):
            assert pipe is not None
            with suppress(OSError):  # a request that it did not read
                pipe.close()


Started = tuple["subprocess.Popen[bytes]", IO[bytes]]


def _with_output(given: Sequence[str]) -> Started:
    """A process whose standard output has its answers."""
    to, quiet = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(given, stdin=to, stdout=to, stderr=quiet, cwd=FOLDER, env=environment())
    assert process.stdout is not None
    return process, process.stdout


def _with_pipe(given: Sequence[str]) -> Started:
    """A process that sends its answers to a pipe, which its environment names."""
    ours, theirs = os.pipe()
    try:
        how: dict[str, Any] = {"pass_fds": (theirs,)}
        name = theirs
        if sys.platform == "win32":
            import msvcrt

            name = msvcrt.get_osfhandle(theirs)
            os.set_handle_inheritable(name, True)
            how = {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [name]})}
        process = subprocess.Popen(given, stdin=subprocess.PIPE, env=environment() | {ANSWERS: str(name)}, **how)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return process, os.fdopen(ours, "rb")


ANSWERS = "KERNELSCOPE_ANSWERS"
"""The variable that names the pipe to a process whose answers are not its standard output."""


def _pipe_for_answers() -> IO[bytes]:
    if name := os.environ.pop(ANSWERS, ""):
        if sys.platform != "win32":
            os.set_inheritable(int(name), False)
            return os.fdopen(int(name), "wb")
        import msvcrt

        return os.fdopen(msvcrt.open_osfhandle(int(name), os.O_WRONLY), "wb")
    for number in (signal.SIGINT, signal.SIGTERM):  # signals are meant for the caller, which ends this process
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # text that a library prints must not mix with the answers
    return answers


def serving() -> tuple[queue.SimpleQueue[dict[str, Any]], IO[bytes]]:
    """Inside such a process: its requests, and where its answers are sent. The process ends when its caller is gone,
    whatever it is doing."""
    answers = _pipe_for_answers()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    lines = os.fdopen(os.dup(0), "rb")  # sys.stdin could not be closed at the end while the thread reads it
    threading.Thread(target=_take_requests, args=(lines, requests), daemon=True).start()
    return requests, answers


def _take_requests(lines: IO[bytes], requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in lines:
        requests.put(json.loads(line))
    os._exit(0)


def send(answers: IO[bytes], answer: Mapping[str, Any]) -> None:
    """Send an object to the caller."""
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


@contextmanager
def no_more_files() -> Iterator[None]:
    """Inside, this process can open no file. Some systems ignore it."""
    if sys.platform == "win32":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def memory_limited(nbytes: int) -> Iterator[None]:
    """Inside, this process may allocate so many more bytes. Some systems ignore it."""
    if sys.platform == "win32":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory(nbytes)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def limit_memory(nbytes: int) -> None:
    """Limit the bytes that this process may allocate from now on; 0: no limit. Some systems ignore it."""
    if sys.platform == "win32" or not nbytes:
        return
    import resource

    with suppress(OSError, ValueError):
        now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (now + nbytes if hard < 0 else min(now + nbytes, hard), hard))
