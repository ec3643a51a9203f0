"""The parts of a window that actions use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu

from app.models.pictures.probe import Probe
from app.shell.context import Context
from app.views.dialogs.catalogue import Catalogue
from app.views.dialogs.command_palette import CommandPalette
from app.views.dialogs.guide_catalogue import GuideCatalogue
from app.views.dialogs.page_window import Pages
from app.views.dialogs.recent_menu import RecentMenu
from app.views.pictures.clipboard import PasteFile
from app.views.results.pictures import Pictures
from app.views.window.docks import Docks
from app.views.window.full_screen import FullScreen


@dataclass(frozen=True, eq=False)
class WindowParts:
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
    full_screen: FullScreen
