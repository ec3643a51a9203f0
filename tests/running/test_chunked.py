"""An attempt in chunks and streams: the same result as from the whole, in steps that nothing leaves unordered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices.sim.streams.queues import overlap
from gpu_ops.errors import KernelError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.kit import staging
from gpu_ops.params import check_values
from gpu_ops.plan import Copy, HostTask, Launch
from gpu_ops.running import chunked, runner
from gpu_ops.running.attempt import Attempt
from gpu_ops.running.chunked import Chunked, no_chunks_reason, streamed
from gpu_ops.types import Experiment, Filter, Pick

LOCAL = [f for f in FILTERS if f.locality.kind != "global" and not f.end_to_end]
KERNELS = [(f.id, v.id) for f in LOCAL for v in f.variants if v.device == "cuda" and not v.library]
WHOLE_UNITS = ("columns",)
"""Variants of rows of whole units of 32 bytes."""
FEW = [(f.id, [v for g, v in KERNELS if g == f.id][-1]) for f in LOCAL]
FLOATS = ("double",)
"""Variants that take no integers."""
VALUES = {
    "image": np.random.default_rng(5).integers(0, 256, (53, 37)).astype(np.uint8),
    "signal": np.random.default_rng(6).integers(0, 256, 3001).astype(np.uint8),
}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "CHUNK_BYTES", 300)


def attempt_of(id: str, variant: str, params: dict[str, Any] | None = None, values: Any = None) -> Attempt:
    filter = find_filter(id)
    usual = VALUES[filter.accepts][..., :32] if variant in WHOLE_UNITS else VALUES[filter.accepts]
    given = from_array(usual if values is None else values, filter.accepts)
    dtype = "float32" if variant in FLOATS else "uint8" if "uint8" in filter.dtypes else filter.dtypes[0]
    given = replace(given, array=given.array.astype(dtype))
    checked = check_values(filter.params, params or {}, id)
    pick = Pick(variant, "sim")
    return runner._begin(filter, Experiment(id, given, checked, (pick,), "quick"), pick, titled=False)


def in_chunks(attempt: Attempt, kind: Any = "pinned") -> tuple[Chunked, Any]:
    """The plan in chunks from and to memory of that kind, executed."""
    form = {o.id: o.form(attempt.task) for o in attempt.filter.given(attempt.task.params)}
    source = attempt.device.allocate(kind, attempt.input.array.shape, attempt.input.array.dtype)
    np.copyto(source, attempt.input.array)
    targets = {name: attempt.device.allocate(kind, f.shape, f.dtype) for name, f in form.items()}
    for target in targets.values():
        target.reshape(-1).view(np.uint8).fill(0xFF)
    found = streamed(attempt, source, targets)
    return found, attempt.session.execute(found.plan, trace=True)


def check(id: str, variant: str, kind: str = "pinned", **params: Any) -> Chunked:
    attempt = attempt_of(id, variant, params)
    assert no_chunks_reason(attempt.filter, attempt.variant, attempt.task) == ""
    found, execution = in_chunks(attempt, kind)
    assert len(found.chunks) > 3 and not execution.findings
    for name, error in attempt.errors_of(found.results.outputs()).items():
        assert error.ok, (name, error)
    return found


@pytest.mark.parametrize("id, variant", FEW)
def test_chunks_give_what_the_whole_gives(id: str, variant: str) -> None:
    found = check(id, variant)
    assert {chunk.slot for chunk in found.chunks} == {0, 1, 2}
    plain = all(isinstance(s, Copy) or (isinstance(s, Launch) and not s.early) for s in found.plan.steps)
    assert found.plan.graph == plain and (find_filter(id).locality.kind != "mergeable" or not plain)


@pytest.mark.thorough
@pytest.mark.parametrize("id, variant", KERNELS)
def test_chunks_give_what_the_whole_gives_with_every_variant(id: str, variant: str) -> None:
    attempt = attempt_of(id, variant)
    if refusal := attempt.variant.refusal(attempt.task):
        pytest.skip(refusal)
    check(id, variant)


@pytest.mark.parametrize("border", ["zero", "wrap"])
def test_chunks_of_pageable_memory_go_through_buffers(border: str) -> None:
    found = check("mean2d", "naive", "pageable", border=border, window=5)
    fills = [step for step in found.plan.steps if isinstance(step, HostTask) and step.name.startswith("fill")]
    assert len(fills) == len(found.chunks) and len({step.writes[0].ctypes.data for step in fills}) == 3
    assert not found.plan.graph, "the host takes part in it"


def test_chunks_overlap() -> None:
    attempt = attempt_of("mean2d", "naive")
    assert overlap(in_chunks(attempt)[1].spans) > 0.7


def test_all_chunks_share_one_plan_a_stream() -> None:
    found = check("mean2d", "naive", window=5)
    assert len({id(chunk.plan) for chunk in found.chunks}) == 3


def test_a_texture_that_is_refreshed_is_no_graph() -> None:
    assert not check("conv3x3", "texture").plan.graph and check("mean2d", "naive").plan.graph


# Faults of the order, which the simulated GPU finds


@pytest.mark.parametrize(
    "side, step, said",
    [
        (
            "FromBuffers",
            "upload",
            r"fill 4 \(the host\) writes what upload 1 \(stream 1\) accesses, and nothing orders",
        ),
        ("ToBuffers", "take", r"empty 1 \(the host\) reads what download 1 \(stream 1\) accesses, and nothing orders"),
    ],
)
def test_a_host_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch, side: str, step: str, said: str) -> None:
    """Its pinned buffer is still read, or not yet written."""
    steps = getattr(getattr(staging, side), step)

    def early(self: Any, chunk: Any) -> Any:
        return (replace(s, after=()) if isinstance(s, HostTask) else s for s in steps(self, chunk))

    monkeypatch.setattr(getattr(staging, side), step, early)
    attempt = attempt_of("mean2d", "naive")
    pageable, pinned = (attempt.device.allocate(kind, VALUES["image"].shape, "u1") for kind in ("pageable", "pinned"))
    sides = (pageable, pinned) if side == "FromBuffers" else (pinned, pageable)
    with pytest.raises(KernelError, match=said):
        attempt.session.execute(streamed(attempt, sides[0], {"image": sides[1]}).plan)


def test_a_download_that_does_not_wait_for_its_kernel_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    order = chunked.depth_first

    def astray(*given: Any) -> Any:
        for step in order(*given):
            yield replace(step, stream=5) if isinstance(step, Copy) and step.name == "download 2" else step

    monkeypatch.setattr(chunked, "depth_first", astray)
    with pytest.raises(
        KernelError, match=r"download 2 \(stream 5\) reads what .* 2 \(stream 2\) accesses, and nothing"
    ):
        check("mean2d", "naive")


def test_a_missing_halo_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.filters.kit.bands.reach", lambda filter, task: 0)
    with pytest.raises(AssertionError, match="image"):
        check("mean2d", "naive")


# What does not go in chunks


def reason(filter: Filter, variant: str, values: Any = None, **params: Any) -> str:
    attempt = attempt_of(filter.id, variant, params, values)
    return no_chunks_reason(attempt.filter, attempt.variant, attempt.task)


def test_what_cannot_be_cut_says_why() -> None:
    kernel = {id: next(v.id for v in find_filter(id).variants if v.kernels) for id in ("fft2d", "histogram2d")}
    assert "depends on the whole input" in reason(find_filter("fft2d"), kernel["fft2d"])
    said = reason(find_filter("histogram2d"), kernel["histogram2d"], result="equalised")
    assert "an equalised sample depends on the counts of all samples" in said
    assert reason(find_filter("mean2d"), "naive", np.zeros((1, 9), np.uint8)) == "the input has no rows to divide"
