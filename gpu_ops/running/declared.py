"""Checks that a plan and a reference have the outputs that their filter declares, with shape, type and kind; and that a
plan runs the edited kernel files."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.devices.kernel_source import header_files, included_headers
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import DeclarationError, KernelError, ParamError, plain
from gpu_ops.output_kinds import Form
from gpu_ops.plan import Device, Launch, Plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Output, Pick, Variant

CHUNK = 1 << 20
"""Values searched for NaN at a time."""


def make_plan(
    filter: Filter, variant: Variant, device: Device, task: Task, edits: Mapping[str, str] | None = None
) -> Plan:
    """The variant's plan for a task whose arrays are on the device. The device is current meanwhile, because libraries
    plan for the current device. `edits` are those of the device's session. Raises DeclarationError when the variant's
    code fails, or its outputs are not those that the filter declares; KernelError when an edited file takes part in no
    launch."""
    with mistakes(filter, variant), device.as_current():
        plan = variant.plan(device, task)
        check_plan(filter, variant, task, plan)
    check_edits(filter, variant, plan, edits or {})
    return plan


def check_edits(filter: Filter, variant: Variant, plan: Plan, edits: Mapping[str, str]) -> None:
    """Raises KernelError for an edited file that no launch of the plan was compiled from: the result would not depend
    on it."""
    if not edits:
        return
    launched = dict.fromkeys(step.kernel.compiled.source for step in plan.steps if isinstance(step, Launch))
    paths = header_files(edits)
    used = {paths[name] for source in launched for name in included_headers(source, edits)} | launched.keys()
    for file in (file for file in edits if file not in used):
        own = [v.id for v in filter.variants if file in v.kernels[:1] and v is not variant]
        advice = f"choose {own[0]}" if own else "choose another variant or other settings"
        raise KernelError(
            f"{plain(file)} was given, but {filter.id} {variant.id} at these settings compiles only "
            f"{', '.join(launched) or 'no kernel file'}; {advice}."
        )


def check_plan(filter: Filter, variant: Variant, task: Task, plan: Plan) -> None:
    """Raises DeclarationError when the plan's outputs are not the filter's: names, shapes, dtypes, kinds."""
    who = f"{filter.id} {variant.id}"
    _check_names(filter, task, who, plan.outputs)
    for output in filter.given(task.params):
        form, array = output.form(task), plan.outputs[output.id]
        _check_form(who, output, form, tuple(array.shape), np.dtype(array.dtype).name, form.dtype)


def check_reference(filter: Filter, task: Task, expected: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Raises DeclarationError when the reference's outputs are not the filter's, or are NaN where no sample is. Its
    floats may be wider than the output's; complex numbers stay complex, and integers integers unless the output says
    otherwise. In a table NaN is an empty cell."""
    who = f"The reference of {filter.id}"
    _check_names(filter, task, who, expected)
    for output in filter.given(task.params):
        form, array = output.form(task), expected[output.id]
        alike = _class(array.dtype) == _class(np.dtype(form.dtype)) or (output.unrounded and array.dtype == np.float64)
        _check_form(who, output, form, array.shape, array.dtype.name, array.dtype.name if alike else form.dtype)
        if task.meta.finite and output.kind != "table" and array.dtype.kind in "fc" and _any_nan(array.reshape(-1)):
            raise DeclarationError(
                f"{who} gives NaN in {output.id!r} for finite samples; every value must be a number."
            )


@contextmanager
def mistakes(filter: Filter, variant: Variant) -> Iterator[None]:
    """Inside the block, a Python error in a filter's code becomes a DeclarationError that names its line."""
    try:
        yield
    except MISTAKES as error:
        mistake = error_location(error)
        if not mistake:  # an error of this project's own
            raise
        params, knobs = (", ".join(p.name for p in ps) or "none" for ps in (filter.params, variant.knobs))
        raise DeclarationError(
            f"{filter.id} {variant.id} has {mistake}; its parameters are {params}, its knobs {knobs}."
        ) from error


MISTAKES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, NameError)
"""The exceptions of Python that a mistake in a filter's code raises."""


def error_location(error: BaseException) -> str:
    """The line of a filter's code that raised an error, as part of a sentence; "" for an error from elsewhere."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "filters" in Path(f.filename).parts]
    if not frames:
        return ""
    place = Path(frames[-1].filename)
    file = "/".join(place.parts[place.parts.index("filters") - 1 :])
    return f"a mistake in {file}, line {frames[-1].lineno}: {type(error).__name__} {plain(error, 80)}"


def _class(dtype: np.dtype[Any]) -> str:
    return "i" if dtype.kind in "ui" else dtype.kind


def _any_nan(flat: np.ndarray[Any, Any]) -> bool:
    return any(np.isnan(flat[k : k + CHUNK]).any() for k in range(0, flat.size, CHUNK))


def _check_names(filter: Filter, task: Task, who: str, arrays: Mapping[str, Any]) -> None:
    names = [o.id for o in filter.given(task.params)]
    if set(arrays) != set(names):
        present = ", ".join(arrays) or "none"
        raise DeclarationError(
            f"{who} gives the outputs {present}, and the filter declares {', '.join(names)}; make them the same."
        )


def _check_form(who: str, output: Output, form: Form, shape: tuple[int, ...], dtype: str, expected: str) -> None:
    fault = output.of_kind.fault(form.dtype, len(form.shape)) or output.of_kind.fault(dtype, len(shape))
    if fault:
        raise DeclarationError(f"{who} gives {output.id!r} as {fault}; declare another kind or give another array.")
    if output.labels and np.dtype(dtype).kind not in "bui":
        raise DeclarationError(f"{who} gives {output.id!r} as {dtype}, and labels are integers; give them as such.")
    if output.marks is not None and not output.marks.columns(form):
        names, marks = ", ".join(form.axes[-1].labels) or "without names", output.marks
        needed = ", ".join(name for name in (marks.x, marks.y, marks.label) if name)
        raise DeclarationError(f"{who} gives {output.id!r} with columns {names}; its marks need {needed}.")
    if shape != form.shape or dtype != expected:
        raise DeclarationError(
            f"{who} gives {output.id!r} of shape {shape} and type {dtype}; "
            f"the filter declares {form.shape} and {form.dtype}."
        )


def offline_plan(filter: Filter, pick: Pick, params: Mapping[str, object], meta: Meta, device: OfflineDevice) -> Plan:
    """A variant's plan for an input of that meta, with its kernels compiled for the device's architecture.

    Raises ParamError for a task that the variant refuses, KernelError, DeviceError.
    """
    variant = filter.variant(pick.variant)
    knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
    task = Task.of(meta, {**{p.name: p.default for p in filter.params}, **params}, knobs, device.limits)
    if reason := variant.refusal(task):
        raise ParamError(f"{variant.id} cannot do this: {reason}.")
    return make_plan(filter, variant, device, task.on(device.empty(meta.shape, task.dtype)), pick.edits)
