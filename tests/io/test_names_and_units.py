"""Names of channels, units of values and the time of the first sample, from a table to its results and their files."""

import csv
import math

import numpy as np
import pytest

from gpu_ops.input_kinds import SIGNAL
from gpu_ops.io import apply_steps, from_array, load
from gpu_ops.io.results import save_result
from gpu_ops.output_kinds import Axis, Form
from gpu_ops.running.recreate import from_origin
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Facts, Pick

ROWS = [(i / 2 - 20, math.sin(i), math.cos(i)) for i in range(64)]


@pytest.fixture
def one(tmp_path):
    """acc in g, from 20 ms before the trigger on."""
    path = tmp_path / "one.csv"
    path.write_text("time (ms),acc (g)\n" + "".join(f"{t},{a}\n" for t, a, _ in ROWS))
    return load(path)


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("time;acc;U\nms;m/s²;V\n" + "".join(f"{t};{a};{u}\n" for t, a, u in ROWS))
    return load(path)


def result(input, filter, output, **params):
    pick = Pick("scipy", "cpu")
    *_, run = run_experiment(Experiment(filter, input, params, (pick,), protocol="none"))
    assert run.ok, run.failure
    return run.outputs[output], run.forms[output]


def heading(path):
    return next(csv.reader(line for line in path.read_text().splitlines() if not line.startswith("#")))


def test_results_have_the_names_and_the_start_of_their_input(one, two, tmp_path):
    assert one.facts == Facts(labels=("acc (g)",), units=("g",), start=-0.02)
    array, form = result(one, "mean1d", "signal", window=3)
    assert (form.axes[0].at(0), form.label, form.unit) == (-0.02, "acc (g)", "g")
    save_result(tmp_path / "a.csv", "signal", array, form)
    assert heading(tmp_path / "a.csv") == ["time (s)", "acc (g)"]
    again = load(tmp_path / "a.csv")
    assert np.array_equal(again.array, array) and (again.rate, again.facts) == (one.rate, one.facts)
    array, form = result(two, "mean1d", "signal", window=3)
    save_result(tmp_path / "b.csv", "signal", array, form)
    assert heading(tmp_path / "b.csv") == ["time (s)", "acc (m/s²)", "U (V)"]
    again = load(tmp_path / "b.csv")
    assert np.array_equal(again.array, array) and (again.rate, again.facts) == (two.rate, two.facts)


def test_sound_tells_names_units_and_the_start(two, tmp_path):
    array, form = result(two, "mean1d", "signal", window=3)
    save_result(tmp_path / "a.wav", "signal", array, form, rate=two.rate)
    written = (tmp_path / "a.wav").read_bytes()
    assert "channels: acc (m/s²), U (V)".encode() in written and b"start: -0.02 s" in written


def test_densities_have_the_unit_of_their_input(one, two, tmp_path):
    array, form = result(one, "fft1d", "power_density", result="power density")
    assert form.unit_of("spectrum", "unit²/Hz") == "g²/Hz"
    save_result(tmp_path / "a.csv", "spectrum", array, form, "unit²/Hz")
    assert heading(tmp_path / "a.csv") == ["frequency (Hz)", "acc (g²/Hz)"]
    array, form = result(two, "fft1d", "power_density", result="power density")
    assert form.unit_of("spectrum", "unit²/Hz") == "unit²/Hz", "the channels have several"
    save_result(tmp_path / "b.csv", "spectrum", array, form, "unit²/Hz")
    assert heading(tmp_path / "b.csv") == ["frequency (Hz)", "acc ((m/s²)²/Hz)", "U (V²/Hz)"]
    array, form = result(one, "fft1d", "spectrogram", result="spectrogram", segment=16)
    times = next(axis for axis in form.axes if axis.name == "time")
    plain = Axis("time", "s", step=times.step)
    assert times.at(0) < 0 and math.isclose(times.at(0), -0.02 + 8 / one.rate, abs_tol=plain.step)


def test_units_of_outputs():
    form = Form((3,), "float64", SIGNAL.axes_of((3,), 2.0), unit="V")
    assert [form.unit_of(kind, "") for kind in ("signal", "spectrum", "table", "bars")] == ["V", "V", "", ""]
    assert form.unit_of("bars", "samples") == "samples" and form.unit_of("spectrum", "dB") == "dB"
    assert form.unit_of("signal", "", "mV") == "mV"
    assert Form((3,), "float64", form.axes).unit_of("spectrum", "unit²/Hz") == "unit²/Hz"
    cut = form.described(("u",), ("V",), -1.5).cut((slice(2, 3),))
    assert (cut.axes[0].at(0), cut.label, cut.unit) == (-0.5, "u", "V")


def test_a_signal_without_names_has_a_heading_too(tmp_path):
    array, form = result(from_array(np.arange(9.0), rate=4), "mean1d", "signal", window=3)
    save_result(tmp_path / "a.csv", "signal", array, form)
    assert heading(tmp_path / "a.csv") == ["time (s)", "value"] and load(tmp_path / "a.csv").rate == 4.0
    save_result(tmp_path / "a.txt", "signal", array, form)
    assert len((tmp_path / "a.txt").read_text().splitlines()) == 9


def test_steps_keep_what_still_holds(one):
    cropped = apply_steps(one, [{"step": "crop", "start": [8], "shape": [16]}])
    assert cropped.facts.start == pytest.approx(-0.016) and cropped.facts.units == ("g",)
    resized = apply_steps(cropped, [{"step": "resize", "by": "factor", "factor": 2.0}])
    assert resized.facts == cropped.facts
    stretched = apply_steps(one, [{"step": "normalise", "to": "unit"}])
    assert stretched.facts == Facts(labels=("acc",), start=-0.02)


def test_a_result_as_an_input_keeps_them(one):
    origin = {"result": "mean1d", "output": "signal", "variant": "scipy", "device": "cpu", "params": {"window": 3}}
    made = from_origin({**origin, "of": dict(one.origin)})
    assert (made.facts, made.rate) == (one.facts, one.rate)
