"""What is fetched, and what made an element: counts add up to the counters, and footprints are those of the filter."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.ptx.program import Instruction, Place, Reg
from gpu_ops.devices.sim.traffic.uses import ALL, Operands, uses
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.content import footprint_dict, footprint_of, traffic_dict, traffic_of
from gpu_ops.explaining.traffic.footprints import footprint
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array

SHAPE, COUNT = (24, 40), 300
PADS = {"reflect": "symmetric", "nearest": "edge", "wrap": "wrap"}
SHARPEN = (1.0, -1.0, 2.0, -1.0, 5.0, -1.0, 3.0, -1.0, 4.0)
"""A matrix without a 0."""
BORDERS = ("zero", "reflect", "nearest", "wrap")
FEW = [("mean2d", "naive", "uint8"), ("mean2d", "shared", "float32"), ("box", "separable", "float32")]
SPECIAL = [
    *[(("mean1d", "vector"), "float32"), (("mean2d", "rows"), "uint8"), (("mean2d", "packed"), "uint8")],
    *[(("box", "sliding"), "uint8"), (("box", "table"), "float32")],
    *[(("conv3x3", "padded"), "uint8"), (("conv3x3", "warp_rows"), "uint8")],
]
"""Several results of a thread, bytes in one register, running sums, prefix sums, copies, and shuffles."""


@cache
def recorded(filter: str, id: str, dtype: str, border: str = "reflect", code: bool = False) -> TrafficRun:
    found = find_filter(filter)
    shape = (COUNT,) if filter.endswith("1d") else SHAPE
    values = np.random.default_rng(1).integers(1, 255, shape).astype(dtype)
    params = params_of(filter, border) | ({"window": 3} if id == "packed" and filter == "mean2d" else {})
    return record_traffic(found, found.variant(id), from_array(values), params, {}, code=code)


def params_of(filter: str, border: str) -> dict[str, Any]:
    own: dict[str, Any] = {"box": {"radius": 2}, "conv3x3": {"matrix": SHARPEN}}.get(filter, {"window": 5})
    return {**own, "border": border}


def window_of(run: TrafficRun, filter: str, border: str, index: int) -> tuple[int, ...]:
    """The elements in the window of an element, by NumPy's own borders."""
    shape, reach = run.x.shape, 1 if filter == "conv3x3" or run.variant == "packed" else 2
    places = np.arange(run.x.size).reshape(shape)
    padded = np.pad(places, reach, mode=PADS[border]) if border in PADS else np.pad(places, reach, constant_values=-1)
    at = np.unravel_index(index, shape)
    inside = padded[tuple(slice(int(i), int(i) + 2 * reach + 1) for i in at)]
    return tuple(sorted({int(place) for place in inside.reshape(-1)} - {-1}))


def check_footprints(filter: str, id: str, dtype: str, border: str, places: tuple[int, ...]) -> None:
    run = recorded(filter, id, dtype, border)
    (output,) = run.plan.outputs
    for place in (p % run.x.size for p in places):
        found = footprint(run, output, place)
        assert found.elements == window_of(run, filter, border, place), (filter, id, border, place)
        assert {read.element for read in found.reads} == set(found.elements)


@pytest.mark.parametrize("filter, id, dtype", FEW)
def test_fetches_add_up_to_the_counters_of_each_line(filter: str, id: str, dtype: str) -> None:
    run = recorded(filter, id, dtype, code=id == "naive")
    counted, wanted = Counter[Any](), Counter[Any]()
    for maps in run.maps:
        for (place, _), counts in maps.sectors.items():
            counted[place.file, place.line, place.inlined_at] += int(counts.sum())
    shared = 0
    for line in (line for execution in run.executions for line in execution.lines):
        wanted[line.file, line.line, line.inlined_at] += line.counts.get("global_load_sectors", 0)
        shared += line.counts.get("shared_load_threads", 0)
    assert counted == +wanted and sum(counted.values()) > 0
    traffic = traffic_of(json.loads(json.dumps(traffic_dict(run.traffic()))))
    assert traffic.total("sectors") + traffic.elsewhere.get("sectors", 0) == sum(wanted.values())
    assert traffic.total("shared") + traffic.elsewhere["shared"] == shared
    painted = sum(int(traffic.painted("requests", place).sum()) for place in {line.places[0] for line in traffic.lines})
    assert painted == traffic.painted("requests").sum() == traffic.total("requests")


def test_a_tile_is_read_once_for_each_window_that_contains_the_pixel() -> None:
    run = recorded("mean2d", "shared", "float32")
    wanted = np.zeros(run.x.size, np.int64)
    padded = np.pad(np.arange(run.x.size).reshape(SHAPE), 2, mode="symmetric")
    for y in range(5):
        for x in range(5):
            np.add.at(wanted, padded[y : y + SHAPE[0], x : x + SHAPE[1]].reshape(-1), 1)
    np.testing.assert_array_equal(run.traffic().painted("shared"), wanted.reshape(SHAPE))
    naive = recorded("mean2d", "naive", "uint8", code=True).traffic()
    assert run.traffic().painted("requests").max() < 25 <= naive.painted("requests").max()


@pytest.mark.parametrize("filter, id, dtype", [*FEW[1:], ("box", "sliding", "float32")])
def test_a_footprint_is_the_window_of_the_filter(filter: str, id: str, dtype: str) -> None:
    check_footprints(filter, id, dtype, "reflect", (0, 7 * 40 + 15, -1))


@pytest.mark.thorough
@pytest.mark.parametrize("border, id, dtype", [(BORDERS[n % 4], *one) for n, one in enumerate(SPECIAL)])
def test_a_footprint_is_the_window_at_every_border(border: str, id: tuple[str, str], dtype: str) -> None:
    check_footprints(*id, dtype, border, (0, 38, 5 * 40 + 33, -1))


def test_who_wrote_an_element_and_who_read_for_it() -> None:
    run = recorded("mean2d", "naive", "uint8", code=True)
    found = footprint_of(json.loads(json.dumps(footprint_dict(footprint(run, "image", 9 * 40 + 20)))))
    launch = run.launches[0]
    block, thread = found.block, found.thread
    rows = -(-SHAPE[0] // launch.grid[1])  # of a block, whose threads write several
    assert block[0] * launch.block[0] + thread[0] == 20 and (9 - thread[1]) % launch.block[1] == 0
    assert 0 <= 9 - block[1] * rows < rows
    assert found.warp == (thread[1] * launch.block[0] + thread[0]) // 32
    text = launch.kernel.compiled.source
    assert found.file == text and len({(r.file, r.line) for r in found.reads}) == 1
    assert all(read.own and read.thread == thread and read.count == 1 for read in found.reads)
    assert found.own_reads >= 25 and found.shared_reads == 0
    (sectors,) = found.sectors.values()
    assert sectors == tuple(sorted({element // 32 for element in found.elements}))
    tile = footprint(recorded("mean2d", "shared", "float32"), "image", 9 * 40 + 20)
    assert any(not read.own for read in tile.reads) and tile.shared_reads >= 25


ROW = Place("k.cu", 1)


@pytest.mark.parametrize(
    "op, constants, need, wanted",
    [
        ("prmt.b32", {2: 0x5410}, 0xFF0000, {0: 0, 1: 0xFF}),
        ("prmt.b32", {2: 0x7632}, 0xFF, {0: 0xFF0000, 1: 0}),
        ("shf.r.wrap.b32", {2: 8}, 0xFF000000, {0: 0, 1: 0xFF}),
        ("shf.l.clamp.b32", {2: 8}, 0xFF, {0: 0xFF000000, 1: 0}),
        ("and.b32", {1: 0xFF00FF}, 0xFFFF, {0: 0xFF}),
        ("shr.u32", {1: 16}, 0xFF, {0: 0xFF0000}),
        ("shl.b32", {1: 8}, 0xFF00, {0: 0xFF}),
        ("bfe.u32", {1: 8, 2: 8}, 0xFFFF, {0: 0xFF00}),
        ("bfi.b32", {2: 8, 3: 8}, 0xFFFF, {0: 0xFF, 1: 0xFF}),
        ("dp4a.u32.u32", {1: 0x00010001}, 1, {0: 0x00FF00FF, 2: 1}),
        ("cvt.u32.u8", {}, 0xFFFF, {0: 0xFF}),
        ("add.s32", {0: 0x00010002, 1: 0x00020003}, 0xFF0000, {0: 0xFF0000, 1: 0xFF0000}),
        ("add.s32", {0: 0x0001FFFF, 1: 0x00020003}, 0xFF0000, {0: 0xFFFFFF, 1: 0xFFFFFF}),
        ("fma.rn.f32", {1: 0}, 1, {0: 0, 2: ALL}),
        ("fma.rn.f32", {1: 7}, 1, {0: ALL, 2: ALL}),
    ],
)
def test_the_bits_of_operands_that_a_result_needs(op: str, constants: Any, need: int, wanted: Any) -> None:
    count = 2 + (op[:3] in ("prm", "shf", "fma", "dp4", "bfe")) + 2 * (op[:3] == "bfi")
    line = Instruction(tuple(op.split(".")), (Reg("r"),) * (count + 1), ROW)
    operands = Operands(line.args[1:], tuple(n not in constants for n in range(count)), constants.get)
    found = {part.place: part.needs(need, 0) for part in uses(line, operands)}
    assert {place: found[place] for place in wanted} == wanted


def test_what_cannot_be_followed_is_said() -> None:
    run = recorded("mean2d", "shared", "float32")
    with pytest.raises(ParamError, match="choose one from 0 to 959, not 960"):
        footprint(run, "image", 960)
    texture = recorded("conv3x3", "texture", "uint8", "nearest")
    with pytest.raises(ParamError, match="uses tex, whose values are not followed"):
        footprint(texture, "image", 5)
    assert texture.traffic().textures > 0
