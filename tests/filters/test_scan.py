"""Prefix sums: the reference against fractions, the CPU's loops in pieces, the wrappers of libraries, the claims."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from tasks import on

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.devices.cpu import CpuDevice
from gpu_ops.filters import find_filter
from gpu_ops.filters.scan import host, peers
from gpu_ops.filters.scan.accesses import doubling_additions, tree_additions
from gpu_ops.filters.scan.lines import Lines
from gpu_ops.plan import Limits
from gpu_ops.running.verify import verify
from gpu_ops.task import Meta, Task
from gpu_ops.types import Run

Array = np.ndarray[Any, Any]
SCAN1D, SCAN2D = find_filter("scan1d"), find_filter("scan2d")
SUMS = ("inclusive", "exclusive")
HOST = ("serial", "parallel", "numpy")


def right(x: Array, sums: str = "inclusive", kind: str = "signal") -> Array:
    filter = SCAN1D if kind == "signal" else SCAN2D
    return filter.reference(on(filter, x, {"sums": sums}))[kind]


def run(x: Array, variant: str, sums: str, kind: str = "signal") -> Run:
    input = from_array(x, kind=kind, nonfinite="keep")
    return list(run_experiment(Experiment("scan", input, {"sums": sums}, (Pick(variant, "cpu"),), "none")))[-1]


def floats(*shape: int) -> Array:
    """Numbers of very different sizes and both signs."""
    random = np.random.default_rng(5)
    return random.standard_normal(shape) * 10.0 ** random.integers(-12, 12, shape)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is cut into pieces is cut into many."""
    reference = import_module("gpu_ops.filters.scan.reference")
    for module, name, size in ((reference, "CHUNK", 64), (host, "BLOCK", 32), (host, "BAND", 96), (peers, "PIECE", 48)):
        monkeypatch.setattr(module, name, size)


@pytest.mark.parametrize("size", [1.0, 1e300, 1e-318])
def test_the_reference_is_rounded_once(small_pieces: None, size: float) -> None:
    x = floats(300)
    x = x / np.abs(x).max() * size
    exact = [Fraction(0), *accumulate(map(Fraction, x))]
    for sums, expected in (("inclusive", exact[1:]), ("exclusive", exact[:-1])):
        for value, sum in zip(right(x, sums), expected, strict=True):
            assert abs(Fraction(float(value)) - sum) <= max(abs(sum) * Fraction(2) ** -52, Fraction(2) ** -1074)


@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize("shape", [(1,), (7,), (301,), (101, 3), (1, 1), (7, 1), (1, 97), (13, 50, 3), (2, 200, 4)])
def test_pieces_join(small_pieces: None, shape: tuple[int, ...], sums: str) -> None:
    """Blocks of 32 values, chunks of 64, lines that interleave, lines shorter and longer than a piece."""
    kind = "signal" if shape in ((1,), (7,), (301,), (101, 3)) else "image"
    axis = 1 if kind == "image" else 0
    x = np.random.default_rng(1).integers(0, 65536, shape).astype(np.uint16)
    expected = np.cumsum(x.astype(np.int64), axis=axis)
    if sums == "exclusive":
        expected = expected - x
    assert np.array_equal(right(x, sums, kind), expected)
    for variant in HOST:
        for values in (x, x.astype(np.float32)):
            one = run(values, variant, sums, kind)
            assert one.ok, (variant, one.failure, one.errors)
            assert one.outputs[kind].dtype == (np.float64 if values is x else np.float32)
            assert np.array_equal(one.outputs[kind], expected.astype(one.outputs[kind].dtype))


@pytest.mark.parametrize("variant", HOST)
def test_sums_of_integers_are_exact_beyond_32_bits(variant: str) -> None:
    one = run(np.full(70_001, 65535, np.uint16), variant, "inclusive")
    assert one.ok and one.outputs["signal"][-1] == 65535 * 70_001 > 2**32


@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize("variant", HOST)
def test_nan_and_infinity_reach_the_sums_that_hold_them(small_pieces: None, variant: str, sums: str) -> None:
    x = np.ones((200, 3), np.float32)
    x[70, 0], x[20, 1], x[130, 1], x[150, 2] = np.inf, -np.inf, np.inf, np.nan
    with np.errstate(invalid="ignore"):
        expected = np.cumsum(x, axis=0)
    if sums == "exclusive":
        expected = np.concatenate([np.zeros((1, 3), np.float32), expected[:-1]])
    one = run(x, variant, sums)
    assert one.ok and np.array_equal(one.outputs["signal"], expected, equal_nan=True)


def test_one_value_too_many_is_seen_beside_sums_that_cancel() -> None:
    """Errors are relative to the sum of magnitudes: no value alone is the scale, nor what is left of all."""
    x = np.resize(np.float32([1, -1]), 1000)
    one = run(x, "serial", "inclusive")
    assert one.ok and one.errors["signal"].scale == 1000
    off = {"signal": one.outputs["signal"] + np.float32(0.01)}
    task = Task.of(from_array(x).meta, {"sums": "inclusive"})
    assert not verify(SCAN1D, SCAN1D.variant("hillis_steele"), from_array(x), task, off)["signal"].ok


def test_tolerances_follow_the_algorithm() -> None:
    def of(variant: str, n: int, dtype: str = "float32", **knobs: int) -> float:
        task = Task.of(Meta("signal", (n,), dtype), {"sums": "inclusive"}, knobs)
        chosen = SCAN1D.variant(variant)
        return (chosen.exactness or SCAN1D.outputs[0]).tolerance(task)

    assert of("blelloch", 1 << 20) < 40 * 2**-23 and of("blelloch", 1 << 30) < 1.5 * of("blelloch", 1 << 20)
    assert of("serial", 1 << 30, "float64") > 1000 * of("serial", 1 << 20, "float64")
    assert of("serial", 1 << 20) < 2**-23, "a chain in float64 is hidden by the rounding to float32"
    assert of("warp", 1 << 30, block=256, items=8) > 4 * of("warp", 1 << 20, block=256, items=8)
    assert all(of(v.id, 10**6, "uint16", block=64, items=4, vectors=1) == 0 for v in SCAN1D.variants)


def test_what_does_not_fit_is_refused() -> None:
    small = Limits((9, 0), 1024, 48 << 10, 1, 0, 1 << 40, 0)

    def reason(shape: tuple[int, ...], dtype: str = "float32", largest: float = 0.0) -> str | None:
        task = Task.of(Meta("image", shape, dtype, largest=largest), {"sums": "inclusive"}, {"block": 64}, small)
        return SCAN2D.variant("blelloch").refusal(task)

    assert reason((1 << 16, 1 << 15)) is None
    blocks = "3,221,225,472"
    assert reason((1 << 30, 2, 3)) == f"{blocks} lines of 2 values need {blocks} blocks, a grid has 2,147,483,647"
    assert "it holds for values up to 3.403e+35" in (reason((9, 998), largest=1e36) or "")
    assert reason((9, 998), largest=3e35) is None


class WithNumpy(CpuDevice):
    """The CPU, on which NumPy stands in for CuPy: its cumsum takes the same arguments."""

    def library(self, name: str) -> Any:
        assert name == "cupy"
        return np


@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize("x", [floats(1), floats(50), floats(20, 3), floats(7, 11), floats(4, 1), floats(5, 9, 3)])
def test_cupys_cumsum_is_made_exclusive_by_a_shift(x: Array, sums: str) -> None:
    filter = SCAN2D if x.shape in ((7, 11), (4, 1), (5, 9, 3)) else SCAN1D
    device = WithNumpy()
    for values in (x, (np.abs(x) % 200).astype(np.uint8)):
        plan = filter.variant("cupy").plan(device, on(filter, values, {"sums": sums}))
        device.execute(plan)
        (made,) = plan.outputs.values()
        assert made.dtype == np.float64
        assert made == pytest.approx(right(values, sums, filter.accepts), rel=1e-12, abs=1e-3)


def test_work_is_two_accesses_a_value() -> None:
    meta = Meta("image", (30, 40, 3), "uint8")
    work = SCAN2D.work(Task.of(meta, {"sums": "inclusive"}))
    assert (work.bytes_read, work.bytes_written, work.flops) == (3600, 8 * 3600, 3600)
    assert Lines.of(meta) == (30, 40, 3) and Lines.of(Meta("signal", (50, 2), "uint8")) == (1, 50, 2)


def test_counted_claims_hold_with_their_figures() -> None:
    found = {claim.id: claim.judge({}) for claim in SCAN1D.claims if claim.basis == "counted"}
    assert found == {
        "S1-scan-additions": ("4097 to 1022 additions for 512 values", True),
        "S1-scan-conflicts": ("665 to 140 wavefronts of shared memory for 512 floats", True),
    }
    for n in (2, 64, 2048):
        steps = n.bit_length() - 1
        assert doubling_additions(n) == n * steps - (n - 1) and tree_additions(n) == 2 * n - 2
