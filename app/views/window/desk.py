"""The parts of a window that actions use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu

from app.context import Context
from app.models.probe import Probe
from app.views.results.clipboard import PasteFile
from app.views.results.pictures import Pictures
from app.views.window.catalogue import Catalogue
from app.views.window.command_palette import CommandPalette
from app.views.window.docks import Docks
from app.views.window.guide_catalogue import GuideCatalogue
from app.views.window.page_window import Pages
from app.views.window.recent_menu import RecentMenu


@dataclass(frozen=True, eq=False)
class Desk:
    """The parts of a window that its actions use. `actions` are by id, `menus` by path."""

    context: Context
    window: QMainWindow
    pictures: Pictures
    docks: Docks
    pages: Pages
    actions: Mapping[str, QAction]
    menus: Mapping[str, QMenu]
    recent: RecentMenu
    catalogue: Catalogue
    guide: GuideCatalogue
    palette: CommandPalette
    pasted: PasteFile
    probe: Probe
