"""The current CUDA device, without a GPU: whatever is done, and whoever does it, the device is set while it works."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cupy import FakeCupy, Owned, install

from gpu_ops.devices.cuda import device as cuda_device
from gpu_ops.devices.cuda.current import DeviceObjects
from gpu_ops.devices.cuda.device import CudaDevice
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.errors import DeviceError, KernelFault, PeerMissing
from gpu_ops.filters import find_filter
from gpu_ops.plan import Call, Copy, Fill, Launch, Plan
from gpu_ops.progress import Limit, limited
from gpu_ops.running.declared import make_plan
from gpu_ops.task import Meta, Task

FILE = "tests/own.cu"
TEXT = """
__constant__ float factor[4];
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * factor[0]; }
extern "C" __global__ void large(float* y) { extern __shared__ float tile[]; y[threadIdx.x] = tile[threadIdx.x]; }
"""
FACTOR = {"factor": np.ones(4, np.float32)}
X = np.arange(32, dtype=np.float32).reshape(4, 8)
PLAIN = {"session", "library", "as_current", "stream", "host_view", "peer"}
"""What of a device's methods asks nothing of CUDA, or makes way for others that do."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    made = install(monkeypatch)
    monkeypatch.setattr(cuda_device, "allocate_pitched", lambda *_: SimpleNamespace(owner=made.did("pitched")))
    monkeypatch.setattr(cuda_device, "nvml_state", lambda index: {"nvml": index})
    return made


def operations(session: Any) -> dict[str, Any]:
    """Everything that a session does, each under its name."""
    x, y = session.upload(X), session.empty(X.shape, X.dtype)
    scale, large = session.kernel(FILE, "scale"), session.kernel(FILE, "large")
    texture = session.texture(x)
    launches = (
        Launch(scale, (1, 1, 1), (32, 1, 1), (x, y), constants=FACTOR, name="scale"),
        Launch(large, (1, 1, 1), (32, 1, 1), (y,), 50_000, name="large", stream=1, after=("scale",)),
        Copy(y, x, name="copy", stream=1),
        Copy(texture, x, name="refresh"),
        Fill(y, 0, name="fill"),
    )
    kernels, calls = Plan(launches, {}), Plan((Call(session.fill, (y, 1), name="call"), *launches[:1]), {})
    words = np.zeros(64, np.uint8)
    samplers = [session.sampler([kernels], mode) for mode in ("stream", "cold", "hot", "wall")]
    return {
        "upload": lambda: session.upload(X, out=y),
        "download": lambda: session.download(x),
        "pitched": lambda: session.pitched(4, 8, np.float32),
        "copy": lambda: session.copy(y, x),
        "fill": lambda: session.fill(x, 3),
        "allocate": lambda: session.allocate("pinned", (3,), np.float32),
        "register": lambda: session.register(words),
        "unregister": lambda: session.unregister(words),
        "stream": lambda: session.stream(5),
        "trace": lambda: session.execute(kernels, trace=True),
        "graph": lambda: session.execute(kernels, "graph"),
        "call": lambda: session.execute(calls),
        **{f"sample {n}": sampler.sample for n, sampler in enumerate(samplers)},
        "hold": lambda: (session.hold(), session.release()()),
        "flush": session.flush,
        "free_bytes": session.free_bytes,
        "describe": session.describe,
        "synchronize": session.synchronize,
    }


def both(fake: FakeCupy) -> list[CudaDevice]:
    return [CudaDevice(index) for index in (0, 1)]


def test_each_operation_works_on_its_own_device(fake: FakeCupy) -> None:
    """Two devices in turn, step by step, whichever is current before; that one is current again afterwards."""
    doing = [operations(device.session({FILE: TEXT})) for device in both(fake)]
    for before in (0, 1):
        fake.local.device = before
        for name in doing[0]:
            for each in doing:
                each[name]()
                assert fake.current == before, name
    assert fake.wrong == []
    counts = [{n: c for (n, device), c in fake.done.items() if device == index} for index in (0, 1)]
    assert counts[0] == counts[1] and counts[0]["launch"] > 50 and counts[0]["hostRegister"] == 2


@pytest.mark.parametrize("before", (0, 1))
@pytest.mark.parametrize("trace", (False, True))
def test_a_plan_on_two_devices_makes_each_current_for_its_own_streams(fake: FakeCupy, before: int, trace: bool) -> None:
    device = CudaDevice(1).session({FILE: TEXT})
    peer = device.peer()
    assert (peer.name, device.peer()) == ("cuda:0", peer)
    x, y = device.upload(X), peer.upload(X)
    mine, other = device.kernel(FILE, "scale"), peer.kernel(FILE, "large")
    plan = Plan(
        (
            Copy(y, X, name="upload", stream=2),
            Copy(x, y, name="halo", stream=2),
            *(
                Launch(mine, (1, 1, 1), (32, 1, 1), (x, x), name="upper", stream=1, after=("halo",)),
                Launch(other, (1, 1, 1), (32, 1, 1), (y,), 50_000, FACTOR, name="lower", stream=2),
            ),
            Copy(X, x, name="download", stream=1),
        ),
        {},
        peer_streams=frozenset((2,)),
    )
    fake.done.clear()
    fake.local.device = before
    execution = device.execute(plan, trace=trace)
    assert fake.wrong == [] and fake.current == before
    assert fake.done["launch", 0] == fake.done["launch", 1] == 1
    # The two copies into the peer's arrays, and its kernel's constant.
    assert fake.done["memcpyAsync", 0] == 3 and fake.done["memcpyAsync", 1] == 1
    assert [span.peer for span in execution.spans] == ([True, True, False, True, False] if trace else [])


NO_VARIABLES = 'constexpr int N = 2; extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= N; }'
COUNTER = 'static __device__ int done = 0; extern "C" __global__ void count(int* x) { x[0] = atomicAdd(&done, 1); }'


def test_a_session_asks_for_nothing_that_its_device_knows(fake: FakeCupy) -> None:
    """Each live run opens a session: no query of the device, and no module loaded again, except one with variables,
    which two plans may set to different values."""
    device = CudaDevice(0)
    sessions = [device.session({FILE: NO_VARIABLES}) for _ in range(3)]
    kernels = [session.kernel(FILE, "twice") for session in sessions]
    assert fake.done["memGetInfo", 0] == 1 and all(s.limits is device.limits for s in sessions)
    assert fake.done["module.load", 0] == 1 and len({id(k.module) for k in kernels}) == 1
    for text, name in ((TEXT, "scale"), (COUNTER, "count")):
        before = fake.done["module.load", 0]
        apart = [device.session({FILE: text}).kernel(FILE, name) for _ in range(2)]
        assert fake.done["module.load", 0] == before + 2 and apart[0].module is not apart[1].module


def test_the_modules_that_sessions_share_are_few(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.devices.cuda.device.MOST_MODULES", 2)
    device = CudaDevice(0)
    for factor in (2, 3, 4, 2):
        device.session({FILE: NO_VARIABLES.replace("= 2", f"= {factor}")}).kernel(FILE, "twice")
    assert fake.done["module.load", 0] == 4


def test_two_devices_reach_the_memory_of_each_other(fake: FakeCupy) -> None:
    CudaDevice(0).peer()
    assert fake.done["access to 1", 0] == fake.done["access to 0", 1] == 1
    assert CudaDevice(1).describe()["transfers"]["peers"] == ["cuda:0"]


def test_a_device_that_is_alone_has_no_peer(fake: FakeCupy) -> None:
    fake.devices = 1
    device = CudaDevice(0)
    with pytest.raises(PeerMissing, match="cuda:0 is the only CUDA device"):
        device.peer()
    assert device.describe()["transfers"] == {
        **{"copy_engines": 2, "mapped": True, "portable": True, "managed": False},
        "peers": [],
    }


def test_libraries_plan_on_the_device_of_the_variant(fake: FakeCupy) -> None:
    """A library such as cuFFT makes its plan for the device that is current then."""
    filter = find_filter("mean2d")
    found = []

    def plan(device: Any, task: Any) -> Any:
        found.append(fake.current)
        raise DeviceError("enough")

    variant = replace(filter.variants[0], plan=plan)
    for session in (device.session({}) for device in both(fake)):
        for guarded in (session, GuardedSession(session)):
            with pytest.raises(DeviceError):
                make_plan(filter, variant, guarded, Task.of(Meta("image", X.shape, "float32"), {}))
    assert found == [0, 0, 1, 1] and fake.current == 0


def test_a_description_counts_the_multiprocessors(fake: FakeCupy) -> None:
    assert [device.describe()["multiprocessors"] for device in both(fake)] == [2, 2]


def test_memory_beyond_the_limit_of_the_pool_is_not_free(fake: FakeCupy) -> None:
    device = both(fake)[0]
    whole = device.free_bytes()
    fake.limit = 3 << 20  # of which a third is in use
    assert device.free_bytes() == 2 << 20 < whole
    fake.limit = 1 << 10
    assert device.free_bytes() == 0


def test_it_does_in_any_thread(fake: FakeCupy) -> None:
    """A thread begins on device 0, whatever others have done."""
    _, second = both(fake)
    doing, ended = operations(second.session({FILE: TEXT})), []

    def work() -> None:
        for operation in doing.values():
            operation()
        ended.append(fake.current)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [0] and fake.wrong == []


def test_device_objects_are_freed_on_their_device(fake: FakeCupy) -> None:
    sessions = [device.session({FILE: TEXT}) for device in both(fake)]
    owners: list[Any] = [[s.kernel(FILE, "scale"), s.texture(s.upload(X))] for s in sessions]
    fake.local.device = 1
    sessions.clear()
    gc.collect()
    assert ("module.free", 0) not in fake.done, "a kernel keeps its module"
    owners.clear()
    gc.collect()
    freed = {key for key in fake.done if key[0].endswith(".free")}
    assert {(f"{n}.free", d) for n in ("module", "texture", "texture array") for d in (0, 1)} <= freed
    assert fake.wrong == [] and fake.current == 1


def test_device_objects_are_freed_at_once(fake: FakeCupy) -> None:
    fake.local.device = 3
    objects = DeviceObjects(3, Owned(fake, "thing", freed=True))
    fake.local.device = 0
    del objects
    gc.collect()
    assert fake.done["thing.free", 3] == 1 and fake.wrong == []


def test_every_method_of_a_device_is_at_work() -> None:
    """One that is added later as well."""
    plain = {n for n, v in vars(CudaDevice).items() if callable(v) and not hasattr(v, "__wrapped__")}
    assert {name for name in plain if not name.startswith("_")} == PLAIN


def test_a_kernel_that_does_not_end_meets_the_limit_of_time(fake: FakeCupy) -> None:
    """Without a limit, or where it ends, the wait is CuPy's own."""
    execute = operations(both(fake)[0].session({FILE: TEXT}))["call"]
    execute()
    assert not any("query" in name for name, _ in fake.done)
    with limited(Limit(60, 1 << 40)):
        execute()
    queries = fake.done["event.query", 0]
    fake.status = 719
    with limited(Limit(60, 1 << 40)):
        execute()  # whose end says how the kernel died
    assert fake.done["event.query", 0] == queries + 1
    fake.status = 600
    words = "A kernel still runs after 0.05 s: it may never end; --deadline allows more"
    with pytest.raises(KernelFault, match=words), limited(Limit(0.05, 1 << 40)):
        execute()
    assert fake.done["event.query", 0] > 3 and fake.wrong == []


def test_an_error_leaves_the_current_device_as_it_was(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    _, second = both(fake)
    monkeypatch.setattr(second, "empty", None)
    with pytest.raises(TypeError):
        second.upload(X)
    assert fake.current == 0
