"""Declaring and planning variants: kernel files, host functions, CPU libraries, and the context of a plan function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from gpu_ops.errors import DeclarationError
from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param, Value
from gpu_ops.plan import Call, Device, DeviceArray, Plan, Step
from gpu_ops.task import Task
from gpu_ops.types import BORDERS, Counts, Exactness, Rule, Variant
from gpu_ops.variant import NO_COUNTS, Range, Trials, always, no_trials

CTYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "float32": "float", "float64": "double"}
BORDER = Param("border", "reflect", choices=BORDERS, help="how the input is extended beyond its edges")
BLOCK = Param("block", 128, 16, 1024, 16, unit="threads", help="threads per block")

SERIAL_LOOP = "The plain loop, compiled, on one core: the baseline of every speed-up."
SEVERAL = Counts(uncounted="several kernels: one block is not representative of the plan")

HostFunction = Callable[..., Any]
"""Called with (x, out, …): it fills `out`."""
Arguments = Callable[[Task], tuple[Any, ...]]


def block_shape(threads: int) -> tuple[int, int]:
    """(x, y) of a 2D block of that many threads: one warp wide if they fill whole warps."""
    return (32, threads // 32) if threads >= 32 and threads % 32 == 0 else (16, threads // 16)


NO_LOOPS: Mapping[str, int] = {}


def tile_loops(ctx: PlanContext, x: int, y: int, rows: int, around: int) -> dict[str, int]:
    """The trip counts of the loops in which a block of x by y threads fills its tile: `rows` of x values, which are
    consecutive for a signal, with `around` pixels on either side."""
    reach = 2 * around * ctx.channels
    if ctx.rank == 1:
        return {"values of the tile": -(-(min(x * rows, ctx.x.size) + reach) // x)}
    columns, lines = min(x, ctx.columns) + reach, min(rows, ctx.height) + 2 * around
    return {"columns of the tile": -(-columns // x), "rows of the tile": -(-lines // y)}


class PlanContext:
    """The argument of a kernel's plan function: the device, the task, the sizes of its input, an output like the input,
    and the kernels of its file, whose names begin with the folder and the variant: mean1d/1_naive.cu has
    mean1d_naive."""

    def __init__(self, device: Device, task: Task, file: str) -> None:
        self.device, self.task, self.file = device, task, file
        self.params, self.knobs, self.x = task.params, task.knobs, task.x
        meta, shape = task.meta, task.meta.shape
        self.dtype, self.channels, self.rank = task.dtype, meta.channels, meta.of_kind.rank
        self.length, self.height, self.width = shape[0], shape[0], shape[1] if self.rank > 1 else 1
        self.columns = self.width * self.channels
        """Values of a row."""

    @cached_property
    def out(self) -> DeviceArray:
        """Memory for an output like the input."""
        return self.empty()

    @property
    def border(self) -> int:
        """The border's code in kernels."""
        return BORDERS.index(self.params["border"])

    def empty(self, dtype: Any = None) -> DeviceArray:
        """Memory shaped like the input."""
        return self.device.empty(self.x.shape, self.dtype if dtype is None else dtype)

    @property
    def variant(self) -> str:
        """The variant's id, from its kernel file."""
        return PurePosixPath(self.file).stem.partition("_")[2]

    def kernel(self, part: str = "", /, **defines: Value) -> Any:
        """The kernel of the variant's file, or the one with the suffix `part`, compiled with `defines`."""
        return self.device.kernel(self.file, f"{PurePosixPath(self.file).parent}_{self.variant}{part}", defines)

    def plan(self, *steps: Step) -> Plan:
        """A plan with these steps and the result in `out`; the output has the name of the input's kind."""
        return Plan(steps, {self.task.meta.kind: self.out})


def cuda(
    file: str,
    title: str,
    idea: str,
    plan: Callable[[PlanContext], Plan],
    *rules: Rule,
    helpers: tuple[str, ...] = (),
    knobs: tuple[Param, ...] = (BLOCK,),
    source: str = "",
    largest: Range | None = None,
    shapes: tuple[Shape, ...] = (),
    trials: Trials = no_trials,
    counts: Counts = NO_COUNTS,
    exactness: Exactness | None = None,
    suits: Callable[[Task], bool] = always,
) -> Variant:
    """The variant of a kernel file such as "box/3_sliding.cu": its id is sliding, and its title begins with 3.
    `helpers` are other files with kernels that it launches."""
    match = re.fullmatch(r"[a-z0-9_]+/([0-9]+)_([a-z0-9_]+)\.cu", file)
    if match is None:
        raise DeclarationError(f"The kernel file {file!r} of {title!r} is not FILTER/NUMBER_VARIANT.cu; rename it.")
    number, id = match.groups()
    title, make, kernels = f"{number} {title}", partial(_plan_kernel, plan, file), (file, *helpers)
    takes = rules, largest, shapes, trials
    return Variant(id, title, idea, make, "cuda", kernels, knobs, "", source, *takes, counts, exactness, suits)


def _plan_kernel(plan: Callable[[PlanContext], Plan], file: str, device: Device, task: Task) -> Plan:
    return plan(PlanContext(device, task, file))


def cpu(
    idea: str,
    load: Callable[[bool], HostFunction],
    arguments: Arguments,
    *rules: Rule,
    all_cores: bool = False,
    passes: Callable[[Task], int] = lambda task: 1,
    source: str = "",
    largest: Range | None = None,
    exactness: Exactness | None = None,
) -> Variant:
    """The variant of a compiled function, which is called with (x, out, *arguments) once per pass, on one core or on
    all; `load(all_cores)` imports it when the first plan needs it."""
    id, title = ("parallel", "CPU, all cores") if all_cores else ("serial", "CPU, one core")
    plan = partial(_plan_calls, arguments, lambda device: load(all_cores), passes)
    return Variant(id, title, idea, plan, "cpu", (), (), "", source, rules, largest, exactness=exactness)


def peer(
    id: str,
    title: str,
    idea: str,
    module: str,
    function: HostFunction,
    arguments: Arguments,
    *rules: Rule,
    passes: Callable[[Task], int] = lambda task: 1,
    source: str = "",
    largest: Range | None = None,
    exactness: Exactness | None = None,
) -> Variant:
    """The variant of a CPU library: `function` is called with (module, x, out, *arguments) once per pass."""
    plan = partial(_plan_calls, arguments, lambda device: partial(function, device.library(module)), passes)
    library = module.partition(".")[0]
    return Variant(id, title, idea, plan, "cpu", (), (), library, source, rules, largest, exactness=exactness)


def _plan_calls(
    arguments: Arguments,
    load: Callable[[Device], HostFunction],
    passes: Callable[[Task], int],
    device: Device,
    task: Task,
) -> Plan:
    function, more = load(device), arguments(task)
    arrays = [task.x, *(device.empty(task.x.shape, task.dtype) for _ in range(passes(task)))]
    pairs = zip(arrays, arrays[1:], strict=False)
    calls = (Call(function, (a, b, *more), name=f"pass {k}") for k, (a, b) in enumerate(pairs, start=1))
    return Plan(tuple(calls), {task.meta.kind: arrays[-1]})


def along_axes(
    function: HostFunction, x: DeviceArray, how: Any, targets: Sequence[DeviceArray], mode: str
) -> list[Call]:
    """A separable filter of a library: one call per axis, each from the target of the previous one."""
    sources = [x, *targets[:-1]]
    return [
        Call(function, (source, how), {"axis": axis, "output": target, "mode": mode}, f"axis {axis}")
        for axis, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def rounding(device: Device, name: str, sums: DeviceArray, count: int, out: DeviceArray, wide: str = "") -> Call:
    """A call of CuPy's kernel that computes means from sums of `count` integers, rounded half up."""
    rule = f"y = (T)(({wide}s + count / 2) / count)"
    divide = device.library("cupy").ElementwiseKernel("S s, uint32 count", "T y", rule, name)
    return Call(divide, (sums, np.uint32(count), out), name="round half up")
