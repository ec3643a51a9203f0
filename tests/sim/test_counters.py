"""What is counted, against figures worked out by hand and against plain Python that looks at one lane after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpu_ops.devices.coalescing import Rule, transactions
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.lanes import BatchLayout, Lanes
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.requests import Requests, by_block, split_warps
from gpu_ops.plan import Execution, Launch, Plan
from tests.sim.table import text

FILE = "tests/counted.cu"
SOURCE = text("counted.cu")
Array = np.ndarray[Any, Any]
ARCHITECTURES = ("sm_75", "sm_90", "sm_120")


def execute(
    kernel: str,
    *args: Any,
    grid: int | tuple[int, int, int] = 1,
    block: int | tuple[int, int, int] = 32,
    shared: int = 0,
    architecture: str = "sm_75",
    **options: Any,
) -> Execution:
    """Run a kernel of counted.cu once, counting. Numbers become int32."""
    device = SimDevice(architecture, Options(**{"checks": "off", "counters": "full", **options}))
    session = device.session({FILE: SOURCE})
    given = tuple(np.int32(a) if isinstance(a, int) else session.upload(a) for a in args)
    shape = [(n, 1, 1) if isinstance(n, int) else n for n in (grid, block)]
    made = session.kernel(FILE, kernel, {})
    return session.execute(Plan((Launch(made, shape[0], shape[1], given, shared),), {}))


def count(kernel: str, *args: Any, **how: Any) -> dict[str, int]:
    """All counts of one run, by name."""
    return dict(execute(kernel, *args, **how).counters)


def at(mark: str, done: Execution) -> dict[str, int]:
    """Counts of the line that a comment marks."""
    line = next(n for n, t in enumerate(SOURCE.splitlines(), 1) if t.endswith(f"//! {mark}"))
    return dict(next(c.counts for c in done.lines if c.line == line))


def loads(found: dict[str, int]) -> tuple[int, int, int]:
    """Requests, sectors and ideal sectors of global loads."""
    return tuple(found[f"global_load_{n}"] for n in ("requests", "sectors", "ideal_sectors"))  # type: ignore[return-value]


X = np.ones(1 << 16, np.float32)
Y = np.zeros(1024, np.float32)

GLOBAL = {
    "floats in order": (("floats", X, Y, 1, 0), (1, 4, 4)),
    "misaligned by one": (("floats", X, Y, 1, 1), (1, 5, 4)),
    "all the same": (("floats", X, Y, 0, 3), (1, 1, 1)),
    "in opposite order": (("floats", X, Y, -1, 31), (1, 4, 4)),
    "stride 2": (("floats", X, Y, 2, 0), (1, 8, 4)),
    "stride 8": (("floats", X, Y, 8, 0), (1, 32, 4)),
    "a column of a wide image": (("floats", X, Y, 1920, 0), (1, 32, 4)),
    "float4": (("quads", X, Y), (1, 16, 16)),
    "double": (("doubles", X.view("f8"), Y), (1, 8, 8)),
    "a field of a packed struct of 24 bytes": (("field", X.view("f8"), Y), (1, 24, 8)),
    "uint8": (("bytes", X.view("u1"), Y.view("u1"), 1), (1, 1, 1)),
    "one channel of packed RGB": (("bytes", X.view("u1"), Y.view("u1"), 3), (1, 3, 1)),
    "uchar4": (("pixels", X.view("u1"), Y.view("u1")), (1, 4, 4)),
    "three fields of a packed struct of 12 bytes": (("packed", X, Y), (3, 36, 12)),
    "the struct aligned to 16 bytes": (("aligned", X, Y), (1, 16, 16)),
    "three arrays": (("apart", X, X, X, Y), (3, 12, 12)),
}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", GLOBAL)
def test_sectors_of_one_warp(name: str, architecture: str) -> None:
    args, expected = GLOBAL[name]
    assert loads(count(*args, architecture=architecture)) == expected


@pytest.mark.parametrize("block, warps", [((16, 16, 1), 8), ((8, 8, 1), 2), ((32, 4, 1), 4), ((64, 2, 1), 4)])
def test_sectors_of_two_dimensional_blocks(block: tuple[int, int, int], warps: int) -> None:
    found = count("blocks2d", X, X.copy(), 256, grid=(2, 2, 1), block=block)
    assert loads(found) == (4 * warps, 4 * 4 * warps, 4 * 4 * warps)
    assert found["global_store_sectors"] == 4 * 4 * warps and found["global_store_threads"] == 4 * 32 * warps


SHARED = {
    "tile[32][32] by column": (("columns", Y, 32, 32), 32),
    "tile[32][33] by column": (("columns", Y, 33, 32), 1),
    "by row": (("columns", Y, 1, 32), 1),
    "16 x 16 by column": (("columns", Y, 16, 16), 8),
    "17 columns": (("columns", Y, 17, 16), 2),
    "18 columns": (("columns", Y, 18, 16), 1),
}


@pytest.mark.parametrize("name", SHARED)
def test_wavefronts_of_shared_loads(name: str) -> None:
    args, expected = SHARED[name]
    found = count(*args, shared=4 * 33 * 32)
    assert (found["shared_load_requests"], found["shared_wavefronts"], found["shared_ideal_wavefronts"]) == (
        1,
        expected,
        1,
    )


@pytest.mark.parametrize("kernel, each", [("shared_quads", 4), ("shared_doubles", 2)])
def test_wide_shared_accesses_take_a_pass_for_each_part(kernel: str, each: int) -> None:
    found = count(kernel, np.zeros(128, np.float64))
    assert (found["shared_wavefronts"], found["shared_ideal_wavefronts"]) == (2 * each, 2 * each)


LANE = np.arange(32)
WIDE = {
    "in order": (LANE, (4, 2, 4, 2)),
    "in pairs": (LANE // 2, (2, 1, 4, 2)),
    "every other pair": (LANE & ~2, (4, 2, 4, 2)),
    "even lanes, apart": (np.where(LANE % 2, -1, LANE), (4, 2, 4, 2)),
    "even lanes": (np.where(LANE % 2, -1, LANE // 2), (2, 1, 4, 2)),
    "even lanes of one address": (np.where(LANE % 2, -1, 0), (1, 1, 4, 2)),
    "one lane": (np.where(LANE, -1, 0), (1, 1, 1, 1)),
    "two lanes of a half": (np.where(LANE % 8 + LANE // 16, -1, 0), (1, 1, 2, 1)),
    "a lane of each half": (np.where(LANE % 16, -1, 0), (1, 1, 2, 2)),
    "an address for each half": (LANE // 16 * 17, (2, 1, 4, 2)),
    "an address for each lane of a half": (LANE % 16, (4, 2, 4, 2)),
    "an address for each lane of a quarter": (LANE % 8, (4, 2, 4, 2)),
    "fours in one bank": (LANE // 4 * 8, (8, 4, 8, 4)),
    "pairs in one bank": (LANE // 2 * 16, (16, 16, 16, 16)),
    "scattered": (np.random.default_rng(5).integers(0, 512, 32), (11, 7, 11, 7)),
    "20 lanes in pairs": (np.where(LANE < 20, LANE // 2, -1), (2, 1, 3, 2)),
    "one address": (0 * LANE, (2, 1, 4, 2)),
    "two lanes of each half": (np.where(LANE % 16 > 1, -1, LANE % 16), (2, 1, 2, 2)),
    "no lanes i and i ^ 1": (np.where(np.isin(LANE, (5, 17, 18, 20, 28)), LANE, -1), (3, 1, 3, 2)),
    "no lanes i and i ^ 2": (np.where(np.isin(LANE, (2, 3, 6, 11, 14, 15, 16, 25, 28, 29)), LANE, -1), (3, 1, 4, 2)),
    "no lanes i and i ^ 1, in one bank": (np.where(np.isin(LANE, (0, 9, 16, 18, 28)), LANE * 16, -1), (5, 5, 5, 5)),
}
"""Places of elements (-1 for a lane that is not active), and the wavefronts of loads and of stores of 128 and 64 bits
each: those that an H200 had with Nsight Compute, but not of all four kinds in the last five."""


@pytest.mark.parametrize("name", WIDE)
def test_neighbouring_parts_of_a_warp_are_served_together(name: str) -> None:
    places, wavefronts = WIDE[name]
    lanes = Lanes(BatchLayout((1, 1, 1), (32, 1, 1), 0, 1), None if (places >= 0).all() else places[None] >= 0)
    kinds = [(loads, nbytes) for loads in (True, False) for nbytes in (16, 8)]
    found = [Requests(lanes, places[None] * nbytes, 0, nbytes).wavefronts(loads)[0] for loads, nbytes in kinds]
    assert tuple(found) == wavefronts


UNITS = np.arange(32)


def rows(width: int, stride: int) -> Array:
    """Lanes in rows of `width` units, `stride` units apart."""
    return UNITS // width * stride + UNITS % width


COPIES: dict[str, tuple[Callable[[int], Array], Array, Array, tuple[int, ...]]] = {
    "in order": (lambda line: UNITS, UNITS, UNITS >= 0, (1, 2, 4, 4, 16)),
    "half a line further": (lambda line: UNITS + line // 2, UNITS, UNITS >= 0, (1, 2, 4, 8, 16)),
    "one further": (lambda line: UNITS + 1, UNITS, UNITS >= 0, (1, 2, 4, 12, 32)),
    "rows of 16": (lambda line: rows(16, 2 * line), UNITS, UNITS >= 0, (2, 2, 4, 4, 16)),
    "a line each": (lambda line: UNITS * line, UNITS, UNITS >= 0, (32, 32, 32, 32, 32)),
    "with gaps": (lambda line: UNITS, 2 * UNITS, UNITS >= 0, (2, 4, 8, 32, 32)),
    "rows of 16 with gaps": (lambda line: rows(16, 2 * line), 2 * UNITS, UNITS >= 0, (2, 4, 8, 32, 32)),
    "one of all": (lambda line: 0 * UNITS, UNITS, UNITS >= 0, (32, 32, 32, 32, 32)),
    "backwards": (lambda line: UNITS[::-1], UNITS, UNITS >= 0, (1, 2, 4, 4, 16)),
    "rows of 32 bytes": (lambda line: rows(line // 4, line), UNITS, UNITS >= 0, (4, 8, 16, 16, 16)),
    "half lines": (lambda line: rows(line // 4, line // 2), UNITS, UNITS >= 0, (2, 4, 8, 16, 16)),
    "two lines in turn": (lambda line: UNITS % 2 * line + UNITS // 2, UNITS, UNITS >= 0, (2, 4, 8, 32, 32)),
    "two lines with gaps": (lambda line: UNITS % 2 * line + UNITS // 2, 2 * UNITS, UNITS >= 0, (3, 6, 12, 32, 32)),
    "every other lane": (lambda line: UNITS, UNITS, UNITS % 2 == 0, (1, 2, 4, 4, 16)),
    "five lanes": (lambda line: UNITS, UNITS, UNITS < 5, (1, 1, 1, 2, 3)),
    "four of 16 lanes": (lambda line: rows(16, 2 * line), UNITS, UNITS % 16 < 4, (2, 2, 2, 2, 4)),
}
"""From units of global memory to those of shared memory, by active lanes: wavefronts of copies of 4, 8 and 16 bytes,
and the wavefronts and sectors of 16 bytes past L1, that an H200 had with Nsight Compute."""


@pytest.mark.parametrize("name", COPIES)
def test_asynchronous_copies_have_the_wavefronts_of_the_gpu(name: str) -> None:
    source, to, on, expected = COPIES[name]
    mask = None if on.all() else on[None]
    lanes = Lanes(BatchLayout((1, 1, 1), (32, 1, 1), 0, 1), mask)
    found = []
    for nbytes, bypass in ((4, False), (8, False), (16, False), (16, True)):
        made = Requests(lanes, nbytes * to[None], 0, nbytes)
        at = nbytes * source(128 // nbytes)[None]
        wavefronts, least = made.copied_wavefronts(at, bypass)
        assert least == -(-on.sum() * nbytes // 128)
        found.append(wavefronts)
    sectors, fewest = Requests(lanes, at, 0, 16).bypassed_sectors(16 * to[None])
    assert fewest == -(-on.sum() // 2)
    assert (*found, sectors) == expected


def test_one_word_for_all_is_a_broadcast() -> None:
    found = count("same_word", Y)
    assert (found["shared_load_requests"], found["shared_wavefronts"]) == (1, 2)  # a load and one lane's store
    assert found["shared_load_threads"] == 32 and found["shared_store_threads"] == 1


@pytest.mark.parametrize("s, passes", [(1, 2), (2, 4), (4, 8), (8, 8), (16, 8), (32, 4), (64, 2), (128, 1)])
def test_a_tree_by_strided_threads_conflicts(s: int, passes: int) -> None:
    """Of 256 threads, the warps that take part conflict alike, in both loads and in the store."""
    here = at("strided", execute("tree_strided", Y, s, block=256))
    warps = max(1, 128 // s // 32)
    assert here["shared_load_requests"] == 2 * warps and here["shared_store_requests"] == warps
    assert here["shared_wavefronts"] == 3 * warps * passes and here["shared_ideal_wavefronts"] == 3 * warps


@pytest.mark.parametrize("s, active", [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)])
def test_a_tree_by_interleaved_threads_idles(s: int, active: int) -> None:
    here = at("interleaved", execute("tree_interleaved", Y, s, block=256))
    assert here["shared_store_requests"] == 8 and here["shared_store_threads"] == 8 * active
    assert here["divergent_branches"] == 8


@pytest.mark.parametrize("spread", [1, 2, 5, 32])
def test_each_constant_word_is_fetched_by_itself(spread: int) -> None:
    found = count("constants", Y, spread, block=64)
    assert (found["constant_requests"], found["constant_words"], found["constant_threads"]) == (2, 2 * spread, 64)


@pytest.mark.parametrize("limit, divergent, warps", [(0, 0, 0), (7, 1, 1), (32, 0, 1), (40, 1, 2), (64, 0, 2)])
def test_divergent_branches_and_the_lanes_of_instructions(limit: int, divergent: int, warps: int) -> None:
    done = execute("divergent", Y, limit, block=64)
    assert at("branch", done).get("divergent_branches", 0) == divergent
    inside = next((c.counts for c in done.lines if c.line == _line("loop")), {})
    assert inside.get("global_load_requests", 0) == 100 * warps
    assert inside.get("global_load_threads", 0) == 100 * limit
    if warps:
        assert inside["thread_instructions"] * warps == inside["warp_instructions"] * limit


def _line(mark: str) -> int:
    return next(n for n, t in enumerate(SOURCE.splitlines(), 1) if t.endswith(f"//! {mark}"))


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_a_jump_table_diverges(ways: int) -> None:
    found = count("chosen", np.zeros(64, np.int32), ways, block=64)
    assert found.get("divergent_branches", 0) == (2 if ways > 1 else 0)


BINS = {
    "all different": (list(range(32)), 0),
    "all the same": ([5] * 32, 31),
    "pairs": ([k // 2 for k in range(32)], 16),
}


@pytest.mark.parametrize("kernel", ["histogram", "shared_histogram"])
@pytest.mark.parametrize("name", BINS)
def test_atomics_and_their_collisions(kernel: str, name: str) -> None:
    bins, collisions = BINS[name]
    found = count(kernel, np.array(bins, np.int32), np.zeros(32, np.int32))
    assert (found["atomics"], found.get("atomic_collisions", 0)) == (32, collisions)


def test_instructions_are_counted_by_warp_and_by_thread() -> None:
    one = count("floats", X, Y, 1, 0, block=20)
    two = count("floats", X, Y, 1, 0, block=52, grid=3)
    assert one["thread_instructions"] == 20 * one["warp_instructions"]
    assert two["warp_instructions"] == 6 * one["warp_instructions"]
    assert two["thread_instructions"] == 3 * 52 * one["warp_instructions"]
    assert loads(one) == (1, 3, 3) and loads(two) == (6, 3 * 4 + 3 * 3, 3 * 4 + 3 * 3)


def test_local_memory_lies_side_by_side() -> None:
    done = execute("local_array", Y, np.zeros(32, np.int32))
    load = at("local load", done)
    assert (load["local_requests"], load["local_sectors"], load["local_bytes"]) == (1, 4, 128)
    assert at("local store", done)["local_bytes"] == 32 * 8 * 4 and at("local store", done)["local_sectors"] == 32
    spread = at("local load", execute("local_array", Y, np.arange(32, dtype=np.int32)))
    assert spread["local_sectors"] == 32  # eight words of one group of lanes lie in eight sectors


@pytest.mark.parametrize(("bytes", "sectors"), [(1, 4), (2, 4), (4, 4), (5, 8), (8, 8)])
def test_four_bytes_of_local_memory_are_a_word(bytes: int, sectors: int) -> None:
    """The words of 32 lanes at one offset are 128 bytes."""
    load = at("byte load", execute("local_bytes", Y, np.arange(32, dtype=np.int32) % bytes))
    assert (load["local_requests"], load["local_sectors"], load["local_bytes"]) == (1, sectors, 32)


def test_a_sample_of_batches_stands_for_all() -> None:
    n = 1 << 19
    full, part = (
        count("floats", np.ones(n, "f4"), np.ones(n, "f4"), 1, 0, grid=n // 256, block=256, counters=extent)
        for extent in ("full", "sample")
    )
    assert {k: v for k, v in part.items() if k != "block_loads_inner"} == {
        k: v for k, v in full.items() if k != "block_loads_inner"
    }


# Any addresses and any lanes


def _by_hand(values: Iterable[int], nbytes: int) -> tuple[int, int]:
    """Sectors and ideal sectors of one warp's addresses."""
    each = list(values)
    sectors = len({a // 32 for a in each})
    return sectors, min(sectors, -(-len(each) * nbytes // 32))


def _passes_by_hand(values: list[int], nbytes: int) -> int:
    banks = Counter(word % 32 for word in {a // 4 + k for a in values for k in range(max(1, nbytes // 4))})
    return max(banks.values())


def _served_together(lanes: dict[int, int], nbytes: int) -> bool:
    """Whether of the lanes of two parts of a warp no lanes i and i ^ 1, or i and i ^ 2, have different addresses, and
    no bank has two words."""
    alike = any(all(lanes.get(lane ^ by, a) == a for lane, a in lanes.items()) for by in (1, 2))
    return alike and bool(lanes) and _passes_by_hand(list(lanes.values()), nbytes) == 1


def _wavefronts_by_hand(addresses: list[int], mask: list[bool], nbytes: int, loads: bool) -> tuple[int, int]:
    """Wavefronts of one warp, part by part, and the fewest for as many lanes."""
    lanes, passes = {lane: a for lane, a in enumerate(addresses) if mask[lane]}, 0
    width = 32 // max(1, nbytes // 4)
    for first in range(0, 32, 2 * width):
        each = [{lane: a for lane, a in lanes.items() if lane // width * width == first + n * width} for n in (0, 1)]
        together = loads and width < 32 and _served_together(each[0] | each[1], nbytes)
        parts = [each[0] | each[1]] if together else each
        passes += sum(_passes_by_hand(list(part.values()), nbytes) for part in parts if part)
    if loads and width < 32 and len(set(lanes.values())) == 1:
        passes = -(-len(lanes) * nbytes // 256)
    return passes, min(passes, -(-len(lanes) * nbytes // 128))


def _warps(addresses: Array, mask: Array) -> list[tuple[list[int], list[bool]]]:
    """Addresses and running lanes of each warp with any."""
    wide = np.broadcast_to(addresses, mask.shape)
    found = zip(wide.reshape(-1, 32).tolist(), mask.reshape(-1, 32).tolist(), strict=True)
    return [(row, running) for row, running in found if any(running)]


def _rows(addresses: Array, mask: Array) -> list[list[int]]:
    """Addresses of running lanes, warp by warp."""
    pairs = zip(addresses.reshape(-1, 32).tolist(), mask.reshape(-1, 32).tolist(), strict=True)
    rows = [[a for a, m in zip(*row, strict=True) if m] for row in pairs]
    return [r for r in rows if r]


SHAPES = st.sampled_from(["scattered", "near", "stride", "alike", "by block", "one"])


@st.composite
def accesses(draw: st.DrawFn) -> tuple[BatchLayout, Array, Array, int, int]:
    """Blocks, addresses that broadcast to them, running lanes (at least one), offset, bytes per lane."""
    blocks, width = draw(st.integers(1, 4)), 32 * draw(st.integers(1, 3))
    nbytes = draw(st.sampled_from([1, 2, 4, 8, 16]))
    kind = draw(SHAPES)
    seed = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    if kind == "stride":
        step = draw(st.integers(-40, 40))
        units = 8192 + step * np.arange(blocks * width).reshape(blocks, width)
    else:
        shape = {"alike": (1, width), "by block": (blocks, 1), "one": (1, 1)}.get(kind, (blocks, width))
        units = seed.integers(0, 40 if kind == "near" else 5000, shape)
        if draw(st.booleans()):
            units = np.sort(units, axis=1)
    mask = {
        "all": np.ones((blocks, width), np.bool_),
        "prefix": np.broadcast_to(np.arange(width) < draw(st.integers(1, width)), (blocks, width)).copy(),
        "any": seed.random((blocks, width)) < draw(st.floats(0.02, 1)),
    }[draw(st.sampled_from(["all", "prefix", "any"]))]
    mask[-1, draw(st.integers(0, width - 1))] = True
    return (
        BatchLayout((9, 1, 1), (width, 1, 1), 2, blocks),
        units * nbytes,
        mask,
        nbytes * draw(st.integers(0, 9)),
        nbytes,
    )


def _views(layout: BatchLayout, address: Array, mask: Array) -> Iterable[tuple[Lanes, Array]]:
    """The same accesses as lanes of the batch, and packed."""
    junk = np.where(mask, address, 1 << 40) if address.shape == mask.shape else address
    yield Lanes(layout, None if mask.all() else mask), junk
    index = np.flatnonzero(mask)
    yield Lanes(layout, index=index), np.broadcast_to(address, mask.shape).reshape(1, -1)[:, index]


@settings(max_examples=400, deadline=None)
@given(accesses())
def test_requests_agree_with_counting_lane_by_lane(case: tuple[BatchLayout, Array, Array, int, int]) -> None:
    layout, address, mask, offset, nbytes = case
    rows = _rows(np.broadcast_to(address + offset, mask.shape), mask)
    for lanes, seen in _views(layout, address, mask):
        found = Requests(lanes, seen, offset, nbytes)
        assert (found.warps, found.threads) == (len(rows), int(mask.sum()))
        by_hand = [_by_hand(r, nbytes) for r in rows]
        assert (found.sectors(), found.ideal_sectors()) == tuple(map(sum, zip(*by_hand, strict=True)))
        assert found.distinct() == sum(len(set(r)) for r in rows)
        assert found.words() == sum(len({a // 4 for a in r}) for r in rows)
        for loads in (True, False):
            by_hand = [_wavefronts_by_hand(r, m, nbytes, loads) for r, m in _warps(address + offset, mask)]
            assert found.wavefronts(loads) == tuple(map(sum, zip(*by_hand, strict=True)))
        assert by_block(lanes).tolist() == mask.sum(axis=1).tolist()
        assert split_warps(lanes, seen) == sum(len(set(r)) > 1 for r in rows)


@settings(max_examples=25, deadline=None)
@given(arrays.arrays(np.int32, 200, elements=st.integers(-40, 600)), st.sampled_from([32, 96, 200]))
def test_kernels_agree_with_counting_lane_by_lane(where: Array, block: int) -> None:
    n = len(where)
    grid = -(-n // block)
    width = -(-block // 32) * 32
    padded = np.full((grid, width), -1)
    padded[:, :block].flat[:n] = where if width == block else -1
    if width != block:
        for k in range(n):
            padded[k // block, k % block] = where[k]
    rows = _rows(4 * padded, padded >= 0)
    done = execute("scattered", X, where, np.zeros(n, "f4"), n, grid=grid, block=block)
    shared = execute("scattered_shared", where, np.zeros(n, "f4"), n, grid=grid, block=block, shared=4 * 601)
    if not rows:
        assert all("shared_wavefronts" not in c.counts for c in shared.lines)
        return
    here = at("scattered", done)
    sectors, ideal = (sum(v) for v in zip(*(_by_hand(r, 4) for r in rows), strict=True))
    assert loads(here) == (len(rows), sectors, ideal)
    passes = sum(_passes_by_hand(r, 4) for r in rows)
    assert at("scattered shared", shared)["shared_wavefronts"] == passes


# Loads of single blocks


def test_loads_of_the_first_the_middle_and_the_last_block() -> None:
    n = 1000
    where = np.arange(n, dtype=np.int32)
    where[256:260] = -1  # block 2 of 8 has four loads fewer, the last has 104 threads
    where[4 * 128] = -1
    found = count("scattered", X, where, np.zeros(n, "f4"), n, grid=8, block=128)
    got = [found[f"block_loads_{k}"] for k in ("first", "inner", "last")]
    assert got == [256, 255, 2 * 104]


# The rules of older GPUs


def _half(addresses: Iterable[int]) -> Array:
    """Addresses of one half of a warp; the other rests."""
    row = np.zeros((1, 32), np.int64)
    row[0, :16] = list(addresses)
    return row


HALF_MASK = np.arange(32)[None] < 16
IN_ORDER = [128 + 4 * k for k in range(16)]
SWAPPED = [IN_ORDER[k] for k in (0, 1, 2, 3, 5, 4, *range(6, 16))]
OLDER = {
    "in order": (IN_ORDER, 4, (1, 64), (1, 64)),
    "threads 4 and 5 swapped": (SWAPPED, 4, (16, 512), (1, 64)),
    "start at 132": ([a + 4 for a in IN_ORDER], 4, (16, 512), (1, 128)),
    "across two segments": ([a + 100 for a in IN_ORDER], 4, (16, 512), (2, 32 + 64)),
    "stride 2": ([128 + 8 * k for k in range(16)], 4, (16, 512), (1, 128)),
    "stride 32": ([128 * k for k in range(16)], 4, (16, 512), (16, 512)),
    "one word for all": ([132] * 16, 4, (16, 512), (1, 32)),
    "64-bit words in order": ([128 + 8 * k for k in range(16)], 8, (1, 128), (1, 128)),
    "64-bit words off by one": ([136 + 8 * k for k in range(16)], 8, (16, 512), (2, 128 + 32)),
    "128-bit words in order": ([256 + 16 * k for k in range(16)], 16, (2, 256), (2, 256)),
    "128-bit words off by one": ([272 + 16 * k for k in range(16)], 16, (16, 512), (3, 128 + 128 + 32)),
    "128-bit words off by half a segment": ([320 + 16 * k for k in range(16)], 16, (16, 512), (3, 64 + 128 + 64)),
    "128-bit words 32 apart": ([256 + 32 * k for k in range(16)], 16, (16, 512), (4, 512)),
    "64-bit words 16 apart": ([128 + 16 * k for k in range(16)], 8, (16, 512), (2, 256)),
    "64-bit words at the end of a segment": ([240 + 8 * (k % 2) for k in range(16)], 8, (16, 512), (1, 32)),
    "bytes in order": ([128 + k for k in range(16)], 1, (16, 512), (1, 32)),
    "16-bit words in order": ([128 + 2 * k for k in range(16)], 2, (16, 512), (1, 32)),
    "16-bit words across": ([144 + 2 * k for k in range(16)], 2, (16, 512), (1, 64)),
}


@pytest.mark.parametrize("name", OLDER)
def test_transactions_of_half_a_warp(name: str) -> None:
    addresses, nbytes, first, second = OLDER[name]
    rows = _half(addresses)
    assert transactions(rows, HALF_MASK, nbytes, "1.0") == first
    assert transactions(rows, HALF_MASK, nbytes, "1.2") == second


def test_a_word_across_two_halves_needs_both() -> None:
    assert transactions(_half([30] * 16), HALF_MASK, 4, "1.2") == (1, 64)


def test_resting_lanes_leave_gaps_in_a_transaction() -> None:
    mask = HALF_MASK.copy()
    mask[0, [0, 3, 7]] = False
    assert transactions(_half(IN_ORDER), mask, 4, "1.0") == (1, 64)
    assert transactions(_half(SWAPPED), mask, 4, "1.0") == (13, 13 * 32)
    assert transactions(_half(IN_ORDER), np.arange(32)[None] < 4, 4, "1.2") == (1, 32)


@pytest.mark.parametrize("rule, expected", [("1.0", (32, 1024)), ("1.2", (3, 128 + 64 + 32))])
def test_a_kernel_is_counted_by_an_older_rule(rule: Rule, expected: tuple[int, int]) -> None:
    found = count("floats", X, Y, 1, 1, coalescing=rule)
    assert (found["global_load_transactions"], found["global_load_transaction_bytes"]) == expected
    assert found["global_store_transactions"] == 2
    assert loads(found) == (1, 5, 4)
    assert "global_load_transactions" not in count("floats", X, Y, 1, 1)
