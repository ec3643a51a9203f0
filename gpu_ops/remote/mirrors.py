"""The arrays of an engine host in segments here. Of a large one only a small picture comes by itself; its values come
when they are needed."""

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
from gpu_ops.remote.cells import Cells, paint, real
from gpu_ops.remote.sending import unpacked
from gpu_ops.remote.wire import Frame, WireError, note

VIEW = 3 << 18
"""The most cells of the second sight of an array: 886 × 886 are about those of a pane."""
EXACT = 0
COARSEST = 1 << 30
Post = Callable[[Frame], object]


@dataclass(eq=False)
class Mirror:
    """`there` and `here` are the same array on both machines; `times` is how often this side must release it. `step`
    says how many values along an axis one has that is shown: EXACT, or more than 1 for a smaller picture."""

    there: SharedArray
    here: SharedArray
    array: np.ndarray[Any, Any]
    times: int = 1
    step: int = COARSEST
    arrived: int = 0
    lost: bool = False
    asked: dict[int, int] = field(default_factory=dict)
    then: list[Callable[[bool], None]] = field(default_factory=list)
    codes: bytearray = field(default_factory=bytearray)

    @property
    def bytes(self) -> np.ndarray[Any, Any]:
        return self.array.reshape(-1).view(np.uint8)


class Mirrors:
    """`changed(mirror)` is called when more of an array is here. Any thread may call any method; the window's pool
    calls `forget` when a segment has no holder any more."""

    def __init__(self, pool: SegmentPool, post: Post, changed: Callable[[Mirror], None]) -> None:
        self._pool, self._post, self._changed = pool, post, changed
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._by_here: dict[str, Mirror] = {}
        self._by_there: dict[str, Mirror] = {}
        self._asked: dict[int, Mirror] = {}
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
            for content, part in self._early.pop(there.segment, ()):
                self._add(mirror, content, part)
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

    def look(self, segment: str) -> None:
        """Ask for a sight of an array that fills a pane, if it is not here."""
        mirror = self.get(segment)
        if mirror is None or mirror.step == EXACT or mirror.lost or mirror.asked:
            return
        if mirror.array.nbytes <= VIEW:
            self.whole(segment, lambda ok: None)
        else:
            self._ask(mirror, VIEW)

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
        elif 0 not in mirror.asked.values():
            self._ask(mirror, 0)

    def _ask(self, mirror: Mirror, cells: int) -> None:
        number = next(self._numbers)
        with self._lock:
            mirror.asked[number] = cells
            self._asked[number] = mirror
            mirror.codes.clear()
            there = mirror.there
        about = {"segment": there.segment, "shape": list(there.shape), "dtype": there.dtype}
        self._post(note("send", number=number, cells=cells, **about))

    def receive(self, content: dict[str, Any], buffer: bytes | memoryview) -> None:
        """A part of an array has come. Raises WireError for one that fits nowhere."""
        try:
            part, number = unpacked(content, buffer), int(content.get("number", 0))
            segment = str(content["segment"])
            with self._lock:
                mirror = self._asked.get(number) if number else None
                if number == 0:
                    self._early.setdefault(segment, []).append((content, part))
                elif mirror is not None:
                    self._add(mirror, content, part)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise WireError(f"a part of an array is not understood ({error})") from None

    def _add(self, mirror: Mirror, content: dict[str, Any], part: bytes) -> None:
        """Put a part where it belongs. Raises ValueError where it does not fit."""
        start = int(content["start"])
        if "cells" not in content:
            mirror.bytes[start : start + len(part)] = np.frombuffer(part, np.uint8)
            mirror.arrived = start + len(part)
            if mirror.arrived == mirror.array.nbytes:
                mirror.step = EXACT
            return
        shape, step = tuple(map(int, content["cells"])), int(content["step"])
        if start != len(mirror.codes):
            raise ValueError("cells came out of order")
        mirror.codes += part
        if len(mirror.codes) == int(np.prod(shape)):
            codes = np.frombuffer(bytes(mirror.codes), np.uint8).reshape(shape)
            mirror.codes.clear()
            if mirror.arrived == 0 and step < mirror.step:
                paint(Cells(codes, float(content["low"]), float(content["high"]), step), real(mirror.array))
                mirror.step = step

    def sent(self, number: int, gone: bool = False) -> None:
        """The host has sent all of what was asked for, or has not got it."""
        with self._lock:
            mirror = self._asked.pop(number, None)
            if mirror is None:
                return
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
            mirror.codes.clear()
            for call in calls:
                call(False)
            self._changed(mirror)
