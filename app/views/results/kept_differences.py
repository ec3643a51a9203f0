"""The session's differences next to the results of the visible view."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from app.models.experiment.session import Session
from app.views.pictures.panes import PaneGrid
from app.views.results.pictures import Pictures


class KeptDifferences(QObject):
    """Gives each view of pictures the differences whose operands it shows, so that one with the input is shown only
    next to results of the input's kind. `action` keeps or removes the difference that the user looks at, `jump` goes to
    its largest value; views have a button for each, and their panes one that removes it."""

    def __init__(self, pictures: Pictures, session: Session, action: QAction, jump: QAction) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._action, self._jump = pictures, session, action, jump
        self._grids: list[PaneGrid] = []
        pictures.view_changed.connect(self._bind)
        pictures.arranged.connect(self._show)
        session.changed.connect(self._show)
        self._bind()

    @Slot()
    def _bind(self) -> None:
        """The visible view may have changed."""
        grid = self._pictures.view.grid
        if grid is not None and grid not in self._grids:
            self._grids.append(grid)
            grid.bar.keep.setDefaultAction(self._action)
            grid.styles.jump.setDefaultAction(self._jump)
            grid.close_asked.connect(self._session.drop_difference)
        self._show()

    @Slot()
    def _show(self) -> None:
        grid = self._pictures.view.grid
        if grid is None:
            return
        if grid.set_differences([kept for kept in self._session.shown.differences if kept.among(grid.keys)]):
            self._pictures.arranged.emit()
