"""How the session arranges results and compares them, next to the results of the visible view."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from app.models.experiment.board import Board
from app.models.experiment.differences import DifferenceOf
from app.models.experiment.session import Session
from app.views.pictures.panes import PaneGrid
from app.views.results.pictures import Pictures
from app.views.results.result_view import ResultView


class KeptDifferences(QObject):
    """Gives each view of pictures the differences whose sides it shows, so that one of the input is next to results
    of the input's kind alone. `action` keeps or removes the difference that somebody looks at, `jump` goes to its
    largest value; views have a button for each, and their panes one that removes.

    The session also keeps the number of panes, the look of all differences and the levels that were set by hand, so
    that undo and a session file restore them; a drag of the levels is one step.
    """

    def __init__(self, pictures: Pictures, session: Session, action: QAction, jump: QAction) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._action, self._jump = pictures, session, action, jump
        self._views: list[ResultView] = []
        self._dragged: tuple[str, Board] | None = None
        pictures.view_changed.connect(self._bind)
        pictures.arranged.connect(self._show)
        session.changed.connect(self._show)
        self._bind()

    @Slot()
    def _bind(self) -> None:
        """The visible view may be another one."""
        view = self._pictures.view
        if view not in self._views:
            self._views.append(view)
            if view.pager is not None:
                view.pager.chosen.connect(self._take_count)
            if view.grid is not None:
                self._bind_grid(view.grid)
        self._show()

    def _bind_grid(self, grid: PaneGrid) -> None:
        grid.bar.keep.setDefaultAction(self._action)
        grid.styles.jump.setDefaultAction(self._jump)
        grid.close_asked.connect(self._session.drop_difference)
        grid.differing.changed.connect(partial(self._take_look, grid))
        grid.levelled.connect(self._take_level)

    @property
    def _board(self) -> Board:
        return self._session.choice.board

    def _take_count(self, most: int) -> None:
        self._session.set_board(replace(self._board, panes=most))

    def _take_look(self, grid: PaneGrid) -> None:
        self._session.set_board(self._board.with_look(grid.differing.look))

    def _take_level(self, kept: DifferenceOf, level: float | None) -> None:
        same = self._dragged == (kept.key, self._board)
        board = self._board.with_level(kept.key, level)
        self._session.set_board(board, same_step=same)
        self._dragged = kept.key, board

    @Slot()
    def _show(self) -> None:
        view, board = self._pictures.view, self._board
        if view.pager is not None and view.pager.wanted != board.panes:
            if board.panes:
                view.pager.set_most(board.panes)
            else:
                view.pager.set_automatic()
        grid = view.grid
        if grid is None:
            return
        grid.differing.set(**vars(board.look))
        shown = grid.set_differences([kept for kept in self._session.shown.differences if kept.among(grid.keys)])
        for kept, pane in grid.differences.items():
            pane.difference.set_hand(board.level(kept.key))
        if shown:
            self._pictures.arranged.emit()
