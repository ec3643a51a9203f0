"""A filter over all frames of a stack: one variant on one device, its results in one NPY stack that grows frame by
frame and appears when it is complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, KernelError, NonFiniteError, plain
from gpu_ops.io.files import replacing
from gpu_ops.io.inputs import Array
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.params import Values
from gpu_ops.progress import Cancelled, quiet, stop_request
from gpu_ops.types import Experiment, Input, Pick

SUFFIX = ".npy"


class Wanted(NamedTuple):
    """What is computed: the `output` of a filter under one pick."""

    filter: str
    params: Values
    pick: Pick
    output: str


class Written(NamedTuple):
    """What was written: the shape and the type of the whole stack. `checked` says whether the first frame's result was
    compared with the reference."""

    shape: tuple[int, ...]
    dtype: str
    checked: bool


def check_target(path: str | os.PathLike[str]) -> None:
    """Raises InputError for a name that cannot hold a stack of results."""
    if Path(path).suffix.lower() != SUFFIX:
        raise InputError(
            f"{plain(os.fspath(path))} cannot hold a stack of results; choose a name that ends in {SUFFIX}."
        )


def write_frames(
    read: Callable[[int], Input],
    count: int,
    wanted: Wanted,
    path: str | os.PathLike[str],
    report: Callable[[int, int], None] = lambda done, total: None,
    token: str = "",
) -> Written:
    """Run a filter on the frames read(0) to read(count - 1) and write the output of each, (D, …), as NPY.

    The first result is compared with samples of the reference. `report(done, total)` comes before each frame. `token`
    names the file that grows, see `replacing`. The target stays as it was until the last frame. Raises InputError for
    frames that cannot be read or whose results differ in shape or type, and where the disk is too small; KernelError
    where the variant fails or is wrong; Cancelled.
    """
    check_target(path)
    with replacing(path, token=token) as file:
        first = np.empty(0)
        for frame in range(count):
            report(frame, count)
            result, checked = _result(read, frame, wanted)
            if frame == 0:
                first, was_checked = result, checked
                _begin(file, path, result, count)
            elif (result.shape, result.dtype) != (first.shape, first.dtype):
                raise InputError(
                    f"The result of frame {frame} is {result.shape} of {result.dtype} and that of frame 0 is "
                    f"{first.shape} of {first.dtype}; one stack holds results of one size: save them one by one."
                )
            file.write(result.reshape(-1).view(np.uint8).data)
        return Written((count, *first.shape), first.dtype.name, was_checked)


def _begin(file: IO[bytes], path: str | os.PathLike[str], result: Array, count: int) -> None:
    """Write the header of the whole stack. Raises InputError where the disk has no room for it."""
    needed = count * result.nbytes
    free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
    if needed > free:
        raise InputError(
            f"The results of {count} frames need {needed:,} bytes, and the disk of {plain(os.fspath(path))} has "
            f"{free:,} free; choose another disk."
        )
    header: dict[str, Any] = np.lib.format.header_data_from_array_1_0(result)
    np.lib.format.write_array_header_1_0(file, {**header, "shape": (count, *result.shape)})


def _result(read: Callable[[int], Input], frame: int, wanted: Wanted) -> tuple[Array, bool]:
    """The output for one frame in C order, and whether it was checked. The steps within a frame tell no progress, but
    they can be stopped."""
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
    return np.ascontiguousarray(last.outputs[wanted.output]), last.ok is not None
