"""A batch in a thread of its own, followed by its events: for a window or a notebook."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_ops.batch.files import DONE, Item
from gpu_ops.batch.run import Batch, Pace
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.errors import BAD_INPUT, FINE, STOPPED, KernelscopeError
from gpu_ops.processes import check_guard

NOTHING: Mapping[str, Any] = {}
What = Literal["planned", "message", "started", "within", "done", "failed", "ended"]


@dataclass(frozen=True)
class BatchEvent:
    """What happened, and how far the batch is. `row` is that of a file that is done or failed, of one that started its
    name and file, of one that is processed in frames or bands also how many of the `count` are `done`; `text` a
    sentence for the user, of the end the reason of a batch that could not go on, `code` the exit code of the end.
    `dashboard` is the address of Dask's page about the workers, "" where there is none."""

    what: What
    pace: Pace
    row: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    code: int = FINE
    dashboard: str = ""


class BatchRun:
    """A batch that runs in a thread. `events` yields what happens until the end, `cancel` ends it after the files that
    are being processed, and `report` is what its report file has."""

    def __init__(self, spec: BatchSpec) -> None:
        self._spec, self._batch = spec, list[Batch]()
        self._events, self._stop = queue.SimpleQueue[BatchEvent](), threading.Event()
        self._thread = threading.Thread(target=self._run, name="kernelscope-batch", daemon=True)

    def start(self) -> BatchRun:
        """Begin; returns itself. Raises KernelscopeError in a script that workers would run again."""
        if self._spec.is_spread:
            check_guard("A batch by several workers")
        self._thread.start()
        return self

    def cancel(self) -> None:
        """No more files begin; those that are being processed are ended."""
        self._stop.set()

    def events(self, wait: bool = True) -> Iterator[BatchEvent]:
        """The events since the last call: up to the end, or with wait=False those that are there now."""
        while True:
            try:
                event = self._events.get(block=wait)
            except queue.Empty:
                return
            yield event
            if event.what == "ended":
                return

    @property
    def report(self) -> dict[str, Any]:
        """The report so far; {} before the files are found."""
        return self._batch[0].content() if self._batch else {}

    def _run(self) -> None:
        code, text = BAD_INPUT, ""
        try:
            batch = Batch(self._spec, lambda sentence: self._put("message", text=sentence))
            self._batch.append(batch)
            batch.begun = lambda item: self._put("started", _named(item))
            batch.within = lambda item, done, count: self._put("within", _named(item) | {"done": done, "count": count})
            self._put("planned")
            for done in batch.run(self._stop.is_set):
                for sentence in done.said:
                    self._put("message", text=sentence)
                self._put("done" if done.row["status"] in DONE else "failed", done.row)
            code = batch.exit_code if batch.complete else STOPPED
        except KernelscopeError as error:
            code, text = error.exit_code, str(error)
        except Exception as error:  # the listener waits for an end
            text = f"the batch ended by a mistake ({type(error).__name__}: {error})"
            raise
        finally:
            self._put("ended", text=text, code=code)

    def _put(self, what: What, row: Mapping[str, Any] = NOTHING, text: str = "", code: int = FINE) -> None:
        pace = self._batch[0].pace if self._batch else Pace(0, 0, 0.0, None)
        dashboard = self._batch[0].dashboard if self._batch else ""
        self._events.put(BatchEvent(what, pace, row, text, code, dashboard))


def _named(item: Item) -> dict[str, Any]:
    return {"name": item.name, "file": str(item.file)}
