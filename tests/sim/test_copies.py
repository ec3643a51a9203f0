"""cp.async on the simulated GPU: a copy lands when its thread waits for it, and an earlier read is a finding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.errors import KernelError
from gpu_ops.own_kernels.launching import OwnLaunch, simulate
from gpu_ops.own_kernels.sources import OwnFile
from tests.sim.bench import Case, Outcome, launch

HEAD = """
__device__ __forceinline__ void later(void* to, const void* from, int bytes)
{
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(place), "l"(from), "r"(bytes) : "memory");
}
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL asm volatile("cp.async.wait_all;" ::: "memory")
"""
BLOCKS, THREADS, VALUES = 3, 64, 160
X = np.arange(2 * VALUES, dtype=np.float32)


def run(body: str, device: str = "sim:sm_90") -> Outcome:
    """The body in a kernel in which thread t of 64 is number i of all and has the place box[t]."""
    text = f"""{HEAD}
extern "C" __global__ void k(const float2* x, float2* y, int n)
{{
    __shared__ float2 box[128];
    const int t = threadIdx.x, i = blockIdx.x * {THREADS} + t;
    const bool there = i < n;
    {body}
}}
"""
    y = np.zeros(2 * BLOCKS * THREADS, np.float32)
    return launch(Case(text, "k", (BLOCKS, 1, 1), (THREADS, 1, 1), (X, y, np.int32(VALUES))), device)


def expected() -> np.ndarray[Any, Any]:
    """What the right bodies leave: all values, then zeros."""
    return np.pad(X, (0, 2 * BLOCKS * THREADS - len(X)))


RIGHT = {
    "own value": "later(box + t, x + i, there ? 8 : 0); COMMIT; WAIT(0); y[i] = box[t];",
    "a neighbour's, after a barrier": (
        "later(box + t, x + i, there ? 8 : 0); WAIT_ALL; __syncthreads(); y[i ^ 1] = box[t ^ 1];"
    ),
    "the older of two groups": (
        "later(box + t, x + i, there ? 8 : 0); COMMIT; later(box + 64 + t, x, 8); COMMIT; WAIT(1); y[i] = box[t];"
    ),
    "some lanes copy, others store": (
        "if (t & 1) later(box + t, x + i, there ? 8 : 0);\n"
        "else box[t] = there ? x[i] : make_float2(0, 0);\n"
        "WAIT_ALL; y[i] = box[t];"
    ),
    "one place after the other": (
        "for (int k = 0; k < 3; ++k) {\n"
        "    later(box + t, x + (there ? (i + k) % n : 0), 8); COMMIT; WAIT(0);\n"
        "    if (k == 0) y[i] = there ? box[t] : make_float2(0, 0);\n"
        "}"
    ),
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_a_copy_that_is_waited_for_brings_its_value(body: str) -> None:
    found = run(body)
    assert not found.findings
    assert np.array_equal(found.arrays[1], expected())


WRONG = {
    "no wait": ("box[t] = make_float2(0, 0); later(box + t, x, 8); y[i] = box[t];", "read before its copy is complete"),
    "the newer of two groups": (
        "later(box + t, x, 8); COMMIT; later(box + 64 + t, x, 8); COMMIT; WAIT(1); y[i] = box[64 + t];",
        "read before its copy is complete",
    ),
    "a wait without a commit": ("later(box + t, x, 8); WAIT(0); y[i] = box[t];", "read before its copy is complete"),
    "a neighbour's, without a barrier": (
        "later(box + t, x, 8); WAIT_ALL; y[i] = box[t ^ 32];",
        "read-after-write hazard",
    ),
    "over what a neighbour may still read": (
        "box[t] = x[0]; __syncthreads(); y[i] = box[t ^ 32]; later(box + t, x, 8); WAIT_ALL;",
        "write-after-read hazard",
    ),
    "past the end": ("later(box + 100 + t, x, 8); WAIT_ALL; y[i] = x[0];", "out of bounds"),
    "nothing there to copy": ("later(box + t, x + 100000, 8); WAIT_ALL; y[i] = box[t];", "out of bounds"),
}


@pytest.mark.parametrize(("body", "kind"), WRONG.values(), ids=WRONG)
def test_what_a_copy_makes_wrong_is_named(body: str, kind: str) -> None:
    assert kind in run(body).kinds()


def test_a_copy_of_a_part_is_refused() -> None:
    with pytest.raises(KernelError, match="copies all 8 bytes of a cp.async or none"):
        run("later(box + t, x, 4); WAIT_ALL; y[i] = box[t];")


def test_a_copy_counts_as_a_load_and_as_a_store() -> None:
    from gpu_ops.devices.sim.device import SimDevice
    from gpu_ops.devices.sim.launch import Options
    from gpu_ops.plan import Launch, Plan
    from tests.sim.bench import FILE

    text = f'{HEAD}\nextern "C" __global__ void k(const float2* x, float2* y) {{\n__shared__ float2 box[64];\n'
    text += "later(box + threadIdx.x, x + threadIdx.x, 8); WAIT_ALL; y[threadIdx.x] = box[threadIdx.x];\n}"
    session = SimDevice("sm_90", Options(counters="full")).session({FILE: text})
    x, y = session.upload(X), session.empty((128,), np.float32)
    counters = session.execute(
        Plan((Launch(session.kernel(FILE, "k", {}), (1, 1, 1), (64, 1, 1), (x, y)),), {})
    ).counters
    assert counters["global_load_sectors"] == counters["global_store_sectors"] == 16
    assert counters["shared_store_requests"] == counters["shared_load_requests"] == 2
    assert counters["shared_wavefronts"] == 8


PAST_L1 = r"""
extern "C" __global__ void copies(const char* x, int* out, int given)
{
    __shared__ __align__(128) char s[512];
    unsigned to = __cvta_generic_to_shared(s + 16 * threadIdx.x);
    const char* from = x + 16 * threadIdx.x + 16;
    if (given < 0) asm volatile("cp.async.WAY.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else asm volatile("cp.async.WAY.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    out[threadIdx.x] = *(int*)(s + 16 * threadIdx.x);
}
"""


@pytest.mark.parametrize(
    ("way", "given", "counts"),
    [("ca", -1, (17, 4)), ("cg", -1, (32, 12)), ("ca", 16, (17, 4)), ("cg", 16, (32, 4)), ("cg", 0, (0, 4))],
)
def test_copies_past_l1_are_counted_as_the_gpu_makes_them(way: str, given: int, counts: tuple[int, int]) -> None:
    """Sectors and wavefronts of one warp whose source is 16 bytes further than a line, as an H200 had them."""
    own = OwnFile("own.cu", {"own.cu": PAST_L1.replace("WAY", way)})
    arguments = ("range:uint8:1024", "zeros:int32:32", str(given))
    found = simulate(OwnLaunch(own, None, (1, 1, 1), (32, 1, 1), arguments), "sm_90")
    assert found.xray is not None and not found.xray.findings
    whole = found.xray.kernels[0].totals
    assert whole.get("global_load_sectors", 0) == counts[0]
    read = 4  # 32 words, 16 bytes apart
    assert whole["shared_wavefronts"] - read == counts[1]
    np.testing.assert_array_equal(found.outputs["out"] != 0, np.full(32, given != 0))
