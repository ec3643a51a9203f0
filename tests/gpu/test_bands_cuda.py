"""What a real GPU has no room for goes in bands, with the same result."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import open_device
from gpu_ops.filters import FILTERS
from gpu_ops.measuring import bands
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Pick, Run

pytestmark = pytest.mark.gpu

LOCAL = [f for f in FILTERS if f.locality.kind != "global"]
SHAPES = {"signal": (1_000_003,), "image": (1201, 803)}


def run(experiment: Experiment) -> Run:
    *_, last = run_experiment(experiment)
    return last


@pytest.mark.parametrize("id, variant", [(f.id, v.id) for f in LOCAL for v in f.variants if v.device == "cuda"])
def test_bands_give_what_the_whole_gives(cuda: str, id: str, variant: str) -> None:
    filter = next(f for f in LOCAL if f.id == id)
    values = np.random.default_rng(4).integers(0, 256, SHAPES[filter.accepts]).astype(np.uint8)
    picture, params = from_array(values, filter.accepts), {}
    if any(p.name == "border" for p in filter.params):
        params["border"] = "wrap" if variant not in ("texture",) else "reflect"
    whole = run(Experiment(id, picture, params, (Pick(variant, cuda),), "none"))
    if whole.failure_kind == "unsupported":
        pytest.skip(whole.failure)
    memory = bands.footprint(filter, Task.of(picture.meta, whole.params)) * 3 // 4
    parts = run(Experiment(id, picture, params, (Pick(variant, cuda),), "none", memory=memory))
    assert parts.ok and "bands of" in parts.notes[-1], parts.failure
    for name, array in whole.outputs.items():
        assert np.array_equal(array, parts.outputs[name])


def test_a_full_gpu_goes_on_in_bands(cuda: str) -> None:
    device, picture = open_device(cuda), from_array(np.random.default_rng(4).random((8192, 8192), np.float32))
    case = Experiment("mean2d", picture, {"window": 5}, (Pick("naive", cuda),), "none")
    whole = run(case)
    gc.collect()
    room = picture.array.nbytes + (1 << 26)
    filled = [device.empty((device.free_bytes() - room,), np.uint8)]
    parts = run(case)
    del filled
    assert parts.ok and "bands of" in parts.notes[-1], parts.failure
    assert np.array_equal(whole.outputs["image"], parts.outputs["image"])
