"""Works of a KernelProcess that do what users' kernels, compilers and libraries may do."""

from __future__ import annotations

import os
import re
import signal
from typing import Any

from gpu_ops.errors import KernelFault
from gpu_ops.own_kernels.kernel_process import piece


def die(request: dict[str, Any]) -> dict[str, Any]:
    os._exit(7)


def misbehave(request: dict[str, Any]) -> dict[str, Any]:
    """What the request, or the name of a file of it, says."""
    what = request.get("what") or request["name"]
    with piece(f"{what}: case 1", 0.5, 64.0):
        if what in ("spin", "a.cu"):
            re.match("(a*)*b", "a" * 60)  # keeps the interpreter's lock, as some calls of libraries do
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "memory":
            bytearray(6 << 30)
        if what == "output":
            return {"text": "x" * (65 << 20)}
        if what == "fault":
            raise KernelFault("an illegal address")
        if what == "mistake":
            raise TypeError("an argument")
        if what == "starved":
            os.kill(os.getpid(), signal.SIGSTOP)  # another program has the processor
        if what in ("right", "starved"):
            return {"pid": os.getpid()}
        os._exit(3)


def command(request: dict[str, Any]) -> Any:
    """The same as a command, which says so before."""
    print("It begins.", flush=True)
    if request["argv"][0] == "slow":
        import time

        time.sleep(30)
    misbehave({"what": request["argv"][0]})
    raise SystemExit(4)
