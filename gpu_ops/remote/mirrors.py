"""The arrays of an engine host in segments here. Of a large one only as much comes by itself as a pane can show; its
values come when they are needed."""

from __future__ import annotations

import itertools
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.input_kinds import Spans
from gpu_ops.remote.cells import Cells, paint, real, step_for
from gpu_ops.remote.sending import cut, unpacked
from gpu_ops.remote.wire import Frame, WireError, note

VIEW = 3 << 18
"""The most cells of a sight that a pane asks for: 886 × 886."""
EXACT = 0
COARSEST = 1 << 30
Post = Callable[[Frame], object]


@dataclass(eq=False)
class Mirror:
    """`there` and `here` are the same array on both machines; `times` is how often this side must release it. `step`
    says how many values along an axis one has that is shown in `spans`, () for everywhere: EXACT for all values, else
    those of a smaller picture. `asked` are the numbers of what has been asked for, `arrived` the bytes that came."""

    there: SharedArray
    here: SharedArray
    array: np.ndarray[Any, Any]
    times: int = 1
    step: int = COARSEST
    spans: Spans = ()
    arrived: int = 0
    lost: bool = False
    asked: dict[int, _Question] = field(default_factory=dict)
    then: list[Callable[[bool], None]] = field(default_factory=list)

    @property
    def bytes(self) -> np.ndarray[Any, Any]:
        return self.array.reshape(-1).view(np.uint8)

    def shows(self, spans: Spans, cells: int) -> bool:
        """Whether this part of the array is here already, with as many cells."""
        inside = all(a <= c and d <= b for (a, b), (c, d) in zip(self.spans, spans, strict=False))
        if self.spans and (not spans or not inside):
            return False
        return self.step <= step_for(real(self.array)[cut(spans)].shape, cells)


@dataclass(eq=False)
class _Question:
    """What was asked for: so many cells of a part of an array, or all values with 0; and the codes that have come."""

    mirror: Mirror
    cells: int = 0
    spans: Spans = ()
    codes: bytearray = field(default_factory=bytearray)


class Mirrors:
    """`changed(mirror)` is called when more of an array is here. Any thread may call any method; the window's pool
    calls `forget` when a segment has no holder any more."""

    def __init__(self, pool: SegmentPool, post: Post, changed: Callable[[Mirror], None]) -> None:
        self._pool, self._post, self._changed = pool, post, changed
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._by_here: dict[str, Mirror] = {}
        self._by_there: dict[str, Mirror] = {}
        self._asked: dict[int, _Question] = {}
        self._early: dict[str, list[tuple[dict[str, Any], bytes]]] = {}

    def get(self, segment: str) -> Mirror | None:
        """The mirror in this segment."""
        with self._lock:
            return self._by_here.get(segment)

    def take(self, there: SharedArray) -> SharedArray:
        """The array here for one of the host, which is held once more. Raises DeviceMemoryError."""
        with self._lock:
            known = self._by_there.get(there.segment)
            if known is not None:
                known.times += 1
                self._early.pop(there.segment, None)
        if known is not None:
            self._pool.hold(known.here.segment)
            return replace(known.here, shape=there.shape)
        nbytes = int(np.prod(there.shape, dtype=np.int64)) * np.dtype(there.dtype).itemsize
        here = replace(there, segment=self._pool.take(nbytes))
        mirror = Mirror(there, here, self._pool.array(here, writeable=True))
        with self._lock:
            self._by_here[here.segment] = self._by_there[there.segment] = mirror
            with_answer = _Question(mirror)
            for content, part in self._early.pop(there.segment, ()):
                _add(with_answer, content, part)
        return here

    def give_back(self, here: str) -> None:
        """Undo one `take` of an array that the host did not hand over."""
        with self._lock:
            if here in self._by_here:
                self._by_here[here].times -= 1
        self._pool.release(here)

    def forget(self, segment: str) -> None:
        """A segment has no holder any more: the host may release its array."""
        with self._lock:
            mirror = self._by_here.pop(segment, None)
            if mirror is None:
                return
            self._by_there.pop(mirror.there.segment, None)
            for number in mirror.asked:
                self._asked.pop(number, None)
        for number in mirror.asked:
            self._post(note("stop", number=number))
        if not mirror.lost:
            self._post(note("release", segment=mirror.there.segment, times=mirror.times))
        for then in mirror.then:
            then(False)

    def look(self, segment: str, view: Spans = (), pixels: int = 0) -> None:
        """Ask for a sight of an array, or of its part in `view`, that fills so many pixels of a pane, if it is not
        here. It comes in place of an earlier one and before values that were asked for."""
        mirror = self.get(segment)
        if mirror is None or mirror.step == EXACT or mirror.lost:
            return
        if mirror.array.nbytes <= VIEW:
            self.whole(segment, lambda ok: None)
            return
        cells = min(pixels, VIEW) or VIEW
        with self._lock:
            before = [(number, asked.spans) for number, asked in mirror.asked.items() if asked.cells]
            if mirror.shows(view, cells) or any(spans == view for _, spans in before):
                return
            for number, _ in before:
                del mirror.asked[number], self._asked[number]
        for number, _ in before:
            self._post(note("stop", number=number))
        self._ask(mirror, cells, view)

    def whole(self, segment: str, then: Callable[[bool], None]) -> None:
        """Ask for all values of an array, and call `then(True)` when they are here, at once where they are; with False
        where they never come."""
        with self._lock:
            mirror = self._by_here.get(segment)
            waits = mirror is not None and mirror.step != EXACT and not mirror.lost
            if mirror is not None and waits:
                mirror.then.append(then)
        if mirror is None or not waits:
            then(mirror is None or mirror.step == EXACT)
        elif all(asked.cells for asked in mirror.asked.values()):
            self._ask(mirror, 0)

    def _ask(self, mirror: Mirror, cells: int, spans: Spans = ()) -> None:
        number = next(self._numbers)
        with self._lock:
            mirror.asked[number] = self._asked[number] = _Question(mirror, cells, spans)
            there = mirror.there
        about = {"segment": there.segment, "shape": list(there.shape), "dtype": there.dtype}
        self._post(note("send", number=number, cells=cells, spans=spans, **about))

    def receive(self, content: dict[str, Any], buffer: bytes | memoryview) -> None:
        """A part of an array has come. Raises WireError for one that fits nowhere."""
        try:
            part, number = unpacked(content, buffer), int(content.get("number", 0))
            segment = str(content["segment"])
            with self._lock:
                if number == 0:
                    self._early.setdefault(segment, []).append((content, part))
                elif number in self._asked:
                    _add(self._asked[number], content, part)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise WireError(f"a part of an array is not understood ({error})") from None

    def sent(self, number: int, gone: bool = False) -> None:
        """The host has sent all of what was asked for, or has not got it."""
        with self._lock:
            asked = self._asked.pop(number, None)
            if asked is None:
                return
            mirror = asked.mirror
            mirror.asked.pop(number, None)
            mirror.lost = mirror.lost or gone
            done, then = mirror.step == EXACT or gone, mirror.then
            if done:
                mirror.then = []
        for call in then if done else ():
            call(mirror.step == EXACT)
        self._changed(mirror)

    def lose(self) -> None:
        """The engine there has gone, and its arrays with it: what is not here never comes."""
        with self._lock:
            self._early.clear()
            self._asked.clear()
            self._by_there.clear()
            mirrors = list(self._by_here.values())
        for mirror in mirrors:
            mirror.lost, calls = True, mirror.then
            mirror.asked, mirror.then = {}, []
            for call in calls:
                call(False)
            self._changed(mirror)


def _add(asked: _Question, content: dict[str, Any], part: bytes) -> None:
    """Put a part of what was asked for where it belongs. Raises ValueError where it does not fit."""
    start, mirror = int(content["start"]), asked.mirror
    if "cells" not in content:
        mirror.bytes[start : start + len(part)] = np.frombuffer(part, np.uint8)
        mirror.arrived = start + len(part)
        if mirror.arrived == mirror.array.nbytes:
            mirror.step, mirror.spans = EXACT, ()
        return
    shape = tuple(map(int, content["cells"]))
    if start != len(asked.codes):
        raise ValueError("cells came out of order")
    asked.codes += part
    if len(asked.codes) < int(np.prod(shape)):
        return
    codes = np.frombuffer(bytes(asked.codes), np.uint8).reshape(shape)
    asked.codes.clear()
    if mirror.step != EXACT:
        cells = Cells(codes, float(content["low"]), float(content["high"]), int(content["step"]))
        _paint(mirror, cells, tuple((int(first), int(last)) for first, last in content["spans"]))


def _paint(mirror: Mirror, cells: Cells, spans: Spans) -> None:
    """Show the cells of a part, except where values have come. Raises ValueError where they do not fit."""
    values, rows = real(mirror.array), -(-mirror.arrived * len(mirror.array) // mirror.array.nbytes)
    part = values[cut(spans)]
    if any(not 0 <= first < last <= n for (first, last), n in zip(spans, values.shape, strict=False)):
        raise ValueError("cells are of no part of the array")
    exact = part[: max(rows - (spans[0][0] if spans else 0), 0)].copy()
    paint(cells, part)
    part[: len(exact)] = exact
    mirror.step, mirror.spans = cells.step, spans
