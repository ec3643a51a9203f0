"""The engine of a session is found at its socket, whoever else begins or ends there."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from remote_machines import PATIENCE, THERE, Window, engines_of, wait_until

from gpu_ops.engine.messages import PROTOCOL
from gpu_ops.remote import client as client_module
from gpu_ops.remote import host as host_module
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.host import MAGIC, Host, _bridge, _connected, _listening, folder
from gpu_ops.remote.line import Connection
from gpu_ops.remote.wire import HELLO, headed
from gpu_ops.version import __version__

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


def test_a_new_engine_serves_a_window_that_has_seen_frames_of_another(host: Host) -> None:
    """Else the window would connect twice, and ssh ask for a passphrase twice."""
    ours, theirs = socket.socketpair()
    served = threading.Thread(target=host._converse, args=(Connection(theirs.fileno(), os.dup(theirs.fileno())),))
    served.start()
    try:
        ours.sendall(headed(HELLO, version=__version__, protocol=PROTOCOL, seen=7).bytes())
        wait_until(lambda: host._line.connected or not served.is_alive())
        assert host._line.connected and not host._over.is_set()
    finally:
        ours.close()
        served.join(PATIENCE)
        theirs.detach()  # the connection has closed it


@pytest.mark.thorough
def test_a_window_whose_engine_is_gone_connects_once(
    fake: Destination, open_window: Callable[[Destination], Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, reach = list[int](), client_module.reach
    monkeypatch.setattr(client_module, "reach", lambda *what: reached.append(what[2]) or reach(*what))
    window = open_window(fake)
    window.image(window.run(window.noise()))
    for pid in engines_of(window.talk.client._session):
        os.kill(pid, signal.SIGKILL)
    window.image(window.run(window.noise()))
    assert len(reached) == 2 and reached[1] > 0
