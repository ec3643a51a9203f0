"""What is fetched, and what made an element: counts add up to the counters, and footprints are those of the filter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset
from recording import Recording

from gpu_ops.devices.sim.traffic.forms import Form, Values, added
from gpu_ops.devices.sim.traffic.rules import result
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.content import footprint_dict, footprint_of, traffic_dict, traffic_of
from gpu_ops.explaining.traffic.footprints import footprint
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.params import Param
from gpu_ops.running.contract import Case, takes
from gpu_ops.types import Filter, Variant

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
    *[(("box", "ring"), "uint8"), (("mean2d", "ring"), "uint8"), (("mean1d", "scan"), "float32")],
]
"""Several results of a thread, bytes in one register, running sums, prefix sums, copies, and shuffles."""


Shape = tuple[int, ...]


@cache
def recorded(
    filter: str, id: str, dtype: str, border: str = "reflect", code: bool = False, shape: Shape = ()
) -> TrafficRun:
    found = find_filter(filter)
    shape = shape or ((COUNT,) if filter.endswith("1d") else SHAPE)
    values = np.random.default_rng(1).integers(1, 255, shape).astype(dtype)
    params = params_of(filter, border) | ({"window": 3} if id == "packed" and filter == "mean2d" else {})
    return record_traffic(found, found.variant(id), from_array(values), params, {}, code=code)


def params_of(filter: str, border: str) -> dict[str, Any]:
    own: dict[str, Any] = {"box": {"radius": 2}, "conv3x3": {"matrix": SHARPEN}}.get(filter, {"window": 5})
    return {**own, "border": border}


def window_of(run: TrafficRun, filter: str, border: str, index: int) -> tuple[int, ...]:
    """The elements in the window of an element, by NumPy's own borders."""
    shape, reach = run.x.shape, 1 if filter == "conv3x3" or run.variant == "packed" else 2
    by = [reach, reach, 0] if len(shape) == 3 else [reach] * len(shape)
    places, pads = np.arange(run.x.size).reshape(shape), [(side, side) for side in by]
    padded = np.pad(places, pads, mode=PADS[border]) if border in PADS else np.pad(places, pads, constant_values=-1)
    at = np.unravel_index(index, shape)
    inside = padded[tuple(slice(int(i), int(i) + 2 * side + 1) for i, side in zip(at, by, strict=True))]
    return tuple(sorted({int(place) for place in inside.reshape(-1)} - {-1}))


def check_footprints(filter: str, id: str, dtype: str, border: str, places: tuple[int, ...], shape: Shape = ()) -> None:
    run = recorded(filter, id, dtype, border, shape=shape)
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


SUMS = [("box", "sliding", "float32"), ("mean2d", "ring", "uint8"), ("mean1d", "scan", "float32")]


@pytest.mark.parametrize("filter, id, dtype", [*FEW[1:], *SUMS])
def test_a_footprint_is_the_window_of_the_filter(filter: str, id: str, dtype: str) -> None:
    check_footprints(filter, id, dtype, "reflect", (0, 7 * 40 + 15, -1))


@pytest.mark.thorough
@pytest.mark.parametrize("border, id, dtype", [(BORDERS[n % 4], *one) for n, one in enumerate(SPECIAL)])
def test_a_footprint_is_the_window_at_every_border(border: str, id: tuple[str, str], dtype: str) -> None:
    check_footprints(*id, dtype, border, (0, 38, 5 * 40 + 33, -1))


ALL = [(f, v) for f in map(find_filter, ("mean1d", "mean2d", "box", "conv3x3")) for v in f.variants if v.kernels]


EACH = [(*one, border) for one in ALL for border in BORDERS]


@pytest.mark.parametrize(
    "filter, variant, border", daily_subset(EACH, 0, lambda one: f"{one[0].id}-{one[1].id}-{one[2]}", more=4)
)
def test_a_footprint_is_the_window_for_every_variant_and_border(filter: Filter, variant: Variant, border: str) -> None:
    """With the first number of channels and type of samples that the variant takes, in turns by variant and border."""
    params, knobs = params_of(filter.id, border), {knob.name: knob.default for knob in variant.knobs}
    params |= {"window": 3} if variant.id == "packed" and filter.id == "mean2d" else {}
    shapes: tuple[Shape, ...] = ((150,),) if filter.accepts == "signal" else ((9, 37, 4), (9, 37), (9, 37, 3))
    kinds = list(product(shapes, ("uint8", "float32", "uint16")))
    first = (5 * [v for _, v in ALL].index(variant) + 2 * BORDERS.index(border)) % len(kinds)
    cases = [Case(*kind, "random", own_values(filter.params, params), knobs) for kind in kinds[first:] + kinds[:first]]
    limits = Recording("sm_75").limits
    case = next((case for case in cases if takes(filter, variant, case, limits)), None)
    if case is None:
        pytest.skip("the variant does not have this border")
    check_footprints(filter.id, variant.id, case.dtype, border, (2, 4 * 37 + 18, -1), case.shape)


def own_values(params: Sequence[Param], given: dict[str, Any]) -> dict[str, Any]:
    return {p.name: given.get(p.name, p.default) for p in params}


@pytest.mark.thorough
def test_every_channel_of_four_in_two_words_has_its_own_footprint() -> None:
    """Two channels share a word whose sum begins with a 0 that no memory gave."""
    check_footprints("box", "ring", "uint8", "reflect", (1, 2, 3), (9, 37, 4))


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
    assert tile.shared_reads == 25 * tile.results and tile.results > 1


def test_the_inputs_that_change_a_result_are_its_footprint() -> None:
    """Each input in turn is changed, and the variant runs again: only what is in the footprint has an effect."""
    run, place = recorded("mean1d", "scan", "uint8"), 150
    found = footprint(run, "signal", place)
    filter, values = find_filter("mean1d"), np.array(run.x)
    assert found.passed and not set(found.passed) & set(found.elements)
    effective = set()
    for element in range(place - 10, place + 11):
        changed = values.copy()
        changed[element] = 255 - changed[element] if abs(255 - 2 * int(changed[element])) > 9 else 0
        again = record_traffic(filter, filter.variant("scan"), from_array(changed), params_of("mean1d", "reflect"), {})
        if again.plan.outputs["signal"][place] != run.plan.outputs["signal"][place]:
            effective.add(element)
    assert effective == set(found.elements)


@pytest.mark.parametrize(
    "op, given, wanted",
    [
        ("prmt.b32", ("x", "y", 0x5410), {"x0": 1, "x1": 1 << 8, "y0": 1 << 16, "y1": 1 << 24}),
        ("prmt.b32", ("x", 0, 0x4341), {"x1": 1, "x3": 1 << 16}),
        ("shf.r.wrap.b32", ("x", "y", 24), {"x3": 1, "y0": 1 << 8, "y1": 1 << 16, "y2": 1 << 24}),
        ("shf.l.clamp.b32", ("x", "y", 8), {"x3": 1, "y0": 1 << 8, "y1": 1 << 16, "y2": 1 << 24}),
        ("and.b32", ("x", 0xFF00FF), {"x0": 1, "x2": 1 << 16}),
        ("shr.u32", ("x", 16), {"x2": 1, "x3": 1 << 8}),
        ("shl.b32", ("x", 24), {"x0": 1 << 24}),
        ("bfe.u32", ("x", 8, 8), {"x1": 1}),
        ("bfi.b32", ("x", "y", 8, 8), {"y0": 1, "x0": 1 << 8, "y2": 1 << 16, "y3": 1 << 24}),
        ("dp4a.u32.u32", ("x", 0x00010002, 5), {"x0": 2, "x2": 1}),
        (
            "dp2a.lo.u32.s32",
            ("x", 0xFF00, "y"),
            {"x2": -1, "x3": -256, "y0": 1, "y1": 256, "y2": 1 << 16, "y3": 1 << 24},
        ),
        ("cvt.u32.u8", ("x",), {"x0": 1}),
        ("mul.wide.u32", ("x", 3), {f"x{n}": 3 << 8 * n for n in range(4)}),
    ],
)
def test_an_instruction_that_moves_fields_is_a_sum_of_bytes(op: str, given: Any, wanted: Any) -> None:
    values = Values()
    names: dict[int, str] = {}
    words: dict[str, Form] = {}
    for word in "xy":
        variables = [values.byte((word, n), -1) for n in range(4)]
        names |= {variable: f"{word}{n}" for n, variable in enumerate(variables)}
        words[word] = Form({variable: 256**n for n, variable in enumerate(variables)})
    found = result(values, tuple(op.split(".")), [words[g] if isinstance(g, str) else g for g in given])
    assert {names[v]: times for v, times in found.terms.items()} == wanted


def test_a_field_is_separate_only_where_no_carry_reaches_it() -> None:
    values = Values()
    words = [Form({values.byte((word, n), -1): 256 ** (2 * n) for n in range(2)}) for word in range(300)]
    few, many = added([(word, 1) for word in words[:257]], 32), added([(word, 1) for word in words], 32)
    assert set(values.field(few, 16, 32).terms) == {values.byte((n, 1), -1) for n in range(257)}
    assert {values.byte((n, 0), -1) for n in range(300)} <= values.behind([values.field(many, 16, 32)])
    left = added([(few, 1), (words[0], -1)], 32)
    assert values.byte((0, 0), -1) not in values.behind([values.field(left, 16, 32)])


@pytest.mark.parametrize("first, parts", [(("max", 0), 2), (("max", -1 % 2**32), 4), (("min", 300), 4)])
def test_a_value_clamped_to_two_bytes_has_no_others(first: tuple[str, int], parts: int) -> None:
    """Else a word of two such values would mix them. A signed value that can be negative has all bytes."""
    values = Values()
    word = Form({values.byte("x", n): 256**n for n in range(4)})
    kind, constant = first
    second = ("min", 65535) if kind == "max" else ("max", 0)
    once = result(values, (kind, "s32"), [word, constant])
    clamped = result(values, (second[0], "s32"), [second[1], once])
    assert len(clamped.terms) == (2 if kind == "min" else parts) and len(once.terms) == 4
    assert len(result(values, ("min", "u32"), [word, 255]).terms) == 1
    assert len(result(values, ("max", "u32"), [word, 255]).terms) == 4


def test_what_cannot_be_followed_is_said() -> None:
    run = recorded("mean2d", "shared", "float32")
    with pytest.raises(ParamError, match="choose one from 0 to 959, not 960"):
        footprint(run, "image", 960)
    texture = recorded("conv3x3", "texture", "float32", "nearest")
    assert texture.traffic().textures > 0
    image = next(arg for arg in texture.launches[0].args if isinstance(arg, SimTexture))
    image.sampling = replace(image.sampling, linear=True)
    try:
        with pytest.raises(
            ParamError, match="uses textures that interpolate or convert, whose values are not followed"
        ):
            footprint(texture, "image", 5)
    finally:
        image.sampling = replace(image.sampling, linear=False)
    check_footprints("conv3x3", "texture", "float32", "nearest", (5,))
    check_footprints("conv3x3", "texture", "uint8", "zero", (2, -1), (5, 9, 4))  # other channels are at the edges


@pytest.mark.parametrize("shape, passes", [((12, 64), 1), ((12, 64), 2), ((6, 32, 4), 1)])
def test_requests_of_a_texture_belong_to_the_elements_of_the_input(shape: Shape, passes: int) -> None:
    """Inside, nine fetches by warps ask for each element; a second pass asks for the result of the first one."""
    filter = find_filter("conv3x3")
    values = from_array(np.random.default_rng(1).integers(1, 255, shape).astype(np.uint8))
    params = params_of("conv3x3", "zero" if len(shape) > 2 else "nearest") | {"passes": passes}
    run = record_traffic(filter, filter.variant("texture"), values, params, {}, code=False)
    traffic = traffic_of(traffic_dict(run.traffic()))
    asked = traffic.painted("requests")
    assert asked.shape == shape and (asked[1:-1, 1:-1] == 9).all(), asked[1:-1, 1:-1]
    assert (asked[0, 1:-1] == (6 if len(shape) > 2 else 9)).all(), "two warps ask for the nearest row at one fetch"
    assert traffic.unpainted == 0 < traffic.textures and traffic.total("requests") == asked.sum()
    weights = traffic.elsewhere["sectors"]  # one in each request
    assert traffic.elsewhere["requests"] - weights == (passes - 1) * asked.sum()
