"""The state that a group of linked panes shares: position, zoom, levels, colours and cursor. No widgets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from gpu_ops.input_kinds import Spans
from gpu_ops.types import Pixel

Mode = Literal["auto", "range", "percentile", "manual"]
Levels = tuple[float, float]
Size = tuple[float, float]
COLORMAPS = ("gray", "viridis", "cividis", "magma")
DIVERGING = "red-blue"
"""Colours for values of both signs: ColorBrewer's RdBu with blue for negative ones. Colour-blind people can distinguish
its ends, which are dark enough to contrast with white under a projector."""
_STOPS = "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f"
CLOSE = 1 / 40  # at which a pixel stands out, and its value has room in it
FINEST, COARSEST = 1 / 256, 4096.0  # data units per screen pixel


class StatisticsLike(Protocol):
    """The exact statistics of an array that a display needs, as in gpu_ops' Statistics. `percentiles` has 0.1, 50 and
    99.9; `histogram` counts finite values in equal bins from minimum to maximum."""

    @property
    def minimum(self) -> float: ...
    @property
    def maximum(self) -> float: ...
    @property
    def percentiles(self) -> Mapping[float, float]: ...
    @property
    def histogram(self) -> tuple[int, ...]: ...
    @property
    def nan(self) -> int: ...
    @property
    def infinite(self) -> int: ...


@cache
def colors(name: str) -> np.ndarray[Any, Any]:
    """The 256 colours (256, 3) uint8 of a colour map, read-only. Its order is visible to colour-blind people.

    Read from pyqtgraph's files: importing it takes a fifth of a second, and pictures need nothing else from it.
    """
    if name == "gray":
        table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    elif name == DIVERGING:
        stops = np.array([[int(c[k : k + 2], 16) for k in (0, 2, 4)] for c in _STOPS.split()])
        places, at = np.linspace(0, 1, len(stops)), np.linspace(0, 1, 256)
        table = np.stack([np.interp(at, places, stops[:, k]) for k in range(3)], axis=1).round().astype(np.uint8)
    else:
        spec = find_spec("pyqtgraph")
        assert spec is not None and spec.origin is not None
        path = Path(spec.origin).parent / "colors" / "maps" / f"{name}.csv"
        table = (np.loadtxt(path, delimiter=",", comments=";") * 255 + 0.5).astype(np.uint8)
    table.setflags(write=False)
    return table


def spread_levels(low: float, high: float) -> tuple[float, float]:
    """The levels, moved apart where they are equal, so that a constant image is middle gray."""
    if high > low:
        return low, high
    half = max(0.5, abs(low) * 1e-3)
    return low - half, low + half


def natural_levels(array: np.ndarray[Any, Any], statistics: StatisticsLike | None) -> Levels | None:
    """Black and white by the type of a colour image: the full range of uint8 or uint16, 0 to 1 for floats within it.
    None for gray images and other floats, whose levels follow their values."""
    if array.ndim != 3 or array.shape[2] < 3:
        return None
    if array.dtype.kind == "u" and array.dtype.itemsize <= 2:
        return 0.0, float(np.iinfo(array.dtype).max)
    if statistics is not None and statistics.minimum >= 0 and statistics.maximum <= 1:
        return 0.0, 1.0
    return None


class Display(QObject):
    """Shared by all panes of a group. `centre` is (x, y) in data units, `scale` data units per screen pixel. Together
    they fix what a view of any size shows, so resizing changes neither and linked views cannot drift.

    `signed` says that levels are symmetric about 0 and colours are fixed.
    While `following` (until the user zooms or pans), the image fits into the smallest of the views.
    """

    signed = False
    navigated = Signal()
    levels_changed = Signal()
    figures_changed = Signal()
    colormap_changed = Signal()
    cursor_moved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.centre: tuple[float, float] = (0.0, 0.0)
        self.scale = 1.0
        self.following = True
        self.low, self.high = 0.0, 255.0
        self.levelled = False  # True once levels have been set
        self.mode: Mode = "auto"
        self.statistics: StatisticsLike | None = None
        self.natural: Levels | None = None
        self.colormap = "gray"
        self.lut: np.ndarray[Any, Any] | None = None  # None: gray, painted without a table
        self.cursor: tuple[float, float] | None = None
        self.pixel: Pixel | None = None  # the size of a data unit, if known
        self._views: dict[int, tuple[Size, Size]] = {}

    # Place and zoom

    def _go(self, x: float, y: float, scale: float) -> None:
        scale = float(np.clip(scale, FINEST, COARSEST))
        if ((x, y), scale) != (self.centre, self.scale):
            self.centre, self.scale = (x, y), scale
            self.navigated.emit()

    def fit(self, width: float, height: float, view_width: float, view_height: float) -> None:
        """Fit all of `width` × `height` data units into a view of so many screen pixels, also after a resize."""
        self.following = True
        scale = max(width / max(view_width, 1), height / max(view_height, 1))
        self._go(width / 2, height / 2, scale)

    def place(self, view: int, data: Size, viewport: Size) -> None:
        """Register a view, by its key, that shows `data` in a `viewport` of so many screen pixels."""
        self._views[view] = data, viewport
        if self.following:
            self.refit()

    def forget(self, view: int) -> None:
        """Remove a view that is closed or hidden."""
        if self._views.pop(view, None) and self.following:
            self.refit()

    def refit(self) -> None:
        """Fit the largest data into the smallest of the views."""
        if self._views:
            data, views = zip(*self._views.values(), strict=True)
            self.fit(*map(max, zip(*data, strict=True)), *map(min, zip(*views, strict=True)))

    @property
    def in_view(self) -> Spans:
        """The rows and columns of the largest data that the largest view shows; () while views follow the data."""
        if self.following or not self._views:
            return ()
        data, views = zip(*self._views.values(), strict=True)
        wide, high = (self.scale * max(sides) / 2 for sides in zip(*views, strict=True))
        (x, y), (width, height) = self.centre, map(max, zip(*data, strict=True))
        rows = max(0, int(y - high)), min(int(height), math.ceil(y + high))
        columns = max(0, int(x - wide)), min(int(width), math.ceil(x + wide))
        return (rows, columns) if rows[0] < rows[1] and columns[0] < columns[1] else ()

    @property
    def pixels(self) -> int:
        """How many pixels of the screen the largest view has; 0 without one."""
        return int(max((width * height for _, (width, height) in self._views.values()), default=0))

    def one_to_one(self) -> None:
        """Show one data unit per screen pixel around the present centre."""
        self.following = False
        self._go(*self.centre, 1.0)

    def zoom_at(self, factor: float, x: float, y: float) -> None:
        """Magnify by `factor`; the data point (x, y) stays where it is on the screen."""
        self.following = False
        scale = float(np.clip(self.scale / factor, FINEST, COARSEST))
        ratio = scale / self.scale
        self._go(x + (self.centre[0] - x) * ratio, y + (self.centre[1] - y) * ratio, scale)

    def go_to(self, x: float, y: float) -> None:
        """Show the pixel at (x, y) in the middle, with the cursor on it, so large that it stands out."""
        self.following = False
        self._go(x + 0.5, y + 0.5, min(self.scale, CLOSE))
        self.set_cursor(x + 0.5, y + 0.5)

    def pan(self, dx: float, dy: float) -> None:
        """Move the centre by data units."""
        self.following = False
        self._go(self.centre[0] + dx, self.centre[1] + dy, self.scale)

    def set_pixel(self, pixel: Pixel | None) -> None:
        """Set the size of a data unit, in which the cursor's position is also given; None where it is unknown."""
        if pixel != self.pixel:
            self.pixel = pixel
            self.cursor_moved.emit()

    # Levels and colours

    def set_input(self, statistics: StatisticsLike | None, natural: Levels | None = None) -> None:
        """Take another input: automatic levels follow its statistics, or are `natural` where its type defines black and
        white. The levels, the zoom and the cursor of the previous input are dropped."""
        self.set_figures(statistics, natural)
        self.following = True
        self.clear_cursor()
        self.refit()

    def set_figures(self, statistics: StatisticsLike | None, natural: Levels | None = None) -> None:
        """Take other values of the same input: automatic levels follow these statistics, as in `set_input`."""
        self.statistics, self.natural = statistics, natural
        self.levelled = False
        self.auto_levels("auto")
        self.figures_changed.emit()

    def follow(self, statistics: StatisticsLike | None, natural: Levels | None = None) -> None:
        """Take other values of the same input and keep the view: automatic levels follow the values, others stay."""
        self.statistics, self.natural = statistics, natural
        self.auto_levels(self.mode)
        self.figures_changed.emit()

    def auto_levels(self, mode: Mode) -> None:
        """Set levels from the input: "auto", "range" (exact minimum to maximum) or "percentile" (0.1 to 99.9)."""
        self.mode = mode
        s = self.statistics
        if mode == "auto" and self.natural is not None:
            self._level(*self.natural)
        elif s is not None and mode == "percentile":
            self._level(s.percentiles[0.1], s.percentiles[99.9])
        elif s is not None and mode != "manual":
            self._level(s.minimum, s.maximum)

    def guess_levels(self, low: float, high: float) -> None:
        """Set levels until statistics come, unless levels are set already."""
        if not self.levelled:
            self._level(low, high)

    def set_levels(self, low: float, high: float) -> None:
        """Set levels by hand, in either order; they stay at least 1/512 of the values' range apart."""
        self.mode = "manual"
        low, high = min(low, high), max(low, high)
        if self.statistics is not None:
            high = max(high, low + (self.statistics.maximum - self.statistics.minimum) / 512)
        self._level(low, high)

    def _level(self, low: float, high: float) -> None:
        low, high = spread_levels(float(low), float(high))
        self.levelled = True
        if (low, high) != (self.low, self.high):
            self.low, self.high = low, high
            self.levels_changed.emit()

    def set_colormap(self, name: str) -> None:
        """One of COLORMAPS."""
        if name not in COLORMAPS:
            raise ValueError(f"a colour map is one of {', '.join(COLORMAPS)}, not {name}")
        if name != self.colormap:
            self.colormap = name
            self.lut = None if name == "gray" else colors(name)
            self.colormap_changed.emit()

    # Cursor

    def set_cursor(self, x: float, y: float) -> None:
        """Set the data point under the cursor, whichever pane it is in."""
        if self.cursor != (x, y):
            self.cursor = (x, y)
            self.cursor_moved.emit()

    def clear_cursor(self) -> None:
        if self.cursor is not None:
            self.cursor = None
            self.cursor_moved.emit()
