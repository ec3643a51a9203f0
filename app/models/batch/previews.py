"""Small pictures of files, of which only the newest are kept."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot
from PySide6.QtGui import QImage

from app.models.background import Background
from gpu_ops import KernelscopeError
from gpu_ops.input_kinds import IMAGE, SIGNAL
from gpu_ops.io.reading import Reading
from gpu_ops.notebook.pictures import Ends, curve_png, image_png
from gpu_ops.types import Input

SIDE, HEIGHT = 320, 160
"""The most pixels along an axis of an image, and the height of curves."""
MOST = 40
"""The number of pictures that are kept, of at most 4 · SIDE² bytes each: 16 MiB."""
LARGEST, VALUES = 64 << 20, 1 << 24
"""The most bytes of a file, and the most values, that are read for a picture."""
Preview = QImage | str
"""A picture, or why there is none."""


class Previews(QObject):
    """Draws files in the background. `drawn`: pictures that were asked for are there."""

    drawn = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[str, Preview] = OrderedDict()
        self._background, self._asked = Background(self), list[tuple[str, Reading]]()
        self._background.finished.connect(self._keep)
        self._background.failed.connect(self._give_up)

    @property
    def busy(self) -> bool:
        return self._background.busy

    def clear(self) -> None:
        """Forget all: the files may have changed."""
        self._background.cancel()
        self._kept.clear()

    def get(self, path: str) -> Preview | None:
        """What is known about a file; None for nothing yet."""
        return self._kept.get(path)

    def ask(self, files: Iterable[tuple[str, Reading]]) -> None:
        """Draw these files, each read in its way, instead of those that were asked for before."""
        wanted = [(path, reading) for path, reading in files if path and path not in self._kept]
        if wanted and wanted == self._asked and self.busy:
            return
        self._asked = wanted
        if wanted:
            self._background.start(lambda stop: {p: preview(p, r) for p, r in wanted if not stop()})
        else:
            self._background.cancel()
            self.drawn.emit()

    @Slot(object)
    def _keep(self, found: dict[str, Preview]) -> None:
        self._kept |= found
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        self.drawn.emit()

    @Slot(str)
    def _give_up(self, sentence: str) -> None:
        """None of the files could be drawn."""
        self._keep({path: sentence or _tr("no preview of this kind of file") for path, _ in self._asked})


def preview(path: str, reading: Reading) -> Preview:
    """A small picture of a file, or why there is none."""
    try:
        if os.path.getsize(path) > LARGEST:
            return _tr("too large for a preview")
        return _drawn(reading.load(path))
    except (KernelscopeError, OSError, MemoryError) as error:
        return getattr(error, "strerror", None) or str(error)


def _drawn(input: Input) -> Preview:
    values = np.abs(input.array) if input.array.dtype.kind == "c" else input.array
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if input.kind == SIGNAL.id:
        channels = values.reshape(len(values), -1)
        return QImage.fromData(curve_png(channels, Ends.of(channels), SIDE, HEIGHT))
    if input.kind != IMAGE.id:
        return _tr("no preview of this kind of file")
    values = values if values.ndim == 2 or values.shape[2] in (3, 4) else values[..., 0]
    return QImage.fromData(image_png(values, Ends.of(values), SIDE))


def _tr(text: str) -> str:
    return QCoreApplication.translate("BatchPreviews", text)
