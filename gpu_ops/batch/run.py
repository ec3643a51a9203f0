"""A batch: many files through one filter, each by one verified variant, to one file each.

A file that fails does not stop the others. The report next to the results has a row for each file, and a later batch
with `resume` continues it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.batch import choosing
from gpu_ops.batch.file_lock import locked
from gpu_ops.batch.files import SCHEMA, Item, earlier_rows, find_files, is_done, items, result_facts, stamp
from gpu_ops.batch.in_bands import LargeFile, large_file
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.errors import BAD_INPUT, FAILURE_CODES, FINE, WRONG, InputError, KernelscopeError, WrongResult, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io.opening import notes_in
from gpu_ops.io.results import save_output
from gpu_ops.report.about import about_run
from gpu_ops.report.files import row, target_of, write_report
from gpu_ops.report.provenance import machine
from gpu_ops.running.attempt import FOR_ALL
from gpu_ops.running.parts import Executor, Parts, serial, threads
from gpu_ops.running.runner import last_runs, run_experiment
from gpu_ops.running.suitable import check_type
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment
from gpu_ops.version import __version__

REPORT = "kernelscope-batch.json"
WRITE_S = 2.0
"""Seconds between two writes of the report: the most that a crash can lose."""
_computing = threading.Lock()
"""One file is computed at a time, with all cores or the GPU; threads read and save others concurrently."""


class Done(NamedTuple):
    """The row of a file in the report, its exit code, and sentences for the user."""

    row: dict[str, Any]
    code: int
    said: tuple[str, ...] = ()


class Batch:
    """A running batch. Raises KernelscopeError for errors in the spec, before any file is read."""

    def __init__(self, spec: BatchSpec) -> None:
        spec.check()
        self.spec, self.files = spec, find_files(spec.inputs)
        self.devices = sorted(choosing.devices_of(spec.devices), key=lambda name: name == "cpu")
        self.folder = _made(spec.output_dir)
        self.report = Path(spec.report) if spec.report else self.folder / REPORT
        self.target = target_of(self.report)
        self.command = hashlib.sha256(json.dumps(spec.settings, sort_keys=True).encode()).hexdigest()
        self.rows: list[dict[str, Any]] = []
        self.codes: list[int] = []
        self.provenance: dict[str, Any] = {}
        self._earlier: Mapping[str, Mapping[str, Any]] = {}
        self._written = 0.0

    @property
    def complete(self) -> bool:
        """Whether every file has its row."""
        return len(self.rows) == len(self.files)

    @property
    def exit_code(self) -> int:
        """A wrong result has the highest precedence, then a failed device, then a file."""
        return WRONG if WRONG in self.codes else max(self.codes, default=FINE)

    def run(self, stop: Callable[[], bool] = lambda: False) -> Generator[Done, None, None]:
        """Process the files and yield the outcome of each, in order. Once `stop` returns true, no more files begin. The
        report is written from time to time, and at the end. Raises ReportError if another process writes to the folder
        or the report; KernelFault and DeviceLost, after which the process cannot use the device."""
        spec = self.spec
        with (
            locked(self.folder.resolve() / "kernelscope-batch", self.folder, "another --output-dir"),
            locked(self.target),
        ):
            self.provenance = machine(self.devices, False)
            self._earlier = earlier_rows(self.target) if spec.resume else {}
            self._write()  # an error in writing the report is raised before anything is computed
            executor: Executor[Item, Done] = serial if spec.workers == 1 else threads(spec.workers)
            parts = Parts(items(self.files, self.folder), self._one, self._add)
            try:
                yield from parts.each(executor=executor, stop=stop)
            finally:
                self._write()

    def _add(self, item: Item, done: Done) -> None:
        self.rows.append(done.row)
        self.codes.append(done.code)
        if time.perf_counter() - self._written > WRITE_S:
            self._write()

    def _write(self) -> None:
        write_report(self.target, self.content())
        self._written = time.perf_counter()

    def content(self) -> dict[str, Any]:
        """The report. For files that this batch has not reached it keeps the earlier rows."""
        done = {row["name"] for row in self.rows}
        waiting = [] if self.complete else [dict(row) for name, row in self._earlier.items() if name not in done]
        facts = {"version": __version__, "filter": self.spec.filter, "flags": self.spec.settings}
        head = {"schema": SCHEMA, "provenance": self.provenance, "command": {**facts, "hash": self.command}}
        return {**head, "complete": self.complete, "files": [*self.rows, *waiting]}

    def _one(self, item: Item) -> Done:
        """The outcome of one file."""
        earlier = self._earlier.get(item.name)
        if earlier is not None and self._is_done(earlier, item):
            return Done({**earlier, "skipped": True}, FINE)
        began, code, said = time.perf_counter(), FINE, list[str]()
        row: dict[str, Any] = {"name": item.name, "file": str(item.file), "status": "failed", "sentence": ""}
        row |= {"output": "", "command": self.command, **stamp(item.file)}
        try:
            if item.fault:
                raise InputError(item.fault)
            code = _compute(self, item, row, said)
        except FOR_ALL:  # this process can no longer use the device: no file can be processed
            raise
        except MemoryError:
            row["sentence"], code = "the machine has too little memory for it", BAD_INPUT
        except OSError as error:
            row["sentence"], code = f"the system cannot do this ({error.strerror or plain(error)})", BAD_INPUT
        except KernelscopeError as error:
            row["sentence"], code = str(error), error.exit_code
        row["seconds"] = round(time.perf_counter() - began, 6)
        return Done(row, code, tuple(said))

    def _is_done(self, earlier: Mapping[str, Any], item: Item) -> bool:
        """Whether the result of an earlier row exists, and equals what this batch would compute."""
        filter = next((f for f in FILTERS if f.id == earlier.get("filter")), None)
        if filter is None or earlier.get("command") != self.command:
            return False
        params = choosing.checked(filter, self.spec.of(filter))
        return is_done(earlier, item, choosing.with_defaults(filter, params))


def _compute(batch: Batch, item: Item, record: dict[str, Any], said: list[str]) -> int:
    """Load, run, verify and save one file. Completes its row step by step, and returns the exit code."""
    spec = batch.spec
    large, words = large_file(spec, item, batch.devices)
    said += [f"{plain(item.file)}: {one}." for one in words]
    if large is not None:
        return _compute_bands(large, record)
    clean = spec.reading.load(item.file)
    said += [f"{plain(item.file)}: {one}." for one in notes_in(clean.origin)]
    input = spec.reading.finish(clean)
    filter = FILTERS.find(spec.filter, input.kind)
    check_type(filter, input)
    params = choosing.checked(filter, spec.of(filter))
    record |= {"sha256": input.origin.get("hash", ""), "kind": input.kind, "dtype": input.array.dtype.name}
    record |= {"shape": list(input.array.shape), "filter": filter.id}
    pick, sentences = spec.pick(filter, input.meta, partial(full_meta, input), batch.devices)
    said += sentences
    record |= spec.settings_of(filter, pick)
    experiment = Experiment(filter.id, input, params, (pick,), "none", checks=spec.checks, memory=spec.device_memory)
    with _computing:
        result = last_runs(run_experiment(experiment))[-1]
    report_row = row(result, experiment, with_roofs=False)
    record |= {"error_max": report_row.to_json()["error_max"], "notes": list(report_row.notes)}
    if result.failure:
        record["sentence"] = result.failure
        return FAILURE_CODES[result.failure_kind]
    if result.ok is False:
        record |= {"status": "wrong", "sentence": "the result is not within the tolerance, so nothing is saved"}
        return WRONG
    output = filter.given(dict(result.params))[0]
    form = result.forms[output.id]
    path = item.path(spec.suffix(output.kind, form.dtype, input.rate))
    about = about_run(report_row, batch.provenance, output.id)
    saving = replace(spec.saving, about=about, pixel=input.facts.pixel)
    record["mapping"] = save_output(path, output, result.outputs[output.id], form, input.rate, saving)
    record |= {"output": str(path), "status": "right" if result.ok else "unverified", **result_facts(path)}
    return FINE


def _compute_bands(large: LargeFile, record: dict[str, Any]) -> int:
    """Process one file in bands, as `_compute` does with a whole one."""
    record |= large.facts
    try:
        with _computing:
            record |= large.write()
    except WrongResult as error:
        record |= {"status": "wrong", "sentence": str(error)}
        return WRONG
    record |= {"output": str(large.path), **result_facts(large.path)}
    return FINE


def _made(folder: str) -> Path:
    """The folder of the results, created if it is missing. Raises InputError."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no folder name"
        raise InputError(f"{plain(folder)} cannot be the folder of the results ({reason}); name another one.") from None
    return path
