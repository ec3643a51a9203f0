"""The descriptions of panels and docks, independent of a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.shell.context import Context
from app.views.window.dock_sizes import DefaultSize

W = TypeVar("W", bound=QWidget)


@dataclass(frozen=True)
class DockSpec:
    """A dock for panels at the window's edge. Titles are in English here and translated when the dock is created.

    Several panels in one dock are tabs, and `tabs` is their common name. A dock with `behind` shares the area of that
    other dock; `shown` says whether it is open at first.
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
    """One panel: `make(context, parent)` creates it; a `lazy` one is created when it is first visible.

    `dock` is a DockSpec's id; `scrolled` says whether it scrolls where there is too little space, as lazy ones do.
    `help` is the place of the guide that describes it.
    """

    id: str
    title: str
    dock: str
    make: Callable[[Context, QWidget], W]
    lazy: bool = False
    scrolled: bool = False
    help: str = ""
