"""Plans of the CPU variants: for each shift forward, thresholds, inverse; conversions are steps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gpu_ops.filters.wavelet.forms import figures_form, noise_form, pyramid_shape, spatial, work_type
from gpu_ops.filters.wavelet.reference import rounded
from gpu_ops.plan import Call, Device, Plan, Step
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


class Loops(Protocol):
    """The loops of a variant for one task. Pyramids and figures have the filter's forms; `backward` thresholds details
    by the figures, and may overwrite the pyramid."""

    def forward(self, x: Array, pyramid: Array) -> None: ...

    def estimate(self, pyramid: Array, figures: Array) -> None: ...

    def backward(self, pyramid: Array, figures: Array, out: Array) -> None: ...


def planned(loops: Loops, device: Device, task: Task) -> Plan:
    """The plan of a task's loops."""
    meta, params, kind, x = task.meta, task.params, work_type(task), task.x
    steps: list[Step] = []
    if meta.dtype != kind.name:
        x = device.empty(meta.shape, kind)
        steps.append(Call(np.copyto, (x, task.x), name=f"to {kind.name}"))
    pyramid = device.empty(pyramid_shape(task), kind)
    figures = device.empty(figures_form(task).shape, np.float64)
    out = device.empty(meta.shape, meta.dtype)
    outputs: dict[str, Array] = {meta.kind: out}
    result = out if meta.dtype == kind.name else device.empty(meta.shape, kind)
    moved, shifted = (x, result) if params["shifts"] == 1 else (device.empty(meta.shape, kind) for _ in range(2))
    pyramid[...] = 0  # padding between bands stays 0
    figures[...] = params["value"]  # for the rule manual, which needs no estimate
    for shift in range(params["shifts"]):
        if params["shifts"] > 1:
            steps.append(Call(roll, (x, shift, len(spatial(task)), moved), name=f"shift by {shift}"))
        steps.append(Call(loops.forward, (moved, pyramid), name="forward"))
        if params["rule"] != "manual" or params["result"] == "parts":
            steps.append(Call(loops.estimate, (pyramid, figures), name="thresholds"))
        if shift == 0 and params["result"] == "parts":
            kept = {
                "coefficients": device.empty(pyramid.shape, kind),
                "figures": device.empty(figures.shape, np.float64),
            }
            steps += [
                Call(np.copyto, (kept[n], a), name=f"keep {n}")
                for n, a in (("coefficients", pyramid), ("figures", figures))
            ]
            outputs |= kept
        steps.append(Call(loops.backward, (pyramid, figures, shifted), name="threshold, inverse"))
        if params["shifts"] > 1:
            steps.append(
                Call(add, (shifted, shift, len(spatial(task)), params["shifts"], result), name=f"add shift {shift}")
            )
    if result is not out:
        steps.append(Call(to_type, (result, out), name=f"to {meta.dtype}"))
    if params["result"] == "parts":
        outputs["noise"] = device.empty(meta.shape, noise_form(task).dtype)
        steps.append(Call(np.subtract, (x, result, outputs["noise"]), {"casting": "same_kind"}, name="noise"))
    return Plan(tuple(steps), outputs)


def skimage(device: Device, task: Task) -> Plan:
    """The plan of scikit-image's denoise_wavelet."""
    from gpu_ops.filters.wavelet.cpu.peers import skimage_denoise

    restoration, kind, x = device.library("skimage.restoration"), work_type(task), task.x
    steps: list[Step] = []
    if task.meta.dtype != kind.name:
        x = device.empty(x.shape, kind)
        steps.append(Call(np.copyto, (x, task.x), name=f"to {kind.name}"))
    out = result = device.empty(x.shape, task.meta.dtype)
    if x is not task.x:
        result = device.empty(x.shape, kind)
    steps.append(Call(skimage_denoise, (restoration, task, x, result), name="denoise_wavelet"))
    if result is not out:
        steps.append(Call(to_type, (result, out), name=f"to {task.meta.dtype}"))
    return Plan(tuple(steps), {task.meta.kind: out})


def roll(x: Array, shift: int, rank: int, out: Array) -> None:
    """A circular shift along every axis of an image or a signal."""
    out[...] = np.roll(x, (shift,) * rank, tuple(range(rank)))


def add(shifted: Array, shift: int, rank: int, shifts: int, total: Array) -> None:
    """Add a shifted result, shifted back, to the mean over the shifts; the first one initialises it."""
    place = np.roll(shifted, (-shift,) * rank, tuple(range(rank)))
    np.divide(place, shifts, out=place)
    np.copyto(total, place) if shift == 0 else np.add(total, place, out=total)


def to_type(result: Array, out: Array) -> None:
    """The result in the input's type: integers rounded half up and clamped to their range."""
    np.copyto(out, rounded(result, out.dtype), casting="same_kind")


def serial(device: Device, task: Task) -> Plan:
    """The plan of the plain loops on one thread."""
    from gpu_ops.filters.wavelet.cpu.host import Serial

    return planned(Serial(task), device, task)


def pywavelets(device: Device, task: Task) -> Plan:
    """The plan of PyWavelets' functions, level by level, with the rules in NumPy."""
    from gpu_ops.filters.wavelet.cpu.peers import PyWavelets

    device.library("pywt")
    return planned(PyWavelets(task), device, task)


def parallel(device: Device, task: Task) -> Plan:
    """The plan of the vector loops on all threads."""
    from gpu_ops.filters.wavelet.cpu.parallel import Parallel

    return planned(Parallel(task), device, task)
