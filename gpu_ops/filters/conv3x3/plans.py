"""Plans of the 3×3 convolution: the steps of each variant, one per pass, and the memory that it allocates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid2d
from gpu_ops.filters.conv3x3.arithmetic import Arithmetic, arithmetic
from gpu_ops.filters.conv3x3.peers import sums_fit_float32
from gpu_ops.filters.kit.borders import SCIPY_MODES
from gpu_ops.filters.kit.library_calls import cvcuda_border, on_batches
from gpu_ops.filters.kit.planning import CTYPES, NO_LOOPS, HostFunction, PlanContext, tile_loops
from gpu_ops.params import Value
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan, Step
from gpu_ops.task import Task

PADDING = 128
"""Explicitly padded rows are a multiple of this number of bytes."""
VALUES, WARP = 128, 32
"""Values, or pixels, of a row per block of 32 threads if each thread computes four."""
ROWS = 8
"""Rows that a warp processes in sequence in warp_rows."""
WEIGHT_TYPES = {"int32": "int", "float32": "float", "float64": "double"}


class Passes:
    """The common part of all kernels' plans: the arithmetic, the weights in constant or in global memory, and a step
    per pass."""

    def __init__(self, ctx: PlanContext, in_constant: bool = False) -> None:
        self.ctx = ctx
        self.how: Arithmetic = arithmetic(ctx.dtype, ctx.params)
        self.count: int = ctx.params["passes"]
        self.block = (32, int(ctx.knobs["block_y"]), 1)
        self.border = np.int32(ctx.border)
        self.weights = () if in_constant else (ctx.device.upload(self.how.weights),)
        self.constants = {"weights": self.how.weights} if in_constant else {}

    @property
    def finish(self) -> tuple[Any, Any, Any]:
        """The scalars by which a sum is divided and rounded."""
        return self.how.bias, self.how.divisor, self.how.offset

    @property
    def sizes(self) -> tuple[Any, Any, Any]:
        """Height, columns and channels."""
        return np.int32(self.ctx.height), np.int32(self.ctx.columns), np.int32(self.ctx.channels)

    def kernel(self, part: str = "", /, **more: Value) -> Any:
        """The variant's kernel, or the one with the suffix `part`, compiled with `more` defines."""
        types = {"SAMPLE": CTYPES[self.ctx.dtype.name], "WEIGHT": WEIGHT_TYPES[self.how.weights.dtype.name]}
        return self.ctx.kernel(part, **types, INTEGER=int(self.ctx.dtype.kind == "u"), **more)

    def grid(self, across: int = 32, down: int = 1) -> tuple[int, int, int]:
        """Blocks that cover the lines, each of this width in values, with `down` rows per thread."""
        return grid2d(self.ctx.height, self.ctx.columns, (across, self.block[1] * down))

    def steps(self, step: Callable[[DeviceArray, DeviceArray, str], Any], arrays: Sequence[DeviceArray]) -> list[Any]:
        """A step from each array to the next, named by its pass."""
        names = ["convolve"] if self.count == 1 else ["first pass", "second pass"]
        pairs = zip(arrays[:-1], arrays[1:], names, strict=True)
        return [step(source, target, name) for source, target, name in pairs]

    def chain(self) -> list[DeviceArray]:
        """The input, the array between two passes, and the output."""
        return [self.ctx.x, *(self.ctx.empty() for _ in range(self.count - 1)), self.ctx.out]

    def same_launch(
        self, kernel: Any, grid: tuple[int, int, int], shared: int = 0, *more: Any, loops: Mapping[str, int] = NO_LOOPS
    ) -> Plan:
        """The same launch for each pass."""

        def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
            args = (source, target, *self.weights, *self.finish, *self.sizes, self.border, *more)
            return Launch(kernel, grid, self.block, args, shared, self.constants, name=name, loops=loops)

        return self.ctx.plan(*self.steps(step, self.chain()))


def direct(ctx: PlanContext) -> Plan:
    """One thread per value, on the image as it is."""
    passes = Passes(ctx)
    return passes.same_launch(passes.kernel(), passes.grid())


def constant(ctx: PlanContext) -> Plan:
    """The same with the weights in constant memory."""
    passes = Passes(ctx, in_constant=True)
    return passes.same_launch(passes.kernel(), passes.grid())


def warp_rows(ctx: PlanContext) -> Plan:
    """Each warp processes a strip of rows from top to bottom."""
    passes = Passes(ctx)
    values = min(VALUES, ctx.columns)
    loops = {"rows": min(ROWS, ctx.height), "values of a row": -(-(values + 2 * ctx.channels) // WARP)}
    loops["outputs of a row"] = -(-values // WARP)
    kernel, grid = passes.kernel(ROWS=ROWS), passes.grid(VALUES, ROWS)
    return passes.same_launch(kernel, grid, warp_rows_bytes(ctx.task), loops=loops)


def rgba(ctx: PlanContext) -> Plan:
    """RGB is converted to RGBA and back; RGBA is filtered as it is."""
    passes = Passes(ctx)
    kernel, grid = passes.kernel(), grid2d(ctx.height, ctx.width, passes.block[:2])
    sizes = (np.int32(ctx.height), np.int32(ctx.width), passes.border)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, *passes.weights, *passes.finish, *sizes)
        return Launch(kernel, grid, passes.block, args, name=name)

    if ctx.channels == 4:
        return ctx.plan(*passes.steps(step, passes.chain()))
    arrays = [ctx.device.empty((ctx.height, ctx.width, 4), ctx.dtype) for _ in range(passes.count + 1)]
    pixels, threads = ctx.height * ctx.width, 32 * passes.block[1]
    line = ((-(-pixels // threads), 1, 1), (threads, 1, 1))
    pad = Launch(passes.kernel("_pad"), *line, (ctx.x, arrays[0], np.int64(pixels)), name="RGB to RGBA")
    cut = Launch(passes.kernel("_cut"), *line, (arrays[-1], ctx.out, np.int64(pixels)), name="RGBA to RGB")
    return ctx.plan(pad, *passes.steps(step, arrays), cut)


def packed(ctx: PlanContext) -> Plan:
    """32-bit words through shared memory."""
    passes = Passes(ctx)
    grid, stride = passes.grid(VALUES * ctx.channels), np.int32(packed_stride(ctx.task))
    words = -(-min(VALUES * ctx.channels, ctx.columns) * ctx.dtype.itemsize // 4)
    lines = min(passes.block[1] + 2, ctx.height + 1)
    loops = {"words of a line": -(-words // WARP), "lines": -(-lines // passes.block[1])}
    return passes.same_launch(passes.kernel(), grid, packed_bytes(ctx.task), stride, loops=loops)


def padded(ctx: PlanContext) -> Plan:
    """Rows at a pitch of a multiple of 128 bytes, in allocated memory."""
    itemsize, count = ctx.dtype.itemsize, ctx.params["passes"] + 1
    pitch = -(-(ctx.columns * itemsize) // PADDING) * PADDING
    whole = [ctx.device.empty((ctx.height, pitch // itemsize), ctx.dtype) for _ in range(count)]
    rows = [array[:, : ctx.columns] for array in whole]
    return _pitched(ctx, whole, rows, pitch, np.int32(pitch // itemsize))


def pitched(ctx: PlanContext) -> Plan:
    """Rows with the pitch that the driver chooses."""
    count = ctx.params["passes"] + 1
    rows = [ctx.device.pitched(ctx.height, ctx.columns, ctx.dtype) for _ in range(count)]
    pitch = rows[0].strides[0]
    return _pitched(ctx, rows, rows, pitch, np.int64(pitch))


def _pitched(
    ctx: PlanContext, memory: Sequence[DeviceArray], rows: Sequence[DeviceArray], pitch: int, pitch_argument: Any
) -> Plan:
    """A 2D copy into rows with a pitch of `pitch` bytes, passes there, and a 2D copy out. Kernels take `memory` and
    `pitch_argument`."""
    passes = Passes(ctx)
    kernel, flat, note = passes.kernel(), (ctx.height, ctx.columns), f"pitch {pitch:,} bytes"

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, *passes.weights, *passes.finish, *passes.sizes, passes.border, pitch_argument)
        return Launch(kernel, passes.grid(), passes.block, args, name=name)

    into = Copy(rows[0], ctx.x.reshape(flat), f"2D copy in, {note}")
    back = Copy(ctx.out.reshape(flat), rows[-1], f"2D copy out, {note}")
    return ctx.plan(into, *passes.steps(step, memory), back)


def texture(ctx: PlanContext) -> Plan:
    """A copy into a texture before each pass."""
    passes, flat = Passes(ctx), (ctx.height, ctx.columns)
    image = ctx.device.texture(ctx.x.reshape(flat), "zero" if ctx.params["border"] == "zero" else "nearest")
    kernel, args = passes.kernel(), (*passes.weights, *passes.finish, *passes.sizes)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> tuple[Copy, Launch]:
        refresh = Copy(image, source.reshape(flat), f"into the texture, {name}")
        return refresh, Launch(kernel, passes.grid(), passes.block, (image, target, *args), name=name)

    return ctx.plan(*(s for pair in passes.steps(step, passes.chain()) for s in pair))


def fused(ctx: PlanContext) -> Plan:
    """Both passes in one launch."""
    passes = Passes(ctx)
    args = (ctx.x, ctx.out, *passes.weights, *passes.finish, *passes.sizes, passes.border)
    shared = fused_bytes(ctx.task)
    x, y, _ = passes.block
    loops = tile_loops(ctx, x, y, y, 2)
    return ctx.plan(Launch(passes.kernel(), passes.grid(), passes.block, args, shared, name="both passes", loops=loops))


def packed_stride(task: Task) -> int:
    """Bytes between the lines of `packed` in shared memory: a part of a row, the halo on both sides, and the rest of
    partial words."""
    return -(-((VALUES + 4) * task.meta.channels * task.meta.itemsize + 16) // 16) * 16


def packed_bytes(task: Task) -> int:
    return int((2 * task.knobs["block_y"] + 2) * packed_stride(task))


def fused_bytes(task: Task) -> int:
    rows, channels = task.knobs["block_y"], task.meta.channels
    return int(((rows + 4) * (32 + 4 * channels) + (rows + 2) * (32 + 2 * channels)) * task.meta.itemsize)


def warp_rows_bytes(task: Task) -> int:
    return int(task.knobs["block_y"] * 3 * (VALUES + 2 * task.meta.channels) * task.meta.itemsize)


def cvcuda(device: Device, task: Task) -> Plan:
    """CV-CUDA's convolution, which weights the pixels as a correlation does. An offset is added by a further kernel."""
    how, cupy, library = arithmetic(task.dtype, task.params), device.library("cupy"), device.library("cvcuda")
    weights, centre = device.upload(how.weights.reshape(3, 3)), device.upload(np.full((1, 2), -1, np.int32))
    anchor, mode = library.as_tensor(centre, "NC"), cvcuda_border(device, task.params["border"])

    def convolve(source: Any, matrix: Any, target: Any, stream: Any) -> None:
        library.conv2d_into(target, source, matrix, anchor, mode, stream=stream)

    call, steps, source = on_batches(device, convolve), list[Step](), task.x
    for place in range(1, task.params["passes"] + 1):
        target = device.empty(source.shape, source.dtype)
        steps.append(Call(call, (source, weights, target), name=f"convolve {place}"))
        if how.offset:
            steps.append(Call(cupy.add, (target, how.offset, target), name=f"offset {place}"))
        source = target
    return Plan(tuple(steps), {"image": source})


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's correlation; integers are summed in float64 and rounded by a further kernel, whose cost is included.
    cupyx sums integers in float32: if that is inexact, they are first converted to float64, which is included as
    well."""
    ndimage, cupy, x = device.library("cupyx.scipy.ndimage"), device.library("cupy"), task.x
    how, float_ = arithmetic(x.dtype, task.params), x.dtype.kind == "f"
    kind = x.dtype.type if float_ else np.float64
    weights = device.upload(how.weights.astype(kind).reshape(3, 3, *[1] * (x.ndim - 2)))
    mode = SCIPY_MODES[task.params["border"]]
    body = "y = s + offset" if float_ else f"y = (T)fmin(fmax((s + bias) / divisor + offset, 0.0), {_top(x.dtype)})"
    scalars = tuple(kind(v) for v in (how.bias, how.divisor, how.offset))
    finish = cupy.ElementwiseKernel("S s, S bias, S divisor, S offset", "T y", body, "finish_convolution")
    sums = device.empty(x.shape, kind)
    out, steps, source = device.empty(x.shape, x.dtype), [], x
    targets = [device.empty(x.shape, x.dtype) for _ in range(task.params["passes"] - 1)] + [out]
    wide = None if float_ or sums_fit_float32(x.dtype, how) else device.empty(x.shape, kind)
    for place, target in enumerate(targets, start=1):
        if wide is not None:
            steps.append(Call(cupy.copyto, (wide, source), name=f"convert {place}"))
            source = wide
        steps.append(Call(ndimage.correlate, (source, weights), {"output": sums, "mode": mode}, f"correlate {place}"))
        steps.append(Call(finish, (sums, *scalars, target), name=f"finish {place}"))
        source = target
    return Plan(tuple(steps), {"image": out})


def _top(dtype: np.dtype[Any]) -> float:
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 0.0


def loops(all_cores: bool) -> HostFunction:
    from gpu_ops.filters.conv3x3 import host

    return host.parallel if all_cores else host.serial


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments of host functions and peers after the arrays."""
    return arithmetic(task.dtype, task.params), task.params["border"]


def passes_of(task: Task) -> int:
    """The number of passes."""
    return int(task.params["passes"])
