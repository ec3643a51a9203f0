"""Images of every kind of type from one of bytes: labels, a slope of either sign, counts of pairs, halves and a mask;
with a place and a ring to drag, and a table of marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.kit.planning import BLOCK, PlanContext, cuda
from gpu_ops.output_kinds import Axis, Form, Marks
from gpu_ops.params import Param, Place, Ring
from gpu_ops.plan import Call, Device, Fill, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Filter, Locality, Output, Variant, Work

Array = np.ndarray[Any, Any]
TYPES = {
    "pieces": np.int32,
    "slope": np.int16,
    "pairs": np.uint64,
    "halves": np.float16,
    "inside": np.bool_,
    "middles": np.float64,
}
PLANE = Axis("y", "px"), Axis("x", "px")
LEVELS = Axis("level", step=16.0), Axis("level to the right", step=16.0)
ROWS = Axis("piece"), Axis("", labels=("down", "along", "number"))


def form(name: str, task: Task) -> Form:
    dtype, plane = np.dtype(TYPES[name]).name, task.meta.shape[:2]
    if name == "pairs":
        return Form((16, 16), dtype, LEVELS)
    return Form((16, 3), dtype, ROWS) if name == "middles" else Form(plane, dtype, PLANE)


def reference(task: Task) -> dict[str, Array]:
    """Of the first channel. Pieces are blocks of 8 x 8 pixels, numbered from 1 on; 0 where a pixel is dark or far."""
    x = task.x if task.x.ndim == 2 else task.x[..., 0]
    (height, width), params = x.shape, task.params
    across, (y, columns) = -(-width // 8), np.mgrid[:height, :width]
    inside = (y - params["down"]) ** 2 + (columns - params["along"]) ** 2 <= params["reach"] ** 2
    wide = np.pad(x.astype(np.int16), ((0, 0), (1, 1)), mode="edge")
    pairs = np.zeros((16, 16), np.uint64)
    np.add.at(pairs, (x[:, :-1] // 16, x[:, 1:] // 16), np.uint64(1))
    middles = np.zeros((16, 3))
    for place in range(min(16, across * -(-height // 8))):
        middles[place] = 8 * (place // across) + 3.5, 8 * (place % across) + 3.5, place + 1
    return {
        "pieces": np.where(inside & (x >= 64), 1 + y // 8 * across + columns // 8, 0),
        "slope": wide[:, 2:] - wide[:, :-2],
        "pairs": pairs,
        "halves": x / 256.0,
        "inside": inside,
        "middles": middles,
    }


def serial(device: Device, task: Task) -> Plan:
    made = {name: device.empty(form(name, task).shape, dtype) for name, dtype in TYPES.items()}

    def compute(x: Array) -> None:
        for name, values in reference(task).items():
            np.copyto(made[name], values, casting="unsafe")

    return Plan((Call(compute, (task.x,), name="pieces"),), made)


def points(ctx: PlanContext) -> Plan:
    made = {name: ctx.device.empty(form(name, ctx.task).shape, dtype) for name, dtype in TYPES.items()}
    sizes = (ctx.height, ctx.width, ctx.channels, *(ctx.params[p.name] for p in PARAMS))
    block, args = ctx.knobs["block"], (ctx.x, *made.values(), *map(np.int32, sizes))
    launch = Launch(ctx.kernel(), grid1d(ctx.height * ctx.width, block), (block, 1, 1), args, name="pieces")
    return Plan((Fill(made["pairs"], 0), Fill(made["middles"], 0), launch), made)


PARAMS = (
    Param("down", 20, 0, 4095, 1, unit="px", handle=Place("pieces", across="along"), tries=(0, 20)),
    Param("along", 24, 0, 4095, 1, unit="px", tries=(0, 24)),
    Param("reach", 14, 1, 4095, 1, unit="px", handle=Ring("pieces", about="down"), tries=(1, 14)),
)


def output(name: str, kind: Any, **more: Any) -> Output:
    return Output(name, kind, "", lambda task: 0.0, form=lambda task: form(name, task), **more)


TOYS = Counts(uncounted="a toy")
PIECES = Filter(
    id="pieces",
    family="pieces",
    title="Pieces",
    summary="Blocks of bright pixels around a point, and what else one can say of pixels.",
    accepts="image",
    dtypes=("uint8",),
    params=PARAMS,
    outputs=(
        output("pieces", "image", labels=True),
        output("slope", "image"),
        output("pairs", "image"),
        output("halves", "image", own_scale=True),
        output("inside", "image"),
        output("middles", "table", marks=Marks(("pieces",), "along", "down", "number")),
    ),
    reference=reference,
    work=lambda task: Work(task.meta.nbytes, 9 * task.meta.size, 9 * task.meta.size),
    locality=Locality("global"),
    variants=(
        Variant("serial", "CPU, one core", "NumPy computes.", serial, "cpu"),
        cuda(
            "pieces/1_points.cu",
            "one thread per pixel",
            "All of a pixel.",
            points,
            knobs=(BLOCK,),
            counts=Counts(uncounted="a toy"),
        ),
    ),
)
