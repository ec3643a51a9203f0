"""Results as linked pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display, Levels, natural_levels
from app.models.pictures.layer import State, Tone
from app.models.results.entry import Entry
from app.models.results.marks import Marked
from app.models.results.origin import Origin
from app.models.results.view_data import INPUT, ViewData
from app.views.pictures.clipboard import chosen_layer, picture
from app.views.pictures.handle_paint import draw_marks
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.panes import PaneGrid
from app.views.pictures.sketch import sketch_of
from app.views.results.pager import Pager
from gpu_ops.types import Filter

COLOURS = Tone(0.0, 255.0, None)
"""Colours are shown unchanged."""


class PictureView:
    """A PaneGrid as a ResultView. The levels of its Display are computed from the input, or from the first result if it
    is of another kind."""

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        self.grid = PaneGrid(display, parent)
        self._display = display
        self._titles: Mapping[str, str] = {}
        self._marked: set[ImageCanvas] = set()

    @property
    def widget(self) -> QWidget:
        return self.grid

    @property
    def sheet(self) -> QWidget:
        return self.grid.sheet

    @property
    def display(self) -> Display | None:
        return self._display

    @property
    def pager(self) -> Pager:
        return self.grid.pager

    @property
    def walk(self) -> Sequence[str]:
        return list(self.grid.every if self.grid.mode == "side by side" else self.grid.panes)

    @property
    def alone(self) -> str:
        return self.grid.alone

    def show_alone(self, key: str) -> None:
        self.grid.show_alone(key)

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        self._titles = titles
        self.grid.pager.set_pinned(int(INPUT in keys))
        if tuple(keys) != tuple(self.grid.keys):
            self.grid.set_panes(keys)
        for key in keys:
            self.grid.pane(key).layer.set_title(titles[key])

    def set_scale(self, scale: str) -> None:
        """Pictures have only one scale."""

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        self.grid.pane(key).set_drawn(drawn, self._titles[key], origin)

    def start_over(self, drawn: ViewData | None) -> None:
        if drawn is not None:
            self._display.set_input(drawn.statistics, _levels(drawn))

    def level(self, drawn: ViewData) -> None:
        self._display.set_figures(drawn.statistics, _levels(drawn))

    def follow(self, drawn: ViewData) -> None:
        self._display.follow(drawn.statistics, _levels(drawn))

    def forget(self, key: str) -> None:
        self.grid.pane(key).clear()

    def set_marks(self, marked: Mapping[str, Marked]) -> None:
        """Mark positions over the pictures of results."""
        marks = {self.grid.pane(key).canvas: each for key, each in marked.items() if key in self.grid.panes}
        for canvas in self._marked - marks.keys():
            sketch_of(canvas).draw("marks", None)
        for canvas, each in marks.items():
            sketch_of(canvas).draw("marks", partial(draw_marks, marked=each))
        self._marked = set(marks)

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        self.grid.pane(key).layer.set_state(state, text, current)

    def set_note(self, key: str, text: str) -> None:
        if key in self.grid.panes:
            self.grid.pane(key).layer.set_note(text)

    def state(self, key: str) -> State | None:
        return self.grid.pane(key).layer.state

    def show_findings(self, key: str, entry: Entry) -> None:
        bar = self.grid.pane(key).findings
        bar.show_findings(entry.findings, entry.printed)
        bar.setEnabled(entry.current)

    def fit(self) -> None:
        self._display.refit()

    def zoom(self, factor: float) -> None:
        self._display.zoom_at(factor, *self._display.centre)

    def one_to_one(self) -> None:
        self._display.one_to_one()

    def value_text(self, key: str) -> str:
        return self.grid.pane(key).value_text()

    def picture(self) -> QImage | None:
        layer = chosen_layer(self.grid)
        return None if layer is None else picture(layer, self._display)


class LabelView(PictureView):
    """A PictureView of labels: each has its own colour, which no levels change."""

    @property
    def display(self) -> Display | None:
        return None

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        super().put(key, drawn, origin)
        self.grid.pane(key).layer.set_tone(COLOURS)


def _levels(drawn: ViewData) -> Levels | None:
    """The levels that a result itself defines."""
    return drawn.levels or natural_levels(drawn.array, drawn.statistics)
