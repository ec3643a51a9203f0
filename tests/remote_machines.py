"""Machines for the tests of the engine over ssh: a fake ssh that runs here, and a real sshd on loopback."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.engine.shared import SharedInput
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.talk import Talk
from gpu_ops.types import Pick

ROOT = Path(__file__).parents[1]
FAKE = f"{sys.executable} {ROOT / 'tests' / 'fake_ssh.py'}"
SSHD = "/usr/sbin/sshd"
THERE = f"env PYTHONPATH={ROOT} {sys.executable} -m gpu_ops"
"""The command on the other machine, which is this one."""
PATIENCE = 60.0
Connect = Callable[..., Talk]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Sockets and tickets of a test are its own."""
    runtime = Path("/tmp") / f"ks-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("KERNELSCOPE_TURNS", str(tmp_path / "turns"))
    monkeypatch.setenv("KERNELSCOPE_SSH", FAKE)
    yield
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Destination:
    """A machine that the fake ssh reaches."""
    return Destination("me@gpu-host", THERE)


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Destination]:
    """A machine that ssh reaches: an sshd of this user on loopback, with keys of its own."""
    if not os.path.exists(SSHD) or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no sshd, ssh or ssh-keygen here: install openssh-server and openssh-client")
    tmp_path.chmod(0o700)
    if os.getuid() == 0:  # otherwise its service makes it
        Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    shutil.copy(tmp_path / "user.pub", tmp_path / "authorized")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    passed = "XDG_RUNTIME_DIR KERNELSCOPE_TURNS KERNELSCOPE_FAULT"
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path / 'host'}\n"
        f"AuthorizedKeysFile {tmp_path / 'authorized'}\n"
        f"PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nAcceptEnv {passed}\n"
    )
    (tmp_path / "ssh_config").write_text(
        f"Host gpu-host\n HostName 127.0.0.1\n Port {port}\n User {getpass.getuser()}\n"
        f" IdentityFile {tmp_path / 'user'}\n"
        f" IdentitiesOnly yes\n UserKnownHostsFile {tmp_path / 'known'}\n StrictHostKeyChecking accept-new\n"
        f" SendEnv {passed}\n ProxyCommand {FAKE} --to {port}\n"
    )
    command = [SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")]
    with open(tmp_path / "sshd.log", "wb") as log, subprocess.Popen(command, stderr=log) as server:
        try:
            _wait_for(port, server, tmp_path / "sshd.log")
            monkeypatch.setenv("KERNELSCOPE_SSH", f"ssh -F {tmp_path / 'ssh_config'}")
            yield Destination("gpu-host", THERE)
        finally:
            server.terminate()


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.skip(f"sshd does not start here: {log.read_text().strip()[-200:]}")
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("sshd did not listen")


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest) -> Destination:
    """Both of them, one after the other."""
    found: Destination = request.getfixturevalue(request.param)
    return found


class Window:
    """A connection and what a window does with it."""

    def __init__(self, to: Destination) -> None:
        self.talk = Talk(to)
        self.label = to.label

    def noise(self, size: int = 256, seed: int = 0, dtype: str = "uint8") -> SharedInput:
        values = np.random.default_rng(seed).integers(0, 200, (size, size)).astype(dtype)
        return self.talk.share(from_array(values))

    def request(self, input: SharedInput, window: int = 3, variant: str = "scipy", **how: object) -> RunRequest:
        picks = (Pick(variant, f"{self.label}/cpu"),)
        more = {"protocol": "none", "checks": "off", **how}
        return RunRequest(self.talk.number(), 7, input, "mean2d", {"window": window}, picks, **more)  # type: ignore[arg-type]

    def run(self, input: SharedInput, window: int = 3, **how: object) -> list[RunUpdate]:
        return [a for a in self.talk.ask(self.request(input, window, **how)) if isinstance(a, RunUpdate)]

    def image(self, updates: list[RunUpdate]) -> np.ndarray:  # type: ignore[type-arg]
        """The values of a result, which is released."""
        shared = next(u.outputs["image"].array for u in updates if u.outputs)
        values = self.talk.array(shared).copy()
        self.talk.pool.release(shared.segment)
        return values


@pytest.fixture
def open_window() -> Iterator[Callable[[Destination], Window]]:
    opened: list[Window] = []

    def connect(to: Destination) -> Window:
        opened.append(Window(to))
        return opened[-1]

    yield connect
    for window in opened:
        window.talk.__exit__()


def engines_of(session: str) -> list[int]:
    """The processes of this session that are still there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if session.encode() in words and b"--stdio" in words:
            found.append(int(entry.parent.name))
    return found


def wait_until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
