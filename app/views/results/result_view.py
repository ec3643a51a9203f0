"""The interface that all views of results share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display
from app.models.pictures.layer import State
from app.models.results.entry import Entry
from app.models.results.origin import Origin
from app.models.results.view_data import ViewData
from gpu_ops.types import Filter

if TYPE_CHECKING:
    from app.views.pictures.panes import PaneGrid
    from app.views.results.pager import Pager


class ResultView(Protocol):
    """Shows one output of several variants, and the input if it is of the same kind, by key. All results of an output
    have the same range, zoom and cursor."""

    @property
    def widget(self) -> QWidget:
        """The widget for the window."""

    @property
    def sheet(self) -> QWidget:
        """The part to export: the results without their controls."""

    @property
    def display(self) -> Display | None:
        """The model of the levels panel; None without levels."""

    @property
    def grid(self) -> PaneGrid | None:
        """The panes that can be compared in one pane (swipe, flicker, difference); None if that is impossible."""

    @property
    def pager(self) -> Pager | None:
        """The pager of results that do not all fit; None if they always do."""

    @property
    def walk(self) -> Sequence[str]:
        """The keys that can be shown alone, in their order."""

    @property
    def alone(self) -> str:
        """The key that is shown alone, or, of two in one pane, the first; "" while several are side by side."""

    def show_alone(self, key: str) -> None:
        """Show one key alone in the whole view, without controls, or as the first of two in one pane; "" shows all
        again."""

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        """Show results with these keys, in this order; known ones keep their content, others are removed."""

    def set_scale(self, scale: str) -> None:
        """Draw values on this scale, one of those in the view's ViewSpec."""

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        """Show a result, or the input."""

    def start_over(self, drawn: ViewData | None) -> None:
        """Start over for another subject: reset range, zoom and cursor, and compute the levels from `drawn`."""

    def level(self, drawn: ViewData) -> None:
        """The scale of values changed: compute the levels from `drawn`."""

    def follow(self, drawn: ViewData) -> None:
        """The input was processed by other steps: levels are computed again if they are automatic, everything else
        stays."""

    def forget(self, key: str) -> None:
        """Release a result, its verdict and its findings."""

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        """Set the verdict on a result and whether it matches the current settings; if not, it is dimmed."""

    def set_note(self, key: str, text: str) -> None:
        """Set a remark on a result, or on an input that has no title; empty for none."""

    def state(self, key: str) -> State | None:
        """The verdict on a result."""

    def show_findings(self, key: str, entry: Entry) -> None:
        """Show the findings about a result."""

    def fit(self) -> None:
        """Show everything."""

    def zoom(self, factor: float) -> None:
        """Zoom about the centre."""

    def one_to_one(self) -> None:
        """Show one pixel, sample or bar per screen pixel; tables in the window's font size."""

    def value_text(self, key: str) -> str:
        """The result's value at the cursor, with names and units of its axes; empty without a cursor."""

    def picture(self) -> QImage | None:
        """The picture to copy; None if there is none."""
