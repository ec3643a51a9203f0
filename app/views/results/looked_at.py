"""Which of the results somebody looks at: the one that is saved, or used as the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from app.models.experiment.differences import DifferenceOf
from app.models.pictures.display import Display
from app.models.results.view_data import INPUT
from app.views.pictures.difference_pane import DifferencePane
from app.views.results.result_view import ResultView


class LookedAt(QObject):
    """Remembers whose picture got the focus last, in the view that `view` returns. A menu or a dialog that takes the
    focus changes nothing. `changed`: another one got it."""

    changed = Signal()

    def __init__(self, view: Callable[[], ResultView], parent: QWidget) -> None:
        super().__init__(parent)
        self._view, self._clicked = view, ""
        cast("QApplication", QApplication.instance()).focusChanged.connect(self._follow)

    def forget(self) -> None:
        """Other results take the place of those that were looked at."""
        self._clicked = ""

    @property
    def variant(self) -> str:
        """The variant of the result: in a comparison the first of both, or the second where that alone is shown or the
        first is the input; else the one that was clicked last. "" where that is none, or a difference."""
        grid = self._view().grid
        if grid is None or grid.mode == "side by side":
            return self._clicked if self._pane is None else ""
        pair = [grid.first.currentData(), grid.second.currentData()]
        ordered = reversed(pair) if grid.compare.flickered else pair
        return next((key for key in ordered if key not in (INPUT, None)), "")

    @property
    def _pane(self) -> DifferencePane | None:
        """The difference beside the results that was clicked last."""
        grid = self._view().grid
        if grid is None or grid.mode != "side by side":
            return None
        return next((pane for kept, pane in grid.differences.items() if kept.key == self._clicked), None)

    @property
    def difference(self) -> DifferenceOf | None:
        """The difference that is shown in one place, or that was clicked last beside the results."""
        grid = self._view().grid
        if grid is None:
            return None
        if grid.mode == "difference" and grid.difference.layers:
            return DifferenceOf(grid.first.currentData(), grid.second.currentData())
        return next((kept for kept, pane in grid.differences.items() if pane is self._pane), None)

    @property
    def kept(self) -> bool:
        """Whether a difference beside the results was clicked last."""
        return self._pane is not None

    @property
    def levels(self) -> Display | None:
        """The levels of a difference, where that is shown, or was clicked last."""
        grid = self._view().grid
        if grid is not None and grid.mode == "difference":
            return grid.difference.display
        return self._pane.difference.display if self._pane is not None else None

    @Slot(QWidget, QWidget)
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        view = self._view()
        if now is not None and view.widget.isAncestorOf(now):
            parts: dict[str, QWidget] = {**(view.grid.every if view.grid else {}), **getattr(view, "cells", {})}
            inside = [key for key, part in parts.items() if part.isAncestorOf(now)]
            if inside and inside[0] != self._clicked:
                self._clicked = inside[0]
                self.changed.emit()
