"""Accesses as the machine code makes them: narrowed, split, joined and dropped ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops import find_filter
from gpu_ops.devices.sass import disassembler
from gpu_ops.devices.sass.listing import Control, SassLine
from gpu_ops.devices.sass.widths import Pieces, access_pieces, retried
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.lanes import BatchLayout, Lanes
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.errors import DeviceError
from gpu_ops.params import check_values
from gpu_ops.plan import Launch, Plan
from gpu_ops.task import Meta, Task

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(\n)\n{\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n"
HEAD += ".reg .f64 %fd<9>;\n.reg .pred %p<3>;\n"
ROWS = len(HEAD.splitlines())
"""The first access is in the line after these."""
CONTROL = Control(1, False, (), -1, -1)


def pieces(ptx: list[str], sass: list[tuple[int, str]]) -> dict[int, Pieces]:
    """The pieces of these instructions by their number, from 1; machine code is (number, text)."""
    body = parse(HEAD + "".join(f"{line};\n" for line in ptx) + "ret;\n}\n").functions["k"].body
    lines = [SassLine(16 * n, text, ROWS + number, CONTROL, {}) for n, (number, text) in enumerate(sass)]
    return {row - ROWS: found for row, found in access_pieces(body, lines).items()}


def load(offset: int, base: str = "%r1") -> str:
    return f"ld.shared.f32 %f{abs(offset) // 4 % 9}, [{base}+{offset}]"


def test_equal_accesses_and_copies_of_a_loop_stay() -> None:
    assert pieces([load(0), load(4)], [(1, "LDS R1, [R2]"), (1, "LDS R1, [R3]"), (2, "@!P0 LDS R1, [R2+0x4]")]) == {}


@pytest.mark.parametrize(
    "others",
    [
        [load(0), load(12)],
        [load(0, "%r2")],
        ["@%p1 bra $L", load(12), "$L: add.s32 %r2, %r2, 1"],
    ],
    ids=["neighbours", "another register of the same address", "after a branch"],
)
def test_what_has_no_instruction_is_a_part_of_a_wider_one(others: list[str]) -> None:
    found = pieces([load(8), *others], [(1, "LDS.128 R4, [R2]")])
    loads = [row for row, line in enumerate(others, 2) if "ld." in line]
    assert found == {1: ((0, 16),), **dict.fromkeys(loads, ())}


def test_passes_of_a_loop_share_a_wider_request() -> None:
    """Of four copies of a loop that loads two words, two loads of 128 bits: one for two passes."""
    ptx = [load(0), load(4), "fma.rn.f32 %f3, %f1, %f2, %f3", load(64, "%r2")]
    sass = [
        (1, "LDS.128 R4, [R2]"),
        (1, "LDS.128 R8, [R2+0x10]"),
        *[(3, "FFMA R1, R4, R5, R1"), (4, "LDS R3, [R9]")] * 4,
    ]
    assert pieces(ptx, sass) == {1: ((0, 16, 8),), 2: ()}
    assert pieces(
        ["div.rn.f32 %f3, %f1, %f2", *ptx], [(n + 1, text) for n, text in sass] + [(1, "FFMA R1, R4, R5, R1")] * 9
    ) == {2: ((0, 16, 8),), 3: ()}
    lanes = Lanes(BatchLayout((1, 1, 1), (32, 1, 1), 0, 1))
    for at in (0, 4, 8, 12):
        made = Requests(lanes, np.full((1, 1), 256 + at), 0, 4).piece(0, 16, 8)
        assert (made is None) == (at >= 8) and (made is None or int(made.rows[0, 0]) == 256)


def test_a_matrix_that_nobody_needs_is_not_loaded() -> None:
    loads = [
        f"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{{', '.join(f'%r{n}' for n in range(8))}}}, [%r1], %r2"
    ]
    assert pieces(loads, [(1, "LDSM.16.M88.4 R4, [R2]")]) == {}
    assert pieces(loads, [(1, "IMAD R4, R2, R3, R4")]) == {1: ()}
    assert pieces(2 * loads, [(1, "LDSM.16.M88.4 R4, [R2]"), (1, "LDSM.16.M88.4 R4, [R2+0x10]")]) == {2: ()}
    rows = ["ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r1]"]
    assert pieces(2 * rows, [(2, "LDSM.16.MT88.2 R4, [R2]")]) == {1: ()}


@pytest.mark.parametrize(
    ("between", "found"),
    [(["@%p1 bra $L"], {4: ()}), (["bra.uni $L"], {})],
    ids=["a later value", "either value"],
)
def test_a_store_that_is_moved_behind_a_branch_is_made_once(between: list[str], found: dict[int, object]) -> None:
    ptx = [
        "st.shared.f32 [%r1], %f1",
        *between,
        "add.s32 %r2, %r2, 1",
        "st.shared.f32 [%r1], %f2",
        "add.s32 %r3, %r3, 1",
    ]
    ptx[-1] = "$L: " + ptx[-1]
    assert pieces(ptx, [(5, "STS [R1], R2")]) == found
    assert pieces(ptx, [(1, "STS [R1], R2")]) == {4: ()}
    assert pieces(["st.shared.f32 [%r1+4], %f3", *ptx], [(1, "STS.64 [R1], R2"), (6, "STS [R9], R2")]) == {
        1: ((0, 8),),
        2: (),
        5: (),
    }


def test_an_instruction_may_have_the_line_of_a_neighbour() -> None:
    ptx = [load(0), load(8), load(64, "%r2"), load(4, "%r3")]
    sass = [(1, "LDS R1, [R2]"), (1, "LDS R4, [R2+0x8]"), (3, "LDS R5, [R3+0x40]"), (4, "LDS R6, [R4+0x4]")]
    assert pieces(ptx, sass) == {}
    assert pieces(ptx, [*sass[:1], (1, "LDS R4, [R2+0x10]"), *sass[2:]]) == {2: ()}


def test_widths_of_copies_that_differ_are_left() -> None:
    assert pieces([load(0)], [(1, "LDS.128 R4, [R2]"), (1, "LDS R4, [R2]")]) == {}


def test_a_vector_is_narrowed_or_split() -> None:
    vector = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%r1]"
    assert pieces([vector], [(1, "LDG.E.64.CONSTANT R2, desc[UR4][R2.64]")]) == {1: ((0, 8),)}
    assert pieces([vector], [(1, "LDG.E.64 R2, [R2]"), (1, "LDG.E.64 R4, [R2+0x8]")]) == {1: ((0, 8), (8, 8))}
    widest = "ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%r1]"
    assert pieces([widest], [(1, "LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64]")]) == {}


def test_an_access_that_is_nowhere_is_dropped() -> None:
    assert pieces([load(0), load(4)], [(1, "LDS R4, [R2]")]) == {2: ()}
    registers = ", ".join(f"%f{n}" for n in range(1, 9))
    matrix = f"wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {{{registers}}}, [%r1], 16"
    assert pieces([matrix, matrix], [(1, "LDG.E.64 R4, desc[UR4][R2.64]")]) == {2: ()}


try:
    disassembler.program()
    REASON = ""
except DeviceError as error:
    REASON = str(error)


@pytest.mark.skipif(bool(REASON), reason=REASON or "nvdisasm is there")
def test_a_kernel_whose_vectors_are_narrowed_is_counted_so() -> None:
    """The scan of the mean of floats loads 16 bytes of shared memory of which the machine code takes 8."""
    found = {}
    for machine_code in (False, True):
        options = Options(counters="full", machine_code=machine_code)
        device = SimDevice("sm_90", options, assemble=True)
        filter = find_filter("mean1d")
        variant = filter.variant("scan")
        params, knobs = check_values(filter.params, {}, "mean1d"), check_values(variant.knobs, {}, "scan")
        task = Task.of(Meta("signal", (5003,), "float32"), params, knobs, device.limits)
        plan = variant.plan(device, task.on(device.upload(np.ones(5003, np.float32))))
        (step,) = [step for step in plan.steps if isinstance(step, Launch)]
        found[machine_code] = device.execute(Plan((step,), plan.outputs)).counters
        narrowed = [made for made in (step.kernel.pieces or {}).values() if made == ((0, 8),)]
        assert narrowed
    assert found[True]["shared_load_requests"] == found[False]["shared_load_requests"]
    assert found[True]["shared_ideal_wavefronts"] < found[False]["shared_ideal_wavefronts"]


def test_a_wider_access_begins_at_a_multiple_of_its_bytes() -> None:
    lanes = Lanes(BatchLayout((1, 1, 1), (32, 1, 1), 0, 1))
    words = Requests(lanes, 256 + 16 * np.arange(32)[None], 8, 4)
    wide, narrow = words.piece(0, 16), words.piece(0, 2)
    assert wide is not None and narrow is not None
    np.testing.assert_array_equal(wide.rows, 256 + 16 * np.arange(32)[None])
    np.testing.assert_array_equal(narrow.rows, words.rows)
    assert wide.wavefronts(loads=True) == (4, 4)


def test_atomic_operations_that_the_machine_code_tries_again() -> None:
    ptx = ["atom.shared.add.f32 %f1, [%r1], %f2", "atom.shared.add.u32 %r2, [%r1], 1", "atom.cas.b32 %r2, [%r1], 0, 1"]
    sass = [
        "LDS R6, [R4]",
        "@!P1 ATOMS.CAST.SPIN R7, [R4], R6, R7",
        "ATOMS.ADD R4, [R2], R4",
        "ATOM.E.CAS R4, [R2], R4",
    ]
    body = parse(HEAD + "".join(f"{line};\n" for line in ptx) + "ret;\n}\n").functions["k"].body
    lines = [SassLine(16, text, ROWS + number, CONTROL, {}) for number, text in zip((1, 1, 2, 3), sass, strict=True)]
    assert retried(body, lines) == {ROWS + 1}


TRIED = """extern "C" __global__ void tried(const int* where, float* out)
{
    __shared__ float s[1024];
    atomicAdd(&s[where[threadIdx.x]], 1.0f);
    out[threadIdx.x] = 0;
}
"""
LANE = np.arange(64)


@pytest.mark.parametrize(
    ("where", "turns", "wavefronts", "unsettled"),
    [
        (LANE[:32], 1, 1, 0),
        (LANE[:32] % 4, 8, 8, 0),
        (np.minimum(LANE[:32], 29), 3, 3, 0),
        (LANE[:32] % 16 * 32, 2, 32, 2),
        (0 * LANE, 32, 32, 32),
    ],
    ids=["an address each", "eight lanes of each address", "three of one", "bank conflicts", "two warps at one"],
)
def test_an_atomic_operation_that_is_tried_again_is_so_for_each_lane_of_an_address(
    where: np.ndarray, turns: int, wavefronts: int, unsettled: int
) -> None:
    """Each turn has a load, and a swap whose wavefronts pass twice."""
    device = SimDevice("sm_90", Options(checks="off", counters="full", machine_code=True))
    session = device.session({"tried.cu": TRIED})
    kernel = session.kernel("tried.cu", "tried", {})
    blocks = [code.block for code in kernel.loaded.code.blocks]
    (row,) = (line.row for block in blocks for line in block.lines if "shared" in line.op)
    kernel.__dict__.update(pieces={}, loops={}, retried=frozenset({row}))
    args = session.upload(where.astype(np.int32)), session.empty(where.shape, "float32")
    found = session.execute(Plan((Launch(kernel, (1, 1, 1), (len(where), 1, 1), args),), {})).counters
    warps = len(where) // 32
    assert (found["shared_load_requests"], found["shared_atomic_requests"]) == (warps * turns, warps * turns)
    assert found["shared_wavefronts"] == warps * 3 * wavefronts
    assert found.get("unsettled_requests", 0) == warps * unsettled
    assert found["atomics"] == len(where)
