"""Wavelet denoising that makes the details of level 1 twice, on the simulated GPU: long filters and many strips against
the reference, what it moves, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.reference import reference
from gpu_ops.plan import LineCounts, Plan
from gpu_ops.types import Filter
from tests.tasks import on

Array = np.ndarray[Any, Any]
CASES = (
    ("wavelet2d", (71, 130), "float32", "sym8", "periodization", 2, 1),
    ("wavelet2d", (43, 67), "float64", "db20", "symmetric", 1, 1),
    ("wavelet2d", (35, 61, 3), "float32", "bior4.4", "symmetric", 3, 2),
    ("wavelet1d", (1537,), "float64", "db20", "periodization", 3, 1),
    ("wavelet1d", (1201, 2), "float32", "coif2", "symmetric", 2, 2),
)
ROWS = 32
STRIP = "wavelet_strip.cuh"
"""The file whose lines load samples and store them."""
Lines = dict[str, tuple[LineCounts, ...]]
"""Lines that counted something, by step."""


def each(cases: Sequence[Any], *usual: int) -> list[Any]:
    """All cases, of which those at the `usual` places are tried by default."""
    return [
        case if place in usual else pytest.param(*case, marks=pytest.mark.thorough) for place, case in enumerate(cases)
    ]


def _made(
    filter: Filter, x: Array, block: int = 64, rows: int = ROWS, multiprocessors: int = 1, **changed: Any
) -> tuple[Array, Array, Lines, Mapping[str, int]]:
    """The result, the reference, the counters of each step's lines, and what was predicted of all steps."""
    params = {p.name: p.default for p in filter.params} | {"rule": "manual", "value": 0.3} | changed
    device = SimDevice(options=Options(counters="full")).session({})
    knobs = {"block": block} | ({"rows": rows} if filter.accepts == "image" else {})
    limits = replace(device.limits, multiprocessors=multiprocessors)
    task = on(filter, device.upload(x), params, knobs, limits)
    variant = filter.variant("recomputed")
    assert variant.supports(task) is None and variant.predicts is not None
    plan = variant.plan(device, task)
    lines: Lines = {}
    for step in plan.steps:
        executed = device.execute(Plan((step,), plan.outputs))
        assert executed.findings == ()
        lines[step.name] = executed.lines
    found = device.download(plan.outputs[filter.accepts])
    return found, reference(on(filter, x, params))[filter.accepts], lines, variant.predicts(task)


def _count(lines: Iterable[LineCounts], id: str, file: str = "") -> int:
    return sum(line.counts.get(id, 0) for line in lines if line.file.endswith(file))


def _noise(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    return np.random.default_rng(7).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("id, shape, dtype, wavelet, border, levels, shifts", each(CASES, 0, 4))
def test_long_filters_over_several_strips(
    id: str, shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, shifts: int
) -> None:
    rule = "universal" if shifts > 1 else "manual"
    params = {"wavelet": wavelet, "border": border, "levels": levels, "shifts": shifts, "rule": rule}
    found, expected, *_ = _made(find_filter(id), _noise(shape, dtype), **params)
    assert np.abs(found - expected).max() < (1e-12 if dtype == "float64" else 4e-6)


def test_an_image_moves_twelve_bytes_a_pixel() -> None:
    """At 4 levels, with what strips and segments overlap: samples are read twice and written once, which is 13 bytes at
    most. All else is in bands of a quarter and less, which stay in the cache of a GPU."""
    filter, x = find_filter("wavelet2d"), _noise((256, 496))
    found, expected, lines, _ = _made(filter, x, 256, 256, levels=4)
    assert np.abs(found - expected).max() < 4e-6
    there, back = lines["level 1"], lines["level 1 back"]
    loaded = sum(_count(step, "global_load_sectors", STRIP) for step in (there, back))
    stored = _count(back, "global_store_sectors", STRIP)
    assert 32 * stored == x.nbytes and 32 * _count(there, "global_store_sectors") == x.nbytes // 4
    assert 12 * x.size < 32 * (loaded + stored) <= 13 * x.size
    every = [_count(chain(*lines.values()), f"global_{verb}_sectors") for verb in ("load", "store")]
    assert 32 * sum(every) < 21 * x.size, "all levels, which a cache would take from memory once"


TILES = (((8192,), "float32", "db4", "periodization", 4, (256,)), ((1304,), "float64", "coif2", "symmetric", 3, (64,)))


@pytest.mark.parametrize("shape, dtype, wavelet, border, levels, how", TILES)
def test_a_tile_of_a_signal_has_all_levels(
    shape: tuple[int, ...], dtype: str, wavelet: str, border: str, levels: int, how: tuple[int, ...]
) -> None:
    """One launch beside that of the threshold, whose samples are those of the tile and what lies around it: about 8
    bytes a float."""
    params = {"wavelet": wavelet, "border": border, "levels": levels}
    x = _noise(shape, dtype)
    found, expected, lines, predicted = _made(find_filter("wavelet1d"), x, *how, **params)
    assert np.abs(found - expected).max() < (1e-12 if dtype == "float64" else 4e-6)
    assert list(lines) == ["thresholds", "there, thresholds, back"]
    assert predicted and {id: _count(chain(*lines.values()), id) for id in predicted} == predicted
    assert 2 * x.nbytes < 32 * sum(predicted.values()) < (2.3 if dtype == "float32" else 4.5) * x.nbytes


@pytest.mark.parametrize("change", ({}, {"rule": "universal"}, {"levels": 6}))
def test_levels_of_a_signal_that_fit_no_tile_have_launches_of_their_own(change: dict[str, Any]) -> None:
    """An odd number at a level of a periodic signal, an estimated threshold, more around a tile than fits."""
    x = _noise((1028 if not change else 1024,))
    found, expected, lines, _ = _made(find_filter("wavelet1d"), x, **({"levels": 4} | change))
    assert np.abs(found - expected).max() < 4e-6
    assert {"level 1", "level 1 back", "level 2"} <= set(lines)


PREDICTED = (
    ((96, 192), "float32", "db4", "periodization", 3, (128, 64, 1)),
    ((64, 152), "float32", "bior4.4", "symmetric", 2, (128, 32, 4)),
    ((40, 256), "float64", "sym4", "periodization", 2, (256, 64, 1)),
)


@pytest.mark.parametrize("shape, dtype, wavelet, border, levels, how", each(PREDICTED, 0, 1))
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
    why = filter.variant("recomputed").supports
    knobs = {"block": 256, "rows": 128}
    x = np.empty((64, 64), np.float32)
    reason = str(why(on(filter, x, {**params, "rule": "SURE", "result": "parts"}, knobs)))
    assert "a threshold for each band" in reason and "take manual or universal" in reason
    assert "keeps no coefficients" in reason
