"""The simulator's parts by themselves: rounding, integer tricks, atomics of many lanes, reading PTX."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ops.devices.sim.atomics import update
from gpu_ops.devices.sim.ptx import arithmetic, floating
from gpu_ops.devices.sim.ptx.flow import Block
from gpu_ops.devices.sim.ptx.inline import flatten
from gpu_ops.devices.sim.ptx.kernels import plain_name
from gpu_ops.devices.sim.ptx.loops import spin_blocks
from gpu_ops.devices.sim.ptx.opcodes import computation
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Mem, Place, Reg, Sym, Vec, size_of
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.errors import KernelError
from tests.sim.oracle import nearest

WIDTHS = {
    32: (np.float32, st.floats(width=32, allow_nan=False, allow_infinity=False)),
    64: (np.float64, st.floats(allow_nan=False, allow_infinity=False)),
}


def _one(value: Any, dtype: Any) -> Any:
    return np.array([[value]], dtype)


@pytest.mark.parametrize("width", WIDTHS)
def test_fma_rounds_once(width: int) -> None:
    dtype, numbers = WIDTHS[width]
    fma = floating.fma32 if width == 32 else floating.fma64

    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(numbers, numbers, numbers)
    def holds(a: float, b: float, c: float) -> None:
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        with np.errstate(all="ignore"):
            found = float(fma(*(_one(x, dtype) for x in (a, b, c)))[0, 0])
        if exact:
            assert found == nearest(exact, dtype)
        else:
            assert found == 0

    holds()


@pytest.mark.parametrize("low, high", [(-1074, -1010), (-560, -500), (480, 540), (980, 1023), (-1074, 1023)])
def test_fma_at_the_ends_of_the_range_is_that_of_fractions(low: int, high: int) -> None:
    """Subnormal numbers, products that are, products that overflow, halves and sums that cancel."""
    random = np.random.default_rng(abs(low))
    parts = random.choice([0.5, 0.75, 1 - 2.0**-53, 0.5 + 2.0**-53, 0.1, -0.3, -0.5, -0.9, 0.0], (3, 4000))
    a, b, c = np.ldexp(parts, random.integers(low, high + 1, (3, 4000)).astype(np.int32))
    b[::3] = parts[1, ::3]
    c[:100], a[:100], b[:100] = 3 * 2.0**-1074, np.arange(100) * 2.0**-1074, 0.5 + np.arange(100) // 50 * 2.0**-53
    with np.errstate(all="ignore"):
        c[100::5] = -(a * b)[100::5]
        c[~np.isfinite(c)] = 1.0
        found = floating.fma64(a, b, c)
        right = floating.exactly("fma", "rn", np.float64, a, b, c, plain=a * b + c)
    assert found.tobytes() == right.tobytes()


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_exact_results_in_every_rounding(mode: str) -> None:
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(numbers, numbers)
    def holds(a: float, b: float) -> None:
        for operation, exact in (("add", Fraction(a) + Fraction(b)), ("mul", Fraction(a) * Fraction(b))):
            with np.errstate(all="ignore"):
                found = float(floating.exactly(operation, mode, np.float32, _one(a, "f4"), _one(b, "f4"))[0, 0])
            assert found == (nearest(exact, np.float32, mode) if exact else 0)

    holds()


def test_fma32_on_the_middle_of_subnormal_numbers() -> None:
    tiny = 2.0**-149
    rows = [
        (tiny, 0.5, 0.0, 0.0),
        (tiny, 0.5, tiny, 2 * tiny),
        (tiny * 3, 0.5, 0.0, 2 * tiny),
        (tiny, 0.5 + 2**-20, 0.0, tiny),
    ]
    for a, b, c, wanted in rows:
        assert floating.fma32(*(_one(x, "f4") for x in (a, b, c)))[0, 0] == np.float32(wanted)


def test_smaller_and_larger_tell_zeros_apart() -> None:
    for a, b in ((0.0, -0.0), (-0.0, 0.0)):
        assert math.copysign(1, floating.smaller(_one(a, "f4"), _one(b, "f4"))[0, 0]) == -1
        assert math.copysign(1, floating.larger(_one(a, "f4"), _one(b, "f4"))[0, 0]) == 1
    assert floating.smaller(_one(math.nan, "f4"), _one(3, "f4"))[0, 0] == 3


@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integer_tricks(code: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(code)
    bits = limits.bits
    a, b = (rng.integers(limits.min, limits.max, (3, 50), dtype=code, endpoint=True) for _ in range(2))
    a[0, :3], b[0, :3] = [limits.min, limits.max, 0], [limits.max, limits.max, 0]
    with np.errstate(all="ignore"):
        high, count, leading = arithmetic.multiply_high(a, b), arithmetic.population(a), arithmetic.leading_zeros(a)
        quotient, rest, turned = arithmetic.divide(a, b), arithmetic.remainder(a, b), arithmetic.reverse_bits(a)
    for place, (x, y) in enumerate(zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)):
        unsigned = x % (1 << bits)
        assert high.reshape(-1)[place] == x * y >> bits
        assert count.reshape(-1)[place] == unsigned.bit_count()
        assert leading.reshape(-1)[place] == bits - unsigned.bit_length()
        assert int(turned.reshape(-1)[place]) % (1 << bits) == int(f"{unsigned:0{bits}b}"[::-1], 2)
        if y == 0:
            assert int(quotient.reshape(-1)[place]) % (1 << bits) == (1 << bits) - 1 and rest.reshape(-1)[place] == x
        elif (x, y) != (limits.min, -1):
            wanted = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            assert (quotient.reshape(-1)[place], rest.reshape(-1)[place]) == (wanted, x - wanted * y)


def test_carries() -> None:
    top = 2**32 - 1
    for a in (0, 1, top - 1, top):
        for b in (0, 1, top):
            for more in (False, True):
                words = _one(a, "u4"), _one(b, "u4"), _one(more, "?")
                assert arithmetic.carry(*words)[0, 0] == (a + b + more > top)
                assert arithmetic.borrow(*words)[0, 0] == (a - b - more < 0)


def test_bytes_change_places_alike_for_one_selector_and_for_one_a_lane() -> None:
    random = np.random.default_rng(6)
    a, b = (random.integers(-(1 << 31), 1 << 31, (5, 32)).astype(np.int32) for _ in "ab")
    for selector in (0x3210, 0x5140, 0x7654, 0x0BA9, *random.integers(1 << 16, size=20)):
        one, each = np.array([[selector]], np.int32), np.full((1, 32), selector, np.int32)
        found = arithmetic.permute_bytes(a, b, one)
        np.testing.assert_array_equal(found, arithmetic.permute_bytes(a, b, each))
        low = int(selector) & 15
        lane = int(a[2, 3]).to_bytes(4, "little", signed=True) + int(b[2, 3]).to_bytes(4, "little", signed=True)
        byte = (255 if lane[low & 7] & 128 else 0) if low & 8 else lane[low & 7]
        assert found.dtype == np.int32 and int(found[2, 3]) & 255 == byte


def test_not_a_number_to_integers() -> None:
    nan = math.nan
    assert arithmetic.to_integer(_one(nan, "f4"), np.int32, "rni")[0, 0] == 0
    assert arithmetic.to_integer(_one(nan, "f8"), np.int32, "rni")[0, 0] == -(2**31)
    assert arithmetic.to_integer(_one(nan, "f8"), np.uint32, "rni")[0, 0] == 2**31
    assert arithmetic.to_integer(_one(nan, "f4"), np.uint64, "rzi")[0, 0] == 2**63
    assert arithmetic.to_integer(_one(2.0**64, "f8"), np.uint64, "rzi")[0, 0] == 2**64 - 1


# Atomics


def _serial(memory: list[Any], index: list[int], operation: str, *values: list[Any]) -> list[Any]:
    """One lane after the other."""
    answers = []
    for lane, at in enumerate(index):
        old, v = memory[at], values[0][lane]
        answers.append(old)
        memory[at] = {
            "add": lambda old=old, v=v: (old + v) % 2**32,
            "min": lambda old=old, v=v: min(old, v),
            "max": lambda old=old, v=v: max(old, v),
            "and": lambda old=old, v=v: old & v,
            "or": lambda old=old, v=v: old | v,
            "xor": lambda old=old, v=v: old ^ v,
            "exch": lambda v=v: v,
            "inc": lambda old=old, v=v: 0 if old >= v else old + 1,
            "dec": lambda old=old, v=v: v if old == 0 or old > v else old - 1,
            "cas": lambda old=old, v=v, lane=lane: values[1][lane] if old == v else old,
        }[operation]()
    return answers


@pytest.mark.parametrize("operation", ["add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"])
@pytest.mark.parametrize("wanted", [False, True])
def test_atomics_are_as_if_one_lane_came_after_the_other(operation: str, wanted: bool) -> None:
    rng = np.random.default_rng(2)
    for cells in (1, 3, 500):
        for high in (3, 2**32):
            memory = rng.integers(0, high, 500, dtype=np.uint32)
            index = rng.integers(0, cells, 200) if cells < 500 else rng.permutation(500)[:200]
            values = tuple(rng.integers(0, high, 200, dtype=np.uint32) for _ in range(2 if operation == "cas" else 1))
            expected = [int(v) for v in memory]
            answers = _serial(expected, index.tolist(), operation, *(v.tolist() for v in values))
            found = update(memory, index, operation, values, wanted)
            assert memory.tolist() == expected
            assert found is None or found.tolist() == answers
            assert found is not None or not wanted


# PTX


SAMPLE = """
.version 8.4
.target sm_75
.address_size 64
.file 1 "tests/kernel.cu"
.const .align 4 .b8 weights[12] = {1, 0, 0, 0, 255};
.global .align 8 .f64 start = 0d3FF8000000000000;
.visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24])
.maxntid 128, 1, 1
{
 .local .align 8 .b8 __local_depot0[16];
 .reg .b64 %rd<4>;
 .reg .f32 %f<3>;
 .loc 1 7 3
 ld.param.u64 %rd1, [k_param_0+0];
 mov.u64 %rd2, __local_depot0;
 { .reg .f32 %f1; mov.f32 %f1, 0f3F800000; st.local.f32 [%rd2+-4], %f1; }
 .loc 1 9 1, function_name $L__info_string0, inlined_at 1 7 3
 @!%p1 bra $L1;
 add.cc.u32 %r1, %r2, 7;
 addc.u32 %r3, %r3, 0;
$L1:
 ret;
}
"""


def test_a_program_is_read() -> None:
    program = parse(SAMPLE, "tests/kernel.cu")
    assert program.architecture == "sm_75"
    assert program.variables["weights"].data == bytes([1, 0, 0, 0, 255]) and program.variables["weights"].nbytes == 12
    assert np.frombuffer(program.variables["start"].data) == 1.5
    function = program.functions["k"]
    assert [p.nbytes for p in function.params] == [8, 24] and function.params[1].align == 8
    assert [v.space for v in function.variables] == ["local"]
    lines = [line for line in function.body if isinstance(line, Instruction)]
    assert lines[0].args == (Reg("%rd1"), Mem(Sym("k_param_0"), 0))
    assert lines[0].place == Place("tests/kernel.cu", 7)
    inner = lines[2].args[0]
    assert isinstance(inner, Reg) and inner.name != "%f1" and lines[2].args[1] == Imm(0x3F800000, "f32")
    assert lines[3].args[0] == Mem(Reg("%rd2"), -4)
    jump = lines[4]
    assert jump.negated and jump.guard == Reg("%p1") and jump.place.inlined_at == (("tests/kernel.cu", 7),)
    assert isinstance(lines[5].args[0], Vec) and lines[6].args[-1] == Reg("%carry")


def test_what_cannot_be_read_is_a_sentence() -> None:
    with pytest.raises(KernelError, match="does not support the PTX directive .alias"):
        parse(".target sm_75\n.alias a, b;")
    with pytest.raises(KernelError, match="ends in the middle"):
        parse(".target sm_75\n.visible .entry k() { mov.u32 %r1")
    with pytest.raises(KernelError, match='no kernel "x" in the PTX .found: k'):
        flatten(parse(SAMPLE), "x")


@pytest.mark.parametrize(
    "name",
    [
        "add.f32x2",
        "fma.rz.bf16",
        "max.xorsign.abs.bf16x2",
        "cvt.rn.satfinite.e4m3x2.f32",
        "div.rz.f16",
        "prmt.b32.f4e",
        "min.xorsign.abs.f32",
    ],
)
def test_what_the_table_lacks_is_refused(name: str) -> None:
    op = tuple(name.split("."))
    args = tuple(Reg(f"%r{k}") for k in range(5))
    with pytest.raises(KernelError, match="kernel.cu:3: the simulated GPU does not run"):
        computation(Instruction(op, args, Place("kernel.cu", 3)))


def test_names_and_sizes() -> None:
    assert plain_name("_ZZ4blurE4tile") == "tile" and plain_name("plain") == "plain"
    assert [size_of(t) for t in ("u8", "f16x2", "pred", "b128", "s64")] == [1, 4, 1, 16, 8]


def test_blocks_of_loops_that_watch_memory_are_those_that_lead_back_to_a_watching_one() -> None:
    random, read = np.random.default_rng(3), Reg("%r1")
    atom = Instruction(("atom", "add", "u32"), (read, Mem(Reg("%rd1"), 0), Imm(1, "u32")), Place("", 0))
    use = Instruction(("mov", "u32"), (Reg("%r2"), read), Place("", 0))
    loops = 0
    for _ in range(300):
        count = int(random.integers(1, 12))
        blocks = [
            Block(
                n,
                [atom, use] if random.random() < 0.25 else [],
                targets=tuple(map(int, random.integers(0, count, end))),
            )
            for n, end in enumerate(random.integers(0, 3, count))
        ]
        leads = np.zeros((count, count), np.bool_)
        for block in blocks:
            leads[block.number, list(block.targets)] = True
        for through in range(count):  # Warshall, 1962
            leads |= leads[:, through, None] & leads[through]
        watching = [block.number for block in blocks if block.lines]
        expected = {n for n in range(count) if any(leads[n, w] and leads[w, n] for w in watching)}
        assert spin_blocks(blocks) == expected
        loops += bool(expected)
    assert 50 < loops < 300
    for lines, waits in (([atom, use], True), ([atom], False)):
        assert bool(spin_blocks([Block(0, lines, targets=(0,))])) == waits, "whose result nobody reads waits for none"
