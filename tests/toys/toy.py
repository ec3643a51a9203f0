"""A histogram in sixteen bars and the sum of all samples: the least that a filter with two outputs is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.kit.planning import PlanContext, cuda
from gpu_ops.output_kinds import Axis, Form
from gpu_ops.params import Param
from gpu_ops.plan import Call, Device, Fill, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Filter, Locality, Output, Rule, Variant, Work

BINS = Param("bins", 16, choices=(4, 16, 64), help="how many bars")


def _counts(task: Task) -> Form:
    bins = task.params["bins"]
    return Form((bins,), "uint32", (Axis("value", step=256 / bins),))


def _total(task: Task) -> Form:
    return Form((), "uint64", ())


def reference(task: Task) -> dict[str, np.ndarray[Any, Any]]:
    """{"counts": samples in each bar, "total": their sum}."""
    bins = task.params["bins"]
    counts = np.bincount(task.x.reshape(-1) // (256 // bins), minlength=bins)
    return {"counts": counts, "total": np.array(task.x.sum(dtype=np.uint64))}


def serial(device: Device, task: Task) -> Plan:
    counts, total = device.empty((task.params["bins"],), np.uint32), device.empty((), np.uint64)

    def count(x: np.ndarray[Any, Any]) -> None:
        for out, made in zip((counts, total), reference(task).values(), strict=True):
            np.copyto(out, made, casting="unsafe")

    return Plan((Call(count, (task.x,), name="count"),), {"counts": counts, "total": total})


def atomics(ctx: PlanContext) -> Plan:
    bins, block = ctx.params["bins"], ctx.knobs["block"]
    counts, total = ctx.device.empty((bins,), np.uint32), ctx.device.empty((), np.uint64)
    args = (ctx.x, counts, total, np.int64(ctx.x.size))
    launch = Launch(ctx.kernel(BINS=bins), grid1d(ctx.x.size, block), (block, 1, 1), args, name="count")
    return Plan((Fill(counts, 0), Fill(total, 0), launch), {"counts": counts, "total": total})


GREY = Rule(
    lambda task: task.meta.channels > 1,
    "it counts one channel, not {meta.channels}",
    {"shape": ((19, 23, 3), (16, 31, 4))},
)
TOY = Filter(
    id="toy",
    family="toy",
    title="Toy",
    summary="How many samples lie in each of a few bars, and their sum.",
    accepts="image",
    dtypes=("uint8",),
    params=(BINS,),
    outputs=(
        Output("counts", "bars", "samples", lambda task: 0.0, form=_counts),
        Output("total", "number", "levels", lambda task: 0.0, form=_total),
    ),
    reference=reference,
    work=lambda task: Work(task.meta.nbytes, 4 * task.params["bins"] + 8, 2 * task.meta.size),
    locality=Locality("mergeable"),
    variants=(
        Variant("serial", "CPU, one core", "NumPy counts.", serial, "cpu"),
        cuda("toy/1_atomics.cu", "atomics", "One thread per sample.", atomics, GREY, counts=Counts(uncounted="a toy")),
    ),
)
