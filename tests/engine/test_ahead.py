"""What the next step of a slider needs is compiled while the engine has nothing to do, and never before real work."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

import numpy as np
import pytest

from gpu_ops.devices import compiler, nvrtc
from gpu_ops.engine import ahead
from gpu_ops.engine.ahead import Ahead, neighbours
from gpu_ops.engine.messages import RunRequest
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_array
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Pick

BOX = FILTERS.find("box")
IMAGE = from_array(np.arange(48 * 40, dtype=np.uint8).reshape(48, 40))
PICK = Pick("ring", "sim")
RADIUS = {p.name: p.default for p in BOX.params} | {"radius": 3}

needs_nvrtc = pytest.mark.skipif(bool(nvrtc.reason()), reason=nvrtc.reason() or "there is NVRTC")


def request(radius: int, *picks: Pick, **more: Any) -> RunRequest:
    params = {**RADIUS, "radius": radius}
    about = {"job": 1, "generation": 1, "input": cast(Any, None), "filter": "box", "params": params}
    return RunRequest(**about, picks=picks or (PICK,), **more)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of all compilations, with an empty cache and no pause."""
    keys: list[str] = []
    real = compiler._compile

    def compile(request: Any, architecture: str, defines: Any, key: str, isolated: bool) -> Any:
        keys.append(key)
        return real(request, architecture, defines, key, isolated)

    monkeypatch.setattr(compiler, "_compile", compile)
    monkeypatch.setattr(compiler, "_CACHE", {})
    monkeypatch.setattr(ahead, "PAUSE", 0.0)
    return keys


def run(radius: int) -> None:
    for one in run_experiment(Experiment("box", IMAGE, {**RADIUS, "radius": radius}, (PICK,), "none", checks="off")):
        assert not one.failure, one.failure


def test_neighbours_follow_the_movement_and_stay_within_the_limits() -> None:
    found = [values["radius"] for values in neighbours(BOX, RADIUS, {"radius": -1})]
    assert found == [2, 4, 1, 5]
    least = int(next(p.low or 0 for p in BOX.params if p.name == "radius"))
    assert all(v["radius"] > least for v in neighbours(BOX, {**RADIUS, "radius": least}, {}))
    window = FILTERS.find("mean2d")
    values = {p.name: p.default for p in window.params}
    assert [v["window"] for v in neighbours(window, {**values, "window": 5}, {})] == [7, 3, 9]


@needs_nvrtc
def test_a_step_to_a_neighbour_compiles_nothing(compiled: list[str]) -> None:
    run(3)
    before, work = len(compiled), Ahead()
    work.begin(request(3), IMAGE.meta)
    assert work._thread is not None
    work._thread.join()
    assert before and len(compiled) == before * (1 + 2 * ahead.REACH)
    for radius in (4, 2, 5, 1):
        run(radius)
    assert len(compiled) == before * (1 + 2 * ahead.REACH)
    run(6)
    assert len(compiled) > before * (1 + 2 * ahead.REACH)


@needs_nvrtc
def test_real_work_goes_first(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four neighbours only the one that is being compiled is finished; a measurement waits for its end."""
    begun, go = threading.Event(), threading.Event()
    work = Ahead(lambda pick, params: (begun.set(), go.wait(20)))
    work.begin(request(3), IMAGE.meta)
    assert begun.wait(20)
    count, start = len(compiled), time.monotonic()
    work.stop()
    assert time.monotonic() - start < 5 and work._thread is not None and work._thread.is_alive()
    go.set()
    work.stop(wait=True)
    assert not work._thread.is_alive() and len(compiled) == count


def test_work_within_the_pause_prevents_it(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "PAUSE", 30.0)
    work = Ahead()
    work.begin(request(3), IMAGE.meta)
    work.stop(wait=True)
    assert not compiled


@pytest.mark.parametrize("picks", [(Pick("serial", "cpu"),), (Pick("ring", "sim", edits={"box/8_ring.cu": ""}),)])
def test_nothing_is_compiled_for_the_cpu_or_for_edited_kernels(picks: tuple[Pick, ...]) -> None:
    work = Ahead()
    work.begin(request(3, *picks), IMAGE.meta)
    assert work._thread is None


@needs_nvrtc
def test_a_program_is_compiled_once_by_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, entered = threading.Event(), list[str]()

    def compile(request: Any, architecture: str, defines: Any, key: str, isolated: bool) -> Any:
        entered.append(key)
        inside.set()
        time.sleep(0.3)  # the second thread comes meanwhile
        return key

    monkeypatch.setattr(compiler, "_compile", compile)
    monkeypatch.setattr(compiler, "_CACHE", {})
    found: list[Any] = []

    def ask() -> None:
        found.append(compiler.compile_kernel("box/1_direct.cu", "sm_75"))

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    assert inside.wait(20)
    second.start()
    for thread in (first, second):
        thread.join()
    assert len(entered) == 1 and found == entered * 2
