"""What an action is, before there is a window for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from PySide6 import QtCore
from PySide6.QtGui import QAction

QT_TRANSLATE_NOOP = cast(Callable[[str, str], str], QtCore.QT_TRANSLATE_NOOP)
"""Marks a text for the translators, who find it by this name, and gives it back."""


@dataclass(frozen=True)
class ActionSpec:
    """One action. Texts are in English here and translated when the action is built.

    `menu` is a path in MENUS. Actions that name the same `group` exclude each other; `checked` is how they start.
    `data` is what the action carries, for groups whose members differ only in that.
    """

    id: str
    text: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    tip: str = ""
    icon: str = ""
    checkable: bool = False
    checked: bool = False
    group: str = ""
    data: str = ""
    separator: bool = False
    role: QAction.MenuRole = QAction.MenuRole.NoRole
