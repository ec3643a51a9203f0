"""The variants of PyTorch, with a stand-in that computes with NumPy: their arrays, the stream and the steps around."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import libraries
from gpu_ops.devices.cpu import CpuDevice, run_step
from gpu_ops.errors import LibraryMissing
from gpu_ops.filters import FILTERS
from gpu_ops.task import Meta, Task

STREAM = 4711


class Tensor(np.ndarray[Any, Any]):
    """An array with the methods of a tensor."""

    def index_select(self, axis: int, places: Any) -> Any:
        return self.take(places, axis)

    def permute(self, *axes: int) -> Any:
        return self.transpose(axes)


def _pool(x: Any, window: Any, step: Any, padding: Any, out: Any) -> None:
    pad = [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(np.asarray(x), pad), window, axis=(2, 3))
    out[...] = windows.mean((-1, -2))


class FakeTorch:
    """Its calls must happen in the stream that the arrays' library uses, on its device."""

    def __init__(self) -> None:
        self.inside: list[tuple[int, str]] = []
        self.cuda = SimpleNamespace(ExternalStream=lambda pointer, device: (pointer, device), stream=self._stream)
        self.ops = SimpleNamespace(aten=SimpleNamespace(avg_pool2d=SimpleNamespace(out=self._checked(_pool))))

        def transform(name: str) -> Any:
            function = getattr(np.fft, name)
            return self._checked(lambda x, *size, dim, out: np.copyto(out, function(x, *size, axes=dim)))

        def cumsum(x: Any, axis: int, dtype: Any, out: Any) -> None:
            np.cumsum(x, axis, dtype, out)

        self.fft = SimpleNamespace(rfftn=transform("rfftn"), irfftn=transform("irfftn"))
        self.cumsum = self._checked(cumsum)

    @contextmanager
    def _stream(self, stream: tuple[int, str]) -> Any:
        self.inside.append(stream)
        yield
        self.inside.pop()

    def _checked(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            assert self.inside == [(STREAM, "cuda:1")]
            return function(*args, **kwargs)

        return call

    def as_tensor(self, array: Any, device: str) -> Any:
        assert device == "cuda:1"
        return array.view(Tensor)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> CpuDevice:
    cuda = SimpleNamespace(Device=lambda: SimpleNamespace(id=1), get_current_stream=lambda: SimpleNamespace(ptr=STREAM))
    modules = {"torch": FakeTorch(), "cupy": SimpleNamespace(cuda=cuda)}
    monkeypatch.setattr(CpuDevice, "library", lambda self, name: modules[name])
    return CpuDevice()


CASES = [
    *(("mean2d", (9, 12), "float32", {"window": 5, "border": border}) for border in ("zero", "reflect", "wrap")),
    ("mean2d", (9, 12, 3), "float64", {"window": 7, "border": "nearest"}),
    ("scan1d", (40, 3), "uint16", {"sums": "exclusive"}),
    ("scan2d", (5, 40), "float32", {"sums": "inclusive"}),
    ("fft1d", (60,), "float32", {"result": "round trip"}),
    ("fft2d", (6, 10), "float32", {"result": "level"}),
    ("fft_mask", (6, 10), "float32", {}),
]


@pytest.mark.parametrize("id, shape, dtype, params", CASES)
def test_the_plan_computes_the_filter(device: CpuDevice, id: str, shape: Any, dtype: str, params: Any) -> None:
    filter = FILTERS.find(id)
    variant = filter.variant("torch")
    values = {p.name: p.default for p in filter.params} | params
    task = Task.of(Meta(filter.accepts, shape, dtype), values, {})
    assert not variant.refusal(task)
    x = (np.random.default_rng(1).random(shape) * 200).astype(dtype)
    plan = variant.plan(device, task.on(device.upload(x)))
    for step in plan.steps:
        run_step(step)
    expected = filter.reference(task.on(x))
    for name, output in plan.outputs.items():
        np.testing.assert_allclose(np.asarray(output), np.asarray(expected[name]), rtol=1e-4, atol=0.01)


def test_pooling_refuses_integers_and_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    filter = FILTERS.find("mean2d")
    task = Task.of(Meta("image", (9, 12), "uint8"), {p.name: p.default for p in filter.params}, {})
    assert "convert them to float32" in filter.variant("torch").refusal(task)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LibraryMissing, match="install torch"):
        libraries.import_library("torch")
    assert all("torch" in {v.id for v in f.variants} for f in FILTERS if f.family in ("fft", "fft_mask", "scan"))
