"""Launches that begin before the previous one has ended load nothing as read-only memory that it may still write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.devices.kernel_source import included_headers, read_source
from gpu_ops.devices.sim.streams.ordering import check_early
from gpu_ops.errors import KernelError
from gpu_ops.filters import FILTERS
from gpu_ops.plan import Launch, Plan
from gpu_ops.task import Meta, Task

DEVICE = "sim:sm_90"
"""Before compute capability 9.0 launches begin in order."""
FILE, AFTER_WAIT, ORDINARY = "include/fft_row_pairs.cuh", "= load_after_wait(from", "= *(from"
PRIMES = "fft2d", "fast", (61, 127), {"result": "magnitude"}
TASKS: list[tuple[str, str, tuple[int, ...], dict[str, Any]]] = [
    ("fft1d", "fast", (640,), {"result": "power density", "segment": 16}),
    ("fft1d", "four_step", (30_000,), {}),
    ("fft1d", "four_step", (10_007,), {}),
    ("fft1d", "three_step", (1 << 21,), {}),
    ("fft2d", "fast", (34, 66), {}),
    ("fft2d", "fast", (2048, 64), {"result": "level"}),
    ("fft2d", "fast", (34, 66), {"result": "round trip"}),
    PRIMES,
    ("fft_mask", "fast", (34, 66), {}),
    ("fft_mask", "fast", (2048, 64), {}),
    ("fft_batch1d", "fast", (1 << 16,), {"points": 1 << 16}),
    ("fft_batch2d", "fast", (64, 64), {"tile": 64}),
    ("wavelet2d", "warp_strips", (512, 512), {"levels": 3}),
    ("wavelet2d", "warp_recomputed", (512, 512), {"levels": 1, "rule": "universal"}),
    ("wavelet2d", "two_levels", (512, 512), {"levels": 3, "rule": "universal"}),
]


def _plan(filter: str, variant: str, shape: tuple[int, ...], params: Mapping[str, Any], edits=None) -> Plan:
    device = open_device(DEVICE).session(edits or {})
    kind = "image" if len(shape) > 1 else "signal"
    of, one = FILTERS.find(filter, kind), FILTERS.find(filter, kind).variant(variant)
    values = {p.name: p.default for p in of.params} | dict(params)
    knobs = {k.name: k.default for k in one.knobs}
    task = Task.of(Meta(kind, shape, "float32"), values, knobs, device.limits)
    assert not one.refusal(task)
    return one.plan(device, task.on(device.upload(np.zeros(shape, "float32"))))


@pytest.mark.thorough
def test_a_load_that_may_precede_the_wait_is_refused() -> None:
    plan = _plan(*PRIMES, {FILE: read_source(FILE).replace(AFTER_WAIT, ORDINARY)})
    with pytest.raises(KernelError, match="columns, magnitude may begin before rows has ended, and loads z"):
        open_device(DEVICE).execute(plan)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task[0]}-{task[1]}-{task[2][0]}")
def test_early_launches_load_what_the_previous_one_wrote_after_their_wait(task) -> None:
    plan = _plan(*task)
    check_early(plan)
    noise = task[3].get("rule") == "universal" and task[3]["levels"] == 1
    assert any(step.early for step in plan.steps if isinstance(step, Launch)) != noise


def test_every_file_of_an_early_launch_is_tried() -> None:
    kernels = {file for f in FILTERS for v in f.variants for file in v.kernels}
    early = {file for file in kernels if "early_launch.cuh" in included_headers(file)}
    tried = {file for filter, variant, *_ in TASKS for file in FILTERS.find(filter).variant(variant).kernels}
    assert early and early <= tried
