"""A region, a line and an interval of the input, which all views of it share. No widgets."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.models.pictures.viewport import Rect

Tool = Literal["", "region", "profile"]
Extent = tuple[int, ...]
Grip = tuple[int, int]
"""The edges of a rectangle that move: (along y, along x), -1 the first edge, 1 the last one, 0 neither; (0, 0) moves
the whole rectangle."""
INSIDE: Grip = (0, 0)
GRIPS: tuple[Grip, ...] = tuple((y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != INSIDE)
SNAP = math.pi / 4
"""Straight lines are limited to multiples of this angle."""


class Line(NamedTuple):
    """A line from (x0, y0) to (x1, y1), in pixels of the input."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def length(self) -> float:
        return math.hypot(self.x1 - self.x0, self.y1 - self.y0)


class Probe(QObject):
    """What the user measures in one input: a `region` of whole pixels, a `line` for a profile, and an interval `span`
    of samples, from its first to the one after its last. Each is None if not drawn. They stay while the input
    keeps its size, as the frames of a stack do; an input of another size removes them.

    `extent` is (H, W) of an image, (N,) of a signal. `tool` is what a drag draws. `changed`: one of these changed;
    `extent_changed`: the input has another size, so that a drag has lost its meaning.
    `crop_wanted(start, shape)`: the user wants this part of the input alone.
    """

    changed = Signal()
    extent_changed = Signal()
    tool_changed = Signal(str)
    scale_bar_changed = Signal()
    mark_changed = Signal()
    crop_wanted = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.extent: Extent = ()
        self.tool: Tool = ""
        self.last: Tool = "region"
        """The tool that was used last; what it draws is in the foreground."""
        self.region: Rect | None = None
        self.line: Line | None = None
        self.span: tuple[int, int] | None = None
        self.mark: tuple[float, float] | None = None
        self.scale_bar = True

    @property
    def any(self) -> bool:
        """Whether anything is drawn."""
        return self.region is not None or self.line is not None or self.span is not None

    @property
    def chosen(self) -> bool:
        """Whether a region is drawn, or an interval of a signal."""
        return self.region is not None or self.span is not None

    def set_extent(self, extent: Extent) -> None:
        """The input has this size; another one removes what was drawn, and a tool that does not suit it."""
        if extent == self.extent:
            return
        self.extent = extent
        self.region = self.line = self.span = None
        self.extent_changed.emit()
        if self.tool == "profile" and len(extent) != 2:
            self.set_tool("")
        self.changed.emit()

    def set_tool(self, tool: Tool) -> None:
        """Let a drag draw a region or a line; "" for neither."""
        self.last = tool or self.last
        if tool != self.tool:
            self.tool = tool
            self.tool_changed.emit(tool)
            self.changed.emit()

    def bring(self, tool: Tool) -> None:
        """Bring what a tool has drawn to the foreground; the tool in use changes with it."""
        if tool != self.last:
            self.last = tool
            if self.tool:
                self.tool = tool
                self.tool_changed.emit(tool)
            self.changed.emit()

    def set_region(self, region: Rect | None) -> None:
        if region != self.region:
            self.region = region
            self.changed.emit()

    def set_line(self, line: Line | None) -> None:
        if line != self.line:
            self.line = line
            self.changed.emit()

    def set_span(self, span: tuple[int, int] | None) -> None:
        if span != self.span:
            self.span = span
            self.changed.emit()

    def set_mark(self, mark: tuple[float, float] | None) -> None:
        """Mark the point (x, y) on the line where the user reads its profile; None for no mark."""
        if mark != self.mark:
            self.mark = mark
            self.mark_changed.emit()

    def remove(self) -> None:
        """Remove what the foreground tool has drawn."""
        if self.last == "profile":
            self.set_line(None)
        else:
            self.region = self.span = None
            self.changed.emit()

    def remove_all(self) -> None:
        """Remove everything and deselect the tool."""
        self.region = self.line = self.span = None
        self.set_tool("")
        self.changed.emit()

    def set_scale_bar(self, shown: bool) -> None:
        """Show a scale bar on pictures of known pixel size."""
        if shown != self.scale_bar:
            self.scale_bar = shown
            self.scale_bar_changed.emit()

    def crop(self) -> None:
        """Ask for the region, or the interval, as the input."""
        if self.region is not None:
            left, top, right, bottom = self.region
            self.crop_wanted.emit((top, left), (bottom - top, right - left))
        elif self.span is not None:
            self.crop_wanted.emit((self.span[0],), (self.span[1] - self.span[0],))


# Rectangles of whole pixels


def spanning(x0: float, y0: float, x1: float, y1: float, extent: Extent) -> Rect:
    """The pixels that two opposite corners enclose or touch, at least one, within an image (H, W)."""
    left, right = whole(x0, x1, extent[1])
    top, bottom = whole(y0, y1, extent[0])
    return Rect(left, top, right, bottom)


def whole(one: float, other: float, count: int) -> tuple[int, int]:
    """The first of `count` cells between two positions, and the one after the last; at least one cell."""
    low, high = sorted((one, other))
    first = min(max(math.floor(low), 0), count - 1)
    return first, min(max(math.ceil(high), first + 1), count)


def moved(rect: Rect, dx: int, dy: int, extent: Extent) -> Rect:
    """The rectangle moved by whole pixels, as far as it stays within an image (H, W)."""
    left, right = shifted((rect.left, rect.right), dx, extent[1])
    top, bottom = shifted((rect.top, rect.bottom), dy, extent[0])
    return Rect(left, top, right, bottom)


def shifted(ends: tuple[int, int], by: int, count: int) -> tuple[int, int]:
    """An interval moved by whole cells, as far as it stays among `count` of them."""
    length = ends[1] - ends[0]
    first = min(max(ends[0] + by, 0), count - length)
    return first, first + length


def reached(rect: Rect, grip: Grip, x: float, y: float, extent: Extent) -> Rect:
    """The rectangle after its gripped edges moved to (x, y). An edge may cross the opposite one."""
    left, right = stretched((rect.left, rect.right), grip[1], x, extent[1])
    top, bottom = stretched((rect.top, rect.bottom), grip[0], y, extent[0])
    return Rect(left, top, right, bottom)


def stretched(ends: tuple[int, int], edge: int, place: float, count: int) -> tuple[int, int]:
    """An interval after its first (-1) or last (1) end moved to a position; 0 moves neither."""
    if edge == 0:
        return ends
    fixed, loose = ends[edge < 0], min(max(round(place), 0), count)
    if fixed == loose:
        loose = fixed + 1 if fixed < count else fixed - 1
    return min(fixed, loose), max(fixed, loose)


# Lines


def limited(line: Line, extent: Extent) -> Line:
    """The line with both ends within an image (H, W)."""
    height, width = extent
    x0, x1 = (min(max(x, 0.0), float(width)) for x in (line.x0, line.x1))
    y0, y1 = (min(max(y, 0.0), float(height)) for y in (line.y0, line.y1))
    return Line(x0, y0, x1, y1)


def moved_line(line: Line, dx: float, dy: float, extent: Extent) -> Line:
    """The line moved, as far as both ends stay within an image (H, W)."""
    height, width = extent
    dx = min(max(dx, -min(line.x0, line.x1)), width - max(line.x0, line.x1))
    dy = min(max(dy, -min(line.y0, line.y1)), height - max(line.y0, line.y1))
    return Line(line.x0 + dx, line.y0 + dy, line.x1 + dx, line.y1 + dy)


def with_end_moved(line: Line, end: int, x: float, y: float, extent: Extent, straight: bool = False) -> Line:
    """The line after its first (0) or second (1) end moved to (x, y). A `straight` one is horizontal, vertical or
    diagonal."""
    fixed = (line.x1, line.y1) if end == 0 else (line.x0, line.y0)
    if straight:
        away = math.hypot(x - fixed[0], y - fixed[1])
        angle = round(math.atan2(y - fixed[1], x - fixed[0]) / SNAP) * SNAP
        x, y = fixed[0] + away * math.cos(angle), fixed[1] + away * math.sin(angle)
    return limited(Line(x, y, *fixed) if end == 0 else Line(*fixed, x, y), extent)
