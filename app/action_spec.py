"""What an action is, before there is a window for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtGui import QAction

from app.views.window.desk import Desk


@dataclass(frozen=True)
class ActionSpec:
    """One action and what it does. Texts are in English here and translated when the action is built.

    `menu` is a path in MENUS. Actions that name the same `group` exclude each other; `checked` is how they start.
    `data` is what the action carries, for groups whose members differ only in that. `able` says whether it can be done
    now and `on` whether its mark is set, where the models say so; both are asked whenever one of these changes. The
    keys of one that is `local` count while the pictures have the focus.
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
    do: Callable[[Desk], object] = field(kw_only=True)
    able: Callable[[Desk], bool] | None = None
    on: Callable[[Desk], bool] | None = None
