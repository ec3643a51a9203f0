"""The description of an action, independent of a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtGui import QAction

from app.views.window.window_parts import WindowParts


@dataclass(frozen=True)
class ActionSpec:
    """One action and what it does. Texts are in English here and translated when the action is built.

    `menu` is a path in MENUS. Actions that name the same `group` exclude each other; `checked` is how they start.
    `data` is the action's value in groups whose members differ only in that. `able` returns whether the action is
    enabled and `on` whether it is checked, where that depends on the models; both are called after every change. `why`
    returns the reason to show while the action is disabled, else "". The keys of a `local` action work while the
    pictures have the focus.
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
    local: bool = False
    do: Callable[[WindowParts], object] = field(kw_only=True)
    able: Callable[[WindowParts], bool] | None = None
    on: Callable[[WindowParts], bool] | None = None
    why: Callable[[WindowParts], str] | None = None
