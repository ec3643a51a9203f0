"""Hostile kernel files through all paths that people use: each ends by itself or at its limit, in one sentence, with
little memory, and shows no file's text."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import SECRET, Hostile, hostile, written
from lanes import DAY, daily_subset

from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import Failed, Finished, Loaded, RunRequest, RunUpdate, SampleRequest, XRayRequest
from gpu_ops.types import Pick

DEADLINE = 3
PATIENCE = 60.0
"""Seconds after which a process counts as endless; generous, for busy machines."""
MOST_MIB = 3000
MOST_OUTPUT = 300_000
ARGS = ("x=zeros:float32:64", "y=zeros:float32:64", "taps=ones:float32:64", "64", "3")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("xray", "FILE", "--kernel", "mean1d_naive", "--block", "64", *(part for a in ARGS for part in ("--arg", a))),
    ("xray", "mean1d", "naive", "--kernel", "FILE"),
    ("run", "mean1d", "--variant", "naive", "--kernel", "FILE", "--device", "sim"),
    ("check", "mean1d", "FILE", "--variant", "naive"),
)
FILES = hostile()
TODAY = int(os.environ.get(DAY, "0"))


def ended(command: tuple[str, ...], file: Hostile, folder: Path) -> tuple[int, str, str, float]:
    """Run a command as a person does. Its exit code, what it wrote, and the most MiB that one of its processes had."""
    path = str(written(file, folder))
    argv = [path if part == "FILE" else part for part in command]
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpu_ops", *argv, "--deadline", str(DEADLINE)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        killer = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        _, status, used = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    said = [(folder / name).read_text(errors="replace") for name in ("out", "err")]
    return process.returncode, said[0], said[1], used.ru_maxrss / 1024


@pytest.mark.parametrize("number", daily_subset(list(range(len(FILES))), 2, lambda n: FILES[n].name, 38))
def test_a_hostile_file_ends_in_a_sentence(number: int, tmp_path: Path) -> None:
    command = COMMANDS[(number + number // len(COMMANDS) + TODAY) % len(COMMANDS)]
    code, out, err, mib = ended(command, FILES[number], tmp_path)
    assert code in (0, 2, 3), f"{command[:2]} ended with {code}: {err}"
    assert "Traceback" not in out + err and len(err) < 3000 and err.count("\n") <= 2
    assert (
        code == 0
        or "kernelscope: " in err
        or "WRONG" in out
        or "FAILED" in out
        or "error: " in out
        or "cases right" in out
    ), out + err
    assert len(out) < MOST_OUTPUT and mib < MOST_MIB
    assert SECRET not in out + err and "root:" not in out + err


# The engine, as the window uses it


class Engine:
    """An engine, and the answers to its requests."""

    def __init__(self) -> None:
        self.answers: queue.Queue[Any] = queue.Queue()
        self.client = EngineClient(self.answers.put)
        *_, loaded, _ = self.do(SampleRequest(self.client.next_job(), "noise", {"length": 256}))
        assert isinstance(loaded, Loaded)
        self.input = loaded.input

    def do(self, request: Any) -> list[Any]:
        self.client.submit(request)
        found: list[Any] = []
        while not found or found[-1].__class__ not in (Finished, Failed) or found[-1].job != request.job:
            found.append(self.answers.get(timeout=PATIENCE))
        return [a for a in found if getattr(a, "job", 0) == request.job]

    def run(self, pick: Pick) -> list[Any]:
        about = (self.input, "mean1d", {"window": 3, "border": "reflect"}, (pick,))
        return self.do(RunRequest(self.client.next_job(), 1, *about, protocol="none"))

    def xray(self, pick: Pick) -> list[Any]:
        about = (self.input, "mean1d", {"window": 3, "border": "reflect"}, pick, "sm_75")
        return self.do(XRayRequest(self.client.next_job(), *about))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.client.close()


SHIPPED = Pick("naive", "sim")
TEXTS = [f for f in FILES if f.kind not in ("zeros", "no text", "large")]


@pytest.mark.parametrize("file", daily_subset(TEXTS, 1, lambda f: f.name, 9))
def test_the_engine_answers_and_other_results_stay(file: Hostile, engine: Engine) -> None:
    def result() -> np.ndarray[Any, Any]:
        update = next(a for a in engine.run(SHIPPED) if isinstance(a, RunUpdate) and a.outputs)
        assert update.row.ok is not False
        return np.array(engine.client.pool.array(next(iter(update.outputs.values())).array))

    before = result()
    pick = Pick("naive", "sim", edits={"mean1d/1_naive.cu": file.data.decode()})
    looked, ran = engine.xray(pick), engine.run(pick)
    texts = [a.sentence for a in (looked[-1], ran[-1]) if isinstance(a, Failed)]
    texts += [a.row.failure for a in ran if isinstance(a, RunUpdate) and a.row.failure]
    assert all(len(t) < 3000 and SECRET not in t and "root:" not in t and "unexpected" not in t for t in texts), texts
    assert all("--" not in t for t in texts if "took more than" in t), texts
    np.testing.assert_array_equal(result(), before)
