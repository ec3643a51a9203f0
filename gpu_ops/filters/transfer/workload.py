"""The workload on the device between the copies: a kernel of another filter, with that filter's defaults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.bands import Band, even, reach, split_at
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import Filter, Output, Variant, Work


@dataclass(frozen=True)
class Workload:
    """A kernel variant of a filter whose result has the form of its input. `id` is "conv3x3-rows"."""

    filter: Filter
    variant: Variant

    @property
    def id(self) -> str:
        return f"{self.filter.id}-{self.variant.id}"

    def task(self, task: Task) -> Task:
        """The same inputs with the filter's own parameters and the variant's knobs, all but the border by default."""
        params = {p.name: p.default for p in self.filter.params} | {"border": task.params["border"]}
        return replace(task, params=params, knobs={knob.name: knob.default for knob in self.variant.knobs})

    def bands(self, task: Task, count: int) -> list[Band]:
        """As many bands of equal numbers of rows; the last one has the remainder."""
        return split_at(self.filter, self.task(task), even(task.meta.shape[0], count))

    @property
    def output(self) -> Output:
        return self.filter.outputs[0]


class Workloads:
    """The workloads of one kind of input, and the parts of a filter that depend on the chosen one."""

    def __init__(self, *kernels: tuple[str, Filter]) -> None:
        found = (Workload(filter, filter.variant(variant)) for variant, filter in kernels)
        self._by_id = {workload.id: workload for workload in found}

    @property
    def param(self) -> Param:
        """The parameter that chooses one."""
        return Param("work", next(iter(self._by_id)), choices=tuple(self._by_id), help="the kernel between the copies")

    def of(self, task: Task) -> Workload:
        """The one that a task requests."""
        return self._by_id[task.params["work"]]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """An output for each filter, named as the filter, with its tolerances."""
        filters = {w.filter.id: w.filter for w in self._by_id.values()}
        return tuple(self._output(filter) for filter in filters.values())

    def _output(self, filter: Filter) -> Output:
        own, ids = filter.outputs[0], [w.id for w in self._by_id.values() if w.filter is filter]
        adapt: Callable[[Any], Any] = partial(_of_inner, self.of)
        scales, sizes, most = (None if f is None else adapt(f) for f in (own.scales, own.sizes, own.most))
        functions = {"tolerance": adapt(own.tolerance), "least": adapt(own.least), "form": adapt(own.form)}
        when = {"work": tuple(ids)}
        return replace(own, id=filter.id, when=when, scales=scales, sizes=sizes, most=most, **functions)

    def reference(self, task: Task) -> dict[str, np.ndarray[Any, Any]]:
        """The filter's own reference, under the name of the output."""
        workload = self.of(task)
        values = workload.filter.reference(workload.task(task))
        return {workload.filter.id: values[workload.output.id]}

    def work(self, task: Task) -> Work:
        """The bytes that are copied in and out, and the filter's operations, once per launch."""
        workload = self.of(task)
        one = workload.filter.work(workload.task(task))
        return Work(task.meta.nbytes, task.meta.nbytes, one.flops * task.params["repeats"])

    def halo(self, task: Task) -> tuple[int, ...]:
        """The filter's halo, along rows and columns."""
        workload = self.of(task)
        rank = task.meta.of_kind.rank
        return (reach(workload.filter, workload.task(task)),) * rank

    def refusal(self, task: Task) -> str | None:
        """Why the kernel does not support a task."""
        workload = self.of(task)
        return workload.variant.refusal(workload.task(task))

    def largest(self, task: Task, variant: str = "") -> float:
        """The largest magnitude that the kernel supports, or another variant of its filter."""
        workload = self.of(task)
        most = (workload.filter.variant(variant) if variant else workload.variant).largest
        return math.inf if most is None else most(workload.task(task))


def _of_inner(of: Callable[[Task], Workload], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the filter's task as one of the transfer's."""
    return lambda task, *more: function(of(task).task(task), *more)
