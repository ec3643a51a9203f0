"""The work on one file of a batch: load, run, verify, save. It is the same in this process and in a worker."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.batch import choosing
from gpu_ops.batch.all_frames import Wanted, Written, write_frames
from gpu_ops.batch.edited import limits_of
from gpu_ops.batch.files import Item, is_done, result_facts, stamp
from gpu_ops.batch.in_bands import LargeFile, large_file
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.devices import open_device
from gpu_ops.errors import (
    BAD_INPUT,
    FAILURE_CODES,
    FINE,
    WRONG,
    DeviceError,
    InputError,
    KernelFault,
    KernelscopeError,
    WrongResult,
    plain,
)
from gpu_ops.filters import FILTERS
from gpu_ops.io.inputs import Array
from gpu_ops.io.known import noting_hashes
from gpu_ops.io.memory import Allocate, ReusedMemory, allocating
from gpu_ops.io.opening import notes_in
from gpu_ops.io.reading import Reading
from gpu_ops.io.results import save_output
from gpu_ops.progress import advance
from gpu_ops.report.about import about_run
from gpu_ops.report.files import row
from gpu_ops.report.provenance import machine
from gpu_ops.running.attempt import FOR_ALL
from gpu_ops.running.parts import Executor, Report, serial
from gpu_ops.running.runner import last_runs, run_experiment
from gpu_ops.running.suitable import check_type
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Input

_computing = threading.Lock()
"""One file is computed at a time, with all cores or the GPU; threads read and save others concurrently."""


class Done(NamedTuple):
    """The row of a file in the report, its exit code, and sentences for the user."""

    row: dict[str, Any]
    code: int
    said: tuple[str, ...] = ()


Outcome = tuple[Item, Done]


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _devices(named: tuple[str, ...]) -> tuple[str, ...]:
    """The devices of this process, GPUs first. Raises DeviceError."""
    return tuple(sorted(choosing.devices_of(named), key=lambda name: name == "cpu"))


@cache
def _machine(devices: tuple[str, ...]) -> Mapping[str, Any]:
    return machine(devices, False)


@dataclass(frozen=True)
class Work:
    """What is done with each file of a batch, wherever it is done: `command` is the hash of everything that determines
    the results."""

    spec: BatchSpec
    command: str

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this process. Raises DeviceError."""
        return _devices(tuple(self.spec.devices))

    @property
    def provenance(self) -> Mapping[str, Any]:
        """This machine, as a report describes it."""
        return _machine(self.devices)

    def row(self, item: Item) -> dict[str, Any]:
        """The row of a file of which nothing is known yet."""
        row: dict[str, Any] = {"name": item.name, "file": str(item.file), "status": "failed", "sentence": ""}
        return row | {"output": "", "command": self.command, **stamp(item.file)}

    def failed(self, item: Item, sentence: str, code: int, seconds: float = 0.0) -> Done:
        """The outcome of a file that has no result."""
        return Done({**self.row(item), "sentence": sentence, "seconds": seconds}, code)

    def one(
        self,
        item: Item,
        earlier: Mapping[str, Any] | None = None,
        bands: Executor[Any, Any] = serial,
        report: Report = advance,
    ) -> Done:
        """The outcome of one file; `earlier` is its row of an earlier batch. `bands` and frames are processed by this
        executor, and `report(done, count)` is called before each. Raises KernelFault and DeviceLost, after which this
        process cannot use the device."""
        if earlier is not None and self._is_done(earlier, item):
            return Done({**earlier, "skipped": True}, FINE)
        began, code, said = time.perf_counter(), FINE, list[str]()
        row = self.row(item)
        try:
            if item.fault:
                raise InputError(item.fault)
            code = _compute(self, item, row, said, bands, report)
        except FOR_ALL:  # this process can no longer use the device: no file can be processed
            raise
        except MemoryError:
            row["sentence"], code = "the machine has too little memory for it", BAD_INPUT
        except OSError as error:
            row["sentence"], code = f"the system cannot do this ({error.strerror or plain(error)})", BAD_INPUT
        except KernelscopeError as error:
            row["sentence"], code = str(error), error.exit_code
        except Exception as error:  # a mistake of ours or of a library, which stops no other file
            row["sentence"] = f"this is a mistake in Kernelscope or a library ({type(error).__name__}: {plain(error)})"
            code = BAD_INPUT
        row["seconds"] = round(time.perf_counter() - began, 6)
        return Done(row, code, tuple(said))

    def _is_done(self, earlier: Mapping[str, Any], item: Item) -> bool:
        """Whether the result of an earlier row exists, and equals what this batch would compute."""
        filter = next((f for f in FILTERS if f.id == earlier.get("filter")), None)
        if filter is None or earlier.get("command") != self.command:
            return False
        params = choosing.checked(filter, self.spec.of(filter))
        return is_done(earlier, item, choosing.with_defaults(filter, params))


_HOST_MEMORY: dict[str, ReusedMemory] = {}


def _host_memory(device: str) -> ReusedMemory:
    """The memory of inputs and results in this process, pinned where the device is a GPU and the system allows it."""

    def pin(memory: Array) -> None:
        with suppress(DeviceError):
            open_device(device).register(memory)

    def unpin(memory: Array) -> None:
        with suppress(DeviceError, KernelFault):
            open_device(device).unregister(memory)

    return _HOST_MEMORY.setdefault(device, ReusedMemory(pin, unpin))  # one for all threads


def _compute(
    work: Work, item: Item, record: dict[str, Any], said: list[str], bands: Executor[Any, Any], report: Report
) -> int:
    """Load, run, verify and save one file. Completes its row step by step, and returns the exit code."""
    spec = work.spec
    large, words = (None, []) if spec.frames else large_file(spec, item, work.devices)
    said += [f"{plain(item.file)}: {one}." for one in words]
    if large is not None:
        return _compute_bands(large, record, bands, report)
    with _host_memory(work.devices[0]).lending() as allocate:
        return _compute_loaded(work, item, record, said, bands, report, allocate)


def _compute_loaded(
    work: Work,
    item: Item,
    record: dict[str, Any],
    said: list[str],
    bands: Executor[Any, Any],
    report: Report,
    allocate: Allocate,
) -> int:
    """`_compute` for a file that is loaded as a whole, or one frame of it, into memory from `allocate`."""
    spec = work.spec
    with allocating(allocate):
        clean = spec.reading.load(item.file)
    said += [f"{plain(item.file)}: {one}." for one in notes_in(clean.origin)]
    input = spec.reading.finish(clean)
    filter = FILTERS.find(spec.filter, input.kind)
    check_type(filter, input)
    params = choosing.checked(filter, spec.of(filter))
    record |= {"sha256": input.origin.get("hash", ""), "kind": input.kind, "dtype": input.array.dtype.name}
    record |= {"shape": list(input.array.shape), "filter": filter.id}
    pick, sentences = spec.pick(filter, input.meta, partial(full_meta, input), work.devices)
    said += sentences
    record |= spec.settings_of(filter, pick)
    if clean.facts.frames > 1 and not spec.frames and spec.reading.values.get("project", "none") == "none":
        record["of_frames"] = clean.facts.frames
    if spec.frames and input.facts.frames > 1:
        frames = partial(write_frames, report=report, executor=bands)
        return _compute_frames(work, item, record, input, Wanted(filter.id, params, pick, "", spec.deadline), frames)
    experiment = Experiment(filter.id, input, params, (pick,), "none", checks=spec.checks, memory=spec.device_memory)
    with _computing, limits_of(pick, spec.deadline, plain(item.file, 60)), allocating(allocate):
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
    about = about_run(report_row, work.provenance, output.id)
    saving = replace(spec.saving, about=about, pixel=input.facts.pixel)
    with noting_hashes() as noted:
        record["mapping"] = save_output(path, output, result.outputs[output.id], form, input.rate, saving)
    record |= {"output": str(path), "status": "right" if result.ok else "unverified", **result_facts(path, noted)}
    return FINE


def _compute_frames(
    work: Work, item: Item, record: dict[str, Any], input: Input, wanted: Wanted, write: Callable[..., Written]
) -> int:
    """Process all frames of a stack, of which `input` is the first, as `_compute` does with one image, and `write`
    them."""
    spec, filter, count = work.spec, FILTERS.find(wanted.filter), input.facts.frames
    output = filter.given(choosing.with_defaults(filter, wanted.params))[0]
    formats = output.of_kind.stack_formats
    suffix = f".{spec.format}" if spec.format else formats[0] if formats else ".npy"
    path = item.path(suffix)
    try:
        with _computing, noting_hashes() as noted:
            read = partial(_frame, spec.reading, item.file)
            written = write(read, count, wanted._replace(output=output.id), path)
    except WrongResult as error:
        record |= {"status": "wrong", "sentence": str(error)}
        return WRONG
    verdict = "was compared with the reference" if written.checked else "was not checked"
    record |= {"frames": count, "notes": [f"all {count:,} frames, of which frame 0 {verdict}"], "output": str(path)}
    record |= {"status": "right" if written.checked else "unverified", **result_facts(path, noted)}
    return FINE


def _frame(reading: Reading, file: Path, frame: int) -> Input:
    """A frame of a stack, after the steps. Raises the errors of load()."""
    own = replace(reading, values={**reading.values, "frame": str(frame)})
    return own.finish(own.load(file))


def _compute_bands(large: LargeFile, record: dict[str, Any], bands: Executor[Any, Any], report: Report) -> int:
    """Process one file in bands, as `_compute` does with a whole one."""
    record |= large.facts
    try:
        with _computing, noting_hashes() as noted:
            record |= large.write(bands, report)
    except WrongResult as error:
        record |= {"status": "wrong", "sentence": str(error)}
        return WRONG
    record |= {"output": str(large.path), **result_facts(large.path, noted)}
    return FINE
