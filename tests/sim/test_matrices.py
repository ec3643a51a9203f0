"""Matrices of 8 x 8 elements between shared memory and registers: ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.explaining.xray import XRay
from gpu_ops.own_kernels.launching import OwnLaunch, simulate
from gpu_ops.own_kernels.sources import OwnFile

TURN = """
extern "C" __global__ void turn(const unsigned short* in, unsigned short* out, unsigned short* back, int pitch)
{
    extern __shared__ __align__(16) unsigned short tiles[];
    int lane = threadIdx.x % 32;
    unsigned short* tile = tiles + threadIdx.x / 32 * 32 * pitch;
    for (int i = lane; i < 256; i += 32) tile[i / 8 * pitch + i % 8] = in[threadIdx.x / 32 * 256 + i];
    __syncwarp();
    unsigned r[4], row = __cvta_generic_to_shared(tile + lane * pitch);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row));
    __syncwarp();
    for (int m = 0; m < 4; m++) ((unsigned*)out)[threadIdx.x / 32 * 128 + m * 32 + lane] = r[m];
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r[1]));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 : : "r"(row), "r"(r[0]), "r"(r[1]) : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32) back[threadIdx.x / 32 * 256 + i] = tile[i / 8 * pitch + i % 8];
}
"""


def turn(text: str, pitch: int) -> tuple[dict[str, np.ndarray], XRay]:
    arguments = ("range:uint16:512", "zeros:uint16:512", "zeros:uint16:512", str(pitch))
    own = OwnLaunch(OwnFile("own.cu", {"own.cu": text}), None, (1, 1, 1), (64, 1, 1), arguments, 128 * pitch)
    found = simulate(own, "sm_90")
    assert found.xray is not None
    return {name: array.reshape(8, 8, 8) for name, array in found.outputs.items()}, found.xray


@pytest.mark.parametrize(("pitch", "wavefronts"), [(8, 1), (24, 1), (16, 2), (32, 4), (64, 8)])
def test_matrices_are_turned_and_counted_by_rows_of_16_bytes(pitch: int, wavefronts: int) -> None:
    """Eight rows of 16 bytes are one pass over the banks where they are in different ones."""
    arrays, found = turn(TURN, pitch)
    given = arrays["in"]
    np.testing.assert_array_equal(arrays["out"], given.transpose(0, 2, 1))
    right = given.copy()
    right[1::4] = given[1::4].transpose(0, 2, 1)
    np.testing.assert_array_equal(arrays["back"], right)
    assert not found.findings
    lines = found.kernels[0].files[0].lines
    (load,) = (c for c in lines.values() if c.get("shared_load_requests") == 2 and not c.get("global_store_requests"))
    assert (load["shared_wavefronts"], load["shared_ideal_wavefronts"]) == (8 * wavefronts, 8)
    (store,) = (c for c in lines.values() if c.get("shared_store_requests") == 2)
    assert (store["shared_wavefronts"], store["shared_ideal_wavefronts"]) == (4 * wavefronts, 4)


@pytest.mark.parametrize("nth", [0, 2])
def test_a_missing_syncwarp_is_named(nth: int) -> None:
    parts = TURN.split("__syncwarp();")
    text = "__syncwarp();".join(parts[: nth + 1]) + "__syncwarp();".join(parts[nth + 1 :])
    _, found = turn(text, 8)
    assert "read-after-write hazard within a warp" in {f.kind for f in found.findings}


def test_a_row_that_is_not_aligned_is_named() -> None:
    _, found = turn(TURN.replace("tile + lane * pitch)", "tile + lane * pitch + 4)"), 24)
    assert "misaligned" in " ".join(f.kind for f in found.findings)


WMMA = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void scale(const half* a, float* c, int pitch)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::ORDER> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 0.0f);
    wmma::load_matrix_sync(x, a, pitch);
    wmma::fill_fragment(y, __float2half(1.0f));
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, pitch, wmma::mem_row_major);
}
"""


@pytest.mark.parametrize(("order", "requests", "sectors"), [("row_major", 4, 32), ("col_major", 8, 32)])
def test_matrices_of_wmma_are_counted_by_the_lanes_that_load_them(order: str, requests: int, sectors: int) -> None:
    """Lanes load the pairs that they multiply, of eight rows at a time, and single elements where those are in
    columns."""
    own = OwnFile("own.cu", {"own.cu": WMMA.replace("ORDER", order)})
    launch = OwnLaunch(own, None, (1, 1, 1), (32, 1, 1), ("random:float16:512", "zeros:float32:512", "32"), 0)
    found = simulate(launch, "sm_90")
    assert found.xray is not None and not found.xray.findings
    lines = found.xray.kernels[0].files[0].lines.values()
    load = next(c for c in lines if c.get("global_load_requests"))
    store = next(c for c in lines if c.get("global_store_requests"))
    assert (load["global_load_requests"], load["global_load_sectors"]) == (requests, sectors)
    assert (store["global_store_requests"], store["global_store_sectors"]) == (4, 32)
    a = found.outputs["a"].astype(np.float32).reshape(16, 32)[:, :16]
    sums = a.sum(axis=1 if order == "row_major" else 0)
    np.testing.assert_allclose(found.outputs["c"].reshape(16, 32)[:, :16], sums[:, None] + 0 * a, rtol=1e-6)
