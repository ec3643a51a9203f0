"""Several panes: layout, comparing, difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.display import Display
from app.views.panes import PaneGrid, best_columns


def shown(qtbot: QtBot, keys: list[str], size: tuple[int, int] = (800, 600)) -> PaneGrid:
    display = Display()
    grid = PaneGrid(display)
    display.setParent(grid)
    qtbot.addWidget(grid)
    grid.resize(*size)
    grid.set_panes(keys)
    for index, key in enumerate(keys):
        if key != "difference":
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
    with pytest.raises(ValueError, match="at most 6"):
        grid.set_panes(list("abcdefg"))


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
    assert "Result a 0" in grid.values.text() and "Result b 10" in grid.values.text()


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


def test_difference(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b", "difference"])
    with qtbot.waitSignal(grid._difference.finished):
        grid.set_difference("b", "a")
    pane = grid.pane("difference")
    assert pane.layer.pyramid is not None and pane.layer.tone is not None
    assert pane.layer.pyramid.array.dtype == np.float32 and (pane.layer.pyramid.array == 10).all()
    assert (pane.layer.tone.low, pane.layer.tone.high) == (-10, 10)
    assert pane.layer.title == "Result b − Result a" and "± 10" in pane.overlay
    levels = grid.display.low, grid.display.high
    with qtbot.waitSignal(grid._difference.finished):
        grid.set_difference("a", "a")
    assert pane.overlay == "no difference" and (grid.display.low, grid.display.high) == levels
    pane.grab()


def test_no_difference_of_other_shapes(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b", "difference"])
    grid.set_array("b", np.zeros((5, 5), np.uint8), None, "small")
    with qtbot.waitSignal(grid._difference.failed):
        grid.set_difference("a", "b")
    assert grid.pane("difference").layer.state == "failed"


def test_difference_with_nan(qtbot: QtBot) -> None:
    grid = shown(qtbot, ["a", "b", "difference"])
    holed: Any = np.zeros((60, 80))
    holed[0, 0], holed[1, 1] = np.nan, np.inf
    grid.set_array("a", holed, None, "holed")
    with qtbot.waitSignal(grid._difference.finished):
        grid.set_difference("a", "b")
    tone = grid.pane("difference").layer.tone
    assert tone is not None and (tone.low, tone.high) == (-10, 10)
