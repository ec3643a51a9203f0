"""Spectra of images as linked pictures, with their frequencies at the edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget

from app.models.display import Display
from app.models.wave import Wave, wave_at
from app.views.results.image_canvas import ImageCanvas
from app.views.results.picture_view import PictureView
from app.views.results.sketch import Sketch
from app.views.results.spectrum_paint import draw_frequencies
from gpu_ops.types import Filter


class SpectrumView(PictureView):
    """A PictureView whose canvases have a sketch each: `sketches`, by canvas."""

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(display, parent)
        self.sketches: dict[ImageCanvas, Sketch] = {}
        self._cover(self.grid.compare)

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        super().arrange(keys, titles, filter)
        for key in keys:
            self._cover(self.grid.pane(key).canvas)

    def _cover(self, canvas: ImageCanvas) -> None:
        """Panes are reused: each has one sketch for ever."""
        if canvas not in self.sketches:
            self.sketches[canvas] = Sketch(canvas)
            self.sketches[canvas].drawings.append(draw_frequencies)

    def wave(self) -> Wave | None:
        """The wave that the point under the cursor stands for; None without one."""
        cursor = self._display.cursor
        for key in self.grid.keys:
            layer = self.grid.pane(key).layer
            if cursor is not None and layer.drawn is not None and (pixel := layer.pixel(*cursor)) is not None:
                return wave_at(layer.drawn.form.axes, *pixel)
        return None
