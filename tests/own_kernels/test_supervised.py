"""A command with a user's kernel in a child process, which is ended from outside where it does not end itself."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_ops.cli.own import supervised
from gpu_ops.errors import STOPPED

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
    for argv in (
        ["xray", "a.cu"],
        ["xray", "a.cuh"],
        ["run", "mean", "--kernel=a.cu"],
        ["xray", "mean1d", "--kern", "a"],
    ):
        assert supervised.main(argv) == 0
    assert called[5:] == ["child"] * 4


ADVICE = "Look for very large arrays, tables and output."


@pytest.mark.parametrize(
    "what, code, words",
    [
        ("spin", 2, "kernelscope: spin: case 1 took more than 0.5 s; --deadline allows more.\n"),
        ("crash", 2, f"kernelscope: crash: case 1 ended its process by signal 11. {ADVICE}\n"),
        ("right", 4, ""),
    ],
)
def test_a_child_that_does_not_answer_is_ended_and_one_that_crashes_is_said(
    what: str, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervised, "WORK", "works:command")
    monkeypatch.setattr(supervised, "WITH_KERNELS", ("spin", "crash", "right"))
    assert supervised.main([what, "--kernel"]) == code
    said = capfd.readouterr()
    assert (said.out, said.err) == ("It begins.\n", words)


def test_a_signal_to_the_command_stops_the_child(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from gpu_ops.cli.own import supervised; "
        "supervised.WORK = 'works:command'; supervised.WITH_KERNELS = ('slow',); "
        "sys.exit(supervised.main(['slow', '--kernel']))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None and command.stdout.readline() == "It begins.\n"
        command.send_signal(signal.SIGTERM)
        assert command.wait(20) == STOPPED and command.stdout.read() == ""  # the child has closed its output too
