"""The menu of the right mouse button and of the menu key on pictures and curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fake_engine import FakeEngine, make
from live import pause
from made_results import RATE, Made, bring, picture, wave
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.models.pictures.probe import Line
from app.models.pictures.viewport import Rect
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

AXES = Axis("y", "px"), Axis("x", "px")
Reason = QContextMenuEvent.Reason
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support (raise|grabbing)", extend=True)


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def window(qtbot: Any) -> Iterator[MainWindow]:
    window = make(qtbot, FakeEngine())
    controller: Any = window.controller
    controller._engine.show(Input("image", picture(), "yx", "waves", {"generator": "waves"}))
    controller.session.set_filter("mean2d")
    controller.session.set_picks(("serial", "parallel"))
    bring(window, "serial", {"image": Made("image", picture() // 2, AXES)})
    pause()
    yield window
    window.context_menus.menu.close()


def ask(window: MainWindow, widget: QWidget, point: QPoint, reason: Reason = Reason.Mouse) -> list[str]:
    """Open the menu at a point of a widget; the ids of its actions."""
    QApplication.sendEvent(widget, QContextMenuEvent(reason, point, widget.mapToGlobal(point)))
    return names(window)


def names(window: MainWindow) -> list[str]:
    menu = window.context_menus.menu
    return [a.objectName().removeprefix("action.") or a.text() for a in menu.actions() if not a.isSeparator()]


def test_the_menu_of_a_picture_has_the_actions_of_the_window(window: MainWindow) -> None:
    canvas = window.panes.pane("serial").canvas
    found = ask(window, canvas, canvas.screen_at(8.5, 4.5).toPoint())
    menu = window.context_menus.menu
    assert menu.isVisible() and canvas.hasFocus()
    assert {"copy_image", "fit", "one_to_one", "region", "profile", "compare_swipe", "export_view"} <= set(found)
    assert "levels_region" not in found and "scale_bar" not in found  # there is no region, and no pixel size
    assert window.actions_by_id["compare_swipe"] in menu.actions()  # the window's own, with its key
    assert found[-1] == f"&Hide {window.controller.session.filter.variant('serial').title}"


def test_values_at_the_point_are_copied(window: MainWindow) -> None:
    canvas = window.panes.pane(INPUT).canvas
    ask(window, canvas, canvas.screen_at(8.5, 4.5).toPoint())
    window.context_menus.copy_values.trigger()
    title = window.controller.session.filter.variant("serial").title
    value = int(picture()[4, 8])
    assert QApplication.clipboard().text() == f"waves\tx 8, y 4: {value}\n{title}\tx 8, y 4: {value // 2}\n"


def test_hide_takes_the_tick_and_undo_brings_it_back(window: MainWindow) -> None:
    session, canvas = window.controller.session, window.panes.pane("serial").canvas
    ask(window, canvas, QPoint(20, 20))
    window.context_menus.hide_variant.trigger()
    assert session.choice.picks == ("parallel",)
    session.undo()
    assert session.choice.picks == ("serial", "parallel")


def test_the_input_cannot_be_hidden_and_a_region_adds_entries(window: MainWindow) -> None:
    probe, canvas = window.probing.probe, window.panes.pane(INPUT).canvas
    probe.set_region(Rect(2, 2, 9, 9))
    probe.set_line(Line(1, 1, 5, 5))
    found = ask(window, canvas, QPoint(20, 20))
    assert {"levels_region", "remove_region"} <= set(found) and not any("Hide" in name for name in found)
    window.actions_by_id["remove_region"].trigger()
    assert not probe.any
    window.context_menus.menu.close()
    assert "levels_region" not in ask(window, canvas, QPoint(20, 20))


def test_the_menu_key_opens_the_menu_of_the_focus(window: MainWindow) -> None:
    canvas = window.panes.pane("serial").canvas
    canvas.setFocus()
    window.display.clear_cursor()
    found = ask(window, canvas, QPoint(0, 0), Reason.Keyboard)
    assert window.context_menus.menu.isVisible() and found[-1].startswith("&Hide")
    assert not window.context_menus.copy_values.isEnabled()  # the mouse points nowhere


def test_comparisons_have_the_menu_too(window: MainWindow) -> None:
    window.actions_by_id["compare_difference"].trigger()
    pause()
    found = ask(window, window.panes.compare, QPoint(60, 60))
    assert {"swap", "compare_side_by_side"} <= set(found) and not any("Hide" in name for name in found)


def test_elsewhere_there_is_no_menu(window: MainWindow) -> None:
    ask(window, window.stack.bar, QPoint(1, 1))
    ask(window, window.panes.pane(INPUT).status, QPoint(1, 1))
    assert not window.context_menus.menu.isVisible()


def test_curves_have_a_menu_and_the_right_button_does_not_drag(window: MainWindow) -> None:
    controller: Any = window.controller
    controller._engine.show(Input("signal", wave(), "t", "tone", {"generator": "tone"}, rate=RATE))
    controller.session.set_filter("mean1d")
    controller.session.set_picks(("serial",))
    bring(window, "serial", {"signal": Made("signal", wave(), (Axis("time", "s", 0, 1 / RATE),), image=False)})
    pause()
    pane = window.signal_pane
    viewport, before = pane.plot.viewport(), pane.view_range()
    QTest.mouseMove(viewport, QPoint(150, 80))
    QTest.mousePress(viewport, Qt.MouseButton.RightButton, pos=QPoint(150, 80))
    QTest.mouseMove(viewport, QPoint(190, 80))
    assert pane.view_range() == before
    found = ask(window, viewport, QPoint(190, 80))
    assert window.context_menus.menu.isVisible() and pane.plot.hasFocus()
    assert {"copy_image", "fit", "region", "export_view"} <= set(found) and "profile" not in found
    window.context_menus.copy_values.trigger()
    assert QApplication.clipboard().text().startswith("time ")
    QTest.mouseRelease(viewport, Qt.MouseButton.RightButton, pos=QPoint(190, 80))
