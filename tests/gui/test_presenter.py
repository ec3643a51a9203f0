"""Light, dark and large type in the whole window: what grows, what comes back, and what must not be cut off."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolBar
from simulated_rows import SIM
from xray_answers import show, window_with

from app.base import theme
from app.base.letter_sizes import sizes
from app.controllers.look import Appearance
from app.views.comparing.compare_bar import NAME
from app.views.experiment.panel import LONGEST_WORD
from app.views.scrolled import Scrolled
from app.views.upright import Upright
from app.views.window.main_window import MainWindow
from app.views.window.panels import TABLE
from gpu_ops import from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def engine(plain_look: None) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    window = make(qtbot, engine, look=Appearance(QApplication.instance(), "light"))
    window.resize(1280, 800)
    qtbot.wait(50)
    return window


def test_icons_have_the_colour_of_the_new_scheme_at_once(window: MainWindow) -> None:
    act(window, "scheme_dark")
    image = window.actions_by_id["open"].icon().pixmap(48, 48).toImage()
    inks = {
        image.pixelColor(x, y).name() for x in range(48) for y in range(48) if image.pixelColor(x, y).alpha() == 255
    }
    assert inks == {theme.palette(Qt.ColorScheme.Dark).color(QPalette.ColorRole.ButtonText).name()}


def test_panels_and_icons_grow_and_come_back(qtbot, window: MainWindow) -> None:
    toolbar = window.findChild(QToolBar)
    window.resize(2200, 900)
    qtbot.wait(300)

    def sizes() -> tuple[int, int, int]:
        return window.experiment_dock.width(), window.timing_dock.width(), toolbar.iconSize().width()

    plain = sizes()
    for _ in range(2):
        act(window, "presenter")
        qtbot.waitUntil(lambda: all(a > 1.3 * b for a, b in zip(sizes(), plain, strict=True)))
        qtbot.wait(300)
        act(window, "presenter")
        qtbot.waitUntil(lambda: sizes() == plain)
        qtbot.wait(300)


LATE = ("findingsDetails", "Buttons scale")
"""Parts that have their sizes only once they are shown."""


def alike(one: list[int], other: list[int]) -> bool:
    """Whether sizes are equal, but for what is rounded and for the widths of letters that do not all grow alike."""
    return all(abs(a - b) <= max(5, 0.06 * a) for a, b in zip(one, other, strict=True))


def named_sizes(window: MainWindow) -> dict[str, list[int]]:
    """Margins, gaps and least sizes by the place of their owner."""
    found: dict[str, list[int]] = {}
    for size in sizes(window):
        names, owner = [size.name], size.owner
        while owner is not window:
            names.append(f"{type(owner).__name__} {owner.objectName()}")
            owner = owner.parent()
        found.setdefault(" < ".join(names), []).append(size.read())
    return {name: sorted(values) for name, values in found.items()}


def test_margins_and_least_sizes_follow_the_letters(qtbot, engine: FakeEngine) -> None:
    """A window that began with large letters looks like one that did not, once they are small, and the other way
    round."""

    def begun(large: bool) -> MainWindow:
        made = make(qtbot, FakeEngine(), look=Appearance(QApplication.instance(), "light", presenter=large))
        made.controller._engine.show(from_array(np.eye(9, dtype=np.uint8), name="x"))
        qtbot.wait(20)
        return made

    with_large = begun(True)
    with_small = begun(False)  # the letters of both are small now
    small = named_sizes(with_small)
    for large in (False, True, False):
        with_small.look.set_presenter(large)
        qtbot.wait(20)
        one, other = named_sizes(with_large), named_sizes(with_small)
        names = [name for name in one if name in other and not any(late in name for late in LATE)]
        apart = {name: (one[name], other[name]) for name in names if not alike(one[name], other[name])}
        assert len(names) > 300 and not apart
    again = named_sizes(with_small)
    assert all(again[name] == small[name] for name in names)


def test_a_docks_title_grows_and_comes_back(qtbot, window: MainWindow) -> None:
    dock = window.experiment_dock

    def height() -> int:
        """That of what is written above the panel's content, in pixels."""
        title = dock.grab().toImage().copy(0, 0, dock.width() // 2, dock.widget().geometry().top())
        ground = title.pixelColor(0, 0)
        inked = (
            any(theme.contrast(title.pixelColor(x, y), ground) > 3 for x in range(2, title.width()))
            for y in range(title.height())
        )
        return sum(inked)

    plain = height()
    assert plain > 5
    act(window, "presenter")
    qtbot.waitUntil(lambda: height() > 1.3 * plain)
    act(window, "presenter")
    qtbot.waitUntil(lambda: height() == plain)


def test_a_page_grows_and_comes_back(qtbot, window: MainWindow) -> None:
    page = window.parts.pages["shortcuts"]
    page.present()
    page.resize(500, 300)
    plain = page.size()
    act(window, "presenter")
    qtbot.waitUntil(lambda: page.width() > 1.3 * plain.width() and page.height() > 1.3 * plain.height())
    act(window, "presenter")
    qtbot.waitUntil(lambda: page.size() == plain)


def test_the_panel_is_never_narrower_than_what_is_in_it(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    name = "x" * 90 + ".png and more"
    engine.show(from_array(np.eye(9, dtype=np.uint8), name=name))
    columns = window.panel.findChildren(Upright)
    for large in (False, True):
        window.look.set_presenter(large)
        window.resizeDocks([window.experiment_dock], [1], Qt.Orientation.Horizontal)
        assert len(columns) == 2
        for column in columns:
            qtbot.waitUntil(lambda c=column: c.viewport().width() >= c.widget().minimumSizeHint().width())
        assert window.experiment_dock.width() < window.width() / 2
    label = window.panel.input_label
    assert label.toolTip() == name and "….png" not in label.text() and "xxx.png and more" in label.text()
    assert max(map(len, label.text().replace("<b>", "").split("<br>")[0].split(" "))) <= LONGEST_WORD + len("</b>")


def test_a_panel_with_room_does_not_scroll_twice(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    window.resize(900, 600)
    engine.show(from_array(np.eye(9, dtype=np.uint8), name="a very long name of a file as microscopes write them.png"))
    outer, inner = window.panel.findChildren(Upright)
    qtbot.waitUntil(lambda: inner.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: outer.verticalScrollBar().maximum() == 0)


def test_headings_of_the_table_are_explained(window: MainWindow) -> None:
    model = window.docks[TABLE].model()
    tips = {
        model.headerData(c, Qt.Orientation.Horizontal): model.headerData(
            c, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
        )
        for c in range(model.columnCount())
    }
    assert all(tips[name] for name in ("kernel", "quartile 1", "n", "GB/s", "of roof", "pinned", "error", "verdict"))
    assert tips["variant"] is None


@pytest.mark.parametrize("presenter", (False, True))
def test_all_tabs_of_the_xray_are_in_sight(qtbot, engine: FakeEngine, presenter: bool) -> None:
    """Also where a profile and a shipped kernel have theirs."""
    window = window_with(qtbot, engine, (SIM,))
    window.look.set_presenter(presenter)
    window.resize(1280, 720)
    show(qtbot, window, engine)
    panel = window.xray_panel
    qtbot.waitUntil(lambda: window.xray_dock.width() < 0.4 * window.width())
    for more in (False, True):
        for page in (panel.profile, panel.example):
            panel.tabs.setTabVisible(panel.tabs.indexOf(page), more)
        qtbot.wait(50)
        own = [button for button in panel.tabs.buttons() if not button.isHidden()]
        assert len(own) == 8 + 2 * more
        assert all(button.visibleRegion().boundingRect() == button.rect() for button in own[:8]), "cut"
        assert all(button.width() >= button.sizeHint().width() for button in own), "narrowed"
        assert panel.rect().contains(QRect(own[-1].mapTo(panel, QPoint()), own[-1].size()))
        assert len({tuple(button.geometry().getRect()) for button in own}) == len(own)


def test_a_click_on_a_tab_takes_the_focus(qtbot, engine: FakeEngine) -> None:
    """Else the arrow keys would change what had it before, such as the filter."""
    window = window_with(qtbot, engine, (SIM,))
    show(qtbot, window, engine)
    button = window.xray_panel.tabs.button(window.xray_panel.accesses)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.focusWidget() is button and window.xray_panel.tabs.currentWidget() is window.xray_panel.accesses


def test_a_low_screen_scrolls_the_report_and_not_the_panel_around_it(qtbot, engine: FakeEngine) -> None:
    """Pages behind it, which need more, do not count."""
    window = window_with(qtbot, engine, (SIM,))
    window.look.set_presenter(True)
    window.resize(1280, 720)
    show(qtbot, window, engine)
    panel = window.xray_panel
    window.full_screen.show_only(panel)
    qtbot.waitUntil(lambda: panel.width() > 1000)
    around = panel.parentWidget().parentWidget()
    assert isinstance(around, Scrolled)
    qtbot.waitUntil(lambda: around.verticalScrollBar().maximum() == 0)
    panel.tabs.setCurrentWidget(panel.accesses)
    qtbot.waitUntil(lambda: panel.accesses.height() >= panel.accesses.minimumSizeHint().height())


def test_names_and_buttons_of_a_comparison_are_whole(qtbot, engine: FakeEngine, window: MainWindow) -> None:
    engine.show(from_array(np.eye(40, dtype=np.uint8), name="eye"))
    window.resize(1280, 720)
    act(window, "presenter")
    act(window, "compare_difference")
    window.docks.show("own_kernel")
    bar = window.panes.bar
    qtbot.waitUntil(lambda: window.panes.width() < 0.4 * window.width())
    least = NAME * bar.fontMetrics().averageCharWidth()
    qtbot.waitUntil(lambda: min(bar.first.width(), bar.second.width()) >= least)
    for part in (bar.first, bar.second, bar.keep, bar.options):
        qtbot.waitUntil(lambda part=part: part.visibleRegion().boundingRect() == part.rect())
