"""The page of all keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.shell.actions import shortcut_sheet_html
from app.views.pages import TextPage


class ShortcutsPage(TextPage):
    """A sheet that is built from the actions themselves, so that it is never out of date."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__("shortcuts_page", "", parent)
        self.setWindowTitle(self.tr("Shortcuts"))
        self.browser.setAccessibleName(self.tr("Shortcuts"))
        self.summary.setText(self.tr("Arrow keys, Tab and Space work in every list; ? opens this page, F1 the guide."))
        self._actions = actions
        self.refresh()

    def html(self) -> str:
        return shortcut_sheet_html(self._actions)
