"""The reference of a filter as a variant: its values can be displayed, saved and compared like any other result."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.plan import Call, Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import REFERENCE, Filter, Variant

Array = np.ndarray[Any, Any]


def reference_variant(filter: Filter) -> Variant:
    """The filter's reference, rounded to the types of its outputs. It is the definition, and so it has no verdict and
    no times."""

    def plan(device: Device, task: Task) -> Plan:
        forms = {output.id: output.form(task) for output in filter.given(task.params)}
        outputs = {id: device.empty(form.shape, form.dtype) for id, form in forms.items()}

        def define() -> None:
            for id, values in filter.reference(task).items():
                if id in outputs:
                    _round_into(outputs[id], values)

        return Plan((Call(define, (), name="reference"),), outputs)

    idea = "The definition in double precision, with which every other result is compared; integers are rounded."
    return Variant(REFERENCE, "Reference", idea, plan, "cpu", source=filter.source)


def _round_into(out: Array, values: Array) -> None:
    """Integers are rounded half up and saturate; undecided elements of a masked array keep their values."""
    values = np.asarray(np.ma.getdata(values))
    if out.dtype.kind in "iu" and values.dtype.kind == "f":
        limits = np.iinfo(out.dtype)
        values = np.clip(np.floor(values + 0.5), limits.min, limits.max)
    np.copyto(out, values, casting="unsafe")
