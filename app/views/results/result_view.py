"""What every way to look at results has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.display import Display
from app.models.entry import Entry
from app.models.layer import State
from app.models.origin import Origin
from app.models.shown import Drawn
from gpu_ops.types import Filter

if TYPE_CHECKING:
    from app.views.results.pager import Pager
    from app.views.results.panes import PaneGrid


class ResultView(Protocol):
    """Shows one output of several variants, and the input where that is of the same kind, by key. All results of an
    output have the same range, zoom and cursor."""

    @property
    def widget(self) -> QWidget:
        """What stands in the window."""

    @property
    def sheet(self) -> QWidget:
        """The part of it that is exported: the results without what turns and chooses them."""

    @property
    def display(self) -> Display | None:
        """What the levels panel shows and sets; None where there are no levels."""

    @property
    def grid(self) -> PaneGrid | None:
        """The panes of which two can be shown in one place: swiped, flickered, subtracted; None without such."""

    @property
    def pager(self) -> Pager | None:
        """What turns to other results where not all of them are in sight; None where they always are."""

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        """Make room for these, in this order; known ones keep what they show, others are gone."""

    def set_scale(self, scale: str) -> None:
        """How values are drawn from now on: one of the scales of its ViewSpec."""

    def put(self, key: str, drawn: Drawn, origin: Origin) -> None:
        """Show a result, or the input."""

    def anew(self, drawn: Drawn | None) -> None:
        """What comes now is of something else: range, zoom, cursor and levels of its own, these as `drawn` asks."""

    def level(self, drawn: Drawn) -> None:
        """Values are drawn in another scale: levels as `drawn` asks."""

    def forget(self, key: str) -> None:
        """Let go of a result and of what was said of it."""

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        """The verdict on a result, and whether it is of what is chosen now: else it is drawn faintly."""

    def state(self, key: str) -> State | None:
        """The verdict that stands on a result."""

    def show_findings(self, key: str, entry: Entry) -> None:
        """What was found wrong with a result."""

    def fit(self) -> None:
        """Show all of it."""

    def zoom(self, factor: float) -> None:
        """Magnify about the middle."""

    def one_to_one(self) -> None:
        """One pixel, sample or bar a pixel; figures in letters of the window's size."""

    def value_text(self, key: str) -> str:
        """What is read of a result at the cursor, with names and units of its axes; empty without a cursor."""

    def picture(self) -> QImage | None:
        """What is copied; None while nothing is shown."""
