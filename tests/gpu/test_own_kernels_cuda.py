"""A kernel of any file on a real GPU: the same arrays as on the simulated one, and a time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.own_kernels.kernel_process import KernelProcess
from gpu_ops.own_kernels.launches import WORK, Request
from gpu_ops.own_kernels.launching import OwnLaunch, measure, simulate
from gpu_ops.own_kernels.sources import OwnFile, read_file

pytestmark = pytest.mark.gpu
VARIABLES = Path(__file__).parents[1] / "own_kernels" / "variables.cu"
TEXT = """
struct P { float gain; int n; };
__constant__ float table[4];
template <class T> __global__ void scaled(const T* x, float* y, P p, float* const* list)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) y[i] = p.gain * x[i] + table[i & 3] + (list[0] == nullptr ? list[1][i] : 0.f);
}
"""
ARGUMENTS = ("random:int16:1000", "zeros:float32:1000", "struct:float32=0.5,int32=900", "pointers:null,x2")


def test_a_template_with_a_structure_pointers_and_constants(cuda: str) -> None:
    text = TEXT.replace("float* const* list)", "float* const* list, const float* x2)")
    arguments = (*ARGUMENTS, "x2=range:float32:1000")
    file = OwnFile("own.cu", {"own.cu": text})
    own = OwnLaunch(file, "scaled<short>", (4, 1, 1), (256, 1, 1), arguments, symbols={"table": "range:float32:4"})
    found, counted = measure(own, cuda), simulate(own)
    assert found.changed == counted.changed == {"y"}
    assert np.array_equal(found.outputs["y"], counted.outputs["y"]) and found.outputs["y"].any()
    assert found.timing is not None and 0 < found.timing.median < 1e-3


def test_device_variables_have_contents_before_and_are_outputs_after(cuda: str) -> None:
    file, arguments = read_file(VARIABLES), ("range:float32:8",)
    symbols = {"taps": "range:float32:4", "sums": "ones:float32:2", "calls": "empty:uint32:1"}
    own = OwnLaunch(file, None, (1, 1, 1), (8, 1, 1), arguments, symbols=symbols)
    found, counted = measure(own, cuda), simulate(own)
    assert found.changed == counted.changed == {"sums", "calls"}
    for name, values in {"sums": [1, 3], "calls": [13]}.items():
        assert found.outputs[name].tolist() == counted.outputs[name].tolist() == values


def test_a_launch_of_the_window_is_timed_there_and_counted_beside_it(cuda: str, tmp_path: Path) -> None:
    text = (
        "__global__ void twice(const float* x, float* y, int n)\n"
        "{ int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }\n"
    )
    arguments = ("random:float32:1000", "zeros:float32:1000", "1000")
    request = Request("own.cu", {"own.cu": text}, None, (4, 1, 1), (256, 1, 1), arguments, str(tmp_path), device=cuda)
    process = KernelProcess(WORK)
    try:
        process.start(asdict(request), "own.cu")
        outcome = process.poll(120)
    finally:
        process.close()
    assert outcome is not None and outcome.result is not None, outcome
    assert outcome.result["content"]["totals"]["global_load_sectors"] == 125 and not outcome.result["uncounted"]
    assert 0 < outcome.result["time"]["median"] < 1e-3 and outcome.result["time"]["clock"] == "cuda-event"
    assert outcome.result["arrays"]["y"]["differs"] == 0 and outcome.result["arrays"]["y"]["changed"]
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * np.load(tmp_path / "x.npy"))
