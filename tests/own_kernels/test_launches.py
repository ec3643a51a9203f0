"""Launches in a process of their own: its limits, its end, and the next launch after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.own_kernels.kernel_process import KernelProcess, Outcome
from gpu_ops.own_kernels.launches import MOST_PRINTED, WORK, Request
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
def process() -> Iterator[KernelProcess]:
    made = KernelProcess(WORK)
    yield made
    made.close()


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    arguments = ("zeros:int32:2", "0")
    return Request("work.cu", {"work.cu": KERNEL}, None, (1, 1, 1), (1, 1, 1), arguments, str(tmp_path))


def outcome(process: KernelProcess, request: Request) -> Outcome:
    process.start(asdict(request), request.name)
    found = process.poll(60)
    assert found is not None
    return found


def test_a_loop_without_end_is_ended_at_the_limit_and_the_next_launch_runs(
    process: KernelProcess, request_: Request, tmp_path: Path
) -> None:
    found = outcome(process, replace(request_, arguments=("zeros:int32:2", "1"), seconds=1.0))
    assert found.result is None and found.reached and "work.cu" in found.reason and "1 s" in found.reason
    assert "--" not in found.reason, "the window has no command line"
    done = outcome(process, request_).result
    assert done is not None and done["time"] is None and done["uncounted"] == ""
    assert done["arrays"]["out"]["file"] == "out.npy" and np.load(tmp_path / "out.npy").tolist() == [0, 0]


def test_a_flood_of_lines_is_cut_and_a_wild_write_is_a_finding(process: KernelProcess, request_: Request) -> None:
    done = outcome(process, replace(request_, arguments=("zeros:int32:2", "2"))).result
    assert done is not None
    assert len(done["content"]["printed"]) == MOST_PRINTED + 1
    assert done["content"]["printed"][-1] == "… and 800 more lines"
    found = outcome(process, replace(request_, arguments=("zeros:int32:2", "3")))
    texts = [f["text"] for f in found.result["content"]["findings"]] if found.result else found.findings
    assert any("work.cu:5" in text for text in texts)


def test_memory_is_limited(process: KernelProcess, request_: Request) -> None:
    found = outcome(process, replace(request_, arguments=("zeros:int32:600000000", "0"), mebibytes=64))
    assert found.result is None and "64 MiB of memory" in found.reason and "--" not in found.reason


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
