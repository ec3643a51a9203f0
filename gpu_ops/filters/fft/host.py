"""The variants on the CPU: one compiled transform on one core, and the libraries of NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits, steps
from gpu_ops.filters.fft.forms import Cut, complex_type, peak_count, peaks1d, peaks2d, radial, real_type
from gpu_ops.filters.fft.forms import values1d as form1d
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import LOBES, window
from gpu_ops.output_kinds import Form
from gpu_ops.plan import Call, Device, DeviceArray, Plan, Step
from gpu_ops.task import Task
from gpu_ops.types import Variant

SERIAL = "Radix 2 on one core, compiled; Bluestein's method where the length is no power of two."
NUMPY = "What most Python programs call: pocketfft with mixed radices, on one core."
SCIPY = "The same transforms on all cores and SIMD lanes."


@dataclass(frozen=True)
class Engine:
    """Transforms of real rows and planes. Each is called with (source, target); back2 may overwrite its source."""

    forward: Callable[[Any, Any], None]
    back: Callable[[Any, Any], None]
    forward2: Callable[[Any, Any], None]
    back2: Callable[[Any, Any], None]


def _compiled(device: Device) -> Engine:
    from gpu_ops.filters.fft import serial

    return Engine(serial.forward, serial.back, serial.forward2, serial.back2)


def _numpy(device: Device) -> Engine:
    fft = np.fft
    return Engine(
        lambda x, out: fft.rfft(x, out=out),
        lambda bins, out: fft.irfft(bins, out.shape[-1], out=out),
        lambda x, out: fft.rfft2(x, out=out),
        lambda bins, out: fft.irfftn(bins, out.shape[1:], axes=(1, 2), out=out),  # irfft2 forgets `out`
    )


def _scipy(device: Device) -> Engine:
    fft = device.library("scipy.fft")

    def into(out: Any, result: Any) -> None:
        out[...] = result

    return Engine(
        lambda x, out: into(out, fft.rfft(x, workers=-1)),
        lambda bins, out: into(out, fft.irfft(bins, out.shape[-1], workers=-1)),
        lambda x, out: into(out, fft.rfft2(x, workers=-1)),
        lambda bins, out: into(out, fft.irfft2(bins, out.shape[1:], workers=-1)),
    )


class Work:
    """The plan of a task as it grows: steps, outputs and memory."""

    def __init__(self, device: Device, task: Task) -> None:
        self.device, self.task = device, task
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

    def call(self, name: str, function: Callable[..., Any], *args: Any) -> None:
        """One more step."""
        self.steps.append(Call(function, args, name=name))

    def samples(self) -> DeviceArray:
        """The input in the type of the work; integers take a step."""
        if self.task.dtype == real_type(self.task):
            return self.task.x
        converted = self.real(*self.task.x.shape)
        self.call("convert", _convert, self.task.x, converted)
        return converted

    def plan(self) -> Plan:
        """The plan."""
        return Plan(tuple(self.steps), self.outputs)


def _convert(x: DeviceArray, out: DeviceArray) -> None:
    out[...] = x


def plan1d(load: Callable[[Device], Engine], device: Device, task: Task) -> Plan:
    """Cut, transform, and what the result asks for."""
    engine, work, cut, result = load(device), Work(device, task), Cut.of(task), task.params["result"]
    segments = work.samples().reshape(1, 1, -1)
    if cut.channels > 1 or cut.detrend or cut.window != "none" or cut.count > 1 or cut.length < segments.size:
        source, segments = segments.reshape(task.x.shape), work.real(cut.channels, cut.count, cut.length)
        work.call("cut", steps.cut_signal, source, cut, cut.weights.astype(real_type(task)), segments)
    bins = work.complex(cut.channels, cut.count, cut.bins)
    work.call("transform", engine.forward, segments.reshape(-1, cut.length), bins.reshape(-1, cut.bins))
    if result == "round trip":
        samples = work.real(*segments.shape)
        work.call("back", engine.back, bins.reshape(-1, cut.bins), samples.reshape(-1, cut.length))
        out = work.outputs["signal"] = device.empty(task.x.shape, task.dtype)
        work.call("join", steps.join, samples.reshape(cut.channels, cut.length), out)
    else:
        _finish1d(work, cut, bins)
    return work.plan()


def _finish1d(work: Work, cut: Cut, bins: DeviceArray) -> None:
    task, result = work.task, work.task.params["result"]
    one_sided = task.params["sides"] == "one"
    if result == "spectrogram":
        from gpu_ops.filters.fft.forms import spectrogram

        work.call(result, steps.spectrogram, np, bins, cut, work.output(result, spectrogram(task)))
        return
    form = form1d(task)
    if result in ("spectrum", "phase"):
        values = work.complex(*form.shape)
        work.call("spectrum", steps.spectrum, np, bins, cut.length, values)
        if result == "spectrum":
            work.outputs["spectrum"] = values
        else:
            work.call("phase", steps.phase, np, values, task, work.output("phase", form))
        return
    values = work.output(result.replace(" ", "_"), form)
    if result == "magnitude":
        work.call("magnitude", steps.magnitude, np, bins, cut, values)
    else:
        work.call("power density", steps.density, np, bins, cut, one_sided, values)
    table, count = work.output("peaks", peaks1d(task)), work.output("peak_count", peak_count(task))
    work.call("peaks", steps.peaks1d, values, cut, LOBES[cut.window], table, count)


def plan2d(load: Callable[[Device], Engine], device: Device, task: Task) -> Plan:
    """Cut, transform, and what the result asks for."""
    engine, work, result = load(device), Work(device, task), task.params["result"]
    height, width = task.meta.shape[:2]
    channels, plain = task.meta.channels, result == "round trip"
    detrend = result not in ("round trip", "phase") and task.params["detrend"] == "constant"
    name = "none" if plain else task.params["window"]
    weights = [window(name, n) for n in (height, width)]
    planes = work.samples().reshape(1, height, -1)
    if channels > 1 or detrend or name != "none":
        source, planes = planes.reshape(task.x.shape), work.real(channels, height, width)
        work.call("cut", steps.cut_image, source, detrend, *(w.astype(real_type(task)) for w in weights), planes)
    bins = work.complex(channels, height, width // 2 + 1)
    work.call("transform", engine.forward2, planes, bins)
    if plain:
        samples, out = work.real(channels, height, width), device.empty(task.x.shape, task.dtype)
        work.call("back", engine.back2, bins, samples)
        work.outputs["image"] = out
        work.call("join", steps.join, samples, out)
    else:
        _finish2d(work, bins, weights)
    return work.plan()


def _finish2d(work: Work, bins: DeviceArray, weights: Sequence[Any]) -> None:
    task, result = work.task, work.task.params["result"]
    shape = task.meta.shape
    if result in ("spectrum", "phase"):
        values = work.complex(*shape)
        work.call("spectrum", steps.whole, np, bins, values)
        if result == "phase":
            spectrum, values = values, work.real(*shape)
            work.call("phase", steps.phase, np, spectrum, task, values)
    elif result == "magnitude":
        values = work.real(*shape)
        total = float(weights[0].sum() * weights[1].sum())
        work.call("magnitude", steps.amplitudes, np, bins, 1 / total, values)
        table, count = work.output("peaks", peaks2d(task)), work.output("peak_count", peak_count(task))
        work.call("peaks", steps.peaks2d, values, LOBES[task.params["window"]], table, count)
    else:
        values = work.real(*shape)
        squares = float((weights[0] ** 2).sum() * (weights[1] ** 2).sum())
        work.call("power density", steps.densities, np, bins, 1 / squares, values)
    if result == "radial profile":
        work.call("rings", steps.rings, values, work.output("radial", radial(task)))
        return
    if task.params["centred"]:
        whole, values = values, work.device.empty(shape, values.dtype)
        work.call("centre", steps.centre, np, whole, values)
    work.outputs[result.replace(" ", "_")] = values


def plan_mask(load: Callable[[Device], Engine], device: Device, task: Task) -> Plan:
    """Forward, multiply, back."""
    engine, work = load(device), Work(device, task)
    height, width = task.meta.shape[:2]
    channels, half = task.meta.channels, width // 2 + 1
    planes = work.samples().reshape(1, height, -1)
    if channels > 1:
        source, planes = planes.reshape(task.x.shape), work.real(channels, height, width)
        ones = (np.ones(n, real_type(task)) for n in (height, width))
        work.call("cut", steps.cut_image, source, False, *ones, planes)
    bins, samples = work.complex(channels, height, half), work.real(channels, height, width)
    mask = transfer(task.params, np.arange(height)[:, None], np.arange(half), height, width).astype(real_type(task))
    work.call("forward", engine.forward2, planes, bins)
    work.call("multiply", np.multiply, bins, mask, bins)
    left = work.outputs["spectrum"] = work.real(*task.meta.shape)
    work.call("magnitude", steps.amplitudes, np, bins, 1 / (height * width), left)
    work.call("back", engine.back2, bins, samples)
    out = work.outputs["image"] = device.empty(task.x.shape, task.dtype)
    work.call("join", steps.join, samples, out)
    return work.plan()


def _host(plan: Callable[..., Plan], with_numpy: bool = True) -> tuple[Variant, ...]:
    own: dict[str, Any] = {"device": "cpu", "largest": limits.largest}
    variants = [Variant("serial", "CPU, one core", SERIAL, partial(plan, _compiled), source="S2", **own)]
    if with_numpy:
        variants.append(Variant("numpy", "NumPy", NUMPY, partial(plan, _numpy), library="numpy", **own))
    return (*variants, Variant("scipy", "SciPy", SCIPY, partial(plan, _scipy), library="scipy", **own))


def variants1d() -> tuple[Variant, ...]:
    """Of signals."""
    return _host(plan1d)


def variants2d() -> tuple[Variant, ...]:
    """Of images."""
    return _host(plan2d)


def variants_mask() -> tuple[Variant, ...]:
    """Of the mask."""
    return _host(plan_mask, with_numpy=False)
