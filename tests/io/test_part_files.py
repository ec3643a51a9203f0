"""Files replace their targets as a whole, with the permissions that a person set; nothing of a killed process stays."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.cli import main
from gpu_ops.io import part_files, replacing, save
from gpu_ops.io.part_files import growing, part_of
from gpu_ops.report.files import write_report

POSIX = pytest.mark.skipif(os.name != "posix", reason="the system has no such permissions and locks")
KILLED = """
import os, sys
from pathlib import Path
from gpu_ops.io.part_files import growing

with growing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process that has written nothing yet."""
    monkeypatch.setattr(part_files, "_tidied", set())


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@POSIX
@pytest.mark.parametrize("mask", [0o077, 0o022, 0o002])
def test_files_have_the_permissions_that_the_umask_leaves(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_report(tmp_path / "a.json", {})
        save(tmp_path / "a.npy", np.zeros(3))
        main(["list", "--json", str(tmp_path / "b.json")])
    finally:
        os.umask(before)
    assert {path.name: _mode(path) for path in tmp_path.iterdir()} == dict.fromkeys(
        ("a.json", "a.npy", "b.json"), 0o666 & ~mask
    )


@POSIX
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    for name in ("a.json", "a.npy"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o600)
    write_report(tmp_path / "a.json", {})
    save(tmp_path / "a.npy", np.zeros(3))
    assert [_mode(path) for path in tmp_path.iterdir()] == [0o600, 0o600]


@POSIX
def test_the_next_process_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".kernelscope-folder.part").mkdir()
    (tmp_path / "mine.part").touch()
    (tmp_path / ".kernelscope-link.part").symlink_to("mine.part")
    os.mkfifo(tmp_path / ".kernelscope-pipe.part")
    others = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a.npy")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        write_report(tmp_path / "a.json", {})
        (left,) = {path.name for path in tmp_path.iterdir()} - others - {"a.json"}  # it lives: its file stays
        process.kill()
    part_files._tidied.clear()
    save(tmp_path / "b.npy", np.zeros(3))
    assert left.endswith(".part") and {path.name for path in tmp_path.iterdir()} == {*others, "a.json", "b.npy"}


def test_a_file_that_fails_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("before")
    with pytest.raises(RuntimeError), growing(target, "token") as file:
        assert part_of(target, "token").exists()
        file.write(b"after")
        raise RuntimeError
    assert target.read_text() == "before" and list(tmp_path.iterdir()) == [target]
    with replacing(target) as file:
        file.write(b"after")
    assert target.read_text() == "after" and list(tmp_path.iterdir()) == [target]


@POSIX
def test_a_file_that_another_process_removes_before_it_is_locked_is_made_anew(tmp_path: Path, monkeypatch) -> None:
    lock, locked = part_files.lock, list[int]()

    def late(handle: int) -> None:
        if not locked:
            part_of(tmp_path / "a.txt", "1").unlink()
        locked.append(handle)
        lock(handle)

    monkeypatch.setattr(part_files, "lock", late)
    with growing(tmp_path / "a.txt", "1") as file:
        file.write(b"whole")
    assert len(locked) == 2 and [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"whole")]
