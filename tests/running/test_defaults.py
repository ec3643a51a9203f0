"""The variant that is chosen where none is named: the last one that suits the task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.batch.choosing import best_per_device
from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.running.reusable_plan import ReusablePlan
from gpu_ops.task import Meta
from gpu_ops.types import Pick

DEVICE = "sim:sm_90"
SEGMENTS = {"result": "spectrogram", "segment": 1000}


@pytest.mark.parametrize(
    ("length", "params", "expected"),
    [
        (1000, {}, "fast"),
        (10**7, SEGMENTS, "fast"),
        (10**5, {}, "four_step"),
        (1_000_003, {}, "four_step"),
        (10**7, {}, "three_step"),
        (10**7, {"result": "round trip"}, "four_step"),
    ],
)
def test_signals_take_as_few_launches_as_their_length_allows(
    length: int, params: dict[str, Any], expected: str
) -> None:
    filter = find_filter("fft1d")
    picks = [Pick(v.id, DEVICE) for v in filter.variants if v.device == "cuda"]
    (best,) = best_per_device(filter, picks, Meta("signal", (length,), "float32"), params)
    assert best.variant == expected


@pytest.mark.parametrize(
    ("shape", "expected"), [((128, 128), "two_levels"), ((126, 128), "warp_recomputed"), ((128, 128, 3), "warp_strips")]
)
def test_images_store_the_details_of_several_channels(shape: tuple[int, ...], expected: str) -> None:
    filter = find_filter("wavelet2d")
    picks = [Pick(v.id, DEVICE) for v in filter.variants if v.device == "cuda"]
    (best,) = best_per_device(filter, picks, Meta("image", shape, "float32"), {"rule": "manual"})
    assert best.variant == expected


def test_a_plan_without_a_named_variant_takes_the_last_that_suits_else_the_last_that_supports() -> None:
    filter, device = find_filter("fft1d"), open_device(DEVICE)
    meta = Meta("signal", (64,), "float32")
    params = {p.name: p.default for p in filter.params}
    own = [filter.variant(id) for id in ("shared", "fast", "four_step")]

    def chosen(variants: list[Any]) -> str:
        plan = ReusablePlan(filter, variants, device, meta, params, {})
        plan.load(np.ones(64, np.float32), False)
        assert plan.variant is not None
        return plan.variant.id

    assert chosen(own) == "fast"
    assert chosen([replace(v, suits=lambda task: False) for v in own]) == "four_step"
