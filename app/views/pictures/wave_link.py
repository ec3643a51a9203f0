"""Shows, in the picture next to a spectrum, the wave that the point under the cursor represents."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Slot

from app.models.experiment.session import Session
from app.models.pictures.display import Display
from app.models.pictures.wave import Wave, in_place
from app.models.results.view_data import INPUT
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import Sketch, sketch_of
from app.views.pictures.spectrum_paint import draw_wave
from app.views.pictures.spectrum_view import SpectrumView
from app.views.results.pictures import Pictures


class WaveLink(QObject):
    """Follows the cursor of the visible spectrum. `wave` is the wave shown now; None if there is no cursor, no spectrum
    of an image, or no image next to it."""

    def __init__(self, pictures: Pictures, session: Session) -> None:
        super().__init__(pictures)
        self._session = session
        self.wave: Wave | None = None
        self._pictures = pictures
        self._display: Display | None = None
        self._sketch: Sketch | None = None
        pictures.view_changed.connect(self._bind)
        pictures.drawn_changed.connect(self._show)

    @Slot()
    def _bind(self) -> None:
        """The visible view may have changed."""
        view = self._pictures.view
        display = view.display if isinstance(view, SpectrumView) else None
        if display is not self._display:
            if self._display is not None:
                self._display.cursor_moved.disconnect(self._show)
            if display is not None:
                display.cursor_moved.connect(self._show)
            self._display = display
        self._show()

    def _canvas(self) -> ImageCanvas | None:
        """The canvas of the input next to the spectrum."""
        grid = self._pictures.view_with(INPUT).grid
        return grid.panes[INPUT].canvas if grid is not None and INPUT in grid.panes else None

    @Slot()
    def _show(self) -> None:
        view, canvas = self._pictures.view, self._canvas()
        pointed = view.pointed() if isinstance(view, SpectrumView) and canvas is not None else None
        self.wave = self._in_place(*pointed) if pointed is not None else None
        sketch = sketch_of(canvas) if self.wave is not None and canvas is not None else None
        if self._sketch is not None and self._sketch is not sketch:
            self._sketch.draw("wave", None)
        if sketch is not None and self.wave is not None:
            sketch.draw("wave", partial(draw_wave, wave=self.wave))
        self._sketch = sketch

    def _in_place(self, variant: str, wave: Wave) -> Wave:
        """With the phase, for a complex spectrum with the current settings."""
        session = self._session
        shown = self._pictures.shown(variant, session.output.id)
        if shown is None or shown.array.dtype.kind != "c" or shown.origin.subject != session.shown.subject(variant):
            return wave
        return in_place(wave, shown.array, shown.result.form.axes, shown.origin.start)
