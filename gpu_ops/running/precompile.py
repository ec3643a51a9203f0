"""Compiles kernels in parallel before the first run of a bench: NVRTC uses one core per kernel, and a sweep has
hundreds of kernels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from gpu_ops.devices import device_statuses, open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import KernelscopeError
from gpu_ops.filters import FILTERS
from gpu_ops.plan import Limits
from gpu_ops.progress import collect
from gpu_ops.running.declared import offline_plan
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Filter, Pick

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The function's results in the order of the items, computed in as many threads as this machine has processors.
    Raises the exception of the first item that fails."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return collect(pool.map(function, items), len(items))


def compile_ahead(work: Iterable[tuple[Experiment, Sequence[Pick]]]) -> None:
    """Compile the kernels of these picks for their CUDA devices, so that the runs find them in the cache. A kernel that
    does not compile fails again in its run, which reports why."""
    architectures = {s.name: s.architecture for s in device_statuses() if s.kind == "cuda" and s.available}
    jobs = [
        (experiment, pick, architectures[pick.device], open_device(pick.device).limits)
        for experiment, picks in work
        for pick in picks
        if pick.device in architectures and _filter_of(experiment).variant(pick.variant).kernels
    ]
    side_by_side(lambda job: _compile(*job), jobs)


def _filter_of(experiment: Experiment) -> Filter:
    return FILTERS.find(experiment.filter, experiment.input.kind)


def _compile(experiment: Experiment, pick: Pick, architecture: str, limits: Limits) -> None:
    device = OfflineDevice(architecture, pick.edits, limits)
    with suppress(KernelscopeError):
        offline_plan(
            _filter_of(experiment), pick, {**experiment.params, **pick.params}, full_meta(experiment.input), device
        )
