"""Spectra of images, and other images with their own axes, as linked pictures with axis labels."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display
from app.models.pictures.wave import Wave, wave_at
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.picture_view import PictureView
from app.views.pictures.sketch import sketch_of
from app.views.pictures.spectrum_paint import draw_frequencies


class SpectrumView(PictureView):
    """A PictureView that draws the numbers of both axes over its pictures."""

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(display, parent)
        self._draw(self.grid.compare)
        self.grid.pane_made.connect(lambda pane: self._draw(pane.canvas))

    def canvases(self) -> list[ImageCanvas]:
        """The canvases of all results, one each."""
        return [self.grid.pane(key).canvas for key in self.grid.keys]

    @staticmethod
    def _draw(canvas: ImageCanvas) -> None:
        sketch_of(canvas).draw("frequencies", draw_frequencies)

    def pointed(self) -> tuple[str, Wave] | None:
        """The first result with a point under the cursor, and the wave that this point represents."""
        cursor = self._display.cursor
        for key in self.grid.keys:
            layer = self.grid.pane(key).layer
            axes = layer.drawn.form.axes[:2] if layer.drawn is not None else ()
            if not axes or not all(axis.period for axis in axes):
                continue  # the positions are not frequencies of the input's pixels
            if cursor is not None and (pixel := layer.pixel(*cursor)) is not None:
                return key, wave_at(axes, *pixel)
        return None
