"""A batch: many files through one filter, each by one verified variant, to one file each.

A file that fails does not stop the others. The report next to the results has a row for each file, and a later batch
with `resume` continues it. Files are processed in this process, or by workers of Dask.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from gpu_ops.batch.edited import edits_hold
from gpu_ops.batch.file_lock import locked
from gpu_ops.batch.files import SCHEMA, Item, check_apart, earlier_rows, find_files, items
from gpu_ops.batch.overlap import Planned, overlapped
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import Done, Outcome, Work
from gpu_ops.errors import FINE, WRONG, InputError, ReportError, plain
from gpu_ops.io.part_files import growing, tidy
from gpu_ops.progress import advance
from gpu_ops.report.files import target_of
from gpu_ops.running.parts import Report
from gpu_ops.version import __version__

REPORT = "kernelscope-batch.json"
WRITE_S = 2.0
"""The least number of seconds between two writes of the report, which a crash can lose."""
WITHIN_S = 0.5
"""Seconds between two reports about the frames or bands of a file."""
WRITE_SHARE = 50
"""A write that took long is followed by a pause that is so many times longer."""


@dataclass(frozen=True)
class Pace:
    """How far a batch is: files that are done, of how many, the files a second since its start without those that an
    earlier batch had done, and the seconds that the others will take at this rate, None if it is unknown."""

    done: int
    count: int
    rate: float
    left: float | None


class Batch:
    """A running batch. Raises KernelscopeError for errors in the spec, before any file is read. `tell` is called with
    sentences about the workers, `begun` with each file that begins, or is given to a worker, and `within` now and then
    with one that is processed in frames or bands, how many are done, and of how many. `dashboard` is the address of
    Dask's page about the workers, "" where there is none."""

    begun: Callable[[Item], object] = staticmethod(lambda item: None)
    within: Callable[[Item, int, int], object] = staticmethod(lambda item, done, count: None)

    def __init__(self, spec: BatchSpec, tell: Callable[[str], None] = lambda sentence: None) -> None:
        spec.check()
        self.spec, self.files, self._tell = spec, find_files(spec.inputs), tell
        check_apart(self.files, spec.output_dir)
        command = hashlib.sha256(json.dumps(spec.settings, sort_keys=True).encode()).hexdigest()
        self.work = Work(spec, command)
        if not spec.is_spread:
            _ = self.work.devices  # raises where one is not available
        self.folder = _made(spec.output_dir)
        if spec.scheduler is not None:  # its workers have other current folders
            self.files, self.folder = {k: os.path.abspath(v) for k, v in self.files.items()}, self.folder.absolute()
        self.report = Path(spec.report) if spec.report else self.folder / REPORT
        self.target = target_of(self.report)
        self.tally = Counter[str]()
        self.provenance: Mapping[str, Any] = {}
        self.dashboard = ""
        self._codes, self._rows = set[int](), dict[int, str]()
        self._earlier: Mapping[str, Mapping[str, Any]] = {}
        self._began, self._write_again = time.perf_counter(), 0.0

    @property
    def complete(self) -> bool:
        """Whether every file has its row."""
        return len(self._rows) == len(self.files)

    @property
    def exit_code(self) -> int:
        """A wrong result has the highest precedence, then a failed device, then a file."""
        return WRONG if WRONG in self._codes else max(self._codes, default=FINE)

    @property
    def pace(self) -> Pace:
        """How far it is."""
        done, count = len(self._rows), len(self.files)
        computed = done - self.tally["done before"]
        rate = computed / max(time.perf_counter() - self._began, 1e-9)
        return Pace(done, count, rate, (count - done) / rate if computed else None)

    @property
    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows so far, in the order of the files."""
        return (json.loads(self._rows[place]) for place in sorted(self._rows))

    def run(self, stop: Callable[[], bool] = lambda: False) -> Generator[Done, None, None]:
        """Process the files and yield the outcome of each: in order, or as workers end them. Once `stop` returns true,
        no more files begin. The report is written from time to time, and at the end. Raises ReportError if another
        process writes to the folder or the report; KernelFault and DeviceLost, after which the process cannot use the
        device; DeviceError for workers that cannot do the work; KernelError for an edited kernel that is not right."""
        with (
            locked(self.folder.resolve() / "kernelscope-batch", self.folder, "another --output-dir"),
            locked(self.target),
        ):
            self._earlier = earlier_rows(self.target) if self.spec.resume else {}
            self._write()  # an error in writing the report is raised before anything is computed
            if self.spec.edits and not self._edits_hold(stop):
                return
            try:
                with closing(self._spread(stop) if self.spec.is_spread else self._alone(stop)) as results:
                    for item, done in results:
                        self._add(item, done)
                        yield done
            finally:
                self._write()

    def _edits_hold(self, stop: Callable[[], bool]) -> bool:
        self._tell("The edited kernel is tested with the filter's contract first, on a simulated GPU.")
        return edits_hold(self.spec, stop)

    def _alone(self, stop: Callable[[], bool]) -> Generator[Outcome, None, None]:
        """The outcome of each file, computed in this process."""
        self.provenance, self._began = self.work.provenance, time.perf_counter()
        ended = dict[int, Outcome]()

        def one(planned: Planned) -> Outcome | None:
            item, earlier = planned
            if stop():
                return None
            self.begun(item)
            ended[item.place] = item, self.work.one(item, earlier, report=self._report_of(item))
            return ended[item.place]

        planned = ((item, self._earlier.get(item.name)) for item in items(self.files, self.folder))
        try:
            with closing(overlapped(self.spec)(one, takewhile(lambda _: not stop(), planned))) as results:
                for item, done in filter(None, results):
                    del ended[item.place]
                    yield item, done
        finally:
            for item, done in ended.values():  # the batch ended while it waited for an earlier file
                self._add(item, done)

    def _report_of(self, item: Item) -> Report:
        """What is called before each frame or band of a file."""
        again = 0.0

        def report(done: int, count: int) -> None:
            nonlocal again
            advance(done, count)
            if (now := time.monotonic()) >= again and done:
                again = now + WITHIN_S
                self.within(item, done, count)

        return report

    def _spread(self, stop: Callable[[], bool]) -> Generator[Outcome, None, None]:
        """The outcome of each file, computed by workers."""
        from gpu_ops.batch.cluster import cluster  # it needs the extra "batch"
        from gpu_ops.batch.spreading import Spread

        with cluster(self.work, self._tell) as workers:
            self.provenance, self._began = workers.provenance, time.perf_counter()
            self.dashboard = workers.dashboard
            planned = ((item, self._earlier.get(item.name)) for item in items(self.files, self.folder))
            spread = Spread(workers, self.work, planned, len(self.files), self.begun, self._report_of, self._tell)
            with closing(spread.results(stop)) as results:
                yield from results
        tidy(self.folder.resolve(), again=True)  # a worker that died may have left a file

    def _add(self, item: Item, done: Done) -> None:
        self._rows[item.place] = json.dumps(done.row, allow_nan=False)
        self._codes.add(done.code)
        self.tally["done before" if done.row.get("skipped") else done.row["status"]] += 1
        if time.perf_counter() > self._write_again:
            self._write()

    def _write(self) -> None:
        """Write the report in one step, a line for each file. Raises ReportError."""
        began = time.perf_counter()
        head = json.dumps(self._head(), indent=1, allow_nan=False)
        try:
            with growing(self.target) as file:
                file.write(head[:-2].encode() + b',\n "files": [')
                for place, text in enumerate(self._texts()):
                    file.write(f"{',' if place else ''}\n  {text}".encode())
                file.write(b"\n ]\n}\n")
        except OSError as error:
            words = f"{plain(self.report)} cannot be written ({error.strerror}); choose another file for --json."
            raise ReportError(words) from error
        now = time.perf_counter()
        self._write_again = now + max(WRITE_S, WRITE_SHARE * (now - began))

    def _head(self) -> dict[str, Any]:
        facts = {"version": __version__, "filter": self.spec.filter, "flags": self.spec.settings}
        head = {"schema": SCHEMA, "provenance": self.provenance, "command": {**facts, "hash": self.work.command}}
        return {**head, "complete": self.complete}

    def _texts(self) -> Iterator[str]:
        """The rows as text; for files that this batch has not reached those of the earlier one."""
        yield from (self._rows[place] for place in sorted(self._rows))
        if self._earlier and not self.complete:
            done = {row["name"] for row in self.rows}
            yield from (json.dumps(row) for name, row in self._earlier.items() if name not in done)

    def content(self) -> dict[str, Any]:
        """The report."""
        return {**self._head(), "files": [json.loads(text) for text in self._texts()]}


def _made(folder: str) -> Path:
    """The folder of the results, created if it is missing. Raises InputError."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no folder name"
        raise InputError(f"{plain(folder)} cannot be the folder of the results ({reason}); name another one.") from None
    return path
