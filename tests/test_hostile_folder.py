"""A folder of downloads may contain a json.py or a numpy.py next to the pictures. No command, started in any way,
executes it: neither in its own process nor in its child processes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.main import COMMANDS, WINDOW_BENCH
from gpu_ops import load, processes, save
from gpu_ops.engine.child import Child
from gpu_ops.engine.messages import Ready
from gpu_ops.io import decoder_process

ROOT = Path(__file__).parent.parent
MODULES = ("json", "queue", "pickle", "numpy", "gpu_ops", "multiprocessing", "threading")
MARK = "executed"
PATIENCE = 60.0


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a picture, and modules that leave a mark where they are executed."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    save(folder / "a.tif", np.zeros((8, 9), np.uint8))
    (folder / "k.cu").write_text("no kernel")
    for name in MODULES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / MARK)!r}, 'a').write('{name} ')\nraise SystemExit(9)")
    monkeypatch.chdir(folder)
    return folder


def _executed(folder: Path) -> str:
    mark = folder.parent / MARK
    return mark.read_text() if mark.exists() else ""


def test_the_process_that_reads_files_executes_none(downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_process, "here", False)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    decoder_process.close()
    try:
        assert load("a.tif").array.shape == (8, 9)
    finally:
        decoder_process.close()
    assert _executed(downloads) == ""


def test_the_engine_of_the_window_executes_none(downloads: Path) -> None:
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    child = Child(lambda _, message: messages.put(message))
    try:
        message = messages.get(timeout=PATIENCE)
    finally:
        child.end()
    assert isinstance(message, Ready) and _executed(downloads) == "" and processes.SAFE not in os.environ


ONE = ("mean1d", "--sample", "noise", "--length", "300", "--device", "cpu")
REPORT = str(ROOT / "resources/recorded/h200-box-4096.json")
CALLS: dict[str, tuple[str, ...]] = {
    "list": (),
    "run": ("mean", "--input", "a.tif", "--device", "cpu", "--output", "b.png"),
    "bench": (*ONE, "--variant", "serial", "--quick", "--budget", "0.1"),
    "sweep": (*ONE, "--variant", "serial", "--over", "window=3,5", "--quick", "--budget", "0.1"),
    "compare": (REPORT, REPORT),
    "report": (*ONE, "--variant", "serial", "--no-counts", "--output", "page.html"),
    "check": ("mean1d", "k.cu", "--jobs", "1"),
    "claims": ("--report", REPORT),
    "figures": ("--csv", "points.csv"),
    "tables": ("mean-s4",),
    "compile": ("mean1d/1_naive.cu", "--gpu", "sm_75"),
    "doctor": ("--skip-roofs",),
    "lesson": ("list",),
    "exercise": ("make", "mean-shared", "folder"),
    "lecture": ("list",),
    "explain": ("sector",),
    "engine": ("--stdio", "--session", "0123456789abcdef"),
    "xray": ("mean1d", "naive", "--sample", "noise", "--length", "64"),
    "timeline": ("transfer", "streams", "--sample", "noise", "--length", "64", "--trace", "trace.json"),
    "predict": ("mean1d", "naive", "--sample", "noise", "--length", "64", "--json", "times.json"),
    "transfers": ("registering", "--h2d", "12", "--d2h", "12", "--kernel-rate", "400", "--json", "sweep.json"),
}
WINDOW = ("a.tif", "--variant", "serial", "--screenshot", "w.png")
SCRIPT = """
import json, sys
from app.main import main

if __name__ == "__main__":
    for call in json.loads(sys.argv[1]):
        code = main(call)
        assert code == (3 if call[0] == "check" else 0), (call, code)
"""


def _start(folder: Path, *command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != processes.SAFE}
    environment |= {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and _executed(folder) == "", _executed(folder) + done.stdout[-500:] + done.stderr


def test_no_other_module_starts_python() -> None:
    sources = {p: p.read_text() for package in ("app", "gpu_ops") for p in (ROOT / package).rglob("*.py")}
    del sources[ROOT / "gpu_ops" / "version.py"]  # names Python in commands that the user types
    starting = [p for p, text in sources.items() if "sys.executable" in text or "import multiprocessing" in text]
    known = {
        "processes.py",
        "benchmark.py",
        "bench_start.py",
        "child.py",
        "blocked.py",
        "build_hook.py",
        "asking.py",
        "cluster.py",
    }
    assert {p.name for p in starting} == known
    assert all("environment()" in sources[p] or "with safe_path()" in sources[p] for p in starting)


def test_every_command_is_tried() -> None:
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.thorough  # a process that runs every command
def test_the_installed_command_executes_none(downloads: Path) -> None:
    script = downloads.parent / "bin" / "kernelscope"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    bench = [WINDOW_BENCH, "first_paint", "--quick"]
    batch = ["run", "mean", "--input", "a.tif", "--device", "cpu", "--output-dir", "out"]
    calls = [[name, *words] for name, words in CALLS.items()]
    _start(downloads, str(script), json.dumps([*calls, batch, bench, list(WINDOW)]))


@pytest.mark.parametrize(
    "package, call",
    [
        ("gpu_ops", ("list", "mean2d", "--json", "filters.json")),
        pytest.param("gpu_ops", ("run", *CALLS["run"]), marks=pytest.mark.thorough),
        pytest.param("app", ("run", *CALLS["run"]), marks=pytest.mark.thorough),
        pytest.param("app", WINDOW, marks=pytest.mark.thorough),
    ],
)
def test_a_package_that_is_run_executes_none(downloads: Path, package: str, call: tuple[str, ...]) -> None:
    # Python itself looks for a package that is run in the current folder, so it has the one of that name here.
    (downloads / f"{package}.py").unlink(missing_ok=True)
    _start(downloads, "-m", package, *call)


def test_processes_that_start_at_once_leave_the_environment_as_it_was() -> None:
    """The second begins before the first has ended, and ends after it."""
    ends = [threading.Event(), threading.Event()]

    def start(end: threading.Event) -> None:
        with processes.safe_path():
            end.wait(PATIENCE)

    threads = [threading.Thread(target=start, args=(end,)) for end in ends]
    for thread in threads:
        thread.start()
        thread.join(0.1)
    for thread, end in zip(threads, ends, strict=True):
        end.set()
        thread.join()
    assert processes.SAFE not in os.environ
