"""Inputs without files: pictures and a heartbeat that ship with PyWavelets, classic test signals, and generators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import ParamError, plain
from gpu_ops.input_kinds import IMAGE_CHANNELS, Kind
from gpu_ops.io.inputs import Array, cast, enough_memory, find_axes
from gpu_ops.io.steps.chart import draw_chart
from gpu_ops.params import Param, check_values
from gpu_ops.types import DTYPES, Input

Options = Mapping[str, Any]

BLOCK = 2**18
"""Samples that are computed at a time in float64, so that a long signal needs little memory besides its own."""
MOST = 2**31
LARGEST_SIDE = 2**20
ECG_RATE = 360.0


class Content(NamedTuple):
    """The result of a sample's function; `rate` is in hertz."""

    kind: Kind
    array: Array
    rate: float | None = None
    clean: Array | None = None


@dataclass(frozen=True)
class Sample:
    """One sample input: `make` takes the checked values of `params`. `kind` is its default kind of input."""

    id: str
    kind: Kind
    title: str
    params: tuple[Param, ...]
    make: Callable[[Options], Content]


def sample(id: str, /, **options: object) -> Input:
    """The sample input with this id, such as sample("noise", length=10**6, seed=1, dtype="float64").

    Raises ParamError for an unknown id or option and for values outside their limits; InputError when it does not fit
    in memory or in the type's range.
    """
    for entry in SAMPLES:
        if entry.id == id:
            break
    else:
        raise ParamError(f"There is no sample {plain(id, 60)!r}; choose from {', '.join(s.id for s in SAMPLES)}.")
    values = check_values(entry.params, options, f"sample {id}")
    with enough_memory(f"Sample {id}", "make it smaller"):
        content = entry.make(values)
    origin: dict[str, Any] = {"generator": id, **values, "steps": []}
    axes = find_axes(content.array.shape, content.kind, id)
    return Input(content.kind, content.array, axes, id, origin, content.rate, content.clean)


def _generator(values: Options) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(values["seed"]))


def _shape(values: Options) -> tuple[Kind, tuple[int, ...]]:
    """An image's shape when `size` is given or there is no length, else a signal's."""
    channels = values["channels"]
    tail = (channels,) if channels > 1 else ()
    if values["size"] or "length" not in values:
        return "image", (*_parse_size(values["size"]), *tail)
    return "signal", (values["length"], *tail)


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,7})x(\d{1,7})", text.strip().lower())
    width, height = (int(n) for n in match.groups()) if match else (0, 0)
    if not (1 <= height <= LARGEST_SIDE and 1 <= width <= LARGEST_SIDE):
        raise ParamError(f"size must be WxH such as 768x512, both from 1 to {LARGEST_SIDE}, not {plain(text, 60)!r}.")
    return height, width


def with_width_first(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options or the origin of a sample in a file of the first schema, whose sizes were height x width."""
    found = dict(options)
    if isinstance(size := found.get("size"), str):
        found["size"] = "x".join(reversed(size.split("x")))
    if isinstance(before := found.get("of"), Mapping):
        found["of"] = with_width_first(before)
    return found


def _store(values: Array, low: float, dtype: str) -> Array:
    """Values in [low, 1] in another type; integers take their full range for it."""
    target = np.dtype(dtype)
    if target.kind == "f":
        return values.astype(target, copy=False)
    return np.rint((values - low) * (np.iinfo(target).max / (1 - low))).astype(target)


def _fill(length: int, dtype: str, formula: Callable[[Array], Array]) -> Array:
    """formula(index) for 0…length-1, block by block; its values are in [-1, 1] where dtype is an integer."""
    result = np.empty(length, dtype)
    for begin in range(0, length, BLOCK):
        index = np.arange(begin, min(begin + BLOCK, length), dtype=np.int64)
        result[begin : begin + index.size] = _store(formula(index), -1, dtype)
    return result


def _picture(name: str, values: Options) -> Content:
    import pywt

    return Content("image", cast(getattr(pywt.data, name)(), values["dtype"], name))


def _ecg(values: Options) -> Content:
    import pywt

    return Content("signal", cast(pywt.data.ecg(), values["dtype"], "ecg"), ECG_RATE)


# Donoho and Johnstone, Biometrika 81 (1994) 425-455: the jumps of blocks and the peaks of bumps are at the same places.
PLACES = (0.1, 0.13, 0.15, 0.23, 0.25, 0.4, 0.44, 0.65, 0.76, 0.78, 0.81)
JUMPS = (4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2)
PEAKS = (4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2)
WIDTHS = (0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005)


def _blocks(t: Array) -> Array:
    total = np.zeros_like(t)
    for place, jump in zip(PLACES, JUMPS, strict=True):
        total += jump * (1 + np.sign(t - place)) / 2
    return total


def _bumps(t: Array) -> Array:
    total = np.zeros_like(t)
    for place, peak, width in zip(PLACES, PEAKS, WIDTHS, strict=True):
        total += peak / (1 + np.abs((t - place) / width)) ** 4
    return total


def _heavisine(t: Array) -> Array:
    result: Array = 4 * np.sin(4 * np.pi * t) - np.sign(t - 0.3) - np.sign(0.72 - t)
    return result


def _doppler(t: Array) -> Array:
    result: Array = np.sqrt(t * (1 - t)) * np.sin(2 * np.pi * 1.05 / (t + 0.05))
    return result


def _classic(formula: Callable[[Array], Array], values: Options) -> Content:
    """formula(t) at t = 1/N…1."""
    length = values["length"]
    return Content("signal", _fill(length, values["dtype"], lambda index: formula((index + 1) / length)))


def _noise(values: Options) -> Content:
    kind, shape = _shape(values)
    dtype: Any = np.dtype(values["dtype"]).type
    random = _generator(values)
    if issubclass(dtype, np.integer):
        return Content(kind, random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True))
    array = random.random(shape, dtype)
    if kind == "signal":
        array *= dtype(2)
        array -= dtype(1)
    return Content(kind, array)


def _levels(values: Options) -> Content:
    """Noise of so many equally frequent values from the lowest to the highest: its entropy is log2 of their number."""
    kind, shape = _shape(values)
    count, dtype = values["distinct"], values["dtype"]
    most = np.iinfo(dtype).max + 1 if np.dtype(dtype).kind == "u" else 1 << 16
    if count > most:
        raise ParamError(f"{dtype} has {most} levels at most, not {count}.")
    places = _generator(values).integers(0, count, shape, np.uint16)
    return Content(kind, _store(np.linspace(0, 1, count), 0, dtype)[places])


def _chirp(values: Options) -> Content:
    """sin(π·i²/2N): the frequency rises from 0 to half the rate. Integer remainders keep late phases exact."""
    length = values["length"]

    def sweep(index: Array) -> Array:
        result: Array = np.sin(np.pi * (index * index % (4 * length)) / (2 * length))
        return result

    return Content("signal", _fill(length, values["dtype"], sweep), values["rate"])


TONES = ((50.0, 0.7), (120.0, 1.0))
"""Frequency in hertz and amplitude of two sine waves."""
HISS = 1.0
"""The standard deviation of the noise that is added to them."""


def _tones(values: Options) -> Content:
    """The sine waves of TONES with normal noise; `clean` is without it."""
    rate = values["rate"]

    def waves(index: Array) -> Array:
        total = np.zeros(index.shape)
        for frequency, amplitude in TONES:
            total += amplitude * np.sin(2 * np.pi * frequency * index / rate)
        return total

    clean = _fill(values["length"], values["dtype"], waves)
    noisy = _generator(values).standard_normal(clean.shape, dtype=clean.dtype.type)
    noisy *= clean.dtype.type(HISS)
    noisy += clean
    return Content("signal", noisy, rate, clean)


WAVES = ((32, 48, 20.0), (-64, 16, 20.0))
"""Cycles over the height and over the width, and the amplitude in gray levels, of two plane waves."""


def _waves(values: Options) -> Content:
    """The photographer with the plane waves of WAVES added, and less contrast so that nothing saturates; `clean` is the
    same picture without them."""
    import pywt

    clean = np.rint(48 + pywt.data.camera() * (160 / 255))
    height, width = clean.shape
    y, x = np.arange(height)[:, None] / height, np.arange(width) / width
    total = clean.copy()
    for down, across, amplitude in WAVES:
        total += amplitude * np.cos(2 * np.pi * (down * y + across * x))
    return Content("image", np.rint(total).astype(values["dtype"]), clean=clean.astype(values["dtype"]))


def _steps(values: Options) -> Content:
    """Constant levels between random positions, at most one per sample."""
    length = values["length"]
    count = min(values["plateaus"], length)
    random = _generator(values)
    places = np.sort(random.choice(length - 1, count - 1, replace=False)) + 1 if count > 1 else np.empty(0, np.int64)
    levels = _store(random.uniform(-1, 1, count), -1, values["dtype"])
    return Content("signal", np.repeat(levels, np.diff(places, prepend=0, append=length)))


def _constant(values: Options) -> Content:
    kind, shape = _shape(values)
    value = cast(np.array([values["level"]]), values["dtype"], "constant")
    return Content(kind, np.full(shape, value[0]))


def _chart(values: Options) -> Content:
    chart = draw_chart(*_parse_size(values["size"]), values["channels"])
    return Content("image", _store(chart, 0, values["dtype"]))


LENGTH = Param("length", 4096, 1, MOST, unit="samples", help="how many samples")
SEED = Param("seed", 0, 0, 2**32 - 1, help="the same seed gives the same values")
DTYPE = Param("dtype", "float32", choices=DTYPES, help="type of the values; integers take their full range")
FLOAT = Param("dtype", "float64", choices=("float32", "float64"), help="type of the values")
RATE = Param("rate", 44100.0, 1e-3, 1e12, unit="Hz", help="samples per second")
SIZE = Param("size", "", help="width x height makes an image, such as 768x512; empty makes a signal of length samples")
TONES_RATE = replace(RATE, default=1000.0)
CHANNELS = Param("channels", 1, choices=IMAGE_CHANNELS, help="values per sample or pixel")
IMAGE_DTYPE = replace(DTYPE, default="uint8", help="type of the values, which stay 0 to 255")
CHART_SIZE = replace(SIZE, default="512x512", help="width x height in pixels, such as 768x512")

NOISE_IMAGE = (
    replace(SIZE, default="512x512", help="width x height in pixels, such as 768x512"),
    CHANNELS,
    SEED,
    replace(DTYPE, default="uint8"),
)
LEVELS = Param("distinct", 16, 1, 1 << 16, help="different values, each as likely as the others")
FLAT_IMAGE = (NOISE_IMAGE[0], CHANNELS, Param("level", 128.0), replace(DTYPE, default="uint8"))

SAMPLES: tuple[Sample, ...] = (
    Sample("camera", "image", "Photographer, 512 × 512", (IMAGE_DTYPE,), partial(_picture, "camera")),
    Sample("ascent", "image", "Stairs, 512 × 512", (IMAGE_DTYPE,), partial(_picture, "ascent")),
    Sample("aero", "image", "Aerial view, 512 × 512", (IMAGE_DTYPE,), partial(_picture, "aero")),
    Sample("waves", "image", "Photographer under two plane waves, 512 × 512", (IMAGE_DTYPE,), _waves),
    Sample("chart", "image", "Test chart, 512 × 512", (CHART_SIZE, replace(CHANNELS, choices=(1, 3)), DTYPE), _chart),
    Sample("noise_image", "image", "Uniform noise, 512 × 512", NOISE_IMAGE, _noise),
    Sample("levels_image", "image", "Noise of few levels, 512 × 512", (*NOISE_IMAGE, LEVELS), _levels),
    Sample("flat_image", "image", "One gray value, 512 × 512", FLAT_IMAGE, _constant),
    Sample("ecg", "signal", "Electrocardiogram, 1024 samples at 360 Hz", (FLOAT,), _ecg),
    Sample("blocks", "signal", "Blocks", (LENGTH, FLOAT), partial(_classic, _blocks)),
    Sample("bumps", "signal", "Bumps", (LENGTH, FLOAT), partial(_classic, _bumps)),
    Sample("heavisine", "signal", "HeaviSine", (LENGTH, FLOAT), partial(_classic, _heavisine)),
    Sample("doppler", "signal", "Doppler", (LENGTH, FLOAT), partial(_classic, _doppler)),
    Sample("tones", "signal", "Two tones in noise, at 1000 Hz", (LENGTH, TONES_RATE, SEED, FLOAT), _tones),
    Sample("chirp", "signal", "Chirp from 0 to half the rate", (LENGTH, RATE, DTYPE), _chirp),
    Sample("noise", "signal", "Uniform noise", (LENGTH, SIZE, CHANNELS, SEED, DTYPE), _noise),
    Sample("levels", "signal", "Noise of few levels", (LENGTH, SIZE, CHANNELS, SEED, DTYPE, LEVELS), _levels),
    Sample("steps", "signal", "Random steps", (LENGTH, Param("plateaus", 16, 1, 10**6), SEED, DTYPE), _steps),
    Sample("constant", "signal", "One value", (LENGTH, SIZE, CHANNELS, Param("level", 1.0), DTYPE), _constant),
)
