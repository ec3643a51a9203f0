"""Inputs of the window that its engine host does not have: each is sent once, by the hash of its bytes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue

import numpy as np

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.remote.line import Line
from gpu_ops.remote.sending import PART
from gpu_ops.remote.store import hash_of
from gpu_ops.remote.wire import DATA, WireError, headed, note


class Gone(Exception):
    """The engine there is another one now: what was being sent to it is sent anew."""


class Uploads:
    """Any thread may call any method; `send` is for one thread."""

    def __init__(self, pool: SegmentPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._questions: dict[int, SimpleQueue[list[str] | None]] = {}
        self._numbers = itertools.count(1)

    def name(self, shared: SharedArray) -> str:
        """The name of an array on the host. Raises KeyError if its segment is gone."""
        known = self._names.get(shared.segment)
        if known is None:
            known = self._names[shared.segment] = hash_of(self._pool.array(shared))
        return known

    def segment(self, name: str) -> str:
        """The segment here of an array by its name on the host. Raises WireError."""
        for segment, known in list(self._names.items()):
            if known == name:
                return segment
        raise WireError("an answer names an array that was not sent")

    def send(
        self, line: Line, arrays: Mapping[str, SharedArray], report: Callable[[int], None] = lambda percent: None
    ) -> None:
        """Send those of the arrays that the host does not have, and `report` each percent of them. Raises Gone."""
        missing = {name: self._pool.array(arrays[name]) for name in self._missing(line, list(arrays))}
        total, sent, percent = sum(array.nbytes for array in missing.values()), 0, -1
        for name, array in missing.items():
            data = array.reshape(-1).view(np.uint8)
            line.send(note("array", segment=name, nbytes=data.size))
            for start in range(0, data.size, PART):
                part = data[start : start + PART]
                if not line.send(headed(DATA, part.tobytes(), segment=name), patient=True):
                    raise Gone
                sent += part.size
                if 100 * sent // total > percent:
                    percent = 100 * sent // total
                    report(percent)

    def _missing(self, line: Line, names: list[str]) -> list[str]:
        if not names:
            return []
        number, answer = next(self._numbers), SimpleQueue[list[str] | None]()
        with self._lock:
            self._questions[number] = answer
        if not line.send(note("missing?", number=number, names=names)):
            raise Gone
        missing = answer.get()
        if missing is None:
            raise Gone
        return [name for name in missing if name in names]

    def answer(self, number: int, missing: list[str]) -> None:
        """The host says which arrays it does not have."""
        with self._lock:
            question = self._questions.pop(number, None)
        if question is not None:
            question.put(missing)

    def give_up(self) -> None:
        """The engine there is gone and answers nothing."""
        with self._lock:
            questions, self._questions = self._questions, {}
        for question in questions.values():
            question.put(None)

    def forget(self, segment: str) -> str | None:
        """A segment has no holder any more. Returns the name of its array if no other one has the same."""
        name = self._names.pop(segment, None)
        return None if name in self._names.values() else name
