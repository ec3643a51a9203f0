"""The parameters of the three filters, and the checks against an input."""

from __future__ import annotations

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft.mask import SHAPES
from gpu_ops.filters.fft.windows import COSINES
from gpu_ops.params import Param, Place, Ring
from gpu_ops.task import Task

RESULTS1D = ("spectrum", "magnitude", "power density", "phase", "spectrogram", "round trip")
RESULTS2D = ("spectrum", "magnitude", "level", "power density", "phase", "radial profile", "round trip")
SIDED = ("spectrum", "magnitude", "power density", "phase")
"""The results over all frequencies."""
SIDED2D = (*SIDED, "level")
CUT: dict[str, tuple[str, ...]] = {"result": ("power density", "spectrogram")}
"""The results from segments."""
TRANSFORMED = {"result": tuple(r for r in RESULTS1D if r != "round trip")}
TRANSFORMED2D = {"result": tuple(r for r in RESULTS2D if r != "round trip")}
LEVELLED = {"result": tuple(r for r in RESULTS1D if r not in ("phase", "round trip"))}
LEVELLED2D = {"result": tuple(r for r in RESULTS2D if r not in ("phase", "round trip"))}
HALF = 0.7071
"""The largest distance from zero frequency, in the corner of a spectrum, in cycles per pixel."""


def _window(when: dict[str, tuple[str, ...]]) -> Param:
    text = "window function that is applied before the transform"
    return Param("window", "none", choices=tuple(COSINES), help=text, when=when, tries=("none", "Hann", "flat-top"))


def _detrend(when: dict[str, tuple[str, ...]]) -> Param:
    text = "what is subtracted before the transform: nothing, or the mean"
    return Param("detrend", "none", choices=("none", "constant"), help=text, when=when)


def _result(choices: tuple[str, ...]) -> Param:
    return Param("result", "spectrum", choices=choices, help="what is computed from the transform")


PARAMS1D = (
    _result(RESULTS1D),
    Param("sides", "one", choices=("one", "two"), help="one-sided or two-sided spectrum", when={"result": SIDED}),
    _window(TRANSFORMED),
    _detrend(LEVELLED),
    Param(
        "segment",
        0,
        0,
        1 << 24,
        unit="samples",
        help="samples per segment; 0: the whole signal, 256 for a spectrogram",
        when=CUT,
        tries=(0, 7, 64),
    ),
    Param("overlap", 50, 0, 95, unit="%", help="overlap of neighbouring segments", when=CUT, tries=(0, 50, 75)),
)
PARAMS2D = (
    _result(RESULTS2D),
    _window(TRANSFORMED2D),
    _detrend(LEVELLED2D),
    Param("centred", False, help="zero frequency in the centre", when={"result": SIDED2D}),
    Param(
        "floor",
        -80.0,
        -100.0,
        -20.0,
        unit="dB",
        help="lower levels are clamped to this value",
        when={"result": ("level",)},
        tries=(-80.0, -35.0),
    ),
)
PARAMS_MASK = (
    Param("shape", "low", choices=SHAPES, help="which frequencies pass; a notch removes one"),
    Param(
        "low",
        0.05,
        0.0,
        HALF,
        unit="cycles/px",
        help="lower cut-off frequency",
        when={"shape": ("high", "band")},
        tries=(0.0, 0.05, 0.13),
        handle=Ring("spectrum"),
    ),
    Param(
        "high",
        0.2,
        0.0,
        HALF,
        unit="cycles/px",
        help="upper cut-off frequency",
        when={"shape": ("low", "band")},
        tries=(0.2, 0.31, HALF),
        handle=Ring("spectrum", beyond="low"),
    ),
    Param(
        "radius",
        0.05,
        0.0,
        HALF,
        unit="cycles/px",
        help="radius of the notch",
        when={"shape": ("notch",)},
        tries=(0.05, 0.17),
        handle=Ring("spectrum", about="fy"),
    ),
    Param(
        "softness",
        0.05,
        0.0,
        HALF,
        unit="cycles/px",
        help="width of the transition band, a raised cosine",
        tries=(0.0, 0.05, 0.21),
    ),
    Param(
        "fy",
        0.0,
        -0.5,
        0.5,
        unit="cycles/px",
        help="frequency of the notch along y",
        when={"shape": ("notch",)},
        tries=(0.0, 0.13, -0.3),
        handle=Place("spectrum", across="fx", mirrored=True),
    ),
    Param(
        "fx",
        0.1,
        -0.5,
        0.5,
        unit="cycles/px",
        help="frequency of the notch along x",
        when={"shape": ("notch",)},
        tries=(0.1, -0.2, 0.48),
    ),
)


def check1d(task: Task) -> None:
    """Raises ParamError for a segment that is longer than the signal."""
    length, params = task.meta.shape[0], task.params
    if params["result"] in CUT["result"] and params["segment"] > length:
        raise ParamError(
            f"segment {params['segment']:,} is longer than the signal of {length:,} samples; "
            f"choose 1 to {length:,} samples, or 0 for "
            f"{'all of them' if params['result'] == 'power density' else '256'}."
        )


def check_mask(task: Task) -> None:
    """Raises ParamError for a band that ends before it begins."""
    low, high = task.params["low"], task.params["high"]
    if task.params["shape"] == "band" and low >= high:
        raise ParamError(f"low {low:g} must be less than high {high:g} for a band; move one of them.")
