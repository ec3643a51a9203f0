"""Calls of GPU libraries – PyTorch, CUB through cuda.compute, cuFFT through nvmath-python, CV-CUDA – on the arrays of a
GPU. Each puts its work into CuPy's current stream, and shares the memory of the arrays."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.rules import not_of
from gpu_ops.plan import Call, Device, DeviceArray
from gpu_ops.task import Task
from gpu_ops.types import Rule

FLOATS = not_of(
    *("uint8", "uint16"), words="PyTorch computes it of floating-point samples only: convert them to float32"
)
PIXELS = Rule(lambda task: task.meta.channels not in (1, 3, 4), "CV-CUDA takes 1, 3 or 4 channels, not {meta.channels}")
NO_DOUBLE = not_of("float64", words="CV-CUDA has no float64: convert the samples to float32")
_FORWARD = -1
_TRANSFORMS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "float32": ("R2C", ()),
    "float64": ("D2Z", ()),
    "complex64": ("C2C", (_FORWARD,)),
    "complex128": ("Z2Z", (_FORWARD,)),
}
"""cuFFT's forward transform of numbers of a type, and its direction where it has two."""


def on_tensors(device: Device, function: Callable[..., Any]) -> Callable[..., None]:
    """`function` of PyTorch's tensors as a function of the device's arrays. PyTorch has an allocator of its own for
    intermediate results. Raises LibraryMissing without PyTorch or CuPy."""
    torch, cuda = device.library("torch"), device.library("cupy").cuda

    def call(*arrays: Any) -> None:
        here = f"cuda:{cuda.Device().id}"
        stream = torch.cuda.ExternalStream(cuda.get_current_stream().ptr, here)
        with torch.cuda.stream(stream):
            function(*(torch.as_tensor(array, device=here) for array in arrays))

    return call


def on_images(device: Device, function: Callable[..., Any]) -> Callable[..., None]:
    """`function` of CV-CUDA's tensors (H, W, C) and of a keyword `stream` as a function of images (H, W) or (H, W, C).
    Raises LibraryMissing without CV-CUDA or CuPy."""
    cvcuda, cuda = device.library("cvcuda"), device.library("cupy").cuda

    def call(*images: Any) -> None:
        tensors = (cvcuda.as_tensor(image.reshape(*image.shape[:2], -1), "HWC") for image in images)
        function(*tensors, stream=cvcuda.as_stream(cuda.get_current_stream().ptr))

    return call


def on_batches(device: Device, function: Callable[..., Any]) -> Callable[..., None]:
    """`function` of CV-CUDA's batches of one image and of a keyword `stream` as a function of images of float32."""
    cvcuda, cuda = device.library("cvcuda"), device.library("cupy").cuda
    formats = {1: cvcuda.Format.F32, 3: cvcuda.Format.RGBf32, 4: cvcuda.Format.RGBAf32}

    def call(*images: Any) -> None:
        pixels = (image.reshape(*image.shape[:2], -1) for image in images)
        batches = (cvcuda.as_images([image], formats[image.shape[2]]) for image in pixels)
        function(*batches, stream=cvcuda.as_stream(cuda.get_current_stream().ptr))

    return call


def averaged(device: Device, window: int, border: str) -> Callable[..., None]:
    """CV-CUDA's average blur over a square, as a function of an image and its means."""
    into, mode = device.library("cvcuda").averageblur_into, cvcuda_border(device, border)
    return on_images(device, lambda x, out, stream: into(out, x, (window, window), (-1, -1), mode, stream=stream))


def misrounds(window: Callable[[Task], int]) -> Rule:
    """CV-CUDA sums rounded products of integers in float32: of n values up to m, a mean has an error of at most
    (n + 2) m · 2^-24, which must stay below its least distance from a half, 1 / (2 n)."""

    def beyond(task: Task) -> int:
        most = {"uint8": 2**8 - 1, "uint16": 2**16 - 1}.get(task.meta.dtype, 0)
        n = window(task) ** 2
        return n if 2 * n * (n + 2) * most > 2**24 else 0

    return Rule(beyond, "it sums {found} {meta.dtype} values in float32, too coarse to round to the right integer")


def cvcuda_border(device: Device, border: str) -> Any:
    """A border in CV-CUDA."""
    names = {"zero": "CONSTANT", "reflect": "REFLECT", "nearest": "REPLICATE", "wrap": "WRAP"}
    return getattr(device.library("cvcuda").Border, names[border])


class _CurrentStream:
    """CuPy's current stream by the protocol that cuda.compute asks for."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._cuda.get_current_stream().ptr


def by_cub(device: Device, algorithm: Any, name: str, arrays: Mapping[str, DeviceArray], **fixed: Any) -> Call:
    """A step that runs an algorithm made by cuda.compute on arrays, by the names of its arguments. Its temporary memory
    is allocated here."""
    call = partial(algorithm, stream=_CurrentStream(device.library("cupy").cuda), **fixed)
    space = device.empty((max(1, call(temp_storage=None, **arrays)),), np.uint8)
    return Call(call, (), {"temp_storage": space, **arrays}, name)


def by_cufft(device: Device, x: DeviceArray, out: DeviceArray, rank: int) -> Callable[[DeviceArray, DeviceArray], None]:
    """cuFFT's transform along the last `rank` axes of contiguous numbers, real or complex, by a plan that nvmath-python
    makes: a function of x and out."""
    cufft, cuda = device.library("nvmath.bindings.cufft"), device.library("cupy").cuda
    extents, inside, outside = (shape[-rank:] for shape in (x.shape, x.shape, out.shape))
    kind, direction = _TRANSFORMS[x.dtype.name]
    plan = cufft.create()
    cufft.make_plan_many64(
        *(plan, rank, extents, inside, 1, math.prod(inside), outside, 1, math.prod(outside)),
        *(getattr(cufft.Type, kind), math.prod(x.shape[:-rank])),
    )
    execute = getattr(cufft, f"exec_{kind.lower()}")

    def run(x: DeviceArray, out: DeviceArray) -> None:
        cufft.set_stream(plan, cuda.get_current_stream().ptr)
        execute(plan, x.data.ptr, out.data.ptr, *direction)

    weakref.finalize(run, cufft.destroy, plan)
    return run
