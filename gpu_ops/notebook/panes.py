"""What is shown of an input, a result and a difference: pictures of any part and size, and a line about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpu_ops.engine.shared import SharedResult
from gpu_ops.errors import signed
from gpu_ops.html import SPECTRAL, in_decibels
from gpu_ops.notebook.pictures import WHOLE, Array, Ends, Window, curve_png, image_png
from gpu_ops.output_kinds import OUTPUT_KINDS, Form, ViewKind, subtracted

SHAPE = 0.45
"""The height of a curve's picture as a share of its width."""
MOST_ROWS = 24
"""The most rows of a table that are shown."""
MOST_PIXELS = 1024
"""The most pixels of a picture along an axis, whatever a pane asks for."""
DIFFERENCE, SAME = "difference", "no difference"


@dataclass(frozen=True, eq=False)
class Shown:
    """One array to show: `kind` and `form` are those of the output, `ends` the values at the ends of the scale, None
    for its own. `place` is where a part of a picture begins in the whole one, whose extents are `whole`; both are ()
    for all of it. `signed` values are centred at zero."""

    key: str
    title: str
    array: Array
    kind: ViewKind
    form: Form
    unit: str
    text: str
    ends: Ends | None = None
    place: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    signed: bool = False
    note: str = ""

    @classmethod
    def of(cls, key: str, title: str, result: SharedResult, array: Array, **more: Any) -> Shown:
        return cls(key, title, array, result.kind, result.form, result.unit, result.text, **more)

    @property
    def drawn(self) -> str:
        """Whether it is a picture, a curve or text."""
        if self.kind in ("image", "signal", "spectrum", "bars", "pyramid") and self.array.size:
            return {1: "curve", 2: "picture"}.get(self.form.rank, "text")
        return "text"

    @cached_property
    def plane(self) -> Array:
        """The values that are drawn: (H, W), (H, W, 3 or 4) or (N, C). Spectra and pyramids are in decibels below their
        largest magnitude, with frequency zero in the middle."""
        values = self.form.channels_last(self.array)
        if self.kind in SPECTRAL:
            values = in_decibels(values, self.form, self.unit)
        if self.drawn == "curve":
            return values.reshape(len(values), -1)
        if values.ndim == 3 and values.shape[2] not in (3, 4):
            values = values[..., 0]
        return values

    @cached_property
    def scale(self) -> Ends:
        """The values at the ends of the scale."""
        if self.key == DIFFERENCE or self.signed:
            most = max(map(abs, Ends.of(self.plane)))
            low = 0.0 if self.key == DIFFERENCE and self.drawn == "picture" else -most
            return Ends(low, most).apart()
        if self.ends is not None and self.drawn != "text" and self.kind not in SPECTRAL:
            return self.ends
        found = Ends.of(self.plane)
        return Ends(min(found.low, 0.0), found.high).apart() if self.kind == "bars" else found

    def png(self, window: Window, most: int) -> bytes:
        """A picture of a part with at most `most` pixels along an axis."""
        most = min(max(int(most), 16), MOST_PIXELS)
        columns, rows = window.columns(self._width), window.rows(self._height)
        if self.drawn == "curve":
            return curve_png(self.plane[columns], self.scale, most, max(int(SHAPE * most), 16), self.kind == "bars")
        return image_png(self.plane[rows, columns], self.scale, most, self.key == DIFFERENCE)

    @property
    def _height(self) -> int:
        return len(self.plane) if self.drawn == "picture" else 1

    @property
    def _width(self) -> int:
        return self.plane.shape[1] if self.drawn == "picture" else len(self.plane)

    def is_detailed(self, window: Window, most: int) -> bool:
        """Whether a picture of this part shows more than one of the whole."""
        longest = max(self._width, self._height)
        return self.drawn != "text" and window != WHOLE and longest > most and not self.place

    def detail(self, window: Window, most: int) -> dict[str, Any]:
        """The picture of a part and its place, as shares of the whole picture."""
        return {"png": self.png(window, most), "place": window.shares(self._height, self._width)}

    def pane(self, most: int, others: Sequence[str] = ()) -> dict[str, Any]:
        """What the page draws: the picture of all of it, its place in the whole one, and words. `others` are the titles
        of results with the same bits."""
        title = f"{self.title} = {' = '.join(others)}" if others else self.title
        pane: dict[str, Any] = {"key": self.key, "title": title, "drawn": self.drawn, "caption": self.caption}
        if self.drawn == "text":
            return {**pane, "table": self._table()}
        extents, starts = (self._width, self._height), tuple(reversed(self.place))
        whole = tuple(reversed(self.whole)) if self.drawn == "picture" and self.whole else (*self.whole, 1)
        if not self.place:
            starts, whole = (0,) * 2, extents
        place = [s / w for s, w in zip((*starts, 0), whole, strict=False)]
        place += [e / w for e, w in zip(extents, whole, strict=False)]
        ratio = SHAPE if self.drawn == "curve" else whole[1] / whole[0]
        pane |= {"png": self.png(WHOLE, most), "place": place, "ratio": ratio, "size": list(whole)}
        return pane | {"marks": self._marks() if self.drawn == "curve" else []}

    @cached_property
    def digest(self) -> tuple[Any, ...]:
        """Equal for two results with the same bits at the same place."""
        data = hashlib.sha1(np.ascontiguousarray(self.array).data, usedforsecurity=False).digest()
        return self.key.partition(" ")[2], self.array.shape, self.array.dtype, self.place, data

    @cached_property
    def caption(self) -> str:
        """A line about it: that of the engine, and how it is drawn."""
        words = [self.text or OUTPUT_KINDS[self.kind].summarise(self.array, self.form, self.unit)]
        if self.text == SAME:
            return SAME
        if self.kind in SPECTRAL and self.unit != "dB" and self.drawn != "text":
            words.append("drawn in dB below the largest")
        if self.drawn == "picture" and self.kind == "image":
            low, high = map(signed, self.scale)
            words.append(f"{low} is black, {high} is {'yellow' if self.key == DIFFERENCE else 'white'}")
        return "; ".join([*words, *([self.note] if self.note else [])])

    def _marks(self) -> list[str]:
        """The numbers at the ends of a curve's axes: top, bottom, left, right."""
        axis = next(a for a in self.form.axes if a.name != "channel")
        unit = "dB" if self.kind in SPECTRAL else self.unit
        first, last = (axis.labels[0], axis.labels[-1]) if axis.labels else self._reach(axis)
        high, low = (f"{signed(v)} {unit}".strip() for v in (self.scale.high, self.scale.low))
        return [high, low, first, last]

    def _reach(self, axis: Any) -> tuple[str, str]:
        """The positions of the first and the last element in words; of a shifted axis, zero is in the middle."""
        first = -(self._width // 2) if axis.period and self.kind == "spectrum" else 0
        return axis.text(first), f"{signed(axis.at(first + self._width - 1))} {axis.unit}".strip()

    def _table(self) -> list[list[str]]:
        """The first rows of a table, with the names of rows and columns where they have some."""
        if self.kind != "table":
            return []
        rows = self.array.reshape(len(self.array), -1)[:MOST_ROWS]
        names, columns = (self.form.axes[0].labels, self.form.axes[-1].labels if self.array.ndim > 1 else ())
        head = [["", *columns]] if columns else []
        return head + [[names[k] if names else str(k), *(signed(v.item()) for v in row)] for k, row in enumerate(rows)]


def input_ends(values: Array) -> Ends:
    """The scale of an input and of results in its unit: bytes are drawn as they are."""
    return Ends(0.0, 255.0) if values.dtype == np.uint8 and values.ndim > 1 else Ends.of(values)


def difference(a: Shown, b: Shown) -> Shown | None:
    """A minus B, where both are of one kind and of one shape; of a part and a whole, on the part."""
    one, other = _overlap(a, b), _overlap(b, a)
    if a.kind != b.kind or one is None or other is None or one.shape != other.shape or a.drawn == "text":
        return None
    small = a if a.place else b
    if one.dtype.kind == "c" or other.dtype.kind == "c":
        values: Array = np.abs(one - other)
    else:
        values = subtracted(one, other)
    sizes = np.abs(values)
    most = float(np.nanmax(sizes)) if not np.isnan(sizes).all() else 0.0
    where = np.unravel_index(int(np.nanargmax(sizes)), sizes.shape) if most else ()
    text = f"largest difference {signed(most)} {small.unit}".strip() if most else SAME
    text += "".join(
        f"{' at' if k == 0 else ','} {axis.text(float(p))}"
        for k, (axis, p) in enumerate(zip(small.form.axes, where, strict=False))
    )
    how: Mapping[str, Any] = {"place": small.place, "whole": small.whole}
    kind: ViewKind = "image" if small.drawn == "picture" else "signal"
    return Shown(DIFFERENCE, f"{a.title} − {b.title}", values, kind, small.form, small.unit, text, **how)


def _overlap(shown: Shown, other: Shown) -> Array | None:
    """The part of an array that the other one has too; None where there is none."""
    if shown.place == other.place:
        return shown.array
    if not other.place or shown.place:
        return shown.array if shown.place and not other.place else None
    rank = len(other.place)
    return shown.array[tuple(slice(s, s + n) for s, n in zip(other.place, other.array.shape[:rank], strict=True))]


def table_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ladder as lines of text."""
    return [f"{row['title']}{' on ' * bool(row['device'])}{row['device']}: {row['text']}" for row in rows]
