"""Pictures of a region of the screen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QCoreApplication, QPoint, QRect
from PySide6.QtGui import QGuiApplication, QImage

from gpu_ops.errors import InputError


def whole_screen() -> QRect:
    """The place of the first screen, in the units of its window system."""
    return QGuiApplication.primaryScreen().geometry()


def grab(region: QRect, colour: bool) -> np.ndarray:
    """The pixels of a region, relative to the first screen: uint8 (H, W), or (H, W, 3) in colour; a screen of high
    density has more of them than the region has units. Raises InputError where the system gives no picture."""
    screen = QGuiApplication.primaryScreen()
    place, image = region.intersected(QRect(QPoint(), screen.geometry().size())), QImage()
    if not place.isEmpty():
        image = screen.grabWindow(0, place.x(), place.y(), place.width(), place.height()).toImage()
    if image.isNull():
        text = QCoreApplication.translate(
            "Live",
            "The system gives no picture of this region; choose one on the first screen. Wayland gives none to any "
            "program: log in with X11 for it, or choose a video.",
        )
        raise InputError(text)
    image = image.convertToFormat(QImage.Format.Format_RGB888 if colour else QImage.Format.Format_Grayscale8)
    channels = 3 if colour else 1
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    pixels = rows[:, : image.width() * channels].reshape(image.height(), image.width(), channels)
    return np.ascontiguousarray(pixels if colour else pixels[..., 0])
