"""A filter over all frames of a stack: one variant on one device, its results in one stack, NPY or TIFF, that grows
frame by frame and appears when it is complete; or merged to the result of all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, NonFiniteError, ParamError, plain
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.io.files import replacing
from gpu_ops.io.frame_files import TIFF, FrameFile, begin_frames, check_frame_file
from gpu_ops.io.inputs import Array
from gpu_ops.io.pixel_size import pixel_of
from gpu_ops.measuring.about import about_run
from gpu_ops.measuring.one_part import Wanted, run_part
from gpu_ops.measuring.parts import Merged, Parts, Report
from gpu_ops.measuring.provenance import machine
from gpu_ops.measuring.report import row
from gpu_ops.measuring.verify import full_meta
from gpu_ops.params import check_values
from gpu_ops.progress import quiet
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Input, Run


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
    report: Report = lambda done, total: None,
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
        stack = _Stack(file, path, count, wanted)
        Parts(range(count), partial(_run_frame, read, wanted), stack.add).run(report)
        assert stack.first is not None and stack.run is not None
        return Written((count, *stack.first.shape), stack.first.dtype.name, stack.run.ok is not None)


@dataclass
class _Stack:
    """The file that gets the output of every frame, begun when the first one is known: the `first` output and `run`."""

    file: IO[bytes]
    path: str | os.PathLike[str]
    count: int
    wanted: Wanted
    first: Array | None = None
    run: Run | None = None
    frames: FrameFile | None = None

    def add(self, frame: int, result: tuple[Run, Experiment]) -> None:
        """Write the output of the next frame. Raises InputError."""
        run, experiment = result
        array = np.ascontiguousarray(run.outputs[self.wanted.output])
        if self.frames is None or self.first is None:
            _check_room(self.path, array, self.count)
            self.first, self.run = array, run
            facts = experiment.input.facts
            about = (pixel_of(facts.pixel, run.forms[self.wanted.output]), self._about(experiment, run))
            self.frames = begin_frames(self.file, self.path, array, self.count, *about, facts.frame_axes)
        elif (array.shape, array.dtype) != (self.first.shape, self.first.dtype):
            raise InputError(
                f"The result of frame {frame} is {array.shape} of {array.dtype} and that of frame 0 is "
                f"{self.first.shape} of {self.first.dtype}; one stack holds results of one size: save them one by one."
            )
        _write(self.frames, array)

    def _about(self, experiment: Experiment, first: Run) -> dict[str, Any]:
        """The facts that a TIFF tells; an NPY file has no room for any."""
        if Path(self.path).suffix.lower() != TIFF:
            return {}
        own = row(first, experiment, with_roofs=False)
        facts = about_run(own, machine([self.wanted.pick.device], with_roofs=False), self.wanted.output)
        return {**facts, "verdict": f"frame 0 {facts['verdict']}", "frames": f"all {self.count}"}


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


def merge_frames(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    report: Report = lambda done, total: None,
) -> tuple[Run, Experiment]:
    """Run a mergeable filter on the frames read(0) to read(count - 1), as if they were one picture: histograms add up,
    and so do sums. The run of the last frame, with the outputs of all, and its experiment.

    `wanted.output` does not matter. `report(done, total)` comes before each frame. Raises ParamError where results of
    frames cannot be merged, and what `write_frames` raises.
    """
    filter = find_filter(wanted.filter)
    merged: Merged | None = None
    last: tuple[Run, Experiment] | None = None

    def add(frame: int, result: tuple[Run, Experiment]) -> None:
        nonlocal merged, last
        (run, experiment) = last = result
        if merged is None:
            task = Task.of(full_meta(experiment.input), check_values(filter.params, wanted.params, filter.id))
            check_merging(filter, task)
            merged = Merged(filter, task)
        merged.add({name: np.ascontiguousarray(array) for name, array in run.outputs.items()}, run.shape[0])

    Parts(range(count), partial(_run_frame, read, wanted), add).run(report)
    assert merged is not None and last is not None
    return replace(last[0], outputs=merged.outputs()), last[1]


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


def _run_frame(read: Callable[[int], Input], wanted: Wanted, frame: int) -> tuple[Run, Experiment]:
    """The run of one frame. The first one is compared with the reference."""

    def one() -> Input:
        try:
            return read(frame)
        except NonFiniteError as error:
            raise InputError(
                f"Frame {frame}: {error.problem}; open the stack so that these are kept or become 0, and run again."
            ) from None

    return run_part(wanted, one, f"Frame {frame}", check=frame == 0)
