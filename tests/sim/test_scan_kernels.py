"""The kernels of prefix sums on the simulated GPU: many tiles, odd values, and bank conflicts level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset
from tasks import planned

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.traces import Tracing
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.filters.scan.accesses import doubling_additions, tree_additions, tree_wavefronts
from gpu_ops.params import check_values
from gpu_ops.plan import Execution

Array = np.ndarray[Any, Any]
SCAN1D, SCAN2D = find_filter("scan1d"), find_filter("scan2d")
KERNELS = [v.id for v in SCAN1D.variants if v.kernels]
SMALL = {
    "hillis_steele": {"block": 16},
    "blelloch": {"block": 64},
    "blelloch_padded": {"block": 64},
    "warp": {"block": 64, "items": 4},
    "look_back": {"block": 64, "vectors": 1},
}


@pytest.mark.parametrize("variant", KERNELS)
def test_nan_and_infinity_reach_the_sums_that_hold_them(variant: str) -> None:
    x = np.ones((2000, 2), np.float32)
    x[300, 0], x[1500, 0], x[1100, 1] = -np.inf, np.inf, np.nan
    for sums in ("inclusive", "exclusive"):
        given = from_array(x, kind="signal", nonfinite="keep")
        pick = Pick(variant, "sim", SMALL[variant])
        one = list(run_experiment(Experiment("scan1d", given, {"sums": sums}, (pick,), "none")))[-1]
        assert one.ok and not one.findings, (one.errors, one.findings)


def executed(variant: str, x: Array, block: int, **options: Any) -> Execution:
    """One execution of a scan of a signal, counting."""
    session = SimDevice(options=Options(counters="full", **options)).session({})
    chosen = SCAN1D.variant(variant)
    knobs = check_values(chosen.knobs, SMALL[variant] | {"block": block}, variant)
    plan = planned(SCAN1D, variant, session, session.upload(x), {"sums": "inclusive"}, knobs)
    done = session.execute(plan)
    assert np.array_equal(session.download(plan.outputs["signal"]), np.cumsum(x)) and not done.findings
    return done


def test_a_chain_of_tiles_goes_on_after_the_first_thousand() -> None:
    """1024 threads scan the sums of 1032 tiles in two rounds, the second from where the first ended."""
    executed("warp", np.ones(264_001, np.uint8), 64, checks="off")


def test_tiles_look_back_over_many_and_launches_do_not_mix() -> None:
    """157 tiles look back five times 32; what one launch left in the words says nothing to the next one."""
    x = np.arange(20_000, dtype=np.uint16)
    session = SimDevice().session({})
    knobs = check_values(SCAN1D.variant("look_back").knobs, SMALL["look_back"], "look_back")
    given = session.upload(x)
    plan = planned(SCAN1D, "look_back", session, given, {"sums": "inclusive"}, knobs)
    for values in (x, x[::-1].copy(), x // 2):
        session.copy(given, session.upload(values))
        assert session.execute(plan).findings == ()
        assert np.array_equal(session.download(plan.outputs["signal"]), np.cumsum(values, dtype=np.float64))


@pytest.mark.parametrize("vectors", daily_subset([12, 20], 1, str))
@pytest.mark.parametrize("shape, dtype", [((9001,), "float32"), ((9001,), "uint8"), ((4100, 2), "float64")])
def test_vectors_wait_in_shared_memory(shape: tuple[int, ...], dtype: str, vectors: int) -> None:
    """Whole tiles and a rest, side by side and interleaved, with more vectors than registers hold."""
    session = SimDevice(options=Options(counters="full")).session({})
    x = (np.arange(np.prod(shape)) % 7).astype(dtype).reshape(shape)
    knobs = check_values(SCAN1D.variant("look_back").knobs, {"block": 64, "vectors": vectors}, "look_back")
    for sums in ("inclusive", "exclusive"):
        plan = planned(SCAN1D, "look_back", session, session.upload(x), {"sums": sums}, knobs)
        done = session.execute(plan)
        through = np.cumsum(x, axis=0, dtype=np.float64)
        right = through if sums == "inclusive" else through - x
        assert np.array_equal(session.download(plan.outputs["signal"]), right) and not done.findings
        assert done.counters["shared_wavefronts"] == done.counters["shared_ideal_wavefronts"]


@pytest.mark.parametrize("variant", [v for v in KERNELS if SCAN1D.variant(v).counts.accesses])
def test_counted_loads_are_those_declared(variant: str) -> None:
    """One tile, two levels and three, with a rest in the last tile; lines of rows and colours."""
    for filter, shape, dtype in (
        (SCAN1D, (16,), "uint8"),
        (SCAN1D, (300, 2), "float32"),
        (SCAN2D, (3, 301, 3), "uint16"),
    ):
        x = from_array(np.ones(shape, dtype), kind=filter.accepts)
        seen = xray(filter, filter.variant(variant), x, {"sums": "exclusive"}, SMALL[variant])
        assert seen.expected is not None and not seen.findings
        assert seen.totals["global_load_threads"] == seen.expected.total, shape
        found = seen.kernels[0].block_loads
        if seen.kernels[0].launches == 1:
            assert found == {name: getattr(seen.expected, name) for name in ("first", "inner", "last")}, shape


def at(done: Execution, text: str, file: str) -> Counter[str]:
    """Counts of the line with that text."""
    return Counter(next(dict(c.counts) for c in done.lines if text in _line(file, c.line) and c.file == file))


def _line(file: str, number: int) -> str:
    from gpu_ops.devices.kernel_source import read_source

    return read_source(file).splitlines()[number - 1]


def test_additions_are_those_of_the_claims() -> None:
    doubling = executed("hillis_steele", np.ones(64, np.float32), 64)
    assert at(doubling, "from[t - d]", "scan/1_hillis_steele.cu")["shared_load_threads"] == doubling_additions(64)
    tree = executed("blelloch", np.ones(128, np.float32), 64)
    up, down = (
        at(tree, text, "scan/2_blelloch.cu")
        for text in ("tile[left + d] += tile[left]", "tile[left + d] = before + sum")
    )
    assert up["shared_store_threads"] + down["shared_store_threads"] == tree_additions(128)


def passes(offsets: Sequence[int], nbytes: int) -> int:
    """The wavefronts of one access of a warp, bank by bank; of 8 bytes in two halves."""
    words = [{(at + k) // 4 for at in part for k in range(0, nbytes, 4)} for part in _parts(offsets, nbytes)]
    return sum(max(Counter(word % 32 for word in part).values()) for part in words if part)


def _parts(offsets: Sequence[int], nbytes: int) -> list[Sequence[int]]:
    lanes = 32 * 4 // nbytes
    return [offsets[k : k + lanes] for k in range(0, len(offsets), lanes)]


LINES = {
    "blelloch": ("tile[left + d] += tile[left]", "sum = tile[left];"),
    "blelloch_padded": ("tile[index(left + d)] += tile[index(left)]", "sum = tile[left];"),
}
BY_LEVEL = {
    ("blelloch", "float32"): [2, 4, 8, 16, 32, 32, 16, 8, 4, 2, 1],
    ("blelloch_padded", "float32"): [1] * 11,
    ("blelloch", "float64"): [4, 8, 16, 32, 32, 32, 16, 8, 4, 2, 1],
    ("blelloch_padded", "float64"): [2] * 6 + [1] * 5,
}
"""Wavefronts of an access of the first warp in a tile of 2048 values, from the level of pairs to the root, by hand: of
the 1024, 512 … 1 nodes of a level 32 are a warp's, or what there are, and they are 2, 4, 8 … values apart."""


@pytest.mark.parametrize("variant, dtype", BY_LEVEL)
def test_bank_conflicts_level_by_level(variant: str, dtype: str) -> None:
    levels, (file,) = BY_LEVEL[variant, dtype], SCAN1D.variant(variant).kernels
    done = executed(variant, np.ones(2048, dtype), 1024, tracing=Tracing(warps=(0,)))
    traces = {t.line: t for t in done.traces if t.file == file}
    up, down = (next(t for line, t in traces.items() if text in _line(file, line)) for text in LINES[variant])
    assert [passes(a.offsets, a.nbytes) for a in up.accesses] == [n for n in levels for _ in range(3)]
    assert [passes(a.offsets, a.nbytes) for a in down.accesses] == [n for n in reversed(levels) for _ in range(2)]
    extra = done.counters["shared_wavefronts"] - done.counters["shared_ideal_wavefronts"]
    taken, fewest = tree_wavefronts(2048, np.dtype(dtype).itemsize)
    assert extra == (taken - fewest if variant == "blelloch" else 0)
