"""A test chart for image filters: each quarter shows one kind of artefact of filters."""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float32]]

CELLS = (1, 2, 4, 8)
SPOKES = 36


def draw_chart(height: int, width: int, channels: int) -> Values:
    """(H, W) for 1 channel, (H, W, 3) for 3, in [0, 1].

    Quarters: gradients, checkers with cells of 1, 2, 4 and 8 pixels, a Siemens star, and lines with a hot pixel. In
    colour the gradients differ by channel; everything else is gray.
    """
    gray = np.zeros((height, width), np.float32)
    rows, columns = (height + 1) // 2, (width + 1) // 2
    across, down = np.linspace(0, 1, columns, dtype=np.float32), np.linspace(0, 1, rows, dtype=np.float32)[:, None]
    gray[: rows // 2, :columns] = across
    gray[rows // 2 : rows, :columns] = np.linspace(0, 1, rows - rows // 2, dtype=np.float32)[:, None]
    _draw_checkers(gray[:rows, columns:])
    _draw_star(gray[rows:, :columns])
    _draw_lines(gray[rows:, columns:])
    gray[height - 1 - height // 8, width - 1 - width // 8] = 1
    if channels == 1:
        return gray
    colour = np.repeat(gray[..., None], 3, axis=2)
    colour[:rows, :columns, 0] = across
    colour[:rows, :columns, 1] = down
    colour[:rows, :columns, 2] = 1 - across
    return colour


def _draw_checkers(part: Values) -> None:
    """One band of rows for each size of squares."""
    x = np.arange(part.shape[1])
    for cell, band in zip(CELLS, np.array_split(part, len(CELLS)), strict=True):
        y = np.arange(band.shape[0])[:, None]
        band[...] = (y // cell + x // cell) % 2


def _draw_star(part: Values) -> None:
    """White spokes on black inside the largest circle, middle gray outside."""
    height, width = part.shape
    y = (np.arange(height, dtype=np.float32) - (height - 1) / 2)[:, None]
    x = np.arange(width, dtype=np.float32) - (width - 1) / 2
    spokes = np.sin(np.arctan2(y, x) * np.float32(SPOKES)) > 0
    part[...] = np.where(np.hypot(y, x) <= min(height, width) / 2, spokes, np.float32(0.5))


def _draw_lines(part: Values) -> None:
    """Lines one pixel wide, each pair further apart, across and down the upper half; the lower half stays black."""
    half = part[: part.shape[0] // 2]
    left, right = half[:, : half.shape[1] // 2], half[:, half.shape[1] // 2 :]
    left[:, _spread(left.shape[1])] = 1
    right[_spread(right.shape[0])] = 1


def _spread(length: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """0, 2, 5, 9, 14 … below `length`: gaps of 1, 2, 3, 4 … pixels."""
    steps = np.arange(int(np.sqrt(2 * length)) + 2)
    places = steps * (steps + 3) // 2
    return places[places < length]
