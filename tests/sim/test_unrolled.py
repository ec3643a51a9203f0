"""Loops that the assembler unrolls: lanes with many passes left do not run with those that have few."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.sass.listing import Control, SassLine
from gpu_ops.devices.sass.unrolled import UnrolledLoop, unrolled_loops
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.flow import blocks_of
from gpu_ops.devices.sim.ptx.inline import flatten
from gpu_ops.devices.sim.ptx.program import Imm, Reg
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.plan import Launch, Plan

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(\n)\n{\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n"
HEAD += "$L:\n"
ROWS = len(HEAD.splitlines())
"""The loop's first line is in the line after these."""
CONTROL = Control(1, False, (), -1, -1)
LOAD, DOWN, UP = "ld.shared.u32 %r3, [%r4]", "add.s32 %r1, %r1, -2", "add.s32 %r1, %r1, 8"
UNROLLED = [(1, "LDS R1, [R2]")] * 4 + [(0, "@P0 BRA `(.L_x_1)")] + [(1, "LDS R1, [R2]")] * 3
"""Four copies of the first line up to a jump back to their label, then three."""


def loops(ptx: list[str], sass: list[tuple[int, str]], head: int = 0) -> dict[int, UnrolledLoop]:
    """The unrolled loops of a kernel that is one loop; machine code is (number of the line from 1, text). Its jumps
    lead to the instruction `head`."""
    flat = flatten(parse(HEAD + "".join(f"{line};\n" for line in ptx) + "@%p1 bra $L;\nret;\n}\n"), "k")
    made = ((16 * n, text, ROWS + number, ".L_x_1" if n == head else "") for n, (number, text) in enumerate(sass))
    return unrolled_loops(
        blocks_of(flat), [SassLine(at, text, row, CONTROL, {}, label) for at, text, row, label in made]
    )


@pytest.mark.parametrize(
    ("count", "test", "found"),
    [
        (DOWN, "setp.ne.s32 %p1, %r1, 0", UnrolledLoop("%r1", Imm(0, "int"), -2, "i4")),
        (UP, "setp.lt.u32 %p1, %r1, %r2", UnrolledLoop("%r1", Reg("%r2"), 8, "u4")),
    ],
    ids=["down to zero", "up to a bound"],
)
def test_seven_copies_of_a_counted_loop_are_an_unrolled_one(count: str, test: str, found: UnrolledLoop) -> None:
    assert loops([LOAD, count, test], UNROLLED) == {0: found}


@pytest.mark.parametrize("name", ["LDG.E", "LD.E", "LDS.64", "ST.E"])
def test_accesses_of_any_memory_are_copied(name: str) -> None:
    sass = [(row, text.replace("LDS", name)) for row, text in UNROLLED]
    assert loops([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], sass) == {0: UnrolledLoop("%r1", Imm(0, "int"), -2, "i4")}


def test_a_copy_for_lanes_that_have_reached_the_bound_may_be_before_the_loop() -> None:
    sass = [(1, "@P0 LDS R1, [R2]"), (0, "NOP"), *UNROLLED]
    found = {0: UnrolledLoop("%r1", Imm(0, "int"), -2, "i4")}
    assert loops([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], sass, 2) == found
    assert loops([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], [*UNROLLED, sass[0]]) == {}


@pytest.mark.parametrize(
    ("ptx", "sass"),
    [
        ([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], UNROLLED[:-1]),
        ([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], [*UNROLLED[:4], *UNROLLED[5:]]),
        ([LOAD, DOWN, "setp.ne.s32 %p1, %r1, 0"], [*UNROLLED[:4], *UNROLLED[5:], UNROLLED[4]]),
        ([LOAD, DOWN, "setp.lt.s32 %p1, %r1, 0"], UNROLLED),
        ([LOAD, UP, "add.s32 %r2, %r2, 1", "setp.lt.s32 %p1, %r1, %r2"], UNROLLED),
        ([LOAD, UP, UP, "setp.lt.s32 %p1, %r1, %r2"], UNROLLED),
        ([LOAD, "add.s32 %r1, %r1, %r5", "setp.lt.s32 %p1, %r1, %r2"], UNROLLED),
        ([LOAD, UP, "setp.lt.s32 %p2, %r1, %r2"], UNROLLED),
    ],
    ids=[
        *("six copies", "no loop of four", "a loop of seven", "away from the bound", "a bound that changes"),
        *("two steps", "a step that is not known", "another branch"),
    ],
)
def test_other_loops_stay_as_they_are(ptx: list[str], sass: list[tuple[int, str]]) -> None:
    assert loops(ptx, sass) == {}


SUMS = """extern "C" __global__ void sums(const float* x, float* out, int n)
{
    float sum = 0;
    #pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 64)
        sum += x[i];
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(
    ("n", "requests"),
    [(40, 1 + 1), (100, 2 + (2 + 1)), (192, 3 + 3), (200, (4 + 2 + 1) + 3), (464, (4 + 4 + 2 + 1) + 7)],
    ids=["one pass", "two or one", "three", "four or three", "eight or seven"],
)
def test_lanes_with_a_pass_more_make_requests_of_their_own(n: int, requests: int) -> None:
    """Of two warps one has lanes with a pass more than others."""
    device = SimDevice("sm_90", Options(counters="full", machine_code=True)).session({"sums.cu": SUMS})
    kernel = device.kernel("sums.cu", "sums", {})
    blocks = [code.block for code in kernel.loaded.code.blocks]
    (row,) = (line.row for block in blocks for line in block.lines if line.op[0] == "ld" and "global" in line.op)
    sass = [SassLine(16 * n, text, row, CONTROL, {}, "" if n else ".L_x_1") for n, (_, text) in enumerate(UNROLLED)]
    kernel.__dict__.update(sass=tuple(sass), pieces={})
    x, out = device.upload(np.arange(n, dtype=np.float32)), device.empty((64,), "float32")
    found = device.execute(Plan((Launch(kernel, (1, 1, 1), (64, 1, 1), (x, out, np.int32(n))),), {}))
    assert found.counters["global_load_requests"] == requests
    sums = [np.arange(n, dtype=np.float32)[lane::64].sum() for lane in range(64)]
    np.testing.assert_array_equal(device.download(out), np.array(sums, np.float32))
