"""The panels in their docks around the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar, cast

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QStyle,
    QStyleOptionDockWidget,
    QStyleOptionFrame,
    QStylePainter,
    QTabWidget,
    QWidget,
)

from app.shell.context import Context
from app.views.lazy import Lazy
from app.views.scrolled import Scrolled
from app.views.window.dock_sizes import DockSizes
from app.views.window.panel_spec import DockSpec, PanelSpec
from app.views.window.panels import DOCKS, ENLARGEABLE, LESSONS, OWN_KERNEL, PANELS, START, XRAY
from gpu_ops.own_kernels import KERNEL_FILES

LAYOUT_VERSION = 5
"""Increase it when the initial docks of panels change: stored layouts with another number are ignored."""
W = TypeVar("W", bound=QWidget)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Panels", text)


class Docks(QObject):
    """Puts every panel of PANELS into its place of DOCKS. `docks[spec]` is a panel, created if it was not yet; `tabs`
    are the tab widgets of places with several panels. `toggled`: a place was opened or closed. `made(panel)`: a lazy
    panel has been created. `action_wanted(id)`: the start page wants an action of the window."""

    toggled = Signal()
    made = Signal(object)
    action_wanted = Signal(str)

    def __init__(self, window: QMainWindow, context: Context) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._panels: dict[str, QWidget] = {}
        self._lazy: dict[str, Lazy[Any]] = {}
        self.tabs: dict[str, QTabWidget] = {}
        self.places = {spec.id: self._place(spec) for spec in DOCKS}
        for spec in DOCKS:
            if spec.behind:
                window.tabifyDockWidget(self.places[spec.behind], self.places[spec.id])
            self.places[spec.id].setVisible(spec.shown)
            self.places[spec.id].toggleViewAction().toggled.connect(self.toggled)
        area = Qt.DockWidgetArea
        window.setTabPosition(area.RightDockWidgetArea, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, area.RightDockWidgetArea)
        self.sizes = DockSizes(window, {self.places[spec.id]: spec.size for spec in DOCKS})
        self._default_layout = QByteArray()

    def _place(self, spec: DockSpec) -> Dock:
        dock, panels = Dock(_tr(spec.title), self._window), [p for p in PANELS if p.dock == spec.id]
        dock.setObjectName(f"dock.{spec.id}")
        dock.setAccessibleName(_tr(spec.title))
        dock.setWidget(self._tabs(spec, panels) if spec.tabs else self._content(panels[0]))
        self._window.addDockWidget(spec.area, dock)
        return dock

    def _tabs(self, spec: DockSpec, panels: list[PanelSpec[Any]]) -> QWidget:
        tabs = self.tabs[spec.id] = QTabWidget(self._window)
        tabs.setAccessibleName(_tr(spec.tabs))
        tabs.setDocumentMode(True)
        for panel in panels:
            tabs.addTab(self._content(panel), _tr(panel.title))
        return Scrolled(tabs, self._window)

    def _content(self, spec: PanelSpec[Any]) -> QWidget:
        """The widget of a panel inside its dock."""
        if spec.lazy:
            lazy = self._lazy[spec.id] = Lazy[Any](partial(self._make, spec), self._window)
            return lazy
        panel = self._panels[spec.id] = spec.make(self._context, self._window)
        return Scrolled(panel, self._window) if spec.scrolled else panel

    def _make(self, spec: PanelSpec[Any], parent: QWidget) -> QWidget:
        panel: Any = spec.make(self._context, parent)
        self._panels[spec.id] = panel
        if spec is LESSONS:
            panel.controller.panel_wanted.connect(self.show_panel)
        elif spec is START:
            panel.action_wanted.connect(self.action_wanted)
            panel.lesson_wanted.connect(self._open_lesson)
        self.made.emit(panel)
        return cast(QWidget, panel)

    @Slot(str, int)
    def _open_lesson(self, id: str, page: int) -> None:
        self.show(LESSONS.dock)
        self[LESSONS].open_lesson(id, page)

    def enlargeable(self) -> list[QWidget]:
        """The panels that have been created and make sense alone on the whole screen."""
        return [self._panels[spec.id] for spec in ENLARGEABLE if spec.id in self._panels]

    def __getitem__(self, spec: PanelSpec[W]) -> W:
        return cast(W, self._lazy[spec.id].content if spec.lazy else self._panels[spec.id])

    def open(self, paths: Sequence[str]) -> bool:
        """Open a single kernel or profile in its panel; nothing is launched. Returns whether the files are one of
        these."""
        path = paths[0] if len(paths) == 1 else ""
        if path.endswith(KERNEL_FILES):
            self.show(OWN_KERNEL.dock)
            self._context.own_kernel.open(path)
        elif path.endswith(".ncu-rep"):
            self.show(XRAY.dock)
            self[XRAY].show_profile(path)
        return path.endswith((*KERNEL_FILES, ".ncu-rep"))

    def existing(self, spec: PanelSpec[W]) -> W | None:
        """A panel, or None where it is lazy and nobody has looked at it yet."""
        return cast("W | None", self._panels.get(spec.id))

    def help_on(self, widget: QWidget | None) -> str:
        """The place of the guide that describes the panel with this widget; "" where it is in none."""
        while widget is not None:
            for spec in PANELS:
                if self._panels.get(spec.id) is widget:
                    return spec.help
            widget = widget.parentWidget()
        return ""

    # User actions

    def turn_to(self, spec: PanelSpec[Any]) -> None:
        """Show the tab of a panel."""
        self.tabs[spec.dock].setCurrentIndex(self._tab(spec))

    def is_open(self, place: str) -> bool:
        return self.places[place].toggleViewAction().isChecked()

    def in_front(self, place: str) -> bool:
        """Whether a dock is open and can be seen."""
        return self.is_open(place) and not self.places[place].visibleRegion().isEmpty()

    def toggle(self, place: str) -> None:
        """Close a dock that is in front; else open it, in front of those that share its area."""
        if self.in_front(place):
            self.places[place].setVisible(False)
        else:
            self.show(place)

    def show(self, place: str) -> None:
        """Open a dock, in front of those that share its area."""
        self.places[place].setVisible(True)
        self.places[place].raise_()

    @Slot(str)
    def show_panel(self, id: str) -> None:
        """Show the panel with this id, in front."""
        spec = next(spec for spec in PANELS if spec.id == id)
        self.show(spec.dock)
        if spec.dock in self.tabs:
            self.turn_to(spec)

    # Visible tabs

    def offer(self, spec: PanelSpec[Any], offered: bool) -> None:
        """Show or hide the tab of a panel, which may have nothing to show for the present output."""
        self.tabs[spec.dock].setTabVisible(self._tab(spec), offered)

    def _tab(self, spec: PanelSpec[Any]) -> int:
        return [p for p in PANELS if p.dock == spec.dock].index(spec)

    def around(self, *centre: QWidget) -> list[QWidget]:
        """The widgets of all docks and of the centre, from left to right: the order of the Tab key."""
        left = [spec for spec in DOCKS if spec.area == Qt.DockWidgetArea.LeftDockWidgetArea]
        right = [spec for spec in DOCKS if spec not in left]
        before, after = ([self.places[spec.id].widget() for spec in side] for side in (left, right))
        return [*before, *centre, *after]

    # Layout.

    def note_first(self) -> None:
        """Store the present layout as the default."""
        self._default_layout = self.layout()

    def layout(self) -> QByteArray:
        """The layout of all panels, for `restore`."""
        return self._window.saveState(LAYOUT_VERSION)

    def restore(self, layout: QByteArray) -> bool:
        """Restore a stored layout. Returns whether it fits; otherwise it is ignored."""
        fits = not layout.isEmpty() and self._window.restoreState(layout, LAYOUT_VERSION)
        if fits:
            self.sizes.keep()
        return fits

    def reset(self) -> None:
        """Put every panel back into its default dock."""
        self._window.restoreState(self._default_layout, LAYOUT_VERSION)
        self.sizes.reset()


class Dock(QDockWidget):
    """A dock with its own title bar: Qt's would keep its first font."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QStylePainter(self)
        if self.isFloating():
            frame = QStyleOptionFrame()
            frame.initFrom(self)
            painter.drawPrimitive(QStyle.PrimitiveElement.PE_FrameDockWidget, frame)
        title = QStyleOptionDockWidget()
        self.initStyleOption(title)
        painter.drawControl(QStyle.ControlElement.CE_DockWidgetTitle, title)
        painter.end()
