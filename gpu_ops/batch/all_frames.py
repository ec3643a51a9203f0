"""A filter over all frames of a stack: one variant on one device. The results are written frame by frame to one stack,
NPY or TIFF, which appears when it is complete, or they are merged into one result."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpu_ops.batch.edited import limits_of
from gpu_ops.errors import InputError, KernelError, NonFiniteError, ParamError, WrongResult, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io.images.frame_axes import imagej_lines
from gpu_ops.io.images.pixel_size import pixel_of
from gpu_ops.io.images.tiff_writer import resolution
from gpu_ops.io.inputs import Array
from gpu_ops.io.notes import lines_of
from gpu_ops.io.rows import TIFFS, Write, check_disk, check_frames_target, writing_rows
from gpu_ops.params import Values, check_values
from gpu_ops.progress import Cancelled, quiet, stop_request
from gpu_ops.report.about import about_run
from gpu_ops.report.files import row
from gpu_ops.report.provenance import machine
from gpu_ops.running.frames import Frames
from gpu_ops.running.parts import Executor, Merged, Parts, Report, serial
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run

First = tuple[Run, Experiment]
"""The run of the first frame, and its experiment."""
Add = Callable[[int, int, Mapping[str, Array], First], None]
"""Called with the number of a frame, its rows and its outputs, and the run of the first frame."""


class Wanted(NamedTuple):
    """The computation: the `output` of a filter for one pick; `deadline` is that of an edited kernel in each part."""

    filter: str
    params: Values
    pick: Pick
    output: str
    deadline: float | None = None


def run_part(
    wanted: Wanted, read: Callable[[], Input], place: str, check: bool, of: str = "", memory: int | None = None
) -> tuple[Run, Experiment]:
    """The run of the part that is read, and its experiment; with `check` it is compared with samples of the reference.
    The steps within it report no progress, but they can be cancelled. `memory` is as in Experiment. Raises Cancelled,
    what `read` raises, KernelError if the variant fails and WrongResult if its result is wrong; messages name the
    `place` in the whole, which is the file `of`, or the input."""
    stop = stop_request()
    with quiet():
        how = {"protocol": "none", "checks": "sample" if check else "off", "memory": memory}
        experiment = Experiment(wanted.filter, read(), wanted.params, (wanted.pick,), **how)  # type: ignore[arg-type]
        with limits_of(wanted.pick, wanted.deadline, place):
            *_, last = run_experiment(experiment, stop=stop)
    if stop is not None and stop():
        raise Cancelled
    what = f"{place} of {of or experiment.input.name}: {last.pick.variant} on {last.pick.device}"
    if last.failure:
        raise KernelError(f"{what} fails: {last.failure}")
    if last.ok is False:
        raise WrongResult(f"{what} gave a wrong result; choose another variant.")
    return last, experiment


class Written(NamedTuple):
    """A summary of the written stack: its shape and type. `checked` tells whether the first frame's result was compared
    with the reference."""

    shape: tuple[int, ...]
    dtype: str
    checked: bool


def write_frames(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    path: str | os.PathLike[str],
    report: Report = lambda done, total: None,
    token: str = "",
    executor: Executor[int, Mapping[str, Array]] = serial,
) -> Written:
    """Run a filter on the frames read(0) to read(count - 1) and write the output of each, (D, …), as NPY, or as pages
    of a TIFF with the pixel size, the axes of the frames and metadata of the first result.

    The first result is compared with samples of the reference. `report(done, total)` is called before each frame.
    `token` names the temporary file, see `replacing`. Another executor than `serial` runs the frames after the first,
    each by itself, and needs a `read` that can be pickled. The target is unchanged until the last frame is written.
    Raises InputError for frames that cannot be read or whose results differ in shape or type, and if the disk is too
    small; KernelError if the variant fails; WrongResult; Cancelled.
    """
    check_frames_target(path, FILTERS.find(wanted.filter).output(wanted.output).kind)
    written, write = list[Written](), list[Write]()

    def add(frame: int, rows: int, outputs: Mapping[str, Array], first: First) -> None:
        array = np.ascontiguousarray(outputs[wanted.output])
        this = Written((count, *array.shape), array.dtype.name, first[0].ok is not None)
        if frame == 0:
            written.append(this)
            write.append(opened.enter_context(_writing(path, this, wanted.output, token, *first)))
        elif this[:2] != written[0][:2]:
            raise InputError(
                f"The result of frame {frame} is {array.shape} of {array.dtype} and that of frame 0 is "
                f"{written[0].shape[1:]} of {written[0].dtype}; one stack holds results of one size: save them one by "
                "one."
            )
        _write(write[0], array)

    with ExitStack() as opened:
        _run_all(read, count, wanted, add, report, executor)
    return written[0]


def _run_all(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    add: Add,
    report: Report,
    executor: Executor[int, Mapping[str, Array]] = serial,
) -> First:
    """Pass the outputs of each frame to `add`, with the run of the first one and its experiment, which are returned.
    The first one is compared with the reference; processing of the others overlaps."""
    report(0, count)
    first = _run_frame(read, wanted, 0)
    add(0, first[0].shape[0], first[0].outputs, first)
    run, experiment = first
    if executor is not serial or run.pick.edits:  # an edited kernel has limits in each frame
        work = partial(_frame_outputs, read, wanted._replace(pick=run.pick))
        parts = Parts(range(1, count), work, lambda frame, outputs: add(frame, run.shape[0], outputs, first))
        if count > 1:
            parts.run(lambda done, total: report(1 + done, count), executor)
        return first
    frames = Frames(
        FILTERS.find(wanted.filter, experiment.input.kind),
        run.pick,
        run.params,
        partial(_read_frame, read),
        lambda frame, rows, outputs: add(frame, rows, outputs, first),
        lambda frame, input: _run_frame(lambda _: input, wanted, frame)[0].outputs,
        lambda frame: f"{_place(frame)} of {experiment.input.name}: {run.pick.variant} on {run.pick.device}",
        lambda frame: report(frame, count),
    )
    frames.run(1, count)
    return first


def _writing(
    path: str | os.PathLike[str], written: Written, output: str, token: str, first: Run, experiment: Experiment
) -> AbstractContextManager[Write]:
    """Writes a stack of results like that of the first frame. A TIFF stores metadata; an NPY file cannot. Raises
    InputError if the disk is too small for the whole stack."""
    (count, *shape), dtype = written.shape, np.dtype(written.dtype)
    disk, needed = f"the disk of {plain(os.fspath(path))}", math.prod(written.shape) * dtype.itemsize
    check_disk(path, needed, f"The results of {count:,} frames need", disk)
    pixel, note = pixel_of(experiment.input.facts.pixel, first.forms[output]), ""
    if Path(path).suffix.lower() in TIFFS:
        own = row(first, experiment, with_roofs=False)
        about = about_run(own, machine([first.pick.device], with_roofs=False), output)
        about |= {"verdict": f"frame 0 {about['verdict']}", "frames": f"all {count}"}
        size = pixel if resolution(pixel) else None  # no unit if the file has no pixel size in it
        note = "\n".join((*imagej_lines(experiment.input.facts.frame_axes, count, size), *lines_of(about)))
    return writing_rows(path, tuple(shape), dtype, pixel, note, count, token)


def _write(write: Write, result: Array) -> None:
    """Write a frame without reporting progress."""
    with quiet():
        write(result)


def merge_frames(
    read: Callable[[int], Input], count: int, wanted: Wanted, report: Report = lambda done, total: None
) -> tuple[Run, Experiment]:
    """Run a mergeable filter on the frames read(0) to read(count - 1), as if they were one picture: histograms and sums
    are added. Returns the run of the first frame, with the merged outputs, and its experiment.

    `wanted.output` is ignored. `report(done, total)` is called before each frame. Raises ParamError if results of
    frames cannot be merged, and what `write_frames` raises.
    """
    filter = FILTERS.find(wanted.filter)
    merged = list[Merged]()

    def add(frame: int, rows: int, outputs: Mapping[str, Array], first: First) -> None:
        if frame == 0:
            task = Task.of(full_meta(first[1].input), check_values(filter.params, wanted.params, filter.id))
            check_merging(filter, task)
            merged.append(Merged(filter, task))
        merged[0].add({name: np.array(array, order="C") for name, array in outputs.items()}, rows)

    run, experiment = _run_all(read, count, wanted, add, report)
    return replace(run, outputs=merged[0].outputs()), experiment


def check_merging(filter: Filter, task: Task) -> None:
    """Raises ParamError with the reason if results of several frames cannot be merged."""
    if filter.locality.merge is None:
        known = ", ".join(f.id for f in FILTERS if f.locality.merge)
        raise ParamError(f"The results of {filter.id} cannot be merged; those of {known} can: take --frames all.")
    reason = filter.locality.whole(task)
    if reason is None and filter.locality.extremes(task):
        reason = "each frame has a range of its own (choose range given, with low and high)"
    if reason is not None:
        raise ParamError(f"The results of frames cannot be merged: {reason}.")


def _place(frame: int) -> str:
    return f"Frame {frame}"


def _read_frame(read: Callable[[int], Input], frame: int) -> Input:
    """Read a frame; errors name its number."""
    try:
        return read(frame)
    except NonFiniteError as error:
        raise InputError(
            f"{_place(frame)}: {error.problem}; open the stack so that these are kept or become 0, and run again."
        ) from None


def _frame_outputs(read: Callable[[int], Input], wanted: Wanted, frame: int) -> Mapping[str, Array]:
    """The wanted output of a frame, unchecked."""
    run = run_part(wanted, partial(_read_frame, read, frame), _place(frame), check=False)[0]
    return {wanted.output: run.outputs[wanted.output]}


def _run_frame(read: Callable[[int], Input], wanted: Wanted, frame: int) -> First:
    """The run of one frame. The first one is compared with the reference."""
    return run_part(wanted, partial(_read_frame, read, frame), _place(frame), check=frame == 0)
