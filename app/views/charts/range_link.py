"""Marks in the input, next to the bars, the samples that the marked bars count."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import numpy as np
from PySide6.QtCore import QObject, Slot

from app.models.curves.marked import Marks, marked_samples, picture_mask
from app.models.results.view_data import INPUT, ViewData
from app.views.charts.frame import MARK
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.reading import range_text

if TYPE_CHECKING:
    from app.views.curves.curve_view import CurveView
    from app.views.results.pictures import Pictures

ALPHA = 165
"""The opacity of marked pixels."""


@runtime_checkable
class Bars(Protocol):
    """A view of bars; its module is imported with pyqtgraph when first needed."""

    marks: Marks

    def first(self) -> ViewData | None: ...


class RangeLink(QObject):
    """Follows the marked bars of the visible view: pixels get a translucent colour, samples an extra curve. Where each
    channel is counted, a pixel has the sum of the colours of its channels in the range."""

    def __init__(self, pictures: Pictures) -> None:
        super().__init__(pictures)
        self._pictures = pictures
        self._marks: Marks | None = None
        self._undo: Callable[[], None] = _nothing
        pictures.view_changed.connect(self._bind)
        pictures.drawn_changed.connect(self._show)

    @Slot()
    def _bind(self) -> None:
        """Connect to the visible view, which may have changed."""
        view = self._pictures.view
        marks = view.marks if isinstance(view, Bars) else None
        if marks is not self._marks:
            if self._marks is not None:
                self._marks.changed.disconnect(self._show)
                self._marks.clear()
            if marks is not None:
                marks.changed.connect(self._show)
            self._marks = marks
        self._show()

    @Slot()
    def _show(self) -> None:
        view = self._pictures.view
        drawn = view.first() if isinstance(view, Bars) else None
        bars = self._marks.bars if self._marks is not None else None
        if drawn is None or bars is None:
            self._remove()
            return
        beside = self._pictures.view_with(INPUT)
        if beside.grid is None:
            self._mark_curve(cast("CurveView", beside), drawn, bars)
        elif INPUT in beside.grid.panes:
            self._mark_picture(beside.grid.panes[INPUT].canvas, drawn, bars)

    def _remove(self) -> None:
        self._undo()
        self._undo = _nothing

    def _mark_picture(self, canvas: ImageCanvas, drawn: ViewData, bars: tuple[int, int]) -> None:
        pyramid = canvas.layers[0].pyramid if canvas.layers else None
        if pyramid is None:
            return
        mask = picture_mask(pyramid.array, drawn.form.axes[-1], bars, drawn.values)
        channels, text = len(np.atleast_2d(drawn.values)), range_text(drawn, bars, "pixel")
        canvas.set_overlay(_colours(channels)[mask], text.replace(": ", ":\n") if channels > 1 else text)
        self._undo = partial(canvas.set_overlay, None)

    def _mark_curve(self, view: CurveView, drawn: ViewData, bars: tuple[int, int]) -> None:
        signal = view.drawn(INPUT)
        if signal is None:
            return
        samples = marked_samples(signal.array, drawn.form.axes[-1], bars, drawn.values)
        view.mark(range_text(drawn, bars, "sample"), samples)
        self._undo = partial(view.mark, "", None)


def _nothing() -> None:
    """Remove the marks."""


def _colours(channels: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """The RGBA colours of the values of a mask's bits."""
    table = np.zeros((1 << channels, 4), np.uint8)
    if channels == 1:
        table[1] = MARK.red(), MARK.green(), MARK.blue(), ALPHA
        return table
    for bits in range(1, 1 << channels):
        table[bits, :3] = [255 if bits >> c & 1 else 0 for c in range(3)]
        table[bits, 3] = ALPHA
    return table
