"""Textures over copies of device arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.current import DeviceObjects
from gpu_ops.devices.launches import check_texture


@dataclass(frozen=True, eq=False)
class Texture:
    """A texture object as a launch argument; `pointer` is its handle. A Copy step into it replaces its content."""

    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    objects: DeviceObjects = field(repr=False)

    def refresh(self, source: Any, stream: Any) -> None:
        """Copy a contiguous array of the same shape and dtype into it, in stream order."""
        self.objects.first.copy_from(source, stream)


def make_texture(array: Any, border: str, linear: bool, index: int) -> Texture:
    """A texture over a copy of `array` (N,) or (H, W) on device `index`, addressed in elements from 0.5 on.

    Beyond the edges: "nearest" repeats the edge, "zero" gives zero. `linear` interpolates float32 with 8-bit weights.
    Raises KernelError for other borders, shapes and dtypes.
    """
    check_texture(array, border, linear)
    from cupy.cuda import runtime, texture

    modes = {"nearest": runtime.cudaAddressModeClamp, "zero": runtime.cudaAddressModeBorder}
    kinds = {"u": runtime.cudaChannelFormatKindUnsigned, "f": runtime.cudaChannelFormatKindFloat}
    bits = array.dtype.itemsize * 8
    channel = texture.ChannelFormatDescriptor(bits, 0, 0, 0, kinds[array.dtype.kind])
    height = array.shape[0] if array.ndim == 2 else 0
    storage = texture.CUDAarray(channel, array.shape[-1], height)
    storage.copy_from(array)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=storage)
    sampling = runtime.cudaFilterModeLinear if linear else runtime.cudaFilterModePoint
    descriptor = texture.TextureDescriptor((modes[border],) * array.ndim, sampling, runtime.cudaReadModeElementType)
    handle = texture.TextureObject(resource, descriptor)
    objects = DeviceObjects(index, storage, handle, resource, descriptor)
    return Texture(int(handle.ptr), array.shape, array.dtype, objects)
