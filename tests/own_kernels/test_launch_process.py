"""Launches in a process of their own: its limits, its end, and the next launch after it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.own_kernels.launch_process import MOST_PRINTED, Launcher, Request
from gpu_ops.own_kernels.presets import parameters
from gpu_ops.own_kernels.sources import declared_kernels

KERNEL = """__global__ void work(int* out, int what)
{
    if (what == 1) while (true) out[1] += 1;
    if (what == 2) for (int i = 0; i < 1000; i++) printf("%d\\n", i);
    if (what == 3) out[1 << 28] = 1;
    out[0] = what;
}
"""


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    made = Launcher()
    yield made
    made.close()


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    (tmp_path / "work.cu").write_text(KERNEL)
    arguments = ("zeros:int32:2", "0")
    return Request(str(tmp_path / "work.cu"), None, (1, 1, 1), (1, 1, 1), arguments, str(tmp_path))


def test_a_loop_without_end_is_ended_at_the_limit_and_the_next_launch_runs(
    launcher: Launcher, request_: Request, tmp_path: Path
) -> None:
    launcher.start(replace(request_, arguments=("zeros:int32:2", "1"), seconds=1.0))
    answer = launcher.poll(60)
    assert answer is not None and answer.content is None and "work.cu" in answer.reason and "1 s" in answer.reason
    launcher.start(request_)
    answer = launcher.poll(60)
    assert answer is not None and answer.reason == "" and answer.arrays is not None
    assert answer.arrays["out"]["file"] == "out.npy" and np.load(tmp_path / "out.npy").tolist() == [0, 0]


def test_a_flood_of_lines_is_cut_and_a_wild_write_is_a_finding(launcher: Launcher, request_: Request) -> None:
    launcher.start(replace(request_, arguments=("zeros:int32:2", "2")))
    answer = launcher.poll(60)
    assert answer is not None and answer.content is not None
    assert (
        len(answer.content["printed"]) == MOST_PRINTED + 1 and answer.content["printed"][-1] == "… and 800 more lines"
    )
    launcher.start(replace(request_, arguments=("zeros:int32:2", "3")))
    answer = launcher.poll(60)
    assert answer is not None
    texts = [f["text"] for f in answer.content["findings"]] if answer.content else answer.findings
    assert any("work.cu:5" in text for text in texts)


def test_memory_is_limited(launcher: Launcher, request_: Request) -> None:
    launcher.start(replace(request_, arguments=("zeros:int32:600000000", "0"), mebibytes=64))
    answer = launcher.poll(60)
    assert answer is not None and answer.content is None and "64 MiB of memory" in answer.reason


def test_a_process_that_dies_is_told_and_replaced(launcher: Launcher, request_: Request) -> None:
    os.kill(launcher._process.pid, signal.SIGKILL)
    launcher.start(request_)
    answer = launcher.poll(60)
    assert answer is not None and answer.reason == "The process of work.cu ended by signal 9."
    launcher.start(request_)
    answer = launcher.poll(60)
    assert answer is not None and answer.content is not None


def test_a_process_that_does_not_answer_is_ended(
    launcher: Launcher, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_ops.own_kernels.launch_process.GRACE", -100.0)
    launcher.start(replace(request_, arguments=("zeros:int32:2", "1"), seconds=60.0))
    answer = launcher.poll()
    assert answer is not None and answer.reason.startswith("work.cu was ended after 60 s: take a smaller launch")
    assert not launcher.busy and launcher.poll() is None


@pytest.mark.parametrize(
    "declaration, preset",
    [
        ("const unsigned char* __restrict__ pixels", "random:uint8:10000"),
        ("float out[]", "zeros:float32:10000"),
        ("const long long int rows", "1"),
        ("size_t count", "10000"),
        ("int n_elements", "10000"),
        ("float n", "1"),
        ("Point* points", "zeros:float32:10000"),
        ("volatile unsigned int *flags", "zeros:uint32:10000"),
    ],
)
def test_a_parameter_has_a_preset(declaration: str, preset: str) -> None:
    (declared,) = declared_kernels(f"__global__ void k({declaration}) {{}}")
    (parameter,) = parameters(declared)
    assert parameter.preset == preset
