"""NaN and infinite values: drawn in colours of their own, marked, counted, named, and refused before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pixels
import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from app.models.curves.curve import Curve, Trace
from app.models.curves.extremes import SignalPyramid
from app.models.pictures.nonfinite import INFINITE_COLOR, NAN_COLOR, count_words, drawn_words, value_word
from app.models.pictures.pyramid import Pyramid, to_uint8
from app.models.pictures.viewport import Frame, Tone, Viewport
from app.views.curves.signal_pane import SignalPane
from app.views.experiment.panel import NonFiniteLegend
from app.views.results.reading import values_text
from gpu_ops import Input, from_array, save
from gpu_ops.engine.messages import Loaded, LoadRequest, RunRequest
from gpu_ops.engine.statistics import statistics
from gpu_ops.input_kinds import time_axis


class Counting(FakeEngine):
    """Gives inputs their real statistics."""

    def show(self, input: Input, job: int = 0) -> None:
        own = FakeEngine()
        own.arrays = self.arrays
        sent: list[Any] = []
        own.answered.connect(sent.append)
        FakeEngine.show(own, input, job)
        for answer in sent:
            if isinstance(answer, Loaded):
                made = replace(answer.input, finite=input.finite, statistics=statistics(input.array))
                answer = replace(answer, input=made)
            self.answered.emit(answer)


@pytest.fixture
def engine() -> Counting:
    return Counting()


def holed(shape: tuple[int, ...]) -> np.ndarray:
    array = np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    array[2], array[3] = np.nan, np.inf
    return array


# Pictures


def test_one_pixel_survives_at_every_scale_and_hides_no_others() -> None:
    image = np.tile(np.linspace(0, 1, 2048, dtype=np.float32), (2048, 1))
    image[1000, 1000], image[300, 1700] = np.nan, -np.inf
    pyramid = Pyramid(image)
    pyramid.build()
    for scale in (1, 1.7, 4, 9.3, 30):
        frame = Frame.around((1024, 1024), scale, int(2048 / scale) + 1, int(2048 / scale) + 1)
        picture = Viewport().picture(pyramid, frame, Tone(0, 1, None))
        assert picture is not None and picture.array.shape[2] == 4
        colors = picture.array[..., :3].astype(int)
        for color in (NAN_COLOR, INFINITE_COLOR):
            assert 1 <= (colors == color).all(axis=2).sum() <= 4, scale
        assert (np.ptp(colors, axis=2) > 0).sum() <= 8, "the rest is gray"


def test_infinity_of_either_sign_is_cyan_in_gray_and_in_colours() -> None:
    assert to_uint8(np.array([[np.inf, -np.inf, 0]], np.float32), 0, 1)[0, :2, :3].tolist() == [[*INFINITE_COLOR]] * 2
    pixels = np.zeros((1, 3, 3), np.float32)
    pixels[0, 0, 1], pixels[0, 1], pixels[0, 2] = np.inf, (np.inf, np.nan, 0), (0.5, 0.5, 0.5)
    painted = to_uint8(pixels, 0, 1)
    assert [tuple(p) for p in painted[0, :2, :3].tolist()] == [INFINITE_COLOR, NAN_COLOR] and painted[0, 2, 0] == 128


def test_the_reading_names_them() -> None:
    assert values_text([np.nan, np.inf, -np.inf, 2], "V") == "NaN, ∞, −∞, 2 V"
    assert values_text(complex(np.nan, -np.inf), "") == "NaN − ∞i"
    assert value_word(float("-inf")) == "−∞"


# Curves


def test_the_gaps_of_a_long_signal_are_found_in_every_range() -> None:
    signal = np.zeros(3_000_000, np.float32)
    signal[123_456], signal[2_000_000:2_000_300], signal[-1] = np.nan, np.inf, np.nan
    pyramid = SignalPyramid(signal)
    assert pyramid.gaps(0, 3_000_000).size == 0, "not looked for yet"
    assert pyramid.gaps(123_000, 124_000).tolist() == [123_456]
    pyramid.build()
    whole = pyramid.gaps(0, 3_000_000)
    assert abs(whole[0] - 123_456) <= 64 and abs(whole[-1] - 2_999_999) <= 64
    assert len(whole) == 2 + len(np.unique(np.arange(2_000_000, 2_000_300) // 128))
    assert pyramid.gaps(130_000, 1_900_000).size == 0 and pyramid.gaps(5, 5).size == 0
    assert SignalPyramid(signal, first=8, factor=4).build(lambda: True) is False
    assert SignalPyramid(np.zeros(9, np.uint8)).gaps(0, 9).size == 0


def test_marks_stand_below_gaps_however_short(qtbot) -> None:
    pane = SignalPane()
    qtbot.addWidget(pane)
    pane.resize(700, 300)
    pane.show()
    signal = np.sin(np.arange(100_000) / 900)
    signal[40_000] = np.nan
    signal[70_000:80_000] = np.inf
    pane.set_curves([Trace("a", signal, time_axis(100.0))])
    places = pane.plot.gaps.places
    assert places.min() == pytest.approx(400) and places.max() == pytest.approx(799.99, abs=2)
    assert 30 < len(places) < pane.width(), "one a pixel at most"
    image = pane.grab().toImage()
    assert (pixels.rgb(image) == NAN_COLOR).all(axis=-1).sum() > 100 and "NaN" in pane.plot.toolTip()
    pane.set_range(0, 300)
    assert pane.plot.gaps.places.size == 0 and pane.plot.toolTip() == ""
    pane.set_curves([Trace("a", np.full(50, np.nan), time_axis(None))])
    pane.fit()
    assert pane.plot.gaps.places.tolist() == list(range(50)), "where nothing can be drawn as well"


def test_a_cleared_curve_has_no_gaps() -> None:
    assert Curve().gaps(0, 100).size == 0


def test_the_colours_are_those_that_the_tooltip_names() -> None:
    assert QColor(*NAN_COLOR) == QColor("magenta") and "NaN in magenta" in drawn_words()
    assert QColor(*INFINITE_COLOR) == QColor("cyan") and "values in cyan" in drawn_words()


# Counting


def test_the_input_line_counts_them(qtbot, window, engine, tmp_path: Path) -> None:
    save(tmp_path / "a.npy", holed((8, 5)))
    window.controller.open_file(str(tmp_path / "a.npy"), {"nonfinite": "keep"})
    legend = window.panel.not_finite
    assert legend.isVisible() and legend.texts == ("5 NaN", "5 infinite") and "magenta" in legend.toolTip()
    assert "values 0 to 1" in window.panel.input_label.text()
    drawn = legend.grab().toImage()
    colors = {drawn.pixelColor(x, drawn.height() // 2).getRgb()[:3] for x in range(drawn.width())}
    assert {NAN_COLOR, INFINITE_COLOR} <= colors
    engine.show(from_array(np.zeros((4, 4), np.uint8)))
    assert not legend.isVisible()


def test_counts_are_words_and_none_are_silent(qtbot) -> None:
    assert count_words(0, 3) == ("", "3 infinite") and count_words(0, 0) == ("", "")
    legend = NonFiniteLegend()
    qtbot.addWidget(legend)
    legend.show_counts(1, 0)
    assert legend.accessibleName() == "1 NaN" and legend.isVisibleTo(None)


# Filters that refuse


def said(window) -> list[str]:
    return [m.text for m in window.messages.messages()]


def test_a_filter_of_finite_values_refuses_before_it_runs(qtbot, window, engine, tmp_path: Path) -> None:
    save(tmp_path / "a.npy", holed((8, 5)))
    window.controller.open_file(str(tmp_path / "a.npy"), {"nonfinite": "keep"})
    engine.end()
    runs = len([r for r in engine.asked if isinstance(r, RunRequest)])
    assert runs and said(window) == []
    window.controller.session.set_filter("fft2d")
    window.controller.measure()
    assert len([r for r in engine.asked if isinstance(r, RunRequest)]) == runs and not window.controller.busy
    (text,) = said(window)
    assert text == (
        "a.npy has 5 NaN and 5 infinite values, and Fourier transform (image) takes finite values only; choose another "
        "filter, or open the file with 0 instead of them."
    )
    window.controller.session.set_filter("mean2d")
    assert said(window) == [] and len([r for r in engine.asked if isinstance(r, RunRequest)]) > runs
    window.controller.session.undo()
    assert len(said(window)) == 1
    (button,) = [b for row in window.messages.rows for b in row.choice_buttons]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert [r.options for r in engine.asked if isinstance(r, LoadRequest)][-1] == {"nonfinite": "zero"}
    assert window.controller.session.input.finite and said(window) == [] and window.controller.busy


def test_without_a_file_there_is_nothing_to_open_again(window, engine) -> None:
    window.controller.session.set_filter("fft2d")
    engine.show(from_array(holed((8, 5)), nonfinite="keep"))
    (text,) = said(window)
    assert text.endswith("takes finite values only; choose another filter.")
    assert not [b for row in window.messages.rows for b in row.choice_buttons]
    engine.show(from_array(np.ones((8, 5), np.float32)))
    assert said(window) == []
