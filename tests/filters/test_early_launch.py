"""Launches that begin early: the attributes that the driver gets, and that a simulated GPU runs their kernels."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.compiler import Compiled
from gpu_ops.devices.cuda.prepare import early_launch
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.filters import find_filter
from gpu_ops.plan import Launch, Plan
from tests.tasks import on, planned

KERNEL = """#include "early_launch.cuh"
extern "C" __global__ void next(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    wait_for_launch_ahead();
    let_next_launch_begin();
    if (i < n) y[i] = x[i] + 1;
}
"""


def test_the_driver_is_told_that_the_launch_may_begin_early(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = pytest.importorskip("cuda.bindings.driver")
    events: list[Any] = []

    def launched(config: Any, function: Any, arguments: int, extra: int) -> tuple[Any]:
        events.append((config, int(function), arguments))
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuLaunchKernelEx", launched)
    step = Launch(SimpleNamespace(pointer=77), (5, 6, 7), (32, 2, 1), (), 1024, early=True)
    early_launch(step, SimpleNamespace(ptr=88), 99)()
    ((config, function, arguments),) = events
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (5, 6, 7)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (32, 2, 1)
    assert (config.sharedMemBytes, int(config.hStream), function, arguments) == (1024, 88, 77, 99)
    (attribute,) = config.attrs
    name = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert config.numAttrs == 1 and attribute.id == name
    assert attribute.value.programmaticStreamSerializationAllowed == 1


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_a_simulated_gpu_runs_launches_one_after_the_other(architecture: str) -> None:
    device = SimDevice(architecture).session({"own.cu": KERNEL})
    x, y, z = device.upload(np.arange(70, dtype=np.float32)), device.empty((70,), "f4"), device.empty((70,), "f4")
    kernel = device.kernel("own.cu", "next")
    steps = [
        Launch(kernel, (3, 1, 1), (32, 1, 1), (a, b, np.int32(70)), early=late)
        for a, b, late in ((x, y, False), (y, z, True))
    ]
    assert device.execute(Plan(tuple(steps), {"z": z})).findings == ()
    assert np.array_equal(device.download(z), np.arange(70, dtype=np.float32) + 2)


@pytest.mark.parametrize("rule", ["manual", "universal"])
@pytest.mark.parametrize(
    ("id", "levels"), [(id, n) for id in ("warp_strips", "warp_recomputed", "two_levels") for n in (1, 2, 3)]
)
def test_the_first_launch_of_a_plan_waits_for_all_before(id: str, levels: int, rule: str) -> None:
    filter, device = find_filter("wavelet2d"), OfflineDevice("sm_90")
    x = device.empty((128, 128), np.float32)
    params = {p.name: p.default for p in filter.params} | {"levels": levels, "rule": rule}
    if filter.variant(id).refusal(on(filter, x, params)) is not None:
        assert levels < 3, "three levels are enough for all of them"
        return
    steps = planned(filter, id, device, x, params).steps
    early = {step.name for step in steps if isinstance(step, Launch) and step.early}
    marched = {step.name for step in steps if step.name.startswith("level")}
    after_thresholds = {f"level {levels} inverse"} if rule == "universal" else set()
    assert steps[0].name not in early and early == marched - {steps[0].name} - after_thresholds


FFT_PLANS = (
    ("fft2d", "fast", (48, 40), {"result": "level"}, {}),
    ("fft2d", "fast", (128, 128), {"result": "magnitude", "detrend": "constant"}, {"parts": "all"}),
    ("fft2d", "fast", (48, 40), {"result": "round trip"}, {}),
    ("fft_mask", "fast", (64, 48), {}, {}),
    ("fft_mask", "fast", (64, 48), {}, {"parts": "all"}),
    ("fft1d", "fast", (4096,), {"result": "power density", "segment": 64}, {}),
    ("fft1d", "four_step", (4096,), {}, {}),
    ("fft1d", "four_step", (1009,), {}, {}),
    ("fft1d", "three_step", (4096,), {}, {}),
    ("fft_batch2d", "fast", (64, 128), {"numbers": "complex"}, {"launches": 2}),
    ("fft_batch1d", "fast", (4096,), {"numbers": "real"}, {"parts": "all"}),
    ("fft_batch1d", "fast", (4096,), {"numbers": "complex"}, {"parts": "three"}),
)


def accesses_before_the_wait(compiled: Compiled, name: str) -> list[str]:
    """The accesses to global memory in a kernel's PTX before it waits for the previous launch; all without a wait."""
    body = compiled.ptx.partition(f".entry {compiled.entry(name).symbol}(")[2].partition("\n}")[0]
    return re.findall(r"\b(?:ld|st|atom|red)\.global[\w.]*", body.partition("griddepcontrol.wait")[0])


@pytest.mark.parametrize(("id", "variant", "shape", "params", "knobs"), FFT_PLANS)
def test_early_launches_of_transforms_wait_before_their_first_access(
    id: str, variant: str, shape: tuple[int, ...], params: dict[str, Any], knobs: dict[str, Any]
) -> None:
    filter, device = find_filter(id), OfflineDevice("sm_90")
    x = device.empty(shape, np.float32)
    given = {p.name: p.default for p in filter.params} | params
    knobs = {p.name: p.default for p in filter.variant(variant).knobs} | knobs
    launches = [step for step in planned(filter, variant, device, x, given, knobs).steps if isinstance(step, Launch)]
    early = [step for step in launches if step.early]
    assert early and not launches[0].early
    for step in early:
        assert accesses_before_the_wait(step.kernel.compiled, step.kernel.name) == [], step.name
