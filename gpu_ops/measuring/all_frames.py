"""A filter over all frames of a stack: one variant on one device, its results in one stack, NPY or TIFF, that grows
frame by frame and appears when it is complete; or merged to the result of all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, KernelError, NonFiniteError, ParamError, plain
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.io.files import replacing
from gpu_ops.io.images.pixel_size import pixel_of
from gpu_ops.io.inputs import Array
from gpu_ops.io.rows import TIFF, FrameFile, begin_frames, check_frame_file
from gpu_ops.measuring.about import about_run
from gpu_ops.measuring.provenance import machine
from gpu_ops.measuring.report import row
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.measuring.verify import full_meta
from gpu_ops.params import Values, check_values
from gpu_ops.progress import Cancelled, quiet, stop_request
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run


class Wanted(NamedTuple):
    """What is computed: the `output` of a filter under one pick."""

    filter: str
    params: Values
    pick: Pick
    output: str


class _Result(NamedTuple):
    """The run of one frame, its output in C order, and the experiment that it answers."""

    run: Run
    array: Array
    experiment: Experiment


class Written(NamedTuple):
    """What was written: the shape and the type of the whole stack. `checked` says whether the first frame's result was
    compared with the reference."""

    shape: tuple[int, ...]
    dtype: str
    checked: bool


def check_target(path: str | os.PathLike[str], filter: str, output: str) -> None:
    """Raises InputError for a name that cannot hold a stack of this output of a filter."""
    check_frame_file(path, next(o.kind for o in find_filter(filter).outputs if o.id == output))


def write_frames(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    path: str | os.PathLike[str],
    report: Callable[[int, int], None] = lambda done, total: None,
    token: str = "",
) -> Written:
    """Run a filter on the frames read(0) to read(count - 1) and write the output of each, (D, …), as NPY, or as pages
    of a TIFF with the size of a pixel, the axes of the frames and the facts about the first result.

    The first result is compared with samples of the reference. `report(done, total)` comes before each frame. `token`
    names the file that grows, see `replacing`. The target stays as it was until the last frame. Raises InputError for
    frames that cannot be read or whose results differ in shape or type, and where the disk is too small; KernelError
    where the variant fails or is wrong; Cancelled.
    """
    check_target(path, wanted.filter, wanted.output)
    with replacing(path, token=token) as file:
        report(0, count)
        first = _result(read, 0, wanted)
        _check_room(path, first.array, count)
        pixel = pixel_of(first.experiment.input.facts.pixel, first.run.forms[wanted.output])
        axes = first.experiment.input.facts.frame_axes
        frames = begin_frames(file, path, first.array, count, pixel, _about(first, wanted, path, count), axes)
        _write(frames, first.array)
        for frame in range(1, count):
            report(frame, count)
            result = _result(read, frame, wanted).array
            if (result.shape, result.dtype) != (first.array.shape, first.array.dtype):
                raise InputError(
                    f"The result of frame {frame} is {result.shape} of {result.dtype} and that of frame 0 is "
                    f"{first.array.shape} of {first.array.dtype}; one stack holds results of one size: save them one "
                    "by one."
                )
            _write(frames, result)
        return Written((count, *first.array.shape), first.array.dtype.name, first.run.ok is not None)


def _write(frames: FrameFile, result: Array) -> None:
    """Write a frame without progress of its own."""
    with quiet():
        frames.write(result)


def _check_room(path: str | os.PathLike[str], result: Array, count: int) -> None:
    """Raises InputError where the disk has no room for so many results."""
    needed = count * result.nbytes
    free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
    if needed > free:
        raise InputError(
            f"The results of {count} frames need {needed:,} bytes, and the disk of {plain(os.fspath(path))} has "
            f"{free:,} free; choose another disk."
        )


def _about(first: _Result, wanted: Wanted, path: str | os.PathLike[str], count: int) -> dict[str, Any]:
    """The facts that a TIFF tells; an NPY file has no room for any."""
    if Path(path).suffix.lower() != TIFF:
        return {}
    own = row(first.run, first.experiment, with_roofs=False)
    facts = about_run(own, machine([wanted.pick.device], with_roofs=False), wanted.output)
    return {**facts, "verdict": f"frame 0 {facts['verdict']}", "frames": f"all {count}"}


def merge_frames(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Run, Experiment]:
    """Run a mergeable filter on the frames read(0) to read(count - 1), as if they were one picture: histograms add up,
    and so do sums. The run of the last frame, with the outputs of all, and its experiment.

    `wanted.output` does not matter. `report(done, total)` comes before each frame. Raises ParamError where results of
    frames cannot be merged, and what `write_frames` raises.
    """
    filter, parts, rows = find_filter(wanted.filter), list[Mapping[str, Array]](), list[int]()
    for frame in range(count):
        report(frame, count)
        run, experiment = _run_frame(read, frame, wanted)
        if frame == 0:
            task = Task.of(full_meta(experiment.input), check_values(filter.params, wanted.params, filter.id))
            check_merging(filter, task)
        parts.append({name: np.ascontiguousarray(array) for name, array in run.outputs.items()})
        rows.append(run.shape[0])
        if frame > 0:
            assert filter.locality.merge is not None
            parts, rows = [filter.locality.merge(task, parts, rows)], [sum(rows)]
    return replace(run, outputs=parts[0]), experiment


def check_merging(filter: Filter, task: Task) -> None:
    """Raises ParamError that says why results of several frames cannot be merged."""
    if filter.locality.merge is None:
        known = ", ".join(f.id for f in FILTERS if f.locality.merge)
        raise ParamError(f"The results of {filter.id} cannot be merged; those of {known} can: take --frames all.")
    reason = filter.locality.whole(task)
    if reason is None and filter.locality.extremes(task):
        reason = "each frame has a range of its own (choose range given, with low and high)"
    if reason is not None:
        raise ParamError(f"The results of frames cannot be merged: {reason}.")


def _result(read: Callable[[int], Input], frame: int, wanted: Wanted) -> _Result:
    """The run of one frame and the output that is wanted."""
    run, experiment = _run_frame(read, frame, wanted)
    return _Result(run, np.ascontiguousarray(run.outputs[wanted.output]), experiment)


def _run_frame(read: Callable[[int], Input], frame: int, wanted: Wanted) -> tuple[Run, Experiment]:
    """The run of one frame. The steps within it tell no progress, but they can be stopped."""
    with quiet():
        try:
            input = read(frame)
        except NonFiniteError as error:
            raise InputError(
                f"Frame {frame}: {error.problem}; open the stack so that these are kept or become 0, and run again."
            ) from None
        stop = stop_request()
        checks = "sample" if frame == 0 else "off"
        experiment = Experiment(wanted.filter, input, wanted.params, (wanted.pick,), "none", checks=checks)  # type: ignore[arg-type]
        *_, last = run_experiment(experiment, stop=stop)
    if stop is not None and stop():
        raise Cancelled
    name = f"{wanted.pick.variant} on {wanted.pick.device}"
    if last.failure:
        raise KernelError(f"Frame {frame} of {input.name}: {name} fails: {last.failure}")
    if last.ok is False:
        raise KernelError(f"Frame {frame} of {input.name}: {name} gave a wrong result; choose another variant.")
    return last, experiment
