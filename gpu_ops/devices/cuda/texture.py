"""Textures over copies of device arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpu_ops.errors import KernelError


@dataclass(frozen=True, eq=False)
class Texture:
    """A texture object as a launch argument; `pointer` is its handle."""

    pointer: int
    keep: tuple[Any, ...] = field(repr=False)


def make_texture(array: Any, border: str, linear: bool) -> Texture:
    """A texture over a copy of `array` (N,) or (H, W), addressed in elements from 0.5 on.

    Beyond the edges: "nearest" repeats the edge, "zero" gives zero. `linear` interpolates float32 with 8-bit weights.
    Raises KernelError for other borders, shapes and dtypes.
    """
    from cupy.cuda import runtime, texture

    modes = {"nearest": runtime.cudaAddressModeClamp, "zero": runtime.cudaAddressModeBorder}
    kinds = {"u": runtime.cudaChannelFormatKindUnsigned, "f": runtime.cudaChannelFormatKindFloat}
    if border not in modes:
        raise KernelError(f"A texture addressed in elements has border nearest or zero, not {border}.")
    if array.ndim not in (1, 2) or array.dtype.name not in ("uint8", "uint16", "float32"):
        raise KernelError(f"A texture takes 1D or 2D uint8, uint16 or float32, not {array.ndim}D {array.dtype.name}.")
    if linear and array.dtype.name != "float32":
        raise KernelError("Linear interpolation takes float32; convert the input or read the nearest element.")
    bits = array.dtype.itemsize * 8
    channel = texture.ChannelFormatDescriptor(bits, 0, 0, 0, kinds[array.dtype.kind])
    height = array.shape[0] if array.ndim == 2 else 0
    storage = texture.CUDAarray(channel, array.shape[-1], height)
    storage.copy_from(array)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=storage)
    sampling = runtime.cudaFilterModeLinear if linear else runtime.cudaFilterModePoint
    described = texture.TextureDescriptor((modes[border],) * array.ndim, sampling, runtime.cudaReadModeElementType)
    handle = texture.TextureObject(resource, described)
    return Texture(int(handle.ptr), (handle, storage, resource, described))
