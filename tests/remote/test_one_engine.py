"""The engine of a session is found at its socket, whoever else begins or ends there."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from remote_machines import THERE

from gpu_ops.remote import host as host_module
from gpu_ops.remote.host import MAGIC, Host, _bridge, _connected, _listening, folder
from gpu_ops.remote.line import Connection

SESSION = "0123456789abcdef"


@pytest.fixture
def path() -> Iterator[Path]:
    made = folder() / f"{SESSION}.socket"
    yield made
    with suppress(OSError):
        made.unlink()


def test_an_engine_that_ends_leaves_another_ones_socket(host: Host, path: Path) -> None:
    with _listening(path):
        own = path.stat().st_ino
        with _listening(path):  # the other one's
            host._leave(own)
            found = _connected(path)
            assert found is not None
            found.close()
            host._leave(path.stat().st_ino)
            assert not path.exists()
            host._leave(own)  # nothing is left to remove


@pytest.mark.parametrize("ends", [True, False])
def test_an_engine_that_says_nothing_is_not_waited_for(ends: bool, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "PATIENCE", 20.0 if ends else 0.1)
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("it was waited for"))
    read, write = os.pipe()
    with _listening(path) as listening:
        known = _connected(path)
        assert known is not None
        accepted, _ = listening.accept()
        if ends:
            accepted.close()
        _bridge(known, Connection(read, write))
        accepted.close()
    os.close(read)
    os.close(write)


def test_a_window_that_meets_an_engine_as_it_ends_gets_a_new_one(path: Path) -> None:
    command = [*shlex.split(THERE), "engine", "--stdio", "--session", SESSION]
    with _listening(path) as listening:
        threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True).start()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
            try:
                assert engine.stdout and engine.stdin
                assert engine.stdout.readline() + engine.stdout.readline() == b"\n" + MAGIC + b"\n"
                found = _connected(path)
                assert found is not None and found.makefile("rb").read(len(MAGIC) + 1) == b"\n" + MAGIC
                found.close()
            finally:
                engine.kill()
                engine.stdin.close()
