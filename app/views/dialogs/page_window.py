"""A separate window for a page that is read next to the main one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QDialog, QLayout, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.views.window.placing import put_on_screen


class PageWindow(QDialog):
    """Shows a page without blocking the main window; closing only hides it.

    Pages of text can be resized; one that `fits` always has the size of its content, in every font.
    """

    def __init__(self, page: QWidget, name: str, parent: QWidget, fits: bool = False) -> None:
        super().__init__(parent)
        self.page = page
        self.setObjectName(name)
        self.setWindowTitle(page.windowTitle())
        layout = QVBoxLayout(self)
        layout.addWidget(page)
        self._unit = self.fontMetrics().averageCharWidth()
        self._sizes: dict[int, QSize] = {}
        if fits:
            layout.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)
        else:
            self.resize(QSize(self._unit * 110, self._unit * 90).expandedTo(page.sizeHint()))

    def present(self) -> None:
        """Bring the page to the front, entirely on the screen."""
        put_on_screen(self)
        self.show()
        self.raise_()
        self.activateWindow()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Keep the size in letters when the font changes, and restore the old size with the old font."""
        super().changeEvent(event)
        unit = self.fontMetrics().averageCharWidth()
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_unit") and unit != self._unit:
            self._sizes[self._unit] = self.size()
            self.resize(self._sizes.get(unit) or self.size() * (unit / self._unit))
            self._unit = unit


class Pages:
    """Pages by name, each created at first use; those in `fitting` have the size of their content."""

    def __init__(self, window: QWidget, makers: Mapping[str, Callable[[], QWidget]], fitting: Set[str]) -> None:
        self._window, self._makers, self._fitting = window, makers, fitting
        self._windows: dict[str, PageWindow] = {}

    def __getitem__(self, name: str) -> PageWindow:
        if name not in self._windows:
            page, fits = self._makers[name](), name in self._fitting
            self._windows[name] = PageWindow(page, f"page.{name}", self._window, fits)
        return self._windows[name]

    def existing(self, name: str) -> QWidget | None:
        """A page that was opened before, else None."""
        return self._windows[name].page if name in self._windows else None

    def present(self, name: str) -> None:
        """Bring a page to the front."""
        self[name].present()
