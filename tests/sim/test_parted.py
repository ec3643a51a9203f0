"""Lanes that have parted: where the machine code has no meeting for them, they make accesses apart."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.sass.listing import Control, SassLine
from gpu_ops.devices.sass.parted import Parted, parted_lanes
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.flow import Block
from gpu_ops.devices.sim.ptx.program import Instruction, Place, Reg
from gpu_ops.plan import Launch, Plan

CONTROL = Control(1, False, (), -1, -1)
TEST, LOAD, BACK, AFTER, FOUND, ENTER = 1, 2, 3, 4, 5, 6
"""Lines of the PTX: a loop leaves for FOUND by TEST, and for AFTER once BACK no longer jumps; ENTER may jump there."""


def blocks() -> list[Block]:
    def line(op: str, row: int) -> Instruction:
        return Instruction((op, "global"), (), Place("", 0), row=row)

    enter = Block(0, [], "branch", (3, 1), Reg("%p3"), row=ENTER)
    test = Block(1, [line("ld", LOAD)], "branch", (4, 2), Reg("%p1"), row=TEST)
    back = Block(2, [], "branch", (1, 3), Reg("%p2"), row=BACK)
    return [enter, test, back, Block(3, [line("st", AFTER)], "exit"), Block(4, [line("st", FOUND)], "exit")]


def sass(*lines: tuple[int, str]) -> list[SassLine]:
    """Machine code of lines of the PTX; a text may begin with its label."""
    made = ((16 * n, row, text.partition(": ")) for n, (row, text) in enumerate(lines))
    return [SassLine(at, text or label, row, CONTROL, {}, label if text else "") for at, row, (label, _, text) in made]


LOOP = [(LOAD, ".L_0: LDG.E R4, desc[UR4][R4.64]"), (TEST, "@P0 BRA `(.L_3)"), (BACK, "@!P1 BRA `(.L_0)")]
OPEN, WAIT, ENDS = (0, "BSSY B0, `(.L_2)"), (BACK, ".L_1: BSYNC B0"), (0, "EXIT")
STORE, OTHER = "STG.E desc[UR4][R2.64], R0", (FOUND, ".L_3: STG.E desc[UR4][R2.64], R5")


@pytest.mark.parametrize(
    ("code", "ways"),
    [
        ([OPEN, *LOOP, WAIT, (AFTER, f".L_2: {STORE}"), ENDS, OTHER, ENDS], {(1, 4)}),
        ([(ENTER, "@P2 BRA `(.L_2)"), OPEN, *LOOP, WAIT, (AFTER, f".L_2: {STORE}"), ENDS, OTHER], {(0, 3), (1, 4)}),
        ([OPEN, *LOOP, WAIT, (0, ".L_2: BAR.SYNC 0x0"), (AFTER, STORE), ENDS, OTHER, (0, "BRA `(.L_1)")], set()),
        ([OPEN, *LOOP, WAIT, (AFTER, f".L_2: {STORE}"), ENDS, (0, ".L_3: WARPSYNC 0xffffffff"), (FOUND, STORE)], set()),
        ([OPEN, LOOP[0], (TEST, "@UP0 BRA `(.L_3)"), LOOP[2], WAIT, (AFTER, f".L_2: {STORE}"), ENDS, OTHER], set()),
        ([OPEN, *LOOP, WAIT, (AFTER, f".L_2: {STORE}"), (FOUND, "@P0 STG.E desc[UR4][R2.64], R5"), ENDS], set()),
    ],
    ids=[
        "a return in a loop",
        "a jump before it",
        "they wait later",
        "the warp meets",
        "all lanes of a warp jump",
        "no jump",
    ],
)
def test_lanes_stay_apart_on_ways_without_a_meeting(code: list[tuple[int, str]], ways: set[tuple[int, int]]) -> None:
    assert parted_lanes(blocks(), sass(*code)).ways == ways


FIRST = """extern "C" __global__ void first(const float* x, int* found, int n)
{
    #pragma unroll 1
    for (int i = 0; i < n; i++)
        if (x[i * 64 + threadIdx.x] > 0) {
            found[threadIdx.x] = i;
            return;
        }
    found[threadIdx.x] = -1;
}
"""


@pytest.mark.parametrize("apart", [True, False])
def test_lanes_that_leave_a_loop_in_other_passes_store_apart(apart: bool) -> None:
    """In one warp lane i leaves in pass i % 4, in the other one all leave in pass 2."""
    device = SimDevice("sm_90", Options(counters="full", machine_code=True)).session({"first.cu": FIRST})
    kernel = device.kernel("first.cu", "first", {})
    code = [code.block for code in kernel.loaded.code.blocks]
    stores = [b.number for b in code if any(line.op[:2] == ("st", "global") for line in b.lines)]
    ways = {(b.number, target) for b in code for target in b.targets if target in stores}
    kernel.__dict__.update(sass=(), pieces={}, parted=Parted(frozenset(ways if apart else ())))
    passes = np.r_[np.arange(32) % 4, np.full(32, 2)]
    x, found = device.upload((np.arange(5)[:, None] == passes).astype(np.float32)), device.empty((64,), "int32")
    done = device.execute(Plan((Launch(kernel, (1, 1, 1), (64, 1, 1), (x, found, np.int32(5))),), {}))
    assert done.counters["global_store_requests"] == (4 + 1 if apart else 2)
    np.testing.assert_array_equal(device.download(found), passes)
