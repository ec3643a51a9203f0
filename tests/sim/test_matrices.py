"""Matrices between memory and registers: ldmatrix, stmatrix, movmatrix and wmma."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.sim.units.matrices import Fragment, Part, places
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


COPY = """
extern "C" __global__ void copy(const float* in, float* out, const unsigned* halves, unsigned* sums)
{
    unsigned r[8], h[8];
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 32;"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                 : "l"(in));
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, 32;"
                 : : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "l"(out)
                 : "memory");
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 32;"
                 : "=r"(h[0]), "=r"(h[1]), "=r"(h[2]), "=r"(h[3]), "=r"(h[4]), "=r"(h[5]), "=r"(h[6]), "=r"(h[7])
                 : "l"(halves));
    sums[threadIdx.x] = h[0] + h[1] + h[2] + h[3] + h[4] + h[5] + h[6] + h[7];
}
"""


def test_matrices_of_wmma_are_loaded_as_the_machine_code_does() -> None:
    """By row 64 bits of four lanes are neighbours, by column each element is on its own; halves are held twice and
    loaded once."""
    arguments = ("range:float32:512", "zeros:float32:512", "range:uint32:256", "zeros:uint32:32")
    found = simulate(OwnLaunch(OwnFile("own.cu", {"own.cu": COPY}), None, (1, 1, 1), (32, 1, 1), arguments), "sm_90")
    assert found.xray is not None and not found.xray.findings
    given, copied = (found.outputs[name].reshape(16, 32) for name in ("in", "out"))
    np.testing.assert_array_equal(copied[:, :16], given[:, :16].T)
    words = found.outputs["halves"].reshape(16, 16)[:, :8].reshape(2, 8, 2, 4)
    np.testing.assert_array_equal(found.outputs["sums"], 2 * words.sum(axis=(0, 2), dtype=np.uint32).reshape(32))
    lines = found.xray.kernels[0].files[0].lines.values()
    names = ("global_load_requests", "global_load_sectors", "global_load_ideal_sectors", "global_store_requests")
    counts = [tuple(c.get(name, 0) for name in names) for c in lines if c.get("global_load_requests")]
    assert counts == [(4, 32, 32, 0), (4, 32, 16, 0)]
    assert [c["global_store_sectors"] for c in lines if c.get("global_store_requests") == 8] == [8 * 4]


@pytest.mark.parametrize(
    ("part", "type", "shape", "registers"),
    [
        *(("a", "f16", (16, 16, 16), 8), ("b", "bf16", (8, 32, 16), 8), ("b", "f16", (32, 8, 16), 8)),
        *(("a", "s8", (16, 16, 16), 2), ("a", "tf32", (16, 16, 8), 4), ("a", "f64", (8, 8, 4), 1)),
        *(("c", "f32", (8, 32, 16), 8), ("c", "f16", (32, 8, 16), 4), ("c", "f64", (8, 8, 4), 2)),
    ],
)
@pytest.mark.parametrize("order", ["row", "col"])
def test_lanes_hold_every_element_of_a_matrix(
    part: Part, type: str, shape: tuple[int, int, int], registers: int, order: str
) -> None:
    fragment = Fragment(part, type, shape, registers, order, True)
    rows, columns = places(fragment)
    size = fragment.size
    held = np.zeros(size, int)
    np.add.at(held, (rows[:, : fragment.distinct], columns[:, : fragment.distinct]), 1)
    assert (held == 1).all()
    near = columns if fragment.along == "row" else rows
    assert (np.diff(near.reshape(32, -1, fragment.pair), axis=2) == 1).all()


SUMS = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void sums(const half* a, float* c, int pitch)
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


@pytest.mark.parametrize("order", ["row_major", "col_major"])
def test_halves_are_loaded_in_pairs_by_row_and_by_column(order: str) -> None:
    """The machine code of sm_90 loads pairs of a column, and turns the matrix in registers (MOVM)."""
    own = OwnFile("own.cu", {"own.cu": SUMS.replace("ORDER", order)})
    launch = OwnLaunch(own, None, (1, 1, 1), (32, 1, 1), ("random:float16:512", "zeros:float32:512", "32"), 0)
    found = simulate(launch, "sm_90")
    assert found.xray is not None and not found.xray.findings
    lines = found.xray.kernels[0].files[0].lines.values()
    load = next(c for c in lines if c.get("global_load_requests"))
    store = next(c for c in lines if c.get("global_store_requests"))
    assert (load["global_load_requests"], load["global_load_sectors"]) == (4, 32)
    assert (store["global_store_requests"], store["global_store_sectors"]) == (4, 32)
    a = found.outputs["a"].astype(np.float32).reshape(16, 32)[:, :16]
    expected = a.sum(axis=1 if order == "row_major" else 0)
    np.testing.assert_allclose(found.outputs["c"].reshape(16, 32)[:, :16], expected[:, None] + 0 * a, rtol=1e-6)
