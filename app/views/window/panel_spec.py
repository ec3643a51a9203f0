"""What a panel is, before there is a window for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.context import Context
from app.views.window.dock_sizes import DefaultSize

W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True)
class DockSpec:
    """A place for panels at the window's edge. Titles are in English here and translated when the place is made.

    Several panels in one place are `tabs`, which are called so together. It lies `behind` another where it shares that
    one's room; `shown` is how it starts.
    """

    id: str
    title: str
    area: Qt.DockWidgetArea
    size: DefaultSize
    tabs: str = ""
    behind: str = ""
    shown: bool = True


@dataclass(frozen=True, eq=False)
class PanelSpec(Generic[W]):
    """One panel: `make(context, parent)` gives it. A `lazy` one is made when somebody looks at it first.

    `dock` is a DockSpec's id; `scrolled` whether it scrolls where there is too little room, as lazy ones do.
    """

    id: str
    title: str
    dock: str
    make: Callable[[Context, QWidget], W]
    lazy: bool = False
    scrolled: bool = False
