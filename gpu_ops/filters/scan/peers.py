"""Prefix sums by NumPy, CuPy, PyTorch and CUB. The caller passes the modules; this file imports only NumPy.

All but CUB have only inclusive sums. An exclusive one is an inclusive one of all values but the last, shifted by one
position, and a zero: no additional work if a line is contiguous, and two copies by CuPy if it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.filters.kit.library_calls import by_cub, on_tensors
from gpu_ops.filters.scan.lines import Lines, form, is_exclusive
from gpu_ops.plan import Call, Device, Fill, Plan, Step
from gpu_ops.progress import advance
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

PIECE = 1 << 16
"""Values that NumPy sums at a time: their sums in float64 stay in the L2 cache."""


def numpy_sums(numpy: Any, x: Array, out: Array, lines: Lines, exclusive: bool) -> None:
    """cumsum in float64, piece after piece, rounded to the type of `out`."""
    values, sums = x.reshape(lines), out.reshape(lines, copy=False)
    rows = max(1, PIECE // (lines.n * lines.step))
    for first in range(0, lines.groups, rows):
        if first:
            advance(first, lines.groups)
        group = slice(first, first + rows)
        _numpy_lines(numpy, values[group], sums[group], exclusive)


def _numpy_lines(numpy: Any, values: Array, sums: Array, exclusive: bool) -> None:
    groups, n, step = values.shape
    carry, size = numpy.zeros((groups, step)), max(1, PIECE // (groups * step))
    if exclusive:
        sums[:, 0], values, sums = 0, values[:, :-1], sums[:, 1:]
    for begin in range(0, values.shape[1], size):
        if begin:
            advance(begin, n)
        piece = values[:, begin : begin + size].astype(numpy.float64)
        with numpy.errstate(invalid="ignore"):  # infinities of both signs give NaN
            piece[:, 0] += carry
            numpy.cumsum(piece, axis=1, out=piece)
        sums[:, begin : begin + size] = piece
        carry = piece[:, -1]


def cupy_sums(device: Device, task: Task) -> Plan:
    """cupy.cumsum in the type of sums: CUB's scan for signals of one channel, which first copies the values to the
    output; for other lines log2 n additions of the element 1, 2, 4 … positions before, each a pass over the whole
    array."""
    cupy, axis = device.library("cupy"), _axis(task) if task.x.ndim > 1 else None
    return _summed(device, task, lambda values, sums: cupy.cumsum(values, axis=axis, out=sums))


def torch_sums(device: Device, task: Task) -> Plan:
    """torch.cumsum in the type of sums: CUB's scan for a contiguous line, a kernel of its own for several lines."""
    torch, axis = device.library("torch"), _axis(task)
    cumsum = on_tensors(device, lambda values, sums: torch.cumsum(values, axis, dtype=sums.dtype, out=sums))
    return _summed(device, task, cumsum)


def cub_sums(device: Device, task: Task) -> Plan:
    """CUB's scan of a signal of one channel in the type of sums, which the initial value fixes."""
    compute, how = device.library("cuda.compute"), form(task)
    out = device.empty(how.shape, np.dtype(how.dtype))
    make = compute.make_exclusive_scan if is_exclusive(task) else compute.make_inclusive_scan
    arrays, given = {"d_in": task.x, "d_out": out}, {"op": compute.OpKind.PLUS, "init_value": np.zeros(1, how.dtype)}
    scan = by_cub(device, make(**arrays, **given), "scan", arrays, num_items=task.meta.size, **given)
    return Plan((scan,), {task.meta.kind: out})


def _axis(task: Task) -> int:
    return task.meta.of_kind.rank - 1


def _summed(device: Device, task: Task, cumsum: Callable[[Any, Any], Any]) -> Plan:
    """The plan of a library's cumsum, called with the values and the sums."""
    x, how = task.x, form(task)
    out = device.empty(how.shape, np.dtype(how.dtype))
    axis = _axis(task)
    steps: list[Step] = []
    values, sums = x, out
    if is_exclusive(task):
        before: tuple[Any, ...] = (slice(None),) * axis
        steps.append(Fill(out[(*before, slice(0, 1))], 0, name="zero"))
        values, sums = x[(*before, slice(0, -1))], out[(*before, slice(1, None))]
    if values.size:
        steps.append(Call(cumsum, (values, sums), name="cumsum"))
    return Plan(tuple(steps), {task.meta.kind: out})
