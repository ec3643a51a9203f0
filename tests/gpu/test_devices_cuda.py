"""Several CUDA devices in one process: each experiment runs on its own, whichever was used before."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gpu_ops import Experiment, Pick, run_experiment, sample
from gpu_ops.devices import cuda_devices, open_device
from gpu_ops.filters import find_filter
from gpu_ops.running.runner import last_runs
from gpu_ops.types import Input, Run

pytestmark = pytest.mark.gpu
FILTERS = {
    "mean1d": ("noise", {"length": 5000}),
    "mean2d": ("noise", {"size": "127x61"}),
    "conv3x3": ("noise", {"size": "127x61", "channels": 3}),
    "box": ("noise", {"size": "127x61"}),
}


@pytest.fixture
def devices(cuda: str) -> list[str]:
    found = [d.name for d in cuda_devices() if d.available]
    if len(found) < 2:
        pytest.skip("there is one CUDA device")
    return found


def only_one(name: str) -> str:
    return f"{name} is the only CUDA device that is visible, and this needs a second one."


def test_two_devices_share_an_image_and_one_says_that_it_is_alone(cuda: str) -> None:
    image = sample("noise", size="2048x3001", channels=3, dtype="uint8")
    picks = (Pick("serial", "cpu"), Pick("two_gpus", cuda))
    alone = sum(d.available for d in cuda_devices()) < 2
    for border in ("reflect", "wrap"):
        expected, found = last_runs(run_experiment(Experiment("transfer2d", image, {"border": border}, picks, "none")))
        assert found.failure == (only_one(cuda) if alone else "")
        assert alone or np.array_equal(found.outputs["conv3x3"], expected.outputs["conv3x3"])


def experiment(filter: str, input: Input, picks: list[tuple[str, str]], protocol: str = "none") -> dict[str, Run]:
    """The last run of each pick, by variant and device."""
    asked = Experiment(filter, input, {}, tuple(Pick(*pick) for pick in picks), protocol)  # type: ignore[arg-type]
    runs = {f"{run.pick.variant} {run.pick.device}": run for run in run_experiment(asked)}
    for run in runs.values():
        assert run.ok or run.failure_kind == "unsupported", (run.pick, run.failure, run.errors, run.notes)
    return runs


def outputs(runs: dict[str, Run]) -> dict[str, bytes]:
    return {r.pick.variant: b"".join(o.tobytes() for o in r.outputs.values()) for r in runs.values() if r.ok}


@pytest.mark.parametrize("filter", FILTERS)
def test_experiments_in_turn_are_bit_equal(devices: list[str], filter: str) -> None:
    """The last device first, then the others, then each again."""
    input = sample(FILTERS[filter][0], **FILTERS[filter][1])
    variants = [v.id for v in find_filter(filter).variants if v.device == "cuda" and not v.library]
    order = [devices[-1], *devices[:-1], devices[-1]]
    found = [outputs(experiment(filter, input, [(v, name) for v in variants])) for name in order]
    assert found[0] and all(each == found[0] for each in found)


@pytest.mark.parametrize("filter", FILTERS)
def test_one_experiment_on_all_devices(devices: list[str], filter: str) -> None:
    """Variant by variant on each device in turn, computed and then timed together."""
    input = sample(FILTERS[filter][0], **FILTERS[filter][1])
    variants = [v.id for v in find_filter(filter).variants if v.device == "cuda" and not v.library][:3]
    runs = experiment(filter, input, [(v, name) for v in variants for name in reversed(devices)], "quick")
    for variant in variants:
        of_each = [runs[f"{variant} {name}"] for name in devices]
        assert all("kernel" in run.timings for run in of_each)
        results = [b"".join(o.tobytes() for o in run.outputs.values()) for run in of_each]
        assert len(set(results)) == 1


@pytest.mark.parametrize("mode", ["stream", "cold", "hot"])
def test_libraries_run_where_they_are_asked_to(devices: list[str], mode: str) -> None:
    pytest.importorskip("cupyx.scipy.ndimage")
    input = sample("noise", size="127x61")
    asked = Experiment("mean2d", input, {}, tuple(Pick("cupyx", name) for name in devices), "quick", mode)  # type: ignore[arg-type]
    last = {run.pick.device: run for run in run_experiment(asked)}
    assert len(last) == len(devices) and all(run.ok and run.timings for run in last.values())


def test_memory_lies_on_the_device_that_was_asked(devices: list[str]) -> None:
    x = np.arange(1000, dtype=np.float32)
    for name in (*reversed(devices), *devices):
        device, index = open_device(name), int(name.partition(":")[2])
        arrays = device.upload(x), device.empty(x.shape, x.dtype), device.pitched(10, 100, np.float32)
        assert [int(a.device.id) for a in arrays] == [index] * 3  # type: ignore[attr-defined]
        device.copy(arrays[1], arrays[0])
        assert np.array_equal(device.download(arrays[1]), x)


def test_a_thread_of_its_own_for_each_device(devices: list[str]) -> None:
    """Interleaved as the system likes."""
    x, found = np.random.default_rng(3).random((257, 129), np.float32), {}

    def work(name: str) -> None:
        device = open_device(name)
        for _ in range(20):
            array = device.upload(x)
            out = device.empty(x.shape, x.dtype)
            device.copy(out, array)
            found[name] = device.download(out)

    threads = [threading.Thread(target=work, args=(name,)) for name in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.keys() == set(devices) and all(np.array_equal(each, x) for each in found.values())
