"""Host memory of a CUDA device at its limits, without a GPU."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cupy import FakeCupy, FakeError, install

from gpu_ops.devices.cuda import memory
from gpu_ops.devices.cuda.current import TIMEOUT, as_error
from gpu_ops.devices.cuda.device import CudaDevice
from gpu_ops.devices.cuda.memory import ManagedBytes
from gpu_ops.errors import DeviceError, DeviceMemoryError, KernelFault, PinnedMemoryError
from gpu_ops.plan import HostTask, Plan


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    return install(monkeypatch)


def refuses(status: int) -> Any:
    """A call of the driver that fails with this status."""

    def call(*_: Any) -> Any:
        error = FakeError("cudaError")
        error.status = status
        raise error

    return call


@pytest.mark.parametrize("kind, name", [("pinned", "cupyx"), ("mapped", "cupyx"), ("registered", "runtime")])
def test_what_the_system_does_not_pin_is_a_sentence(fake, monkeypatch, kind, name):
    import cupy
    import cupyx

    target = (cupyx, "empty_pinned") if name == "cupyx" else (cupy.cuda.runtime, "hostRegister")
    monkeypatch.setattr(*target, refuses(2))
    monkeypatch.setattr(memory, "free_memory", lambda: 5_000_000)
    device = CudaDevice(0)
    with pytest.raises(
        PinnedMemoryError, match=r"grants no 4,000,000 bytes of pinned .* with 5,000,000 bytes of memory"
    ):
        device.allocate(kind, (1_000_000,), np.float32)
    monkeypatch.setattr(*target, refuses(1))
    with pytest.raises(DeviceError, match="CUDA failed") as other:
        device.allocate(kind, (1_000_000,), np.float32)
    assert not isinstance(other.value, DeviceMemoryError), "another failure keeps its own words"


def test_more_than_is_free_is_not_even_asked_for(fake, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 3_999_999)
    with pytest.raises(PinnedMemoryError, match="ulimit -l.*use a smaller input"):
        CudaDevice(0).allocate("pinned", (1_000_000,), np.float32)
    assert ("empty_pinned", 0) not in fake.done


class TestManaged:
    def test_what_exceeds_free_memory_is_refused(self):
        used = ManagedBytes()
        used.take(600, 1000)
        with pytest.raises(DeviceMemoryError, match="401 bytes of managed memory, beside 600 in use, .* can hang then"):
            used.take(401, 1000)  # no page was migrated yet: the driver says that all is free
        used.take(400, 1000)
        with pytest.raises(DeviceMemoryError):
            used.take(1, 1000)
        used.give_back(600)
        used.take(600, 1000)

    def test_what_others_take_counts(self):
        used = ManagedBytes()
        used.take(100, 1000)
        with pytest.raises(DeviceMemoryError, match="300 bytes"):
            used.take(300, 200)

    def test_freed_memory_counts_no_more(self, fake, monkeypatch):
        import cupy

        class Using:
            def __init__(self, allocator: Any) -> None: ...
            def __enter__(self) -> None: ...
            def __exit__(self, *_: object) -> None: ...

        monkeypatch.setattr(cupy.cuda, "using_allocator", Using, raising=False)
        monkeypatch.setattr(cupy.cuda, "malloc_managed", None, raising=False)
        owners = []
        monkeypatch.setattr(cupy.cuda, "UnownedMemory", lambda *given: owners.append(given[2]), raising=False)
        monkeypatch.setattr(cupy.cuda, "MemoryPointer", lambda *_: None, raising=False)
        monkeypatch.setattr(cupy, "ndarray", lambda *_: SimpleNamespace())
        device = CudaDevice(0)  # with 1 GiB free
        device.allocate("managed", (900 << 20,), np.uint8)
        with pytest.raises(DeviceMemoryError, match="209,715,200 bytes of managed memory, beside 943,718,400 in use"):
            device.allocate("managed", (200 << 20,), np.uint8)
        owners.clear()
        gc.collect()
        device.allocate("managed", (200 << 20,), np.uint8)


def test_a_watchdog_is_said_in_words():
    error = as_error(TIMEOUT, "cudaErrorLaunchTimeout")
    assert isinstance(error, KernelFault) and "its watchdog, a few seconds), and was ended" in str(error)


@pytest.mark.parametrize("error, waits", [(OSError("disk"), True), (KernelFault("it may never end"), False)])
def test_a_failure_of_the_host_waits_for_the_device(fake, error, waits):
    """The caller frees memory that copies may still access; a kernel that never ends is not waited for."""

    def fail() -> None:
        raise error

    device = CudaDevice(0)
    plan = Plan((HostTask(fail),), {})
    device.execute(Plan((), {}))
    before = fake.done.get(("stream.synchronize", 0), 0)
    with pytest.raises(type(error)):
        device.execute(plan)
    assert fake.done["stream.synchronize", 0] - before == 1 + waits, "once before it begins"


def test_bytes_of_the_device_and_of_the_host_are_filled(fake):
    session = CudaDevice(0).session({})
    host = np.zeros(8, np.uint8)
    session.fill(host, 3)
    assert (host == 3).all() and ("array.memset_async", 0) not in fake.done
    session.fill(session.empty((8,), np.uint8), 3)
    assert fake.done["array.memset_async", 0] == 1 and ("array.fill", 0) not in fake.done
    session.fill(session.empty((8,), np.float32), 3)
    assert fake.done["array.fill", 0] == 1
