"""What is worked out of a result before it is drawn, what linked views share, and where axes have their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.models.curves.span import AxisView
from app.models.results.view_data import OutputData, centred, coefficients, decibels, each_band, magnitudes, phases
from app.models.ticks import powers, scaled, ticks
from gpu_ops.engine.shared import SharedArray, SharedResult
from gpu_ops.output_kinds import CHANNEL, Axis, Band, Form


def result(array: np.ndarray[Any, Any], *axes: Axis, bands: tuple[Band, ...] = (), unit: str = "V") -> OutputData:
    form = Form(array.shape, array.dtype.name, axes, bands)
    shared = SharedArray("s", array.shape, array.dtype.name)
    return OutputData(SharedResult("spectrum", shared, form, unit, "", None), array)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 33])
@pytest.mark.parametrize("start", [0.0, -0.5])
def test_a_whole_axis_is_turned_so_that_zero_is_in_the_middle(count: int, start: float) -> None:
    rate = 100.0
    places = np.fft.fftfreq(count, 1 / rate)
    if start < 0:
        places = np.fft.fftshift(places)
    axis = Axis("frequency", "Hz", float(places[0]), rate / count, (), rate)
    array, form = centred(result(places.copy(), axis))
    events = form.axes[0].at(np.arange(count))  # type: ignore[arg-type]
    assert array == pytest.approx(events) and np.array_equal(np.sort(array), array)


def test_half_an_axis_stays() -> None:
    axis = Axis("frequency", "Hz", 0, 12.5, (), 100.0)
    array, form = centred(result(np.arange(5.0), axis))
    assert array.tolist() == [0, 1, 2, 3, 4] and form.axes[0].start == 0


def test_decibels_have_a_floor_that_the_dtype_tells() -> None:
    drawn = decibels(result(np.array([0, 1, -10j], np.complex64), Axis("frequency")))
    assert drawn.array[1:].tolist() == pytest.approx([0, 20]) and drawn.unit == "dB"
    assert drawn.array[0] == pytest.approx(20 - 20 * np.log10(1 / np.finfo(np.float32).eps), abs=1e-3)
    assert drawn.statistics is not None and drawn.statistics.maximum == pytest.approx(20)
    silent = decibels(result(np.zeros(4, np.complex128), Axis("frequency")))
    assert np.isfinite(silent.array).all()


def test_magnitudes_and_phases() -> None:
    shown = result(np.array([3 + 4j, -1j], np.complex128), Axis("frequency"))
    assert magnitudes(shown).array.tolist() == [5, 1] and magnitudes(shown).unit == "V"
    assert phases(shown).array.tolist() == pytest.approx([np.arctan2(4, 3), -np.pi / 2]) and phases(shown).unit == "rad"


@pytest.mark.parametrize("channels, seen", [(1, (4, 5)), (2, (4, 5)), (3, (4, 5, 3)), (4, (4, 5, 3)), (7, (4, 5, 3))])
def test_a_picture_of_many_channels_shows_what_it_can_and_reads_all(channels: int, seen: tuple[int, ...]) -> None:
    array = np.ones((4, 5, channels), np.complex64)
    drawn = magnitudes(result(array, Axis("y"), Axis("x"), Axis(CHANNEL)))
    assert drawn.array.shape == seen and drawn.values.shape == array.shape


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64"])
def test_bands_are_drawn_by_their_own_largest(dtype: str) -> None:
    array = np.array([100, 50, -2, 1], dtype) if dtype != "uint8" else np.array([100, 50, 2, 1], dtype)
    bands = Band(1, "approximation", (0,), (2,)), Band(1, "detail", (2,), (2,))
    shown = result(array, Axis("coefficient"), bands=bands)
    assert np.abs(each_band(shown).array).tolist() == [1, 0.5, 1, 0.5]
    assert np.array_equal(each_band(shown).values, array)
    drawn = coefficients(shown)
    assert np.array_equal(drawn.array, array) and not np.shares_memory(drawn.array, array)


def test_a_span_stays_inside_of_what_there_is(qapp: Any) -> None:
    span = AxisView()
    span.set_limits(0, 100, 1)
    assert (span.start, span.stop) == (0, 100)
    span.zoom_at(2, 0)
    assert (span.start, span.stop) == (0, 50)
    span.pan(-10)
    assert (span.start, span.stop) == (0, 50)
    span.pan(1000)
    assert (span.start, span.stop) == (50, 100)
    span.zoom(1000)
    assert span.stop - span.start == pytest.approx(2)
    span.zoom(2)
    assert span.stop - span.start == pytest.approx(2), "no further"
    span.set_width(20)
    span.one_to_one()
    assert span.stop - span.start == 20 and span.letters == 1
    span.set_limits(0, 100, 1)
    assert span.stop - span.start == 20, "what is in sight stays"
    span.set_limits(500, 600, 1)
    assert (span.start, span.stop) == (500, 600), "unless it is gone"
    span.fit()
    assert (span.start, span.stop, span.letters) == (500, 600, 0)


def test_ticks_are_round_and_few() -> None:
    assert ticks(0, 256, 5) == [0, 100, 200]
    assert ticks(-0.5, 0.5, 5) == pytest.approx([-0.4, -0.2, 0, 0.2, 0.4])
    assert ticks(1, 1, 5) == [] and ticks(0, float("inf"), 5) == []
    assert powers(0.8, 5000, 8) == [1, 10, 100, 1000]
    assert powers(0.8, 5000, 2) == [1, 100]


@pytest.mark.parametrize(
    "unit, largest, expected",
    [("s", 2e-3, (1e-3, "ms")), ("s", 5e-10, (1e-9, "ns")), ("B", 4096, (1e3, "kB")), ("B", 0.5, (1, "B")),
     ("Hz", 12.5, (1, "Hz")), ("counts", 1e9, (1, "counts")), ("s", 0, (1, "s"))],
)  # fmt: skip
def test_units_take_prefixes(unit: str, largest: float, expected: tuple[float, str]) -> None:
    assert scaled(unit, largest) == expected
