"""The order of a kernel's blocks: each after those that lead to it, and what follows a loop after the loop."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.flow import blocks_of
from gpu_ops.devices.sim.ptx.inline import flatten
from gpu_ops.devices.sim.ptx.loops import in_running_order
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.plan import Launch, Plan
from tests.sim.bench import FILE
from tests.sim.cases import TABLE

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n"
TEXT_ORDER = {
    "a choice": "@%p1 bra $A; mov.u32 %r1, 1; bra $B; $A: mov.u32 %r1, 2; $B: mov.u32 %r1, 3; ret",
    "a loop": "$A: mov.u32 %r1, 1; @%p1 bra $A; mov.u32 %r1, 2; ret",
    "a loop with a way out": "$A: mov.u32 %r1, 1; @%p2 bra $B; mov.u32 %r1, 2; @%p1 bra $A; $B: mov.u32 %r1, 3; ret",
    "two ways into a loop": "@%p1 bra $B; $A: mov.u32 %r1, 1; $B: mov.u32 %r1, 2; @%p2 bra $A; mov.u32 %r1, 3; ret",
}
OTHER_ORDER = {
    "a rare way behind the end": (
        "mov.u32 %r1, 1; @%p1 bra $A; $B: mov.u32 %r1, 3; ret; $A: mov.u32 %r1, 2; bra $B",
        [1, 2, 3],
    ),
    "a loop's body behind its end": (
        "$A: mov.u32 %r1, 1; @%p1 bra $B; mov.u32 %r1, 4; ret; $B: mov.u32 %r1, 2; @%p2 bra $C; bra $A; "
        "$C: mov.u32 %r1, 3; bra $A",
        [1, 2, 3, 4],
    ),
    "an inner loop behind its end": (
        "$A: mov.u32 %r1, 1; @%p1 bra $B; $C: mov.u32 %r1, 3; @%p2 bra $A; mov.u32 %r1, 4; ret; "
        "$B: mov.u32 %r1, 2; @%p1 bra $B; bra $C",
        [1, 2, 3, 4],
    ),
}


def order(text: str) -> list[int]:
    """The values that the blocks set, in the order of the blocks."""
    lines = text.replace(": ", ":; ").split("; ")
    body = "".join(f"{line}\n" if line.endswith(":") else f"{line};\n" for line in lines)
    blocks = in_running_order(blocks_of(flatten(parse(f"{HEAD}{body}}}\n"), "k")))
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert all(t < len(blocks) for block in blocks for t in block.targets)
    return [int(str(line.args[1].value)) for block in blocks for line in block.lines if line.op[0] == "mov"]


@pytest.mark.parametrize("name", TEXT_ORDER)
def test_the_order_of_the_text_stays_where_it_will_do(name: str) -> None:
    text = TEXT_ORDER[name]
    assert order(text) == [int(part.split(", ")[1]) for part in text.split("; ") if "mov" in part]


@pytest.mark.parametrize("name", OTHER_ORDER)
def test_ways_that_lead_back_come_before_where_they_lead(name: str) -> None:
    text, expected = OTHER_ORDER[name]
    assert order(text) == expected


def test_lanes_that_need_a_rare_way_store_with_the_others() -> None:
    case = TABLE["functions.logarithms"].build()[0]
    device = SimDevice("sm_90", Options(counters="full")).session({FILE: case.text})
    kernel = device.kernel(FILE, case.kernel)
    args = [device.upload(arg) if isinstance(arg, np.ndarray) else arg for arg in case.args]
    counts = device.execute(Plan((Launch(kernel, case.grid, case.block, tuple(args)),), {})).counters
    warps = -(-len(case.args[0]) // 32)
    assert counts["divergent_branches"]
    assert (counts["global_load_requests"], counts["global_store_requests"]) == (7 * warps, 6 * warps)
