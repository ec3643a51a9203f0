"""The variants of cuda.compute, CV-CUDA and nvmath-python, with stand-ins that compute with NumPy: the arguments that
these libraries take, the stream, the types of sums, and the steps around."""

from __future__ import annotations

import ctypes
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from gpu_ops.devices.cpu import CpuDevice, run_step
from gpu_ops.filters import FILTERS
from gpu_ops.running.verify import verify
from gpu_ops.task import MAIN, Meta, Task
from gpu_ops.types import Input

STREAM = 4711


class Resident(np.ndarray[Any, Any]):
    """An array with the address that CuPy gives."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


class FakeCompute:
    """Algorithms are made for types, are asked for the bytes of their temporary memory, and then run."""

    OpKind = SimpleNamespace(PLUS=np.add, MINIMUM=np.minimum, MAXIMUM=np.maximum)

    def make_reduce_into(self, *, d_in: Any, d_out: Any, op: Any, h_init: Any) -> Any:
        kinds = d_in.dtype, d_out.dtype

        def run(x: Any, out: Any, init: Any) -> None:
            values = x.astype(x.dtype if init is None else init.dtype)
            reduced = op.reduce(values, dtype=values.dtype)
            out[0] = reduced if init is None else op(reduced, init[0])

        return self._made(kinds, ("d_in", "d_out"), run, {"op": op}, "h_init")

    def _scan(self, shift: int, *, d_in: Any, d_out: Any, op: Any, init_value: Any) -> Any:
        def run(x: Any, out: Any, init: Any) -> None:
            sums = np.concatenate((init, op.accumulate(x.astype(init.dtype), dtype=init.dtype) + init))
            out[:] = sums[1 - shift : len(sums) - shift]

        return self._made((d_in.dtype, d_out.dtype), ("d_in", "d_out"), run, {"op": op}, "init_value")

    def make_inclusive_scan(self, **how: Any) -> Any:
        return self._scan(0, **how)

    def make_exclusive_scan(self, **how: Any) -> Any:
        return self._scan(1, **how)

    def make_histogram_even(self, *, d_samples: Any, d_histogram: Any, num_samples: int, **levels: Any) -> Any:
        def run(x: Any, out: Any, levels: Any) -> None:
            (low,), (high,), (count,) = (levels[f"h_{n}"] for n in ("lower_level", "upper_level", "num_output_levels"))
            out[:] = np.histogram(x, count - 1, (low, high - 1e-9))[0]  # the upper end is excluded

        made = self._made((d_samples.dtype, d_histogram.dtype), ("d_samples", "d_histogram"), run, {}, "")
        return lambda **how: made(**{k: v for k, v in how.items() if k[:2] != "h_"}, levels={k: how[k] for k in levels})

    def _made(self, kinds: Any, names: Any, run: Any, fixed: Any, init: str) -> Any:
        def call(*, temp_storage: Any, num_items: int = 0, num_samples: int = 0, stream: Any, **how: Any) -> int:
            assert stream.__cuda_stream__() == (0, STREAM)
            arrays = [how.pop(name) for name in names]
            assert (
                [array.dtype for array in arrays] == list(kinds)
                and arrays[0].ndim == 1
                and arrays[0].flags.c_contiguous
            )
            assert arrays[0].size == num_items + num_samples and all(how.pop(k) is v for k, v in fixed.items())
            value = how.pop(init) if init else how.pop("levels")
            assert not how
            if temp_storage is None:
                return 24
            assert temp_storage.nbytes == 24 and temp_storage.dtype == np.uint8
            run(*arrays, value)
            return 24

        return call


class FakeCvcuda:
    """Tensors (H, W, C), batches of images with their format, and a border."""

    Border = SimpleNamespace(CONSTANT="constant", REFLECT="reflect", REPLICATE="nearest", WRAP="wrap")
    Format = SimpleNamespace(F32=1, RGBf32=3, RGBAf32=4)

    def as_stream(self, pointer: int) -> tuple[str, int]:
        return "stream", pointer

    def as_tensor(self, array: Any, layout: str) -> Any:
        assert layout == {3: "HWC", 2: "NC"}[array.ndim] and array.flags.c_contiguous
        return array

    def as_images(self, images: Any, format: int) -> Any:
        (image,) = images
        assert image.dtype == np.float32 and image.shape[2] == format
        return image

    def averageblur_into(self, dst: Any, src: Any, size: Any, anchor: Any, border: Any, stream: Any) -> None:
        assert stream == ("stream", STREAM) and anchor == (-1, -1) and dst.dtype == src.dtype != np.float64
        means = ndimage.uniform_filter(src.astype(np.float64), size, axes=(0, 1), mode=border)
        dst[...] = means if src.dtype.kind == "f" else np.rint(means)

    def histogram_into(self, counts: Any, src: Any, stream: Any) -> None:
        assert stream == ("stream", STREAM) and src.dtype == np.uint8 and src.shape[2] == 1
        assert counts.shape == (1, 256, 1) and counts.dtype == np.int32
        counts[0, :, 0] = np.bincount(src.reshape(-1), minlength=256)

    def conv2d_into(self, dst: Any, src: Any, kernel: Any, anchor: Any, border: Any, stream: Any) -> None:
        assert stream == ("stream", STREAM) and anchor.tolist() == [[-1, -1]] and anchor.dtype == np.int32
        dst[...] = ndimage.correlate(src, kernel, mode=border)


class FakeCufft:
    """Plans by number, which read and write at addresses."""

    Type = SimpleNamespace(**{name: name for name in ("R2C", "D2Z", "C2C", "Z2Z")})

    def __init__(self) -> None:
        self.plans: dict[int, Any] = {}

    def create(self) -> int:
        self.plans[len(self.plans)] = None
        return len(self.plans) - 1

    def make_plan_many64(self, plan: int, rank: int, n: Any, *layout: Any) -> None:
        inside, in_step, in_size, outside, out_step, out_size, kind, batch = layout
        assert in_step == out_step == 1 and in_size == math.prod(inside) and out_size == math.prod(outside)
        assert inside == n and len(n) == rank
        self.plans[plan] = (n, outside, kind, batch)

    def set_stream(self, plan: int, stream: int) -> None:
        assert stream == STREAM and self.plans[plan] is not None

    def destroy(self, plan: int) -> None:
        del self.plans[plan]

    def __getattr__(self, name: str) -> Any:
        types = {"r2c": ("f4", "c8"), "d2z": ("f8", "c16"), "c2c": ("c8", "c8"), "z2z": ("c16", "c16")}
        kind = name.removeprefix("exec_")
        source, target = types[kind]

        def execute(plan: int, x: int, out: int, *direction: int) -> None:
            n, outside, planned, batch = self.plans[plan]
            assert planned.lower() == kind and direction == ((-1,) if kind in ("c2c", "z2z") else ())
            axes = tuple(range(1, len(n) + 1))
            transform = np.fft.fftn if kind in ("c2c", "z2z") else np.fft.rfftn
            _at(out, (batch, *outside), target)[...] = transform(_at(x, (batch, *n), source), axes=axes)

        return execute


def _at(address: int, shape: tuple[int, ...], dtype: str) -> Any:
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * nbytes).from_address(address), dtype).reshape(shape)


class Device(CpuDevice):
    """The processor, with arrays like CuPy's, and the libraries."""

    def __init__(self) -> None:
        current = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=STREAM))
        numpy = {name: getattr(np, name) for name in ("divide", "add", "cumsum", "concatenate", "zeros", "copyto")}
        self.libraries = {
            "cupy": SimpleNamespace(cuda=current, **numpy),
            "cuda.compute": FakeCompute(),
            "cvcuda": FakeCvcuda(),
            "nvmath.bindings.cufft": FakeCufft(),
        }

    def library(self, name: str) -> Any:
        return self.libraries[name]

    def empty(self, shape: Any, dtype: Any) -> Any:
        return super().empty(shape, dtype).view(Resident)

    def upload(self, array: Any, out: Any = None) -> Any:
        return super().upload(array, out).view(Resident)


CASES = [
    *(("reduce1d", "cub", (1000,), "uint8", {"statistic": statistic}) for statistic in ("sum", "min", "max", "mean")),
    *(("reduce2d", "cub", (20, 30), "float32", {"statistic": statistic}) for statistic in ("sum", "max", "mean")),
    *(("scan1d", "cub", (400,), dtype, {"sums": "inclusive"}) for dtype in ("uint16", "float32", "float64")),
    *(("scan1d", "cub", (n,), "uint8", {"sums": "exclusive"}) for n in (1, 400)),
    ("histogram1d", "cub", (500,), "uint8", {"bins": 256}),
    ("histogram1d", "cub", (500,), "uint16", {"bins": 100}),
    ("histogram2d", "cub", (20, 30), "uint8", {"bins": 64, "range": "given", "low": 10.0, "high": 99.5}),
    ("histogram2d", "cvcuda", (20, 30), "uint8", {"bins": 256}),
    ("histogram2d", "cvcuda", (20, 30), "uint8", {"bins": 17, "range": "given", "low": 10.0, "high": 99.5}),
    *(
        ("mean2d", "cvcuda", (20, 30), "float32", {"border": border})
        for border in ("zero", "reflect", "nearest", "wrap")
    ),
    ("mean2d", "cvcuda", (20, 30, 3), "uint8", {"window": 5}),
    ("box", "cvcuda", (20, 30, 4), "float32", {"radius": 2}),
    (
        "conv3x3",
        "cvcuda",
        (20, 30),
        "float32",
        {"matrix": (1.0, 2.0, 0.5, 0.25, -3.0, 4.0, 0.1, 0.2, 0.3), "passes": 2},
    ),
    ("conv3x3", "cvcuda", (20, 30, 3), "float32", {"offset": 3.5, "border": "wrap"}),
    ("fft_batch1d", "nvmath", (600,), "float32", {"points": 60, "numbers": "real"}),
    ("fft_batch1d", "nvmath", (600,), "float64", {"points": 25, "numbers": "complex"}),
    ("fft_batch1d", "nvmath", (600, 3), "uint8", {"points": 60, "numbers": "real"}),
    ("fft_batch2d", "nvmath", (24, 36), "float64", {"tile": 6, "numbers": "real"}),
    ("fft_batch2d", "nvmath", (24, 36), "float32", {"tile": 0, "numbers": "complex"}),
]


@pytest.mark.parametrize("id, variant, shape, dtype, params", CASES)
def test_the_plan_computes_the_filter(id: str, variant: str, shape: Any, dtype: str, params: Any) -> None:
    filter, device = FILTERS.find(id), Device()
    x = (np.random.default_rng(1).random(shape) * 200).astype(dtype)
    values = {p.name: p.check(params.get(p.name, p.default)) for p in filter.params}
    extremes = {"largest": 200.0, "low": 0.0, "high": 200.0} if dtype.startswith("float") else {}
    meta = Meta(filter.accepts, shape, dtype, **extremes)
    task = Task.of(meta, values, {})
    found = filter.variant(variant)
    assert not found.refusal(task)
    resident = device.upload(x)
    plan = found.plan(device, task.on(resident))
    for output in plan.outputs.values():
        output.view(np.uint8)[...] = 0xFF
    for step in plan.steps:
        run_step(step)
    given = Input(filter.accepts, x, meta.of_kind.axes[len(shape)], "samples", {})
    outputs = {name: np.asarray(output) for name, output in plan.outputs.items()}
    errors = verify(filter, found, given, Task({MAIN: meta}, values), outputs)
    assert errors and all(error.ok for error in errors.values()), errors
    assert np.array_equal(np.asarray(resident), x)


@pytest.mark.parametrize(
    "id, variant, shape, dtype, params, words",
    [
        ("reduce1d", "cub", (9, 2), "float32", {}, "one channel"),
        ("reduce1d", "cub", (9,), "float32", {"statistic": "variance"}, "choose another statistic"),
        ("reduce1d", "cub", (9,), "float32", {"compensated": "pairs"}, "compensat"),
        ("scan1d", "cub", (9, 2), "float32", {}, "one channel"),
        ("histogram1d", "cub", (9,), "float32", {}, "integers only"),
        ("histogram2d", "cvcuda", (9, 9), "uint16", {}, "bytes only"),
        ("histogram2d", "cvcuda", (9, 9, 3), "uint8", {}, "one channel"),
        ("mean2d", "cvcuda", (9, 9), "float64", {}, "convert the samples to float32"),
        ("mean2d", "cvcuda", (9, 9), "uint16", {"window": 5}, "too coarse"),
        ("mean2d", "cvcuda", (99, 99), "uint8", {"window": 15}, "sums 225 uint8 values"),
        ("conv3x3", "cvcuda", (9, 9), "uint8", {}, "halves"),
    ],
)
def test_what_they_do_not_take_is_said(id: str, variant: str, shape: Any, dtype: str, params: Any, words: str) -> None:
    filter = FILTERS.find(id)
    values = {p.name: p.default for p in filter.params} | params
    assert words in filter.variant(variant).refusal(Task.of(Meta(filter.accepts, shape, dtype), values, {}))


@pytest.mark.parametrize("bins, names", [(256, ["count", "outside"]), (64, ["count", "merge"])])
def test_levels_that_are_bins_are_not_merged(bins: int, names: list[str]) -> None:
    device, filter = Device(), FILTERS.find("histogram1d")
    values = {p.name: p.default for p in filter.params} | {"bins": bins}
    task = Task.of(Meta("signal", (9,), "uint8"), values, {}).on(device.upload(np.zeros(9, np.uint8)))
    assert [step.name for step in filter.variant("cub").plan(device, task).steps] == names


def test_extremes_of_nan_are_refused() -> None:
    filter = FILTERS.find("reduce1d")
    for statistic, refused in (("max", True), ("sum", False)):
        values = {p.name: p.default for p in filter.params} | {"statistic": statistic}
        task = Task.of(Meta("signal", (9,), "float32", finite=False), values, {})
        assert ("NaN" in (filter.variant("cub").refusal(task) or "")) == refused


def test_a_plan_of_cufft_ends_with_its_function() -> None:
    device, filter = Device(), FILTERS.find("fft_batch1d")
    values = {p.name: p.default for p in filter.params}
    x = device.upload(np.ones(64, np.float32))
    plan = filter.variant("nvmath").plan(device, Task.of(Meta("signal", (64,), "float32"), values, {}).on(x))
    assert len(device.library("nvmath.bindings.cufft").plans) == 1
    del plan
    assert not device.library("nvmath.bindings.cufft").plans
