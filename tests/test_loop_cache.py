"""The folder of compiled loops in a read-only installation of a user without a home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_ops import loop_cache
from gpu_ops.loop_cache import POLICY, SPINS, VARIABLE, settle_loop_cache, settle_loop_threads

NOWHERE = Path("/proc/nowhere/numba")


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package that nobody may write to, of a user without a home."""
    (tmp_path / "package" / "__pycache__").mkdir(parents=True)
    access, package = os.access, str(tmp_path / "package")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(package) and access(path, mode))
    monkeypatch.setattr(loop_cache, "_own_cache", lambda: NOWHERE)
    monkeypatch.setattr(loop_cache.atexit, "register", lambda *given: None)
    monkeypatch.setenv(VARIABLE, "")
    return tmp_path / "package"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no place where nobody can make a folder")
def test_loops_have_a_folder_of_this_process_where_they_have_no_other(deny: Path) -> None:
    settle_loop_cache(deny)
    folder = Path(os.environ[VARIABLE])
    assert folder.is_dir() and folder.stat().st_mode & 0o077 == 0
    settle_loop_cache(deny)
    assert Path(os.environ[VARIABLE]) == folder, "there is one already"
    loop_cache._remove(str(folder), os.getpid() + 1)
    assert folder.is_dir(), "another process has made it"
    loop_cache._remove(str(folder), os.getpid())
    assert not folder.exists()


def test_loops_lie_beside_the_code_or_in_the_own_cache_first(
    deny: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settle_loop_cache(tmp_path)
    assert not os.environ[VARIABLE]
    monkeypatch.setattr(loop_cache, "_own_cache", lambda: tmp_path / "home" / "numba")
    settle_loop_cache(deny)
    assert not os.environ[VARIABLE] and (tmp_path / "home" / "numba").is_dir()


@pytest.mark.parametrize("name", SPINS)
@pytest.mark.parametrize("given, spins", [({}, ""), ({"": ""}, ""), ({"": "7"}, "7"), ({POLICY: "active"}, None)])
def test_threads_of_loops_sleep_soon_unless_the_user_says_otherwise(
    given: dict[str, str], spins: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in (*SPINS, POLICY):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in given.items():
        monkeypatch.setenv(variable or name, value)
    settle_loop_threads()
    assert os.environ.get(name) == (SPINS[name] if spins == "" else spins)


@pytest.mark.thorough  # compiles
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no place where nobody can make a folder")
def test_a_run_without_any_place_for_loops_is_right_and_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys; access = os.access;"
        "os.access = lambda path, mode: 'gpu_ops' not in str(path) and access(path, mode);"
        "from gpu_ops.cli import main;"
        "code = main(['run', 'mean', '--sample', 'noise', '--variant', 'serial']);"
        "print(os.environ['NUMBA_CACHE_DIR']); sys.exit(code)"
    )
    env = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", VARIABLE)}
    env |= {"HOME": "/proc/nowhere", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent.parent, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(str(tmp_path)) and list(tmp_path.iterdir()) == []


def test_a_file_of_numba_in_the_current_folder_chooses_no_folder_of_code(tmp_path: Path) -> None:
    library, here = tmp_path / "library", tmp_path / "here"
    library.mkdir()
    here.mkdir()
    (library / "yaml.py").write_text("def safe_load(file): return dict([file.read().strip().split(': ')])\n")
    (here / ".numba_config.yaml").write_text("cache_dir: /tmp/hostile\n")
    path = os.pathsep.join((str(library), str(Path(__file__).parent.parent)))
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    for code, folder in (("import gpu_ops, numba", ""), ("import numba", "/tmp/hostile")):
        words = [sys.executable, "-P", "-c", f"{code}; print(numba.config.CACHE_DIR)"]
        done = subprocess.run(
            words, cwd=here, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == folder
