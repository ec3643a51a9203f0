"""Runs a filter on one part of something large."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpu_ops.errors import KernelError
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.params import Values
from gpu_ops.progress import Cancelled, quiet, stop_request
from gpu_ops.types import Experiment, Input, Pick, Run


class Wanted(NamedTuple):
    """What is computed: the `output` of a filter under one pick."""

    filter: str
    params: Values
    pick: Pick
    output: str


def run_part(
    wanted: Wanted, read: Callable[[], Input], place: str, check: bool, of: str = "", memory: int | None = None
) -> tuple[Run, Experiment]:
    """The run of the part that is read, and its experiment; with `check` it is compared with samples of the reference.
    The steps within it report no progress, but they can be stopped. `memory` is as in an Experiment. Raises Cancelled,
    what `read` raises, and KernelError where the variant fails or is wrong: it names the `place` in the whole, which is
    `of` that name or the input's."""
    stop = stop_request()
    with quiet():
        how = {"protocol": "none", "checks": "sample" if check else "off", "memory": memory}
        experiment = Experiment(wanted.filter, read(), wanted.params, (wanted.pick,), **how)  # type: ignore[arg-type]
        *_, last = run_experiment(experiment, stop=stop)
    if stop is not None and stop():
        raise Cancelled
    what = f"{place} of {of or experiment.input.name}: {last.pick.variant} on {last.pick.device}"
    if last.failure:
        raise KernelError(f"{what} fails: {last.failure}")
    if last.ok is False:
        raise KernelError(f"{what} gave a wrong result; choose another variant.")
    return last, experiment
