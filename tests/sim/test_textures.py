"""A Copy step into a texture: a plan's counted trip of its input into the texture, made each time the plan runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.devices.images import sampling_of
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.units.textures import SimTexture, _weights
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


@pytest.mark.parametrize(
    ("shares", "weights"),
    [
        ((5, 206, 172), (16, 33, 66, 136, 0, 1, 2, 2)),
        ((132, 120, 207), (13, 53, 11, 47, 13, 57, 12, 50)),
        ((4, 78, 224), (22, 154, 9, 67, 0, 3, 0, 1)),
        ((51, 128, 150), (43, 60, 42, 60, 11, 15, 10, 15)),
        ((166, 17, 59), (64, 20, 5, 1, 120, 35, 8, 3)),
        ((78, 224), None),
    ],
)
def test_the_weights_of_interpolation_are_those_of_an_h200(
    shares: tuple[int, ...], weights: tuple[int, ...] | None
) -> None:
    """The shares of z, y and x in 256 steps; the weights were read from a texture with one bright cell after the
    other."""
    found = _weights(tuple(np.float64(share) for share in shares))
    assert sum(weight for _, weight in found) == 256
    if weights is not None:
        by_place = {4 * z + 2 * y + x: weight for (z, y, x), weight in found}
        assert tuple(int(by_place[n]) for n in range(8)) == weights


def _read(array: np.ndarray[Any, Any], words: str, at: list[float]) -> np.ndarray[Any, Any]:
    texture = SimTexture(array, sampling_of(words.split(), False))
    return texture.fetch([np.array([at], np.float32)])[0][0]


def test_interpolated_fractions_are_whole_steps_of_16_bits() -> None:
    array = np.array([0, 255, 3], np.uint8)
    found = _read(array, "linear fraction", [0.5, 1.0, 1.5, 2.0 + 1 / 256])
    steps = found.astype(float) * 65535
    np.testing.assert_allclose(steps, np.rint(steps), atol=0.005)
    assert found[0] == 0 and found[2] == 1
    assert np.rint(steps[1]) == 32768  # 255 · 257 / 2, half up


def test_normalized_coordinates_have_21_bits() -> None:
    """A coordinate just over the place where a weight is rounded up: on the grid of 22 bits it is cut below that place,
    on the grid of 21 bits it stays."""
    array = np.arange(3, dtype=np.float32)
    for bits, step in ((21, 1), (22, 0)):
        seen = 0
        for weight in range(64):
            place = (1.5 + (weight + 0.5) / 256) / 3
            at = math.ceil(place * 2**bits)
            if at % 2:  # a coarser grid has no such point
                found = _read(array, "normalized linear", [at / 2**bits])[0]
                assert found == 1 + (weight + step) / 256
                seen += 1
        assert seen > 8


@pytest.mark.parametrize(
    ("words", "shape", "dtype", "said"),
    [
        ("wrap", (8,), "float32", "takes normalized coordinates"),
        ("linear", (8,), "uint8", "add fraction"),
        ("fraction", (8,), "float32", "leave fraction out"),
        ("vector", (8, 3), "float32", "1, 2 or 4 channels"),
        ("layered", (2, 3, 4, 5), "float32", "leaves 3 axes"),
        ("cube", (5, 4, 4), "float32", "6 square faces"),
        ("", (8,), "float64", "not of float64"),
    ],
)
def test_what_a_texture_cannot_be_over_is_said(words: str, shape: tuple[int, ...], dtype: str, said: str) -> None:
    with pytest.raises(KernelError, match=said):
        SimTexture(np.zeros(shape, dtype), sampling_of(words.split(), False))


def test_an_option_that_no_texture_has() -> None:
    with pytest.raises(KernelError, match="no option 'cubic'; choose from clamp"):
        sampling_of(["cubic"], False)
