"""Wavelet denoising that recomputes details, and by independent warps, on the simulated GPU: long filters and many
strips against the reference, what it moves, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.device import DEFAULT_ARCHITECTURE, SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.bases import taps_of
from gpu_ops.filters.wavelet.cuda.lane_filters import lattice_of
from gpu_ops.filters.wavelet.cuda.recomputing import FILE
from gpu_ops.filters.wavelet.reference import reference
from gpu_ops.plan import LineCounts, Plan
from gpu_ops.task import Task
from gpu_ops.types import Filter, Variant
from tests.tasks import on

Array = np.ndarray[Any, Any]
CASES = (
    ("wavelet2d", (71, 130), "float32", "sym8", "periodization", 2, 1),
    ("wavelet2d", (43, 67), "float64", "db20", "symmetric", 1, 1),
    ("wavelet2d", (35, 61, 3), "float32", "bior4.4", "symmetric", 3, 2),
    ("wavelet1d", (1537,), "float64", "db20", "periodization", 3, 1),
    ("wavelet1d", (1201, 2), "float32", "coif2", "symmetric", 2, 2),
)
LADDER = {
    "signal": ("recomputed_blocks", "warp_registers"),
    "image": ("recomputed_blocks", "warp_strips", "warp_recomputed", "two_levels"),
}
"""The variants, the one that is mostly fastest last."""
INDEPENDENT = (
    ("db4", "periodization", "soft", {}),
    ("sym8", "symmetric", "soft", {}),
    ("bior4.4", "symmetric", "garrote", {}),
    ("coif2", "periodization", "soft", {"rule": "universal"}),
    ("haar", "symmetric", "soft", {}),
    ("db3", "periodization", "garrote", {}),
    ("db7", "symmetric", "soft", {"rule": "universal"}),
    ("rbio3.3", "periodization", "soft", {}),
)
ROWS = 32
STRIP, COPIES = "wavelet_strip.cuh", "copy_ahead.cuh"
"""The file whose lines load samples and store them, and the one whose lines load them for independent warps."""
Lines = dict[str, tuple[LineCounts, ...]]
"""Lines that counted something, by step."""


def each(cases: Sequence[Any], *usual: int) -> list[Any]:
    """All cases, of which those at the `usual` places are tried by default."""
    return [
        case if place in usual else pytest.param(*case, marks=pytest.mark.thorough) for place, case in enumerate(cases)
    ]


def _made(
    filter: Filter,
    x: Array,
    block: int = 64,
    rows: int = ROWS,
    multiprocessors: int = 1,
    architecture: str = DEFAULT_ARCHITECTURE,
    variant: str = "",
    edits: Mapping[str, str] | None = None,
    **changed: Any,
) -> tuple[Array, Array, Lines, Mapping[str, int]]:
    """The result, the reference, the counters of each step's lines, and what was predicted of all steps; by default of
    the last variant that takes the task."""
    params = {p.name: p.default for p in filter.params} | {"rule": "manual", "value": 0.3} | changed
    device = SimDevice(architecture, Options(counters="full")).session(edits or {})
    limits = replace(device.limits, multiprocessors=multiprocessors)
    on_device = device.upload(x)

    def task_for(one: Variant) -> Task:
        knobs = {
            name: value for name, value in (("block", block), ("rows", rows)) if name in {k.name for k in one.knobs}
        }
        return on(filter, on_device, params, knobs, limits)

    found_variants = [filter.variant(id) for id in ((variant,) if variant else LADDER[filter.accepts])]
    chosen = next(one for one in reversed(found_variants) if one.refusal(task_for(one)) is None)
    task = task_for(chosen)
    assert chosen.counts.predicts is not None
    plan = chosen.plan(device, task)
    lines: Lines = {}
    for step in plan.steps:
        executed = device.execute(Plan((step,), plan.outputs))
        assert executed.findings == (), executed.findings
        lines[step.name] = executed.lines
    found = device.download(plan.outputs[filter.accepts])
    return found, reference(on(filter, x, params))[filter.accepts], lines, chosen.counts.predicts(task)


def _count(lines: Iterable[LineCounts], id: str, file: str = "") -> int:
    return sum(line.counts.get(id, 0) for line in lines if line.file.endswith(file))


def _noise(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    return np.random.default_rng(7).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("id, shape, dtype, wavelet, border, levels, shifts", each(CASES, 4))
def test_long_filters_over_several_strips(
    id: str, shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, shifts: int
) -> None:
    rule = "universal" if shifts > 1 else "manual"
    params = {"wavelet": wavelet, "border": border, "levels": levels, "shifts": shifts, "rule": rule}
    found, expected, *_ = _made(find_filter(id), _noise(shape, dtype), **params)
    assert np.abs(found - expected).max() < (1e-12 if dtype == "float64" else 4e-6)


@pytest.mark.parametrize("wavelet, border, how, more", each(INDEPENDENT, 1))
def test_independent_warps(wavelet: str, border: str, how: str, more: dict[str, Any]) -> None:
    """Lattices, lifting and sums, of images whose next level has rows of whole fours or has none, with an odd number of
    rows; their rows copied asynchronously, or at once; details of the first level recomputed or stored."""
    for shape, architecture, variant in (
        ((66, 152), "sm_90", "warp_recomputed"),
        ((66, 152), "sm_90", "warp_strips"),
        ((61, 132), "sm_75", "warp_strips"),
    ):
        params = {"wavelet": wavelet, "border": border, "levels": 2, "threshold": how, **more}
        filter = find_filter("wavelet2d")
        found, expected, *_ = _made(filter, _noise(shape), architecture=architecture, variant=variant, **params)
        assert np.abs(found - expected).max() < 4e-6


@pytest.mark.thorough
@pytest.mark.parametrize("rule, scale", [("manual", 5e8), ("universal", 1.0)])
def test_long_lattices_stay_in_range_over_three_levels(rule: str, scale: float) -> None:
    """Rotations of 40 taps gain up to 2^28 an axis, and rows are scaled in between; the finest details, by which a
    threshold is estimated, are in the units of samples. The largest samples are more than half of what is promised for
    three levels, all of which have enough rows for warps."""
    params = {"wavelet": "db20", "border": "periodization", "levels": 3, "rule": rule, "value": 0.3 * scale}
    x = _noise((320, 320)) * np.float32(scale)
    found, expected, lines, predicted = _made(find_filter("wavelet2d"), x, variant="warp_strips", **params)
    assert np.abs(found - expected).max() < 4e-6 * scale
    assert {id: _count(chain(*lines.values()), id) for id in predicted} == predicted
    assert FILE not in {line.file for step in lines.values() for line in step}


def test_a_level_of_too_few_rows_is_left_to_blocks() -> None:
    """The second one has 15, of which 8 taps need one more; blocks take the threshold that is given from memory."""
    found, expected, lines, _ = _made(find_filter("wavelet2d"), _noise((30, 37)), variant="warp_strips", levels=2)
    assert np.abs(found - expected).max() < 4e-6
    assert [name for name, step in lines.items() if FILE in {line.file for line in step}] == ["level 2 inverse"]


KINDS = tuple(
    (wavelet, variant)
    for wavelet in ("db3", "bior4.4", "bior3.3", "haar", "db4", "rbio2.2", "sym8", "coif2")
    for variant in ("two_levels", "warp_strips", "warp_recomputed")
)


@pytest.mark.parametrize("wavelet, variant", each(KINDS, 0, 4, 2))
def test_levels_between_the_first_and_the_last_store_their_details(wavelet: str, variant: str) -> None:
    """The first two share a forward and an inverse launch in one variant."""
    params = {"wavelet": wavelet, "border": "periodization", "levels": 3}
    found, expected, lines, _ = _made(find_filter("wavelet2d"), _noise((132, 272)), variant=variant, **params)
    assert np.abs(found - expected).max() < 4e-6
    assert ({"levels 1 and 2", "levels 1 and 2 inverse"} <= set(lines)) is (variant == "two_levels")
    assert ("level 2 inverse" in lines) is (variant != "two_levels")


@pytest.mark.parametrize("rule", ["manual", "universal"])
def test_two_levels_are_one_launch_each_way(rule: str) -> None:
    """Where a threshold is given; else the second level is the last one, with forward and inverse in one launch."""
    params = {"wavelet": "db2", "border": "periodization", "levels": 2, "rule": rule}
    found, expected, lines, predicted = _made(find_filter("wavelet2d"), _noise((132, 288)), **params)
    assert np.abs(found - expected).max() < 4e-6
    marched = [name for name in lines if name.startswith("level")]
    if rule == "manual":
        assert marched == ["levels 1 and 2", "levels 1 and 2 inverse"]
        assert predicted and {id: _count(chain(*lines.values()), id) for id in predicted} == predicted
    else:
        assert marched == ["level 1", "level 2 inverse", "level 1 inverse"]


FAULTS = (
    (
        "wavelet/13_two_levels.cu",
        "wait_for_groups<AT_A_TIME - 1>();\n            if (slot",
        ";\n            if (slot",
        "two_levels",
        True,
    ),
    ("wavelet/13_two_levels.cu", "int k = 1 - HALF; k < 0", "int k = 3 - HALF; k < 0", "two_levels", False),
    ("wavelet/13_two_levels.cu", "2 * EARLIER + larger(", "larger(", "two_levels", False),
    ("wavelet/13_two_levels.cu", "- 6 * AHEAD", "- 4 * AHEAD", "two_levels", True),
    ("wavelet/13_two_levels.cu", "wait_for_groups<AT_A_TIME - 1>();\n#pragma", ";\n#pragma", "two_levels", True),
    (
        "wavelet/11_warp_strips.cu",
        "coefficients.prefetch(finest, first",
        "coefficients.prefetch(restored, first",
        "warp_strips",
        False,
    ),
    (
        "wavelet/11_warp_strips.cu",
        "wait_for_groups<DEPTH - 1>();\n            coefficients",
        ";\n            coefficients",
        "warp_strips",
        True,
    ),
    ("wavelet/11_warp_strips.cu", "row < first ||", "row < first + 1 ||", "warp_strips", True),
    ("wavelet/wavelet_lattice.cuh", "low[k] = later + tangent", "low[k] = later - tangent", "warp_recomputed", False),
)
"""What is wrong in which file, by which variant, and whether the simulated GPU names it: copies that are read before
anybody waited for them, memory that nobody wrote. Other faults show in the result."""


@pytest.mark.parametrize("file, right, wrong, variant, named", each(FAULTS, 0, 2, 5))
def test_a_wrong_warp_is_found(file: str, right: str, wrong: str, variant: str, named: bool) -> None:
    text = read_source(file)
    assert text.count(right) == 1
    params = {"wavelet": "db4", "border": "periodization", "levels": 3, "edits": {file: text.replace(right, wrong)}}
    made = partial(_made, find_filter("wavelet2d"), _noise((72, 144)), architecture="sm_90", variant=variant, **params)
    if named:
        with pytest.raises(AssertionError, match="Finding"):
            made()
    else:
        found, expected, *_ = made()
        assert not np.abs(found - expected).max() < 1e-3


def test_rotations_make_the_filters() -> None:
    """A row of pairs through the lattice of every orthogonal filter that has one, with a tap each way of error."""
    for wavelet in ("db2", "db4", "sym8", "coif2", "db8", "db18", "db20", "sym20"):
        found, filters = lattice_of(wavelet), taps_of(wavelet)
        assert found is not None
        for place in range(len(filters.dec_lo)):
            x = np.zeros((2 * len(filters.dec_lo), 2))
            x.reshape(-1)[place + len(filters.dec_lo)] = 1
            length, first_tangent, *others = found
            low, high = x[:, 0] + first_tangent * x[:, 1], first_tangent * x[:, 0] - x[:, 1]
            for tangent in others:
                low, high = np.roll(low, -1) + tangent * high, high - tangent * np.roll(low, -1)
            first = len(filters.dec_lo) // 2
            assert length * low[first] == pytest.approx(filters.dec_lo[::-1][place], abs=1e-9)
            assert length * high[first] == pytest.approx(filters.dec_hi[::-1][place], abs=1e-9)
    assert lattice_of("bior4.4") is None and lattice_of("haar") is None


def test_blocks_read_a_pixel_twice_and_write_it_once() -> None:
    """At 3 levels, with what strips and segments of a long filter overlap, which is a third at most. All else is in
    bands of a quarter and less, which stay in the cache of a GPU."""
    filter, x = find_filter("wavelet2d"), _noise((256, 496))
    found, expected, lines, _ = _made(filter, x, 256, 256, variant="recomputed_blocks", levels=3, wavelet="sym9")
    assert np.abs(found - expected).max() < 4e-6
    forward, inverse = lines["level 1"], lines["level 1 inverse"]
    loaded = sum(_count(step, "global_load_sectors", STRIP) for step in (forward, inverse))
    stored = _count(inverse, "global_store_sectors", STRIP)
    assert 32 * stored == x.nbytes and 32 * _count(forward, "global_store_sectors") == x.nbytes // 4
    assert 12 * x.size < 32 * (loaded + stored) <= 16 * x.size
    every = [_count(chain(*lines.values()), f"global_{verb}_sectors") for verb in ("load", "store")]
    assert 32 * sum(every) < 27 * x.size, "all levels, which a cache would take from memory once"


@pytest.mark.thorough
def test_independent_warps_read_a_pixel_twice_and_write_it_once() -> None:
    """And what lanes at the ends of a warp lack, and the first rows of a segment: two thirds more at most. Of the first
    two levels four bands of a sixteenth are written forward, and nothing else."""
    filter, x = find_filter("wavelet2d"), _noise((512, 448))
    found, expected, lines, _ = _made(filter, x, 256, 256, levels=4)
    assert np.abs(found - expected).max() < 4e-6
    assert "thresholds" not in lines
    forward, inverse = lines["levels 1 and 2"], lines["levels 1 and 2 inverse"]
    loaded = sum(_count(step, "global_load_sectors", COPIES) for step in (forward, inverse))
    assert 32 * _count(inverse, "global_store_sectors") == x.nbytes
    assert x.nbytes <= 4 * 32 * _count(forward, "global_store_sectors") < 1.3 * x.nbytes
    assert 2.25 * x.nbytes < 32 * loaded < 3.7 * x.nbytes


def test_details_that_are_stored_are_written_once_and_read_once() -> None:
    """A pixel is read once and written once; its coefficients, as many bytes, as well."""
    filter, x = find_filter("wavelet2d"), _noise((512, 448))
    found, expected, lines, _ = _made(filter, x, 256, 256, levels=2, variant="warp_strips")
    assert np.abs(found - expected).max() < 4e-6
    forward, inverse = lines["level 1"], lines["level 1 inverse"]
    assert 32 * _count(inverse, "global_store_sectors") == x.nbytes
    assert x.nbytes <= 32 * _count(forward, "global_store_sectors") < 1.1 * x.nbytes
    for step in (forward, inverse):
        assert x.nbytes <= 32 * _count(step, "global_load_sectors", COPIES) < 1.4 * x.nbytes


TILES = (((8192,), "float32", "db4", "periodization", 4, (256,)), ((1304,), "float64", "coif2", "symmetric", 3, (64,)))


@pytest.mark.parametrize("shape, dtype, wavelet, border, levels, how", TILES)
def test_a_tile_of_a_signal_has_all_levels(
    shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, how: tuple[int, ...]
) -> None:
    """One launch, in addition to that of the threshold if blocks have the tiles. Its samples are those of the tile and
    its halo."""
    params = {"wavelet": wavelet, "border": border, "levels": levels}
    x = _noise(shape, dtype)
    found, expected, lines, predicted = _made(find_filter("wavelet1d"), x, *how, **params)
    assert np.abs(found - expected).max() < (1e-12 if dtype == "float64" else 4e-6)
    alone = dtype == "float32"
    assert list(lines) == [*([] if alone else ["thresholds"]), "forward, thresholds, inverse"]
    assert predicted and {id: _count(chain(*lines.values()), id) for id in predicted} == predicted
    assert 2 * x.nbytes < 32 * sum(predicted.values()) < (2.6 if alone else 4.5) * x.nbytes


@pytest.mark.parametrize("change", ({}, {"rule": "universal"}, {"levels": 7}))
def test_levels_of_a_signal_that_fit_no_tile_have_launches_of_their_own(change: dict[str, Any]) -> None:
    """An odd number at a level of a periodic signal, an estimated threshold, more around a tile than fits."""
    x = _noise((1028 if not change else 1024,))
    found, expected, lines, _ = _made(find_filter("wavelet1d"), x, **({"levels": 4} | change))
    assert np.abs(found - expected).max() < 4e-6
    assert {"level 1", "level 1 inverse", "level 2"} <= set(lines)


PREDICTED = (
    ((96, 192), "float32", "db4", "periodization", 3, (128, 64, 1)),
    ((64, 152), "float64", "bior4.4", "symmetric", 2, (128, 32, 4)),
    ((64, 288), "float32", "bior4.4", "periodization", 2, (64, 32, 4)),
    ((140, 384), "float32", "sym8", "periodization", 2, (64, 64, 1)),
    ((24, 64), "float32", "haar", "periodization", 2, (64, 64, 1)),
    ((72, 160), "float32", "db4", "periodization", 1, (64, 64, 2)),
    ((40, 256), "float64", "sym4", "periodization", 2, (256, 64, 1)),
)


@pytest.mark.parametrize("shape, dtype, wavelet, border, levels, how", each(PREDICTED, 0, 1, 2, 5))
def test_sectors_are_those_predicted(
    shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, how: tuple[int, ...]
) -> None:
    """Of a whole plan, in strips at the edges and inside, and segments of several heights."""
    params = {"wavelet": wavelet, "border": border, "levels": levels}
    found, expected, lines, predicted = _made(find_filter("wavelet2d"), _noise(shape, dtype), *how, **params)
    assert np.abs(found - expected).max() < 4e-6
    assert set(predicted) == {"global_load_sectors", "global_store_sectors"}
    assert {id: _count(chain(*lines.values()), id) for id in predicted} == predicted


def test_it_says_what_it_cannot_do() -> None:
    filter = find_filter("wavelet2d")
    params = {p.name: p.default for p in filter.params}
    why = filter.variant("recomputed_blocks").refusal
    knobs = {"block": 256, "rows": 128}
    x = np.empty((64, 64), np.float32)
    reason = str(why(on(filter, x, {**params, "rule": "SURE", "result": "parts"}, knobs)))
    assert "details of each band" in reason and "choose manual or universal" in reason
    assert "returns the result alone" in reason
