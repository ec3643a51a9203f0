"""Plans of the 3×3 convolution: how each variant does it, on memory allocated here. Every pass is a step of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid2d
from gpu_ops.filters.conv3x3.arithmetic import Arithmetic, arithmetic
from gpu_ops.filters.planning import CTYPES
from gpu_ops.params import Value, Values
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.types import BORDERS

NUMBERS = {
    "bytes": 1,
    "rgba": 2,
    "packed": 3,
    "padded": 4,
    "pitched": 5,
    "edges": 6,
    "constant": 7,
    "texture": 8,
    "fused": 9,
    "warp_rows": 10,
    "rows": 11,
}
PADDING = 128
"""Bytes that rows padded by hand are a multiple of."""
VALUES = 128
"""Values, or pixels, of a row that a block of 32 threads works on where each takes four."""
ROWS = 8
"""Rows that a warp walks down in warp_rows."""
WEIGHT_TYPES = {"int32": "int", "float32": "float", "float64": "double"}


class Job:
    """What all plans of the kernels share: the image as lines of values, its arithmetic, and the kernel file."""

    def __init__(self, id: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> None:
        self.id, self.device, self.x, self.dtype = id, device, x, x.dtype
        self.height, self.width = x.shape[:2]
        self.channels = x.shape[2] if x.ndim == 3 else 1
        self.columns = self.width * self.channels
        self.how: Arithmetic = arithmetic(x.dtype, params)
        self.border = np.int32(BORDERS.index(params["border"]))
        self.passes: int = params["passes"]
        self.block = (32, int(knobs["block_y"]), 1)
        self.weights = None if id in ("constant", "rows") else device.upload(self.how.weights)
        self.out = device.empty(x.shape, x.dtype)

    @property
    def finish(self) -> tuple[Any, Any, Any]:
        """The scalars that finish a sum."""
        return self.how.bias, self.how.divisor, self.how.offset

    @property
    def sizes(self) -> tuple[Any, Any, Any]:
        """Height, columns and channels."""
        return np.int32(self.height), np.int32(self.columns), np.int32(self.channels)

    def kernel(self, part: str = "", **more: Value) -> Any:
        """The variant's kernel, or the one of its kernels that is called so; compiled with `more` besides."""
        defines: dict[str, Value] = {
            "SAMPLE": CTYPES[self.dtype.name],
            "WEIGHT": WEIGHT_TYPES[self.how.weights.dtype.name],
            "INTEGER": int(self.dtype.kind == "u"),
            **more,
        }
        if self.id == "warp_rows":
            defines["ROWS"] = ROWS
        file = f"conv3x3/{NUMBERS[self.id]}_{self.id}.cu"
        return self.device.kernel(file, f"conv3x3_{self.id}{part}", defines)

    def grid(self, across: int = 32, down: int = 1) -> tuple[int, int, int]:
        """Blocks that cover the lines, each so many values wide and `down` rows a thread high."""
        return grid2d(self.height, self.columns, (across, self.block[1] * down))

    def passed(self, step: Callable[[DeviceArray, DeviceArray, str], Any], arrays: Sequence[DeviceArray]) -> list[Any]:
        """A step from each array to the next, named by its pass."""
        names = ["convolve"] if self.passes == 1 else ["first pass", "second pass"]
        pairs = zip(arrays[:-1], arrays[1:], names, strict=True)
        return [step(source, target, name) for source, target, name in pairs]

    def chain(self) -> list[DeviceArray]:
        """The input, what lies between two passes, and the output."""
        return [self.x, *(self.device.empty(self.x.shape, self.dtype) for _ in range(self.passes - 1)), self.out]


def direct(id: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """bytes, edges and warp_rows on the image as it is; and constant, whose weights are a symbol."""
    job = Job(id, device, x, params, knobs)
    kernel, shared, grid = job.kernel(), 0, job.grid()
    weights = () if job.weights is None else (job.weights,)
    constants = {"weights": job.how.weights} if job.weights is None else {}
    if id == "warp_rows":
        grid, shared = job.grid(VALUES, ROWS), warp_rows_bytes(job.dtype.itemsize, job.channels, job.block[1])

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, *weights, *job.finish, *job.sizes, job.border)
        return Launch(kernel, grid, job.block, args, shared, constants, name=name)

    return Plan(tuple(job.passed(step, job.chain())), {"image": job.out})


def rgba(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """RGB goes through RGBA and back; RGBA is filtered as it is."""
    job = Job("rgba", device, x, params, knobs)
    kernel, grid = job.kernel(), grid2d(job.height, job.width, job.block[:2])
    sizes = (np.int32(job.height), np.int32(job.width), job.border)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        return Launch(kernel, grid, job.block, (source, target, job.weights, *job.finish, *sizes), name=name)

    if job.channels == 4:
        return Plan(tuple(job.passed(step, job.chain())), {"image": job.out})
    arrays = [device.empty((job.height, job.width, 4), job.dtype) for _ in range(job.passes + 1)]
    pixels, threads = job.height * job.width, 32 * job.block[1]
    line = ((-(-pixels // threads), 1, 1), (threads, 1, 1))
    pad = Launch(job.kernel("_pad"), *line, (x, arrays[0], np.int64(pixels)), name="RGB to RGBA")
    cut = Launch(job.kernel("_cut"), *line, (arrays[-1], job.out, np.int64(pixels)), name="RGBA to RGB")
    return Plan((pad, *job.passed(step, arrays), cut), {"image": job.out})


def packed(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """Words through shared memory."""
    job = Job("packed", device, x, params, knobs)
    kernel, stride = job.kernel(), packed_stride(job.dtype.itemsize, job.channels)
    grid, shared = job.grid(VALUES * job.channels), packed_bytes(job.dtype.itemsize, job.channels, job.block[1])

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, job.weights, *job.finish, *job.sizes, job.border, np.int32(stride))
        return Launch(kernel, grid, job.block, args, shared, name=name)

    return Plan(tuple(job.passed(step, job.chain())), {"image": job.out})


def padded(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """Rows a multiple of 128 bytes apart, in memory of our own."""
    pitch = -(-(x.size // len(x) * x.dtype.itemsize) // PADDING) * PADDING
    whole = [device.empty((len(x), pitch // x.dtype.itemsize), x.dtype) for _ in range(params["passes"] + 1)]
    columns = x.size // len(x)
    rows = [array[:, :columns] for array in whole]
    job = Job("padded", device, x, params, knobs)
    return _apart(job, whole, rows, pitch, np.int32(pitch // x.dtype.itemsize))


def pitched(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """Rows as far apart as the driver says."""
    rows = [device.pitched(len(x), x.size // len(x), x.dtype) for _ in range(params["passes"] + 1)]
    pitch = rows[0].strides[0]
    return _apart(Job("pitched", device, x, params, knobs), rows, rows, pitch, np.int64(pitch))


def _apart(job: Job, memory: Sequence[DeviceArray], rows: Sequence[DeviceArray], pitch: int, given: Any) -> Plan:
    """A 2D copy into rows that lie `pitch` bytes apart, passes there, and a 2D copy out. Kernels take `memory`,
    and the pitch as it is `given`."""
    kernel, flat = job.kernel(), (job.height, job.columns)
    note = f"pitch {pitch} bytes"

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, job.weights, *job.finish, *job.sizes, job.border, given)
        return Launch(kernel, job.grid(), job.block, args, name=name)

    into = Copy(rows[0], job.x.reshape(flat), f"2D copy in, {note}")
    back = Copy(job.out.reshape(flat), rows[-1], f"2D copy out, {note}")
    return Plan((into, *job.passed(step, memory), back), {"image": job.out})


def texture(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A copy into a texture before each pass."""
    job = Job("texture", device, x, params, knobs)
    flat = (job.height, job.columns)
    image = device.texture(x.reshape(flat), "zero" if params["border"] == "zero" else "nearest")
    kernel, args = job.kernel(), (job.weights, *job.finish, *job.sizes)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> tuple[Copy, Launch]:
        refresh = Copy(image, source.reshape(flat), f"into the texture, {name}")
        return refresh, Launch(kernel, job.grid(), job.block, (image, target, *args), name=name)

    steps = (s for pair in job.passed(step, job.chain()) for s in pair)
    return Plan(tuple(steps), {"image": job.out})


def fused(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """Both passes in one launch."""
    job = Job("fused", device, x, params, knobs)
    args = (x, job.out, job.weights, *job.finish, *job.sizes, job.border)
    shared = fused_bytes(job.dtype.itemsize, job.channels, job.block[1])
    return Plan((Launch(job.kernel(), job.grid(), job.block, args, shared, name="both passes"),), {"image": job.out})


def packed_stride(itemsize: int, channels: int) -> int:
    """Bytes between the lines of `packed` in shared memory: a part of a row, what is left and right of it, and the ends
    of words."""
    return -(-((VALUES + 4) * channels * itemsize + 16) // 16) * 16


def packed_bytes(itemsize: int, channels: int, block_y: int) -> int:
    return (2 * block_y + 2) * packed_stride(itemsize, channels)


def fused_bytes(itemsize: int, channels: int, block_y: int) -> int:
    return ((block_y + 4) * (32 + 4 * channels) + (block_y + 2) * (32 + 2 * channels)) * itemsize


def warp_rows_bytes(itemsize: int, channels: int, block_y: int) -> int:
    return block_y * 3 * (VALUES + 2 * channels) * itemsize


def cupyx(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """cupyx's correlation; integers go through float64 sums and a rounding kernel, whose cost is counted."""
    ndimage, cupy = device.library("cupyx.scipy.ndimage"), device.library("cupy")
    how, float_ = arithmetic(x.dtype, params), x.dtype.kind == "f"
    kind = x.dtype.type if float_ else np.float64
    weights = device.upload(how.weights.astype(kind).reshape(3, 3, *[1] * (x.ndim - 2)))
    mode = "constant" if params["border"] == "zero" else str(params["border"])
    body = "y = s + offset" if float_ else f"y = (T)fmin(fmax((s + bias) / divisor + offset, 0.0), {_top(x.dtype)})"
    scalars = tuple(kind(v) for v in (how.bias, how.divisor, how.offset))
    finish = cupy.ElementwiseKernel("S s, S bias, S divisor, S offset", "T y", body, "finish_convolution")
    sums = device.empty(x.shape, kind)
    out, steps, source = device.empty(x.shape, x.dtype), [], x
    targets = [device.empty(x.shape, x.dtype) for _ in range(params["passes"] - 1)] + [out]
    for place, target in enumerate(targets, start=1):
        steps.append(Call(ndimage.correlate, (source, weights), {"output": sums, "mode": mode}, f"correlate {place}"))
        steps.append(Call(finish, (sums, *scalars, target), name=f"finish {place}"))
        source = target
    return Plan(tuple(steps), {"image": out})


def _top(dtype: np.dtype[Any]) -> float:
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 0.0


def host_plan(id: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A compiled function of the host module, called with (x, out, arithmetic, border) once a pass."""
    from gpu_ops.filters.conv3x3 import host

    return _called(getattr(host, id), device, x, params)


def peer_plan(id: str, module: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A CPU library's function of the peers module, called with (module, x, out, arithmetic, border) once a pass."""
    from gpu_ops.filters.conv3x3 import peers

    return _called(partial(getattr(peers, id), device.library(module)), device, x, params)


def _called(function: Callable[..., Any], device: Device, x: DeviceArray, params: Values) -> Plan:
    how = arithmetic(x.dtype, params)
    arrays = [x, *(device.empty(x.shape, x.dtype) for _ in range(params["passes"]))]
    calls = (
        Call(function, (source, target, how, params["border"]), name=f"pass {number}")
        for number, (source, target) in enumerate(zip(arrays, arrays[1:], strict=False), start=1)
    )
    return Plan(tuple(calls), {"image": arrays[-1]})
