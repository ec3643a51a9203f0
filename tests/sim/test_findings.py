"""Each fault is found, on its line and by its buffer's name; the corrected kernel raises nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.scheduling import schedule
from gpu_ops.devices.sim.scheduling.barriers import DIVERGENT
from gpu_ops.errors import KernelError
from gpu_ops.plan import Finding
from tests.sim.bench import Case, Empty, Outcome, launch
from tests.sim.table import text

ARCHITECTURES = ("sm_75", "sm_90", "sm_120")
SOURCE = text("faults.cu")
N = 250

FAULTS = {
    "read_past": ("out of bounds", "reads a[256], but a has 256 elements"),
    "read_before": ("out of bounds", "reads a[-1], but a has 256 elements"),
    "write_past": ("out of bounds", "writes out[250], but out has 250 elements"),
    "write_before": ("out of bounds", "writes out[-2], but out has 250 elements"),
    "atomic_past": ("out of bounds", "changes out[250], but out has 250 elements"),
    "misaligned": ("misaligned", "reads a[1] to a[2], not a multiple of 8"),
    "wide_past": ("out of bounds", "reads a[248] to a[251], but a has 250 elements"),
    "through_a_call": ("out of bounds", "reads a[250], but a has 250 elements"),
    "shared_past": ("out of bounds", "reads 4 bytes at byte 512 of shared memory, but a block has 512 bytes"),
    "shared_before": ("out of bounds", "writes 4 bytes at byte -12 of shared memory"),
    "shared_atomic_past": ("out of bounds", "changes 4 bytes at byte 512 of shared memory"),
    "unwritten_box": ("uninitialised read", "of box before it is written"),
    "unwritten_global": ("uninitialised read", "reads out[0] before it is written"),
    "read_after_write": ("read-after-write hazard", "of box, which thread"),
    "write_after_read": ("write-after-read hazard", "of box, which thread"),
    "write_after_write": ("write-after-write hazard", "of box, which thread"),
    "atomic_after_write": ("atomic-after-write hazard", "of sum, which thread 0 wrote with no __syncthreads()"),
    "warp_read_after_write": (
        "read-after-write hazard within a warp",
        "of box, which thread 1 wrote with no __syncwarp()",
    ),
    "warp_write_after_read": (
        "write-after-read hazard within a warp",
        "of box, which thread 1 read with no __syncwarp()",
    ),
    "too_few_meet": (
        "read-after-write hazard within a warp",
        "of box, which thread 15 wrote with no __syncwarp()",
    ),
    "same_place": ("write-after-write hazard", "where another thread writes another value at the same time"),
    "two_blocks": ("two blocks write one element", "writes out[0], which block"),
    "divergent_barrier": ("barrier in divergent code", "threads of one block wait here while others wait at line"),
    "arrives_early": ("read-after-write hazard", "wrote with no barrier in between"),
    "overwrites_early": ("read-after-write hazard", "wrote with no barrier in between"),
    "never_opens": ("barrier deadlock", "waits for 160 threads at barrier 3, where only 128 arrive"),
    "never_completes": (
        "warp instruction that never completes",
        "waits for lanes 1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31 of the warp",
    ),
    "volatile_warp": ("read-after-write hazard within a warp", "of box, which thread"),
    "volatile_block": ("read-after-write hazard", "of box, which thread 127 wrote with no __syncthreads()"),
    "flag_without_fence": ("read-after-write hazard", "of box, which thread 32 wrote with no"),
    "source_not_in_mask": ("shuffle from an inactive lane", "reads from lane 16, which its mask does not name"),
    "not_in_its_mask": ("lane outside its mask", "executes this with a mask that does not name it"),
    "lanes_elsewhere": ("warp instruction that never completes", "names lane 16, which ends without executing it"),
    "inactive_lane": ("shuffle from an inactive lane", "reads from lane 16, inactive; on hardware"),
}
WHOLE = {"read_past", "read_before", "two_blocks"}
"""These take as many threads as there are numbers."""


def _line(mark: str) -> int:
    """The line that a comment marks."""
    return next(n for n, line in enumerate(SOURCE.splitlines(), start=1) if line.rstrip().endswith(mark))


def _case(kernel: str, right: bool) -> Case:
    n = 256 if kernel in WHOLE else N
    out: Any = Empty((n,), "float32") if kernel == "unwritten_global" else np.zeros(n, np.float32)
    args = (np.arange(n, dtype=np.float32), out, np.int32(n))
    return Case(SOURCE, kernel, (2, 1, 1), (128, 1, 1), args, defines={"RIGHT": 1} if right else {})


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kernel", FAULTS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_fault_is_found(kernel: str, architecture: str, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        monkeypatch.setattr(schedule, "SMALLEST", 1)
        monkeypatch.setattr(schedule, "FEW", 1)
    kind, words = FAULTS[kernel]
    outcome = launch(_case(kernel, right=False), f"sim:{architecture}")
    here = [f for f in outcome.findings if f.kind == kind and f.line == _line(f"//! {kernel}")]
    assert here, [str(f) for f in outcome.findings]
    assert words in here[0].detail and here[0].kernel == kernel and here[0].file == "tests/kernel.cu"
    assert here[0].count >= 1 and here[0].severity == "error"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kernel", FAULTS)
def test_the_corrected_kernel_raises_nothing(kernel: str, architecture: str) -> None:
    for reverse in (False, True):
        outcome = launch(_case(kernel, right=True), f"sim:{architecture}", Options(reverse=reverse))
        assert outcome.findings == ()


def _only(kernel: str) -> Finding:
    outcome = launch(_case(kernel, right=False))
    assert len(outcome.findings) == 1, [str(f) for f in outcome.findings]
    return outcome.findings[0]


def test_a_finding_counts_in_groups_of_three_digits() -> None:
    found = Finding("misaligned", "error", "k", "own.cu", 3, (), 1_048_576, (0, 0, 0), (1, 0, 0), "reads x[1]")
    assert str(found) == "own.cu:3: misaligned: reads x[1] – 1,048,576 times, first in thread 1 of block 0"
    assert str(replace(found, count=1)).endswith("reads x[1] – first in thread 1 of block 0")


def test_a_finding_counts_and_names_the_first() -> None:
    past = _only("write_past")
    assert (past.count, past.block, past.thread) == (6, (1, 0, 0), (122, 0, 0))
    hazard = _only("read_after_write")
    assert hazard.count == N and hazard.block == (0, 0, 0)
    clash = _only("two_blocks")
    assert clash.count == 128


ROWS_AND_COLUMNS = """
extern "C" __global__ void k(const int* x, int* out) {
    __shared__ int a[16][16], b[16][16];
    const int t = threadIdx.x, u = threadIdx.y;
    int sum = 0;
    for (int step = 0; step < 2; ++step) {
        a[u][t] = x[16 * u + t + step];
        b[u][t] = x[16 * t + u + step];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[u][i] * b[i][t];
    }
    out[16 * u + t] = sum;
}
"""
CALLED = """
__device__ int turned(int* box, int value) {
    box[threadIdx.x] = value;
    PICK return box[127 - threadIdx.x];
}
extern "C" __global__ void k(const int* x, int* out) {
    __shared__ int box[128];
    const int once = turned(box, x[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = turned(box, once + 1);
}
"""


def test_a_missing_barrier_is_told_once_and_not_as_one_of_a_warp() -> None:
    """Rows of the first array are read by the warp that writes them, columns of the second by all."""
    args = (np.arange(300, dtype=np.int32), np.zeros(256, np.int32))
    (found,) = launch(Case(ROWS_AND_COLUMNS, "k", (1, 1, 1), (16, 16, 1), args)).findings
    assert (found.kind, found.line) == ("write-after-read hazard", 8)


def test_a_function_with_a_fault_is_told_once_for_all_callers() -> None:
    args = (np.arange(128, dtype=np.int32), np.zeros(128, np.int32))
    wrong, right = (
        launch(Case(CALLED, "k", (1, 1, 1), (128, 1, 1), args, defines={"PICK": way}))
        for way in ("", "__syncthreads();")
    )
    (found,) = wrong.findings
    assert (found.kind, found.line, found.count) == ("read-after-write hazard", 4, 256)
    assert found.inlined_at == (("tests/kernel.cu", 8),) and right.findings == ()


LOST = """
extern "C" __global__ void k(const int* x, int* bins) {
    bins[x[blockIdx.x * blockDim.x + threadIdx.x] % 8] += 1;
}
"""


def test_a_lost_update_of_several_blocks_is_told_once() -> None:
    args = (np.arange(128, dtype=np.int32), np.zeros(8, np.int32))
    (found,) = launch(Case(LOST, "k", (2, 1, 1), (64, 1, 1), args)).findings
    assert (found.kind, found.line) == ("two blocks write one element", 3)


def test_what_may_follow_from_others_comes_last() -> None:
    text = """
    extern "C" __global__ void k(int* out) {
        __shared__ int box[64];
        const int other = box[63 - threadIdx.x];
        box[threadIdx.x] = out[threadIdx.x];
        out[threadIdx.x] = other;
    }"""
    found = launch(Case(text, "k", (1, 1, 1), (64, 1, 1), (np.zeros(64, np.int32),))).findings
    assert [f.kind for f in found] == ["write-after-read hazard", "uninitialised read"]


def test_a_finding_tells_where_its_line_was_inlined() -> None:
    found = _only("through_a_call")
    assert found.line == _line("//! through_a_call")
    assert found.inlined_at == (("tests/kernel.cu", _line("// called here")),)
    assert found.count == 200


def test_dropped_stores_leave_memory_alone() -> None:
    kept = launch(_case("write_before", right=False)).arrays[1]
    assert (kept[:248] == 1).all() and (kept[248:] == 0).all()


def test_dropped_atomics_leave_shared_memory_alone() -> None:
    found = launch(_case("shared_atomic_past", right=False))
    assert found.kinds() == {"out of bounds"} and found.arrays[1][:128].tolist() == [0] + [1] * 127


def test_a_null_pointer_is_tested_and_named() -> None:
    text = """extern "C" __global__ void twice(const int* a, int* y) { y[threadIdx.x] = a ? 2 * a[threadIdx.x] : -1; }
    extern "C" __global__ void blind(const int* a, int* y) { y[threadIdx.x] = a[threadIdx.x]; }"""
    args = None, np.zeros(32, np.int32)
    found = launch(Case(text, "twice", (1, 1, 1), (32, 1, 1), args))
    assert found.findings == () and (found.arrays[0] == -1).all()
    (fault,) = launch(Case(text, "blind", (1, 1, 1), (32, 1, 1), args)).findings
    assert (fault.kind, fault.line, fault.count) == ("out of bounds", 2, 32) and "null pointer" in fault.detail


def test_the_budget_stops_an_endless_loop() -> None:
    with pytest.raises(KernelError, match=rf"kernel.cu:{_line('//! endless')}: .*endless loop"):
        launch(_case("endless", right=False), "sim", Options(budget=20_000))
    assert launch(_case("endless", right=True), "sim", Options(budget=20_000)).findings == ()


@pytest.mark.parametrize("right", [False, True])
def test_another_order_shows_what_depends_on_it(right: bool) -> None:
    args = (np.zeros(1, np.float32), np.zeros(40960, np.int32), np.zeros(1, np.int32))
    given = Case(SOURCE, "by_order", (40, 1, 1), (1024, 1, 1), args, defines={"RIGHT": 1} if right else {})
    outcomes: list[Outcome] = [launch(given, "sim", Options(reverse=r)) for r in (False, True)]
    assert (outcomes[0].arrays[1] == outcomes[1].arrays[1]).all() == right


def test_checks_can_be_left_out_but_for_bounds() -> None:
    options = Options(checks=False)
    assert launch(_case("read_after_write", right=False), "sim", options).findings == ()
    assert launch(_case("read_past", right=False), "sim", options).kinds() == {"out of bounds"}


ALL_READ = """
extern "C" __global__ void k(int* out) {
    __shared__ int box[1];
    if (threadIdx.x == 0) box[0] = 1;
    __syncthreads();
    out[threadIdx.x] = box[0];
    if (threadIdx.x == WRITER) box[0] = 2;
}
"""


@pytest.mark.parametrize("writer", [0, 30, 31, 62, 63])
def test_who_reads_a_place_last_may_not_write_what_others_read(writer: int) -> None:
    """All lanes read it at once, the writer among them; its own track warp is the one that is named."""
    given = Case(ALL_READ, "k", (1, 1, 1), (64, 1, 1), (np.zeros(64, np.int32),), defines={"WRITER": writer})
    (hazard,) = launch(given).findings
    assert hazard.kind.startswith("write-after-read hazard") and hazard.thread == (writer, 0, 0)


HEAD = """extern "C" __global__ void k(int* out, int n) {
    __shared__ int box[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
"""
IN_BRANCHES = {
    "an if": """
    box[t] = i;
    if (t < 40) {
        __syncthreads();
        out[i] = box[t ^ 1];
    }
}""",
    "a step of a reduction": """
    box[t] = i;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k) {
            box[t] += box[t + k];
            __syncthreads();
        }
    }
    if (t == 0) out[blockIdx.x] = box[0];
}""",
    "one line": """
    box[t] = i; if (t >= n) { out[i] = t; } else { __syncthreads(); out[i] = box[t]; }
}""",
    "a loop of different length": """
    for (int k = t; k < n; k += 100) {
        box[t] = k;
        __syncthreads();
        out[i] += box[t ^ 1];
        __syncthreads();
    }
}""",
}
ALL_MEET = {
    "an early return": """
    if (t >= n)
        return;
    box[t] = i;
    __syncthreads();
    out[i] = box[t];
}""",
    "an early return of one line": "box[t] = i; if (t >= n) return; __syncthreads(); out[i] = box[t]; }",
    "blocks that differ": """
    box[t] = i;
    if (blockIdx.x == 1) {
        __syncthreads();
        out[i] = box[t ^ 1];
    }
}""",
    "a return in a loop": """
    box[t] = i;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t >= k) return;
        box[t] += box[t + k];
        __syncthreads();
    }
    out[blockIdx.x] = box[0];
}""",
}


def _in_branch(body: str, architecture: str) -> Outcome:
    args = (np.zeros(256, np.int32), np.int32(100))
    return launch(Case(HEAD + body, "k", (2, 1, 1), (128, 1, 1), args), f"sim:{architecture}")


@pytest.mark.parametrize("architecture", ["sm_75", pytest.param("sm_120", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", IN_BRANCHES)
def test_a_barrier_that_lanes_go_around_and_end_is_named(name: str, architecture: str) -> None:
    """GPUs since capability 7.0 do not wait for threads that have ended."""
    body = IN_BRANCHES[name]
    lines = [n for n, line in enumerate((HEAD + body).splitlines(), 1) if "__syncthreads" in line]
    found = [f for f in _in_branch(body, architecture).findings if f.kind == DIVERGENT]
    assert found and {f.line for f in found} <= {*lines} and {f.severity for f in found} == {"warning"}
    assert "went around and ended" in found[0].detail


@pytest.mark.parametrize("architecture", ["sm_75", pytest.param("sm_120", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", ALL_MEET)
def test_threads_that_return_early_are_no_fault(name: str, architecture: str) -> None:
    assert _in_branch(ALL_MEET[name], architecture).findings == ()


APART = """
extern "C" __global__ void k(int* out) {
    if (threadIdx.x < 64) {
        __syncthreads();
    } else {
        asm volatile("barrier.sync 1, 96;" : : : "memory");
    }
    out[threadIdx.x] = 1;
}
"""


def test_threads_at_a_barrier_of_the_block_do_not_help_those_at_a_numbered_one() -> None:
    """The numbered barrier never gets its 96 threads: the run reports this and ends."""
    outcome = launch(Case(APART, "k", (1, 1, 1), (128, 1, 1), (np.zeros(128, np.int32),)))
    assert outcome.kinds() == {"barrier deadlock"} and outcome.arrays[0].all()
