"""What a notebook shows of inputs, runs and reports."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import gpu_ops as ks
from gpu_ops.html import MOST_ROWS, drawn_output, in_decibels, page, table
from gpu_ops.output_kinds import Axis, Form
from gpu_ops.types import Experiment, Facts, Input, Run

EVIL = "<script>alert(1)</script>\x1b[2J & co."


def parsed(shown: Any) -> ElementTree.Element:
    """The HTML as a tree: it is well formed, so nothing of it is a text of ours that was not escaped."""
    return ElementTree.fromstring(f"<body>{shown._repr_html_()}</body>")


def text(shown: Any) -> str:
    return " ".join(parsed(shown).itertext())


def pictures(shown: Any) -> list[np.ndarray]:
    sources = [str(image.get("src")) for image in parsed(shown).iter("img")]
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2])))) for source in sources]


def runs(
    input: Input, filter: str = "mean", variants: tuple[str, ...] = ("serial", "scipy"), **params: Any
) -> list[Run]:
    picks = tuple(ks.Pick(v, "cpu") for v in variants)
    return list(ks.run_experiment(Experiment(filter, input, params, picks, "none")))


def test_an_image_is_shown_small_with_what_is_known() -> None:
    camera = ks.sample("camera")
    assert "camera" in text(camera) and "512 × 512" in text(camera) and "uint8" in text(camera)
    (shown,) = pictures(camera)
    np.testing.assert_array_equal(shown, camera.array[::2, ::2])


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 3), (5, 7, 4), (1, 1), (1, 2), (700, 3)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_every_image_has_a_picture(shape: tuple[int, ...], dtype: str) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    found = pictures(ks.from_array(array, "image"))
    assert len(found) == (array.size > 1)
    for shown in found:
        assert shown.shape[0] <= 256 and shown.ndim == (3 if shape[2:] in ((3,), (4,)) else 2)
        assert dtype == "uint8" or (shown.min(), shown.max()) == (0, 255)


def test_samples_that_are_not_finite_spoil_no_picture() -> None:
    image = np.array([[np.nan, 0.0], [np.inf, 2.0], [-np.inf, 1.0]])
    (shown,) = pictures(ks.from_array(image, nonfinite="keep"))
    assert shown.tolist() == [[0, 0], [255, 255], [0, 127]]
    line = text(ks.from_array(np.array([np.nan, np.inf, 3.0]), nonfinite="keep"))
    assert "nan" not in line and pictures(ks.from_array(np.full((3, 3), np.nan), nonfinite="keep"))


def test_a_signal_is_a_line_with_its_rate() -> None:
    ecg = ks.sample("ecg")
    assert f"{ecg.rate:g} Hz" in text(ecg)
    (line,) = parsed(ecg).iter("polyline")
    places = [tuple(map(float, pair.split(","))) for pair in str(line.get("points")).split()]
    assert len(places) <= 512 and all(0 <= y <= 64 for _, y in places)


def test_a_spectrum_is_in_decibels_with_zero_in_the_middle() -> None:
    form = Form((4,), "complex64", (Axis("frequency", "Hz", period=4.0),))
    values = np.array([100.0, 10.0j, 0.0, np.nan])
    assert np.array_equal(in_decibels(values, form, ""), [-120.0, np.nan, 0.0, -20.0], equal_nan=True)
    assert in_decibels(np.array([0.0, -3.0, -90.0, -6.0]), form, "dB").tolist() == [-90.0, -6.0, 0.0, -3.0]
    picture = next(o for o in ks.find_filter("fft2d").outputs if o.id == "spectrum")
    plain = replace(form, shape=(4, 4), axes=form.axes * 2)
    assert drawn_output(np.eye(4, dtype=np.complex64), plain, picture).startswith("<img")


def test_texts_from_outside_are_escaped() -> None:
    camera = ks.sample("camera")
    named = replace(camera, name=EVIL, facts=Facts(labels=(EVIL,)))
    assert "<script" not in named._repr_html_() and "\x1b" not in named._repr_html_()
    assert text(named).count("alert(1)") == 2
    run = replace(runs(camera)[-1], failure=EVIL, notes=(EVIL,))
    assert "<script" not in run._repr_html_() and text(run).count("alert(1)") == 2
    experiment = Experiment("mean2d", camera, {}, (), "none")
    assert "<script" not in ks.report_of([run], experiment)._repr_html_()


def test_a_run_says_how_it_ended_and_shows_its_outputs() -> None:
    run = runs(ks.sample("camera"))[-1]
    assert "mean2d scipy" in text(run) and "right" in text(run) and "window" in text(run) and len(pictures(run)) == 1
    wrong = replace(run, ok=False)
    assert "WRONG" in text(wrong)
    spectrum = runs(ks.sample("ecg"), "fft", ("numpy",), result="magnitude")[-1]
    assert "peak_count" in text(spectrum) and list(parsed(spectrum).iter("polyline"))
    bars = runs(ks.sample("camera"), "histogram", ("numpy",))[-1]
    assert list(parsed(bars).iter("polyline"))


def test_a_report_is_a_table_with_a_row_for_each_pick() -> None:
    camera = ks.sample("camera")
    experiment = Experiment("mean2d", camera, {}, (ks.Pick("serial", "cpu"), ks.Pick("scipy", "cpu")), "none")
    report = ks.report_of(ks.run_experiment(experiment), experiment)
    rows = [[cell.text or "" for cell in row] for row in parsed(report).iter("tr")]
    assert [row[1] for row in rows] == ["variant", "serial", "scipy"] and [row[-1] for row in rows[1:]] == ["right"] * 2
    many = replace(report, rows=report.rows * MOST_ROWS)
    assert f"{MOST_ROWS} more rows" in text(many)


def test_a_page_has_all_rows_and_no_markup_of_others() -> None:
    rows = [[k] for k in range(300)]
    assert "100 more rows" in table(("n",), rows) and "more rows" not in table(("n",), rows, 300)
    assert "<i>" not in page("<i>", "<i>") and page("a", "b", "<p>c</p>").endswith("<p>b</p><div><p>c</p></div></html>")
    mixed = table(("name", "count", "told"), [["a", 7, "–"], ["b", "–", "–"]])
    assert '<td>a</td><td class="number">7</td><td>–</td>' in mixed and '<td class="number">–</td>' in mixed
