"""How differences are measured, coloured and found: measures, percentile, gain, single pixels, the largest one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_engine import act
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from scipy.ndimage import maximum_filter, minimum_filter
from test_belonging import PICKS, bring, engine, finish, image, run, window  # noqa: F401
from test_panes import differing

from app.models.pictures.difference import distance, grow_pixels
from app.models.pictures.difference_style import DifferenceStyle, measured
from app.models.pictures.display import DIVERGING, colors
from app.models.results.view_data import ViewData
from app.views.pictures.panes import PaneGrid
from app.views.window.main_window import MainWindow
from gpu_ops.output_kinds import Axis, Form


def chosen(qtbot: QtBot, grid: PaneGrid, name: str, text: str) -> None:
    """Choose in one of the lists above the difference, and wait for the picture."""
    combo = getattr(grid.styles, name)
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())
    qtbot.waitUntil(lambda: not grid.computing)


# Measures


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_units_in_the_last_place_count_the_numbers_between(dtype: str) -> None:
    one = np.array([1, 1, 0, 5e-5, -1, np.nan, np.inf], dtype)
    other = one.copy()
    other[0] = np.nextafter(one[0], np.inf, dtype=dtype)
    other[1] = np.nextafter(np.nextafter(one[1], 0, dtype=dtype), 0, dtype=dtype)
    other[2], other[3], other[4] = -0.0, -one[3], np.nextafter(one[4], 0, dtype=dtype)
    found = measured(other, one, "ulp")
    bits = int(one[3:4].view(f"i{one.itemsize}")[0])
    assert found[:5].tolist() == pytest.approx([1, -2, 0, -2 * bits, 1], rel=1e-15) and np.isnan(found[5:]).all()


def test_relative_and_absolute() -> None:
    one, other = np.array([0.0, 2, 0, -4, np.nan]), np.array([0.0, 1, 3, 4, 1])
    assert measured(one, other, "relative")[:4].tolist() == [0, 50, -100, -200]
    assert measured(one, other, "absolute")[:4].tolist() == [0, 1, 3, 8]
    assert np.isnan(measured(one, other, "relative")[4]) and np.isnan(measured(one, other, "absolute")[4])


def test_integers_of_any_width_have_a_relative_difference() -> None:
    one, other = np.array([2**63 + 1], np.uint64), np.array([2**63 - 1], np.uint64)
    assert 0 < measured(one, other, "relative")[0] < 1e-10


def test_pixels_that_differ_are_counted_with_those_that_are_not_finite() -> None:
    one = np.zeros((4, 5), np.float32)
    other = one.copy()
    other[1, 2], other[3, 4], other[0, 0] = 2, np.nan, np.inf
    found = distance(one, other)
    assert found is not None and (found.differing, found.undefined, found.at, found.most) == (3, 2, (1, 2), 2.0)
    same = distance(one, one.copy())
    assert same is not None and same.equal and same.differing == 0


def test_a_style_refuses_what_there_is_not() -> None:
    style = DifferenceStyle()
    for values in ({"measure": "squared"}, {"share": 42.0}, {"gain": 3.0}):
        with pytest.raises(ValueError, match="a measure is one of signed, absolute, relative, ulp"):
            style.set(**values)


def test_both_ends_of_the_colours_are_dark_and_none_is_the_other_s() -> None:
    low, middle, high = (colors(DIVERGING)[at].astype(int) for at in (0, 128, 255))
    assert low[2] > 2 * low[0] and high[0] > 2 * high[2] and middle.min() > 240
    assert max(low.mean(), high.mean()) < 60, "they stand out from white in the light of a projector"


# In the panes


@pytest.fixture
def grid(qtbot: QtBot) -> PaneGrid:
    random = np.random.default_rng(0)
    one = random.uniform(1, 2, (60, 80)).astype(np.float32)
    other = one.copy()
    other[5:25] += random.uniform(-0.5, 0.5, (20, 80)).astype(np.float32)
    other[7, 9] = one[7, 9] - 1000
    return differing(qtbot, one, other)


def test_the_colour_is_full_at_a_percentile_divided_by_the_gain(qtbot: QtBot, grid: PaneGrid) -> None:
    sizes = np.abs(grid.difference.distance.values)
    sizes = sizes[sizes > 0]
    display = grid.difference.display
    assert display.high == pytest.approx(np.percentile(sizes, 99.5), rel=1e-6)
    chosen(qtbot, grid, "share", "90 %")
    assert display.high == pytest.approx(np.percentile(sizes, 90), rel=1e-6) and display.low == -display.high
    chosen(qtbot, grid, "gain", "× 4")  # noqa: RUF001
    assert display.high == pytest.approx(np.percentile(sizes, 90) / 4, rel=1e-6)
    chosen(qtbot, grid, "gain", "× 1")  # noqa: RUF001
    chosen(qtbot, grid, "share", "largest")
    assert display.high == grid.difference.distance.most == pytest.approx(1000)


def test_another_measure_has_its_own_colours_words_and_values(qtbot: QtBot, grid: PaneGrid) -> None:
    grid.display.set_cursor(9.5, 7.5)
    assert "difference: 1000" in grid.values.text()
    chosen(qtbot, grid, "measure", "absolute")
    layer = grid.difference.layer
    assert layer.tone.low == 0 and layer.pyramid.array.min() == 0 and "up to 1000; full colour at" in grid.compare.notes
    assert np.array_equal(layer.tone.lut, colors("magma"))
    chosen(qtbot, grid, "measure", "relative, in %")
    assert layer.tone.low < 0 and layer.pyramid.array.max() <= 200 and " %" in grid.compare.notes.splitlines()[3]
    chosen(qtbot, grid, "measure", "in ulp")
    assert "ulp at x 9, y 7" in grid.compare.notes and grid.values.text().endswith(" ulp")


def test_a_measure_that_two_types_have_not_is_refused_in_words(qtbot: QtBot) -> None:
    grid = differing(qtbot, np.zeros((9, 9), np.uint8), np.ones((9, 9), np.uint8))
    chosen(qtbot, grid, "measure", "in ulp")
    sentence = "no units in the last place of uint8 and uint8: both must be float32 or both float64"
    assert grid.compare.missing == sentence and grid.difference.layer.pyramid is None
    chosen(qtbot, grid, "measure", "signed")
    assert not grid.compare.missing and grid.difference.distance.most == 1


def test_values_of_two_units_are_not_subtracted(qtbot: QtBot) -> None:
    grid = differing(qtbot, np.zeros((9, 9)), np.ones((9, 9)))
    axes = Axis("y", "px"), Axis("x", "px")
    for key, unit in (("a", "mV"), ("b", "")):
        grid.pane(key).set_drawn(ViewData(np.ones((9, 9)), Form((9, 9), "float64", axes, ()), unit), key)
    qtbot.waitUntil(lambda: bool(grid.compare.missing))
    assert grid.compare.missing == "no difference of values in mV and in 1: choose two pictures of one unit"


@pytest.mark.parametrize("array", [np.full((1, 1), 7, np.uint8), np.full((40, 50), 7.5)])
def test_equal_pictures_of_any_size(qtbot: QtBot, array: Any) -> None:
    grid = differing(qtbot, array, array.copy())
    assert grid.compare.notes.splitlines() == ["Result a − Result b", "equal in every pixel"]


def test_one_pixel_of_many_is_drawn_larger_while_the_picture_is_reduced(qtbot: QtBot) -> None:
    one = np.zeros((1200, 1600), np.uint8)
    other = one.copy()
    other[601, 803] = 9
    grid = differing(qtbot, other, one)
    canvas, layer = grid.compare, grid.difference.layer
    assert "1 of 1920000 pixels differ (< 0.01 %), drawn larger" in canvas.notes

    def red() -> int:
        drawn = canvas.grab().toImage()
        at, middle = canvas.screen_at(803.5, 601.5).toPoint(), range(-12, 13)
        inks = [drawn.pixelColor(at.x() + dx, at.y() + dy) for dx in middle for dy in middle]
        return sum(ink.red() > ink.blue() + 30 for ink in inks)

    assert red() >= 9, "three pixels a side"
    grid.styles.grow.setChecked(False)
    qtbot.waitUntil(lambda: not grid.computing)
    assert red() < 9 and layer.larger is None and "drawn larger" not in canvas.notes
    grid.styles.grow.setChecked(True)
    qtbot.waitUntil(lambda: not grid.computing)
    grid.display.go_to(803, 601)
    assert layer.painted(grid.display.scale) is layer.pyramid, "a pixel that is large enough is one pixel"


def test_squares_keep_the_furthest_value_and_nan() -> None:
    values = np.zeros((600, 40), np.float32)
    values[2, 3], values[2, 5], values[590, 20], values[300, 7] = 2, -5, 1, np.nan
    found = grow_pixels(values)
    reach = 2
    assert found is not None and found[2, 3] == -5 and found[2, 3 - reach] == 2 and found[2, 0] == 0
    assert found[590 + reach, 20 - reach] == 1 and found[590 + reach + 1, 20] == 0
    assert np.isnan(found[300, 7]) and not np.isnan(found[300, 6])
    assert grow_pixels(values, lambda: True) is None


# The largest one


def test_a_key_goes_to_the_largest_difference_in_all_panes(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    array = np.full((40, 40), 100, np.uint8)
    other = array.copy()
    other[31, 5] = 90
    engine(window).show(image(array))
    request = run(window)
    for variant, result in zip(PICKS, (array, other), strict=True):
        bring(window, request, variant, result, ok=None)
    finish(window, request)
    assert not window.actions_by_id["jump_to_largest"].isEnabled()
    act(window, "compare_difference")
    window.panes.set_pair(*PICKS)
    qtbot.waitUntil(lambda: window.panes.difference.distance is not None)
    qtbot.keyClick(window.panes.compare, Qt.Key.Key_J)
    assert window.display.centre == (5.5, 31.5) and window.display.scale <= 1 / 40
    assert window.panes.values.text().startswith("x 5, y 31") and window.panes.values.text().endswith("difference: 10")
    window.panes.set_pair("serial", "serial")
    qtbot.waitUntil(lambda: window.panes.difference.distance is not None)
    act(window, "jump_to_largest")
    assert window.messages.messages()[-1].text.endswith("nothing differs.")


@pytest.mark.parametrize("shape", [(1, 1), (7, 900), (2300, 5)])
def test_squares_are_those_of_scipy(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    reach = max(1, round(1.5 * max(shape) / 500))
    above, below = (f(values, 2 * reach + 1, mode="constant") for f in (maximum_filter, minimum_filter))
    np.testing.assert_array_equal(grow_pixels(values), np.where(above >= -below, above, below))
