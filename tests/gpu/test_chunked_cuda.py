"""Chunks, bands and frames that overlap on a real GPU give what the whole gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.filters import FILTERS
from gpu_ops.running.frames import Frames
from gpu_ops.running.runner import last_runs, run_experiment
from gpu_ops.types import Experiment, Pick

pytestmark = pytest.mark.gpu

KERNELS = [
    (f.id, v.id) for f in FILTERS if f.locality.kind != "global" and not f.end_to_end for v in f.variants
    if v.device == "cuda"
]  # fmt: skip
SHAPES = {"signal": (3_000_017,), "image": (1201, 803)}


@pytest.mark.parametrize("id, variant", KERNELS)
def test_every_variant_is_timed_in_chunks(cuda: str, id: str, variant: str) -> None:
    """Its results in chunks are verified before; where there is no time, a note says why."""
    filter = next(f for f in FILTERS if f.id == id)
    values = np.random.default_rng(4).integers(0, 256, SHAPES[filter.accepts]).astype(filter.dtypes[0])
    experiment = Experiment(id, from_array(values, filter.accepts), {}, (Pick(variant, cuda),), "quick")
    (run,) = last_runs(run_experiment(experiment))
    if run.failure_kind == "unsupported":
        pytest.skip(run.failure)
    assert run.ok, (run.failure, run.notes)
    assert "elapsed_streamed" in run.timings or any("not timed in chunks" in note for note in run.notes)


def test_pinned_memory_is_told_from_pageable(cuda: str) -> None:
    device = open_device(cuda)
    pinned, pageable = (device.allocate(kind, (5000,), np.uint8) for kind in ("pinned", "pageable"))
    assert not device.is_pageable(pinned[7:]) and device.is_pageable(pageable)
    device.register(pageable)
    assert not device.is_pageable(pageable)
    device.unregister(pageable)
    assert device.is_pageable(pageable)


def test_managed_memory_beyond_free_memory_is_refused(cuda: str) -> None:
    device = open_device(cuda)
    with pytest.raises(DeviceMemoryError, match="managed memory"):
        device.allocate("managed", (device.free_bytes() + 1,), np.uint8)
    half = device.free_bytes() // 2 + 1
    first = device.allocate("managed", (half,), np.uint8)
    with pytest.raises(DeviceMemoryError, match="beside"):
        device.allocate("managed", (half,), np.uint8)
    del first
    assert device.allocate("managed", (1000,), np.uint8).nbytes == 1000


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_frames_are_those_of_single_runs(cuda: str, dtype: str) -> None:
    filter, rng, results = FILTERS.find("mean2d"), np.random.default_rng(2), list[Any]()
    stack = [rng.integers(0, 256, (300, 401)).astype(dtype) for _ in range(150)]
    knobs = {k.name: k.default for k in filter.variant("naive").knobs}
    params = {p.name: p.default for p in filter.params}
    frames = Frames(
        filter,
        Pick("naive", cuda, knobs),
        params,
        lambda k: from_array(stack[k]),
        lambda k, rows, outputs: results.append(outputs["image"].copy()),
        lambda k, input: pytest.fail("there is space"),
    )
    frames.run(0, len(stack))
    for k in (0, 1, 63, 64, 149):
        alone = Experiment("mean2d", from_array(stack[k]), params, (Pick("naive", cuda),), "none")
        (run,) = last_runs(run_experiment(alone))
        assert np.array_equal(run.outputs["image"], results[k])


def test_bands_under_a_limit_are_timed(cuda: str) -> None:
    picture = from_array(np.random.default_rng(4).integers(0, 256, (8192, 8192), np.uint8))
    experiment = Experiment("mean2d", picture, {}, (Pick("naive", cuda),), "quick", memory=48 << 20)
    (run,) = last_runs(run_experiment(experiment))
    assert run.ok and set(run.timings) >= {"elapsed_streamed"}, (run.failure, run.notes)
