"""Results of every kind, as an engine hands them over, and a filter that says it gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pywt
from fake_engine import FakeEngine
from result_rows import row

from app.views.window.main_window import MainWindow
from gpu_ops import find_filter
from gpu_ops.engine.messages import RunUpdate
from gpu_ops.engine.shared import SharedArray, SharedResult
from gpu_ops.engine.statistics import statistics
from gpu_ops.output_kinds import OUTPUT_KINDS, Axis, Band, Form, ViewKind
from gpu_ops.types import Filter, Output

SIDE, LENGTH, RATE = 32, 256, 100.0


@dataclass(frozen=True, eq=False)
class Made:
    """An array of a kind with its axes; `image` says whether it is of an image, else of a signal."""

    kind: ViewKind
    array: np.ndarray[Any, Any]
    axes: tuple[Axis, ...]
    unit: str = ""
    bands: tuple[Band, ...] = ()
    image: bool = True


def picture() -> np.ndarray[Any, Any]:
    """An image (32, 32) uint8 with a wave of four pixels along x."""
    y, x = np.mgrid[:SIDE, :SIDE]
    return (128 + 100 * np.cos(2 * np.pi * x / 4) + y % 3).astype(np.uint8)


def wave() -> np.ndarray[Any, Any]:
    """A signal (256,) with 12.5 Hz at 100 Hz."""
    return np.sin(2 * np.pi * 12.5 * np.arange(LENGTH) / RATE)


def image_pyramid() -> tuple[np.ndarray[Any, Any], tuple[Band, ...]]:
    names = {"da": "vertical", "ad": "horizontal", "dd": "diagonal"}
    packed, places = pywt.coeffs_to_array(pywt.wavedec2(picture().astype(np.float32), "haar", level=2))
    found = [(2, "approximation", places[0])]
    found += [(2 - k, names[name], part) for k, parts in enumerate(places[1:]) for name, part in parts.items()]
    return packed, tuple(_band(level, name, part, packed.shape) for level, name, part in found)


def signal_pyramid() -> tuple[np.ndarray[Any, Any], tuple[Band, ...]]:
    packed, places = pywt.coeffs_to_array(pywt.wavedec(wave(), "haar", level=3))
    found = [(3, "approximation", places[0]), *((3 - k, "detail", p["d"]) for k, p in enumerate(places[1:]))]
    return packed, tuple(_band(level, name, part, packed.shape) for level, name, part in found)


def _band(level: int, name: str, part: tuple[slice, ...], shape: tuple[int, ...]) -> Band:
    cut = [p.indices(n) for p, n in zip(part, shape, strict=True)]
    return Band(level, name, tuple(c[0] for c in cut), tuple(c[1] - c[0] for c in cut))


def made() -> Mapping[str, Made]:
    """One result, or more, of every kind, by name."""
    counts = np.bincount(picture().ravel(), minlength=256).astype(np.uint32)
    colours = np.stack([counts, counts[::-1], np.roll(counts, 9)])
    whole = np.fft.fft2(picture()).astype(np.complex64)
    half = np.fft.rfft(wave()).astype(np.complex64)
    around = tuple(Axis(f"frequency {name}", "1/px", 0, 1 / SIDE, (), 1.0) for name in "yx")
    figures = Axis("figure", labels=("mean", "deviation"))
    names = Axis("of", labels=("red", "green", "blue"))
    spans = np.array([[0, 1e-3, 0, 4096], [1e-3, 1.5e-3, 1, 0], [1.5e-3, 3e-3, 2, 8192]])
    flat, flat_bands = image_pyramid()
    line, line_bands = signal_pyramid()
    return {
        "image": Made("image", picture(), (Axis("y", "px"), Axis("x", "px"))),
        "signal": Made("signal", wave(), (Axis("time", "s", 0, 1 / RATE),), "mV", image=False),
        "histogram": Made("bars", counts, (Axis("value", "", -0.5, 1.0),)),
        "colours": Made("bars", colours, (Axis("channel", labels=("red", "green", "blue")), Axis("value"))),
        "spectrum": Made("spectrum", half, (Axis("frequency", "Hz", 0, RATE / LENGTH),), "mV", image=False),
        "power": Made("spectrum", np.abs(half), (Axis("frequency", "Hz", 0, RATE / LENGTH),), "mV", image=False),
        "spectrum picture": Made("spectrum", whole, around),
        "bands": Made("pyramid", flat, (Axis("y"), Axis("x")), "", flat_bands),
        "levels": Made("pyramid", line, (Axis("coefficient"),), "mV", line_bands, image=False),
        "mean": Made("number", np.array(129.0625), (), "counts"),
        "figures": Made("table", np.arange(6.0).reshape(3, 2), (names, figures), "counts"),
        "spans": Made("timeline", spans, (Axis("span"), Axis("field", labels=("start", "end", "stream", "bytes")))),
    }


@contextmanager
def giving(filter: Filter, *outputs: tuple[str, ViewKind]) -> Iterator[Filter]:
    """The filter says that it gives these instead of what it gives."""
    before = filter.outputs
    object.__setattr__(filter, "outputs", tuple(Output(id, kind, "", lambda *_: 0.0) for id, kind in outputs))
    try:
        yield filter
    finally:
        object.__setattr__(filter, "outputs", before)


def filter_for(result: Made) -> Filter:
    """A filter for such inputs."""
    return find_filter("mean2d" if result.image else "mean1d")


def shared(engine: FakeEngine, result: Made) -> SharedResult:
    """A result in a segment of its own."""
    name = f"made{len(engine.arrays)}"
    engine.arrays[name] = result.array
    kind, array = OUTPUT_KINDS[result.kind], result.array
    assert not kind.fault(array.dtype.name, array.ndim)
    form, looked = Form(array.shape, array.dtype.name, result.axes, result.bands), kind.figures(array)
    figures = None if looked is None else statistics(looked)
    at = SharedArray(name, array.shape, array.dtype.name)
    return SharedResult(result.kind, at, form, result.unit, kind.summarise(array, form, result.unit), figures)


def bring(
    window: MainWindow,
    variant: str,
    results: Mapping[str, Made],
    device: str = "cpu",
    stage: Any = "verified",
    params: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """All outputs of a variant come for what is asked now, or for other parameters."""
    controller: Any = window.controller
    session, engine = controller.session, controller._engine
    params = dict(session.choice.params if params is None else params)
    news = row(variant, device, None, filter=session.filter.id, params=params, **more)
    outputs = {name: shared(engine, result) for name, result in results.items()}
    update = RunUpdate(engine.jobs, controller.queue.generation, stage, news, outputs)
    engine.answered.emit(update)
