"""Arrays of xarray, pandas and others: their axes, rate and names reach an input, and results keep them."""

from __future__ import annotations

import importlib
from typing import Any

import labelled
import numpy as np
import pytest

import gpu_ops as ks
from gpu_ops.errors import InputError

RATE = 250.0
SECONDS = np.arange(500) / RATE
WAVES = np.stack([np.sin(2 * np.pi * 40 * SECONDS), np.cos(2 * np.pi * 12 * SECONDS)], 1)
DATES = np.datetime64("2024-05-01T10:00:00") + np.arange(500) * np.timedelta64(4, "ms")


@pytest.fixture(params=["stand-in", "xarray"])
def xr(request: pytest.FixtureRequest) -> Any:
    return labelled if request.param == "stand-in" else pytest.importorskip("xarray")


@pytest.fixture(params=["stand-in", "pandas"])
def pd(request: pytest.FixtureRequest) -> Any:
    return labelled if request.param == "stand-in" else pytest.importorskip("pandas")


def recording(xr: Any, time: Any = SECONDS, units: str = "s") -> Any:
    """Channels first, as many instruments have them."""
    coords = {"channel": ["left", "right"], "time": ("time", time, {"units": units} if units else {})}
    return xr.DataArray(WAVES.T, coords=coords, dims=("channel", "time"), name="ecg", attrs={"units": "mV"})


@pytest.mark.parametrize(
    ("time", "units", "rate"),
    [
        (SECONDS, "s", RATE),
        (SECONDS * 1e3, "ms", RATE),
        (np.arange(500) * 4000, "µs", RATE),
        (SECONDS, "", RATE),
        (DATES, "", RATE),
        (DATES - DATES[0], "", RATE),
        (np.arange(500), "", None),
        (SECONDS, "m", None),
    ],
)
def test_a_time_coordinate_gives_the_rate(xr: Any, time: Any, units: str, rate: float | None) -> None:
    found = ks.from_array(recording(xr, time, units))
    assert (found.kind, found.axes, found.name, found.facts.labels) == ("signal", "tc", "ecg", ("left", "right"))
    np.testing.assert_array_equal(found.array, WAVES)
    assert found.rate == (rate and pytest.approx(rate, rel=1e-9))


def test_times_that_are_not_even_are_refused_but_where_the_rate_is_said(xr: Any) -> None:
    uneven = SECONDS**1.5
    with pytest.raises(InputError, match="The times of ecg are not even: steps from .* or say rate="):
        ks.apply("fft", recording(xr, uneven))
    assert ks.from_array(recording(xr, uneven), rate=5.0).rate == 5.0
    with pytest.raises(InputError, match="not even"):
        ks.from_array(recording(xr, DATES[::-1]))


def test_a_result_over_the_input_keeps_axes_names_and_attributes(xr: Any) -> None:
    given = recording(xr)
    found = ks.apply("mean", given, window=3)
    assert type(found) is xr.DataArray and tuple(found.dims) == ("channel", "time") and found.name == "ecg"
    assert found.attrs == {"units": "mV"}
    np.testing.assert_array_equal(found.values, ks.apply("mean1d", WAVES, window=3).T)
    for name in given.dims:
        np.testing.assert_array_equal(found.coords[name].values, given.coords[name].values)


def test_a_spectrum_has_frequencies_and_the_names_of_channels(xr: Any) -> None:
    found = ks.apply("fft", recording(xr), result="magnitude", output="magnitude")
    assert tuple(found.dims) == ("frequency", "channel") and found.name == "magnitude"
    assert list(found.coords["channel"].values) == ["left", "right"]
    places = found.coords["frequency"]
    assert places.attrs["units"] == "Hz" and places.values[-1] == pytest.approx(RATE / 2)
    assert places.values[np.argmax(found.values, axis=0)].tolist() == pytest.approx([40, 12])
    same = ks.apply("fft", recording(xr), sides="two")
    assert same.values.shape == WAVES.shape and "time" not in same.dims, "as many places, and other ones"


def test_an_image_with_its_bands_first(xr: Any) -> None:
    image = np.random.default_rng(0).random((3, 20, 30))
    given = xr.DataArray(image, coords={"y": np.arange(20) * 0.5}, dims=("band", "y", "x"))
    found = ks.apply("mean", given)
    assert tuple(found.dims) == ("band", "y", "x")
    np.testing.assert_array_equal(found.values, np.moveaxis(ks.apply("mean", np.moveaxis(image, 0, -1)), -1, 0))
    np.testing.assert_array_equal(found.coords["y"].values, np.arange(20) * 0.5)


def test_a_table_is_a_signal_with_a_channel_for_each_column(pd: Any) -> None:
    given = pd.DataFrame(WAVES, index=DATES, columns=["a", "b"])
    found = ks.apply("mean", given, window=3)
    assert type(found) is type(given) and list(found.columns) == ["a", "b"]
    np.testing.assert_array_equal(np.asarray(found.index), DATES)
    np.testing.assert_array_equal(found.to_numpy(), ks.apply("mean1d", WAVES, window=3))
    input = ks.from_array(given)
    assert (input.kind, input.facts.labels, input.rate) == ("signal", ("a", "b"), pytest.approx(RATE))
    spectrum = ks.apply("fft", given, result="magnitude", output="magnitude")
    assert list(spectrum.columns) == ["a", "b"] and float(np.asarray(spectrum.index)[-1]) == pytest.approx(RATE / 2)


def test_a_column_is_a_signal(pd: Any) -> None:
    given = pd.Series(WAVES[:, 0], index=np.arange(500) + 7, name="ecg")
    found = ks.apply("mean", given, window=3)
    assert type(found) is type(given) and found.name == "ecg" and found.index[0] == 7
    assert ks.from_array(given).rate is None and ks.from_array(given, rate=RATE).rate == RATE
    spectrum = ks.apply("fft", given, rate=RATE, result="magnitude", output="magnitude")
    assert list(spectrum.columns) == ["magnitude"] and float(np.asarray(spectrum.index)[-1]) == pytest.approx(RATE / 2)


def test_a_table_with_texts_names_the_column(pd: Any) -> None:
    given = pd.DataFrame(np.array([[1.0, "x"], [2.0, "y"]], dtype=object), columns=["ecg", "note"])
    given = given.astype({"ecg": float}) if hasattr(given, "astype") else given
    with pytest.raises(InputError, match="the column note of the table holds no plain numbers"):
        ks.apply("mean", given)


class Tensor:
    """An array of a library with DLPack on the host."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_an_array_with_dlpack_comes_back_to_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(__name__)
    monkeypatch.setattr(module, "from_dlpack", Tensor, raising=False)
    found = ks.apply("mean", Tensor([0.0, 3.0, 6.0]), window=3)
    assert type(found) is Tensor and found.array.tolist() == [1.0, 3.0, 5.0]


def test_a_data_set_is_asked_which_of_its_arrays_is_meant() -> None:
    class Dataset:
        dims, coords, data_vars = {"t": 3}, {}, {"a": 1, "b": 2}

        def __iter__(self) -> Any:
            return iter("ab")

    with pytest.raises(InputError, match="holds several arrays; choose one of a, b"):
        ks.apply("mean", Dataset())


def test_an_input_is_an_array_for_numpy() -> None:
    camera = ks.sample("camera")
    assert np.asarray(camera) is camera.array and np.array(camera) is not camera.array
    assert np.asarray(camera, np.float64).dtype == np.float64 and float(np.mean(camera)) == camera.array.mean()


def test_the_places_of_an_axis() -> None:
    *_, run = ks.run_experiment(
        ks.Experiment("fft", ks.from_array(WAVES[:, 0], rate=RATE), {}, (ks.Pick("numpy", "cpu"),), "none")
    )
    places = run.forms["spectrum"].axes[0].places(251)
    np.testing.assert_allclose(places, np.fft.rfftfreq(500, 1 / RATE))
