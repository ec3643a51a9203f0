"""Kernels in the manner of the vendor's samples: their results by NumPy, no false alarm, and each fault on its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.devices.nvrtc import header_folders
from gpu_ops.errors import KernelError
from gpu_ops.own_kernels.launching import OwnLaunch, OwnRun, simulate
from gpu_ops.own_kernels.sources import OwnFile
from tests.sim.samples.cases import FOLDER, SAMPLES, Fault, Sample

RUNS = [pytest.param(s, a, id=f"{s.kernel}-{n}-{a}") for n, s in enumerate(SAMPLES) for a in s.architectures]
FAULTS = [
    pytest.param(s, f, a, id=f"{s.kernel}-{n}-{a}")
    for s in SAMPLES
    for n, f in enumerate(s.faults)
    for a in s.architectures[-1:]
]
needs_headers = pytest.mark.skipif(not header_folders(), reason="CUDA's headers are not installed")


def check(sample: Sample, found: OwnRun) -> None:
    """Compare the outputs with NumPy's."""
    for name, right in sample.expect(**sample.arrays).items():
        got = found.outputs[name].reshape(-1)
        if sample.tolerance and got.dtype.kind == "f":
            np.testing.assert_allclose(got, right.reshape(-1), rtol=0, atol=sample.tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(got, right.reshape(-1).astype(got.dtype), err_msg=name)


@needs_headers
@pytest.mark.parametrize(("sample", "architecture"), RUNS)
def test_a_sample_is_right_and_without_findings(sample: Sample, architecture: str, tmp_path: Path) -> None:
    found = simulate(sample.launch(tmp_path), architecture)
    assert found.xray is not None and not found.xray.findings
    check(sample, found)


@needs_headers
@pytest.mark.parametrize(("sample", "fault", "architecture"), FAULTS)
def test_a_missing_wait_is_named_on_its_line(sample: Sample, fault: Fault, architecture: str, tmp_path: Path) -> None:
    def broken(text: str) -> str:
        parts = text.split(fault.old)
        assert len(parts) > fault.nth + 1
        return fault.old.join(parts[: fault.nth + 1]) + fault.new + fault.old.join(parts[fault.nth + 1 :])

    launch = sample.launch(tmp_path, broken)
    found = simulate(launch, architecture)
    assert found.xray is not None
    lines = launch.file.texts[launch.file.name].splitlines()
    named = {
        (f.kind, lines[line - 1])
        for f in found.xray.findings
        for file, line in ((f.file, f.line), *f.inlined_at)
        if file == launch.file.name
    }
    assert any(kind == fault.kind and fault.line in line for kind, line in named), found.xray.findings


def _own(text: str, kernel: str, arguments: tuple[str, ...], grid: int = 1, block: int = 32) -> OwnLaunch:
    file = OwnFile("own.cu", {"own.cu": text})
    return OwnLaunch(file, kernel, (grid, 1, 1), (block, 1, 1), arguments)


@needs_headers
@pytest.mark.parametrize(("architecture", "most"), [("sm_75", 576), ("sm_90", 2112)])
def test_more_blocks_at_a_barrier_of_the_grid_than_are_resident(architecture: str, most: int, tmp_path: Path) -> None:
    sample = next(s for s in SAMPLES if s.kernel == "jacobi")
    fits, wide = (replace(sample.launch(tmp_path), grid=(blocks, 1, 1)) for blocks in (most, most + 1))
    with pytest.raises(
        KernelError, match=f"{most + 1:,} blocks meet at a barrier of the grid, and {most:,} are resident"
    ):
        simulate(wide, architecture)
    check(sample, simulate(fits, architecture))


EARLY = """#include <cuda_pipeline.h>
extern "C" __global__ void k(const int* x, int* out)
{
    __shared__ int box[64];
    for (int k = 0; k < 2; ++k) {
        __pipeline_memcpy_async(&box[threadIdx.x], &x[64 * k + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[64 * k + threadIdx.x] = box[63 - threadIdx.x];
    }
}
"""


@needs_headers
def test_what_happens_in_a_header_of_cuda_is_told_of_the_line_that_calls_it() -> None:
    found = simulate(_own(EARLY, "k", ("range:int32:128", "zeros:int32:128"), block=64), "sm_80")
    assert found.xray is not None
    (early,) = found.xray.findings
    assert str(early).startswith("own.cu:6: write-after-read hazard: writes byte 0 of box")


@pytest.mark.parametrize("architecture", ["sm_75", "sm_120"])
def test_a_pointer_to_a_function_from_a_variable(architecture: str) -> None:
    text = (FOLDER / "pointers.cu").read_text()
    found = simulate(_own(text, "given", ("range:uint8:200", "200", "op=variable:chosen"), block=256), architecture)
    np.testing.assert_array_equal(found.outputs["x"], np.where(np.arange(200) > 50, 255, 0))
    with pytest.raises(KernelError, match="no __device__ variable absent .*chosen"):
        simulate(_own(text, "given", ("range:uint8:200", "200", "op=variable:absent")), architecture)
    with pytest.raises(KernelError, match=r"own.cu:\d+: calls the address 0x0, which is no function"):
        simulate(_own(text, "given", ("range:uint8:200", "200", "null")), architecture)


ADDRESSES = """
__device__ int data[4] = {10, 20, 30, 40};
struct Pair { char mark; int* place; short last; };
__device__ Pair pair = {7, data + 1, -5};
__constant__ Pair pairs[2] = {{1, data + 3, 2}, {3, data, 4}};
extern "C" __global__ void k(int* out, int which)
{
    out[0] = *pair.place; out[1] = pair.mark; out[2] = pair.last;
    out[3] = *pairs[which].place; out[4] = pairs[which].last;
}
"""


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_addresses_among_other_bytes_of_a_variable(architecture: str) -> None:
    for which, rest in ((0, [40, 2]), (1, [10, 4])):
        found = simulate(_own(ADDRESSES, "k", ("zeros:int32:5", str(which)), block=1), architecture)
        assert found.outputs["out"].tolist() == [20, 7, -5, *rest]
