"""What a real GPU has no room for goes in bands, with the same result."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import open_device
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit import bands
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Pick, Run

pytestmark = pytest.mark.gpu

LOCAL = [f for f in FILTERS if f.locality.kind != "global" and not f.end_to_end]
SHAPES = {"signal": (1_000_003,), "image": (1201, 803)}


def run(experiment: Experiment) -> Run:
    *_, last = run_experiment(experiment)
    return last


@pytest.mark.parametrize("id, variant", [(f.id, v.id) for f in LOCAL for v in f.variants if v.device == "cuda"])
def test_bands_give_what_the_whole_gives(cuda: str, id: str, variant: str) -> None:
    filter = next(f for f in LOCAL if f.id == id)
    values = np.random.default_rng(4).integers(0, 256, SHAPES[filter.accepts]).astype(filter.dtypes[0])
    picture, params = from_array(values, filter.accepts), {}
    if any(p.name == "border" for p in filter.params):
        params["border"] = "wrap" if variant not in ("texture",) else "reflect"
    whole = run(Experiment(id, picture, params, (Pick(variant, cuda),), "none"))
    if whole.failure_kind == "unsupported":
        pytest.skip(whole.failure)
    memory = bands.footprint(filter, Task.of(picture.meta, whole.params)) * 3 // 4
    parts = run(Experiment(id, picture, params, (Pick(variant, cuda),), "none", memory=memory))
    assert parts.ok and any("bands of" in note for note in parts.notes), (parts.failure, parts.notes)
    for name, array in whole.outputs.items():
        assert np.array_equal(array, parts.outputs[name])


@contextmanager
def room_for(device: Any, nbytes: int) -> Iterator[None]:
    """Inside, CuPy's pool refuses what exceeds so many bytes more, as a full GPU does. What is really taken would be
    missing in other processes, and what these give back is room again."""
    pool = device.library("cupy").get_default_memory_pool()
    with device.as_current():
        before = pool.get_limit()
        pool.free_all_blocks()  # what was given back to the pool would be taken again without asking
        pool.set_limit(size=pool.used_bytes() + nbytes)
    try:
        yield
    finally:
        with device.as_current():
            pool.set_limit(size=before)


def test_a_full_gpu_goes_on_in_bands(cuda: str) -> None:
    device, picture = open_device(cuda), from_array(np.random.default_rng(4).random((8192, 8192), np.float32))
    case = Experiment("mean2d", picture, {"window": 5}, (Pick("naive", cuda),), "none")
    whole = run(case)
    gc.collect()
    with room_for(device, picture.array.nbytes + (1 << 26)):
        assert device.free_bytes() <= picture.array.nbytes + (1 << 26)
        parts = run(case)
    assert parts.ok and any("bands of" in note for note in parts.notes), (parts.failure, parts.notes)
    assert np.array_equal(whole.outputs["image"], parts.outputs["image"])
