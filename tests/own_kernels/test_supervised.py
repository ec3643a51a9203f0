"""A command with a user's kernel in a child process, which is ended from outside where it does not end itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_ops.cli.own import supervised
from gpu_ops.errors import LimitReached
from gpu_ops.own_kernels import watched
from gpu_ops.own_kernels.watched import Watch, piece

KERNEL = 'extern "C" __global__ void k(int* a) { a[threadIdx.x] = 1; }'


def kernelscope(*args: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    code = f"import sys; from gpu_ops.cli.own import supervised; sys.exit(supervised.main({list(args)!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_the_child_writes_and_its_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(KERNEL)
    launch = ("xray", str(tmp_path / "k.cu"), "--block", "32", "--arg", "empty:int32:32")
    done = kernelscope(*launch)
    assert done.returncode == 0 and "global store sectors" in done.stdout and not done.stderr, done.stderr
    done = kernelscope(*launch, "--gate", "blocks == 2")
    assert done.returncode == 3 and done.stderr.startswith(f"{tmp_path}/k.cu"), done.stderr
    done = kernelscope("xray", str(tmp_path / "none.cu"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "does not exist" in done.stderr


def test_only_commands_with_kernels_have_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr(supervised, "command", lambda argv, draw=None: called.append(argv) or 0)
    monkeypatch.setattr(supervised, "_supervise", lambda argv: called.append("child") or 0)
    for argv in (["xray", "mean1d"], ["run", "mean"], ["check", "mean1d", "a.cu"], ["list"], []):
        assert supervised.main(argv) == 0
    assert "child" not in called
    for argv in (["xray", "a.cu"], ["run", "mean", "--kernel=a.cu"], ["xray", "mean1d", "--kern", "a"]):
        assert supervised.main(argv) == 0
    assert called[5:] == ["child"] * 3


def _stuck(connection: object, argv: list[str]) -> None:
    watched.be_watched(connection)  # type: ignore[arg-type]
    with piece("a.cu on sim", 0.2):
        if argv[0] == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        while True:
            pass


@pytest.mark.parametrize(
    "what, words",
    [
        ("spin", "a.cu on sim took more than 0.2 s; --deadline allows more."),
        ("crash", "a.cu on sim ended its process by SIGSEGV. Look for very large arrays, tables and output."),
    ],
)
def test_a_child_that_does_not_answer_is_ended_and_one_that_crashes_is_said(
    what: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervised, "_serve", _stuck)
    monkeypatch.setattr(watched, "GRACE", 0.0)
    monkeypatch.setattr(supervised, "WITH_KERNELS", ("spin", "crash"))
    assert supervised.main([what, "--kernel"]) == 2
    assert capsys.readouterr().err == f"kernelscope: {words}\n"
    assert not multiprocessing.active_children()


def test_a_watch_ends_with_the_piece() -> None:
    ours, theirs = multiprocessing.Pipe()
    watch = Watch(ours)
    for message in (("one", 0.0), None, ("two", -2.0)):
        theirs.send(message)
        assert watch.listen()
    with pytest.raises(LimitReached, match="^two took more than -2 s"):
        watch.listen()
    theirs.close()
    ours.close()


def test_nothing_changes_where_nobody_watches() -> None:
    with piece("what", 0.0, 1):
        bytearray(1 << 24)
