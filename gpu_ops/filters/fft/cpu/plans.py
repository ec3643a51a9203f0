"""The plans of the variants that call transforms: those on the CPU, and CuPy's. Every conversion is a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.filters.fft import forms
from gpu_ops.filters.fft.cpu import steps
from gpu_ops.filters.fft.forms import Cut, complex_type, real_type
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import LOBES, window
from gpu_ops.output_kinds import Form
from gpu_ops.plan import Call, Device, DeviceArray, Plan, Step
from gpu_ops.task import Task


@dataclass(frozen=True)
class Transform:
    """A transform and its inverse, each called with (source, target): real rows (B, L) and their one-sided spectra, or
    real planes (C, H, W) and their half spectra. `inverse` may overwrite its source."""

    forward: Callable[[Any, Any], Any]
    inverse: Callable[[Any, Any], Any]


Engine = Callable[[Device, tuple[int, ...], str], Transform]
"""Creates the transform of rows (L,) or planes (H, W) of a type, while planning."""


class Build:
    """A plan under construction: steps, outputs and memory."""

    def __init__(self, device: Device, task: Task) -> None:
        self.device, self.task, self.params = device, task, task.params
        self.steps: list[Step] = []
        self.outputs: dict[str, DeviceArray] = {}

    def real(self, *shape: int) -> DeviceArray:
        """Memory for real values."""
        return self.device.empty(shape, real_type(self.task))

    def complex(self, *shape: int) -> DeviceArray:
        """Memory for complex values."""
        return self.device.empty(shape, complex_type(self.task))

    def output(self, name: str, form: Form) -> DeviceArray:
        """Memory for an output."""
        self.outputs[name] = self.device.empty(form.shape, form.dtype)
        return self.outputs[name]

    def weights(self, values: Any) -> DeviceArray:
        """Weights in the computing type, on the device."""
        return self.device.upload(np.asarray(values, real_type(self.task)))

    def call(self, name: str, function: Callable[..., Any], *args: Any) -> None:
        """Add a step."""
        self.steps.append(Call(function, args, name=name))

    def samples(self) -> DeviceArray:
        """The input in the computing type; integers need a step."""
        if self.task.dtype == real_type(self.task):
            return self.task.x
        converted = self.real(*self.task.x.shape)
        self.call("convert", steps.convert, self.task.x, converted)
        return converted

    def plan(self) -> Plan:
        """The plan."""
        return Plan(tuple(self.steps), self.outputs)


def plan1d(engine: Engine, device: Device, task: Task) -> Plan:
    """Cut the signal, transform the segments, and compute the requested result."""
    build, cut = Build(device, task), Cut.of(task)
    transform = engine(device, (cut.length,), real_type(task).name)
    segments = _segments(build, cut)
    bins = build.complex(cut.channels, cut.count, cut.bins)
    rows, spectra = segments.reshape(-1, cut.length), bins.reshape(-1, cut.bins)
    build.call("transform", transform.forward, rows, spectra)
    result = task.params["result"]
    if result == "round trip":
        samples = build.real(cut.channels, cut.length)
        build.call("inverse", transform.inverse, spectra, samples)
        build.call("join", steps.join, samples, build.output("signal", forms.like_input(task)))
    elif result == "spectrogram":
        factors = build.weights(steps.spectrogram_factors(cut))
        build.call(result, steps.spectrogram, bins, cut, factors, build.output(result, forms.spectrogram(task)))
    elif result in ("spectrum", "phase"):
        _complex1d(build, cut, bins)
    else:
        _real1d(build, cut, bins)
    return build.plan()


def _segments(build: Build, cut: Cut) -> DeviceArray:
    """The samples (C, segments, L) in the layout of the transform."""
    x, length = build.samples(), build.task.meta.shape[0]
    plain = cut.window == "none" and not cut.detrend
    if plain and cut.step == cut.length and cut.channels == 1:  # segments are adjacent
        return x[: cut.count * cut.length].reshape(1, cut.count, cut.length)
    segments = build.real(cut.channels, cut.count, cut.length)
    if cut.length < length:
        build.call("cut", steps.cut_segments, x, cut, build.weights(cut.weights), segments)
    elif plain:
        build.call("split", steps.split, x, segments)
    else:
        build.call("window", steps.cut_signal, x, cut.detrend, build.weights(cut.weights), segments)
    return segments


def _complex1d(build: Build, cut: Cut, bins: DeviceArray) -> None:
    form = forms.spectrum1d(build.task)
    if build.params["result"] == "spectrum":
        build.call("spectrum", steps.spectrum, bins, cut.length, build.output("spectrum", form))
        return
    values = build.complex(*form.shape)
    build.call("spectrum", steps.spectrum, bins, cut.length, values)
    build.call("phase", steps.phase, values, build.task, build.output("phase", forms.values1d(build.task)))


def _real1d(build: Build, cut: Cut, bins: DeviceArray) -> None:
    """Amplitudes or densities, and their peaks."""
    task, one_sided = build.task, build.params["sides"] == "one"
    name, function = "magnitude", steps.magnitude
    if build.params["result"] == "power density":
        name, function = "power_density", steps.density
    values = build.output(name, forms.values1d(task))
    build.call(name.replace("_", " "), function, bins, cut, one_sided, values)
    table, count = build.output("peaks", forms.peaks1d(task)), build.output("peak_count", forms.peak_count(task))
    build.call("peaks", steps.peaks1d, values, cut, one_sided, LOBES[cut.window], table, count)


def plan2d(engine: Engine, device: Device, task: Task) -> Plan:
    """Window the image, transform its planes, and compute the requested result."""
    build, (height, width), result = Build(device, task), task.meta.shape[:2], task.params["result"]
    transform = engine(device, (height, width), real_type(task).name)
    plain = result == "round trip"
    weights = [window("none" if plain else task.params["window"], n) for n in (height, width)]
    detrend = result not in ("round trip", "phase") and task.params["detrend"] == "constant"
    planes = _planes(build, detrend, None if plain or task.params["window"] == "none" else weights)
    bins = build.complex(task.meta.channels, height, width // 2 + 1)
    build.call("transform", transform.forward, planes, bins)
    if plain:
        samples = build.real(task.meta.channels, height, width)
        build.call("inverse", transform.inverse, bins, samples)
        build.call("join", steps.join, samples, build.output("image", forms.like_input(task)))
    else:
        _finish2d(build, bins, weights)
    return build.plan()


def _planes(build: Build, detrend: bool, weights: Sequence[Any] | None) -> DeviceArray:
    """The pixels (C, H, W) in the layout of the transform."""
    x, channels = build.samples(), build.task.meta.channels
    height, width = build.task.meta.shape[:2]
    if weights is None and not detrend and channels == 1:
        return x.reshape(1, height, width)
    planes = build.real(channels, height, width)
    if weights is None and not detrend:
        build.call("split", steps.split, x, planes)
    else:
        both = np.multiply.outer(*weights) if weights else np.ones((1, 1))
        build.call("window", steps.cut_image, x, detrend, build.weights(both), planes)
    return planes


def _finish2d(build: Build, bins: DeviceArray, weights: Sequence[Any]) -> None:
    task, result = build.task, build.params["result"]
    if result == "radial profile":
        values = build.real(*task.meta.shape)
        build.call("power density", steps.densities, bins, _density(weights), values)
        build.call("rings", steps.rings, values, build.output("radial", forms.radial(task)))
        return
    values = build.complex(*task.meta.shape) if result in ("spectrum", "phase") else build.real(*task.meta.shape)
    if result == "magnitude":
        build.call(result, steps.amplitudes, bins, float(1 / (weights[0].sum() * weights[1].sum())), values)
        table, count = build.output("peaks", forms.peaks2d(task)), build.output("peak_count", forms.peak_count(task))
        build.call("peaks", steps.peaks2d, values, LOBES[build.params["window"]], table, count)
    elif result == "level":
        half, total = build.real(*bins.shape), float(weights[0].sum() * weights[1].sum())
        least = forms.least_amplitude(task)
        build.call("levels", steps.levels, bins, 1 / (total * forms.full_scale(task)), least, half)
        build.call("mirror", steps.whole, half, values)
    elif result == "power density":
        build.call(result, steps.densities, bins, _density(weights), values)
    else:
        build.call("spectrum", steps.whole, bins, values)
    if result == "phase":
        spectrum, values = values, build.real(*task.meta.shape)
        build.call("phase", steps.phase, spectrum, task, values)
    if build.params["centred"]:
        whole, values = values, build.device.empty(task.meta.shape, values.dtype)
        build.call("centre", steps.centre, whole, values)
    build.outputs[result.replace(" ", "_")] = values


def _density(weights: Sequence[Any]) -> float:
    return float(1 / ((weights[0] ** 2).sum() * (weights[1] ** 2).sum()))


def plan_mask(engine: Engine, device: Device, task: Task) -> Plan:
    """Forward, multiply, inverse."""
    build, (height, width), half = Build(device, task), task.meta.shape[:2], task.meta.shape[1] // 2 + 1
    transform = engine(device, (height, width), real_type(task).name)
    planes = _planes(build, False, None)
    bins = build.complex(task.meta.channels, height, half)
    mask = build.weights(transfer(task.params, np.arange(height)[:, None], np.arange(half), height, width))
    build.call("forward", transform.forward, planes, bins)
    build.call("multiply", np.multiply, bins, mask, bins)
    left = build.output("spectrum", forms.values2d(task))
    build.call("magnitude", steps.amplitudes, bins, 1 / (height * width), left)
    samples = build.real(task.meta.channels, height, width)
    build.call("inverse", transform.inverse, bins, samples)
    build.call("join", steps.join, samples, build.output("image", forms.like_input(task)))
    return build.plan()
