"""Every kernel of the table on the simulated GPU, in both dialects of PTX: results right, nothing found wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lanes import daily_subset

from gpu_ops.devices.sim import launch as runs
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.scheduling import schedule
from tests.sim.bench import Case, launch
from tests.sim.cases import TABLE
from tests.sim.compare import deviations
from tests.sim.table import KERNELS, Entry

ARCHITECTURES = ("sm_75", "sm_90", "sm_120")
ROWS = [(e, a) for e in TABLE.values() for a in ARCHITECTURES if int(a[3:]) >= e.capability]
SOME = daily_subset(list(TABLE.values()), 40, lambda row: row.name)
"""Those that the default lane runs in other ways, too."""


@pytest.mark.parametrize(("row", "architecture"), ROWS, ids=[f"{e.name}-{a}" for e, a in ROWS])
def test_kernel(row: Entry, architecture: str) -> None:
    given, expected = row.build()
    assert deviations(row, given, expected, launch(given, f"sim:{architecture}")) == []


@pytest.mark.parametrize("row", SOME)
def test_kernel_in_another_order(row: Entry) -> None:
    """Right kernels do not care which threads come first."""
    given, expected = row.build()
    architecture = next(a for a in ARCHITECTURES if int(a[3:]) >= row.capability)
    outcome = launch(given, f"sim:{architecture}", Options(reverse=True))
    assert deviations(row, given, expected, outcome) == []


@pytest.mark.parametrize("name", ["barriers.last_block", "barriers.look_back", "barriers.spin_lock", "atomics.swaps"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_kernel_whose_blocks_publish_late(name: str, seed: int) -> None:
    given, expected = TABLE[name].build()
    assert deviations(TABLE[name], given, expected, launch(given, options=Options(late=seed))) == []


@pytest.mark.parametrize("row", SOME)
def test_kernel_in_packed_groups_and_small_batches(row: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """How lanes are kept and how many blocks run at once is nobody's business."""
    monkeypatch.setattr(schedule, "SMALLEST", 1)
    monkeypatch.setattr(schedule, "FEW", 2)
    monkeypatch.setattr(runs, "BATCH_LANES", 256)
    given, expected = row.build()
    architecture = next(a for a in ARCHITECTURES if int(a[3:]) >= row.capability)
    assert deviations(row, given, expected, launch(given, f"sim:{architecture}")) == []


def test_every_kernel_file_is_used() -> None:
    programs = "".join(p.read_text(encoding="utf-8") for p in KERNELS.parent.glob("*.py"))
    assert [p.name for p in KERNELS.glob("*.cu") if f'"{p.name}"' not in programs] == []


def test_there_are_enough_kernels() -> None:
    layout = {(case.kernel, case.text) for case, _ in (e.build() for e in TABLE.values())}
    assert len(layout) >= 80


REGISTERS = """
extern "C" __global__ void k(int* out) {
    const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int* r = out + 4 * (t + blockIdx.x * blockDim.x * blockDim.y * blockDim.z);
    asm("mov.u32 %0, %%warpid;" : "=r"(r[0]));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(r[1]));
    asm("mov.u32 %0, %%laneid;" : "=r"(r[2]));
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(r[3]));
}
"""


@pytest.mark.parametrize("block", [(96, 1, 1), (5, 7, 2), (1, 1, 40)])
def test_threads_know_their_warp(block: tuple[int, int, int]) -> None:
    """Warps are counted along x, then y, then z; the last one may have fewer threads."""
    threads = np.arange(math.prod(block))
    fixed = np.full_like(threads, -(-threads.size // 32)), threads % 32, np.full_like(threads, 3)
    wanted = np.tile(np.stack((threads // 32, *fixed), 1).reshape(-1), 3).astype(np.int32)
    outcome = launch(Case(REGISTERS, "k", (3, 1, 1), block, (np.zeros_like(wanted),)))
    np.testing.assert_array_equal(outcome.arrays[0], wanted)
