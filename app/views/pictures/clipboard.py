"""Pictures to and from the clipboard."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QDir, QTemporaryDir
from PySide6.QtGui import QImage

from app.models.pictures.display import Display
from app.models.pictures.layer import Layer, Tone
from app.models.pictures.pyramid import to_uint8
from app.views.pictures.panes import PaneGrid

PASTED = "pasted.png"


def chosen_layer(panes: PaneGrid) -> Layer | None:
    """The layer to copy: the difference in difference mode, else the picture or difference with the focus, else the
    last result of the whole input, else the last result, else the input; None if there is none."""
    if panes.mode == "difference" and panes.difference.distance is not None:
        return panes.difference.layer
    keys = [key for key in panes.keys if panes.pane(key).layer.pyramid is not None]
    focused = [key for key, pane in panes.every.items() if pane.canvas.hasFocus() and pane.layer.pyramid is not None]
    whole = [key for key in keys[1:] if not panes.pane(key).layer.origin.start]
    for candidates in (focused, whole, keys[1:], keys):
        if candidates:
            return panes.pane(candidates[-1]).layer
    return None


def picture(layer: Layer, display: Display) -> QImage:
    """The whole picture, pixel by pixel, with its current levels and colours."""
    assert layer.pyramid is not None
    tone = layer.tone or Tone(display.low, display.high, display.lut)
    pixels = np.ascontiguousarray(to_uint8(layer.pyramid.array, tone.low, tone.high, tone.lut))
    format = QImage.Format.Format_Grayscale8 if pixels.ndim == 2 else QImage.Format.Format_RGBA8888
    height, width = pixels.shape[:2]
    # The copy no longer needs the array.
    return QImage(pixels.data, width, height, pixels.strides[0], format).copy()


class PasteFile:
    """Keeps a pasted picture as a file while the window exists, so that it is opened like any other file."""

    def __init__(self) -> None:
        self._folder = QTemporaryDir(QDir(QDir.tempPath()).filePath("kernelscope-XXXXXX"))

    @property
    def path(self) -> str:
        return self._folder.filePath(PASTED)

    def write(self, image: QImage) -> bool:
        """Greyscale images stay greyscale, and alpha is kept if there is any."""
        formats = QImage.Format
        if image.hasAlphaChannel():
            wanted = formats.Format_RGBA8888
        else:
            wanted = formats.Format_Grayscale8 if image.isGrayscale() else formats.Format_RGB888
        return self._folder.isValid() and image.convertToFormat(wanted).save(self.path)
