"""Transfers: every strategy brings the same result, and its plan has the steps that its name promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset

from gpu_ops import FILTERS, Experiment, Pick, from_array, run_experiment, sample
from gpu_ops.devices import open_device
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import KernelError
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.timeline import TimelineJob, timeline
from gpu_ops.filters.transfer import strategies
from gpu_ops.plan import DEFAULT_STREAM, Copy, HostTask, Launch, Plan, Prefetch
from gpu_ops.running.declared import make_plan
from gpu_ops.running.runner import last_runs
from gpu_ops.task import Task

TRANSFER = FILTERS.find("transfer2d")
IMAGE = np.random.default_rng(3).integers(0, 256, (40, 33), np.uint8)
KERNELS = [v.id for v in TRANSFER.variants if v.device == "cuda"]


def plan_of(variant: str, params: Mapping[str, Any] = {}, image: np.ndarray = IMAGE, **knobs: Any) -> Plan:  # noqa: B006
    session = open_device("sim").session({})
    own = {k.name: k.default for k in TRANSFER.variant(variant).knobs} | knobs
    values = {p.name: p.default for p in TRANSFER.params} | params
    task = Task.of(from_array(image).meta, values, own, session.limits)
    return make_plan(TRANSFER, TRANSFER.variant(variant), session, task.on(session.upload(image)))


def runs(picks: list[Pick], image: np.ndarray = IMAGE, **params: Any) -> list[Any]:
    return last_runs(run_experiment(Experiment(TRANSFER.id, from_array(image), params, tuple(picks), "none")))


@pytest.mark.parametrize("border", daily_subset(("reflect", "wrap"), 1, str))
def test_every_strategy_gives_the_filters_own_result(border: str) -> None:
    knobs = {"streams": 3, "chunks": 7}
    picks = [Pick(id, "sim", {k: v for k, v in knobs.items() if k in names(id)}) for id in KERNELS]
    found = runs([Pick("serial", "cpu"), *picks], border=border, repeats=2, work="mean2d-naive")
    assert [(run.pick.variant, run.ok, run.failure) for run in found if not run.ok] == []
    assert all(np.array_equal(run.outputs["mean2d"], found[0].outputs["mean2d"]) for run in found)
    direct = Experiment("mean2d", from_array(IMAGE), {"border": border}, (Pick("serial", "cpu"),), "none")
    (mean,) = last_runs(run_experiment(direct))
    assert np.array_equal(mean.outputs["image"], found[0].outputs["mean2d"])


def names(variant: str) -> set[str]:
    return {knob.name for knob in TRANSFER.variant(variant).knobs}


def test_a_missing_halo_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of chunks is wrong where they lack the rows around them."""
    monkeypatch.setattr("gpu_ops.filters.kit.bands.reach", lambda filter, task: 0)
    (run,) = runs([Pick("streams", "sim", {"chunks": 4})])
    assert run.ok is False


def test_chunks_take_turns_in_the_streams() -> None:
    plan = plan_of("streams", chunks=5, streams=2)
    uploads = [step for step in plan.steps if isinstance(step, Copy) and step.name.startswith("upload")]
    assert [step.stream for step in uploads] == [1, 2, 1, 2, 1] and not plan.graph and not plan.blocking
    assert sum(isinstance(step, Launch) for step in plan.steps) == 5
    launches = plan_of("streams", {"repeats": 3}, chunks=5).steps
    assert len({step.name for step in launches}) == len(launches) == 5 * (1 + 3 + 1)


def test_breadth_first_enqueues_the_uploads_of_all_streams_first() -> None:
    steps = plan_of("streams", chunks=4, streams=2, order="breadth first").steps
    kinds = [step.name.split()[0] for step in steps]
    assert kinds == ["upload", "upload", "convolve", "convolve", "download", "download"] * 2


def test_more_chunks_than_rows_are_refused() -> None:
    (run,) = runs([Pick("streams", "sim", {"chunks": 64})], IMAGE[:5])
    assert run.failure_kind == "unsupported"
    assert run.failure == "64 chunks need as many rows, this input has 5; choose that many or fewer"


def test_each_interruption_is_behind_every_chunk() -> None:
    default = plan_of("default_stream", chunks=3)
    assert default.blocking and sum(step.stream == DEFAULT_STREAM for step in default.steps) == 3
    for variant in ("pinned_allocation", "device_allocation", "carveout"):
        tasks = [step for step in plan_of(variant, chunks=3).steps if isinstance(step, HostTask)]
        assert len(tasks) == 3 and all(task.synchronizes for task in tasks)
    assert plan_of("graph", chunks=3).graph


def test_zero_copy_has_no_copies_and_managed_memory_may_be_prefetched() -> None:
    assert not [s for s in plan_of("mapped").steps if isinstance(s, Copy | Prefetch)]
    assert not [s for s in plan_of("managed").steps if isinstance(s, Copy | Prefetch)]
    assert [s.to for s in plan_of("managed", prefetch="yes").steps if isinstance(s, Prefetch)] == [
        *("device", "device"),
        "host",
    ]


def test_staging_uses_a_ring_of_pinned_buffers() -> None:
    tall = np.random.default_rng(1).integers(0, 256, (5000, 1000), np.uint8)
    plan = plan_of("staged", image=tall, buffers=2, chunk=1)
    fills = [step for step in plan.steps if isinstance(step, HostTask) and step.name.startswith("fill")]
    assert len(fills) == 5 and [step.after for step in fills] == [(), (), ("upload 1",), ("upload 2",), ("upload 3",)]
    assert len({step.writes[0].ctypes.data for step in fills}) == 2


TALL = np.random.default_rng(1).integers(0, 256, (45, 1 << 20), np.uint8)
"""Twelve chunks of four rows: six for each of two devices, twice round three streams."""


def test_two_devices_work_from_the_middle_outwards_and_exchange_the_halo_there() -> None:
    plan = plan_of("two_gpus", image=TALL)
    streams = {step.name: step.stream for step in plan.steps}
    assert plan.peer_streams == {4, 5, 6} and set(streams.values()) == {1, 2, 3, 4, 5, 6}
    halos = [step for step in plan.steps if isinstance(step, Copy) and step.name.startswith("halo")]
    assert [(step.name, step.stream, len(step.source)) for step in halos] == [
        ("halo to the second GPU", 1, 1),
        ("halo to the first GPU", 4, 1),
    ]
    uploads = {step.name: len(step.source) for step in plan.steps if step.name.startswith("upload")}
    assert uploads["upload 1"] == uploads["upload 7"] == 5, "its own rows and those at the far side"
    assert uploads["upload 2"] == 6 and len(uploads) == 12
    launches = [step for step in plan.steps if isinstance(step, Launch)]
    assert {step.kernel for step in launches if step.stream < 4} != {
        step.kernel for step in launches if step.stream > 3
    }


@pytest.mark.parametrize("border", ("reflect", "wrap"))
def test_two_devices_give_the_filters_own_result_in_many_chunks(border: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "CHUNK_BYTES", 4 * IMAGE.shape[1])
    for rows in (2, 3, 9, 40):
        found = runs([Pick("serial", "cpu"), Pick("two_gpus", "sim")], IMAGE[:rows], border=border, work="mean2d-naive")
        assert all(run.ok for run in found), found[1].failure
        assert np.array_equal(*(run.outputs["mean2d"] for run in found))


@pytest.mark.parametrize("name", ("halo to the first GPU", "halo to the second GPU"))
def test_a_launch_that_does_not_wait_for_its_halo_is_named(name: str) -> None:
    plan = plan_of("two_gpus")
    hasty = [replace(s, after=()) if isinstance(s, Launch) and name in s.after else s for s in plan.steps]
    assert hasty != list(plan.steps)
    with pytest.raises(KernelError, match=f"{name}.*nothing orders the two"):
        open_device("sim").session({}).execute(replace(plan, steps=tuple(hasty)))


def test_two_devices_take_half_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "CHUNK_BYTES", 1 << 11)
    one, two = (drawn(id, rates=Rates(10e9, 10e9, 1000e9)) for id in ("fast", "two_gpus"))
    assert 1.9 < one.elapsed / two.elapsed < 2.0 and two.lanes[-1] == "stream 6, second GPU"


def drawn(variant: str, **how: Any) -> Any:
    knobs = {"chunks": 8, "streams": 4} if "chunks" in names(variant) else {}
    params = {p.name: p.default for p in TRANSFER.params}
    return timeline(TimelineJob(TRANSFER, TRANSFER.variant(variant), "sim", sample("camera"), params, knobs, **how))


def test_streams_overlap_and_every_interruption_breaks_it() -> None:
    assert drawn("pinned").overlap == pytest.approx(1 / 3) and drawn("streams").overlap == 0.8
    for variant in ("default_stream", "pinned_allocation", "device_allocation", "carveout", "pageable_streams"):
        assert drawn(variant).overlap < 0.4, variant


def test_a_host_that_waits_for_each_kernel_breaks_it_as_well() -> None:
    assert drawn("streams", queues=Queues(launch_blocking=True)).overlap < 0.7


def test_rates_predict_seconds() -> None:
    rates = Rates(10e9, 20e9, 40e9, latency=0.0)
    found = drawn("pinned", rates=rates)
    upload, kernel, download = found.spans
    nbytes = 512 * 512
    assert found.basis == "predicted" and upload.end == nbytes / 10e9
    assert kernel.end - kernel.start == pytest.approx(2 * nbytes / 40e9)
    assert download.end - download.start == pytest.approx(nbytes / 20e9) and found.elapsed == download.end


def test_a_kept_plan_takes_new_samples() -> None:
    import gpu_ops as ks

    for seed in (1, 2):
        image = np.random.default_rng(seed).integers(0, 256, (16, 17), np.uint8)
        found = ks.apply("transfer", image, device="sim", variant="pinned")
        assert np.array_equal(found, ks.apply("conv3x3", image, device="cpu", variant="serial"))
