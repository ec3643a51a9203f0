"""Images of many types that a kernel writes on a real GPU."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.io import from_array
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Filter, Pick

pytestmark = pytest.mark.gpu


def test_a_kernel_gives_images_of_many_types(pieces: Filter, cuda: str) -> None:
    image = from_array(np.random.default_rng(4).integers(0, 256, (440, 521), np.uint8), name="dice")
    picks = Pick("serial", "cpu"), Pick("points", cuda)
    one, other = {run.key: run for run in run_experiment(Experiment("pieces", image, {}, picks, "none"))}.values()
    assert one.ok and other.ok, other.failure or other.errors
    for name, array in one.outputs.items():
        assert array.dtype == other.outputs[name].dtype and np.array_equal(array, other.outputs[name])
