"""The menu of the right mouse button, or of the menu key, on pictures and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.base.nesting import bounded
from app.base.numbers import copied
from app.base.theme import boxes
from app.models.experiment.differences import DifferenceOf
from app.models.results.view_data import INPUT
from app.views.labels import named
from app.views.pictures.image_canvas import ImageCanvas

if TYPE_CHECKING:
    from app.views.curves.signal_pane import SignalPane
    from app.views.window.window_parts import WindowParts

PICTURE = (
    *("copy_image", "copy values", "", "fit", "one_to_one", ""),
    *("region", "profile", "levels_region", "levels_auto", "scale_bar", "remove_region", ""),
    *("compare_side_by_side", "compare_swipe", "compare_flicker", "compare_difference", "swap", "keep_difference", ""),
    *("pin", "save", "export_view", "", "hide"),
)
"""The actions of pictures by id; an empty name is a separator."""
CURVES = (
    *("copy_image", "copy values", "", "fit", "one_to_one", ""),
    *("region", "remove_region", "play", "", "pin", "save", "export_view"),
)
"""The actions of curves."""
ALWAYS = {"copy_image", "copy values", "fit", "one_to_one", "region"}
"""Actions that stay, disabled, where they cannot be used; others are left out."""


class ContextMenus(QObject):
    """Opens one menu for all pictures and curves. It has the window's own actions, with their keys, and two for the
    clicked position: copy the values there, and hide the variant. `key` is the pane of that position."""

    def __init__(self, parts: WindowParts) -> None:
        super().__init__(parts.window)
        self._parts = parts
        self.menu = named(QMenu(parts.window), "contextMenu")
        self.menu.setStyle(boxes())
        self.menu.setToolTipsVisible(True)
        self.key = ""
        self._texts = self._title = ""
        translate = QCoreApplication.translate
        self.copy_values = QAction(translate("ContextMenus", "Copy &values at this point"), self)
        self.copy_values.triggered.connect(self._copy_values)
        self.hide_variant = QAction(self)
        self.hide_variant.triggered.connect(self._hide)
        self._own = {"copy values": self.copy_values, "hide": self.hide_variant}
        parts.pictures.installEventFilter(self)
        parts.pictures.arranged.connect(self._watch)
        self._plots: list[QWidget] = []

    def _watch(self) -> None:
        """Watch the plots of curves, which would otherwise take the right button for a drag."""
        for view in self._curve_panes():
            plot = view.plot.viewport()
            if plot not in self._plots:
                self._plots.append(plot)
                plot.installEventFilter(self)

    def _curve_panes(self) -> list[SignalPane]:
        """The panes of all curves that are shown."""
        pictures = self._parts.pictures
        views = [pictures.view, pictures.view_with(INPUT)]
        return [pane for view in views if (pane := getattr(view, "pane", None)) is not None]

    # Position

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QMouseEvent) and watched in self._plots:
            kinds = QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick
            return event.type() in kinds and event.button() == Qt.MouseButton.RightButton
        if isinstance(event, QContextMenuEvent) and watched in (self._parts.pictures, *self._plots):
            return self._open(event)
        return False

    def _open(self, event: QContextMenuEvent) -> bool:
        """Open the menu of the picture or of the curves under the mouse, else of those that have the focus."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        at = QApplication.focusWidget() if by_key else self._under(event.globalPos())
        canvas = _above(at, ImageCanvas)
        pane = next((p for p in self._curve_panes() if at is not None and (p is at or p.isAncestorOf(at))), None)
        if canvas is None and pane is None:
            return False
        if canvas is not None:
            corner = canvas.rect().center() if by_key else canvas.mapFromGlobal(event.globalPos())
            self._fill_picture(canvas, None if by_key else QPointF(corner))
            self.menu.popup(canvas.mapToGlobal(corner))
        elif pane is not None:
            corner = pane.plot.rect().center() if by_key else pane.plot.mapFromGlobal(event.globalPos())
            self._fill_curves(pane)
            self.menu.popup(pane.plot.mapToGlobal(corner))
        event.accept()
        return True

    def _under(self, point: QPoint) -> QWidget | None:
        """The view at a point of the screen."""
        pictures = self._parts.pictures
        return pictures.childAt(pictures.mapFromGlobal(point))

    # Content

    def _fill_picture(self, canvas: ImageCanvas, point: QPointF | None) -> None:
        """Fill the menu of a picture; `point` is where it was clicked, None for the cursor's position."""
        canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        if point is not None:
            canvas.display.set_cursor(*canvas.pixel_at(point))
        views = [self._parts.pictures.view, self._parts.pictures.view_with(INPUT)]
        grid = next((v.grid for v in views if v.grid is not None and v.grid.display is canvas.display), None)
        self.key = self._texts = ""
        if grid is not None:
            at = ((key, pane.layer.title) for key, pane in grid.every.items() if pane.canvas is canvas)
            self.key, self._title = next(at, ("", ""))
            cells = {pane.layer.title: pane.value_text() for pane in grid.every.values()}
            self._texts = "".join(f"{title}\t{text}\n" for title, text in cells.items() if text)
        self._fill(PICTURE)

    def _fill_curves(self, pane: SignalPane) -> None:
        pane.plot.setFocus(Qt.FocusReason.OtherFocusReason)
        self.key = ""
        self._texts = pane.status.text() + "\n" if pane.cursor_x is not None else ""
        self._fill(CURVES)
        session, titles = self._parts.context.session, self._parts.pictures.titles()
        for id in session.shown.pins:  # values under the mouse are not of one curve only
            text = QCoreApplication.translate("ContextMenus", "Unpin {title}").format(title=titles[id])
            action = self.menu.addAction(text.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, id=id: session.unpin(id))

    def _fill(self, names: tuple[str, ...]) -> None:
        session, titles = self._parts.context.session, self._parts.pictures.titles()
        self.copy_values.setEnabled(bool(self._texts))
        pinned, difference = self.key in session.shown.pins, self._difference()
        text = QCoreApplication.translate("ContextMenus", "U&npin {title}" if pinned else "&Hide {title}")
        title = titles.get(self.key, "")
        if difference is not None:
            text, title = QCoreApplication.translate("ContextMenus", "Re&move {title}"), self._title
            names = tuple(name for name in names if name != "keep_difference")  # which would do the same
        self.hide_variant.setText(text.format(title=title.replace("&", "&&")))
        self.hide_variant.setEnabled(self.key in session.shown.ids or difference is not None)
        self.menu.clear()
        line = False
        for name in names:
            action = self._own.get(name) or self._parts.actions.get(name)
            if not name:
                line = not self.menu.isEmpty()
            elif action is not None and (name in ALWAYS or action.isEnabled()):
                if line:
                    self.menu.addSeparator()
                    line = False
                self.menu.addAction(action)

    # Handlers of the menu's own actions

    def _copy_values(self) -> None:
        QApplication.clipboard().setText(copied(self._texts))

    def _difference(self) -> DifferenceOf | None:
        """The difference in the pane of the clicked position."""
        kept = self._parts.context.session.shown.differences
        return next((difference for difference in kept if difference.key == self.key), None)

    def _hide(self) -> None:
        """Stop showing the result: remove the variant's tick, the pin or the difference; undo restores it."""
        session = self._parts.context.session
        if (difference := self._difference()) is not None:
            session.drop_difference(difference)
        elif self.key in session.shown.pins:
            session.unpin(self.key)
        else:
            session.set_picks(tuple(pick for pick in session.choice.picks if pick != self.key))


def _above(widget: QWidget | None, kind: type[ImageCanvas]) -> ImageCanvas | None:
    """The canvas that contains a widget, or is the widget."""
    while widget is not None and not isinstance(widget, kind):
        widget = widget.parentWidget()
    return widget
