"""An engine that is a copy of the process that starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from gpu_ops import processes
from gpu_ops.engine.child import FORKS

pytestmark = pytest.mark.skipif(not FORKS, reason="a child is never a copy of its parent on this system")

START = """
import json, os, sys, threading
import gpu_ops.filters
from gpu_ops.engine.child import EarlyChild
early = EarlyChild(copied=True)
ready = threading.Event()
def hear(child, message):
    if not ready.is_set():
        print(json.dumps({"pid": child.pid, "message": type(message).__name__}), flush=True)
    ready.set()
early.take(hear)
ready.wait(60)
"""


def start(then: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    """A process that starts an engine, waits for its first message, prints it and goes on with `then`."""
    command = [sys.executable, "-c", START + then]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=processes.environment())
    assert parent.stdout is not None
    with parent.stdout:
        return parent, json.loads(parent.stdout.readline())


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or has ended and its new parent has not noticed yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_it_is_a_copy_that_becomes_ready_and_ends_with_its_window() -> None:
    """It holds no end of its own connection open, so it notices when the window is killed."""
    parent, said = start("os.kill(os.getpid(), 9)")
    assert said["message"] == "Ready"
    assert parent.wait(60) == -9
    pid, end = said["pid"], time.monotonic() + 30
    assert isinstance(pid, int)
    try:
        while not has_ended(pid):
            assert time.monotonic() < end, "the engine goes on without its window"
            time.sleep(0.05)
    finally:
        if not has_ended(pid):
            os.kill(pid, 9)


def test_it_imports_nothing_again() -> None:
    """The engine's process has the memory of its parent, in place of another interpreter."""
    parent, said = start("threading.Event().wait(60)")
    with open(f"/proc/{said['pid']}/cmdline", "rb") as one, open(f"/proc/{parent.pid}/cmdline", "rb") as other:
        assert one.read() == other.read()
    parent.kill()
    parent.wait(60)
