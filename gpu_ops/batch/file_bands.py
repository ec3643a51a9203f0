"""A filter over a file that is larger than memory: one variant on one device reads and writes files band by band."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.batch.all_frames import Wanted, run_part
from gpu_ops.batch.choosing import takes
from gpu_ops.devices import open_device
from gpu_ops.errors import InputError, NonFiniteError, ParamError
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit import bands
from gpu_ops.filters.kit.bands import Band
from gpu_ops.host import free_memory
from gpu_ops.io.files import LIMIT
from gpu_ops.io.images.stores import is_store
from gpu_ops.io.inputs import Array, convert, make_input
from gpu_ops.io.notes import lines_of
from gpu_ops.io.opening import FRAME, RATE, SERIES
from gpu_ops.io.reading import Reading
from gpu_ops.io.rows import SMALL, Rows, check_rows_target, open_rows, writing_rows
from gpu_ops.io.steps.tones import conversions
from gpu_ops.output_kinds import Form
from gpu_ops.params import check_values
from gpu_ops.plan import Checks
from gpu_ops.progress import quiet
from gpu_ops.report.about import about_input, about_machine
from gpu_ops.report.provenance import machine
from gpu_ops.running.parts import Executor, Merged, Parts, Report, serial
from gpu_ops.running.verify import Extremes, find_extremes, remember_extremes, with_extremes
from gpu_ops.task import MAIN, Meta, Task
from gpu_ops.types import Filter, Input, Run

QUARTER = 4
EXPANDED = 64
"""Memory per byte of a file that is loaded whole: with its type converted, its result and the reference."""
SHARE, SCRATCH = 4, 8
"""Memory per band: four times its input and outputs – the values read, device copies, results, and the reference values
– and one double per value, in which some variants accumulate."""
MOST = 1 << 25
"""The maximum number of values per band: larger bands are no faster, and progress is reported, and work can be
cancelled, between two bands."""
NOTHING: Mapping[str, Any] = {}


class InBands(NamedTuple):
    """A summary of the result: the form of the whole, the number of bands and their rows, and the run of the last band,
    with the outputs of the whole if the filter merges its parts."""

    shape: tuple[int, ...]
    dtype: str
    bands: int
    rows: int
    last: Run


@dataclass(frozen=True, eq=False)
class FileRun:
    """A filter and its checked parameters on the rows of a file. `memory` is the additional memory that it may use;
    `dtype` is the type to which values are converted, `nonfinite` the rule for NaN and infinity. `checks` compares
    samples of every band with the reference ("full"), those of the first and the last ("sample"), or none ("off")."""

    source: Rows
    wanted: Wanted
    memory: int
    dtype: str | None = None
    nonfinite: str = "refuse"
    device_memory: int | None = None
    checks: Checks = "sample"

    @property
    def filter(self) -> Filter:
        return FILTERS.find(self.wanted.filter, self.source.kind)

    @property
    def task(self) -> Task:
        """The task of the whole, of which no value has been read yet."""
        source, filter = self.source, self.filter
        dtype = self.dtype or ("uint8" if source.dtype == np.bool_ else source.dtype.name)
        meta = Meta(source.kind, source.shape, dtype, rate=source.rate)
        return Task.of(meta, check_values(filter.params, self.wanted.params, filter.id))

    @property
    def merges(self) -> bool:
        """Whether the results of bands are merged into one, which is saved as a whole."""
        return self.filter.locality.kind == "mergeable"

    @property
    def needed(self) -> int:
        """Bytes that the whole would need at once."""
        return SHARE * bands.footprint(self.filter, self.task) + SCRATCH * self.source.size

    def form(self, output: str) -> Form:
        """The form of an output of the whole."""
        return {o.id: o.form(self.task) for o in self.filter.given(self.task.params)}[output]

    @property
    def about(self) -> dict[str, Any]:
        """The metadata of the result, except that of its parts. Raises OSError."""
        pick, output = self.wanted.pick, self.wanted.output
        about = {**about_input(self.source.origin), "filter": self.filter.id, "parameters": dict(self.task.params)}
        about |= {"variant": pick.variant, "device": pick.device}
        about |= {"knobs": dict(pick.knobs)} if pick.knobs else {}
        return {**about, **about_machine(machine([pick.device], with_roofs=False)), "output": output}


def quarter(workers: int = 1) -> int:
    """The default limit of a run in bytes, of so many at a time; larger inputs are processed in bands."""
    return free_memory() // (QUARTER * workers)


def open_large(path: str, reading: Reading, always: bool = False) -> Rows | None:
    """The rows of a file that can be read by rows; None for a projection, for formats that are decoded as a whole and,
    unless `always` is set, for a small file. Raises InputError and ParamError."""
    if reading.values.get("project", "none") != "none":
        return None
    small = min(SMALL, quarter() // EXPANDED)
    if not always and (not os.path.exists(path) or (os.path.getsize(path) < small and not is_store(path))):
        return None
    choices: Any = (p.check(reading.values.get(p.name, p.default)) for p in (FRAME, RATE, SERIES))
    return open_rows(path, reading.kind, *choices)


def goes_in_bands(job: FileRun, limited: bool, limit: int | None, able: Callable[[], bool]) -> bool:
    """Whether a file is processed in bands: if the whole needs more memory than is allowed (`limited`) or free, or has
    more values than are loaded at once without an explicit `limit`; or if it needs more than a quarter of the free
    memory and bands are `able` to do everything that is requested."""
    if job.needed > (job.memory if limited else QUARTER * job.memory):
        return True
    if not limited and job.needed > job.memory and able():
        return True
    return limit is None and job.source.size > LIMIT and not bands.whole_reason(job.filter, job.task)


def check_ability(job: FileRun, targets: Mapping[str, str | os.PathLike[str]], limit: int | None) -> bool:
    """Whether bands can do the whole job: the number of values is within the `limit`, and the variant supports them.
    Raises what check_bands raises, and InputError for a target of an output that is not written row by row."""
    check_bands(job)
    for output, path in targets.items() if not job.merges else ():
        check_rows_target(path, job.form(output).shape)
    few = limit is None or job.source.size <= limit
    return few and takes(job.filter, job.wanted.pick, job.task.meta, job.task.params)


def check_as_a_whole(job: FileRun, given: Mapping[str, bool]) -> None:
    """Raises ParamError for `given` options that need the whole input; a merged result is mapped separately."""
    for flag, is_given in given.items():
        if is_given and not (flag == "--map" and job.merges):
            name = job.source.name
            raise ParamError(f"{name} does not fit in memory and goes in bands, without {flag}; leave it out.")


def check_bands(job: FileRun) -> int:
    """The number of rows of a band. Raises InputError with needed and free bytes if the filter or the file must be
    processed at once, or if not even one row fits; ParamError for a task that the filter does not support."""
    filter, task, source = job.filter, job.task, job.source
    if task.meta.dtype not in filter.dtypes:
        allowed = ", ".join(filter.dtypes)
        able = conversions(task.meta.dtype, *_widest(task.meta.dtype), filter.dtypes)[0]["dtype"]
        what = f"{filter.id} takes {allowed}, and {source.name} is {task.meta.dtype}"
        raise ParamError(f"{what}; convert it to {able} (--dtype {able}).")
    filter.check(task)
    what = f"{source.name} does not fit in memory: {job.needed:,} bytes for {filter.id}, and {_rooms(job)}"
    if reason := bands.whole_reason(filter, task):
        raise InputError(f"{what}; it cannot go in bands, because {reason}: take a part of it.")
    if source.whole_reason:
        raise InputError(f"{what}; it cannot go in bands, because {source.whole_reason}: save it anew as .npy.")
    rows = bands.rows_within(filter, task, job.memory - 2 * source.piece_bytes, SHARE, SCRATCH)
    if rows < 1:
        least = bands.narrowest(filter, task, SHARE, SCRATCH) + 2 * source.piece_bytes
        raise InputError(f"{what}; the narrowest band needs {least:,}: allow more memory, or take a part of it.")
    each = max(source.size // source.shape[0], 1)
    return min(rows, max(MOST // each, 4 * bands.reach(filter, task), 1))


def _widest(dtype: str) -> tuple[float, float]:
    """The range of a type, because no value has been read yet; for floats nothing depends on it."""
    info = None if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    return (0.0, 0.0) if info is None else (int(info.min), int(info.max))


def _rooms(job: FileRun) -> str:
    """The free memory, on the host and on the device."""
    name = job.wanted.pick.device
    host = f"{job.memory:,} may be used of {free_memory():,} free in this machine"
    return host if name == "cpu" else f"{host}, with {open_device(name).free_bytes():,} free on {name}"


def write_bands(
    job: FileRun,
    path: str | os.PathLike[str],
    report: Report = lambda done, total: None,
    about: Mapping[str, Any] = NOTHING,
    executor: Executor[Any, Any] = serial,
) -> InBands:
    """Run a pointwise filter or one with a halo, and write one output to an NPY file or a TIFF, which appears when it
    is complete. `report(done, total)` is called before each band; a TIFF contains the metadata `about` the result.
    Raises InputError for a file that cannot be read or written, KernelError if the variant fails, WrongResult,
    Cancelled."""
    filter, task, output = job.filter, job.task, job.wanted.output
    places = bands.split(filter, task, check_bands(job))
    form = job.form(output)
    check_rows_target(path, form.shape)
    note = "\n".join(lines_of({**about, "parts": bands.in_words(task, len(places), places[0].stop)}))
    with writing_rows(path, form.shape, np.dtype(form.dtype), job.source.facts.pixel, note) as write:
        run = partial(_run_band, job, (places[0], places[-1]), output, ())
        last = Parts(places, run, lambda band, run: write(run.outputs[output])).run(report, executor)
        job.source.check_unchanged()
    return InBands(form.shape, form.dtype, len(places), places[0].stop, last)


def merge_bands(
    job: FileRun, report: Report = lambda done, total: None, executor: Executor[Any, Any] = serial
) -> InBands:
    """Run a mergeable filter and merge the outputs of its parts. If these depend on the extremes of all values, the
    file is read twice. Raises what `write_bands` raises."""
    filter, task = job.filter, job.task
    places, extremes = bands.split(filter, task, check_bands(job)), list[Extremes]()
    if filter.locality.extremes(task):
        find = Parts(places, partial(_extremes, job), lambda band, found: extremes.append(found))
        with quiet():
            find.run(lambda done, total: report(done, 2 * total), executor)
        task = replace(task, metas={MAIN: with_extremes(task.meta, extremes)})
    merged, before = Merged(filter, task), len(extremes)
    run = partial(_run_band, job, (places[0], places[-1]), "", tuple(extremes))
    parts = Parts(places, run, lambda band, run: merged.add(run.outputs, band.stop - band.start))
    last = parts.run(lambda done, total: report(before + done, before + total), executor)
    job.source.check_unchanged()
    forms = {o.id: job.source.facts.describe(o.form(task)) for o in filter.given(task.params)}
    last = replace(last, outputs=merged.outputs(), forms=forms, shape=task.meta.shape, work=filter.work(task))
    return InBands(task.meta.shape, task.meta.dtype, len(places), places[0].stop, last)


def _extremes(job: FileRun, band: Band) -> Extremes:
    return find_extremes(_input(job, band))


def _run_band(job: FileRun, ends: Sequence[Band], output: str, extremes: Sequence[Extremes], band: Band) -> Run:
    """The run of a band with its halo, as a part of a whole with these extremes if they are known: with all outputs, or
    with the band's own rows of the one `output`. `ends` are the first and the last band."""

    def read() -> Input:
        input = _input(job, band)
        if extremes:
            remember_extremes(input, extremes)
        return input

    check = job.checks == "full" or (job.checks == "sample" and band in ends)
    run = run_part(job.wanted, read, _place(job, band), check, job.source.name, job.device_memory)[0]
    return replace(run, outputs={output: run.outputs[output][band.inner]}) if output else run


def _place(job: FileRun, band: Band) -> str:
    return f"{bands.NEIGHBOURS.get(job.source.kind, 'planes').capitalize()} {band.start:,} to {band.stop - 1:,}"


def _input(job: FileRun, band: Band) -> Input:
    """A band with its halo as an input. Raises InputError."""
    source = job.source
    try:
        array = _strip(source, band)
        about: Any = (source.path.name, {"path": os.fspath(source.path)}, source.rate, job.nonfinite, source.name)
        input = make_input(array, source.kind, *about)
        return convert(input, job.dtype) if job.dtype else input
    except NonFiniteError as error:
        where = f"{_place(job, band)} with their halo"
        raise NonFiniteError(f"{where}: {error.problem}", error.nan, error.infinite) from None
    except OSError as error:
        raise InputError(f"{source.name} cannot be read ({error.strerror}); check its disk and run again.") from None


def _strip(source: Rows, band: Band) -> Array:
    """The rows that a band needs; those beyond an edge are read from the opposite one."""
    count = source.shape[0]
    if band.low >= 0 and band.high <= count:
        return source.read(band.low, band.high)
    result = np.empty((band.high - band.low, *source.shape[1:]), source.dtype)
    place = band.low
    while place < band.high:
        first = place % count
        stop = min(first + band.high - place, count)
        result[place - band.low : place - band.low + stop - first] = source.read(first, stop)
        place += stop - first
    return result
