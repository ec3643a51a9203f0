"""The model that links panes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyqtgraph as pg
import pytest
from pytestqt.qtbot import QtBot

from app.models.pictures.display import COLORMAPS, DIVERGING, Display, colors, natural_levels


def figures(low: float, high: float) -> SimpleNamespace:
    inner = {50: (low + high) / 2, 0.1: low + 0.1 * (high - low), 99.9: high - 0.1 * (high - low)}
    return SimpleNamespace(minimum=low, maximum=high, percentiles=inner, histogram=(1,) * 256, nan=0, infinite=0)


def test_fit_shows_all(qtbot: QtBot) -> None:
    display = Display()
    with qtbot.waitSignal(display.navigated):
        display.fit(400, 100, 200, 100)
    assert display.centre == (200, 50) and display.scale == 2 and display.following


def test_zoom_keeps_the_point_under_the_cursor() -> None:
    display = Display()
    display.fit(100, 100, 100, 100)
    before = (30 - display.centre[0]) / display.scale
    display.zoom_at(4, 30, 20)
    assert display.scale == 0.25 and (30 - display.centre[0]) / display.scale == pytest.approx(before)
    display.zoom_at(1e9, 30, 20)
    assert display.scale == 1 / 256
    assert not display.following


def test_pan_and_one_to_one() -> None:
    display = Display()
    display.fit(100, 100, 50, 50)
    display.pan(5, -5)
    display.one_to_one()
    assert display.centre == (55, 45) and display.scale == 1


def test_following_fits_the_smallest_view_until_the_user_moves() -> None:
    display = Display()
    display.place(1, (100, 100), (200, 200))
    display.place(2, (100, 100), (50, 100))
    assert display.scale == 2
    display.forget(2)
    assert display.scale == 0.5
    display.pan(1, 1)
    display.place(1, (100, 100), (10, 10))
    assert display.scale == 0.5


def test_levels(qtbot: QtBot) -> None:
    display = Display()
    with qtbot.waitSignal(display.levels_changed):
        display.set_input(figures(-10, 10))
    assert (display.low, display.high, display.mode) == (-10, 10, "auto")
    display.auto_levels("percentile")
    assert (display.low, display.high) == pytest.approx((-8, 8))
    display.set_levels(5, 3)
    assert (display.low, display.high, display.mode) == (3, 5, "manual")
    display.guess_levels(0, 255)
    assert (display.low, display.high) == (3, 5)


def test_another_input_has_levels_zoom_and_cursor_of_its_own() -> None:
    display = Display()
    display.place(1, (100, 100), (200, 200))
    display.set_input(figures(0, 255))
    display.set_levels(20, 30)
    display.zoom_at(8, 10, 10)
    display.set_cursor(3, 4)
    display.set_input(figures(0, 1))
    assert (display.low, display.high, display.mode, display.cursor) == (0, 1, "auto", None)
    assert display.following and display.scale == 0.5
    display.auto_levels("range")
    assert (display.low, display.high) == (0, 1)
    display.auto_levels("percentile")
    assert (display.low, display.high) == pytest.approx((0.1, 0.9))


def test_colours_are_not_stretched_unless_that_is_asked() -> None:
    display, narrow = Display(), figures(10, 200)
    colour, gray = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.uint8)
    assert natural_levels(colour, narrow) == (0, 255) and natural_levels(gray, narrow) is None
    assert natural_levels(colour.astype(np.uint16), narrow) == (0, 65535)
    assert natural_levels(np.zeros((2, 2, 4), np.float32), figures(0.1, 0.4)) == (0, 1)
    assert natural_levels(np.zeros((2, 2, 3), np.float32), figures(-1, 0.4)) is None
    display.set_input(narrow, natural_levels(colour, narrow))
    assert (display.low, display.high) == (0, 255)
    display.auto_levels("range")
    assert (display.low, display.high) == (10, 200)
    display.auto_levels("auto")
    assert (display.low, display.high) == (0, 255)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e20])
def test_a_constant_gets_levels_apart(value: float) -> None:
    display = Display()
    display.set_input(figures(value, value))
    assert display.low < value < display.high


def test_nothing_is_said_twice(qtbot: QtBot) -> None:
    display = Display()
    display.set_levels(1, 2)
    display.set_cursor(1, 1)
    with qtbot.assertNotEmitted(display.levels_changed), qtbot.assertNotEmitted(display.cursor_moved):
        display.set_levels(1, 2)
        display.set_cursor(1, 1)
    with qtbot.waitSignal(display.cursor_moved):
        display.clear_cursor()


@pytest.mark.parametrize("name", [*COLORMAPS, DIVERGING])
def test_colour_maps(name: str) -> None:
    table = colors(name)
    assert table.shape == (256, 3) and table.dtype == np.uint8
    light = table @ np.array([0.2126, 0.7152, 0.0722])
    if name not in ("gray", DIVERGING):
        assert np.array_equal(table, pg.colormap.get(name).getLookupTable(nPts=256)[:, :3])
    if name in COLORMAPS:  # brightness alone tells the order
        assert (np.diff(light) > -2).all() and light[-1] - light[0] > 150


def test_colour_map_by_name(qtbot: QtBot) -> None:
    display = Display()
    with qtbot.waitSignal(display.colormap_changed):
        display.set_colormap("magma")
    assert display.lut is not None
    with pytest.raises(ValueError, match="viridis"):
        display.set_colormap("jet")
