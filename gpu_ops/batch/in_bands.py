"""A file of a batch that is processed in bands, by the same rule as one file of `run`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gpu_ops.batch import choosing
from gpu_ops.batch.all_frames import Wanted
from gpu_ops.batch.file_bands import (
    FileRun,
    check_ability,
    check_as_a_whole,
    check_bands,
    goes_in_bands,
    merge_bands,
    open_large,
    quarter,
    write_bands,
)
from gpu_ops.batch.files import Item
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.errors import InputError, KernelscopeError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit.bands import in_words
from gpu_ops.io.opening import notes_in
from gpu_ops.io.results import save_output
from gpu_ops.io.rows import NPY, Rows, rows_suffixes
from gpu_ops.params import check_values
from gpu_ops.progress import advance
from gpu_ops.running.parts import Executor, Report, serial
from gpu_ops.types import Filter, Pick

COMPARED = {
    "full": "each was compared with samples of the reference",
    "sample": "the first and the last were compared with samples of the reference",
    "off": "none was checked",
}
"""The text of a row about its bands, by the value of `checks`."""


def large_file(spec: BatchSpec, item: Item, devices: Sequence[str]) -> tuple[LargeFile | None, list[str]]:
    """A file that is processed in bands, or None for one that is loaded as a whole, and notices for the user. Raises
    KernelscopeError for a file that needs bands and cannot be processed in them."""
    limited = spec.memory is not None
    source = open_large(os.fspath(item.file), spec.reading, always=limited)
    if source is None:
        kept = limited and item.file.exists()
        return None, ["it is read as a whole, whatever --memory says; NPY, TIFF and WAV go in bands"] if kept else []
    file = LargeFile(spec, item, devices, source)
    if not goes_in_bands(file.asked, limited, spec.reading.limit, file.is_able):
        return None, []
    file.check()
    return file, [*notes_in({"steps": source.steps}), *file.words]


@dataclass(frozen=True, eq=False)
class LargeFile:
    """The rows of a file, and the batch's options for them."""

    spec: BatchSpec
    item: Item
    devices: Sequence[str]
    source: Rows

    @property
    def filter(self) -> Filter:
        return FILTERS.find(self.spec.filter, self.source.kind)

    @cached_property
    def asked(self) -> FileRun:
        """The job before a variant is chosen."""
        spec, reading, filter = self.spec, self.spec.reading, self.filter
        params = choosing.checked(filter, spec.of(filter))
        first = filter.given(check_values(filter.params, params, filter.id))[0].id
        wanted = Wanted(filter.id, params, Pick("", "cpu"), first, spec.deadline)
        memory = spec.memory or quarter(spec.workers)
        how = memory, reading.dtype, reading.nonfinite or "refuse", spec.device_memory, spec.checks
        return FileRun(self.source, wanted, *how)

    @cached_property
    def chosen(self) -> tuple[FileRun, list[str]]:
        """The job with its variant, and a notice about the variant's name, if any. Raises ParamError."""
        meta = self.asked.task.meta
        pick, sentences = self.spec.pick(self.filter, meta, lambda: meta, self.devices)
        return replace(self.asked, wanted=self.asked.wanted._replace(pick=pick)), sentences

    @property
    def usual(self) -> Path:
        """The result file of an input that is loaded as a whole."""
        job = self.asked
        output = job.filter.output(job.wanted.output)
        return self.item.path(self.spec.suffix(output.kind, job.form(output.id).dtype, self.source.rate))

    @cached_property
    def path(self) -> Path:
        """The result file: outputs that cannot be written row by row are stored as NPY. Raises InputError if another
        format was requested."""
        job, usual = self.asked, self.usual
        allowed = rows_suffixes(job.form(job.wanted.output).shape)
        if job.merges or usual.suffix in allowed:
            return usual
        if self.spec.format:
            formats = " or ".join(f"--format {suffix[1:]}" for suffix in allowed if suffix not in (".tiff", ".hdf5"))
            whole = f"{usual.suffix[1:].upper()} files are written as a whole"
            raise InputError(f"{self.source.name} goes in bands for lack of memory, and {whole}; take {formats}.")
        return self.item.path(NPY)

    @property
    def words(self) -> list[str]:
        """Notices for the user before it runs."""
        usual, name = self.usual, self.path.name
        other = f"it goes in bands, and {usual.suffix[1:].upper()} files are written as a whole: {plain(name)} it is"
        return [*([] if self.path == usual else [other]), *self.chosen[1]]

    @property
    def facts(self) -> dict[str, Any]:
        """The row's fields about the file and the way it is processed. Raises InputError."""
        job, meta = self.chosen[0], self.asked.task.meta
        found = {"sha256": self.source.origin["hash"], "kind": meta.kind, "dtype": meta.dtype}
        found |= {"shape": list(meta.shape), "filter": job.filter.id}
        found |= {"of_frames": self.source.facts.frames} if self.source.facts.frames > 1 else {}
        return {**found, **self.spec.settings_of(job.filter, job.wanted.pick)}

    def is_able(self) -> bool:
        """Whether bands can do everything that is requested: if not, the file is processed as a whole, which gives
        better error messages."""
        with suppress(KernelscopeError):
            self._check_flags()
            job = self.chosen[0]
            return check_ability(job, {job.wanted.output: self.usual}, self.spec.reading.limit)
        return False

    def check(self) -> None:
        """Raises KernelscopeError for anything that bands cannot do."""
        self._check_flags()
        check_bands(self.chosen[0])
        _ = self.path

    def _check_flags(self) -> None:
        reading = self.spec.reading
        noise = bool({"noise", "noise_seed"} & {*reading.values})
        given = {"--step": bool(reading.steps), "--noise": noise, "--map": self.spec.saving.map != "none"}
        check_as_a_whole(self.asked, given)

    def write(self, executor: Executor[Any, Any] = serial, report: Report = advance) -> dict[str, Any]:
        """Run its bands by this executor, write the result, and complete the row. `report(done, total)` is called
        before each band. Raises WrongResult, KernelError, InputError."""
        spec, job = self.spec, self.chosen[0]
        done = (
            merge_bands(job, report, executor)
            if job.merges
            else write_bands(job, self.path, report, job.about, executor)
        )
        how, last, name = in_words(job.task, done.bands, done.rows), done.last, job.wanted.output
        mapping = ""
        if job.merges:
            about = {**job.about, "parts": how}
            saving = replace(spec.saving, about=about, pixel=self.source.facts.pixel)
            output = job.filter.output(name)
            mapping = save_output(self.path, output, last.outputs[name], last.forms[name], self.source.rate, saving)
        error = max((e.relative for e in last.errors.values()), default=math.nan)
        found = {"error_max": None if math.isnan(error) else error, "mapping": mapping}
        notes = [f"in {how}, of which {COMPARED[spec.checks]}", *last.notes]
        return {**found, "notes": notes, "status": "unverified" if spec.checks == "off" else "right"}
