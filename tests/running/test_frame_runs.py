"""Frames of one form under one plan, of which several are at work at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError, InputError, KernelError
from gpu_ops.filters import find_filter
from gpu_ops.params import check_values
from gpu_ops.running import frames as frames_module
from gpu_ops.running.frames import Frames
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Input, Pick

STACK = np.random.default_rng(8).integers(0, 256, (11, 13, 9)).astype(np.uint8)


def result_of(id: str, frame: np.ndarray, pick: Pick, params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    *_, last = run_experiment(Experiment(id, from_array(frame), params, (pick,), "none"))
    assert last.ok, last.failure
    return dict(last.outputs)


def in_turn(
    id: str,
    variant: str,
    read: Callable[[int], Any],
    count: int,
    device: str = "sim",
    alone: Any = None,
    take: Any = None,
    **params: Any,
) -> tuple[list[dict[str, np.ndarray]], Frames]:
    """The results of frames, and what ran them."""
    filter, results = find_filter(id), list[dict[str, np.ndarray]]()

    def taken(frame: int, rows: int, outputs: Mapping[str, np.ndarray]) -> None:
        assert frame == len(results), "they come in their order"
        results.append({name: array.copy() for name, array in outputs.items()})

    def given(frame: int) -> Input:
        found = read(frame)
        return found if isinstance(found, Input) else from_array(found)

    knobs = {k.name: k.default for k in filter.variant(variant).knobs}
    how = check_values(filter.params, params, id), given, take or taken, alone
    frames = Frames(filter, Pick(variant, device, knobs), *how, name=lambda frame: f"frame {frame}")
    frames.run(0, count)
    return results, frames


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans that are made."""
    made, make = list[str](), frames_module.make_plan

    def making(*given: Any) -> Any:
        made.append("")
        return make(*given)

    monkeypatch.setattr(frames_module, "make_plan", making)
    return made


@pytest.mark.parametrize("device, variant, slots", [("sim", "naive", 3), ("cpu", "serial", 1)])
def test_one_plan_a_slot_serves_all_frames(monkeypatch, plans, device, variant, slots):
    monkeypatch.setattr(frames_module, "IN_A_PLAN", 4)  # two and a part
    results, _ = in_turn("mean2d", variant, lambda k: STACK[k], 11, device, window=3)
    assert len(plans) == slots and len(results) == 11
    for frame, result in zip(STACK, results, strict=True):
        expected = result_of("mean2d", frame, Pick("serial", "cpu"), {"window": 3})
        assert np.array_equal(result["image"], expected["image"])


def test_a_frame_of_another_form_gets_a_plan_of_its_own(plans):
    def read(frame: int) -> np.ndarray:
        return STACK[frame][:5] if frame in (4, 5) else STACK[frame]

    results, _ = in_turn("mean2d", "naive", read, 9)
    assert [len(r["image"]) for r in results] == [13, 13, 13, 13, 5, 5, 13, 13, 13]
    assert len(plans) == 9, "for each form three at a time"
    assert all(
        np.array_equal(r["image"], result_of("mean2d", read(k), Pick("serial", "cpu"), {})["image"])
        for k, r in enumerate(results)
    )


def test_ranges_of_floats_matter_where_the_filter_depends_on_them(plans):
    floats = (STACK[:5] * np.arange(1, 6)[:, None, None]).astype(np.float32)
    in_turn("mean2d", "naive", lambda k: floats[k], 5)
    assert len(plans) == 3
    variant = next(v.id for v in find_filter("histogram2d").variants if v.kernels)
    results, _ = in_turn("histogram2d", variant, lambda k: floats[k], 5, bins=16, result="counts")
    for frame, result in zip(floats, results, strict=True):
        params = {"bins": 16, "result": "counts"}
        expected = result_of("histogram2d", frame, Pick("serial", "cpu"), params)
        assert np.array_equal(result["counts"], expected["counts"])
    assert len(plans) == 3 + 5


def test_a_frame_that_the_variant_refuses_is_named_and_those_before_it_are_taken():
    most = find_filter("mean2d").variant("naive").largest
    assert most is not None
    floats = STACK[:4].astype(np.float32)
    floats[3, 0, 0] = np.finfo(np.float32).max
    results: list[int] = []
    with pytest.raises(KernelError, match="frame 3 fails: it holds for values up to"):
        in_turn("mean2d", "naive", lambda k: floats[k], 4, take=lambda k, rows, outputs: results.append(k))
    assert results == [0, 1, 2]


def test_what_reading_and_taking_raise_goes_through():
    def broken(frame: int) -> np.ndarray:
        if frame == 5:
            raise InputError("frame 5 is broken.")
        return STACK[frame]

    with pytest.raises(InputError, match="frame 5 is broken"):
        in_turn("mean2d", "naive", broken, 9)

    def full(frame: int, rows: int, outputs: Any) -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        in_turn("mean2d", "naive", lambda k: STACK[k], 9, take=full)


@pytest.mark.parametrize("room, slots", [(2, 2), (1, 1), (0, 1)])
def test_fewer_at_a_time_where_the_device_has_less_space(monkeypatch, room, slots):
    """And none concurrently if there is no memory for it: each runs alone."""
    memory, each, alone = open_device("sim")._memory, 2 * STACK[0].nbytes, []
    monkeypatch.setattr(memory, "limit", memory.used + room * each + each // 2)

    def by_itself(frame: int, input: Input) -> dict[str, np.ndarray]:
        alone.append(frame)
        return {"image": np.asarray(input.array)}

    results, frames = in_turn("mean2d", "naive", lambda k: STACK[k], 7, alone=by_itself)
    assert frames.slots == slots and len(results) == 7
    assert alone == ([] if room else list(range(7)))


def test_a_device_that_is_full_in_the_middle(monkeypatch):
    """The results of frames that were taken stay, the others are read again."""
    from gpu_ops.devices.sim.device import SimDevice

    launches, launch = [], SimDevice._launch

    def failing(self: Any, *given: Any) -> Any:
        launches.append("")
        if len(launches) == 6:
            raise DeviceMemoryError("full")
        return launch(self, *given)

    monkeypatch.setattr(SimDevice, "_launch", failing)
    results, frames = in_turn("mean2d", "naive", lambda k: STACK[k], 9)
    assert frames.slots == 2 and len(results) == 9
    expected = [result_of("mean2d", STACK[k], Pick("serial", "cpu"), {})["image"] for k in range(9)]
    assert all(np.array_equal(r["image"], e) for r, e in zip(results, expected, strict=True))


def test_edits_of_a_kernel_are_those_of_every_frame():
    file = find_filter("mean2d").variant("naive").kernels[0]
    with pytest.raises(KernelError, match="frame 0 fails: .*error"):
        frames = in_turn("mean2d", "naive", lambda k: STACK[k], 0)[1]
        replace(frames, pick=replace(frames.pick, edits={file: "syntax error"})).run(0, 2)
