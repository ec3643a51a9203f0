"""Several panes: layout, comparing, difference."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QRawFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.pictures.agreement import Agreement
from app.models.pictures.difference import distance
from app.models.pictures.difference_levels import figures_of
from app.models.pictures.display import Display
from app.views.comparing.agreement_bar import AgreementLimits
from app.views.parts import number
from app.views.pictures.histogram import HistogramBar
from app.views.pictures.panes import PaneGrid
from app.views.pictures.pixel_values import value_text
from app.views.results.tiles import best_columns


def shown(qtbot: QtBot, keys: list[str], size: tuple[int, int] = (800, 600)) -> PaneGrid:
    display = Display()
    grid = PaneGrid(display)
    display.setParent(grid)
    qtbot.addWidget(grid)
    grid.resize(*size)
    grid.set_panes(keys)
    for index, key in enumerate(keys):
        grid.set_array(key, np.full((60, 80), 10 * index, np.uint8), None, f"Result {key}")
    grid.show()
    qtbot.waitExposed(grid)
    QApplication.processEvents()
    return grid


@pytest.mark.parametrize(
    "count,width,height,columns",
    [(1, 800, 600, 1), (2, 800, 400, 2), (2, 400, 800, 1), (4, 800, 800, 2), (6, 1200, 800, 3), (3, 1200, 400, 3)],
)
def test_columns_fill_the_space(count: int, width: int, height: int, columns: int) -> None:
    assert best_columns(count, width, height, 1.0) == columns


def test_columns_leave_room_for_names() -> None:
    assert best_columns(4, 500, 300, 1.0, extra=50) == 4
    assert best_columns(4, 500, 300, 1.0, extra=50, narrowest=200) == 2
    assert best_columns(4, 100, 900, 1.0, narrowest=200) == 1


@pytest.mark.parametrize("count", range(1, 7))
def test_panes_are_linked_and_do_not_overlap(qtbot: QtBot, count: int) -> None:
    grid = shown(qtbot, list("abcdef")[:count])
    areas = [grid.pane(key).geometry() for key in grid.keys]
    assert all(area.width() > 150 and area.height() > 150 for area in areas)
    assert not any(a.intersects(b) for i, a in enumerate(areas) for b in areas[:i])
    assert all(grid.pane(key).canvas.display is grid.display for key in grid.keys)


def test_panes_are_reused(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    first, second = grid.pane("a"), grid.pane("b")
    grid.set_panes(["a"])
    assert grid.pane("a") is first and first.layer.pyramid is not None
    assert second.layer.pyramid is None and not second.isVisible()
    grid.set_panes(["a", "c"])
    assert grid.pane("c") is second and second.isVisible()
    with pytest.raises(ValueError, match="keys of panes must differ"):
        grid.set_panes(["a", "a"])


def test_more_panes_than_fit_stand_on_pages_and_all_can_be_compared(qtbot: QtBot) -> None:
    grid = shown(qtbot, list("iabcdefgh"))

    def seen() -> str:
        return "".join(key for key in grid.keys if grid.pane(key).isVisible())

    assert seen() == "iabcde" and grid.pager.isVisible()
    assert grid.pager.words.text() == "results 1–5 of 8" and not grid.pager.before.isEnabled()
    qtbot.mouseClick(grid.pager.after, Qt.MouseButton.LeftButton)
    assert seen() == "ifgh" and grid.pager.words.text() == "results 6–8 of 8" and not grid.pager.after.isEnabled()
    assert [grid.first.itemData(i) for i in range(grid.first.count())] == list("iabcdefgh")
    grid.set_mode("swipe")
    assert not grid.pager.isVisible()
    grid.set_pair("a", "h")
    assert [layer.title for layer in grid.compare.layers] == ["Result a", "Result h"]
    grid.set_mode("side by side")
    grid.set_panes(list("iabc"))
    assert seen() == "iabc" and grid.pager.isVisible() and not grid.pager.words.text()
    grid.set_panes(["i"])
    assert seen() == "i" and not grid.pager.isVisible(), "of one pane there is nothing to choose"


def test_how_many_panes_there_are_and_which_is_chosen(qtbot: QtBot) -> None:
    grid, pager = (made := shown(qtbot, list("iabcdefgh"))), made.pager

    def seen() -> str:
        return "".join(key for key in grid.keys if grid.pane(key).isVisible())

    def choose(text: str) -> None:
        pager.menu.aboutToShow.emit()
        next(action for action in pager.menu.actions() if action.text() == text).trigger()

    choose("4 panes at once")
    assert seen() == "iabc" and pager.words.text() == "results 1–3 of 8"
    pager.turn(1)
    assert seen() == "idef"
    choose("2 panes at once")
    assert seen() == "id" and pager.words.text() == "result 4 of 8", "what was visible first stays"
    choose("One pane at once")
    assert len(seen()) == 1
    choose("9 panes at once")
    assert seen() == "iabcdefgh" and not pager.words.text()
    choose("Result b")
    choose("Result i")
    assert seen() == "acdefgh" and pager.words.text() == "2 left out"
    choose("6 panes at once")
    assert seen() == "acdefg" and pager.words.text() == "results 1–6 of 7 · 2 left out"
    choose("Show every pane")
    assert seen() == "iabcde" and pager.words.text() == "results 1–5 of 8"
    for key in "abcdefgh":
        pager.leave_out(key, True)
    pager.leave_out("i", True)
    assert seen() == "i", "the last pane stays"
    with pytest.raises(ValueError, match="1, 2, 4, 6, 9 panes at once, not 5"):
        pager.set_most(5)
    with qtbot.waitSignal(pager.reference_wanted):
        choose("Show the reference too")


def test_swipe(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b", "c"])
    qtbot.mouseClick(grid._modes.button(1), Qt.MouseButton.LeftButton)
    grid.set_pair("b", "c")
    canvas = grid.compare
    QApplication.processEvents()
    assert canvas.isVisible() and grid.mode == "swipe" and [x.title for x in canvas.layers] == ["Result b", "Result c"]
    grid.display.set_levels(0, 255)

    def columns() -> list[int]:
        picture = canvas.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        row = canvas.height() // 4
        return [picture.pixelColor(x, row).red() for x in range(picture.width())]

    middle = canvas.width() // 2
    assert columns()[middle - 20] == 10 and columns()[middle + 20] == 20
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(middle, 30))
    qtbot.mouseMove(canvas, QPoint(middle + 100, 30))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(middle + 100, 30))
    assert canvas.divider == pytest.approx((middle + 100) / canvas.width())
    assert columns()[middle + 20] == 10
    qtbot.keyClick(canvas, Qt.Key.Key_Comma)
    assert canvas.divider == pytest.approx((middle + 100) / canvas.width() - 0.02)


def test_flicker(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    grid.set_mode("flicker")
    canvas = grid.compare
    QApplication.processEvents()
    assert canvas.shown_name() == "Result a"
    qtbot.keyPress(canvas, Qt.Key.Key_Space)
    assert canvas.shown_name() == "Result b"
    canvas.grab()
    qtbot.keyRelease(canvas, Qt.Key.Key_Space)
    assert canvas.shown_name() == "Result a"
    qtbot.mousePress(grid.hold, Qt.MouseButton.LeftButton)
    assert canvas.shown_name() == "Result b"
    qtbot.mouseRelease(grid.hold, Qt.MouseButton.LeftButton)
    assert canvas.shown_name() == "Result a"
    grid.display.set_cursor(5, 5)
    assert "Result a: 0" in grid.values.text() and "Result b: 10" in grid.values.text()


def test_comparing_follows_new_results_and_keeps_the_zoom(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    grid.display.zoom_at(3, 20, 20)
    kept = grid.display.centre, grid.display.scale
    grid.set_mode("swipe")
    QApplication.processEvents()
    grid.compare.grab()
    grid.set_array("a", np.full((60, 80), 99, np.uint8), None, "Newer a")
    assert grid.compare.layers[0].title == "Newer a" and grid.compare.images == []
    grid.set_mode("side by side")
    QApplication.processEvents()
    assert (grid.display.centre, grid.display.scale) == kept and grid.compare.layers == []


def differing(qtbot: QtBot, a: Any, b: Any) -> PaneGrid:
    """Two panes with these pictures, and their difference shown."""
    grid = shown(qtbot, ["a", "b"])
    grid.set_array("a", a, None, "Result a")
    grid.set_array("b", b, None, "Result b")
    qtbot.mouseClick(grid._modes.button(3), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: grid.difference.distance is not None)
    return grid


def test_difference(qtbot: QtBot) -> None:
    ramp = np.tile(np.arange(80, dtype=np.uint8), (60, 1))
    grid = differing(qtbot, ramp, np.full((60, 80), 40, np.uint8))
    canvas, layer = grid.compare, grid.difference.layer
    assert grid.mode == "difference" and canvas.isVisible() and canvas.layers == [layer]
    assert layer.pyramid is not None and np.array_equal(layer.pyramid.array, ramp.astype(np.float32) - 40)
    assert layer.tone == canvas.legend and (layer.tone.low, layer.tone.high) == (-40, 40)
    assert canvas.notes.splitlines() == [
        "Result a − Result b",
        "largest −40 at x 0, y 0",
        "4740 of 4800 pixels differ (99 %)",
        "± 40, blue below, red above",
    ]
    assert "± 40" in canvas.accessibleName()
    image = canvas.grab().toImage()
    below, at, above = (image.pixelColor(canvas.screen_at(x + 0.5, 50).toPoint()) for x in (0, 40, 79))
    assert below.blue() > below.red() and above.red() > above.blue()
    assert max(at.getRgb()[:3]) - min(at.getRgb()[:3]) <= 4, "zero is in the middle of the map, which has no colour"
    grid.swap_pair()
    qtbot.waitUntil(lambda: grid.difference.distance is not None)
    assert layer.title == "Result b − Result a" and layer.value(79, 0) == [-39]


def test_one_outlier_leaves_no_difference_white(qtbot: QtBot) -> None:
    random = np.random.default_rng(0)
    one = random.normal(0, 1, (60, 80)).astype(np.float32)
    other = one + random.uniform(-2, 2, one.shape).astype(np.float32)
    other[7, 9] += 1e4
    grid = differing(qtbot, one, other)
    tone, figures = grid.difference.layer.tone, grid.difference.display.statistics
    assert tone is not None and tone.low == -tone.high and 1.9 < tone.high < 2.1
    image = grid.compare.grab().toImage()
    colours = {image.pixel(grid.compare.screen_at(x + 0.5, 50.5).toPoint()) for x in range(0, 80, 2)}
    assert len(colours) > 20
    assert grid.compare.notes.splitlines()[3].startswith(
        f"up to ± {number(grid.difference.distance.most)}; full colour"
    )
    assert figures is not None and sum(figures.histogram) == one.size


def test_levels_of_a_difference_are_set_as_others(qtbot: QtBot) -> None:
    random = np.random.default_rng(0)
    one, other = random.normal(0, 1, (2, 60, 80)).astype(np.float32)
    other[7, 9] += 1e4
    grid = differing(qtbot, one, other)
    bar, plain = HistogramBar(grid.difference.display), (grid.display.low, grid.display.high)
    qtbot.addWidget(bar)
    bar.show()
    assert not bar.maps.isVisible() and bar.low.value() == -bar.high.value()
    bar.full.click()
    assert grid.difference.layer.tone.high == grid.difference.distance.most > 9000
    bar.high.setValue(2)
    bar.high.setValue(0.5)
    assert (grid.difference.layer.tone.low, grid.difference.layer.tone.high) == (-0.5, 0.5)
    assert "full colour at ± 0.5" in grid.compare.notes and (grid.display.low, grid.display.high) == plain
    grid.set_array("b", other + 1, None, "Newer b")
    qtbot.waitUntil(lambda: grid.difference.layer.title.endswith("Newer b"))
    qtbot.waitUntil(lambda: not grid.difference._background.busy)
    assert grid.difference.display.high == 0.5, "what was set by hand stays while one pair is compared"
    grid.swap_pair()
    qtbot.waitUntil(lambda: grid.difference.distance is not None)
    assert 2 < grid.difference.display.high < 9


@pytest.mark.parametrize(
    "values, figures",
    [
        ([0, 0, 0, 5], (5.0, 5.0)),
        ([0.0] * 4, (0.0, 0.0)),
        ([np.nan] * 4, (0.0, 0.0)),
        ([1.0] * 900 + [np.inf, 50.0], (1.0, 50.0)),
    ],
)
def test_the_typical_difference(values: list[float], figures: tuple[float, float]) -> None:
    found = figures_of(np.array([values], np.float32), figures[1])
    assert found is not None and (found.typical(99.5), found.most) == figures


def test_difference_of_equal_pictures_and_of_new_results(qtbot: QtBot) -> None:
    same = np.arange(4800, dtype=np.uint16).reshape(60, 80)
    grid = differing(qtbot, same, same.copy())
    levels = grid.display.low, grid.display.high
    grid.display.zoom_at(3, 20, 20)
    kept = grid.display.centre, grid.display.scale
    assert grid.compare.notes.splitlines()[1] == "equal in every pixel" and grid.compare.legend is None
    other = same.copy()
    other[7, 9] += 3
    grid.set_array("a", other, None, "Newer a")
    qtbot.waitUntil(lambda: grid.compare.notes.startswith("Newer a") and "± 3" in grid.compare.notes)
    grid.compare.grab()
    assert (grid.display.centre, grid.display.scale) == kept and (grid.display.low, grid.display.high) == levels
    grid.set_mode("side by side")
    assert grid.difference.layer.pyramid is None and grid.difference.distance is None, (
        "nothing is kept that is not shown"
    )
    assert grid.compare.notes == "" and grid.compare.legend is None
    grid.set_array("a", same, None, "Newest a")
    assert not grid.difference._background.busy, "nothing is worked out that is not shown"


def test_difference_under_the_cursor(qtbot: QtBot) -> None:
    grid = differing(qtbot, np.full((60, 80), 7, np.uint8), np.full((60, 80), 9.5, np.float32))
    grid.display.set_cursor(5, 6)
    assert grid.values.text().split("   ") == ["x 5, y 6", "Result a: 7", "Result b: 9.5", "difference: −2.5"]
    grid.set_mode("swipe")
    assert "difference" not in grid.values.text()


def test_no_difference_of_other_shapes(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    grid.set_mode("difference")
    qtbot.waitUntil(lambda: grid.difference.distance is not None)
    grid.set_array("b", np.zeros((5, 6, 3), np.uint8), None, "small")
    assert grid.difference.layer.pyramid is None and grid.compare.legend is None
    assert "80 × 60 and 6 × 5 × 3: choose two" in grid.compare.missing
    grid.compare.grab()
    grid.set_array("b", np.zeros((60, 80), np.uint8), None, "again")
    qtbot.waitUntil(lambda: grid.difference.distance is not None)
    assert grid.compare.missing == "" and "equal" in grid.compare.notes


def test_difference_with_nan(qtbot: QtBot) -> None:
    holed: Any = np.zeros((60, 80))
    holed[0, 0], holed[1, 1] = np.nan, np.inf
    grid = differing(qtbot, holed, np.full((60, 80), 10, np.uint8))
    tone = grid.difference.layer.tone
    assert tone is not None and (tone.low, tone.high) == (-10, 10) and "2 non-finite pixels" in grid.compare.notes
    grid.set_array("b", holed, None, "same")
    qtbot.waitUntil(lambda: "except for 2 non-finite pixels" in grid.compare.notes)


def test_the_latest_difference_wins(qtbot: QtBot) -> None:
    large = np.zeros((1500, 1500), np.float32)
    grid = differing(qtbot, large, large)
    for value in (1, 2, 3):
        grid.set_array("a", large + np.float32(value), None, "a")
    qtbot.waitUntil(lambda: not grid.difference._background.busy)
    assert grid.difference.distance is not None and grid.difference.distance.most == 3


def test_the_thread_of_the_window_does_not_subtract(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def watched(*given: Any) -> Any:
        threads.append(threading.get_ident())
        return distance(*given)

    monkeypatch.setattr("app.models.pictures.difference.distance", watched)
    differing(qtbot, np.zeros((9, 9), np.uint8), np.ones((9, 9), np.uint8))
    assert len(threads) == 1 and threads[0] != threading.get_ident()


def test_distance_is_signed_and_exact() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (2, 700, 900)).astype(np.uint8)
    found = distance(a, b)
    assert found is not None and np.array_equal(found.values, a.astype(np.float32) - b)
    assert found.most == np.abs(a.astype(int) - b).max() and found.undefined == 0 and not found.equal
    big = np.full((2, 2), 1e9)
    exact = distance(big + 0.25, big)
    assert exact is not None and (exact.values == 0.25).all() and exact.most == 0.25
    tiny = distance(np.full((2, 2), 1e-200), np.zeros((2, 2), np.float32))
    assert tiny is not None and not tiny.equal and tiny.values.all(), "what differs is not rounded to zero"
    assert distance(a, b, lambda: True) is None
    with pytest.raises(ValueError, match="shapes differ"):
        distance(a, b[1:])


def test_distance_of_colours_is_of_the_channel_that_differs_most() -> None:
    a, b = np.zeros((1, 3, 3), np.float32), np.zeros((1, 3, 3), np.float32)
    a[0, 0], b[0, 1], a[0, 2] = (1, 0, 5), (2, 7, 0), (9, np.nan, 0)
    found = distance(a, b)
    assert found is not None and found.values[0, :2].tolist() == [5, -7] and np.isnan(found.values[0, 2])
    assert found.most == 7 and found.undefined == 1


# Two in one place


def test_the_divider_of_a_swipe_lies_level_where_that_is_chosen(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"])
    grid.display.set_levels(0, 255)
    grid.set_array("b", np.full((60, 80), 200, np.uint8), None, "Result b")
    grid.set_mode("swipe")
    qtbot.mouseClick(grid.bar.level, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    canvas = grid.compare
    middle = canvas.height() // 2

    def column() -> list[int]:
        drawn = canvas.grab().toImage()
        return [drawn.pixelColor(canvas.width() // 4, y).red() for y in range(canvas.height())]

    assert column()[middle - 20] == 0 and column()[middle + 20] == 200
    at = canvas.width() // 3
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(at, middle))
    qtbot.mouseMove(canvas, QPoint(at, middle + 60))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(at, middle + 60))
    assert column()[middle + 40] == 0 and column()[middle + 80] == 200
    assert canvas.cursor().shape() == Qt.CursorShape.SplitVCursor


def test_options_stay_as_they_are_left(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b"], (800, 900))
    assert not grid.bar.options.isVisible()
    grid.set_mode("swipe")
    assert grid.limits.isVisible() and not grid.styles.isVisible()
    grid.set_mode("difference")
    assert grid.limits.isVisible() and grid.styles.isVisible()
    qtbot.mouseClick(grid.bar.options, Qt.MouseButton.LeftButton)
    grid.set_mode("swipe")
    assert not grid.limits.isVisible() and grid.bar.options.isVisible()
    low = shown(qtbot, ["a", "b"], (800, 300))
    low.set_mode("difference")
    assert not low.styles.isVisible() and not low.bar.options.isChecked(), "a low window leaves the room to the picture"


# Values in pixels


@pytest.mark.parametrize(
    "value, text",
    [(0, "0"), (255, "255"), (-3, "−3"), (0.12345, "0.123"), (1e-9, "1e−09"), (np.nan, "NaN"), (2.5e7, "2.5e+07")],
)
def test_values_in_few_letters(value: float, text: str) -> None:
    assert value_text(value) == text


def test_large_pixels_have_their_values(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a"])
    grid.display.set_levels(0, 255)
    values = np.full((60, 80), 250, np.uint8)
    grid.set_array("a", values, None, "Result a")
    canvas = grid.pane("a").canvas

    def inks(scale: float) -> int:
        grid.display._go(40.5, 30.5, scale)
        grid.display.following = False
        drawn, at = canvas.grab().toImage(), canvas.screen_at(40, 30).toPoint()
        side = round(1 / scale)
        box = [drawn.pixelColor(at.x() + x, at.y() + y).red() for x in range(2, side - 2) for y in range(2, side - 2)]
        return sum(red < 100 for red in box)

    assert inks(1 / 60) > 10, "dark letters on a light pixel"
    assert inks(1 / 12) == 0
    grid.set_array("a", np.zeros((60, 80), np.uint8), None, "Result a")
    grid.display._go(40.5, 30.5, 1 / 60)
    drawn, at = canvas.grab().toImage(), canvas.screen_at(40, 30).toPoint()
    light = sum(drawn.pixelColor(at.x() + x, at.y() + y).red() > 150 for x in range(60) for y in range(60))
    assert light > 10, "light letters on a dark pixel"
    grid.set_array("a", np.zeros((60, 80, 3), np.float32), None, "Result a")
    grid.display._go(79.5, 0.5, 1 / 60)
    canvas.grab()  # a pixel at the edge, of three values


def test_values_are_laid_out_again_only_when_something_changes(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a"])
    grid.set_array("a", np.arange(4800, dtype=np.float32).reshape(60, 80), None, "Result a")
    canvas, display = grid.pane("a").canvas, grid.display
    display.set_levels(0, 4800)
    display._go(40.5, 30.5, 1 / 60)

    def laid() -> object:
        canvas.grab()
        return canvas.laid[0]

    first = laid()
    display.set_cursor(41.5, 31.5)
    display.pan(0.05, 0.05)
    assert laid() is first, "the same pixels, moved by a part of one"
    found = [first]
    for change in (
        lambda: display.set_levels(4800, 9000),  # a dark picture
        lambda: display.pan(3, 0),
        lambda: display.zoom_at(1.5, *display.centre),
        lambda: grid.set_array("a", np.zeros((60, 80), np.float32), None, "Result a"),
    ):
        change()
        found.append(laid())
    assert len(set(map(id, found))) == 5


def test_letters_that_a_font_lacks_are_drawn_one_by_one(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = shown(qtbot, ["a"])
    grid.set_array("a", np.full((60, 80), -250.0, np.float32), None, "Result a")
    grid.display.set_levels(-1000, -500)  # a light picture
    grid.display._go(40.5, 30.5, 1 / 60)
    canvas = grid.pane("a").canvas

    def ink() -> int:
        drawn = canvas.grab().toImage()
        return sum(
            drawn.pixelColor(x, canvas.height() // 2 + y).red() < 100 for x in range(300) for y in range(-30, 30)
        )

    whole = ink()
    canvas.laid.clear()
    monkeypatch.setattr(QRawFont, "glyphIndexesForString", lambda _font, letter: [0])
    assert whole > 50 and abs(ink() - whole) < whole / 2 and canvas.laid[0].cells


def test_a_picture_is_not_compared_with_itself_once_there_is_another(qtbot: QtBot) -> None:
    """After another filter is chosen there is only the input for a moment."""
    grid = shown(qtbot, ["input", "a", "b"])
    grid.set_mode("difference")
    grid.set_pair("input", "b")
    grid.set_panes(["input"])
    grid.set_panes(["input", "c", "d"])
    for key in ("input", "c", "d"):
        grid.set_array(key, np.zeros((60, 80), np.uint8), None, key)
    assert [box.currentData() for box in (grid.first, grid.second)] == ["input", "c"]
    assert [layer.title for layer in grid.difference.layers] == ["input", "c"]


def test_an_automatic_range_says_so_before_it_is_known(qtbot: QtBot) -> None:
    limits = AgreementLimits(Agreement())
    qtbot.addWidget(limits)
    span = limits.span
    assert span.text() == "auto", "0 would be a range of nothing"
