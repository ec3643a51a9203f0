"""Plans of the 3×3 convolution: the steps of each variant, one a pass, and the memory that it allocates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid2d
from gpu_ops.filters.conv3x3.arithmetic import Arithmetic, arithmetic
from gpu_ops.filters.conv3x3.peers import sums_fit_float32
from gpu_ops.filters.kit.borders import SCIPY_MODES
from gpu_ops.filters.kit.planning import CTYPES, NO_LOOPS, HostFunction, Job, tile_loops
from gpu_ops.params import Value
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task

PADDING = 128
"""Bytes that rows padded by hand are a multiple of."""
VALUES, WARP = 128, 32
"""Values, or pixels, of a row that a block of 32 threads works on where each takes four."""
ROWS = 8
"""Rows that a warp walks down in warp_rows."""
WEIGHT_TYPES = {"int32": "int", "float32": "float", "float64": "double"}


class Passes:
    """The shared part of all kernels' plans: the arithmetic, the weights in constant or in global memory, and a step
    for each pass."""

    def __init__(self, job: Job, in_constant: bool = False) -> None:
        self.job = job
        self.how: Arithmetic = arithmetic(job.dtype, job.params)
        self.count: int = job.params["passes"]
        self.block = (32, int(job.knobs["block_y"]), 1)
        self.border = np.int32(job.border)
        self.weights = () if in_constant else (job.device.upload(self.how.weights),)
        self.constants = {"weights": self.how.weights} if in_constant else {}

    @property
    def finish(self) -> tuple[Any, Any, Any]:
        """The scalars that finish a sum."""
        return self.how.bias, self.how.divisor, self.how.offset

    @property
    def sizes(self) -> tuple[Any, Any, Any]:
        """Height, columns and channels."""
        return np.int32(self.job.height), np.int32(self.job.columns), np.int32(self.job.channels)

    def kernel(self, part: str = "", /, **more: Value) -> Any:
        """The variant's kernel, or the one with the suffix `part`, compiled with `more` defines."""
        types = {"SAMPLE": CTYPES[self.job.dtype.name], "WEIGHT": WEIGHT_TYPES[self.how.weights.dtype.name]}
        return self.job.kernel(part, **types, INTEGER=int(self.job.dtype.kind == "u"), **more)

    def grid(self, across: int = 32, down: int = 1) -> tuple[int, int, int]:
        """Blocks that cover the lines, each so many values wide and `down` rows a thread high."""
        return grid2d(self.job.height, self.job.columns, (across, self.block[1] * down))

    def steps(self, step: Callable[[DeviceArray, DeviceArray, str], Any], arrays: Sequence[DeviceArray]) -> list[Any]:
        """A step from each array to the next, named by its pass."""
        names = ["convolve"] if self.count == 1 else ["first pass", "second pass"]
        pairs = zip(arrays[:-1], arrays[1:], names, strict=True)
        return [step(source, target, name) for source, target, name in pairs]

    def chain(self) -> list[DeviceArray]:
        """The input, the array between two passes, and the output."""
        return [self.job.x, *(self.job.empty() for _ in range(self.count - 1)), self.job.out]

    def same_launch(
        self, kernel: Any, grid: tuple[int, int, int], shared: int = 0, *more: Any, loops: Mapping[str, int] = NO_LOOPS
    ) -> Plan:
        """The same launch for each pass."""

        def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
            args = (source, target, *self.weights, *self.finish, *self.sizes, self.border, *more)
            return Launch(kernel, grid, self.block, args, shared, self.constants, name=name, loops=loops)

        return self.job.plan(*self.steps(step, self.chain()))


def direct(job: Job) -> Plan:
    """A thread a value, on the image as it is."""
    passes = Passes(job)
    return passes.same_launch(passes.kernel(), passes.grid())


def constant(job: Job) -> Plan:
    """The same with the weights in constant memory."""
    passes = Passes(job, in_constant=True)
    return passes.same_launch(passes.kernel(), passes.grid())


def warp_rows(job: Job) -> Plan:
    """A warp walks down a strip."""
    passes = Passes(job)
    values = min(VALUES, job.columns)
    loops = {"rows": min(ROWS, job.height), "values of a row": -(-(values + 2 * job.channels) // WARP)}
    loops["outputs of a row"] = -(-values // WARP)
    kernel, grid = passes.kernel(ROWS=ROWS), passes.grid(VALUES, ROWS)
    return passes.same_launch(kernel, grid, warp_rows_bytes(job.task), loops=loops)


def rgba(job: Job) -> Plan:
    """RGB goes through RGBA and back; RGBA is filtered as it is."""
    passes = Passes(job)
    kernel, grid = passes.kernel(), grid2d(job.height, job.width, passes.block[:2])
    sizes = (np.int32(job.height), np.int32(job.width), passes.border)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, *passes.weights, *passes.finish, *sizes)
        return Launch(kernel, grid, passes.block, args, name=name)

    if job.channels == 4:
        return job.plan(*passes.steps(step, passes.chain()))
    arrays = [job.device.empty((job.height, job.width, 4), job.dtype) for _ in range(passes.count + 1)]
    pixels, threads = job.height * job.width, 32 * passes.block[1]
    line = ((-(-pixels // threads), 1, 1), (threads, 1, 1))
    pad = Launch(passes.kernel("_pad"), *line, (job.x, arrays[0], np.int64(pixels)), name="RGB to RGBA")
    cut = Launch(passes.kernel("_cut"), *line, (arrays[-1], job.out, np.int64(pixels)), name="RGBA to RGB")
    return job.plan(pad, *passes.steps(step, arrays), cut)


def packed(job: Job) -> Plan:
    """Words through shared memory."""
    passes = Passes(job)
    grid, stride = passes.grid(VALUES * job.channels), np.int32(packed_stride(job.task))
    words = -(-min(VALUES * job.channels, job.columns) * job.dtype.itemsize // 4)
    lines = min(passes.block[1] + 2, job.height + 1)
    loops = {"words of a line": -(-words // WARP), "lines": -(-lines // passes.block[1])}
    return passes.same_launch(passes.kernel(), grid, packed_bytes(job.task), stride, loops=loops)


def padded(job: Job) -> Plan:
    """Rows a multiple of 128 bytes apart, in memory of our own."""
    itemsize, count = job.dtype.itemsize, job.params["passes"] + 1
    pitch = -(-(job.columns * itemsize) // PADDING) * PADDING
    whole = [job.device.empty((job.height, pitch // itemsize), job.dtype) for _ in range(count)]
    rows = [array[:, : job.columns] for array in whole]
    return _apart(job, whole, rows, pitch, np.int32(pitch // itemsize))


def pitched(job: Job) -> Plan:
    """Rows with the pitch that the driver chooses."""
    count = job.params["passes"] + 1
    rows = [job.device.pitched(job.height, job.columns, job.dtype) for _ in range(count)]
    pitch = rows[0].strides[0]
    return _apart(job, rows, rows, pitch, np.int64(pitch))


def _apart(
    job: Job, memory: Sequence[DeviceArray], rows: Sequence[DeviceArray], pitch: int, pitch_argument: Any
) -> Plan:
    """A 2D copy into rows that lie `pitch` bytes apart, passes there, and a 2D copy out. Kernels take `memory`
    and `pitch_argument`."""
    passes = Passes(job)
    kernel, flat, note = passes.kernel(), (job.height, job.columns), f"pitch {pitch} bytes"

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        args = (source, target, *passes.weights, *passes.finish, *passes.sizes, passes.border, pitch_argument)
        return Launch(kernel, passes.grid(), passes.block, args, name=name)

    into = Copy(rows[0], job.x.reshape(flat), f"2D copy in, {note}")
    back = Copy(job.out.reshape(flat), rows[-1], f"2D copy out, {note}")
    return job.plan(into, *passes.steps(step, memory), back)


def texture(job: Job) -> Plan:
    """A copy into a texture before each pass."""
    passes, flat = Passes(job), (job.height, job.columns)
    image = job.device.texture(job.x.reshape(flat), "zero" if job.params["border"] == "zero" else "nearest")
    kernel, args = passes.kernel(), (*passes.weights, *passes.finish, *passes.sizes)

    def step(source: DeviceArray, target: DeviceArray, name: str) -> tuple[Copy, Launch]:
        refresh = Copy(image, source.reshape(flat), f"into the texture, {name}")
        return refresh, Launch(kernel, passes.grid(), passes.block, (image, target, *args), name=name)

    return job.plan(*(s for pair in passes.steps(step, passes.chain()) for s in pair))


def fused(job: Job) -> Plan:
    """Both passes in one launch."""
    passes = Passes(job)
    args = (job.x, job.out, *passes.weights, *passes.finish, *passes.sizes, passes.border)
    shared = fused_bytes(job.task)
    x, y, _ = passes.block
    loops = tile_loops(job, x, y, y, 2)
    return job.plan(Launch(passes.kernel(), passes.grid(), passes.block, args, shared, name="both passes", loops=loops))


def packed_stride(task: Task) -> int:
    """Bytes between the lines of `packed` in shared memory: a part of a row, the halo on both sides, and the ends of
    words."""
    return -(-((VALUES + 4) * task.meta.channels * task.meta.itemsize + 16) // 16) * 16


def packed_bytes(task: Task) -> int:
    return int((2 * task.knobs["block_y"] + 2) * packed_stride(task))


def fused_bytes(task: Task) -> int:
    rows, channels = task.knobs["block_y"], task.meta.channels
    return int(((rows + 4) * (32 + 4 * channels) + (rows + 2) * (32 + 2 * channels)) * task.meta.itemsize)


def warp_rows_bytes(task: Task) -> int:
    return int(task.knobs["block_y"] * 3 * (VALUES + 2 * task.meta.channels) * task.meta.itemsize)


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's correlation; integers go through float64 sums and a rounding kernel, whose cost is counted. cupyx sums
    integers in float32: where that is not exact, they are converted to float64 before, which is counted as well."""
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
    """How often the filter is applied."""
    return int(task.params["passes"])
