"""What the warps of an element read and write: bins of a histogram, stages of a transform, levels, layouts."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lanes import few

from app.models.traffic.warp_rows import rows_of
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.explaining.traffic.warp_content import WarpAccess, WarpAccesses, warps_json, warps_of
from gpu_ops.explaining.traffic.warps import _read_later, warp_accesses
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.params import check_values

SHAPE = (24, 40)


def recorded(filter: str, id: str, shape: tuple[int, ...], dtype: str, **params: Any) -> TrafficRun:
    found = find_filter(filter)
    variant = found.variant(id)
    values = from_array(np.random.default_rng(1).integers(1, 255, shape).astype(dtype))
    own = check_values(found.params, params, filter), check_values(variant.knobs, {}, id)
    return record_traffic(found, variant, values, *own, code=False)


def warps(run: TrafficRun, output: str, index: int | None, element: int = 0) -> tuple[WarpAccesses, ...]:
    return warps_of(json.loads(json.dumps(warps_json(warp_accesses(run, output, index, element)))))


def of_lane(warp: WarpAccesses, *memories: str, verb: str = "load") -> list[int]:
    """The elements that the chosen lane accesses."""
    own = [one for one in warp.accesses if one.memory in memories and one.verb == verb and one.name != "table"]
    return [e for one in own for lane, e in zip(one.lanes, one.elements, strict=True) if lane == warp.lane]


def one_of(warp: WarpAccesses, memory: str, verb: str) -> WarpAccess:
    return next(one for one in warp.accesses if (one.memory, one.verb) == (memory, verb))


def test_the_bins_that_a_pixels_warp_hits() -> None:
    run, pixel = recorded("histogram2d", "global", SHAPE, "uint8"), 77
    (warp,) = warps(run, "counts", None, pixel)
    read, added = one_of(warp, "input", "load"), one_of(warp, "output", "atomic")
    assert read.elements[read.lanes.index(warp.lane)] == pixel and added.name == "counts"
    bins = np.asarray(run.x).reshape(-1)[list(read.elements)]
    assert added.elements == tuple(bins.tolist())
    assert added.most_at_one == np.bincount(bins).max() and read.step == 1 and read.sectors == 1


def test_the_partners_of_each_stage_of_a_transform() -> None:
    found = warps(recorded("fft_batch1d", "global", (64,), "float32"), "spectra", 3)
    stages = [of_lane(warp, "input", "buffer") for warp in found if "stage" in warp.kernel]
    assert len(stages) == 6 and all(len(set(points)) == 2 for points in stages)  # 64 complex points
    behind = {3}
    for warp in reversed(found):
        written = set(of_lane(warp, "buffer", "output", verb="store"))
        assert behind & written, "each stage writes what the next one reads"
        behind = set(of_lane(warp, "input", "buffer"))


def test_the_stages_after_a_sample_of_the_input() -> None:
    first, *stages = warps(recorded("fft_batch1d", "global", (64,), "float32"), "spectra", None, 3)
    assert of_lane(first, "input") == [3] and first.reads
    assert [warp.kernel for warp in stages] == ["fft_global_stage"] * 6 + ["fft_batch_half"]
    written = set(of_lane(first, "buffer", verb="store"))
    for warp in stages:
        points = of_lane(warp, "buffer")
        assert written & set(points) and (len(set(points)) == 2 or warp is stages[-1])
        written = set(of_lane(warp, "buffer", "output", verb="store"))


def test_what_is_written_again_is_not_what_is_read_later() -> None:
    base, none = 4096, np.full(4, -1)
    maps = [SimpleNamespace(readers={}, writers={}, itemsizes={base: 4}) for _ in range(3)]
    maps[0].readers, maps[1].writers, maps[2].readers = (
        {base: none},
        {base: np.array([0, -1, -1, -1])},
        {base: none + 1},
    )
    assert [_read_later(maps, base + 4 * n) for n in range(2)] == [False, True]  # type: ignore[arg-type]


def test_the_coefficients_of_each_level() -> None:
    found = warps(recorded("wavelet1d", "global", (300,), "float32", levels=2, wavelet="haar"), "signal", 40)
    low = [one for warp in found if "inverse" in warp.kernel for one in warp.accesses if one.name == "low"]
    places = [e for one in low for lane, e in zip(one.lanes, one.elements, strict=True)]
    assert [one.extent for one in low] == [75, 150] and {10, 20} <= set(places)


@pytest.mark.parametrize("id, step, sectors", [("order", 1, 4), ("stride", 2, 8)])
def test_neighbours_and_strides_of_a_warp(id: str, step: int, sectors: int) -> None:
    (warp,) = warps(recorded("layout", id, (300,), "float32"), "signal", 40)
    read, written = one_of(warp, "input", "load"), one_of(warp, "output", "store")
    assert (read.step, read.sectors, len(read.lanes)) == (step, sectors, 32) and written.step == step
    assert 40 in of_lane(warp, "output", verb="store")


def test_a_sum_goes_through_shared_memory() -> None:
    (warp,) = warps(recorded("scan2d", "hillis_steele", SHAPE, "uint8"), "image", 50)
    assert of_lane(warp, "input") == [50] and len(of_lane(warp, "shared")) > 1


REDUCTIONS = [v.id for v in find_filter("reduce1d").variants if v.kernels and v.id != "one_pass"]


@pytest.mark.parametrize("id", few(REDUCTIONS, "strided"))
def test_a_value_of_a_reduction_goes_on_through_shared_memory_and_launches(id: str) -> None:
    """The warp that reads it stores nothing in global memory: the one of its block that does comes next."""
    run = recorded("reduce1d", id, (3000,), "float32")
    first, *others = warps(run, "figures", None, 77)
    assert of_lane(first, "input")[0] == 77 and first.reads and (first.warp, first.lane) == (2, 13)
    writer, *later = others
    assert (writer.warp, writer.lane, writer.reads, writer.block) == (0, 0, False, first.block)
    assert writer.kernel == first.kernel and of_lane(writer, "output", "buffer", verb="store")
    assert bool(later) == (len(run.launches) > 1)
    for one in later:
        assert one.reads and one.block == (0, 0, 0) and of_lane(one, "buffer") and of_lane(one, "output", verb="store")
    headings = [row.what for row in rows_of((first, *others)) if row.access is None and "more accesses" not in row.what]
    assert "read this element" in headings[0] and "wrote what was made of it" in headings[1]


def test_neighbours_of_a_reduction_are_twice_as_far_apart_in_each_step() -> None:
    first, *_ = warps(recorded("reduce1d", "adjacent", (300,), "float32"), "figures", None, 77)
    steps = [one.step for one in first.accesses if one.memory == "shared" and one.verb == "store"]
    assert steps[:5] == [1, 2, 4, 8, 16]
    with pytest.raises(ParamError, match="wait for one another"):
        warp_accesses(recorded("reduce1d", "one_pass", (300,), "float32"), "figures", None, 77)


def test_shuffles_are_counted_in_the_place_of_their_lines() -> None:
    """A warp adds its 32 sums, and its squares, in five shuffles each; the first one then those of all warps."""
    first, writer = warps(recorded("reduce1d", "warp_shuffle", (300,), "float32"), "figures", None, 77)
    assert (first.shuffles, writer.shuffles) == (10, 20)
    assert rows_of((first,))[-1].what == "No lines lead through its shuffles, in which lanes exchange registers: 10"
    (alone,) = warps(recorded("layout", "order", (300,), "float32"), "signal", 40)
    assert not alone.shuffles and "shuffles" not in rows_of((alone,))[-1].what


def test_the_points_that_meet_in_each_stage_are_a_butterfly() -> None:
    """Of 64 points, the 32 lanes of a warp combine all. In place, two points of a stage differ in one bit of their
    place; with another array for the results, they are halves apart."""
    alone = warps(recorded("fft_batch1d", "shared", (64,), "float32"), "spectra", 3)
    stages = [row.meetings for row in rows_of(alone) if row.meetings]
    for bit, stage in enumerate(stages):
        assert len(stage) == 32 and {point for one in stage for point in one.reads} == set(range(64))
        assert all(one.reads == one.writes == (one.reads[0], one.reads[0] + 2**bit) for one in stage)
    assert len(stages) == 6
    apart = warps(recorded("fft_batch1d", "global", (64,), "float32"), "spectra", 3)
    found = [row for row in rows_of(apart) if row.meetings]
    for bit, row in enumerate(found):
        for lane, reads, writes in row.meetings:
            assert reads == (lane, lane + 32) and writes[1] - writes[0] == 2**bit
        own = next(one for one in row.meetings if one.lane == row.lane)
        assert row.how == f"its own {own.reads[0]}, {own.reads[1]} give {own.writes[0]}, {own.writes[1]}"
    assert len(found) == 6
    layout = warps(recorded("layout", "order", (300,), "float32"), "signal", 40)
    assert not any(row.meetings for row in rows_of(layout)), "one value in each lane"


def test_a_dynamic_array_ends_where_the_memory_of_the_block_does() -> None:
    found = warps(recorded("fft_batch1d", "shared", (64,), "float32"), "spectra", 3)
    assert {one.extent for warp in found for one in warp.accesses if one.memory == "shared"} == {64}


def test_a_texture_is_named_and_so_are_parameters_of_headers() -> None:
    (warp,) = warps(recorded("conv3x3", "texture", SHAPE, "uint8", border="nearest"), "image", 5 * 40 + 7)
    assert of_lane(warp, "texture") == [row * 40 + column for row in (4, 5, 6) for column in (6, 7, 8)]
    assert {one.name for one in warp.accesses if one.memory == "texture"} == {"image"}
    found = warps(recorded("scan1d", "hillis_steele", (3000,), "float32"), "signal", 2000)
    assert "offsets" in {one.name for one in found[-1].accesses} and found[-1].kernel == "scan_add"


def test_an_element_that_no_warp_can_be_named_for_is_said() -> None:
    with pytest.raises(ParamError, match="wait for one another; choose another variant"):
        warp_accesses(recorded("scan2d", "look_back", SHAPE, "uint8"), "image", 50, 50)
    with pytest.raises(ParamError, match="No kernel reads this element"):
        warp_accesses(recorded("conv3x3", "texture", SHAPE, "uint8"), "image", None, 5)
