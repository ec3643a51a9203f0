"""A plan that is kept between calls: the memory of its input, the plan itself, and its assumptions about the
samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Device, DeviceArray, Plan
from gpu_ops.running.declared import make_plan
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import find_extremes, full_meta, verify, with_extremes
from gpu_ops.task import MAIN, Meta, Task
from gpu_ops.types import Error, Filter, Input, Variant

Array = np.ndarray[Any, Any]
SHORT = 1 << 16
"""The largest number of values that NumPy copies and searches faster than a compiled loop starts."""

PINNED_MOST = 32 << 20
"""The most bytes of floats that are copied to a GPU through a plan's pinned memory, where they are also searched."""


class ReusablePlan:
    """A filter's plan on a device for arrays of one form. `variants` are the candidates, the best last.

    `load` takes the samples and creates a new plan, in the same memory, only where they do not suit the present one:
    they are no longer all finite, are too large for the variant's sums, or have another range and the range matters.
    """

    def __init__(
        self, filter: Filter, variants: Sequence[Variant], device: Device, meta: Meta, params: Values, knobs: Values
    ) -> None:
        self.filter, self.device = filter, device
        self.outputs = filter.given(params)
        self.task = Task.of(meta, params, {}, device.limits)
        self.x: DeviceArray = device.empty(meta.shape, meta.dtype)
        self.variant: Variant | None = None
        self._variants, self._knobs = variants, knobs
        self._floats = np.dtype(meta.dtype).kind == "f"
        self._by_range = self._floats and filter.locality.extremes(self.task)
        self._most = math.inf
        self._seen: tuple[float, float] | None = None  # the limits of the samples, if the copy has searched for them
        self._pinned: Array | None = None
        self._copied_most = {"cpu": math.inf, "cuda": PINNED_MOST}.get(device.kind, 0)
        self._finders: dict[bool, Any] = {}  # with and without alpha
        self._plan, self._run = Plan((), {}), _nothing

    @property
    def nbytes(self) -> int:
        """Bytes of the input and the outputs."""
        return int(self.x.nbytes) + sum(int(array.nbytes) for array in self._plan.outputs.values())

    def load(self, source: Any, on_gpu: bool) -> None:
        """Copy an array of this form, from the host or the device, and make sure that the plan suits it. Raises
        ParamError where no variant supports it, DeviceMemoryError, KernelError."""
        largest = self._copy(source, on_gpu)
        same = self.variant is not None and self.task.meta.finite == (largest < math.inf)
        if self.filter.end_to_end and self.device.kind != "cpu":
            same = False  # such a plan has its own copy of the samples
        if same and largest <= self._most and not self._by_range and largest < math.inf:
            return
        before, now = self.task.meta, self._look(largest)
        if (
            same
            and now.largest <= self._most
            and not (self._by_range and (before.low, before.high) != (now.low, now.high))
        ):
            return
        self.task = replace(self.task, metas={MAIN: now})
        self.variant = None  # until the new plan exists
        self.variant = self._make_plan()

    def _copy(self, source: Any, on_gpu: bool) -> float:
        """Copy the samples. Returns the largest magnitude of floats, infinity where one is not finite."""
        if on_gpu:
            from gpu_ops.devices.cuda.resident import adopt, copy

            copy(self.device, self.x, adopt(self.device, source))
        elif self._floats and source.size > SHORT and source.flags.c_contiguous and self.x.nbytes <= self._copied_most:
            self._seen = None
            return self._copy_looking(source)
        else:
            self.device.upload(source, out=self.x)
        if not self._floats:
            return 0.0
        small = isinstance(source, np.ndarray) and source.size <= SHORT
        low, high = (float(source.min()), float(source.max())) if small else self._limits()
        self._seen = low, high
        return max(-low, high) if math.isfinite(low) and math.isfinite(high) else math.inf

    def _copy_looking(self, source: Array) -> float:
        """Copy floats of the host and find their largest magnitude in the same pass. Returns it as `_copy` does."""
        from gpu_ops.running.host_memory import copy_floats

        if self.device.kind == "cpu":
            return copy_floats(source, self.x)
        from gpu_ops.devices.cuda.resident import copy

        if self._pinned is None:
            self._pinned = self.device.allocate("pinned", self.x.shape, self.x.dtype)
        largest = copy_floats(source, self._pinned)
        copy(self.device, self.x, self._pinned)
        return largest

    def _limits(self, alpha: bool = True) -> tuple[float, float]:
        """The lowest and the highest sample on the device, with or without alpha; NaN or infinities where a sample is
        not finite."""
        if self.device.kind != "cuda":
            array = self.x if alpha else self.x[..., :3]
            return float(array.min()), float(array.max())
        if alpha not in self._finders:
            from gpu_ops.devices.cuda.resident import SampleLimits

            self._finders[alpha] = SampleLimits(self.device, self.x, 0 if alpha else 4)
        found: tuple[float, float] = self._finders[alpha].find()
        return found

    def _look(self, largest: float) -> Meta:
        """The assumptions that a plan may make about the samples; `largest` is their magnitude, infinite where one is
        not finite."""
        meta = replace(self.task.meta, finite=largest < math.inf, largest=largest)
        if not meta.finite:
            return with_extremes(meta, [find_extremes(self._input())])
        if not self._by_range:
            return meta
        colours = meta.kind != "image" or meta.channels != 4  # alpha does not count for the range
        seen = self._seen if self._seen is not None and colours else self._limits(colours)
        return replace(meta, low=seen[0], high=seen[1])

    def run(self) -> None:
        """Run the plan and wait for its end."""
        self._run()

    def result(self, name: str, on_gpu: bool) -> Any:
        """A copy of an output, on the host or on the device."""
        array = self._plan.outputs[name]
        if not on_gpu:
            return self.device.download(array)
        from gpu_ops.devices.cuda.resident import copied

        return copied(self.device, array)

    def errors(self, results: dict[str, Array]) -> dict[str, Error]:
        """The errors of all outputs, on the host, for the samples that were loaded last."""
        assert self.variant is not None
        input = self._input()
        task = replace(self.task, metas={MAIN: full_meta(input)})
        return verify(self.filter, self.variant, input, task, results)

    def _input(self) -> Input:
        meta = self.task.meta
        axes = meta.of_kind.axes[len(meta.shape)]
        return Input(meta.kind, self.device.download(self.x), axes, "the array", {}, meta.rate, finite=meta.finite)

    def _make_plan(self) -> Variant:
        """The last variant that supports the task, of those that suit it if any does, with its plan. Raises ParamError
        that says why none does."""
        if self.filter.finite_only and not self.task.meta.finite:
            check_input(self.filter, self._input(), self.task.params)
        self.filter.check(self.task)
        reasons = []
        for variant in sorted(reversed(self._variants), key=lambda variant: not variant.suits(self.task)):
            knobs = check_values(variant.knobs, self._knobs, variant.id)
            task = replace(self.task, knobs=knobs)
            if reason := variant.refusal(task):
                reasons.append(f"{variant.id}: {reason}")
                continue
            self._plan, self._run = Plan((), {}), _nothing  # its memory may be needed
            session = self.device.session({})
            self._plan = make_plan(self.filter, variant, session, task.on(self.x))
            self._run, self.task = _runner(session, self._plan), task
            self._most = variant.largest(task) if self._floats and variant.largest is not None else math.inf
            return variant
        raise ParamError(f"No variant of {self.filter.id} on {self.device.name} does this. {'; '.join(reasons)}.")


def _nothing() -> None:
    """The run of an empty plan."""


def _runner(session: Device, plan: Plan) -> Callable[[], Any]:
    if session.kind == "cuda":
        from gpu_ops.devices.cuda.resident import runner

        return runner(session, plan)
    return partial(session.execute, plan)
