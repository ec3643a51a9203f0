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
