"""Rows with the driver's pitch, on a real GPU."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.plan import Copy, Plan

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (33, 2801), (600, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("mode", ["direct", "graph"])
def test_copies_into_pitched_rows_and_back(cuda: str, shape: tuple[int, int], dtype: str, mode: str) -> None:
    device = open_device(cuda).session({})
    x = np.random.default_rng(5).uniform(0, 99, shape).astype(dtype)
    source, rows, back = device.upload(x), device.pitched(*shape, dtype), device.empty(shape, dtype)
    assert rows.shape == shape and rows.strides[0] >= shape[1] * x.itemsize and rows.strides[0] % 128 == 0
    device.fill(back, 0)
    device.execute(Plan((Copy(rows, source), Copy(back, rows)), {}), mode)  # type: ignore[arg-type]
    assert (device.download(back) == x).all()


def test_pitched_memory_is_given_back_with_its_array(cuda: str) -> None:
    device = open_device(cuda).session({})
    before = device.free_bytes()
    rows = device.pitched(4096, 65536, "float32")
    taken = device.free_bytes()
    assert before - taken >= 4096 * 65536 * 4
    del rows
    gc.collect()
    assert device.free_bytes() > taken + 4096 * 65536 * 2


def test_more_than_there_is_is_refused_in_words(cuda: str) -> None:
    with pytest.raises(DeviceMemoryError, match="Use a smaller input"):
        open_device(cuda).session({}).pitched(1 << 20, 1 << 22, "float64")
