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


NARROW = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void k(const float* x, const float* y, const float* z, float* one, float* two, float* half)
{
    const int i = threadIdx.x;
    const __nv_bfloat16 a = __float2bfloat16(x[i]), b = __float2bfloat16(y[i]), c = __float2bfloat16(z[i]);
    one[4 * i] = __bfloat162float(__hfma(a, b, c));
    one[4 * i + 1] = __bfloat162float(__hadd(a, c));
    one[4 * i + 2] = __bfloat162float(__hmax_nan(a, b));
    one[4 * i + 3] = a > b ? 1.0f : 0.0f;
    const __nv_bfloat162 p = __halves2bfloat162(a, c), q = __halves2bfloat162(b, b);
    const float2 f = __bfloat1622float2(__hfma2_relu(p, q, q)), g = __bfloat1622float2(__hmin2(p, q));
    two[4 * i] = f.x; two[4 * i + 1] = f.y; two[4 * i + 2] = g.x; two[4 * i + 3] = g.y;
    const __half2 u = __floats2half2_rn(x[i], z[i]), v = __floats2half2_rn(y[i], y[i]);
    const float2 s = __half22float2(__hadd2_sat(u, v)), t = __half22float2(__hmax2_nan(u, v));
    half[4 * i] = s.x; half[4 * i + 1] = s.y; half[4 * i + 2] = t.x; half[4 * i + 3] = t.y;
}
"""


def _bfloat(values: np.ndarray) -> np.ndarray:
    """Rounded to eight significant bits, halves to even."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(fraction * 256) / 256, exponent)


@needs_headers
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_numbers_of_sixteen_bits_are_rounded_once_and_keep_to_their_limits(architecture: str, tmp_path: Path) -> None:
    values = np.random.default_rng(16).normal(0, 4, (3, 64)).astype(np.float32)
    values[:, :2] = [[1.0078125, np.nan], [1.5, 2.0], [-(2.0**-30), 1.0]]  # a tie but for what is added, and no number
    for name, row in zip("xyz", values, strict=True):
        np.save(tmp_path / f"{name}.npy", row)
    given = (
        *(str(tmp_path / f"{name}.npy") for name in "xyz"),
        *(f"{n}=empty:float32:64x4" for n in ("one", "two", "half")),
    )
    found = simulate(_own(NARROW, "k", given, block=64), architecture).outputs
    a, b, c = _bfloat(values)
    relu = [np.where(np.isnan(r := _bfloat(p * b + b)), np.nan, np.maximum(r, 0)) for p in (a, c)]
    one = [_bfloat(a * b + c), _bfloat(a + c), np.maximum(a, b), a > b]
    two = [*relu, np.fmin(a, b), np.fmin(c, b)]
    u, v, w = values.astype(np.float16).astype(np.float64)
    half = [
        *(np.nan_to_num(np.clip((p + v).astype(np.float16), 0, 1)) for p in (u, w)),
        np.maximum(u, v),
        np.maximum(w, v),
    ]
    for name, right in (("one", one), ("two", two), ("half", half)):
        np.testing.assert_array_equal(found[name], np.stack(right, 1).astype(np.float32), err_msg=name)


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
