"""Reductions by NumPy, CuPy and CUB, a channel at a time, each by the library's own functions.

The caller passes the modules. Floats are added in float64, by the dtype argument of the library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.library_calls import by_cub
from gpu_ops.filters.kit.rules import not_with
from gpu_ops.filters.reduce.figures import Array, is_compensated, samples, wanted
from gpu_ops.plan import Call, Device, DeviceArray, Plan
from gpu_ops.task import Task
from gpu_ops.types import Rule

NUMPY_PIECE = 8192
"""Samples that NumPy converts and adds at a time; the sums of such pieces are added one after the other."""


def library_figure(library: Any, values: DeviceArray, name: str) -> Any:
    """One statistic of a channel (N,)."""
    if name in ("min", "max"):
        return getattr(library, name)(values)
    if name == "sum" and values.dtype.kind == "u":
        return library.sum(values, dtype=library.uint64)
    return getattr(library, "var" if name == "variance" else name)(values, dtype=library.float64)


def numpy_figures(numpy: Any, x: Array, out: Array, channels: int, names: tuple[str, ...]) -> None:
    """The statistics into `out`. Infinite samples give NaN without a warning."""
    table = out.reshape(len(names), channels)
    with numpy.errstate(invalid="ignore", over="ignore"):
        for c, values in enumerate(x.reshape(-1, channels).T):
            for row, name in enumerate(names):
                table[row, c] = library_figure(numpy, values, name)


def numpy_chain(task: Task) -> float:
    """The longest chain of additions in NumPy: pieces sequentially, 16 in eight sums and pairs within."""
    return task.meta.size // task.meta.channels / NUMPY_PIECE + 40


def cupy_figure(cupy: Any, values: DeviceArray, name: str) -> Any:
    """One statistic of a channel. With dtype float64, CuPy's var computes the mean and the differences in the samples'
    own type: it truncates means of integers, and their squares overflow. Without dtype it uses float64 for integers;
    float32 is converted before."""
    if name != "variance":
        return library_figure(cupy, values, name)
    return cupy.var(values.astype(cupy.float64) if values.dtype == cupy.float32 else values)


def cupy_figures(device: Device, task: Task, out: DeviceArray) -> Plan:
    """A call for each statistic of each channel. Results stay on the device."""
    cupy, channels = device.library("cupy"), task.meta.channels
    pixels = task.x.reshape(-1, channels)
    names = wanted(task)
    table = out.reshape(len(names), channels)

    def figure(values: DeviceArray, target: DeviceArray, name: str) -> None:
        target[...] = cupy_figure(cupy, values, name)

    calls = (
        Call(figure, (pixels[:, c], table[row : row + 1, c], name), name=name if channels == 1 else f"{name} {c + 1}")
        for c in range(channels)
        for row, name in enumerate(names)
    )
    return Plan(tuple(calls), {"figures": out})


def cub_figure(device: Device, task: Task, out: DeviceArray) -> Plan:
    """CUB's reduction of one channel in the type of the result, which an initial value fixes. A mean is a sum that is
    divided."""
    compute, statistic = device.library("cuda.compute"), task.params["statistic"]
    operations = {"min": compute.OpKind.MINIMUM, "max": compute.OpKind.MAXIMUM}
    how = {
        "op": operations.get(statistic, compute.OpKind.PLUS),
        "h_init": None if statistic in operations else np.zeros(1, out.dtype),
    }
    arrays = {"d_in": task.x.reshape(-1), "d_out": out}
    reduce = by_cub(
        device, compute.make_reduce_into(**arrays, **how), statistic, arrays, num_items=samples(task), **how
    )
    divide = Call(device.library("cupy").divide, (out, samples(task), out), name="divide")
    return Plan((reduce, divide) if statistic == "mean" else (reduce,), {"figures": out})


ONE_FIGURE = not_with("statistic", "variance", "all", words="it computes one sum or extreme; choose another statistic")
SKIPS_NAN = Rule(
    lambda task: task.params["statistic"] in ("min", "max") and not task.meta.finite,
    "its extremes do not propagate NaN",
)
ADDS_PLAINLY = Rule(is_compensated, "it adds without compensation: choose compensated off, or another variant")
