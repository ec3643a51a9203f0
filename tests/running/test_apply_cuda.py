"""`apply` on arrays of a GPU, without one: they stay on their device, and results come back as what was given."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cupy import Array, FakeCupy, install

import gpu_ops as ks
from gpu_ops.devices.cuda.device import CudaDevice
from gpu_ops.errors import DeviceError, InputError, ParamError
from gpu_ops.plan import Plan
from gpu_ops.running import applying, reusable_plan

SHAPE = (40, 50)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCupy]:
    """Two devices, of which 0 is current."""
    made = install(monkeypatch)
    devices = [CudaDevice(index) for index in (0, 1)]
    monkeypatch.setattr(applying, "open_device", lambda name: devices[int(name.partition(":")[2] or 0)])
    ks.forget_plans()
    yield made
    ks.forget_plans()


def on(fake: FakeCupy, device: int, dtype: str = "float32", shape: tuple[int, ...] = SHAPE) -> Array:
    """An array that the caller made on a device."""
    before, fake.local.device = fake.current, device
    array = Array(fake, shape, dtype)
    fake.local.device = before
    return array


def since(fake: FakeCupy, work: Callable[[], Any]) -> tuple[Any, dict[tuple[str, int], int]]:
    """What some work gives, and what was done for it."""
    before = dict(fake.done)
    result = work()
    return result, {key: n - before.get(key, 0) for key, n in fake.done.items() if n != before.get(key, 0)}


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_an_array_stays_on_its_device(fake: FakeCupy, plans: list[str], index: int, dtype: str) -> None:
    for _ in range(2):
        given = on(fake, index, dtype)
        found, done = since(fake, lambda given=given: ks.apply("mean", given))
        assert type(found) is Array and found.owner == index and found is not given
        assert (found.shape, found.dtype) == (SHAPE, dtype)
        assert {device for name, device in done if not name.startswith("current")} == {index}
        names = {name for name, _ in done}
        assert "launch" in names and not names & {"array.get", "array.set"}, "no way through the host"
        assert done["memcpyAsync", index] == 2, "into the plan's memory, and out of it"
        assert done["current stream.synchronize", index] == 1, "what made the array has ended"
        assert done["launch", index] == (2 if dtype == "float32" else 1), "floats are looked through where they are"
    assert len(plans) == 1 and fake.wrong == [] and fake.current == 0


def test_a_host_array_comes_back_to_the_host(fake: FakeCupy, plans: list[str]) -> None:
    for _ in range(2):
        found, done = since(fake, lambda: ks.apply("mean", np.ones(SHAPE, np.float32), device="cuda:1"))
        assert type(found) is np.ndarray
        assert done["array.set", 1] == done["array.get", 1] == 1 and ("memcpyAsync", 1) not in done
    assert len(plans) == 1 and fake.wrong == []


def test_each_device_has_its_own_plan(fake: FakeCupy, plans: list[str]) -> None:
    for _ in range(2):
        for index in (0, 1):
            ks.apply("mean", on(fake, index))
    assert len(plans) == 2 and fake.wrong == []


def test_a_kept_plan_packs_its_arguments_once(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[Plan] = []
    real = CudaDevice.prepare
    monkeypatch.setattr(CudaDevice, "prepare", lambda self, plan: (prepared.append(plan), real(self, plan))[1])
    for _ in range(3):
        ks.apply("mean", np.ones(SHAPE, np.uint8), device="cuda:0")
    assert len(prepared) == 1


def test_another_device_than_the_arrays_is_refused(fake: FakeCupy) -> None:
    with pytest.raises(ParamError, match="The array is on cuda:1, not on cuda:0; leave device out"):
        ks.apply("mean", on(fake, 1), device="cuda:0")
    assert ks.apply("mean", on(fake, 0), device="cuda").owner == 0


class Foreign:
    """An array of another library over CUDA memory, by the interface of Numba."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.__cuda_array_interface__ = {"shape": memory.shape, "version": 3}


class Tensor:
    """An array of a library with DLPack."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.memory.owner

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("only CuPy's from_dlpack takes it")


def test_arrays_of_other_libraries_stay_on_the_device(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    found, done = since(fake, lambda: ks.apply("mean", Foreign(on(fake, 1))))
    assert type(found) is Array and found.owner == 1 and ("array.get", 1) not in done
    library = ModuleType("tensors")
    library.from_dlpack = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "tensors", library)
    monkeypatch.setattr(Tensor, "__module__", "tensors.core")
    found, done = since(fake, lambda: ks.apply("mean", Tensor(on(fake, 1))))
    assert type(found) is Tensor and found.memory.owner == 1 and ("array.get", 1) not in done
    assert fake.wrong == []


def test_verifying_copies_to_the_host_and_the_result_stays(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"image": SimpleNamespace(ok=True)}
    monkeypatch.setattr(reusable_plan, "verify", lambda *given: errors)
    found, done = since(fake, lambda: ks.apply("mean", on(fake, 1), verify=True))
    assert type(found) is Array and done["array.get", 1] == 2, "the input and the output"


def test_an_input_of_a_gpus_array_is_a_copy_on_the_host(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Array, "get", lambda self: np.full(self.shape, 3, self.dtype))
    assert (ks.from_array(on(fake, 0)).array == 3).all()
    with pytest.raises(InputError, match="is on a GPU, and Foreign has no copy for the host; copy it there first"):
        ks.from_array(Foreign(on(fake, 0)))


def test_without_cupy_a_gpus_array_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    memory = SimpleNamespace(shape=(3,), owner=0)
    with pytest.raises(DeviceError, match="is on a GPU, and CuPy cannot be imported .* or copy the array to the host"):
        ks.apply("mean", Foreign(memory))
