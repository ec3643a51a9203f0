"""Which result the user is looking at: the one that is saved, or used as the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from app.models.experiment.differences import DifferenceOf
from app.models.pictures.difference import Difference
from app.models.pictures.display import Display
from app.models.results.view_data import INPUT
from app.views.comparing.difference_pane import DifferencePane
from app.views.results.result_view import ResultView


class LookedAt(QObject):
    """Remembers whose picture had the focus last, in the view that `view` returns. A menu or a dialog that takes the
    focus changes nothing. `changed`: another picture got the focus."""

    changed = Signal()

    def __init__(self, view: Callable[[], ResultView], parent: QWidget) -> None:
        super().__init__(parent)
        self._view, self._clicked = view, ""
        cast("QApplication", QApplication.instance()).focusChanged.connect(self._follow)

    def forget(self) -> None:
        """The results were replaced by others."""
        self._clicked = ""

    @property
    def clicked(self) -> str:
        """The key of the pane that was clicked last; "" for none."""
        return self._clicked

    @property
    def variant(self) -> str:
        """The variant of the result: in a comparison the first of both, or the second if that alone is shown or the
        first is the input; else the one that was clicked last. "" if that is none, or a difference."""
        grid = self._view().grid
        if grid is None or grid.mode == "side by side":
            return self._clicked if self._pane is None else ""
        pair = [grid.first.currentData(), grid.second.currentData()]
        ordered = reversed(pair) if grid.compare.flickered else pair
        return next((key for key in ordered if key not in (INPUT, None)), "")

    @property
    def _pane(self) -> DifferencePane | None:
        """The difference next to the results that was clicked last."""
        grid = self._view().grid
        if grid is None or grid.mode != "side by side":
            return None
        return next((pane for kept, pane in grid.differences.items() if kept.key == self._clicked), None)

    @property
    def difference(self) -> DifferenceOf | None:
        """The difference that is shown in one pane, or that was clicked last next to the results."""
        grid = self._view().grid
        if grid is None:
            return None
        if grid.mode == "difference" and grid.difference.layers:
            return DifferenceOf(grid.first.currentData(), grid.second.currentData())
        return next((kept for kept, pane in grid.differences.items() if pane is self._pane), None)

    @property
    def kept(self) -> bool:
        """Whether a difference next to the results was clicked last."""
        return self._pane is not None

    @property
    def found(self) -> Difference | None:
        """The computed difference that is shown in one pane; else the one that was clicked last, or the only one next
        to the results."""
        grid = self._view().grid
        if grid is None or grid.mode not in ("difference", "side by side"):
            return None
        if grid.mode == "difference":
            return grid.difference
        only = next(iter(grid.differences.values())) if len(grid.differences) == 1 else None
        pane = self._pane or only
        return pane.difference if pane is not None else None

    @property
    def levels(self) -> Display | None:
        """The levels of a difference, if one is shown, or was clicked last."""
        grid = self._view().grid
        if grid is not None and grid.mode == "difference":
            return grid.difference.display
        return self._pane.difference.display if self._pane is not None else None

    def parts(self) -> dict[str, QWidget]:
        """The panes of the visible view by key."""
        view = self._view()
        return {**(view.grid.every if view.grid else {}), **getattr(view, "cells", {})}

    def key_at(self, place: QPoint) -> str:
        """The pane at a point of the screen; "" if there is none."""
        return next((k for k, w in self.parts().items() if w.isVisible() and _has(w, place)), "")

    @Slot(QWidget, QWidget)
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        view = self._view()
        if now is not None and view.widget.isAncestorOf(now):
            inside = [key for key, part in self.parts().items() if part.isAncestorOf(now)]
            if inside and inside[0] != self._clicked:
                self._clicked = inside[0]
                self.changed.emit()


def _has(widget: QWidget, place: QPoint) -> bool:
    """Whether a point of the screen is in a widget."""
    return widget.rect().contains(widget.mapFromGlobal(place))
