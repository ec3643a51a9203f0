"""The CUDA device: streams, graphs, textures, constants, faults, and timing that tells when it cannot be trusted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError, KernelError
from gpu_ops.plan import Call, Copy, Device, Fill, Launch, Plan
from gpu_ops.running.roofline import roofs

pytestmark = pytest.mark.gpu
FILE = "tests/own.cu"
TEXT = """
__constant__ float factor[4];
extern "C" __global__ void scale(const float* x, float* y, float by, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * by;
}
extern "C" __global__ void scale_constant(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor[0];
}
extern "C" __global__ void add(const float* a, const float* b, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
extern "C" __global__ void large_tile(float* y)
{
    extern __shared__ float tile[];
    tile[threadIdx.x * 100] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[(blockDim.x - 1 - threadIdx.x) * 100];
}
extern "C" __global__ void fetch(cudaTextureObject_t texture, float* y, float step, float shift, int width, int height)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width * height)
        y[i] = tex2D<float>(texture, i % width * step + 0.5f + shift, i / width * step + 0.5f + shift);
}
"""
N = 10_000
BLOCK = (256, 1, 1)
GRID = (40, 1, 1)
RANDOM = np.random.default_rng(5)


@pytest.fixture
def session(cuda: str) -> Device:
    return open_device(cuda).session({FILE: TEXT})


@pytest.mark.parametrize("shape", [(), (1,), (3, 5)])
@pytest.mark.parametrize("dtype", ["uint32", "float64", "complex64"])
def test_arrays_of_any_shape_are_uploaded_and_downloaded(session: Device, shape: tuple[int, ...], dtype: str) -> None:
    array = np.asarray(RANDOM.integers(1, 9, shape)).astype(dtype)
    for there in (session.upload(array), session.upload(array, session.empty(shape, np.dtype(dtype)))):
        back = session.download(there)
        assert back.shape == shape and back.dtype == array.dtype and np.array_equal(back, array)


def _scale(session: Device, x, by: float, **how) -> tuple[Launch, object]:  # type: ignore[no-untyped-def]
    out = session.empty(x.shape, x.dtype)
    kernel = session.kernel(FILE, "scale")
    return Launch(kernel, GRID, BLOCK, (x, out, np.float32(by), np.int32(N)), **how), out


def _diamond(session: Device, x):  # type: ignore[no-untyped-def]
    """Two branches on streams of their own that meet again."""
    left, a = _scale(session, x, 2.0, name="left", stream=1)
    right, b = _scale(session, x, 3.0, name="right", stream=2)
    out = session.empty(x.shape, x.dtype)
    kernel = session.kernel(FILE, "add")
    join = Launch(kernel, GRID, BLOCK, (a, b, out, np.int32(N)), name="join", after=("left", "right"))
    return Plan((left, right, join), {"y": out})


@pytest.mark.parametrize("mode", ["direct", "graph"])
def test_streams_meet_where_the_plan_says(session: Device, mode) -> None:  # type: ignore[no-untyped-def]
    host = RANDOM.random(N, dtype=np.float32)
    plan = _diamond(session, session.upload(host))
    for _ in range(20):
        session.execute(plan, mode)
        np.testing.assert_allclose(session.download(plan.outputs["y"]), host * 5, rtol=1e-6)


def test_a_trace_names_every_step_in_order(session: Device) -> None:
    plan = _diamond(session, session.upload(np.ones(N, np.float32)))
    execution = session.execute(plan, trace=True)
    assert [span.name for span in execution.spans] == ["left", "right", "join"]
    assert all(0 <= span.start <= span.end for span in execution.spans)
    assert [(span.stream, span.nbytes) for span in execution.spans] == [(1, 0), (2, 0), (0, 0)]
    assert execution.spans[2].start >= max(span.end for span in execution.spans[:2]) - 1e-6


def test_a_step_that_waits_for_nobody_is_refused(session: Device) -> None:
    launch, out = _scale(session, session.upload(np.ones(N, np.float32)), 2.0, after=("upload",))
    with pytest.raises(KernelError, match="waits for 'upload'"):
        session.execute(Plan((launch,), {"y": out}))


@pytest.mark.parametrize("kind", ["pageable", "pinned"])
def test_copies_and_fills_are_steps(session: Device, kind) -> None:  # type: ignore[no-untyped-def]
    source, target = (session.allocate(kind, (N,), np.float32) for _ in range(2))
    source[:] = RANDOM.random(N)
    x, y = (session.empty((N,), np.float32) for _ in range(2))
    steps = (Fill(y, 7.0), Copy(x, source), Copy(y[: N // 2], x[: N // 2]), Copy(target, y))
    session.execute(Plan(steps, {}))
    session.synchronize()
    np.testing.assert_array_equal(target, np.concatenate([source[: N // 2], np.full(N // 2, 7, np.float32)]))


@pytest.mark.parametrize("kind", ["mapped", "managed"])
def test_kernels_reach_memory_that_is_not_the_devices(session: Device, kind) -> None:  # type: ignore[no-untyped-def]
    host = RANDOM.random(N, dtype=np.float32)
    x = session.allocate(kind, (N,), np.float32)
    session.upload(host, out=x)
    launch, out = _scale(session, x, 2.0, name="scale")
    copied = Copy(session.empty((N,), np.float32), x, name="copy", after=(launch.name,))
    execution = session.execute(Plan((launch, copied), {"y": out}), trace=True)
    np.testing.assert_allclose(session.download(out), host * 2, rtol=1e-6)
    np.testing.assert_array_equal(session.download(copied.target), host)
    assert execution.spans[1].nbytes == host.nbytes


def test_a_copy_of_another_size_is_refused(session: Device) -> None:
    steps = (Copy(session.empty((4,), np.float32), np.zeros(5, np.float32)),)
    with pytest.raises(KernelError, match="copies 20 bytes into 16"):
        session.execute(Plan(steps, {}))


def test_each_session_has_its_own_constants(cuda: str) -> None:
    host, results = np.ones(N, np.float32), []
    plans = []
    for value in (3.0, 4.0):
        session = open_device(cuda).session({FILE: TEXT})
        x, out = session.upload(host), session.empty((N,), np.float32)
        constants = {"factor": np.full(4, value, np.float32)}
        launch = Launch(session.kernel(FILE, "scale_constant"), GRID, BLOCK, (x, out, np.int32(N)), constants=constants)
        plans.append((session, Plan((launch,), {"y": out})))
        session.execute(plans[-1][1])
    for session, plan in plans:
        session.execute(plan)
        results.append(float(session.download(plan.outputs["y"])[0]))
    assert results == [3.0, 4.0]


def test_two_values_for_one_constant_in_a_session_are_refused(session: Device) -> None:
    x = session.upload(np.ones(N, np.float32))
    kernel = session.kernel(FILE, "scale_constant")
    steps = tuple(
        Launch(kernel, GRID, BLOCK, (x, x, np.int32(N)), constants={"factor": np.full(4, v, np.float32)})
        for v in (1, 2)
    )
    with pytest.raises(KernelError, match="two values at once"):
        session.execute(Plan(steps, {}))


def test_shared_memory_beyond_48_kib_is_opted_in(session: Device) -> None:
    out = session.empty((256,), np.float32)
    launch = Launch(session.kernel(FILE, "large_tile"), (1, 1, 1), BLOCK, (out,), 256 * 100 * 4)
    session.execute(Plan((launch,), {"y": out}))
    np.testing.assert_array_equal(session.download(out), np.arange(256)[::-1])


def _fetch(session: Device, image: np.ndarray, shift: float = 0.0, **how) -> np.ndarray:  # type: ignore[no-untyped-def]
    height, width = image.shape
    out = session.empty(image.shape, np.float32)
    texture = session.texture(session.upload(image), **how)
    arguments = (texture, out, np.float32(1), np.float32(shift), np.int32(width), np.int32(height))
    session.execute(Plan((Launch(session.kernel(FILE, "fetch"), GRID, BLOCK, arguments),), {"y": out}))
    return session.download(out)


def test_textures_read_elements_borders_and_between(session: Device) -> None:
    image = RANDOM.random((50, 70), dtype=np.float32)
    np.testing.assert_array_equal(_fetch(session, image), image)
    np.testing.assert_array_equal(_fetch(session, image, shift=1000.0), np.full_like(image, image[-1, -1]))
    assert not _fetch(session, image, shift=1000.0, border="zero").any()
    between = (image[:-1, :-1] + image[:-1, 1:] + image[1:, :-1] + image[1:, 1:]) / 4
    np.testing.assert_allclose(_fetch(session, image, shift=0.5, linear=True)[:-1, :-1], between, atol=2**-8)


@pytest.mark.parametrize("mode", ["direct", "graph"])
def test_a_copy_step_refreshes_a_texture(session: Device, mode) -> None:  # type: ignore[no-untyped-def]
    shape = (50, 70)
    x, out = session.upload(np.zeros(shape, np.float32)), session.empty(shape, np.float32)
    texture = session.texture(x)
    arguments = (texture, out, np.float32(1), np.float32(0), np.int32(shape[1]), np.int32(shape[0]))
    read = Launch(session.kernel(FILE, "fetch"), GRID, BLOCK, arguments, name="read")
    plan = Plan((Copy(texture, x, "into the texture"), read), {"y": out})
    for _ in range(2):
        image = RANDOM.random(shape, dtype=np.float32)
        session.upload(image, out=x)
        session.execute(plan, mode)
        np.testing.assert_array_equal(session.download(out), image)
    with pytest.raises(KernelError, match="into a texture of 50 x 70 float32"):
        session.copy(texture, session.upload(np.zeros((50, 71), np.float32)))


@pytest.mark.parametrize("how", [{"border": "wrap"}, {"linear": True}])
def test_textures_that_cannot_be_are_refused(session: Device, how) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(KernelError, match="texture|interpolation"):
        session.texture(session.upload(np.zeros((4, 4), np.uint8)), **how)


def test_too_much_memory_is_said_with_figures(session: Device) -> None:
    with pytest.raises(DeviceMemoryError, match=r"cannot allocate [\d,]+ bytes; [\d,]+ are free"):
        session.empty((1 << 50,), np.uint8)
    session.execute(_diamond(session, session.upload(np.ones(N, np.float32))))


@pytest.mark.parametrize("mode", ["stream", "cold", "hot", "wall"])
def test_every_mode_times_the_same_work_alike(session: Device, mode) -> None:  # type: ignore[no-untyped-def]
    x = session.upload(np.ones(64 << 20, np.uint8))
    out = session.empty(x.shape, x.dtype)
    sampler = session.sampler([Plan((Copy(out, x),), {})], mode)
    seconds = min(sampler.sample() for _ in range(5))
    assert sampler.clock == ("wall" if mode == "wall" else "cuda-event")
    assert 1e9 < 2 * x.nbytes / seconds < 20e12


def test_a_plan_that_waits_by_itself_is_timed_by_the_wall_clock(session: Device) -> None:
    plan = Plan((Call(session.synchronize, ()),), {})
    assert session.sampler([plan], "stream").clock == "wall"


def test_a_plan_with_calls_cannot_become_a_graph(session: Device) -> None:
    with pytest.raises(KernelError, match="calls a library"):
        session.execute(Plan((Call(print, ()),), {}), "graph")


def test_roofs_are_possible(cuda: str) -> None:
    found = roofs(cuda)
    assert 1e10 < found.copy < 2e13
    assert 1e10 < found.read < 2e13
    for level, (slower, faster) in {"L2": (found.read, found.l2_read), "L1": (found.l2_read, found.l1_read)}.items():
        assert faster > 1.2 * slower, level
    device = open_device(cuda)
    clock = device.describe().get("sm_mhz", 3000) * 1e6
    widest = 128 * device.limits.multiprocessors * max(clock, 1.98e9)
    assert found.l2_copy > found.copy and 0.5 * found.l1_read < found.shared_read < 1.05 * widest
    assert found.l1_read < 1.05 * widest, "128 bytes per clock and multiprocessor"
    assert 1e-7 < found.graph_launch < 1e-5 and 1e-7 < found.launch < 2e-5
    assert found.peak is None or 0.5 * found.peak < found.copy < found.peak


def test_a_kernel_that_dies_is_named_and_ends_the_process_with_3(cuda: str, tmp_path: Path) -> None:
    path = tmp_path / "dies.cu"
    path.write_text(
        '#include "mean.cuh"\nextern "C" __global__ void mean1d_naive(const T* x, T* y, const A* taps, long long n,'
        " int window) { y[(long long)1 << 50] = x[0]; }"
    )
    command = [sys.executable, "-m", "gpu_ops", "run", "mean1d", "--kernel", str(path), "--device", cuda]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "A kernel failed with an illegal memory access" in done.stderr


def test_registers_are_known_in_every_process(cuda: str) -> None:
    """A compiler that answers out of the driver's cache gives no log: the second process would see none."""
    text = "from gpu_ops.devices import open_device\n"
    text += f"k = open_device({cuda!r}).kernel('mean1d/1_naive.cu', 'mean1d_naive', "
    text += "dict(SAMPLE='float', ACCUMULATOR='float', INTEGER=0, BORDER=1, CHANNELS=1, OUTPUTS=2))\n"
    text += "print(k.resources['registers'])"
    found = [
        int(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    assert found[0] >= 10 and len(set(found)) == 1
