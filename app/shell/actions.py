"""Builds the actions from the registry that menus, toolbar, palette, shortcut sheet and tests share."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QPalette

from app.base.icons import icon
from app.base.theme import boxes
from app.base.tips import set_tip
from app.shell.action_spec import ActionSpec
from app.shell.action_specs import ACTIONS
from app.shell.menus import MENUS, TOOLBAR
from app.views.dialogs.offers import REASON

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu, QMenuBar, QToolBar

__all__ = [
    "ACTIONS",
    "MENUS",
    "TOOLBAR",
    "ActionSpec",
    "build_actions",
    "fill_menu_bar",
    "fill_toolbar",
    "give_reason",
    "set_icons",
    "shortcut_sheet_html",
]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Actions", text)


def build_actions(parent: QObject) -> dict[str, QAction]:
    """A QAction for every spec, by id. Groups and actions belong to the parent."""
    groups: dict[str, QActionGroup] = {}
    actions: dict[str, QAction] = {}
    for spec in ACTIONS:
        action = QAction(_tr(spec.text), parent)
        action.setObjectName(f"action.{spec.id}")
        action.setShortcuts([QKeySequence(keys) for keys in spec.shortcuts])
        action.setMenuRole(spec.role)
        action.setData(spec.data or spec.id)
        action.setCheckable(spec.checkable)
        action.setStatusTip(_tr(spec.tip))
        give_reason(action, "")
        if spec.group:
            if spec.group not in groups:
                groups[spec.group] = QActionGroup(parent)
                groups[spec.group].setObjectName(f"group.{spec.group}")
            groups[spec.group].addAction(action)
        action.setChecked(spec.checked)
        actions[spec.id] = action
    return actions


def give_reason(action: QAction, reason: str) -> None:
    """Show in the tip of an action why it is disabled; "" for an enabled one. The palette reads it from the
    property."""
    tip, keys = action.statusTip(), action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    tip = f"{tip} ({keys})" if keys else tip
    set_tip(action, _tr("{tip}\nNot now: {reason}").format(tip=tip, reason=reason) if reason else tip)
    action.setProperty(REASON, reason)


def set_icons(actions: Mapping[str, QAction], palette: QPalette) -> None:
    """Give the actions their icons in the palette's colours; call it again when the palette changes."""
    for spec in ACTIONS:
        if spec.icon:
            actions[spec.id].setIcon(icon(spec.icon, palette))
            actions[spec.id].setIconVisibleInMenu(False)


def fill_menu_bar(menu_bar: QMenuBar, actions: Mapping[str, QAction]) -> dict[str, QMenu]:
    """Every menu with its actions. Returns the menus by path, so that a window can add samples and recent files."""
    menus: dict[str, QMenu] = {}
    for path, title, _ in MENUS:
        if "/" not in path:
            menus[path] = menu_bar.addMenu(_tr(title))
            _fill(menus, path, actions)
    for path, menu in menus.items():
        menu.setObjectName(f"menu.{path}")
        menu.setToolTipsVisible(True)
        menu.setStyle(boxes())
    return menus


def _fill(menus: dict[str, QMenu], path: str, actions: Mapping[str, QAction]) -> None:
    """Actions in the registry's order, each submenu after the action it follows."""
    menu = menus[path]
    for spec in (s for s in ACTIONS if s.menu == path):
        if spec.separator:
            menu.addSeparator()
        menu.addAction(actions[spec.id])
        for sub, title, after in MENUS:
            if after == spec.id:
                menus[sub] = menu.addMenu(_tr(title))
                _fill(menus, sub, actions)


def fill_toolbar(toolbar: QToolBar, actions: Mapping[str, QAction]) -> None:
    """The toolbar's actions and separators."""
    toolbar.setObjectName("toolbar.main")
    for id in TOOLBAR:
        if id:
            toolbar.addAction(actions[id])
            if actions[id].isCheckable():
                toolbar.widgetForAction(actions[id]).setStyle(boxes())
        else:
            toolbar.addSeparator()


def shortcut_sheet_html(actions: Mapping[str, QAction]) -> str:
    """Every action with a key, menu by menu, as HTML without colours of its own."""
    lines = []
    for path, title, _ in MENUS:
        rows = [
            f"<tr><td><b>{escape(_keys(actions[s.id]))}</b></td><td>{escape(_plain(actions[s.id].text()))}</td>"
            f"<td>{escape(actions[s.id].statusTip())}</td></tr>"
            for s in ACTIONS
            if s.menu == path and s.shortcuts
        ]
        if rows:
            heading = escape(_plain(_tr(title)))
            lines += [f"<tr><td colspan='3'><h3>{heading}</h3></td></tr>", *rows]
    return f"<table width='100%' cellpadding='3'>{''.join(lines)}</table>"


def _keys(action: QAction) -> str:
    return "  ·  ".join(k.toString(QKeySequence.SequenceFormat.NativeText) for k in action.shortcuts())


def _plain(text: str) -> str:
    """A text without its mnemonic mark."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")
