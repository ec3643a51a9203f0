"""Kept differences next to the results: panes that are kept, undone, saved with the session and removed."""

from __future__ import annotations

import argparse
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pixels
import pytest
import tifffile
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from test_belonging import bring, engine, image, picture, run, signal, verified, window  # noqa: F401
from test_panes import shown

from app.models.experiment.differences import MOST_DIFFERENCES, DifferenceOf
from app.models.experiment.session import Session
from app.models.files.session_file import parse_session, saved_of, session_text
from app.models.files.session_view import Offered, View
from app.models.pictures.difference import distance
from app.models.pictures.display import Display
from app.models.results.origin import Origin
from app.models.results.view_data import ViewData
from app.shell.action_specs import ACTIONS
from app.shell.window import Script
from app.views.comparing.difference_pane import DifferencePane
from app.views.dialogs.offers import palette_offers
from app.views.pictures.clipboard import chosen_layer
from app.views.pictures.clipboard import picture as copied
from app.views.pictures.panes import PaneGrid
from app.views.pictures.sketch import sketch_of
from app.views.pictures.spectrum_paint import draw_frequencies
from app.views.pictures.spectrum_view import SpectrumView
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import LEVELS
from gpu_ops import KernelscopeError, ParamError, find_filter, load, save
from gpu_ops.output_kinds import Axis, Band, Form
from gpu_ops.types import REFERENCE

AB = DifferenceOf("a", "b")
OF_INPUT = DifferenceOf(INPUT, "parallel")
BOTH = DifferenceOf("serial", "parallel")


def kept(qtbot: QtBot, grid: PaneGrid, *differences: DifferenceOf) -> list[DifferencePane]:
    """The panes of these differences, all of them computed where they are in sight."""
    grid.set_differences(differences)
    QApplication.processEvents()
    settled(qtbot, grid)
    return list(grid.differences.values())


def settled(qtbot: QtBot, grid: PaneGrid) -> None:
    qtbot.waitUntil(lambda: not grid.computing)


def seen(grid: PaneGrid) -> list[str]:
    return [key for key, pane in grid.every.items() if pane.isVisible()]


# A pane


def test_a_pane_shows_the_difference_beside_both(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    ramp = np.tile(np.arange(80, dtype=np.uint8), (60, 1))
    grid.set_array("a", ramp, None, "Result a")
    (pane,) = kept(qtbot, grid, AB)
    assert seen(grid) == ["a", "b", AB.key] and grid.keys == ["a", "b"]
    assert pane.title.text() == "Result a − Result b"
    assert np.array_equal(pane.layer.pyramid.array, ramp.astype(np.float32) - 10)
    assert pane.canvas.notes == "largest 69 at x 79, y 0" and pane.canvas.legend == pane.layer.tone
    assert pane.canvas.accessibleName() == "Difference Result a − Result b, largest 69 at x 79, y 0"
    assert pane.canvas.display is grid.display, "zoom and cursor are those of all panes"
    grid.display.set_cursor(3.5, 20.5)
    assert pane.status.text() == "x 3, y 20: −7" and grid.pane(AB.key) is pane
    canvas = pane.canvas
    drawn = canvas.grab().toImage()
    below, above = (drawn.pixelColor(canvas.screen_at(x + 0.5, 50).toPoint()) for x in (0, 79))
    assert below.blue() > below.red() and above.red() > above.blue()
    assert grid.first.count() == 2, "a difference is not compared again"


def test_it_follows_both_and_keeps_levels_set_by_hand(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    assert pane.canvas.notes == "largest −10 at x 0, y 0"
    plain = grid.display.low, grid.display.high
    pane.difference.display.set_levels(-3, 3)
    assert (pane.layer.tone.low, pane.layer.tone.high) == (-3, 3) and (grid.display.low, grid.display.high) == plain
    array = np.full((60, 80), 10, np.uint8)
    array[7, 9] = 15
    grid.set_array("b", array, None, "Newer b")
    settled(qtbot, grid)
    assert pane.title.text() == "Result a − Newer b" and pane.canvas.notes == "largest −15 at x 9, y 7"
    assert pane.layer.tone.high == 3
    grid.set_array("a", array.copy(), None, "Newer a")
    settled(qtbot, grid)
    assert pane.canvas.notes == "equal in every pixel" and pane.canvas.legend is None


def test_it_says_when_a_side_is_of_an_earlier_setting(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    assert not pane.chip.isVisible()
    grid.pane("b").layer.set_state("stale", "of window 3", False)
    assert pane.chip.isVisible() and pane.chip.state == "stale" and not pane.layer.current
    assert pane.canvas.accessibleName().endswith("of an earlier setting")
    grid.pane("b").layer.set_state("fresh")
    assert not pane.chip.isVisible() and pane.layer.current


def test_a_pane_without_a_picture_says_why(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    grid.set_array("b", np.zeros((5, 6, 3), np.uint8), None, "small")
    assert pane.layer.pyramid is None and "80 × 60 and 6 × 5 × 3: choose two" in pane.canvas.missing
    assert pane.canvas.legend is None and pane.canvas.notes == "" and pane.value_text() == ""
    pane.canvas.grab()
    grid.pane("b").clear()
    assert pane.canvas.missing == "no difference yet: small has no picture"
    grid.pane("b").layer.set_state("failed", "illegal address")
    assert pane.canvas.missing == "no difference: small failed"
    grid.set_array("b", np.zeros((60, 80), np.uint8), None, "again")
    assert pane.canvas.missing == "Computing the difference…"
    settled(qtbot, grid)
    assert pane.canvas.missing == "" and pane.canvas.notes == "equal in every pixel"


def test_nothing_is_computed_that_nobody_sees(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def watched(*given: Any) -> Any:
        asked.append(threading.get_ident())
        return distance(*given)

    monkeypatch.setattr("app.models.pictures.difference.distance", watched)
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    assert len(asked) == 1 and asked[0] != threading.get_ident(), "the thread of the window does not subtract"
    pane.difference.display.set_levels(-3, 3)
    grid.set_mode("swipe")
    QApplication.processEvents()
    assert pane.layer.pyramid is not None, "it may be shown again soon"
    grid.set_array("a", np.full((60, 80), 30, np.uint8), None, "Newer a")
    QApplication.processEvents()
    assert len(asked) == 1 and pane.layer.pyramid is None and pane.difference.distance is None
    grid.set_mode("side by side")
    QApplication.processEvents()
    settled(qtbot, grid)
    assert len(asked) == 2 and pane.canvas.notes == "largest 20 at x 0, y 0" and pane.layer.tone.high == 3
    grid.set_mode("swipe")
    grid.set_mode("side by side")
    QApplication.processEvents()
    assert len(asked) == 2, "the pictures are the same"


def test_what_is_hidden_while_it_is_computed_begins_again(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    grid.set_array("a", np.full((1500, 1500), 7, np.uint8), None, "a")
    grid.set_array("b", np.zeros((1500, 1500), np.uint8), None, "b")
    grid.set_differences([AB])
    (pane,) = grid.differences.values()
    qtbot.waitUntil(lambda: pane.difference.busy)
    grid.set_mode("flicker")
    QApplication.processEvents()
    assert not pane.difference.busy
    grid.set_mode("side by side")
    QApplication.processEvents()
    settled(qtbot, grid)
    assert pane.canvas.notes == "largest 7 at x 0, y 0"


def test_differences_come_after_the_results_on_pages(qtbot: QtBot) -> None:
    grid = shown(qtbot, list("iabcde"))
    grid.pager.set_pinned(1)
    one, other = DifferenceOf("a", "b"), DifferenceOf("e", "i")
    first, second = kept(qtbot, grid, one, other)
    assert seen(grid) == list("iabcde") and grid.pager.isVisible() and first.difference.distance is None
    grid.pager.turn(1)
    QApplication.processEvents()
    settled(qtbot, grid)
    assert seen(grid) == ["i", one.key, other.key]
    assert second.canvas.notes == "largest 50 at x 0, y 0"
    grid.set_panes(list("iabcdef"))
    assert grid.pager.page == 1 and seen(grid) == ["i", "f", one.key, other.key], "the page stays where there is one"


def test_removed_panes_are_used_again(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b", "c"])
    (pane,) = kept(qtbot, grid, AB)
    closed: list[DifferenceOf] = []
    grid.close_asked.connect(closed.append)
    qtbot.mouseClick(pane.close_button, Qt.MouseButton.LeftButton)
    assert closed == [AB] and pane.close_button.accessibleName() == "Remove the difference Result a − Result b"
    other = DifferenceOf("c", "a")
    assert kept(qtbot, grid, other) == [pane] and pane.canvas.notes == "largest 20 at x 0, y 0"
    pane.close_button.click()
    assert closed == [AB, other]
    grid.set_panes(["a", "b"])
    assert not grid.differences and not pane.isVisible() and pane.layer.pyramid is None, "one side is gone"
    assert not grid.set_differences([]) and seen(grid) == ["a", "b"]
    kept(qtbot, grid, AB)
    grid.set_differences([])
    assert pane.difference.layers == () and pane.layer.pyramid is None, "nothing is kept of what is not there"


def test_titles_leave_out_what_both_end_with(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    grid.pane("a").layer.set_title("window 3 · pinned · CPU")
    grid.pane("b").layer.set_title("window 5 · CPU")
    assert pane.title.text() == "window 3 · pinned − window 5"
    pane.title.setFixedWidth(pane.fontMetrics().horizontalAdvance("window − wi"))
    assert pane.title.shown_text().startswith("wi") and "… − wi" in pane.title.shown_text()
    assert pane.title.shown_text().endswith("…")
    grid.pane("a").layer.set_title("CPU")
    assert pane.title.text() == "CPU − window 5 · CPU"


def test_the_part_that_both_have_lies_in_its_place(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    whole = np.zeros((60, 80), np.uint8)
    whole[30, 40] = 9
    grid.set_array("a", whole, None, "whole")
    grid.set_array("b", np.zeros((20, 30), np.uint8), None, "part", Origin(True, (20, 30), (60, 80)))
    (pane,) = kept(qtbot, grid, AB)
    assert pane.layer.shape == (20, 30) and pane.layer.origin.start == (20, 30) and pane.layer.origin.simulated
    assert pane.canvas.notes == "largest 9 at x 40, y 30"
    grid.display.set_cursor(40.5, 30.5)
    assert pane.status.text() == "x 40, y 30: 9"
    grid.display.set_cursor(10.5, 10.5)
    assert pane.value_text() == ""


FREQUENCIES = Axis("frequency y", "Hz", -2.0, 0.5), Axis("frequency x", "Hz", 10.0, 0.25)


def test_it_has_the_axes_the_bands_and_the_unit_of_its_pictures(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    array = np.zeros((6, 8), np.float32)
    other = array.copy()
    other[4, 2] = 3
    bands = (Band(1, "horizontal", (0, 0), (3, 8)), Band(1, "vertical", (3, 0), (3, 8)))
    for key, values in (("a", other), ("b", array)):
        drawn = ViewData(values, Form(values.shape, "float32", FREQUENCIES, bands), "mV")
        grid.pane(key).set_drawn(drawn, key)
    (pane,) = kept(qtbot, grid, AB)
    assert pane.canvas.notes == "largest 3 mV at vertical 1, frequency x 2, frequency y 1"
    assert pane.layer.drawn.form.bands == bands
    for key, values in (("a", other), ("b", array)):
        drawn = ViewData(values, Form(values.shape, "float32", FREQUENCIES), "mV")
        origin = Origin(True, (1, 2), (20, 20)) if key == "a" else Origin(True, (2, 3), (20, 20))
        grid.pane(key).set_drawn(drawn, key, origin)
    settled(qtbot, grid)
    assert [axis.start for axis in pane.layer.drawn.form.axes] == [-1.5, 10.25]


def test_integers_of_any_width_are_read_to_the_last_digit(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    large = np.full((4, 5, 3), 2**62, np.int64)
    other = large.copy()
    other[1, 2] = 2**62 - 1, 2**62 + 3, 2**62
    for key, array in (("a", large), ("b", other)):
        grid.set_array(key, array, None, key)
    (pane,) = kept(qtbot, grid, AB)
    assert pane.canvas.notes == "largest −3 at x 2, y 1"
    grid.display.set_cursor(2.5, 1.5)
    assert pane.status.text() == "x 2, y 1: 1, −3, 0"


def test_labels_differ_or_they_do_not(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    one = np.arange(48, dtype=np.int32).reshape(6, 8)
    other = one.copy()
    other[2, 3] = 5
    for key, labels in (("a", one), ("b", other)):
        colours = np.zeros((6, 8, 3), np.uint8)
        form = Form((6, 8), "int32", (Axis("y", "px"), Axis("x", "px")))
        grid.pane(key).set_drawn(ViewData(colours, form, "", read=labels, labels=True), key)
    (pane,) = kept(qtbot, grid, AB)
    assert pane.canvas.notes == "the labels differ first at x 3, y 2" and pane.canvas.legend is None
    grid.display.set_cursor(3.5, 2.5)
    assert pane.status.text() == "x 3, y 2: the labels differ"
    grid.display.set_cursor(4.5, 2.5)
    assert pane.status.text() == "x 4, y 2: the same label"


def test_a_low_pane_has_no_scale_over_its_picture(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    assert pane.canvas.legend is not None
    pane.resize(pane.width(), 9 * pane.fontMetrics().height())
    qtbot.waitUntil(lambda: pane.canvas.legend is None)
    assert pane.canvas.notes


def test_its_title_is_as_high_as_the_others(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"], (900, 300))
    (pane,) = kept(qtbot, grid, AB)
    qtbot.wait(20)
    assert pane.y() == grid.pane("a").y() and pane.canvas.y() == grid.pane("a").canvas.y()


def test_copied_as_it_is_shown_and_exported_with_the_sheet(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    (pane,) = kept(qtbot, grid, AB)
    layer = chosen_layer(grid)
    assert layer is grid.pane("b").layer, "a difference is copied only where it is meant"
    pane.canvas.setFocus()
    qtbot.waitUntil(pane.canvas.hasFocus)
    assert chosen_layer(grid) is pane.layer
    one = copied(pane.layer, grid.display).pixelColor(0, 0)
    assert one.blue() > one.red() + 50, "b is larger"
    drawn = pixels.rgb(grid.sheet.grab().toImage()).astype(int)
    assert (np.abs(drawn - (one.red(), one.green(), one.blue())).max(axis=2) < 3).mean() > 0.1


def test_spectra_have_the_numbers_of_their_axes_over_it(qtbot: QtBot) -> None:
    display = Display()
    view = SpectrumView(display)
    qtbot.addWidget(view.widget)
    display.setParent(view.widget)
    view.arrange(("a", "b"), {"a": "A", "b": "B"}, find_filter("fft2d"))
    view.grid.set_differences([AB])
    drawn = [sketch_of(pane.canvas).drawings for pane in view.grid.every.values()]
    assert len(drawn) == 3 and all(each == {"frequencies": draw_frequencies} for each in drawn)


def test_the_largest_is_found_in_every_strip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.models.pictures.difference.STRIP", 64)
    rng = np.random.default_rng(3)
    for _ in range(20):
        a = rng.integers(-50, 50, (9, 16)).astype(np.float32)
        a[tuple(rng.integers(0, (9, 16)))] = np.inf
        found = distance(a, np.zeros_like(a))
        sizes = np.where(np.isfinite(a), np.abs(a), -1)
        assert found.at == np.unravel_index(np.argmax(sizes), a.shape) and found.most == sizes.max()
    assert distance(a, a).at is None


# In a window


def two_results(window: MainWindow) -> None:  # noqa: F811
    """An image, and verified results of both picks that differ by 5."""
    verified(window, picture(200))
    bring(window, run(window), "parallel", picture(205), ok=None)


def keep(window: MainWindow, difference: DifferenceOf) -> None:  # noqa: F811
    """Keep a difference as a person does, and go back to all panes."""
    act(window, "compare_difference")
    window.stack.view.grid.set_pair(difference.first, difference.second)
    act(window, "keep_difference")
    act(window, "compare_side_by_side")
    QApplication.processEvents()


def test_a_key_keeps_what_is_shown(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session, grid, action = window.controller.session, window.panes, window.actions_by_id["keep_difference"]
    assert not action.isEnabled() and action.shortcut() == QKeySequence("Ctrl+K")
    assert action.toolTip().endswith("Not now: show a difference first, or click one beside the results")
    assert not grid.bar.keep.isVisible()
    act(window, "compare_difference")
    grid.set_pair("serial", "parallel")
    button = grid.bar.keep
    assert button.isVisible() and button.isEnabled() and button.text() == "Keep beside" and not button.isChecked()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert session.choice.differences == (BOTH,) and button.isChecked() and grid.mode == "difference"
    said, title = window.messages.current().text, "CPU, one core − CPU, all cores"
    assert said == f"The difference {title} is kept beside the results: press Alt+1 to see them side by side."
    grid.swap_pair()
    assert not action.isChecked(), "the other way round it is another one"
    act(window, "compare_side_by_side")
    QApplication.processEvents()
    settled(qtbot, grid)
    assert seen(grid) == [INPUT, "serial", "parallel", BOTH.key]
    assert grid.pane(BOTH.key).canvas.notes == "largest −5 at x 1, y 0"
    act(window, "undo")
    assert seen(grid) == [INPUT, "serial", "parallel"] and not session.choice.differences
    act(window, "redo")
    assert seen(grid)[-1] == BOTH.key
    act(window, "compare_difference")
    grid.set_pair("serial", "parallel")
    act(window, "keep_difference")
    assert not session.choice.differences and not action.isChecked()


def test_the_choice_of_another_pair_shows_whether_it_is_kept(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, BOTH)
    grid, action = window.panes, window.actions_by_id["keep_difference"]
    act(window, "compare_difference")
    grid.set_pair("serial", "parallel")
    assert action.isChecked()
    act(window, "swap")
    assert not action.isChecked()
    grid.set_pair("serial", "serial")
    assert not action.isEnabled() and "minus itself is nothing to keep" in action.toolTip()
    grid.set_pair("serial", "parallel")
    assert action.isChecked() and action.isEnabled()


def test_panes_are_removed_by_their_button_and_by_the_menu(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session, grid, menus = window.controller.session, window.panes, window.context_menus
    keep(window, BOTH)
    keep(window, OF_INPUT)
    qtbot.mouseClick(grid.differences[BOTH].close_button, Qt.MouseButton.LeftButton)
    assert session.choice.differences == (OF_INPUT,) and seen(grid)[-1] == OF_INPUT.key
    menus._fill_picture(grid.pane(OF_INPUT.key).canvas, None)
    assert menus.key == OF_INPUT.key and menus.hide_variant.text() == "Re&move one − CPU, all cores"
    assert window.actions_by_id["keep_difference"] not in menus.menu.actions()
    menus.hide_variant.trigger()
    assert not session.choice.differences and set(session.choice.picks) == {"serial", "parallel"}
    session.undo()
    assert session.choice.differences == (OF_INPUT,)
    menus._fill_picture(grid.pane("serial").canvas, None)
    assert menus.hide_variant.text() == "&Hide CPU, one core"


def test_values_at_a_point_are_copied_with_those_of_differences(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, BOTH)
    settled(qtbot, window.panes)
    window.panes.display.set_cursor(3.5, 4.5)
    window.context_menus._fill_picture(window.panes.pane("serial").canvas, None)
    window.context_menus.copy_values.trigger()
    lines = QApplication.clipboard().text().splitlines()
    assert lines[1:] == [
        "CPU, one core\tx 3, y 4: 200",
        "CPU, all cores\tx 3, y 4: 205",
        "CPU, one core − CPU, all cores\tx 3, y 4: -5",
    ]


def test_an_unticked_side_takes_it_along_and_brings_it_back(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session, grid = window.controller.session, window.panes
    keep(window, BOTH)
    session.set_picks(("serial",))
    assert seen(grid) == [INPUT, "serial"] and session.choice.differences == (BOTH,)
    session.set_picks(("serial", "parallel"))
    assert grid.keys == [INPUT, "serial", "parallel"] and list(grid.differences) == [BOTH]
    assert grid.pane(BOTH.key).canvas.missing == "no difference yet: CPU, all cores has no picture"
    bring(window, run(window), "parallel", picture(205), ok=None)
    settled(qtbot, grid)
    assert grid.pane(BOTH.key).canvas.notes == "largest −5 at x 1, y 0"


def test_two_settings_of_a_variant_and_what_unpinning_does(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    request = verified(window, picture(200))
    session, grid = window.controller.session, window.panes
    pinned = session.pin("parallel")
    session.set_params({**request.params, "window": 9})
    bring(window, run(window), "parallel", picture(190), ok=None)
    between = DifferenceOf("parallel", pinned)
    bring(window, request, "parallel", picture(200), ok=None)
    keep(window, between)
    assert grid.pane(between.key).title.text() == "window 9 − window 3 · pinned"
    session.unpin(pinned)
    assert not session.choice.differences and not grid.differences
    session.undo()
    assert session.choice.differences == (between,) and list(grid.differences) == [between]


def test_no_more_than_the_most_and_hidden_ones_make_room(window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session, variants = window.controller.session, [v.id for v in find_filter("mean2d").variants][:8]
    session.set_picks(tuple(variants))
    for variant in variants[2:] + variants[:2]:
        if len(session.choice.differences) < MOST_DIFFERENCES:
            session.keep_difference(DifferenceOf(INPUT, variant))
    with pytest.raises(ParamError, match="6 differences are kept, the maximum; remove one of them first"):
        session.keep_difference(BOTH)
    act(window, "compare_difference")
    window.panes.set_pair("serial", "parallel")
    act(window, "keep_difference")
    assert any("6 differences are kept" in message.text for message in window.messages.messages())
    assert not window.actions_by_id["keep_difference"].isChecked()
    assert len(window.panes.differences) == MOST_DIFFERENCES
    session.set_picks(("serial", "parallel"))
    session.keep_difference(BOTH)
    assert session.shown.differences == session.choice.differences == (BOTH,)


def test_another_filter_has_none_and_undo_brings_them_back(window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session, grid = window.controller.session, window.panes
    keep(window, BOTH)
    session.set_filter("conv3x3")
    assert not session.choice.differences and not grid.differences
    session.undo()
    assert list(grid.differences) == [BOTH]


def test_another_input_begins_again(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, OF_INPUT)
    pane = window.panes.pane(OF_INPUT.key)
    settled(qtbot, window.panes)
    engine(window).show(image(picture(100, size=30), "two"))
    assert pane.layer.pyramid is None and pane.canvas.missing == "no difference yet: CPU, all cores has no picture"
    bring(window, run(window), "parallel", picture(90, size=30), ok=None)
    settled(qtbot, window.panes)
    assert pane.canvas.notes == "largest 10 at x 1, y 0" and pane.title.text() == "two − CPU, all cores"


def test_the_reference_is_a_side_as_others(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    session = window.controller.session
    session.set_picks(("parallel", REFERENCE))
    bring(window, run(window), REFERENCE, picture(204), ok=None)
    difference = DifferenceOf("parallel", REFERENCE)
    keep(window, difference)
    settled(qtbot, window.panes)
    assert window.panes.pane(difference.key).canvas.notes == "largest 1 at x 1, y 0"


def test_regions_are_drawn_on_it_and_a_tool_begins_there(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, BOTH)
    canvas = window.panes.pane(BOTH.key).canvas
    settled(qtbot, window.panes)
    qtbot.waitUntil(lambda: "probe" in sketch_of(canvas).drawings)
    canvas.setFocus()
    act(window, "region")
    assert canvas.hasFocus()
    place = canvas.screen_at(10, 10).toPoint(), canvas.screen_at(20, 20).toPoint()
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=place[0])
    qtbot.mouseMove(canvas, place[1])
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=place[1])
    assert window.parts.probe.region is not None and window.parts.probe.region.area > 50


def test_levels_are_those_of_the_difference_that_was_clicked(qtbot: QtBot, window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, BOTH)
    settled(qtbot, window.panes)
    pane, panel = window.panes.pane(BOTH.key), window.docks[LEVELS]
    assert panel.display is window.display
    pane.canvas.setFocus()
    assert panel.display is pane.difference.display
    pane.difference.display.set_levels(-1, 1)
    act(window, "levels_auto")
    assert pane.layer.tone.high == 5 and not window.actions_by_id["map_viridis"].isEnabled()
    window.panes.pane("serial").canvas.setFocus()
    assert panel.display is window.display and window.actions_by_id["map_viridis"].isEnabled()
    pane.canvas.setFocus()
    act(window, "keep_difference")
    assert not window.panes.differences and panel.display is window.display


def test_a_difference_is_not_taken_for_a_result(window: MainWindow) -> None:  # noqa: F811
    two_results(window)
    keep(window, BOTH)
    window.panes.pane(BOTH.key).canvas.setFocus()
    assert window.stack.looked_at.variant == "" and window.stack.looked_at.difference == BOTH
    for id in ("pin", "use_result"):
        action = window.actions_by_id[id]
        assert not action.isEnabled() and "a difference was clicked last" in action.toolTip()
    window.panes.pane("serial").canvas.setFocus()
    for id in ("pin", "use_result"):
        action = window.actions_by_id[id]
        assert action.isEnabled() and "Not now" not in action.toolTip()


def test_it_is_saved_as_numbers_with_the_facts_about_both(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:  # noqa: F811
    two_results(window)
    for difference in (BOTH, OF_INPUT):
        keep(window, difference)
    path, asked = tmp_path / "difference.tif", []

    def target(_parent: object, title: str, name: str, _kinds: str) -> str:
        asked.append((title, Path(name).name))
        return str(path)

    window.files.target = target
    pane = window.panes.pane(BOTH.key)
    pane.canvas.setFocus()
    pane.difference.set_active(False)
    pane.difference._release()
    act(window, "save")
    assert "Nothing is saved yet" in window.messages.current().text and not asked
    pane.difference.set_active(True)
    settled(qtbot, window.panes)
    saved_there(qtbot, window, path)
    assert asked == [
        ("Save the difference CPU, one core − CPU, all cores", "one-mean-window3-serial-minus-parallel.tif")
    ]
    values = load(path).array
    assert values.dtype == np.float32 and np.array_equal(values, picture(200).astype(np.float32) - picture(205))
    said = description(path)
    assert "difference: first minus second" in said and "parameter window: 3" in said
    assert "first variant: serial" in said and "second variant: parallel" in said
    window.panes.pane(OF_INPUT.key).canvas.setFocus()
    path.unlink()
    saved_there(qtbot, window, path)
    assert "first picture: the input" in description(path)
    path = tmp_path / "difference.png"
    act(window, "save")
    qtbot.waitUntil(lambda: "difference.png cannot hold a difference" in message(window))
    assert not path.exists() and "choose one of .tif .tiff .npy" in window.messages.current().text


def description(path: Path) -> str:
    with tifffile.TiffFile(path) as file:
        return file.pages[0].description


def saved_there(qtbot: QtBot, window: MainWindow, path: Path) -> None:  # noqa: F811
    """Save to this file, and wait until the window says so."""
    act(window, "save")
    qtbot.waitUntil(lambda: path.exists() and f"Saved {path.name}" in message(window))


def message(window: MainWindow) -> str:  # noqa: F811
    """The newest message; none is left when the one before has gone away by itself, which a slow save may outlast."""
    newest = window.messages.current()
    return newest.text if newest is not None else ""


def test_a_picture_of_the_window_waits_for_them(
    qtbot: QtBot,
    window: MainWindow,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two_results(window)
    keep(window, BOTH)
    drawn: list[str] = []
    monkeypatch.setattr("app.shell.window.MOMENT_MS", 1)
    monkeypatch.setattr("app.shell.window.Script._draw", lambda _self: drawn.append(notes()))

    def notes() -> str:
        return window.panes.pane(BOTH.key).canvas.notes

    settled(qtbot, window.panes)
    go_on = threading.Event()
    slow = lambda *given: go_on.wait(30) and distance(*given)  # noqa: E731
    monkeypatch.setattr("app.models.pictures.difference.distance", slow)
    bring(window, run(window), "parallel", picture(207), ok=None)
    script = Script(window.controller, window, argparse.Namespace(measure=False, screenshot="x.png"))
    script._draw_when_done()
    qtbot.wait(50)
    assert not drawn and window.panes.computing
    go_on.set()
    qtbot.waitUntil(lambda: bool(drawn))
    assert drawn == ["largest −7 at x 1, y 0"]


def test_views_without_pictures_say_that_they_have_none(window: MainWindow) -> None:  # noqa: F811
    engine(window).show(signal(np.sin(np.arange(100.0)), 100.0))
    action = window.actions_by_id["keep_difference"]
    assert not action.isEnabled() and "this view has no difference of two results" in action.toolTip()
    window.parts.palette.present(palette_offers(window.parts))
    window.parts.palette.line.setText("keep beside")
    lines = [
        window.parts.palette.list.topLevelItem(row) for row in range(window.parts.palette.list.topLevelItemCount())
    ]
    (found,) = [line for line in lines if line.text(0).startswith("Compare: Keep beside")]
    assert "(this view has no difference of two results" in found.text(0) and not found.flags()


def test_every_reason_is_said_of_an_action_that_is_disabled(window: MainWindow) -> None:  # noqa: F811
    assert {spec.id for spec in ACTIONS if spec.why is not None} == {
        *("keep_difference", "jump_to_largest", "use_result", "pin", "measure", "export_report", "edit_kernel"),
        *("print_report", "export_running_report"),
    }


# Session files

PINNED_PICK = {"variant": "parallel", "device": "cpu", "params": {"window": 3}, "knobs": {}}


def saved_session() -> Session:
    made = Session()
    made.set_filter("mean2d")
    made.set_picks(("serial", "parallel"))
    return made


def written(window: MainWindow) -> dict[str, Any]:  # noqa: F811
    return json.loads(session_text(saved_of(window.controller.session, View())))


@pytest.fixture
def camera(qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """A window on a file, with one result pinned."""
    path = tmp_path / "holiday.png"
    save(path, picture(200))
    made = make(qtbot, FakeEngine())
    session = made.controller.session
    session.set_filter("mean2d")
    session.set_picks(("serial", "parallel"))
    made.context.importing.open(str(path))
    session.pin("parallel")
    return made


def test_a_session_file_has_them(camera: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    session = camera.controller.session
    (pinned,) = session.shown.pins
    wanted = (DifferenceOf("serial", pinned), DifferenceOf(INPUT, "parallel"))
    for difference in wanted:
        session.keep_difference(difference)
    content = written(camera)
    assert content["differences"] == [
        {"first": "serial", "second": "pinned 1"},
        {"first": "input", "second": "parallel"},
    ]
    path = tmp_path / "two.kernelscope"
    path.write_text(json.dumps(content))
    for difference in wanted:
        session.drop_difference(difference)
    assert not camera.panes.differences
    camera.context.sessions.open(str(path))
    assert session.choice.differences == wanted and list(camera.panes.differences) == list(wanted)
    pane = camera.panes.pane(wanted[1].key)
    assert pane.canvas.missing == "no difference yet: CPU, all cores has no picture", "it is there before its results"
    engine(camera).end()
    bring(camera, run(camera), "parallel", picture(198), ok=None)
    settled(qtbot, camera.panes)
    assert pane.canvas.notes == "largest 2 at x 1, y 0"
    assert not session.can_undo, "undo begins with the session"


def test_a_hidden_one_is_saved_with_the_others(camera: MainWindow) -> None:
    session = camera.controller.session
    session.keep_difference(BOTH)
    session.set_picks(("serial",))
    assert parse_session(json.dumps(written(camera)).encode(), "", Offered()).choice.differences == (BOTH,)


def test_files_without_them_and_bad_ones(camera: MainWindow) -> None:
    camera.controller.session.keep_difference(BOTH)
    content = written(camera)

    def read(differences: Any) -> tuple[DifferenceOf, ...]:
        text = json.dumps({**content, "differences": differences})
        return parse_session(text.encode(), "", Offered()).choice.differences

    older = {name: value for name, value in content.items() if name != "differences"}
    assert parse_session(json.dumps(older).encode(), "", Offered()).choice.differences == ()
    pair = {"first": "serial", "second": "parallel"}
    assert read([pair, pair]) == (BOTH,)
    for wrong, sentence in (
        (5, "differences must be a list of objects"),
        ([{"first": "serial"}], "differences.second is missing; it must be one of input, serial"),
        ([{**pair, "second": "pinned 2"}], "pinned 1, not 'pinned 2'"),
        ([{**pair, "second": ["x"]}], "differences.second must be one of"),
        ([{**pair, "second": "serial"}], "A difference is of serial and itself; it must be of two results"),
        ([pair] * 7, "It has 7 differences; the maximum is 6."),
    ):
        with pytest.raises(KernelscopeError) as raised:
            read(wrong)
        assert sentence in str(raised.value), raised.value
