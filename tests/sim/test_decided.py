"""What the values that a kernel loads decide: addresses, loops, and which accesses it makes; and which accesses depend
on the thread that comes first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.decided import decided, raced, unsettled
from gpu_ops.devices.sim.ptx.flow import blocks_of
from gpu_ops.devices.sim.ptx.inline import flatten
from gpu_ops.devices.sim.ptx.reach import reached
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.plan import Launch, Plan

HEAD = """.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b8 c[16];
.visible .entry k(.param .u64 x, .param .u64 out, .param .u32 n)
{
.local .align 4 .b8 own[64];
.shared .align 4 .b8 s[64];
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .f32 %f<9>;
.reg .pred %p<3>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
"""
LOAD, STORE = "ld.global.u32 %r3, [%rd4]", "st.global.u32 [%rd5], %r3"
OTHER, LOAD_FLOAT = "ld.global.u32 %r4, [%rd4]", "ld.global.f32 %f1, [%rd4]"
AT_R3 = "mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r2"
"""A store whose address depends on %r3."""
LOOP = "$L: st.global.u32 [%rd5], %r2; add.s32 %r3, %r3, -1; setp.ne.s32 %p1, %r3, 0; @%p1 bra $L"
"""A loop that runs %r3 times."""
FROM_SHARED, FROM_OWN = "ld.shared.u32 %r3, [s+4]", "ld.local.u32 %r3, [own+4]"


def text_of(lines: Iterable[str]) -> str:
    """The PTX of a kernel."""
    body = ";\n".join(("; ".join(lines)).split("; ")).replace(": ", ":\n")
    return f"{HEAD}{body};\nret;\n}}\n"


def found(*lines: str) -> tuple[set[str], set[str]]:
    """What decides the addresses and the branches of a kernel."""
    addresses, branches = decided(blocks_of(flatten(parse(text_of(lines)), "k")))
    return set(addresses), set(branches)


@pytest.mark.parametrize(
    ("lines", "by"),
    [
        ((LOAD, AT_R3), {"x"}),
        ((LOAD, STORE), set()),
        (("ld.const.u32 %r3, [c]", AT_R3), set()),
        (("mov.u32 %r3, %r1", AT_R3), set()),
        ((OTHER, "st.shared.u32 [s], %r4", FROM_SHARED, AT_R3), {"x"}),
        ((OTHER, "st.shared.b32 [s], %r4", "ld.shared.f32 %f1, [s]", "cvt.rzi.u32.f32 %r3, %f1", AT_R3), {"x"}),
        ((LOAD_FLOAT, "st.shared.f32 [s], %f1", FROM_SHARED, AT_R3), set()),
        ((LOAD_FLOAT, "st.shared.f32 [s], %f1", "ld.shared.f32 %f2, [s]", "cvt.rzi.u32.f32 %r3, %f2", AT_R3), {"x"}),
        ((OTHER, "st.shared.u32 [s], %r4", "ld.shared.f32 %f1, [s]", "cvt.rzi.u32.f32 %r3, %f1", AT_R3), set()),
        ((OTHER, "st.local.u32 [own], %r4", FROM_OWN, AT_R3), {"x"}),
        ((OTHER, "red.shared.add.u32 [s], %r4", FROM_SHARED, AT_R3), {"x"}),
        (("cp.async.ca.shared.global [s], [%rd4], 4", FROM_SHARED, AT_R3), {"x"}),
        ((OTHER, "and.b32 %r5, %r4, 60", "st.shared.u32 [%r5], %r2", FROM_SHARED, AT_R3), {"x"}),
        (("atom.global.add.u32 %r3, [%rd5], 1", AT_R3), {"out"}),
        (("tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r2}]", AT_R3), {"?"}),
        ((OTHER, "atom.shared.add.u32 %r3, [s], %r4", AT_R3), {"x"}),
        (("ld.global.u64 %rd8, [%rd4]", "ld.global.u32 %r3, [%rd8]", AT_R3), {"x", "?"}),
    ],
    ids=[
        *("loaded", "stored only", "a constant", "a parameter", "through shared memory", "bits of any type"),
        *("no word is a float", "floats", "no float is a word", "through local memory", "an addition in shared memory"),
        *("an asynchronous copy", "where a word was stored", "an atomic's result", "a texture", "an atomic in shared"),
        "a pointer that is loaded",
    ],
)
def test_an_address_is_decided_by_what_its_registers_were_loaded_from(lines: tuple[str, ...], by: set[str]) -> None:
    assert found(*lines)[0] == by


TEST = "setp.eq.s32 %p1, %r3, 0"


@pytest.mark.parametrize(
    ("lines", "by"),
    [
        ((LOAD, LOOP), {"x"}),
        (("mov.u32 %r3, %r1", LOOP), set()),
        ((LOAD, TEST, "@%p1 bra $E", "st.global.u32 [%rd5], %r2", "$E: add.s32 %r2, %r2, 1"), {"x"}),
        ((LOAD, TEST, "@%p1 bra $E", "add.s32 %r2, %r2, 1", "$E: st.global.u32 [%rd5], %r2"), set()),
        ((LOAD, TEST, "$L: @%p1 bra $E", "add.s32 %r2, %r2, 1", "$E: bra $L"), set()),
        ((LOAD, TEST, "selp.b32 %r2, %r2, %r1, %p1", STORE), set()),
    ],
    ids=["passes of a loop", "passes by a parameter", "an access", "no access", "a loop without an end", "a choice"],
)
def test_a_branch_matters_where_passes_or_accesses_depend_on_it(lines: tuple[str, ...], by: set[str]) -> None:
    assert found(*lines)[1] == by


PLACE, PLACE_R4 = "atom.global.add.u32 %r3, [%rd2], 1", "atom.global.add.u32 %r4, [%rd2], 1"
"""The place of a thread among those that ask for one."""
SWAP = "atom.global.cas.b32 %r3, [%rd5], %r4, %r2"
LOAD_R5 = "ld.global.u32 %r5, [%rd4]"
IF = "@%p1 bra $E; st.global.u32 [%rd5], %r2; $E: ld.global.u32 %r5, [%rd4]"


@pytest.mark.parametrize(
    ("lines", "accesses"),
    [
        ((PLACE, AT_R3), ["st.global.u32 [%rd7], %r2"]),
        (("red.global.add.u32 [%rd2], 1", "mov.u32 %r3, %r1", AT_R3), []),
        ((PLACE, STORE), []),
        ((PLACE, "shfl.sync.idx.b32 %r3, %r3, 0, 31, -1", AT_R3), ["st.global.u32 [%rd7], %r2"]),
        ((PLACE_R4, "st.shared.u32 [s], %r4", FROM_SHARED, AT_R3), ["st.global.u32 [%rd7], %r2"]),
        (("$L: mov.u32 %r4, %r3", SWAP, "setp.ne.s32 %p1, %r3, %r4", "@%p1 bra $L", LOAD_R5), [SWAP]),
        ((SWAP, TEST, IF), ["st.global.u32 [%rd5], %r2"]),
        ((PLACE, "setp.eq.s32 %p1, %r3, %r1", IF), []),
        ((PLACE_R4, "st.shared.u32 [s], %r4", FROM_SHARED, "setp.ne.s32 %p1, %r3, %r1", IF), []),
        ((PLACE, "setp.lt.s32 %p1, %r3, %r1", IF), ["st.global.u32 [%rd5], %r2"]),
        (
            ("$L: ld.volatile.global.u32 %r3, [%rd4]", TEST, "@%p1 bra $L", STORE),
            ["ld.volatile.global.u32 %r3, [%rd4]"],
        ),
        (("$L: ld.volatile.shared.u32 %r3, [s]", TEST, "@%p1 bra $L", STORE), []),
        ((PLACE_R4, "setp.lt.s32 %p1, %r4, %r1", "@%p1 bra $E", "add.s32 %r5, %r5, 1", "$E: mov.u32 %r3, %r5", AT_R3), [
            "st.global.u32 [%rd7], %r2"
        ]),
    ],
    ids=[
        *("a place", "an answer that nobody reads", "a place that is stored", "a place for the warp"),
        *("a place through shared memory", "another try", "only the first", "only the last", "only the last, for all"),
        *("the first few", "waiting for another block", "within a block", "counted where a branch depends on a place"),
    ],
)  # fmt: skip
def test_accesses_that_depend_on_which_thread_comes_first(lines: tuple[str, ...], accesses: list[str]) -> None:
    text = text_of(lines)
    rows = text.splitlines()
    assert [rows[row - 1].rstrip(";") for row in sorted(unsettled(blocks_of(flatten(parse(text), "k"))))] == accesses


@pytest.mark.parametrize(
    ("lines", "accesses"),
    [
        ((LOAD, AT_R3), []),
        ((LOAD, "st.global.u32 [%rd4], %r2"), []),
        (("ld.global.nc.u32 %r3, [%rd4]", "st.global.u32 [%rd4], %r2", AT_R3), []),
        ((LOAD, "st.global.u32 [%rd4], %r2", AT_R3), ["st.global.u32 [%rd7], %r2"]),
        ((LOAD, "red.global.add.u32 [%rd4], 1", AT_R3), ["st.global.u32 [%rd7], %r2"]),
        (("ld.global.u32 %r3, [%rd5]", TEST, IF), ["st.global.u32 [%rd5], %r2"]),
    ],
    ids=["other memory", "nothing follows", "read-only memory", "an address", "an atomic", "a branch"],
)
def test_accesses_that_follow_from_memory_that_the_kernel_writes(lines: tuple[str, ...], accesses: list[str]) -> None:
    text = text_of(lines)
    blocks, rows = blocks_of(flatten(parse(text), "k")), text.splitlines()
    may = raced(blocks, reached(blocks))
    assert [rows[row - 1].rstrip(";") for row in sorted(may.accesses if may else ())] == accesses


SEEN = """extern "C" __global__ void seen(const int* where, int* flags, int* out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (flags[where[i]] == 0 && i < 32) {
        flags[where[i]] = i + 1;
        out[i] = 1;
    }
}
"""


@pytest.mark.parametrize(
    ("where", "turns"),
    [
        (np.arange(64), 0),
        (np.arange(64) // 32, 0),
        (np.zeros(64), 1),
        (np.append(np.arange(63), 0), 1),
    ],
    ids=["an element each", "an element for each block", "one element", "an element of another block"],
)
def test_accesses_depend_on_turns_where_a_block_loads_what_another_writes(where: np.ndarray, turns: int) -> None:
    device = SimDevice("sm_90", Options(checks="off", counters="full")).session({"seen.cu": SEEN})
    flags, out = device.upload(np.zeros(64, np.int32)), device.empty((64,), "int32")
    args = device.upload(where.astype(np.int32)), flags, out
    launch = Launch(device.kernel("seen.cu", "seen", {}), (2, 1, 1), (32, 1, 1), args)
    found = device.execute(Plan((launch,), {})).counters
    stores = found["global_store_requests"]
    assert stores and found.get("unsettled_requests", 0) == stores * turns
