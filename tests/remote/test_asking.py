"""What ssh asks – an unknown host key, a passphrase – is asked by the window, with a real ssh."""

from __future__ import annotations

import os
import pty
import select
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from remote_machines import wait_until

from gpu_ops.engine.messages import Ready
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.errors import STOPPED
from gpu_ops.remote.asking import Asker, Question, main
from gpu_ops.remote.client import RemoteClient
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.host import PATIENCE
from gpu_ops.remote.news import LinkState


class Answers:
    """Answers questions in order, and keeps them."""

    def __init__(self, *texts: str | None) -> None:
        self.texts, self.asked = list(texts), list[Question]()

    def __call__(self, question: Question) -> None:
        self.asked.append(question)
        question.answer(self.texts.pop(0) if self.texts else None)


@pytest.fixture
def asking(real: Destination, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Destination]:
    """A machine with an unknown host key, and a key of the user with a passphrase."""
    config = tmp_path / "ssh_config"
    config.write_text(config.read_text().replace("accept-new", "ask"))
    change = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(tmp_path / "user")]
    subprocess.run(change, check=True, stdout=subprocess.DEVNULL)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    yield real


def _connect(to: Destination, answers: Answers) -> list[Any]:
    """What a client says until it is ready or has failed."""
    pool, said, asker = SegmentPool(), SimpleQueue[Any](), Asker(answers)
    client = RemoteClient(to, said.put, pool, asker.variables(to.label))
    try:
        client.start()
        found = []
        while not found or not (isinstance(found[-1], Ready) or getattr(found[-1], "stage", "") == "failed"):
            found.append(said.get(timeout=60))
        return found
    finally:
        client.close()
        asker.close()
        pool.close()


def test_a_host_key_and_a_passphrase_are_asked_for(asking: Destination, tmp_path: Path) -> None:
    answers = Answers("yes", "open sesame")
    assert isinstance(_connect(asking, answers)[-1], Ready)
    key, secret = answers.asked
    assert key.confirmation and "authenticity of host" in key.text and key.host == "gpu-host"
    assert not secret.confirmation and "passphrase" in secret.text.lower()
    assert (tmp_path / "known").read_text()  # ssh remembers the key by itself
    again = Answers("open sesame")
    assert isinstance(_connect(asking, again)[-1], Ready) and len(again.asked) == 1


def test_a_refused_host_key_says_what_to_do(asking: Destination) -> None:
    failed = _connect(asking, Answers(None))[-1]
    assert isinstance(failed, LinkState) and "its host key is not known" in failed.sentence


def test_a_wrong_passphrase_says_what_to_do(asking: Destination) -> None:
    answers = Answers("yes", "no", "no", "no")
    failed = _connect(asking, answers)[-1]
    assert isinstance(failed, LinkState) and "does not let you in" in failed.sentence
    assert [question.again for question in answers.asked] == [False, False, True, True]


def test_a_refused_question_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """ssh asks for a password three times, whoever refuses it."""
    answers = Answers("yes", "wrong", None, "of another ssh")
    asker = Asker(answers)
    for name, value in asker.variables("gpu-host").items():
        monkeypatch.setenv(name, value)
    codes = [main([text]) for text in ("Trust it (yes/no)?", "Password:", "Password:", "Password:", "Passphrase:")]
    assert codes == [0, 0, 1, 1, 1] and capsys.readouterr().out == "yes\nwrong\n"
    assert [question.again for question in answers.asked] == [False, False, True]
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert main(["Password:"]) == 0 and not answers.asked[-1].again
    asker.close()


def test_only_this_user_can_answer() -> None:
    asker = Asker(lambda question: question.answer("x"))
    variables = asker.variables("h")
    folder = Path(variables["SSH_ASKPASS"]).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    asker.close()
    assert not folder.exists()


def test_without_a_window_a_question_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(os.environ, "KERNELSCOPE_ASK", "/nonexistent/socket")
    assert main(["password: "]) == 1 and capsys.readouterr().out == ""


def test_an_answer_is_printed_for_ssh(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    asker = Asker(lambda question: question.answer(f"{question.host} {question.text} {question.confirmation}"))
    for name, value in asker.variables("gpu-host").items():
        monkeypatch.setenv(name, value)
    assert main(["ok (yes/no)?"]) == 0
    assert capsys.readouterr().out == "gpu-host ok (yes/no)? True\n"
    asker.close()


@pytest.mark.thorough
def test_in_a_shell_ssh_asks_on_the_terminal(asking: Destination, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(64, dtype=np.uint8).reshape(8, 8))
    how = ["--input", str(tmp_path / "in.npy"), "--variant", "opencv", "--device", "gpu-host/cpu"]
    command = [sys.executable, "-m", "gpu_ops", "run", "mean", *how, "--remote-command", asking.command]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, command)
    said = b""
    for sign, answer in ((b"(yes/no", b"yes\n"), (b"passphrase", b"open sesame\n"), (b"right", b"")):
        while sign not in said:
            assert select.select([terminal], [], [], 60)[0], said
            said += os.read(terminal, 1 << 12)
        os.write(terminal, answer)
    with suppress(OSError):  # the end of the terminal
        while os.read(terminal, 1 << 12):
            pass
    assert os.waitpid(child, 0)[1] == 0 and b"open sesame" not in said


@pytest.mark.thorough
def test_ctrl_c_in_a_shell_ends_the_engine_there(
    fake: Destination, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ssh lives on until it has carried the goodbye; an engine that hears none waits for its window."""
    monkeypatch.setenv("KERNELSCOPE_FAULT", "hang")
    how = ["--sample", "noise_image", "--size", "16x16", "--variant", "opencv", "--device", "gpu-host/cpu"]
    command = [sys.executable, "-m", "gpu_ops", "run", "mean", *how, "--remote-command", fake.command]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, command)
    said = b""
    while b"about to hang" not in said:
        assert select.select([terminal], [], [], 60)[0], said
        said += os.read(terminal, 1 << 12)
    sockets = Path(os.environ["XDG_RUNTIME_DIR"])
    assert list(sockets.rglob("*.socket"))
    os.write(terminal, b"\x03")
    with suppress(OSError):
        while os.read(terminal, 1 << 12):
            pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == STOPPED
    wait_until(lambda: not list(sockets.rglob("*.socket")), PATIENCE * 0.7)
