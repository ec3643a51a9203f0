"""Batched transforms on the CPU, and by GPU libraries: tiles are gathered unless they are contiguous, then
transformed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft.batch import Batch, largest, spectra
from gpu_ops.filters.fft.cpu.host import loops
from gpu_ops.filters.fft.forms import complex_type, real_type
from gpu_ops.filters.kit.library_calls import by_cufft, on_tensors
from gpu_ops.plan import Call, Device, DeviceArray, Plan, Step
from gpu_ops.progress import stage
from gpu_ops.task import Task
from gpu_ops.types import Variant

Array = Any
Transform = Callable[[Array, Array], Any]
"""Called with the tiles (planes, height, width), real or complex, and their spectra (planes, height, bins)."""
Engine = Callable[[Device, Batch, DeviceArray, DeviceArray], Transform]

SERIAL = "Radix 2 on one core, compiled; a complex line takes two real transforms, of its parts."
PARALLEL = "Radices 5 to 2 on all cores, compiled: SIMD across neighbouring lines. Complex lines as on one core."
NUMPY = "What most Python programs call: pocketfft with mixed radices on one core."
SCIPY = "The same algorithm on all cores with SIMD."
CUFFT = "The library's own transforms (cuFFT), planned in advance for exactly these lines."
TORCH = "cuFFT as torch.fft calls it."
NVMATH = "cuFFT by nvmath-python's bindings, with a plan made in advance."


def gather(x: Array, batch: Batch, out: Array) -> None:
    """The tiles of an input as planes (C, down, across, height, width) of real or complex numbers."""
    rows = x.reshape(-1)[: batch.rows * batch.row].reshape(batch.rows, batch.row)
    values = batch.width * batch.channels * (2 if batch.complex else 1)
    tiles = rows[:, : batch.across * values].reshape(batch.down, batch.height, batch.across, values)
    tiles = tiles.transpose(0, 2, 1, 3)
    if batch.complex:
        out[0].real, out[0].imag = tiles[..., 0::2], tiles[..., 1::2]
    else:
        for channel in range(batch.channels):
            out[channel] = tiles[..., channel :: batch.channels]


def scatter(planes: Array, batch: Batch, out: Array) -> None:
    """Scatter the spectra of planes (C, down, across, height, bins) to their positions in the result."""
    shape = (batch.down, batch.height, batch.across, batch.bins, batch.channels)
    out.reshape(shape)[...] = planes.transpose(1, 3, 2, 4, 0)


def plan(engine: Engine, device: Device, task: Task) -> Plan:
    """Gather, transform, scatter; contiguous data needs only the transform."""
    batch, form, steps = Batch.of(task), spectra(task), list[Step]()
    kind = complex_type(task) if batch.complex else real_type(task)
    out = device.empty(form.shape, form.dtype)
    around = (batch.channels, batch.down, batch.across, batch.height)
    in_order = batch.channels == batch.across == 1
    tiles, bins = _in_place(task, batch, kind) if in_order else None, out
    if tiles is None:
        tiles = device.empty((*around, batch.width), kind)
        steps.append(Call(gather, (task.x, batch, tiles), name="gather"))
    if not in_order:
        bins = device.empty((*around, batch.bins), form.dtype)
    planes = (-1, batch.height)
    tiles, flat = tiles.reshape(*planes, batch.width), bins.reshape(*planes, batch.bins)
    steps.append(Call(engine(device, batch, tiles, flat), (tiles, flat), name="transform"))
    if not in_order:
        steps.append(Call(scatter, (bins, batch, out), name="scatter"))
    return Plan(tuple(steps), {"spectra": out})


def _in_place(task: Task, batch: Batch, kind: np.dtype[Any]) -> DeviceArray | None:
    """The input itself as the numbers to transform, or None if it needs a conversion."""
    if task.dtype != real_type(task) or not batch.whole_rows:
        return None
    return task.x.reshape(-1)[: batch.rows * batch.row].view(kind)


def numpy(device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """NumPy's transforms, which keep float32."""
    one, many = (np.fft.fft, np.fft.fft2) if batch.complex else (np.fft.rfft, np.fft.rfft2)
    return (lambda x, out: many(x, out=out)) if batch.rank == 2 else (lambda x, out: one(x, out=out))


def scipy(device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """SciPy's transforms on all cores."""
    fft = device.library("scipy.fft")
    one, many = (fft.fft, fft.fft2) if batch.complex else (fft.rfft, fft.rfft2)

    def forward(x: Array, out: Array) -> None:
        out[...] = (many if batch.rank == 2 else one)(x, workers=-1)

    return forward


def compiled(all_cores: bool, device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """The compiled transforms of real samples on one core or on all; complex ones are transformed part by part."""
    module = loops(all_cores)
    kind, flat = tiles.real.dtype, batch.rank == 1
    made = module.Rows(batch.width, kind.name) if flat else module.Planes(batch.height, batch.width, kind.name)

    def half(x: Array, out: Array) -> None:
        made.forward(x[:, 0] if flat else x, out[:, 0] if flat else out)

    def forward(x: Array, out: Array) -> None:
        if not batch.complex:
            half(x, out)
            return
        parts = [device.empty((*x.shape[:2], batch.width // 2 + 1), out.dtype) for _ in range(2)]
        for place, (part, values) in enumerate(zip(parts, (x.real, x.imag), strict=True)):
            with stage(place, 2):
                half(np.ascontiguousarray(values), part)
        join(parts[0], parts[1], out)

    return forward


def join(re: Array, im: Array, out: Array) -> None:
    """The spectra of complex numbers from the half spectra (planes, height, bins) of their real and imaginary parts:
    the other half of a real spectrum is its conjugate, mirrored along both axes."""
    width = out.shape[2]
    out[..., : re.shape[2]] = re + 1j * im
    rows = -np.arange(out.shape[1]) % out.shape[1]
    bins = width - np.arange(re.shape[2], width)
    out[..., re.shape[2] :] = np.conj(re[:, rows][..., bins]) + 1j * np.conj(im[:, rows][..., bins])


def cufft(device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """cuFFT's transforms by a plan of CuPy, directly from the tiles into the result.

    CuPy plans no real transforms along two axes of arrays in Fortran order, which includes arrays with only one side
    longer than 1. For these its rfft2 and one copy are used.
    """
    if batch.rank == 2 and not batch.complex and tiles.flags.f_contiguous:
        real = device.library("cupy").fft

        def forward(x: Any, out: Any) -> None:
            out[...] = real.rfft2(x)

        return forward
    fft, cufft = device.library("cupyx.scipy.fft"), device.library("cupy.cuda.cufft")
    axes = (1, 2) if batch.rank == 2 else 2
    plan = fft.get_fft_plan(tiles, axes=axes, value_type="C2C" if batch.complex else "R2C")
    return lambda x, out: plan.fft(x, out, cufft.CUFFT_FORWARD)


def torch(device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """PyTorch's transforms."""
    fft = device.library("torch").fft
    one, many = (fft.fft, fft.fft2) if batch.complex else (fft.rfft, fft.rfft2)
    return on_tensors(device, lambda x, out: (many if batch.rank == 2 else one)(x, out=out))


def nvmath(device: Device, batch: Batch, tiles: DeviceArray, bins: DeviceArray) -> Transform:
    """cuFFT's transforms by a plan of nvmath-python."""
    return by_cufft(device, tiles, bins, batch.rank)


serial, parallel = partial(compiled, False), partial(compiled, True)
HOSTS = (
    Variant("serial", "CPU, one core", SERIAL, partial(plan, serial), "cpu", source="S2", largest=largest),
    Variant("parallel", "CPU, all cores", PARALLEL, partial(plan, parallel), "cpu", largest=largest),
    Variant("numpy", "NumPy", NUMPY, partial(plan, numpy), "cpu", library="numpy", largest=largest),
    Variant("scipy", "SciPy", SCIPY, partial(plan, scipy), "cpu", library="scipy", largest=largest),
)
GPU_LIBRARIES = (
    Variant("cupy", "cuFFT (CuPy)", CUFFT, partial(plan, cufft), "cuda", library="cupy", largest=largest),
    Variant("torch", "torch.fft", TORCH, partial(plan, torch), "cuda", library="torch", largest=largest),
    Variant("nvmath", "cuFFT (nvmath)", NVMATH, partial(plan, nvmath), "cuda", library="nvmath", largest=largest),
)
