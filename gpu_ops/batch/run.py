"""A batch: many files through one filter, each with one verified variant, to one file each.

A file that fails does not stop the others. The report beside the results has a row for each file, and a later batch
that resumes goes on with it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gpu_ops.batch import choosing
from gpu_ops.batch.file_lock import locked
from gpu_ops.batch.files import SCHEMA, Item, earlier_rows, find_files, is_done, items, result_facts, stamp
from gpu_ops.errors import BAD_INPUT, FAILURE_CODES, FINE, WRONG, InputError, KernelscopeError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io import CHOICES, NOISE
from gpu_ops.io.opening import notes_in
from gpu_ops.io.reading import Reading
from gpu_ops.io.results import PLAIN, Saving, save_output
from gpu_ops.io.steps.mapping import writes_exactly
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.report.about import about_run
from gpu_ops.report.files import row, target_of, write_report
from gpu_ops.report.provenance import machine
from gpu_ops.running.attempt import FOR_ALL
from gpu_ops.running.parts import Executor, Parts, serial, threads
from gpu_ops.running.runner import default_picks, last_runs, run_experiment
from gpu_ops.running.suitable import check_type
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Filter, Input, Pick
from gpu_ops.version import __version__

REPORT = "kernelscope-batch.json"
WRITE_S = 2.0
"""Seconds between two writes of the report: what a crash can lose."""
FORMAT_RULE = "png of uint8 and uint16 images, wav of floating sound with a rate, csv of tables and bars, else npy"
VARIANT_RULE = "the last of the filter's own variants that takes the input, on the first GPU, else on the CPU"
_computing = threading.Lock()
"""One file computes at a time, with all cores or the GPU; threads read and save beside it."""


@dataclass(frozen=True)
class BatchSpec:
    """What a batch does. `inputs` are files, folders and patterns, `output_dir` gets the results. `filter` is
    an id or a family; `values` has those of parameters and knobs by name, as values or as text, beside those of a
    `preset`. Without a `variant` VARIANT_RULE chooses, without a `format` FORMAT_RULE. `memory` limits the bytes on a
    device. `report` is its file, by default REPORT in the folder. With `resume` files are left out whose result is
    there as it was made. So many `workers` read and save files at a time."""

    inputs: Sequence[str]
    output_dir: str
    filter: str
    values: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    variant: str | None = None
    devices: Sequence[str] = ()
    reading: Reading = Reading()
    saving: Saving = PLAIN
    format: str | None = None
    checks: Literal["full", "sample", "off"] = "full"
    memory: int | None = None
    report: str | None = None
    resume: bool = False
    workers: int = 1

    def of(self, filter: Filter) -> dict[str, Any]:
        """The values for this filter, with those of the preset. Raises ParamError."""
        return {**(filter.preset(self.preset) if self.preset is not None else {}), **self.values}

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the results, beside the files, by the names of the command line."""
        reading, saving = self.reading, self.saving
        found = {name: getattr(reading, name) for name in ("kind", "nonfinite", "limit", "dtype")}
        found |= {name: getattr(self, name) for name in ("filter", "preset", "format", "checks")}
        found |= {"step": list(reading.steps), "device": list(self.devices), "map_levels": saving.levels}
        found |= {"name": "run", "variant": [self.variant] if self.variant else [], "map": saving.map}
        return {**{k: v for k, v in found.items() if v not in (None, [])}, **reading.values, **self.values}

    def check(self) -> None:
        """Raises ParamError for what no filter of the family takes, before any file is read."""
        if self.workers < 1:
            raise ParamError(f"workers must be at least 1, not {self.workers} (--workers N).")
        choosing.for_one(choosing.family(self.filter), self._check)

    def _check(self, filter: Filter) -> None:
        values = self.of(filter)
        choosing.checked(filter, values)
        variants = [filter.variant(self.variant)] if self.variant else filter.variants
        knobs = (k for v in variants for k in v.knobs)
        names = sorted({p.name for p in (*filter.params, *knobs, *CHOICES, *NOISE)})
        for name in values:
            if name not in names:
                raise ParamError(choosing.unknown_name(filter, name, names))


class Done(NamedTuple):
    """The row of a file in the report, the exit code that it asks for, and sentences that a person should know."""

    row: dict[str, Any]
    code: int
    said: tuple[str, ...] = ()


class Batch:
    """A batch at work. Raises KernelscopeError for what is wrong with the spec, before any file is read."""

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
        """A wrong result counts most, then a device that failed, then a file."""
        return WRONG if WRONG in self.codes else max(self.codes, default=FINE)

    def run(self, stop: Callable[[], bool] = lambda: False) -> Generator[Done, None, None]:
        """Work on the files and yield what became of each, in their order. Where `stop` returns true no more of them
        begin. The report is written now and then, and at the end. Raises ReportError where another process writes to
        the folder or the report; KernelFault and DeviceLost, after which the process cannot use the device."""
        spec = self.spec
        with (
            locked(self.folder.resolve() / "kernelscope-batch", self.folder, "another --output-dir"),
            locked(self.target),
        ):
            self.provenance = machine(self.devices, False)
            self._earlier = earlier_rows(self.target) if spec.resume else {}
            self._write()  # a report that cannot be written is said before anything is computed
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
        """The report. Of files that this batch has not come to it keeps the earlier rows."""
        done = {row["name"] for row in self.rows}
        waiting = [] if self.complete else [dict(row) for name, row in self._earlier.items() if name not in done]
        facts = {"version": __version__, "filter": self.spec.filter, "flags": self.spec.settings}
        head = {"schema": SCHEMA, "provenance": self.provenance, "command": {**facts, "hash": self.command}}
        return {**head, "complete": self.complete, "files": [*self.rows, *waiting]}

    def _one(self, item: Item) -> Done:
        """What becomes of one file."""
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
        except FOR_ALL:  # the process cannot use the device any more: no file can go on
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
        """Whether the result of an earlier row is there, and what this batch would make."""
        filter = next((f for f in FILTERS if f.id == earlier.get("filter")), None)
        if filter is None or earlier.get("command") != self.command:
            return False
        params = choosing.checked(filter, self.spec.of(filter))
        return is_done(earlier, item, choosing.with_defaults(filter, params))


def _compute(batch: Batch, item: Item, record: dict[str, Any], said: list[str]) -> int:
    """Load, run, verify and save one file. Adds to the row what is known so far, and returns the exit code."""
    spec = batch.spec
    clean = spec.reading.load(item.file)
    said += [f"{plain(item.file)}: {words}." for words in notes_in(clean.origin)]
    input = spec.reading.finish(clean)
    filter = FILTERS.find(spec.filter, input.kind)
    check_type(filter, input)
    values = spec.of(filter)
    params = choosing.checked(filter, values)
    record |= {"sha256": input.origin.get("hash", ""), "kind": input.kind, "dtype": input.array.dtype.name}
    record |= {"shape": list(input.array.shape), "filter": filter.id}
    pick, sentences = _pick(spec, filter, input, values, batch.devices)
    said += sentences
    record |= {"variant": pick.variant, "device": pick.device, "params": choosing.with_defaults(filter, params)}
    record["knobs"] = {**{k.name: k.default for k in filter.variant(pick.variant).knobs}, **pick.knobs}
    experiment = Experiment(filter.id, input, params, (pick,), "none", checks=spec.checks, memory=spec.memory)
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
    form, map = result.forms[output.id], spec.saving.map
    suffix = f".{spec.format}" if spec.format else default_suffix(output.kind, form.dtype, input.rate, map)
    path = item.path(suffix)
    about = about_run(report_row, batch.provenance, output.id)
    saving = replace(spec.saving, about=about, pixel=input.facts.pixel)
    record["mapping"] = save_output(path, output, result.outputs[output.id], form, input.rate, saving)
    record |= {"output": str(path), "status": "right" if result.ok else "unverified", **result_facts(path)}
    return FINE


def default_suffix(kind: ViewKind, dtype: str, rate: float | None, map: str = "none") -> str:
    """The ending of a result where none is asked for, by FORMAT_RULE; with a mapping the first format that has one."""
    formats, mapped = OUTPUT_KINDS[kind].formats, map != "none"
    if kind == "image":
        return ".png" if mapped or writes_exactly(".png", dtype) else ".npy"
    if kind == "signal":
        return ".wav" if mapped or (rate is not None and writes_exactly(".wav", dtype)) else ".npy"
    return ".csv" if formats[0] == ".csv" else ".npy" if ".npy" in formats else formats[0]


def _pick(
    spec: BatchSpec, filter: Filter, input: Input, values: Mapping[str, Any], devices: Sequence[str]
) -> tuple[Pick, list[str]]:
    """The variant that runs, by VARIANT_RULE where none is named, and what is to say about its name. Raises
    ParamError."""
    named, sentences = choosing.todays(filter, [spec.variant] if spec.variant else [], input.meta, values)
    picks, _ = choosing.with_knobs(filter, default_picks(filter, devices, named), values, strict=bool(named))
    if not named:
        picks = list(choosing.one_each(filter, picks, full_meta(input), choosing.checked(filter, values)))
    for device in devices:
        for pick in picks:
            if pick.device == device:
                return pick, sentences
    names = ", ".join(v.id for v in filter.variants)
    raise ParamError(f"No variant of {filter.id} takes this on {', '.join(devices)}; name one of {names} and a device.")


def _made(folder: str) -> Path:
    """The folder of the results, made where it is missing. Raises InputError."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no folder name"
        raise InputError(f"{plain(folder)} cannot be the folder of the results ({reason}); name another one.") from None
    return path
