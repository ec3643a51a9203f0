"""How the jobs of an experiment are timed: on what memory, by which clock, in how many groups, and what is checked
afterwards – on a device that keeps what it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_device import MIB, FakeDevice, copy_plan

from gpu_ops import from_array
from gpu_ops.errors import PinnedMemoryError
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import Registry
from gpu_ops.plan import Call, Copy, Fill, Launch, Plan
from gpu_ops.progress import Cancelled
from gpu_ops.running import rounds, runner, timing
from gpu_ops.stages import END_TO_END
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Pick, Run

IMAGE = np.random.default_rng(3).random((64, 64)).astype(np.float32)


def copying(names: tuple[str, ...], plan: Callable[[Any, Task], Plan] = copy_plan) -> Filter:
    """A filter that copies, with variants of these names."""
    mean = find_filter("mean2d")
    first = mean.variants[0]
    return replace(
        mean,
        reference=lambda task: {"image": task.x},
        variants=tuple(replace(first, id=name, plan=plan) for name in names),
    )


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Run]]:
    """Runs the variants on a device; the last run of each."""

    def measured(device: FakeDevice, *names: str, plan: Any = copy_plan, **how: Any) -> dict[str, Run]:
        filter = replace(copying(names, plan), end_to_end=how.pop("end_to_end", False))
        array = how.pop("array", IMAGE)
        monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: filter)
        monkeypatch.setattr(runner, "open_device", lambda name: device)
        monkeypatch.setattr(timing, "ROTATION_BYTES", how.pop("rotation", 1 * MIB))
        more = {key: how.pop(key) for key in ("deadline", "stop", "seed") if key in how}
        picks = tuple(Pick(name, "cpu") for name in names)
        experiment = Experiment("mean2d", from_array(array), {}, picks, **how)
        return {run.pick.variant: run for run in runner.run_experiment(experiment, **more)}

    return measured


def kernels(device: FakeDevice, mode: str = "stream") -> list[Any]:
    """The samplers of kernels: those that were asked for in that mode, with steps to time."""
    return [asked for asked in device.asked if asked.mode == mode and asked.plans[0].steps]


def sources(asked: Any) -> list[int]:
    """The addresses of the inputs of its plans."""
    return [plan.steps[0].args[1].ctypes.data for plan in asked.plans]


class TestRotation:
    def test_inputs_and_outputs_lie_in_memory_of_their_own(self, measure):
        """1 MiB of inputs and outputs of 16 KiB each: 32 pairs."""
        device = FakeDevice()
        measure(device, "one")
        (asked,) = kernels(device)
        assert len(asked.plans) == 32
        assert len(set(sources(asked))) == 32
        assert len({id(plan.outputs["image"]) for plan in asked.plans}) == 32
        for plan in asked.plans:
            assert np.array_equal(plan.steps[0].args[1], IMAGE), "every copy of the input holds its values"

    def test_four_caches_count_where_they_are_more(self, measure):
        device = FakeDevice(l2=MIB // 4 + 1)
        measure(device, "one", rotation=MIB // 4)
        assert len(kernels(device)[0].plans) == 33

    @pytest.mark.parametrize("mode", ["hot", "cold"])
    def test_other_modes_repeat_one_input(self, measure, mode):
        device = FakeDevice()
        run = measure(device, "one", mode=mode)["one"]
        assert [len(asked.plans) for asked in kernels(device, mode)] == [1]
        assert run.timings["kernel"].mode == mode

    def test_there_are_64_at_most(self, measure):
        device = FakeDevice()
        measure(device, "one", rotation=64 * MIB)
        assert len(kernels(device)[0].plans) == timing.MOST_COPIES == 64

    def test_half_of_what_is_free_is_shared_by_the_jobs(self, measure):
        """The inputs, and the outputs of two jobs: three pairs of 32 KiB for every copy."""
        device = FakeDevice(free=2 * 3 * 7 * 2 * IMAGE.nbytes)
        measure(device, "one", "two")
        assert [len(asked.plans) for asked in kernels(device)] == [7, 7]

    def test_one_input_is_left_where_memory_is_short(self, measure):
        device = FakeDevice(free=IMAGE.nbytes)
        measure(device, "one")
        assert [len(asked.plans) for asked in kernels(device)] == [1]


class TestGroups:
    def test_what_does_not_fit_together_is_measured_in_groups_and_says_so(self, measure):
        device = FakeDevice()
        planned: list[str] = []

        def plan(device: Any, task: Task) -> Plan:
            planned.append("")
            if len(planned) == 2 + 31 + 1:  # the plans of both, then the copies of the first
                raise rounds.DeviceMemoryError("full")
            return copy_plan(device, task)

        runs = measure(device, "one", "two", plan=plan)
        assert all(run.timings["kernel"].n >= 20 for run in runs.values())
        assert all("measured in groups" in run.notes[-1] and len(run.notes) == 1 for run in runs.values())

    def test_what_fits_together_has_no_such_note(self, measure):
        assert all(not run.notes for run in measure(FakeDevice(), "one", "two").values())

    def test_a_job_that_fits_never_is_a_failure_and_the_others_are_timed(self, measure):
        device, planned = FakeDevice(), []

        def plan(device: Any, task: Task) -> Plan:
            planned.append("")
            if len(planned) == 3:  # the first copy of the first
                raise rounds.DeviceMemoryError("full")
            return copy_plan(device, task)

        runs = measure(device, "one", "two", plan=plan)
        assert runs["one"].failure_kind == "memory" and "next to the input" in runs["one"].failure
        assert "kernel" not in runs["one"].timings
        assert "kernel" in runs["two"].timings and not runs["two"].failure


class TestTimings:
    def test_the_kernel_has_the_samples_of_its_plans(self, measure):
        run = measure(FakeDevice(seconds=(1, 2, 3, 4, 5)), "one")["one"]
        kernel = run.timings["kernel"]
        assert run.stage == "timed" and kernel.stage == "kernel" and kernel.clock == "cuda-event"
        assert (kernel.q1, kernel.median, kernel.q3, kernel.min, kernel.mode) == (2, 3, 4, 1, "stream")

    def test_the_protocol_decides_how_many(self, measure):
        quick = measure(FakeDevice(), "one")["one"].timings["kernel"]
        assert (quick.n, quick.stop) == (20, "IQR/median < 2 %")

    def test_the_host_time_of_a_step_is_shown_where_there_is_one(self, measure):
        assert "enqueue" not in measure(FakeDevice(), "one")["one"].timings
        enqueue = measure(FakeDevice(host_seconds=3e-6), "one")["one"].timings["enqueue"]
        assert enqueue.median == 3e-6 and enqueue.n == 1

    def test_compiling_is_counted_once_for_each_file(self, measure):
        def plan(device: Any, task: Task) -> Plan:
            copy = copy_plan(device, task)
            one, two = (SimpleNamespace(compiled=object(), compile_seconds=seconds) for seconds in (0.25, 2.0))
            kernels = one, two, SimpleNamespace(compiled=one.compiled, compile_seconds=0.25)
            launches = tuple(Launch(kernel, (1, 1, 1), (1, 1, 1), ()) for kernel in kernels)
            return Plan((*launches, *copy.steps), copy.outputs)

        run = measure(FakeDevice(), "one", plan=plan)["one"]
        assert run.timings["compile"].median == 2.25 and "kernel" in run.timings

    def test_the_cpu_has_no_transfers(self, measure):
        device = FakeDevice()
        assert set(measure(device, "one")["one"].timings) == {"kernel"}
        assert not [asked for asked in device.asked if asked.copies]

    def test_a_deadline_that_is_over_gives_no_time(self, measure):
        run = measure(FakeDevice(), "one", deadline=0.0)["one"]
        assert "kernel" not in run.timings and run.ok

    def test_a_stop_ends_the_measurement(self, measure):
        device = FakeDevice()
        with pytest.raises(Cancelled):
            measure(device, "one", "two", stop=lambda: bool(kernels(device)) and kernels(device)[0].samples > 4)
        assert kernels(device)[0].samples == 5


class TestTransfers:
    """A device of another kind: its memory is not the host's."""

    @pytest.fixture
    def device(self, monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
        device = FakeDevice()
        monkeypatch.setattr(runner, "_begin", _as_on_the_cpu(runner._begin, device))
        return device

    def test_a_plan_that_makes_its_own_copies_is_timed_as_a_whole(self, measure, device):
        run = measure(device, "one", end_to_end=True)["one"]
        assert set(run.timings) == {"kernel"}
        assert {asked.mode for asked in device.asked} == {"wall"}
        assert not [asked for asked in device.asked if asked.copies]

    def test_each_stage_moves_what_its_name_says(self, measure, device):
        run = measure(device, "one")["one"]
        assert set(run.timings) == {"kernel", "upload", "download", *END_TO_END}
        assert all(timing.stage == stage for stage, timing in run.timings.items())
        upload, download, *others = (asked for asked in device.asked if asked.copies)
        assert [asked.mode for asked in (upload, download, *others)] == ["wall"] * 5
        (step,) = upload.plans[0].steps
        assert device.memory[id(step.source)] == "pageable" and np.array_equal(step.source, IMAGE)
        (step,) = download.plans[0].steps
        assert id(step.target) not in device.memory and step.target.shape == IMAGE.shape

    @pytest.mark.parametrize("place, kind", [(0, "pageable"), (1, "pinned")])
    def test_elapsed_is_upload_kernel_and_download_in_memory_of_its_kind(self, measure, device, place, kind):
        measure(device, "one")
        asked = [a for a in device.asked if len(a.copies) == 2][place]
        upload, kernel, download = asked.plans[0].steps
        assert isinstance(upload, Copy) and isinstance(kernel, Call) and isinstance(download, Copy)
        assert device.memory[id(upload.source)] == device.memory[id(download.target)] == kind
        assert upload.target is kernel.args[1] and download.source is kernel.args[0]
        assert np.array_equal(upload.source, IMAGE) and np.array_equal(download.target, IMAGE)

    def test_elapsed_streamed_is_the_same_in_chunks_from_pinned_memory(self, measure, device):
        """Three chunks of 64 rows, with a row on each side of every cut."""
        run = measure(device, "one")["one"]
        (asked,) = (a for a in device.asked if len(a.copies) > 2)
        uploads, downloads = asked.copies[::2], asked.copies[1::2]
        assert {step.stream for step in asked.copies} == {1, 2, 3} and run.ok
        assert [len(step.source) for step in uploads] == [24, 24, 24]
        assert [len(step.target) for step in downloads] == [22, 22, 20]
        pinned = [a for a in device.asked if len(a.copies) == 2][1].copies
        assert all(np.shares_memory(step.source, pinned[0].source) for step in uploads)
        assert all(np.shares_memory(step.target, pinned[1].target) for step in downloads)

    def test_what_is_wrong_in_chunks_is_wrong(self, measure, device):
        def plan(device: Any, task: Task) -> Plan:
            made = copy_plan(device, task)
            if len(task.x) < len(IMAGE):
                made = Plan((*made.steps, Fill(made.outputs["image"][:, 3], 0.0)), made.outputs)
            return made

        run = measure(device, "one", plan=plan)["one"]
        assert run.ok is False and not run.timings and run.notes[-1].startswith("right as a whole and wrong in chunks")

    def test_what_is_not_cut_has_no_streamed_time_and_says_why(self, measure, device):
        run = measure(device, "one", array=IMAGE[:1])["one"]
        assert set(run.timings) == {"kernel", "upload", "download", "elapsed", "elapsed_pinned"}
        assert run.notes == ("not timed in chunks: the input has no rows to divide",)

    def test_where_the_system_pins_no_more_there_is_a_note(self, measure, device, monkeypatch):
        allocate = device.allocate

        def refused(kind: Any, shape: Any, dtype: Any) -> Any:
            if kind == "pinned":
                raise PinnedMemoryError(1 << 30, 1 << 20)
            return allocate(kind, shape, dtype)

        monkeypatch.setattr(device, "allocate", refused)
        run = measure(device, "one")["one"]
        assert set(run.timings) == {"kernel", "upload", "download", "elapsed"} and run.ok
        assert "not timed end to end from pinned memory: The system grants no 1,073,741,824 bytes" in run.notes[0]
        assert "ulimit -l" in run.notes[0] and "use a smaller input" in run.notes[0]

    def test_each_kind_has_the_times_of_its_own_sampler(self, measure, device, monkeypatch):
        slow = {"pageable": 0.5, "pinned": 0.25}

        def sampler(plans: Any, mode: Any) -> Any:
            made = FakeDevice.sampler(device, plans, mode)
            kinds = {device.memory.get(id(c.source)) for c in made.asked.copies} & set(slow)
            if len(made.asked.copies) == 2:
                made.sample = lambda: slow[kinds.pop()] if kinds else slow[kind]
                (kind,) = kinds
            return made

        monkeypatch.setattr(device, "sampler", sampler)
        timings = measure(device, "one")["one"].timings
        assert timings["elapsed"].median == 0.5 and timings["elapsed_pinned"].median == 0.25


class TestBands:
    """A GPU of which an experiment may use less than its input takes."""

    @pytest.fixture
    def device(self, monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
        device = FakeDevice()
        monkeypatch.setattr(runner, "_begin", _as_on_the_cpu(runner._begin, device))
        return device

    def test_bands_are_timed_end_to_end_alone(self, measure, device):
        run = measure(device, "one", memory=9000)["one"]
        assert run.stage == "timed" and run.ok and set(run.timings) == {"elapsed_streamed"}
        assert "bands of 3 rows" in run.notes[0] and "3 of them at a time" in run.notes[0]
        assert run.notes[1] == "timed end to end alone, from and to 32,768 bytes of pinned host memory"
        (asked,) = device.asked
        assert asked.mode == "wall" and {step.stream for step in asked.copies} == {1, 2, 3}
        kinds = {device.memory[id(_whole(step.target))] for step in asked.copies[1::2]}
        assert kinds == {"pinned"} and asked.samples >= 10

    def test_bands_that_turn_wrong_while_they_are_timed_lose_their_time(self, measure, device):
        calls = []

        def changing(device: Any, task: Task) -> Plan:
            made = copy_plan(device, task)
            calls.append(0)
            wrong = Fill(made.outputs["image"][:, 3], 0.0)
            return Plan((*made.steps, *([wrong] if len(calls) > 4 else [])), made.outputs)

        run = measure(device, "one", memory=9000, plan=changing)["one"]
        assert run.ok is False and not run.timings and "wrong in the next" in run.notes[-1]

    def test_without_a_limit_nothing_goes_in_bands(self, measure, device):
        device.fails_after = 0
        run = measure(device, "one")["one"]
        assert run.failure.endswith("A run that is not timed goes in bands.")


def _whole(array: np.ndarray) -> np.ndarray:
    """The allocation of which an array is a part."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _as_on_the_cpu(job: Any, device: FakeDevice) -> Any:
    """The runner takes CPU variants for the device, which is of another kind from then on."""

    def made(*args: Any) -> Any:
        device.kind = "cpu"
        result = job(*args)
        device.kind = "cuda"
        return result

    return made


class TestAfterTiming:
    def changing(self, good: int) -> Callable[[Any, Task], Plan]:
        """A plan whose result is right so many times."""
        calls = [0]

        def run(out: np.ndarray, x: np.ndarray) -> None:
            calls[0] += 1
            np.copyto(out, x if calls[0] <= good else x + 1)

        def plan(device: Any, task: Task) -> Plan:
            out = device.empty(task.x.shape, task.x.dtype)
            return Plan((Call(run, (out, task.x)),), {"image": out})

        return plan

    def test_a_result_that_turns_wrong_while_it_is_timed_loses_its_time(self, measure):
        run = measure(FakeDevice(), "one", plan=self.changing(15))["one"]
        assert run.ok is False and not run.timings and not run.errors["image"].ok
        assert "wrong in the next" in run.notes[-1]

    def test_what_is_not_checked_is_not_checked_afterwards(self, measure):
        device = FakeDevice()
        run = measure(device, "one", plan=self.changing(15), checks="off")["one"]
        assert run.ok is None and "kernel" in run.timings
        assert device.executed == ["direct"]

    def test_outputs_hold_other_values_before_each_check(self, measure):
        """Poison before the first run, the right bits inverted before the second."""
        seen = []

        def run(out: np.ndarray, x: np.ndarray) -> None:
            seen.append(out.copy())
            np.copyto(out, x)

        def plan(device: Any, task: Task) -> Plan:
            out = device.empty(task.x.shape, task.x.dtype)
            return Plan((Call(run, (out, task.x)),), {"image": out})

        assert measure(FakeDevice(), "one", plan=plan)["one"].ok
        assert (seen[0].view(np.uint32) == 0xFFFFFFFF).all()
        assert np.array_equal(~seen[-1].view(np.uint32), IMAGE.view(np.uint32))
