"""Textures over copies of device arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.current import DeviceObjects
from gpu_ops.devices.images import Sampling
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
    _fill(storage, array)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=storage)
    sampling = runtime.cudaFilterModeLinear if linear else runtime.cudaFilterModePoint
    descriptor = texture.TextureDescriptor((modes[border],) * array.ndim, sampling, runtime.cudaReadModeElementType)
    handle = texture.TextureObject(resource, descriptor)
    objects = DeviceObjects(index, storage, handle, resource, descriptor)
    return Texture(int(handle.ptr), array.shape, array.dtype, objects)


@dataclass(frozen=True, eq=False)
class Image:
    """A texture or surface object as a launch argument; `pointer` is its handle."""

    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    objects: DeviceObjects = field(repr=False)

    def download(self) -> np.ndarray[Any, Any]:
        """The content of a surface."""
        target = np.empty(self.shape, self.dtype)
        storage = self.objects.first
        storage.copy_to(target.reshape(_stored(storage)))
        return target


def make_image(array: Any, sampling: Sampling, index: int) -> Image:
    """A texture or surface over a copy of `array` on device `index`, or a texture over its memory. Raises KernelError
    for an array that it cannot be over."""
    sampling.check(array.shape, array.dtype)
    from cupy.cuda import runtime, texture

    kinds = {kind: getattr(runtime, f"cudaChannelFormatKind{name}") for kind, name in _KINDS.items()}
    bits, channels = array.dtype.itemsize * 8, sampling.channels(array.shape)
    each = [bits if n < channels else 0 for n in range(4)]
    channel = texture.ChannelFormatDescriptor(*each, kinds[array.dtype.kind])
    *outer, width = sampling.extents(array.shape)
    if sampling.memory:
        storage = array
        resource = _over_memory(array, channel, outer, width)
    else:
        depth, height = (*(0,) * (2 - len(outer)), *outer)
        # cudaArrayLayered, cudaArrayCubemap, cudaArraySurfaceLoadStore
        flags = (4 if sampling.cube else 1 if sampling.layered else 0) | (2 if sampling.surface else 0)
        depth = sampling.layers(array.shape) if sampling.layered else depth
        storage = texture.CUDAarray(channel, width, height, depth, flags)
        _fill(storage, array.reshape(_stored(storage)))
        resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=storage)
    if sampling.surface:
        surface = texture.SurfaceObject(resource)
        return Image(int(surface.ptr), array.shape, array.dtype, DeviceObjects(index, storage, surface, resource))
    border = getattr(runtime, f"cudaAddressMode{sampling.border.capitalize()}")
    descriptor = texture.TextureDescriptor(
        (border,) * (len(outer) + 1),
        runtime.cudaFilterModeLinear if sampling.linear else runtime.cudaFilterModePoint,
        runtime.cudaReadModeNormalizedFloat if sampling.fraction else runtime.cudaReadModeElementType,
        normalizedCoords=int(sampling.normalized),
    )
    handle = texture.TextureObject(resource, descriptor)
    objects = DeviceObjects(index, storage, handle, resource, descriptor)
    return Image(int(handle.ptr), array.shape, array.dtype, objects)


def _fill(storage: Any, array: Any) -> None:
    """Copy an array into the storage on the current stream, and wait for the end: without a stream the copy is one of
    the default stream, for which kernels on other streams do not wait."""
    import cupy

    stream = cupy.cuda.get_current_stream()
    storage.copy_from(array, stream)
    stream.synchronize()


_KINDS = {"i": "Signed", "u": "Unsigned", "f": "Float"}


def _stored(storage: Any) -> tuple[int, ...]:
    """The shape in which CuPy copies arrays: channels within a row."""
    channels = sum(bits > 0 for name, bits in storage.desc.get_channel_format().items() if name in "xyzw")
    return (*(n for n in (storage.depth, storage.height) if n), storage.width * channels)


def _over_memory(array: Any, channel: Any, outer: list[int], width: int) -> Any:
    from cupy.cuda import runtime, texture

    if not outer:
        kind = runtime.cudaResourceTypeLinear
        return texture.ResourceDescriptor(kind, arr=array, chDesc=channel, sizeInBytes=array.nbytes)
    kind, pitch = runtime.cudaResourceTypePitch2D, array.strides[0]
    return texture.ResourceDescriptor(kind, arr=array, chDesc=channel, width=width, height=outer[0], pitchInBytes=pitch)
