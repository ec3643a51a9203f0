"""Plans that live runs keep: what a repeat leaves out, and all that makes it begin anew."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_device import FakeDevice, copy_plan

import gpu_ops as ks
from gpu_ops.errors import ParamError, PinnedMemoryError
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import Registry
from gpu_ops.inputs import Facts
from gpu_ops.plan import Call, Plan
from gpu_ops.running import attempt, kept_plans, runner, verify
from gpu_ops.running.kept_plans import MOST_BYTES, MOST_KEPT, key_of
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Successor
from gpu_ops.types import REFERENCE, Experiment, Input, Pick, Run

MEAN = find_filter("mean2d")
PICK = Pick("serial", "cpu")


def picture(shape: tuple[int, ...] = (40, 30), seed: int = 5) -> Input:
    return ks.from_array(np.random.default_rng(seed).random(shape, np.float32))


class Counting:
    """A filter with one variant that copies its input and counts its plans, which add `wrong` as they run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plans, self.references, self.wrong, self.device = 0, 0, 0.0, FakeDevice()
        self.variant = replace(MEAN.variants[0], id="serial", plan=self.plan)
        monkeypatch.setattr(Registry, "find", lambda registry, name, kind=None: self.filter)
        monkeypatch.setattr(runner, "open_device", lambda name: self.device)
        self.filter = replace(MEAN, reference=self.reference, variants=(self.variant,))

    def reference(self, task: Any) -> Mapping[str, Any]:
        self.references += 1
        return {"image": task.x}

    def plan(self, device: Any, task: Any) -> Plan:
        self.plans += 1
        out = device.empty(task.x.shape, task.x.dtype)
        return Plan((Call(lambda: np.add(task.x, np.float32(self.wrong), out=out), ()),), {"image": out})

    def run(self, input: Input, params: Mapping[str, Any] | None = None, pick: Pick = PICK, **how: Any) -> Run:
        again = how.pop("again", True)
        experiment = Experiment("mean2d", input, params or {}, (pick,), **{"protocol": "none", **how})
        return list(run_experiment(experiment, again=again))[-1]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


class TestRepeat:
    def test_it_uses_the_plan_the_memory_and_the_verdict(self, counting, monkeypatch):
        first = counting.run(input := picture())
        uploads, seen = [], []
        monkeypatch.setattr(counting.device, "upload", lambda *a, **k: uploads.append(a))
        monkeypatch.setattr(attempt, "verify", lambda *a, **k: seen.append(a))
        second = counting.run(input)
        assert counting.plans == counting.references == 1 and not uploads and not seen
        assert (second.stage, second.ok, second.errors) == ("verified", True, first.errors)
        assert np.array_equal(second.outputs["image"], first.outputs["image"]) and second.forms == first.forms

    def test_equal_samples_in_another_input_are_the_same(self, counting):
        counting.run(picture())
        assert counting.run(picture()).ok and counting.plans == 1

    def test_it_computes_and_a_wrong_result_is_seen(self, counting):
        input = picture()
        assert counting.run(input).ok
        counting.wrong = 0.5
        assert counting.run(input).ok is False
        counting.wrong = 0.0
        assert counting.run(input).ok and counting.plans == 2, "a wrong plan is not kept"

    def test_a_result_that_differs_within_the_tolerance_is_verified(self, counting):
        input = picture()
        before = counting.run(input).errors["image"].max
        counting.wrong = 3e-8
        later = counting.run(input)
        assert later.ok and later.errors["image"].max > before == 0 and counting.plans == 1

    def test_its_caller_may_write_to_the_result(self, counting, monkeypatch):
        counting.run(input := picture()).outputs["image"][...] = 7
        seen: list[Any] = []
        monkeypatch.setattr(attempt, "verify", lambda *a, **k: seen.append(a))
        assert counting.run(input).ok and not seen

    def test_runs_at_the_same_time_have_their_own_memory(self, counting):
        input = picture()
        counting.run(input)
        experiment = Experiment("mean2d", input, {}, (PICK,), "none")
        one, two = run_experiment(experiment), run_experiment(experiment)
        first, second = next(one), next(two)
        assert counting.plans == 2 and first.outputs["image"] is not second.outputs["image"]
        assert list(one)[-1].ok and list(two)[-1].ok

    def test_what_is_timed_is_planned_anew(self, counting):
        counting.run(input := picture())
        counting.run(input, protocol="quick")
        assert counting.plans > 1


class GpuOfHost(FakeDevice):
    """A GPU that computes on the host; `pinned` says whether the system grants pinned memory."""

    pinned = True
    downloads = 0

    def prepare(self, plan: Plan) -> Plan:
        return plan

    def allocate(self, kind: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if kind == "pinned" and not self.pinned:
            raise PinnedMemoryError(1 << 20, 1 << 30)
        return super().allocate(kind, shape, dtype)

    def download(self, array: Any, out: Any = None) -> Any:
        self.downloads += 1
        return super().download(array, out)


class TestRepeatOnAGpu:
    pick = replace(PICK, device="cuda:0")

    @pytest.fixture
    def gpu(self, counting: Counting) -> GpuOfHost:
        counting.device = GpuOfHost(kind="cuda")
        counting.variant = replace(counting.variant, device="cuda")
        counting.filter = replace(counting.filter, variants=(counting.variant,))
        return counting.device

    def test_the_caller_gets_pinned_memory_that_no_caller_has(self, gpu, counting, monkeypatch):
        first = counting.run(input := picture(), pick=self.pick).outputs["image"].copy()
        seen: list[Any] = []
        monkeypatch.setattr(attempt, "verify", lambda *a, **k: seen.append(a))
        gpu.downloads, had = 0, []
        for value in range(4):
            run = counting.run(input, pick=self.pick)
            assert run.ok and np.array_equal(run.outputs["image"], first)
            run.outputs["image"][...] = value
            had.append(run.outputs["image"][2:].T if value else run.outputs["image"])
        assert [set(array.ravel()) for array in had] == [{0}, {1}, {2}, {3}], "each has its own memory"
        assert counting.plans == 1 and not seen and not gpu.downloads
        pinned = list(gpu.memory.values()).count("pinned")
        assert pinned == 1 + kept_plans.LENT
        had.clear()
        del run
        for _ in range(3):
            assert counting.run(input, pick=self.pick).ok
        assert list(gpu.memory.values()).count("pinned") == pinned

    def test_a_result_outlives_its_plan_and_not_the_other_way_round(self):
        target = kept_plans._Target(None, {"image": np.ones((3, 4))})
        memory, view = weakref.ref(target.results["image"]), target.lend()["image"][1:]
        assert not target.free
        del target
        assert memory() is not None
        del view
        assert memory() is None

    def test_large_results_are_copied_from_the_plans_own_pinned_memory(self, gpu, counting, monkeypatch):
        monkeypatch.setattr(kept_plans, "LENT_BYTES", 40 * 30 * 4 - 1)
        input = picture()
        for _ in range(3):
            assert np.array_equal(counting.run(input, pick=self.pick).outputs["image"], input.array)
        assert list(gpu.memory.values()).count("pinned") == 1 and counting.plans == 1

    def test_an_element_that_a_repeat_does_not_write_is_wrong(self, gpu, counting, monkeypatch):
        input = picture()
        assert counting.run(input, pick=self.pick).ok
        monkeypatch.setattr(np, "add", lambda *a, **k: None)
        assert counting.run(input, pick=self.pick).ok is False

    @pytest.mark.parametrize("way", ["not pinned", "two streams"])
    def test_outputs_are_downloaded_otherwise(self, gpu, counting, way):
        gpu.pinned = way != "not pinned"
        if way == "two streams":
            plan = counting.plan
            other = Call(lambda: None, (), stream=1)
            variant = replace(counting.variant, plan=lambda d, t: replace(p := plan(d, t), steps=(*p.steps, other)))
            counting.filter = replace(counting.filter, variants=(variant,))
        for repeat in (0, 1):
            gpu.downloads = 0
            run = counting.run(input := picture(), pick=self.pick, checks="off")
            assert np.array_equal(run.outputs["image"], input.array) and gpu.downloads == 1
            assert counting.plans == 1 and "pinned" not in gpu.memory.values(), repeat


class TestInvalid:
    def test_samples_that_were_changed_in_place(self, counting):
        input = picture()
        counting.run(input)
        input.array[3, 4] = 9
        changed = counting.run(input)
        assert changed.ok and changed.outputs["image"][3, 4] == 9 and counting.references == 2
        assert verify.full_meta(input).largest == 9

    @pytest.mark.parametrize(
        "changed",
        [
            pytest.param(lambda c, i: c.run(i, {"window": 5}), id="parameter"),
            pytest.param(lambda c, i: c.run(i, {"border": "wrap"}), id="choice"),
            pytest.param(lambda c, i: c.run(replace(i, rate=2.0)), id="rate"),
            pytest.param(lambda c, i: c.run(replace(i, facts=Facts(labels=("red",)))), id="facts"),
            pytest.param(lambda c, i: c.run(i, checks="sample"), id="checks"),
            pytest.param(lambda c, i: c.run(i, checks="off"), id="no checks"),
            pytest.param(lambda c, i: c.run(i, again=False), id="once"),
            pytest.param(lambda c, i: c.run(i, memory=1 << 40), id="limit"),
            pytest.param(lambda c, i: c.run(picture((30, 40))), id="shape"),
            pytest.param(lambda c, i: c.run(picture(seed=6)), id="samples"),
        ],
    )
    def test_whatever_a_plan_depends_on(self, counting, changed: Callable[[Counting, Input], Run]):
        counting.run(input := picture())
        assert changed(counting, input).ok is not False and counting.plans == 2

    def test_another_filter_variant_or_device_of_the_same_name(self, counting, monkeypatch):
        counting.run(input := picture())
        counting.filter = replace(counting.filter)
        assert counting.run(input).ok and counting.plans == 2
        counting.filter = replace(counting.filter, variants=(replace(counting.variant, plan=copy_plan),))
        assert counting.run(input).ok and counting.plans == 2
        counting.filter = replace(counting.filter, variants=(counting.variant,))
        counting.run(input)
        counting.device = FakeDevice()
        assert counting.run(input).ok and counting.plans == 4

    def test_another_text_of_its_kernel(self, counting, monkeypatch):
        text = ["first"]
        monkeypatch.setattr(kept_plans, "source_hash", lambda kernel, edits: f"{kernel} {text[0]}")
        counting.filter = replace(
            counting.filter, variants=(replace(counting.variant, kernels=("mean2d/1_naive.cu",)),)
        )
        input = picture()
        assert counting.run(input).source_hash == counting.run(input).source_hash == "mean2d/1_naive.cu first"
        assert counting.plans == 1
        text[0] = "second"
        assert counting.run(input).source_hash == "mean2d/1_naive.cu second" and counting.plans == 2

    def test_a_value_that_is_not_allowed_but_equal(self, counting):
        counting.run(input := picture(), {"window": 3})
        with pytest.raises(ParamError, match="window"):
            counting.run(input, {"window": 3.5})
        with pytest.raises(ParamError, match="window"):
            counting.run(input, {"window": complex(3)})

    def test_a_former_name_of_a_variant_is_said_each_time(self, counting):
        counting.filter = replace(counting.filter, renamed={"old": (Successor("serial"),)})
        input = picture()
        for _ in range(2):
            with pytest.warns(FutureWarning, match="serial"):
                assert counting.run(input, pick=Pick("old", "cpu")).ok
        assert counting.plans == 2

    def test_knobs_edits_and_the_device_are_in_the_key(self):
        input = picture()

        def key(pick: Pick, again: bool = True, **how: Any) -> Any:
            experiment = Experiment("mean2d", input, {}, (pick,), **{"protocol": "none", **how})
            return key_of(experiment, pick, again)

        plain = Pick("naive", "cuda:0")
        edited = replace(plain, edits={"mean2d/1_naive.cu": "// another"})
        others = [
            replace(plain, device="cuda:1"),
            replace(plain, knobs={"block": 64}),
            edited,
            Pick("shared", "cuda:0"),
        ]
        keys = [key(pick) for pick in (plain, *others)]
        assert len(set(keys)) == len(keys) and key(plain) == keys[0]
        assert key(Pick("naive", "sim")) is key(Pick(REFERENCE, "cpu")) is key(plain, protocol="quick") is None


class TestMemory:
    def test_few_plans_are_kept(self, counting):
        for seed in range(MOST_KEPT + 3):
            counting.run(picture((40, 30 + seed)))
        assert len(kept_plans._kept) == MOST_KEPT
        ks.forget_plans()
        assert not kept_plans._kept

    def test_large_ones_are_not(self, counting, monkeypatch):
        monkeypatch.setattr(kept_plans, "MOST_BYTES", 40 * 30 * 4 - 1)
        counting.run(picture(), checks="off")
        list(run_experiment(Experiment("mean2d", picture(), {}, (PICK,), "none")))
        assert key_of(Experiment("mean2d", picture(), {}, (PICK,), "none"), PICK, True) is None
        assert not kept_plans._kept and MOST_BYTES > 512 * 512 * 4

    def test_nor_are_those_with_large_outputs(self, monkeypatch):
        signal = ks.from_array(np.ones(1000, np.uint8))
        experiment = Experiment("scan1d", signal, {}, (PICK,), "none")  # its sums have eight bytes
        for most, kept in ((7999, 0), (8000, 1)):
            monkeypatch.setattr(kept_plans, "MOST_BYTES", most)
            list(run_experiment(experiment))
            assert len(kept_plans._kept) == kept
