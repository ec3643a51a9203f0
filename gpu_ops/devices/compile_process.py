"""NVRTC in a separate process, for edited and user-defined kernels: if it crashes, hangs or takes all memory, the
caller gets an error and continues. The process stays alive for the next compilation."""

from __future__ import annotations

import atexit
import base64
import queue
import threading
import time
from functools import cache
from typing import Any

from gpu_ops import processes
from gpu_ops.devices.nvrtc import CompileResult, Request, call_nvrtc
from gpu_ops.errors import DeviceError, KernelError
from gpu_ops.progress import advance, finite, is_limited

DEADLINE = 20.0
"""Seconds of a processor after which a compilation is ended; CUDA's own headers, such as cuda/barrier, take 2 s."""
MEMORY = 2 << 30
"""Bytes that a compilation may allocate."""
POLL = 0.02
SERVE = "from gpu_ops.devices.compile_process import serve; serve()"
_SIMPLER = "Look for macros or templates that expand without end, for deep nesting, and for very large tables."

_one = threading.Lock()
_child: processes.LineProcess | None = None


def make(request: Request) -> CompileResult:
    """Compile a kernel file in that process. Raises KernelError where NVRTC crashes, exceeds its memory limit or, if
    the work has no limits, takes more than DEADLINE seconds; DeviceError where it is not available, Cancelled and
    LimitReached as `advance` does."""
    with _one:
        child = _alive()
        child.send(request._asdict())
        try:
            answer = _wait(child, request.source)
        except BaseException:
            child.end()  # it may still compile for a request that was abandoned
            raise
    if "error" in answer:
        raise DeviceError(answer["error"])
    return CompileResult(**{**answer, "cubin": base64.b64decode(answer["cubin"])})


def close() -> None:
    """End the process."""
    global _child
    with _one:
        if _child is not None:
            _child.end()
        _child = None


def _alive() -> processes.LineProcess:
    global _child
    if _child is None:
        atexit.register(close)
    elif not _child.usable:
        _child.end()
        _child = None
    _child = _child or processes.LineProcess(SERVE)
    return _child


def _wait(child: processes.LineProcess, source: str) -> dict[str, Any]:
    begin, before = time.monotonic(), processes.cpu_seconds(child.pid)
    while True:
        try:
            answer = child.answers.get(timeout=POLL)
        except queue.Empty:
            worked = processes.has_worked(child.pid, before, time.monotonic() - begin, DEADLINE)
            if worked and not is_limited():
                text = f"NVRTC did not compile {source} within {DEADLINE:g} s and was ended. {_SIMPLER}"
                raise KernelError(text) from None
            with finite(2 * POLL):
                advance(0, 1)
            continue
        if answer is None:
            raise KernelError(f"NVRTC crashed ({child.exit_reason()}) while it compiled {source}. {_SIMPLER}")
        if "memory" in answer:
            raise KernelError(f"NVRTC needs more than {MEMORY >> 30} GiB to compile {source}. {_SIMPLER}")
        return answer


# In that process


FIRST = Request("first.cu", "__global__ void k() {}", {}, ("-arch=sm_75",), True)


def _make(request: Request) -> CompileResult:
    """Compile a program. One whose headers are all in the request needs no file, so it can open none, whatever it
    includes; NVRTC loads its own libraries at the first call."""
    if any(flag.startswith("-I") for flag in request.flags):
        return call_nvrtc(request)
    _load()
    with processes.no_more_files():
        return call_nvrtc(request)


@cache
def _load() -> None:
    call_nvrtc(FIRST)


def serve() -> None:
    """Answer requests until the caller is gone."""
    requests, answers = processes.serving()
    while True:
        request = requests.get()
        processes.limit_memory(MEMORY)
        try:
            made = _make(Request(**request))
            answer = made._asdict() | {"cubin": base64.b64encode(made.cubin).decode()}
        except DeviceError as error:
            answer = {"error": str(error)}
        except MemoryError:
            answer = {"memory": True}
        processes.send(answers, answer)
