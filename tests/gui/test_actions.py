"""The registry of actions: complete, without clashes, and what menus, toolbar and sheet are made from."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.base import icons
from app.shell.actions import (
    ACTIONS,
    MENUS,
    TOOLBAR,
    build_actions,
    fill_menu_bar,
    fill_toolbar,
    set_icons,
    shortcut_sheet_html,
)

NEEDED = {
    *("open", "clear_recent", "paste_image", "copy_image", "save", "export_csv", "export_json", "export_png", "quit"),
    *("run", "measure", "cancel", "undo", "redo", "reset_parameters", "fit", "one_to_one", "zoom_in", "zoom_out"),
    *("swap", "levels_auto", "presenter", "reset_layout", "claims", "shortcuts", "diagnostics", "about", "palette"),
    *("preferences", "scheme_light", "scheme_dark", "scheme_system"),
}


@pytest.fixture
def window(qtbot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def actions(window: QMainWindow) -> dict[str, QAction]:
    return build_actions(window)


@pytest.fixture
def menus(window: QMainWindow, actions: dict[str, QAction]) -> dict[str, QMenu]:
    return fill_menu_bar(window.menuBar(), actions)


def test_ids_are_unique_and_complete() -> None:
    ids = [spec.id for spec in ACTIONS]
    assert len(ids) == len(set(ids))
    assert set(ids) >= NEEDED


def test_no_two_actions_share_a_key() -> None:
    keys = Counter(QKeySequence(k).toString() for spec in ACTIONS for k in spec.shortcuts)
    assert [k for k, n in keys.items() if n > 1] == []
    assert "" not in keys


def test_every_action_has_a_tip_and_is_in_its_menu(menus: dict[str, QMenu], actions: dict[str, QAction]) -> None:
    assert set(menus) == {path for path, _, _ in MENUS}
    for spec in ACTIONS:
        assert spec.tip and actions[spec.id] in menus[spec.menu].actions()


def test_no_two_entries_of_a_menu_share_a_mnemonic(menus: dict[str, QMenu], window: QMainWindow) -> None:
    for menu in [window.menuBar(), *menus.values()]:
        texts = [a.text() for a in menu.actions() if not a.isSeparator()]
        keys = [t[t.index("&") + 1].lower() for t in texts]
        assert len(keys) == len(set(keys)), texts


def test_keys_that_the_desktop_does_not_give(actions: dict[str, QAction]) -> None:
    assert actions["quit"].shortcut() == QKeySequence("Ctrl+Q")
    assert actions["preferences"].shortcut() == QKeySequence("Ctrl+,")
    assert actions["shortcuts"].shortcuts() == [QKeySequence("?"), QKeySequence("Shift+F1")]
    assert actions["help_here"].shortcut() == QKeySequence("F1")


def test_groups_exclude_each_other(actions: dict[str, QAction]) -> None:
    assert actions["compare_side_by_side"].isChecked() and actions["scheme_system"].isChecked()
    actions["compare_swipe"].trigger()
    assert not actions["compare_side_by_side"].isChecked() and actions["compare_swipe"].data() == "swipe"
    actions["presenter"].trigger()
    assert actions["presenter"].isChecked()


def test_a_key_triggers_its_action(window: QMainWindow, actions: dict[str, QAction], menus, qtbot) -> None:
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    with qtbot.waitSignal(actions["measure"].triggered):
        qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(actions["run"].triggered):
        qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_the_toolbar(window: QMainWindow, actions: dict[str, QAction]) -> None:
    toolbar = window.addToolBar("Tools")
    fill_toolbar(toolbar, actions)
    set_icons(actions, window.palette())
    shown = [a for a in toolbar.actions() if not a.isSeparator()]
    assert shown == [actions[id] for id in TOOLBAR if id]
    assert all(not a.icon().isNull() for a in shown)
    assert toolbar.objectName()


def test_every_icon_is_used_and_exists() -> None:
    used = {spec.icon for spec in ACTIONS if spec.icon}
    assert used == set(icons.names())


def test_the_sheet_names_every_key(actions: dict[str, QAction]) -> None:
    html = shortcut_sheet_html(actions)
    for spec in ACTIONS:
        for keys in spec.shortcuts:
            assert QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) in html
    assert "&O" not in html and "color" not in html
