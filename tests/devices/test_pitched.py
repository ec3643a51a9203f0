"""Rows with a pitch: on the simulated GPU, in plans for any GPU, and in what the user reads."""

from __future__ import annotations

import numpy as np
import pytest
from tasks import planned

from gpu_ops.devices import open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.errors import DeviceError
from gpu_ops.filters import find_filter
from gpu_ops.plan import Copy, Launch, Plan

READ = """
extern "C" __global__ void read(const float* __restrict__ x, float* __restrict__ y, int i) { y[0] = x[i]; }
"""


@pytest.mark.parametrize(
    "columns, dtype, pitch", [(1, "uint8", 512), (512, "uint8", 512), (513, "uint8", 1024), (65, "float64", 1024)]
)
def test_rows_lie_a_multiple_of_512_bytes_apart(columns: int, dtype: str, pitch: int) -> None:
    for device in (SimDevice(), OfflineDevice("sm_90")):
        array = device.pitched(7, columns, dtype)
        assert (array.shape, array.strides, array.dtype) == ((7, columns), (pitch, np.dtype(dtype).itemsize), dtype)


def test_copies_in_and_out_leave_what_is_between_the_rows() -> None:
    device, x = SimDevice(), np.arange(35, dtype=np.uint16).reshape(5, 7)
    whole, back = device.empty((5, 64), np.uint16), device.empty((5, 7), np.uint16)
    device.fill(whole, 9)
    device.execute(Plan((Copy(whole[:, :7], device.upload(x)), Copy(back, whole[:, :7])), {}))
    assert (device.download(back) == x).all() and (whole[:, :7] == x).all() and (whole[:, 7:] == 9).all()


@pytest.mark.parametrize(
    "place, kind", [(128 + 6, ""), (128 + 7, "uninitialised read"), (2 * 128 + 6, ""), (2 * 128 + 7, "out of bounds")]
)
def test_a_read_between_rows_or_behind_the_last_one_is_found(place: int, kind: str) -> None:
    device = SimDevice().session({"test/read.cu": READ})
    rows, y = device.pitched(3, 7, np.float32), device.empty((1,), np.float32)
    device.copy(rows, device.upload(np.ones((3, 7), np.float32)))
    launch = Launch(device.kernel("test/read.cu", "read"), (1, 1, 1), (1, 1, 1), (rows, y, np.int32(place)))
    found = device.execute(Plan((launch,), {})).findings
    assert [f.kind for f in found] == ([kind] if kind else [])


def test_the_user_reads_which_pitch_it_is() -> None:
    device, conv = OfflineDevice("sm_90"), find_filter("conv3x3")
    defaults = {p.name: p.default for p in conv.params}
    for id, pitch in (("padded", 8448), ("pitched", 8704)):
        plan = planned(conv, id, device, device.empty((9, 2800, 3), np.uint8), defaults, {"block_y": 8})
        device.check(plan)
        names = [step.name for step in plan.steps]
        assert names == [f"2D copy in, pitch {pitch:,} bytes", "convolve", f"2D copy out, pitch {pitch:,} bytes"]


def test_the_cpu_has_none() -> None:
    with pytest.raises(DeviceError, match="pick a CUDA device"):
        open_device("cpu").pitched(3, 4, np.uint8)
