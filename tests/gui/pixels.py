"""What is painted, read as a whole: asking a picture for one pixel after the other takes a hundred times as long."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage


def rgb(image: QImage) -> np.ndarray:
    """Red, green and blue of every pixel, (H, W, 3) uint8."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return lines[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()


def colours(image: QImage) -> set[str]:
    """The names of all colours in the picture."""
    values = rgb(image).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    return {f"#{value:06x}" for value in np.unique(values)}
