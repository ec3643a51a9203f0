"""A CuPy without a GPU that knows what belongs to which device, and which device is current in which thread."""

from __future__ import annotations

import itertools
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

PROPERTIES = {
    "name": b"Fake",
    "major": 7,
    "minor": 5,
    "maxThreadsPerBlock": 1024,
    "sharedMemPerBlockOptin": 65536,
    "multiProcessorCount": 2,
    "l2CacheSize": 1 << 20,
    "asyncEngineCount": 2,
    "canMapHostMemory": 1,
    "unifiedAddressing": 1,
    "concurrentManagedAccess": 0,
}


class FakeError(RuntimeError):
    status = 1


class Full(MemoryError):
    """What a pool raises."""


class FakeCupy:
    """`wrong` lists what was done to a device's things while another one was current; `done` counts what was done, by
    (name, device). `status` is what the driver says of a kernel: 0 where it has ended, 600 while it runs, else why it
    died."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.wrong: list[str] = []
        self.done: dict[tuple[str, int], int] = {}
        self.owners: dict[int, int] = {}
        self.limit, self.devices = 0, 2
        self.status = 0
        self._numbers = itertools.count(1 << 20, 256)

    @property
    def current(self) -> int:
        return int(getattr(self.local, "device", 0))

    def did(self, name: str, owner: int | None = None) -> int:
        """Something was done, to a thing of `owner` or to whatever is current."""
        if owner not in (None, self.current):
            self.wrong.append(f"{name} of device {owner} while {self.current} is current")
        key = name, self.current if owner is None else owner
        self.done[key] = self.done.get(key, 0) + 1
        return self.current

    def handle(self) -> int:
        """A new handle or address of the current device."""
        number = next(self._numbers)
        self.owners[number] = self.current
        return number


class Owned:
    """A thing of the device that is current when it is made; it must be when it is freed."""

    def __init__(self, fake: FakeCupy, name: str, freed: bool = False) -> None:
        self.fake, self.name, self.owner, self._freed = fake, name, fake.did(name), freed
        self.ptr = fake.handle()

    def _did(self, what: str) -> None:
        self.fake.did(f"{self.name}.{what}", self.owner)

    def __del__(self) -> None:
        if self._freed:
            self._did("free")


class Device:
    def __init__(self, fake: FakeCupy, index: int) -> None:
        self._fake, self._index, self._before = fake, index, [0]

    def use(self) -> None:
        self._fake.local.device = self._index

    def __enter__(self) -> None:
        self._before.append(self._fake.current)
        self.use()

    def __exit__(self, *_: object) -> None:
        self._fake.local.device = self._before.pop()


class Stream(Owned):
    def __init__(self, fake: FakeCupy, non_blocking: bool = False) -> None:
        super().__init__(fake, "stream")

    def __enter__(self) -> None:
        if self.owner != self.fake.current:  # as CuPy says it
            raise RuntimeError(
                f"The device that the stream is created on ({self.owner}) does not match with the current device"
                f" ({self.fake.current})"
            )

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        self._did("synchronize")

    def wait_event(self, event: Any) -> None:
        self._did("wait_event")

    def begin_capture(self) -> None:
        self._did("begin_capture")

    def end_capture(self) -> Any:
        self._did("end_capture")
        return Graph(self.fake)


class Graph(Owned):
    def __init__(self, fake: FakeCupy) -> None:
        super().__init__(fake, "graph")

    def launch(self, stream: Stream) -> None:
        self._did("launch")
        stream._did("graph")


class Event(Owned):
    def __init__(self, fake: FakeCupy, disable_timing: bool = False) -> None:
        super().__init__(fake, "event")

    def record(self, stream: Stream) -> None:
        self._did("record")
        stream._did("record")

    def synchronize(self) -> None:
        self._did("synchronize")


class Module(Owned):
    def __init__(self, fake: FakeCupy) -> None:
        super().__init__(fake, "module", freed=True)

    def load(self, image: bytes) -> None:
        self._did("load")

    def get_function(self, name: str) -> Any:
        self._did("get_function")
        return SimpleNamespace(ptr=self.fake.handle())

    def get_global_var(self, name: str) -> int:
        self._did("get_global_var")
        return self.fake.handle()


class Array(Owned):
    def __init__(self, fake: FakeCupy, shape: Any, dtype: Any) -> None:
        super().__init__(fake, "array")
        like = np.empty(shape, dtype)
        self.shape, self.dtype, self.nbytes, self.ndim = like.shape, like.dtype, like.nbytes, like.ndim
        self.flags, self.strides, self.size = like.flags, like.strides, like.size
        self.data, self.device = SimpleNamespace(ptr=self.ptr), SimpleNamespace(id=self.owner)
        self.data.memset_async = lambda value, count: self._did("memset_async")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "version": 3}

    def set(self, array: Any, stream: Stream) -> None:
        self._did("set")
        stream._did("set")

    def get(self, stream: Stream, out: Any, blocking: bool) -> None:
        self._did("get")
        stream._did("get")

    def fill(self, value: Any) -> None:
        self._did("fill")


class Storage(Owned):
    def __init__(self, fake: FakeCupy) -> None:
        super().__init__(fake, "texture array", freed=True)

    def copy_from(self, array: Array, stream: Stream | None = None) -> None:
        self._did("copy_from")
        array._did("copy_from")


def install(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    """Put a fake CuPy in the place of CuPy for a test."""
    fake = FakeCupy()
    cuda = module("cupy.cuda", monkeypatch)
    cuda.Device, cuda.Stream = lambda index: Device(fake, index), lambda **how: Stream(fake, **how)
    cuda.Event, cuda.get_elapsed_time = lambda **how: Event(fake, **how), lambda begin, end: 1.0
    cuda.memory = SimpleNamespace(OutOfMemoryError=Full)
    cuda.function = SimpleNamespace(Module=lambda: Module(fake))
    cuda.runtime, cuda.driver, cuda.texture = _runtime(fake), _driver(fake), _texture(fake)
    cupy = module("cupy", monkeypatch)
    pool = SimpleNamespace(free_bytes=lambda: fake.did("pool.free_bytes"), used_bytes=lambda: 1 << 20)
    pool.get_limit = lambda: fake.limit
    cupy.cuda, cupy.__version__, cupy.get_default_memory_pool = cuda, "fake", lambda: pool
    cupy.empty = lambda shape, dtype: Array(fake, shape, dtype)
    cupy.ndarray, cupy.ascontiguousarray = Array, lambda array: array
    cupy.asarray = cupy.from_dlpack = lambda given: given.memory  # what another library made in this memory
    cuda.get_current_stream = lambda: SimpleNamespace(synchronize=lambda: fake.did("current stream.synchronize"))
    cupyx = module("cupyx", monkeypatch)
    cupyx.empty_pinned = lambda shape, dtype: (fake.did("empty_pinned"), np.zeros(shape, dtype))[1]
    return fake


def module(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def _copied(fake: FakeCupy, name: str, stream: int) -> None:
    fake.did(name, fake.owners[stream])


def _runtime(fake: FakeCupy) -> Any:
    return SimpleNamespace(
        CUDARuntimeError=FakeError,
        getDeviceProperties=lambda index: PROPERTIES,
        memGetInfo=lambda: (fake.did("memGetInfo"), (1 << 30, 1 << 30))[1],
        hostRegister=lambda *_: fake.did("hostRegister"),
        hostUnregister=lambda *_: fake.did("hostUnregister"),
        memcpy=lambda to, *_: fake.did("memcpy", fake.owners[to]),
        memcpyAsync=lambda *given: _copied(fake, "memcpyAsync", given[-1]),
        eventQuery=lambda event: (fake.did("event.query", fake.owners[event]), fake.status)[1],
        getDeviceCount=lambda: fake.devices,
        deviceCanAccessPeer=lambda one, other: one != other,
        deviceEnablePeerAccess=lambda other: fake.did(f"access to {other}"),
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 13000,
        **dict.fromkeys(("memcpyDefault", "memcpyHostToDevice", "cudaResourceTypeArray", "cudaFilterModePoint"), 0),
        **dict.fromkeys(("cudaFilterModeLinear", "cudaReadModeElementType", "cudaAddressModeClamp"), 0),
        **dict.fromkeys(("cudaAddressModeBorder", "cudaChannelFormatKindUnsigned", "cudaChannelFormatKindFloat"), 0),
    )


def _driver(fake: FakeCupy) -> Any:
    def launch(function: int, *given: Any) -> None:
        fake.did("launch", fake.owners[function])
        fake.did("launch on a stream", fake.owners[given[7]])

    return SimpleNamespace(
        CUDADriverError=FakeError,
        funcSetAttribute=lambda function, *_: fake.did("funcSetAttribute", fake.owners[function]),
        launchKernel=launch,
    )


def _texture(fake: FakeCupy) -> Any:
    return SimpleNamespace(
        ChannelFormatDescriptor=lambda *_: None,
        CUDAarray=lambda *_: Storage(fake),
        ResourceDescriptor=lambda *_, **__: None,
        TextureDescriptor=lambda *_: None,
        TextureObject=lambda *_: Owned(fake, "texture", freed=True),
    )
