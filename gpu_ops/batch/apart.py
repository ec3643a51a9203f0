"""A batch in a process of its own: a window stays free of its work, of a GPU's context and of what a fault ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from queue import Empty, SimpleQueue
from typing import Any

from gpu_ops import processes
from gpu_ops.batch.events import BatchEvent, BatchRun
from gpu_ops.batch.run import Pace
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.errors import UNAVAILABLE
from gpu_ops.io.reading import Reading
from gpu_ops.io.results import Saving

SERVE = "from gpu_ops.batch.apart import serve; serve()"
NICENESS = 5
"""The window and its engine go first."""


class BatchProcess:
    """A batch that runs in a new process, and ends with this one. It is used as a BatchRun that has been started."""

    def __init__(self, spec: BatchSpec) -> None:
        self._ended, self._pace = False, Pace(0, 0, 0.0, None)
        self._process = processes.LineProcess(SERVE)
        self._process.send(_as_json(spec))

    @property
    def pid(self) -> int:
        return self._process.pid

    def cancel(self) -> None:
        """No more files begin; those that are being processed are ended."""
        self._process.send({})

    def events(self, wait: bool = True) -> Iterator[BatchEvent]:
        """The events since the last call, as those of a BatchRun. A process that dies is an end as well."""
        while not self._ended:
            try:
                answer = self._process.answers.get(block=wait)
            except Empty:
                return
            event = self._lost() if answer is None else _event(answer)
            self._ended, self._pace = event.what == "ended", event.pace
            yield event

    def close(self) -> None:
        """End the process, with whatever it is doing."""
        self._process.end()

    def _lost(self) -> BatchEvent:
        words = f"its process ended {self._process.exit_reason()}; resume it: finished files are left out"
        return BatchEvent("ended", self._pace, text=words, code=UNAVAILABLE)


def serve() -> None:
    """The main function of such a process: its first request is the spec, and any later one cancels the batch."""
    requests, answers = processes.serving()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    run = BatchRun(_spec(requests.get())).start()
    threading.Thread(target=_obey, args=(requests, run), daemon=True).start()
    with suppress(BrokenPipeError):
        for event in run.events():
            processes.send(answers, asdict(event))


def _obey(requests: SimpleQueue[dict[str, Any]], run: BatchRun) -> None:
    requests.get()
    run.cancel()


def _as_json(spec: BatchSpec) -> dict[str, Any]:
    """A spec as JSON, with absolute paths: the process has another current folder."""
    report = None if spec.report is None else os.path.abspath(spec.report)
    inputs, folder = [os.path.abspath(name) for name in spec.inputs], os.path.abspath(spec.output_dir)
    return asdict(replace(spec, inputs=inputs, output_dir=folder, report=report))


def _spec(content: Mapping[str, Any]) -> BatchSpec:
    reading, saving = content["reading"], content["saving"]
    reading |= {"steps": tuple(reading["steps"]), "values": _values(reading["values"])}
    parts = {"reading": Reading(**reading), "saving": Saving(**saving), "values": _values(content["values"])}
    return BatchSpec(**{**content, **parts})


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name; JSON has lists in the place of tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _event(answer: Mapping[str, Any]) -> BatchEvent:
    return BatchEvent(**{**answer, "pace": Pace(**answer["pace"])})
