"""Asynchronous copies give the same results on a real GPU as on the simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices import open_device
from tests.sim.test_copies import RIGHT, expected, run

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_a_copy_that_is_waited_for_brings_its_value(cuda: str, body: str) -> None:
    if open_device(cuda).limits.capability < (8, 0):
        pytest.skip("copies past the registers came with capability 8.0")
    assert np.array_equal(run(body, cuda).arrays[1], expected())
