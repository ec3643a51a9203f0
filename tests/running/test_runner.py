"""The order in which an experiment computes, verifies, compares and times, and what of it is repeated – on a device
that keeps what it was asked for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_device import FakeDevice, copy_plan
from tasks import right

from gpu_ops import from_array
from gpu_ops.errors import DeclarationError, DeviceMemoryError, KernelError, LibraryMissing, ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import Registry
from gpu_ops.plan import Call, Execution, Finding, Plan
from gpu_ops.running import runner, timing
from gpu_ops.running.attempt import DEPENDS_ON_ORDER, Watch
from gpu_ops.types import Experiment, Pick, Run

MEAN = find_filter("mean2d")
IMAGE = np.random.default_rng(5).random((40, 30)).astype(np.float32)
FAULT = Finding("out of bounds", "error", "k", "a.cu", 7, (), 1, (0, 0, 0), (0, 0, 0), "reads x")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Run]]:
    """All runs of an experiment whose variants copy their input, or do what their plans say."""

    def made(device: FakeDevice, plans: dict[str, Any], input: Any = None, again: bool = True, **how: Any) -> list[Run]:
        variants = tuple(replace(MEAN.variants[0], id=name, plan=plan) for name, plan in plans.items())
        filter = replace(MEAN, reference=lambda task: {"image": task.x}, variants=variants)
        monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: filter)
        monkeypatch.setattr(runner, "open_device", lambda name: device)
        monkeypatch.setattr(timing, "ROTATION_BYTES", 1)
        picks = tuple(Pick(name, "cpu") for name in plans)
        progress = how.pop("progress", None)
        experiment = Experiment("mean2d", input or from_array(IMAGE), {}, picks, **how)
        return list(runner.run_experiment(experiment, again=again, progress=progress))

    return made


def stages(runs: list[Run]) -> list[tuple[str, str]]:
    return [(run.pick.variant, run.stage) for run in runs]


def writing(values: list[float]) -> Callable[[Any, Any], Plan]:
    """A plan that adds to its input the next of these numbers each time it runs, and in the end the last one."""
    left = itertools.chain(values, itertools.repeat(values[-1]))

    def run(out: np.ndarray, x: np.ndarray) -> None:
        np.add(x, next(left), out=out)

    def plan(device: Any, task: Any) -> Plan:
        out = device.empty(task.x.shape, task.x.dtype)
        return Plan((Call(run, (out, task.x)),), {"image": out})

    return plan


TWO = {"one": copy_plan, "two": copy_plan}


class TestOrder:
    def test_all_pictures_come_before_the_first_verdict_where_someone_looks_on(self, runs):
        assert stages(runs(FakeDevice(), TWO, protocol="none")) == [
            *(("one", "computed"), ("two", "computed"), ("one", "verified"), ("two", "verified")),
        ]

    def test_what_is_timed_is_verified_one_by_one(self, runs):
        found = stages(runs(FakeDevice(), TWO))
        assert found[:4] == [("one", "computed"), ("one", "verified"), ("two", "computed"), ("two", "verified")]
        assert sorted(found[4:]) == [("one", "timed"), ("two", "timed")]

    def test_what_is_wrong_is_not_timed(self, runs):
        found = runs(FakeDevice(), {"wrong": writing([1.0]), "right": copy_plan})
        assert ("wrong", "timed") not in stages(found) and ("right", "timed") in stages(found)

    def test_without_checks_nothing_is_verified_and_all_is_timed(self, runs):
        found = runs(FakeDevice(), {"wrong": writing([1.0])}, checks="off")
        assert stages(found) == [("wrong", "computed"), ("wrong", "timed")] and found[-1].ok is None

    def test_progress_counts_every_step_and_ends_at_its_total(self, runs):
        said: list[tuple[str, int, int]] = []
        runs(FakeDevice(), TWO, progress=lambda *what: said.append(what))
        totals = {total for _, _, total in said}
        dones = [done for _, done, _ in said]
        assert totals == {2 * 3 * 1000} and dones == sorted(dones) and dones[-1] <= 6000
        assert said[0][:2] == ("preparing one on cpu", 0)
        assert ("timing one, two on cpu", 4000, 6000) in said

    def test_progress_counts_no_step_that_is_left_out(self, runs):
        totals = set()
        runs(FakeDevice(), TWO, checks="off", progress=lambda text, done, total: totals.add(total))
        runs(FakeDevice(), TWO, protocol="none", checks="off", progress=lambda text, done, total: totals.add(total))
        assert totals == {4000, 2000}


class TestSecondRun:
    def test_a_right_result_is_computed_again_where_nothing_is_timed(self, runs):
        device = FakeDevice()
        runs(device, {"one": copy_plan}, protocol="none")
        assert device.executed == ["direct", "direct"]
        device.executed.clear()
        runs(device, {"one": copy_plan}, protocol="none", again=False)
        assert device.executed == ["direct"]

    def test_a_wrong_result_is_not(self, runs):
        device = FakeDevice()
        runs(device, {"one": writing([1.0])}, protocol="none")
        assert device.executed == ["direct"]

    @pytest.mark.parametrize("protocol", ["none", "quick"])
    def test_a_simulated_gpu_runs_in_the_other_order(self, runs, protocol):
        device = FakeDevice(clock="simulated")
        last = runs(device, {"one": copy_plan}, protocol=protocol)[-1]
        assert device.executed == ["direct", "reverse"] and last.ok and not last.timings
        assert last.stage == ("timed" if protocol == "quick" else "verified")

    @pytest.mark.parametrize("protocol", ["none", "quick"])
    def test_a_result_that_depends_on_the_order_is_wrong(self, runs, protocol):
        last = runs(FakeDevice(clock="simulated"), {"one": writing([0.0, 1.0])}, protocol=protocol)[-1]
        assert last.ok is False and DEPENDS_ON_ORDER in last.notes and not last.errors["image"].ok

    @pytest.mark.parametrize("checks", ["sample", "off"])
    def test_a_timed_simulated_run_without_full_checks_runs_once(self, runs, checks):
        device = FakeDevice(clock="simulated")
        runs(device, {"one": copy_plan}, checks=checks)
        assert device.executed == ["direct"]

    def test_a_kernel_that_stops_in_the_other_order_is_wrong_and_its_findings_are_kept(self, runs):
        warning = replace(FAULT, severity="warning", line=1)

        class Stopping(FakeDevice):
            def execute(self, plan: Plan, mode: Any = "direct", trace: bool = False) -> Execution:
                if mode == "reverse":
                    error = KernelError("it waits for ever")
                    error.findings = (FAULT,)
                    raise error
                return replace(super().execute(plan, mode, trace), findings=(warning,))

        last = runs(Stopping(clock="simulated"), {"one": copy_plan}, protocol="none")[-1]
        assert last.ok is False and last.findings == (warning, FAULT) and "it waits for ever" in last.notes

    def test_an_error_makes_a_right_result_wrong(self, runs):
        class Finds(FakeDevice):
            def execute(self, plan: Plan, mode: Any = "direct", trace: bool = False) -> Execution:
                return replace(super().execute(plan, mode, trace), findings=(FAULT,))

        device = Finds(clock="simulated")
        last = runs(device, {"one": copy_plan}, protocol="none")[-1]
        assert last.ok is False and last.errors["image"].ok and last.findings == (FAULT,)
        assert device.executed == ["direct"], "what is wrong needs no second run"

    def test_each_warning_is_kept_once_and_counts_are_those_of_the_first_run(self, runs):
        known, new = (replace(FAULT, severity="warning", line=line) for line in (1, 2))

        class Finds(FakeDevice):
            def execute(self, plan: Plan, mode: Any = "direct", trace: bool = False) -> Execution:
                super().execute(plan, mode, trace)
                found = (known,) if mode == "direct" else (replace(known, count=5), new)
                return Execution(0.0, findings=found, printed=(mode,), counters={mode: 1})

        last = runs(Finds(clock="simulated"), {"one": copy_plan}, protocol="none")[-1]
        assert last.ok and last.findings == (known, new)
        assert (last.printed, last.counters) == (("direct",), {"direct": 1})


class TestFailures:
    @pytest.mark.parametrize(
        "error, kind",
        [
            (KernelError("it does not compile"), "kernel"),
            (DeclarationError("it declares nonsense"), "kernel"),
            (LibraryMissing("it is not installed"), "unsupported"),
        ],
    )
    def test_one_fails_and_the_next_goes_on(self, runs, error, kind):
        def fails(device: Any, task: Any) -> Plan:
            raise error

        found = runs(FakeDevice(), {"bad": fails, "good": copy_plan})
        bad = [run for run in found if run.pick.variant == "bad"]
        assert [(run.failure, run.failure_kind, run.ok) for run in bad] == [(str(error), kind, None)]
        assert found[-1].pick.variant == "good" and found[-1].stage == "timed"

    def test_what_finds_no_memory_is_a_failure_where_it_is_timed_and_goes_in_bands_elsewhere(self, runs):
        def full(device: Any, task: Any) -> Plan:
            if task.x.shape == IMAGE.shape:
                raise DeviceMemoryError("it is full.")
            return copy_plan(device, task)

        timed = runs(FakeDevice(), {"one": full})[-1]
        assert timed.failure_kind == "memory"
        assert timed.failure == "it is full. A run that is not timed goes in bands."
        looked_at = runs(FakeDevice(free=40_000), {"one": full}, protocol="none", memory=9_000)[-1]
        assert looked_at.ok and "bands of" in looked_at.notes[-1]
        assert np.array_equal(looked_at.outputs["image"], IMAGE)

    def test_what_is_asked_for_wrongly_is_refused_before_anything_runs(self, runs):
        device = FakeDevice()
        with pytest.raises(ParamError, match="No variant of mean2d is picked"):
            runs(device, {})
        with pytest.raises(ParamError, match="mean2d takes uint8, .* is int32; convert it"):
            runs(device, TWO, input=replace(from_array(IMAGE), array=np.zeros((4, 4), np.int32)))
        assert device.executed == []


def spoiling(device: Any, task: Any) -> Plan:
    """A plan that copies its input and then overwrites it."""

    def spoil(out: np.ndarray, x: np.ndarray) -> None:
        np.copyto(out, x)
        x[0, 0] += 1

    out = device.empty(task.x.shape, task.x.dtype)
    return Plan((Call(spoil, (out, task.x)),), {"image": out})


def test_an_overwritten_input_condemns_the_variant_that_did_it_and_no_other(runs):
    plans = {"bad": spoiling, "good": copy_plan, "worse": spoiling, "last": copy_plan}
    verdicts = {run.pick.variant: run for run in runs(FakeDevice(), plans, protocol="none", again=False)}
    assert {name: run.ok for name, run in verdicts.items()} == {
        "bad": False,
        "good": True,
        "worse": False,
        "last": True,
    }
    for name in ("bad", "worse"):
        assert verdicts[name].notes == ("the input was overwritten",)
    assert all(np.array_equal(run.outputs["image"], IMAGE) for run in verdicts.values())


def test_picks_have_parameters_of_their_own() -> None:
    """Two settings of one variant in one experiment: each is computed, verified and named with its own values."""
    filter, x = find_filter("mean2d"), np.random.default_rng(0).integers(0, 255, (20, 30), np.uint8)
    input = from_array(x)
    picks = (Pick("serial", "cpu"), Pick("serial", "cpu", params={"window": 7}))
    runs = {
        run.key: run
        for run in runner.run_experiment(Experiment("mean2d", input, {"window": 3}, picks, protocol="none"))
    }
    assert [key.params["window"] for key in runs] == [3, 7] and all(run.ok for run in runs.values())
    for key, run in runs.items():
        assert np.array_equal(run.outputs["image"], right(filter, x, **key.params))
    with pytest.raises(ParamError, match="window"):
        list(runner.run_experiment(Experiment("mean2d", input, {}, (Pick("serial", "cpu", params={"window": 4}),))))


def test_a_run_says_that_it_compiles() -> None:
    """As Numba's events do when a loop is not in the cache; then the text of the run comes back, and the part that is
    done stays."""
    said: list[tuple[str, int]] = []
    watch = Watch(None, 0, None, lambda text, done, _total: said.append((text, done)), total=1)
    watch.begin("computing serial on cpu")
    watch.report(0.5)
    with watch.listening():
        from gpu_ops.filters.kit import loops

        @loops.njit
        def twice(value: int) -> int:
            return 2 * value

        assert twice(4) == 8
    assert said[2:] == [("computing serial on cpu: compiling", 500), ("computing serial on cpu", 500)]
