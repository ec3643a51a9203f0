"""The variants on CUDA: the transform in global and in shared memory, the mask in separate launches and fused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda import fast_image
from gpu_ops.filters.fft.cuda.launches import LEVELS, PEAK_FILE, SAMPLES, SPECTRUM, Plane, Work
from gpu_ops.filters.fft.cuda.transform import (
    BLUESTEIN,
    Lines,
    chirp,
    chirp_spectrum,
    lines_fit,
    longest_line,
    padded,
    twiddles,
)
from gpu_ops.filters.fft.cuda.ways import GLOBAL, REGISTERS, SHARED, THREADS, Way
from gpu_ops.filters.fft.forms import Cut, complex_type
from gpu_ops.filters.fft.limits import several_values
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import window
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Values
from gpu_ops.plan import Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Exactness, Rule, Trial, Variant
from gpu_ops.variant import Range, Trials, no_trials

STEPS_FILE, FUSED_FILE = "fft_mask/1_steps.cu", "fft_mask/2_fused.cu"

APART = "Forward transform, product and inverse transform are separate launches, each through global memory."
FUSED = (
    "Kernel fusion: a block keeps a column in shared memory through forward transform, product and inverse transform."
)
MANY = "number and kinds of its launches depend on the length"


Product = Callable[[Work, DeviceArray], DeviceArray]
"""Columns forward, product with the mask, columns inverse."""


def plan1d(way: str, device: Device, task: Task) -> Plan:
    """Convert, transform, and compute the requested result."""
    work, cut, result = Work.of(device, task, way), Cut.of(task), task.params["result"]
    lines = Lines(cut.count, cut.length, cut.channels)
    z = work.along(work.signal(cut), lines, "forward")
    if result == "round trip":
        work.store_samples(work.along(z, lines, "inverse", inverse=True), cut.length, "signal")
    elif result == "spectrogram":
        work.segments(z, cut, work.output(result, forms.spectrogram(task)), _density(cut))
    elif result == "spectrum":
        form = forms.spectrum1d(task)  # the one-sided spectrum is the first half of the whole one
        work.outputs["spectrum"] = z[: int(np.prod(form.shape))].reshape(form.shape)
    else:
        _finish1d(work, cut, z)
    return work.plan()


def _density(cut: Cut) -> float:
    return 1 / (cut.rate * float((cut.weights**2).sum()))


def _finish1d(work: Work, cut: Cut, z: DeviceArray) -> None:
    task, result = work.task, work.task.params["result"]
    form = forms.values1d(task)
    out = work.output(result.replace(" ", "_"), form)
    plane = Plane(form.shape[0], 1, cut.channels)
    doubled = cut.doubled.stop if task.params["sides"] == "one" else 0
    if result == "phase":
        work.phase(z, plane, out)
        return
    if result == "magnitude":
        work.sizes(z, plane, out, 1 / float(cut.weights.sum()), doubled=doubled)
    elif cut.count > 1:
        work.mean(z, cut, out, _density(cut), doubled)
    else:
        work.sizes(z, plane, out, _density(cut), squared=True, doubled=doubled)
    work.signal_peaks(cut, out, doubled)


def _rows(task: Task) -> Lines:
    return Lines(task.meta.shape[0], task.meta.shape[1], task.meta.channels)


def _columns(task: Task) -> Lines:
    return Lines(1, task.meta.shape[0], task.meta.shape[1] * task.meta.channels)


def plan2d(way: str, device: Device, task: Task) -> Plan:
    """Convert, transform rows and columns, and compute the requested result."""
    work, result = Work.of(device, task, way), task.params["result"]
    height, width = task.meta.shape[:2]
    plain = result == "round trip"
    name = "none" if plain else task.params["window"]
    detrend = result not in ("round trip", "phase") and task.params["detrend"] == "constant"
    weights = [window(name, n) for n in (height, width)]
    z = work.image(None if name == "none" else weights, detrend)
    z = work.along(work.along(z, _rows(task), "rows"), _columns(task), "columns")
    if plain:
        z = work.along(z, _columns(task), "columns inverse", inverse=True)
        work.store_samples(work.along(z, _rows(task), "rows inverse", inverse=True), height * width, "image")
    else:
        _finish2d(work, z, weights)
    return work.plan()


def _finish2d(work: Work, z: DeviceArray, weights: list[Any]) -> None:
    task, result = work.task, work.task.params["result"]
    height, width = task.meta.shape[:2]
    moves = (height // 2, width // 2) if task.params["centred"] and result != "radial profile" else (0, 0)
    plane = Plane(height, width, task.meta.channels, *moves)
    squares = float((weights[0] ** 2).sum() * (weights[1] ** 2).sum())
    if result == "spectrum" and not plane.moves:
        work.outputs["spectrum"] = z.reshape(task.meta.shape)
    elif result == "spectrum":
        work.moved(z, plane, work.output("spectrum", forms.spectrum2d(task)))
    elif result == "phase":
        work.phase(z, plane, work.output("phase", forms.values2d(task)))
    elif result == "level":
        factor = 1 / (float(weights[0].sum() * weights[1].sum()) * forms.full_scale(task))
        work.levels(z, plane, work.output("level", forms.values2d(task)), factor)
    elif result == "power density":
        work.sizes(z, plane, work.output("power_density", forms.values2d(task)), 1 / squares, squared=True)
    elif result == "radial profile":
        power = work.device.empty((plane.size,), work.real)
        work.sizes(z, plane, power, 1 / squares, squared=True)
        work.rings(power, plane, work.output("radial", forms.radial(task)))
    else:
        _magnitude2d(work, z, plane, 1 / float(weights[0].sum() * weights[1].sum()))


def _magnitude2d(work: Work, z: DeviceArray, plane: Plane, factor: float) -> None:
    task = work.task
    out = work.output("magnitude", forms.values2d(task))
    work.sizes(z, plane, out, factor)
    work.image_peaks(plane, out)


def _mask(work: Work) -> tuple[DeviceArray, DeviceArray]:
    """The mask on the device, and the output for the filtered magnitudes."""
    task = work.task
    height, width = task.meta.shape[:2]
    values = transfer(task.params, np.arange(height)[:, None], np.arange(width), height, width)
    return work.weights(values), work.output("spectrum", forms.values2d(task))


def _multiply(work: Work, z: DeviceArray) -> DeviceArray:
    """Columns forward, product, columns inverse, in separate launches."""
    task = work.task
    pixels, channels = task.meta.shape[0] * task.meta.shape[1], task.meta.channels
    z = work.along(z, _columns(task), "columns")
    args = (z, *_mask(work), np.int64(pixels), np.int32(channels), work.real.type(1 / pixels))
    work.launch(STEPS_FILE, "fft_mask_steps", pixels * channels, *args, what="multiply")
    return work.along(z, _columns(task), "columns inverse", inverse=True)


def _fused(work: Work, z: DeviceArray) -> DeviceArray:
    """Columns forward, product and columns inverse in one launch."""
    task = work.task
    (height, width), channels = task.meta.shape[:2], task.meta.channels
    points = padded(height)
    y, table = work.take(z.size), work.table(twiddles, points)
    tables = [work.table(make, height) for make in (chirp, chirp_spectrum)] if points != height else [table, table]
    counts = (np.int32(n) for n in (height, points.bit_length() - 1, width, channels))
    args = (z, y, table, *tables, *_mask(work), *counts, work.real.type(1 / (height * width)))
    kernel = work.device.kernel(FUSED_FILE, "fft_mask_fused", work.defines)
    shared = points * work.dtype.itemsize
    grid, block, name = (width * channels, 1, 1), (work.block, 1, 1), "columns, multiply, inverse"
    loops = {"points of a column": -(-points // work.block), "pixels of a column": -(-height // work.block)}
    work.steps.append(Launch(kernel, grid, block, args, shared, name=name, loops=loops))
    work.give_back(z)
    return y


def plan_mask(product: Product, device: Device, task: Task) -> Plan:
    """Rows forward, the product with the transforms along columns, rows inverse."""
    work = Work.of(device, task, "shared")
    z = product(work, work.along(work.image(), _rows(task), "rows"))
    z = work.along(z, _rows(task), "rows inverse", inverse=True)
    work.store_samples(z, task.meta.shape[0] * task.meta.shape[1], "image")
    return work.plan()


def _lines_of(task: Task) -> tuple[Lines, ...]:
    if task.meta.of_kind.rank == 2:
        return _rows(task), _columns(task)
    cut = Cut.of(task)
    return (Lines(cut.count, cut.length, cut.channels),)


def _lengths(task: Task) -> Iterator[int]:
    return (lines.n for lines in _lines_of(task))


def _operations(round_trip: bool, task: Task) -> int:
    """Five operations per point and stage; any length but a power of two needs two padded transforms."""
    total = 0
    for lines in _lines_of(task):
        points = padded(lines.n)
        ways = (1 if points == lines.n else 2) * (2 if round_trip else 1)
        total += 5 * lines.count * points * max(points.bit_length() - 1, 1) * ways
    return total


def operations(task: Task) -> int:
    """The operations of the transforms, which are complex, while the minimum work is that of real ones."""
    return _operations(task.params["result"] == "round trip", task)


def of_way(
    way: Way,
    plan: Callable[[str, Device, Task], Plan],
    helpers: tuple[str, ...],
    lengths: Callable[[Task], Iterable[int]],
    *rules: Rule,
    operations: Callable[[Task], int],
    largest: Range,
    exactness: Exactness | None = None,
    trials: Trials = no_trials,
) -> Variant:
    """The variant for one way to transform lines of these lengths; `rules` are its other rules."""
    fits = () if way is GLOBAL else (lines_fit(way.name, lengths),)
    return Variant(
        *(way.name, way.title, way.idea, partial(plan, way.name), "cuda", (way.file, *helpers), way.knobs),
        source="S2",
        rules=(*rules, *fits),
        largest=largest,
        counts=Counts(uncounted=MANY, operations=operations),
        exactness=exactness,
        trials=trials,
    )


LEAST: Values = {"block": 32}
"""The minimum threads per block."""


def _trials(kind: Kind) -> Trials:
    """More segments than a grid has blocks in y, of more channels than a block has threads; values that several blocks
    reduce and search; lines of more points than a block has threads."""
    whole = {"result": "magnitude", "detrend": "constant"}
    cut = {"result": "power density", "segment": 7, "overlap": 75, "detrend": "constant"}
    several = Trial((4000, 35), "float32", "random", cut, LEAST), Trial((1 << 18,), "float32", "random", whole, LEAST)
    found = several if kind == "signal" else (Trial((512, 512), "float32", "random", whole, LEAST),)
    return lambda limits: found


def variants(kind: Kind) -> tuple[Variant, ...]:
    """The variants for signals or for images."""
    plan, last = (plan1d, ()) if kind == "signal" else (plan2d, (LEVELS,))
    helpers, several = (BLUESTEIN, SAMPLES, SPECTRUM, PEAK_FILE, *last), several_values(kind, limits.transformed)
    return tuple(
        of_way(
            *(way, plan, helpers, _lengths, several),
            operations=operations,
            largest=limits.largest,
            trials=_trials(kind),
        )
        for way in (GLOBAL, SHARED, REGISTERS)
    )


def _long_columns(task: Task) -> tuple[int, int] | None:
    points, most = padded(task.meta.shape[0]), longest_line(task.limits.shared_bytes, complex_type(task))
    return (points, most) if points > most else None


COLUMN_FITS = Rule(
    _long_columns,
    "columns of {meta.shape[0]} pixels need {found[0]} complex numbers in shared memory, which holds {found[1]}; use "
    "the variant steps",
)
"""A column fits into shared memory at once."""


def variants_mask() -> tuple[Variant, ...]:
    """The variants of the mask."""
    fits = lines_fit("shared", _lengths, "a variant on the CPU")
    counts = Counts(uncounted=MANY, operations=partial(_operations, True))
    tall = (Trial((150, 5), "float32", "random", {}, LEAST), Trial((128, 150), "uint8", "random", {}, LEAST))

    def variant(id: str, title: str, idea: str, product: Product, file: str, *rules: Rule) -> Variant:
        plan, kernels = partial(plan_mask, product), (file, SHARED.file, BLUESTEIN, SAMPLES)
        how = id, title, idea, plan
        rest: Any = ((THREADS,), "", "S2", rules, limits.largest, (), lambda limits: tall, counts)
        return Variant(*how, "cuda", kernels, *rest)

    return (
        variant("steps", "1 separate launches", APART, _multiply, STEPS_FILE, fits),
        variant("fused", "2 fused", FUSED, _fused, FUSED_FILE, COLUMN_FITS, fits),
        fast_image.MASK,
    )
