"""Plans of the box filter: how each variant does it, on memory allocated here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.borders import SCIPY_MODES
from gpu_ops.filters.box import marching
from gpu_ops.filters.box.limits import tile_bytes, window_of
from gpu_ops.filters.planning import CTYPES, block_shape
from gpu_ops.params import Value, Values
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan, Step
from gpu_ops.types import BORDERS

Sizes = tuple[np.int32, np.int32, np.int32]
TILE = 32
"""Rows of a block of the transposing variant; its kernel says the same."""


def defines(dtype: np.dtype[Any], channels: int, params: Values, float_sums: str) -> dict[str, Value]:
    """What the box kernels are compiled with. 513² values of 8 bits stay below 2^32, of 16 bits they do not."""
    integer = dtype.kind == "u"
    exact = "unsigned int" if dtype.itemsize == 1 else "unsigned long long"
    return {
        "SAMPLE": CTYPES[dtype.name],
        "ROW": "unsigned int" if integer else "float",
        "SUM": exact if integer else float_sums,
        "INTEGER": int(integer),
        "BORDER": BORDERS.index(params["border"]),
        "CHANNELS": channels,
    }


class _Job:
    """What the plans of the kernels share: the sizes, the output, and how a kernel of the variant's file is loaded."""

    def __init__(self, file: str, device: Device, x: DeviceArray, params: Values, knobs: Values, sums: str) -> None:
        self.device, self.x, self.radius, self.block = device, x, int(params["radius"]), int(knobs["block"])
        self.height, self.width = x.shape[:2]
        self.channels = x.shape[2] if x.ndim == 3 else 1
        self.elements = self.width * self.channels
        self.out = device.empty(x.shape, x.dtype)
        self.sizes: Sizes = (np.int32(self.height), np.int32(self.width), np.int32(self.radius))
        self._file, self._defines = file, defines(x.dtype, self.channels, params, sums)

    def row_sums(self) -> DeviceArray:
        """Memory for what the first pass leaves to the second."""
        return self.device.empty(self.x.shape, np.float32 if self.x.dtype.kind == "f" else np.uint32)

    def plane(self, kernel: str, *arrays: DeviceArray, name: str, shared: int = 0) -> Launch:
        """A thread for each value of the image."""
        block = block_shape(self.block)
        grid = grid2d(self.height, self.elements, block)
        return Launch(self._kernel(kernel), grid, (*block, 1), (*arrays, *self.sizes), shared, name=name)

    def lines(self, kernel: str, count: int, *arrays: DeviceArray, name: str) -> Launch:
        """A thread for each of `count` lines."""
        grid = grid1d(count, self.block)
        return Launch(self._kernel(kernel), grid, (self.block, 1, 1), (*arrays, *self.sizes), name=name)

    def row_tiles(self, kernel: str, *arrays: DeviceArray, name: str) -> Launch:
        """A block for each TILE rows of a channel."""
        grid = (grid1d(self.height, TILE)[0], self.channels, 1)
        return Launch(self._kernel(kernel), grid, (self.block, 1, 1), (*arrays, *self.sizes), name=name)

    def plan(self, *steps: Step) -> Plan:
        return Plan(steps, {"image": self.out})

    def _kernel(self, name: str) -> Any:
        return self.device.kernel(self._file, name, self._defines)


def direct(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/1_direct.cu", device, x, params, knobs, "float")
    return job.plan(job.plane("box_direct", x, job.out, name="direct"))


def separable(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/2_separable.cu", device, x, params, knobs, "float")
    rows = job.row_sums()
    return job.plan(
        job.plane("box_separable_rows", x, rows, name="along the rows"),
        job.plane("box_separable_columns", rows, job.out, name="along the columns"),
    )


def sliding(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/3_sliding.cu", device, x, params, knobs, "double")
    rows = job.row_sums()
    return job.plan(
        job.lines("box_sliding_rows", job.height * job.channels, x, rows, name="along the rows"),
        job.lines("box_sliding_columns", job.elements, rows, job.out, name="along the columns"),
    )


def sliding_texture(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/4_sliding_texture.cu", device, x, params, knobs, "double")
    rows = job.row_sums()
    flat = x.reshape((job.height, job.elements))
    texture = device.texture(flat)
    return job.plan(
        Copy(texture, flat, name="into the texture"),
        job.lines("box_sliding_texture_rows", job.height * job.channels, texture, rows, name="along the rows"),
        job.lines("box_sliding_texture_columns", job.elements, rows, job.out, name="along the columns"),
    )


def sliding_transpose(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/5_sliding_transpose.cu", device, x, params, knobs, "double")
    rows = job.row_sums()
    return job.plan(
        job.row_tiles("box_sliding_transpose_rows", x, rows, name="along the rows"),
        job.lines("box_sliding_transpose_columns", job.elements, rows, job.out, name="along the columns"),
    )


def table(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/6_table.cu", device, x, params, knobs, "float")
    around = 2 * job.radius
    lines, columns = (job.height + around) * job.channels, (job.width + around) * job.channels
    sums = device.empty((job.height + around, columns), np.float64)
    return job.plan(
        job.lines("box_table_rows", lines, x, sums, name="sums along the rows"),
        job.lines("box_table_columns", columns, sums, name="sums along the columns"),
        job.plane("box_table_squares", sums, job.out, name="squares"),
    )


def separable_fused(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    job = _Job("box/7_separable_fused.cu", device, x, params, knobs, "float")
    shared = tile_bytes(x.dtype.itemsize, job.channels, params, knobs)
    return job.plan(job.plane("box_separable_fused", x, job.out, name="both passes", shared=shared))


def ring(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    return marching.plan("ring", "box/8_ring.cu", "float", device, x, params)


def double(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    return marching.plan("double", "box/9_double.cu", "double", device, x, params)


def cupyx(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """cupyx's separable correlation; integers go through exact sums and a rounding kernel, whose cost is counted."""
    ndimage, cupy = device.library("cupyx.scipy.ndimage"), device.library("cupy")
    window, mode = window_of(params), SCIPY_MODES[params["border"]]
    out = device.empty(x.shape, x.dtype)
    if x.dtype.kind == "f":
        targets = [device.empty(x.shape, x.dtype), out]
        return Plan(tuple(_axes(ndimage.uniform_filter1d, x, window, targets, mode)), {"image": out})
    # It sums with whole weights in float64. Sums of 16-bit rows stay below 2^32, of squares they do not.
    last = np.uint32 if x.dtype.itemsize == 1 else np.float64
    targets = [device.empty(x.shape, np.uint32), device.empty(x.shape, last)]
    steps = _axes(ndimage.correlate1d, x, device.upload(np.ones(window, np.uint32)), targets, mode)
    rule = "y = (T)(((unsigned long long)s + count / 2) / count)"
    divide = cupy.ElementwiseKernel("S s, uint32 count", "T y", rule, "box_round_half_up")
    steps.append(Call(divide, (targets[-1], np.uint32(window**2), out), name="round half up"))
    return Plan(tuple(steps), {"image": out})


def _axes(
    function: Callable[..., Any], x: DeviceArray, how: Any, targets: Sequence[DeviceArray], mode: str
) -> list[Call]:
    """One call an axis, each from the target of the one before."""
    return [
        Call(function, (source, how), {"axis": axis, "output": target, "mode": mode}, f"axis {axis}")
        for axis, (source, target) in enumerate(zip((x, targets[0]), targets, strict=True))
    ]


def cucim(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """cuCIM's local mean, two separable correlations; it gives memory of its own, and the copy out of it is counted."""
    filters, cupy = device.library("cucim.skimage.filters"), device.library("cupy")
    out = device.empty(x.shape, x.dtype)

    def local_mean(window: int, mode: str) -> None:
        cupy.copyto(out, filters.threshold_local(x, window, method="mean", mode=mode))

    return Plan(
        (Call(local_mean, (window_of(params), SCIPY_MODES[params["border"]]), name="local mean"),), {"image": out}
    )


def host(id: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A compiled CPU function of the host module, called with (x, out, radius, border)."""
    from gpu_ops.filters.box import host

    return _call(getattr(host, id), device, x, params)


def peer(id: str, module: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A CPU library's function of the peers module, called with (module, x, out, radius, border)."""
    from gpu_ops.filters.box import peers

    return _call(partial(getattr(peers, id), device.library(module)), device, x, params)


def _call(function: Callable[..., Any], device: Device, x: DeviceArray, params: Values) -> Plan:
    out = device.empty(x.shape, x.dtype)
    return Plan((Call(function, (x, out, params["radius"], params["border"]), name="image"),), {"image": out})
