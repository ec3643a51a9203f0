"""A process that works on users' kernels, with limits of time, memory and output: whatever a kernel or its compilation
does ends there, with a result or with one sentence."""

from __future__ import annotations

import json
import math
import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from gpu_ops import processes
from gpu_ops.errors import KernelError, KernelFault, KernelscopeError, LimitReached, shortened
from gpu_ops.progress import EVERY, Limit, has_abandoned_calls, limited

MiB = 1 << 20
SECONDS, MEBIBYTES = 6.0, 2048.0
"""The default limits of a piece of work. With the start of the process its answer comes within ten seconds."""
GRACE = 1.0
"""Seconds beyond a limit in which the process should report it by itself: its message names the line."""
PATIENCE = 60.0
"""Seconds for the start of a process, and for what it does between two pieces of work."""
STOPPING = 5.0
"""Seconds for the end of a command that has done its work or is asked to stop."""
ADDRESSES = 2 << 30
"""Bytes of addresses that libraries reserve without using them."""
MOST_OUTPUT = 64 * MiB
"""Bytes of a result."""


@dataclass(frozen=True)
class Outcome:
    """The result of a request; or the `reason` why there is none, one sentence, with the findings until then and
    their kinds. `reached` says that a limit was reached."""

    result: Mapping[str, Any] | None = None
    reason: str = ""
    findings: Sequence[str] = ()
    kinds: Sequence[str] = ()
    reached: bool = False


class KernelProcess:
    """A process for one request after another: it stays ready for the next one, and a new one takes the place of one
    that has ended. `start`, then `poll` until there is an outcome; `close` at the end.

    `work`, "module:function", is called there with a request and returns the result, both JSON objects. A process
    `as_command` writes to the standard output and error of this one, and its result is the exit code, {"code": 0}; it
    has limits in its pieces of work alone, since its output may have to wait for a reader.
    """

    def __init__(self, work: str, as_command: bool = False) -> None:
        self._code, self._as_command = f"from {__name__} import serve; serve({work!r})", as_command
        self._process = processes.LineProcess(self._code, as_command)
        self._name = self._what = ""
        self._limit, self._flag, self._began = 0.0, "", 0.0
        self._cpu: float | None = None
        self.busy = False

    def start(self, request: Mapping[str, Any], name: str) -> None:
        """Begin to work on a request; work that goes on is ended. `name` is that of the work in sentences."""
        self.stop()
        if not self._process.usable:
            self._renew()
        self.busy, self._name = True, name
        self._begin(name, PATIENCE)
        self._process.send(request)

    def _begin(self, what: str, seconds: float, flag: str = "", computed: bool = True) -> None:
        self._what, self._limit, self._flag, self._began = what, seconds, flag, time.monotonic()
        self._cpu = processes.cpu_seconds(self._process.pid) if computed else None

    @property
    def _over(self) -> bool:
        limit, elapsed = self._limit + GRACE, time.monotonic() - self._began
        return processes.has_worked(self._process.pid, self._cpu, elapsed, limit)

    def poll(self, seconds: float = 0.0) -> Outcome | None:
        """The outcome, once; None while the work goes on. Waits for it so many seconds."""
        until = time.monotonic() + seconds
        while self.busy:
            try:
                wait = until - time.monotonic()
                message = self._process.answers.get(timeout=max(min(wait, EVERY), 0.0))
            except queue.Empty:
                if not self._over:
                    if time.monotonic() < until:
                        continue
                    return None
                self.stop()
                return Outcome(reason=str(LimitReached(f"{self._limit:g} s", self._flag, self._what)), reached=True)
            if message is None:
                return self._ended()
            if "what" in message:
                self._begin(**message)
            elif not message:
                self._begin(self._name, math.inf if self._as_command else PATIENCE)
            else:
                self.busy = False
                if message.pop("last"):
                    self._renew()
                return Outcome(**message)
        return None

    def _ended(self) -> Outcome:
        """The outcome of a process that has ended."""
        code, how = self._process.exit_code(STOPPING), self._process.exit_reason()
        if self._as_command and code >= 0:
            self.busy = False
            return Outcome({"code": code})
        self.stop()
        advice = "Look for very large arrays, tables and output."
        return Outcome(reason=f"{self._what} ended its process {how}. {advice}")

    def stop(self) -> None:
        """End the work that goes on, whatever it is doing."""
        if self.busy:
            self.busy = False
            self._renew()

    def _renew(self) -> None:
        self._process.end()
        if not self._as_command:
            self._process = processes.LineProcess(self._code)

    def interrupt(self) -> None:
        """Ask a command to stop, which it reports by itself."""
        self._process.interrupt(STOPPING)

    def close(self) -> None:
        """End the process."""
        self.busy = False
        self._process.end()


# In that process

_answers: IO[bytes] | None = None


def serve(work: str) -> None:
    """Answer requests until the caller is gone."""
    global _answers
    requests, _answers = processes.serving()
    module, _, function = work.partition(":")
    do: Callable[[dict[str, Any]], Mapping[str, Any]] = getattr(import_module(module), function)
    while True:
        answer = _answer(do, requests.get())
        if len(json.dumps(answer)) > MOST_OUTPUT:
            answer = {"reason": f"The result takes more than {MOST_OUTPUT // MiB} MiB; print less.", "last": False}
        answer["last"] |= has_abandoned_calls()  # they could take time and memory from the next request
        processes.send(_answers, answer)
        if answer["last"]:
            os._exit(0)


def _answer(do: Callable[[dict[str, Any]], Mapping[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    """The fields of an Outcome; `last` where the process can do nothing more."""
    try:
        return {"result": do(request), "last": False}
    except KernelscopeError as error:
        findings = error.findings if isinstance(error, KernelError) else ()
        about: dict[str, Any] = {"findings": [shortened(str(f)) for f in findings], "kinds": [f.kind for f in findings]}
        about["reached"] = isinstance(error, LimitReached)
        return {"reason": shortened(str(error)), **about, "last": isinstance(error, KernelFault)}
    except Exception as error:  # a fault of ours ends this request alone
        return {"reason": shortened(f"{type(error).__name__}: {error}"), "last": isinstance(error, MemoryError)}


@contextmanager
def piece(
    what: str,
    seconds: float = SECONDS,
    mebibytes: float = MEBIBYTES,
    flags: bool = True,
    simulated: bool = True,
    long: Callable[[], None] = lambda: None,
) -> Iterator[Limit]:
    """Inside, work has limits of time and of the memory that it adds. It ends itself with LimitReached, whose message
    names the command line's options with `flags`; a KernelProcess that does not is ended. The driver of a GPU reserves
    more addresses than any limit allows, so the system limits only the memory of `simulated` work, and only in a
    KernelProcess. `long` is as in Limit."""
    nbytes = int(mebibytes * MiB)
    limit = Limit(seconds, nbytes, long, what, not flags, simulated)
    _tell({"what": what, "seconds": seconds, "flag": "--deadline" if flags else "", "computed": simulated})
    try:
        with processes.memory_limited(nbytes + ADDRESSES if simulated and _answers else 0), limited(limit):
            yield limit
    except MemoryError:
        raise LimitReached(f"{mebibytes:g} MiB of memory", "--memory" if flags else "", what) from None
    finally:
        _tell({})


def _tell(message: Mapping[str, Any]) -> None:
    if _answers is not None:
        processes.send(_answers, message)
