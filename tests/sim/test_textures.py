"""A Copy step into a texture: a plan's counted trip of its input into the texture, made each time the plan runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import KernelError
from gpu_ops.plan import Copy, Launch, Plan

FILE = "tests/own.cu"
TEXT = """
extern "C" __global__ void fetch(cudaTextureObject_t texture, float* y, int width, int height)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width * height) y[i] = tex2D<float>(texture, i % width + 0.5f, i / width + 0.5f);
}
"""
SHAPE = (7, 11)


def _plan(session: Any) -> tuple[Any, Plan]:
    """A plan that reads its input through a texture, made while the input holds nothing but zeros."""
    x, out = session.upload(np.zeros(SHAPE, np.float32)), session.empty(SHAPE, np.float32)
    texture = session.texture(x)
    args = (texture, out, np.int32(SHAPE[1]), np.int32(SHAPE[0]))
    read = Launch(session.kernel(FILE, "fetch"), (1, 1, 1), (128, 1, 1), args, name="read")
    return x, Plan((Copy(texture, x, "into the texture"), read), {"image": out})


@pytest.mark.parametrize("guarded", [False, True])
def test_a_texture_holds_what_the_input_held_when_the_plan_ran(guarded: bool) -> None:
    session: Any = open_device("sim").session({FILE: TEXT})
    session = GuardedSession(session) if guarded else session
    x, plan = _plan(session)
    for seed in (1, 2):
        image = np.random.default_rng(seed).random(SHAPE, np.float32)
        session.upload(image, out=x)
        done = session.execute(plan, trace=True)
        assert [span.name for span in done.spans] == ["into the texture", "read"] and not done.findings
        np.testing.assert_array_equal(session.download(plan.outputs["image"]), image)


def test_a_plan_with_a_texture_is_checked_with_no_gpu() -> None:
    device = OfflineDevice("sm_90", {FILE: TEXT})
    x, plan = _plan(device)
    device.check(plan)
    wrong = Copy(plan.steps[0].target, device.empty((7, 10), np.float32), "into the texture")  # type: ignore[union-attr]
    with pytest.raises(KernelError, match="into the texture copies 7 x 10 float32 into a texture of 7 x 11 float32"):
        device.check(Plan((wrong,), {}))
    with pytest.raises(KernelError, match="uint8, uint16 or float32, not 2D float64"):
        device.texture(device.empty(SHAPE, np.float64))


@pytest.mark.parametrize(
    "source, words",
    [
        (np.zeros((11, 7), np.float32), "copies 11 x 7 float32 into a texture of 7 x 11 float32"),
        (np.zeros(SHAPE, np.uint8), "copies 7 x 11 uint8 into a texture of 7 x 11 float32"),
        (np.zeros((7, 22), np.float32)[:, ::2], "copies an array with gaps"),
    ],
)
def test_what_cannot_fill_a_texture_is_refused_before_anything_runs(source: np.ndarray[Any, Any], words: str) -> None:
    session = open_device("sim").session({FILE: TEXT})
    x, plan = _plan(session)
    texture = plan.steps[0].target  # type: ignore[union-attr]
    with pytest.raises(KernelError, match=words):
        session.execute(Plan((plan.steps[0], Copy(texture, source, "refresh")), {}))
