"""The outputs of the three filters: which of them a result includes, their units, and their accuracy.

Magnitudes in decibels are a scale of a view; only the level of an image is an output in decibels, relative to full
scale: 255 for uint8, 65535 for uint16, 1 for floats, as the amplitude of a constant. Frequencies are in hertz if the
rate of a signal is known, else in cycles per sample, and a sample counts as a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gpu_ops.filters.fft import forms, limits, reference
from gpu_ops.filters.fft.forms import Array
from gpu_ops.output_kinds import Form, Marks, ViewKind
from gpu_ops.task import Task
from gpu_ops.types import Output


class Judged(NamedTuple):
    """How the error of an Output is judged: its tolerance, and its scale or the minimum one."""

    tolerance: Callable[[Task], float]
    least: Callable[[Task], float] = lambda task: 0.0
    scales: Callable[[Task, float], Array | None] | None = None
    most: Callable[[Task], tuple[float, ...]] | None = None


TRANSFORM = Judged(limits.transform_tolerance, limits.least_spectrum)
AMPLITUDE = Judged(limits.transform_tolerance, limits.least_magnitude)
# A level of 0 dB is not the level of zero.
LEVEL = Judged(limits.transform_tolerance, lambda task: 1.0, reference.level_scales)
DENSITY = Judged(limits.density_tolerance, limits.least_density)
ANGLE = Judged(limits.transform_tolerance, lambda task: math.pi, reference.phase_scales)
MARKS1D = Marks(("magnitude", "power_density"), "frequency", "height")
MARKS2D = Marks(("magnitude",), "fx", "fy", "height")
PEAKS = Judged(limits.peak_tolerance, limits.least_peaks, most=limits.largest_peak_scales)
EXACT = Judged(lambda task: 0.0)


def _output(
    id: str, kind: ViewKind, unit: str, form: Callable[[Task], Form], judged: Judged, *results: str, period: float = 0.0
) -> Output:
    """An output with its own scale, requested by these results."""
    tolerance, least, scales, most = judged
    when = {"result": results}
    return Output(
        *(id, kind, unit, tolerance, least, form), own_scale=True, when=when, period=period, scales=scales, most=most
    )


def _phase(kind: ViewKind, form: Callable[[Task], Form]) -> Output:
    return _output("phase", kind, "rad", form, ANGLE, "phase", period=2 * math.pi)


def _peaks(form: Callable[[Task], Form], marks: Marks, *results: str) -> tuple[Output, ...]:
    """The table of peaks and their number."""
    return (
        replace(_output("peaks", "table", "", form, PEAKS, *results), marks=marks),
        _output("peak_count", "number", "peaks", forms.peak_count, EXACT, *results),
    )


def _round_trip(id: str, kind: ViewKind) -> Output:
    return Output(id, kind, "", limits.round_trip_tolerance, when={"result": ("round trip",)})


OUTPUTS1D = (
    _output("spectrum", "spectrum", "", forms.spectrum1d, TRANSFORM, "spectrum"),
    _output("magnitude", "spectrum", "", forms.values1d, AMPLITUDE, "magnitude"),
    _output("power_density", "spectrum", "unit²/Hz", forms.values1d, DENSITY, "power density"),
    _phase("signal", forms.values1d),
    _output("spectrogram", "spectrum", "unit²/Hz", forms.spectrogram, DENSITY, "spectrogram"),
    _round_trip("signal", "signal"),
    *_peaks(forms.peaks1d, MARKS1D, "magnitude", "power density"),
)
OUTPUTS2D = (
    _output("spectrum", "spectrum", "", forms.spectrum2d, TRANSFORM, "spectrum"),
    _output("magnitude", "spectrum", "", forms.values2d, AMPLITUDE, "magnitude"),
    _output("level", "spectrum", "dB", forms.values2d, LEVEL, "level"),
    _output("power_density", "spectrum", "unit²·px²", forms.values2d, DENSITY, "power density"),
    _phase("image", forms.values2d),
    _output("radial", "spectrum", "unit²·px²", forms.radial, DENSITY, "radial profile"),
    _round_trip("image", "image"),
    *_peaks(forms.peaks2d, MARKS2D, "magnitude"),
)
OUTPUTS_MASK = (
    Output("image", "image", "", limits.mask_tolerance, unrounded=True),
    Output("spectrum", "spectrum", "", AMPLITUDE.tolerance, AMPLITUDE.least, forms.values2d),
)
