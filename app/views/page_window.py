"""A window of its own for a page that is read beside the main one."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget


class PageWindow(QDialog):
    """Shows a page without stopping the main window; closing hides it, so that it is made once."""

    def __init__(self, page: QWidget, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.page = page
        self.setObjectName(name)
        self.setWindowTitle(page.windowTitle())
        layout = QVBoxLayout(self)
        layout.addWidget(page)
        unit = self.fontMetrics().averageCharWidth()
        self.resize(unit * 110, unit * 90)

    def present(self) -> None:
        """Show it, in front."""
        self.show()
        self.raise_()
        self.activateWindow()
