"""The Fourier transform: the spectrum of a signal, of an image, and an image without some of its frequencies."""

from __future__ import annotations

import math
from typing import Any

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft import forms, gpu, host, limits, reference
from gpu_ops.filters.fft.mask import SHAPES
from gpu_ops.filters.fft.windows import COSINES
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Filter, Locality, Output, Variant, Work

RESULTS1D = ("spectrum", "magnitude", "power density", "phase", "spectrogram", "round trip")
RESULTS2D = ("spectrum", "magnitude", "power density", "phase", "radial profile", "round trip")
SIDED = ("spectrum", "magnitude", "power density", "phase")
"""The results over all frequencies."""
CUT: dict[str, tuple[str, ...]] = {"result": ("power density", "spectrogram")}
"""The results from segments."""
TRANSFORMED = {"result": tuple(r for r in RESULTS1D if r != "round trip")}
TRANSFORMED2D = {"result": tuple(r for r in RESULTS2D if r != "round trip")}
LEVELLED = {"result": tuple(r for r in RESULTS1D if r not in ("phase", "round trip"))}
LEVELLED2D = {"result": tuple(r for r in RESULTS2D if r not in ("phase", "round trip"))}
HALF = 0.7071
"""The largest distance from zero frequency, in the corner of a spectrum, in cycles per pixel."""


def _window(when: dict[str, tuple[str, ...]]) -> Param:
    text = "weights of the samples before the transform"
    return Param("window", "none", choices=tuple(COSINES), help=text, when=when, tries=("none", "Hann", "flat-top"))


def _detrend(when: dict[str, tuple[str, ...]]) -> Param:
    text = "what is taken off before the transform: nothing or the mean"
    return Param("detrend", "none", choices=("none", "constant"), help=text, when=when)


def _result(choices: tuple[str, ...]) -> Param:
    return Param("result", "spectrum", choices=choices, help="what is made of the transform")


PARAMS1D = (
    _result(RESULTS1D),
    Param("sides", "one", choices=("one", "two"), help="frequencies from zero, or both signs", when={"result": SIDED}),
    _window(TRANSFORMED),
    _detrend(LEVELLED),
    Param(
        "segment",
        0,
        0,
        1 << 24,
        unit="samples",
        help="samples a segment; 0 is the whole signal, and 256 of a spectrogram",
        when=CUT,
        tries=(0, 7, 64),
    ),
    Param("overlap", 50, 0, 95, unit="%", help="how much of a segment the next one shares", when=CUT, tries=(0, 50)),
)
PARAMS2D = (
    _result(RESULTS2D),
    _window(TRANSFORMED2D),
    _detrend(LEVELLED2D),
    Param("centred", False, help="zero frequency in the middle", when={"result": SIDED}),
)
PARAMS_MASK = (
    Param("shape", "low", choices=SHAPES, help="which frequencies stay; a notch takes one away"),
    Param(
        "low",
        0.05,
        0.0,
        HALF,
        unit="cycles/px",
        help="frequencies below go",
        when={"shape": ("high", "band")},
        tries=(0.0, 0.05),
    ),
    Param(
        "high",
        0.2,
        0.0,
        HALF,
        unit="cycles/px",
        help="frequencies above go",
        when={"shape": ("low", "band")},
        tries=(0.2, HALF),
    ),
    Param(
        "radius",
        0.05,
        0.0,
        HALF,
        unit="cycles/px",
        help="reach of the notch",
        when={"shape": ("notch",)},
        tries=(0.05,),
    ),
    Param("softness", 0.05, 0.0, HALF, unit="cycles/px", help="width of the edge, a raised cosine", tries=(0.0, 0.05)),
    Param("fy", 0.0, -0.5, 0.5, unit="cycles/px", help="the notch along y", when={"shape": ("notch",)}, tries=(0.0,)),
    Param(
        "fx", 0.1, -0.5, 0.5, unit="cycles/px", help="the notch along x", when={"shape": ("notch",)}, tries=(0.1, 0.48)
    ),
)


def _given(*results: str) -> dict[str, tuple[str, ...]]:
    return {"result": results}


def _peaks(form: Any, *results: str) -> tuple[Output, ...]:
    """The table of peaks and their number."""
    when = _given(*results)
    table = Output("peaks", "table", "", limits.peak_tolerance, limits.least_peaks, form, True, when)
    return table, Output("peak_count", "number", "peaks", lambda task: 0.0, form=forms.peak_count, when=when)


def _round_trip(id: Any) -> Output:
    return Output(id, id, "", limits.round_trip_tolerance, when=_given("round trip"))


PHASE: dict[str, Any] = {
    "tolerance": limits.phase_tolerance,
    "least": lambda task: math.pi,
    "own_scale": True,
    "when": _given("phase"),
    "period": 2 * math.pi,
}

OUTPUTS1D = (
    Output(
        "spectrum",
        "spectrum",
        "",
        limits.transform_tolerance,
        limits.least_spectrum,
        forms.spectrum1d,
        True,
        _given("spectrum"),
    ),
    Output(
        "magnitude",
        "spectrum",
        "",
        limits.transform_tolerance,
        limits.least_magnitude,
        forms.values1d,
        True,
        _given("magnitude"),
    ),
    Output(
        "power_density",
        "spectrum",
        "unit²/Hz",
        limits.square_tolerance,
        limits.least_density,
        forms.values1d,
        True,
        _given("power density"),
    ),
    Output("phase", "signal", "rad", form=forms.values1d, **PHASE),
    Output(
        "spectrogram",
        "spectrum",
        "unit²/Hz",
        limits.square_tolerance,
        limits.least_density,
        forms.spectrogram,
        True,
        _given("spectrogram"),
    ),
    _round_trip("signal"),
    *_peaks(forms.peaks1d, "magnitude", "power density"),
)
OUTPUTS2D = (
    Output(
        "spectrum",
        "spectrum",
        "",
        limits.transform_tolerance,
        limits.least_spectrum,
        forms.spectrum2d,
        True,
        _given("spectrum"),
    ),
    Output(
        "magnitude",
        "spectrum",
        "",
        limits.transform_tolerance,
        limits.least_magnitude,
        forms.values2d,
        True,
        _given("magnitude"),
    ),
    Output(
        "power_density",
        "spectrum",
        "unit²·px²",
        limits.square_tolerance,
        limits.least_density,
        forms.values2d,
        True,
        _given("power density"),
    ),
    Output("phase", "image", "rad", form=forms.values2d, **PHASE),
    Output(
        "radial",
        "spectrum",
        "unit²·px²",
        limits.square_tolerance,
        limits.least_density,
        forms.radial,
        True,
        _given("radial profile"),
    ),
    _round_trip("image"),
    *_peaks(forms.peaks2d, "magnitude"),
)
OUTPUTS_MASK = (
    Output("image", "image", "", limits.mask_tolerance),
    Output("spectrum", "spectrum", "", limits.transform_tolerance, limits.least_magnitude, forms.values2d),
)


def check1d(task: Task) -> None:
    """Raises ParamError for a segment that is longer than the signal."""
    length, params = task.meta.shape[0], task.params
    if params["result"] in CUT["result"] and params["segment"] > length:
        raise ParamError(
            f"segment {params['segment']} is longer than the signal of {length} samples; "
            f"choose 1 to {length} samples, or 0 for {'all of them' if params['result'] == 'power density' else '256'}."
        )


def check_mask(task: Task) -> None:
    """Raises ParamError for a band that ends before it begins."""
    low, high = task.params["low"], task.params["high"]
    if task.params["shape"] == "band" and low >= high:
        raise ParamError(f"low {low:g} must be less than high {high:g} for a band; move one of them.")


def _transforms(values: int, length: int) -> int:
    """Operations of one real transform of `length`, over that many values in all."""
    return round(2.5 * values * math.log2(max(length, 2)))


def work1d(task: Task) -> Work:
    """The signal read once, the results written once, one real transform of every segment; two for a round trip."""
    cut = forms.Cut.of(task)
    one = _transforms(cut.count * cut.length * cut.channels, cut.length)
    return Work(task.meta.nbytes, _written(FFT1D, task), one * (2 if task.params["result"] == "round trip" else 1))


def work2d(task: Task) -> Work:
    """The image read once, the results written once, one real transform; two for a round trip."""
    one = _transforms(task.meta.size, task.meta.shape[0] * task.meta.shape[1])
    return Work(task.meta.nbytes, _written(FFT2D, task), one * (2 if task.params["result"] == "round trip" else 1))


def work_mask(task: Task) -> Work:
    """The image read once, the results written once, one real transform there and one back."""
    one = _transforms(task.meta.size, task.meta.shape[0] * task.meta.shape[1])
    return Work(task.meta.nbytes, _written(FFT_MASK, task), 2 * one)


def _written(filter: Filter, task: Task) -> int:
    shapes = (output.form(task) for output in filter.given(task.params))
    return sum(math.prod(form.shape) * forms.np.dtype(form.dtype).itemsize for form in shapes)


def _variants(of_host: tuple[Variant, ...], of_gpu: tuple[Variant, ...]) -> tuple[Variant, ...]:
    return (*of_host, *of_gpu)


FFT1D = Filter(
    id="fft1d",
    family="fft",
    title="Fourier transform (signal)",
    summary="The spectrum of a signal, channel by channel: amplitudes, power density, phase, spectrogram, peaks.",
    accepts="signal",
    dtypes=DTYPES,
    params=PARAMS1D,
    outputs=OUTPUTS1D,
    reference=reference.reference1d,
    work=work1d,
    locality=Locality("global"),
    check=check1d,
    source="S2",
    finite_only=True,
    variants=_variants(host.variants1d(), gpu.variants1d()),
)
FFT2D = Filter(
    id="fft2d",
    family="fft",
    title="Fourier transform (image)",
    summary="The spectrum of an image, channel by channel: amplitudes, power density, phase, radial profile, peaks.",
    accepts="image",
    dtypes=DTYPES,
    params=PARAMS2D,
    outputs=OUTPUTS2D,
    reference=reference.reference2d,
    work=work2d,
    locality=Locality("global"),
    source="S2",
    finite_only=True,
    variants=_variants(host.variants2d(), gpu.variants2d()),
)
FFT_MASK = Filter(
    id="fft_mask",
    family="fft_mask",
    title="Frequency mask",
    summary="An image without some of its frequencies: low, high or band pass, or without one pattern (notch).",
    accepts="image",
    dtypes=DTYPES,
    params=PARAMS_MASK,
    outputs=OUTPUTS_MASK,
    reference=reference.reference_mask,
    work=work_mask,
    locality=Locality("global"),
    check=check_mask,
    source="S2",
    finite_only=True,
    variants=_variants(host.variants_mask(), gpu.variants_mask()),
)
