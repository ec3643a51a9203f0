"""The variant of a signal's spectrum based on the fast transform: segments in pairs, and the requested results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda.any_length import MANY_CHANNELS, RADIX, Line, line_of
from gpu_ops.filters.fft.cuda.launches import PEAK_FILE, SAMPLES, SPECTRUM, Plane, Work
from gpu_ops.filters.fft.forms import Cut
from gpu_ops.filters.fft.limits import several_values
from gpu_ops.filters.fft.parameters import SIDED
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.params import Param, Value
from gpu_ops.plan import Device, DeviceArray, Launch, Limits, Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Trial, Variant

FILE = "fft/17_signal.cu"
IDEA = (
    "One launch for all segments, of any length: two of them are one complex line; means and windows are part of the "
    "first load, amplitudes, densities and the order of a spectrogram part of the last store."
)
BLOCK = Param(
    "block",
    256,
    choices=(64, 128, 256, 512, 1024),
    tries=(64, 256),
    unit="threads",
    help="threads per block; more for long segments of a spectrogram, fewer where most multiprocessors would be idle",
)
Store = Callable[[DeviceArray, float, int], None]
TOGETHER: dict[str, Value] = {"together": 2}
"""A block separates its segments in shared memory, as complex numbers."""
STORED = {
    "spectrum": "SPECTRUM",
    "phase": "SPECTRUM",
    "magnitude": "MAGNITUDE",
    "power density": "DENSITY",
    "spectrogram": "DENSITY",
    "round trip": "ROUND_TRIP",
}
"""What the launch stores, by result."""
BLOCKS, LEAST_BLOCKS = 4, 64
"""Blocks per multiprocessor that accumulate mean densities, and the minimum per channel."""
FILLED = 4
"""Pairs of segments whose values fill a sector of a spectrogram."""
WARP, SHARES = 32, 32
"""Values per block that adds the sums of other blocks, and the threads of each."""
SMALLEST = 64
"""Threads of the smallest block."""


def _line(task: Task) -> Line | None:
    return line_of(Cut.of(task).length, int(task.knobs["radix"]))


def _shared(line: Line, lines: int, itemsize: int) -> int:
    """Bytes of this number of lines: for their stages, and for their points once more."""
    return max(line.shared(lines, TOGETHER, itemsize), lines * (line.length | 1) * 2 * itemsize)


def _lines(line: Line, wanted: int, task: Task) -> int:
    """The lines per block, up to this number; 0: none fits."""
    itemsize = forms.real_type(task).itemsize
    lines = line.most_lines(wanted, TOGETHER, itemsize, task.limits.shared_bytes)
    while lines and _shared(line, lines, itemsize) > task.limits.shared_bytes:
        lines //= 2
    return lines


def plan(device: Device, task: Task) -> Plan:
    """The mean if it is subtracted, the segments, and the steps that need all results."""
    work, cut = Work.of(device, task, "shared"), Cut.of(task)
    return plan_of(work, cut, partial(_launch, work, cut), partial(_mean, work, cut))


def plan_of(work: Work, cut: Cut, store: Store, mean: Store) -> Plan:
    """The plan of the requested result, by steps that store it times a factor, or the mean of all segments; bins 1 …
    doubled - 1 count twice."""
    task, result = work.task, work.task.params["result"]
    density = 1 / (cut.rate * float((cut.weights**2).sum()))
    if result == "round trip":
        store(work.output("signal", forms.like_input(task)), 1 / cut.length, 0)
    elif result == "spectrum":
        store(work.output(result, forms.spectrum1d(task)), 1.0, 0)
    elif result == "phase":
        form = forms.values1d(task)
        values = work.device.empty(form.shape, work.dtype)
        store(values, 1.0, 0)
        work.phase(values, Plane(form.shape[0], 1, cut.channels), work.output("phase", form))
    elif result == "spectrogram":
        store(work.output(result, forms.spectrogram(task)), density, cut.doubled.stop)
    else:
        doubled = cut.doubled.stop if task.params["sides"] == "one" else 0
        out = work.output(result.replace(" ", "_"), forms.values1d(task))
        factor = 1 / float(cut.weights.sum()) if result == "magnitude" else density
        (mean if cut.count > 1 else store)(out, factor, doubled)
        work.signal_peaks(cut, out, doubled)
    return work.plan()


def _grid(work: Work, cut: Cut) -> tuple[Line, int, int]:
    """The line, the lines per block and the blocks of all segments of a channel."""
    line, pairs = _line(work.task), -(-cut.count // 2)
    assert line is not None  # the variant supports the length
    side_by_side = FILLED if work.task.params["result"] == "spectrogram" else 1
    wanted = max(work.block // line.stages.threads, side_by_side)
    while wanted > 1 and 2 * -(-pairs // wanted) * cut.channels < work.device.limits.multiprocessors:
        wanted //= 2
    lines = _lines(line, 1 << wanted.bit_length() - 1, work.task)
    return line, lines, -(-pairs // lines)


def tables_before(work: Work, cut: Cut) -> tuple[DeviceArray, DeviceArray]:
    """The window, and the means of all segments; null pointers if there are none."""
    means = work.means(cut.count, cut.length, cut.step) if cut.detrend else work.device.empty((1,), np.float64)
    window = work.weights(cut.weights) if cut.window != "none" else work.device.empty((1,), work.real)
    return window, means


def flags_of(cut: Cut) -> dict[str, Value]:
    """Whether there are a window and means, as defines."""
    return {"WINDOWED": int(cut.window != "none"), "DETREND": int(cut.detrend)}


def _kernel(work: Work, cut: Cut, line: Line, lines: int, name: str, stored: str) -> Any:
    defines = {**work.defines, **flags_of(cut), **line.defines(lines, TOGETHER), "SAMPLE": CTYPES[work.task.dtype.name]}
    del defines["PARTS"]  # a constant in the kernel file
    return work.device.kernel(FILE, name, {**defines, "RESULT": stored})


def _launch(
    work: Work, cut: Cut, out: DeviceArray, factor: float, doubled: int = 0, blocks: int = 0, stored: str = ""
) -> None:
    """All segments, by this number of blocks per channel; 0: by as many as they fill."""
    task, real = work.task, work.real
    line, lines, most = _grid(work, cut)
    before = tables_before(work, cut)
    sizes = (np.int64(cut.count), np.int64(cut.step))
    last = (real.type(factor), np.int32(doubled), np.int32(two_sided(task)))
    args = (task.x, out, *line.tables(work), *before, *sizes, *last)
    kernel = _kernel(work, cut, line, lines, "fft_signal_lines", stored or STORED[task.params["result"]])
    grid, block = (blocks or most, cut.channels, 1), (line.stages.threads * lines, 1, 1)
    loops = {"segments of a block": -(-most // blocks)} if blocks else {}
    shared = _shared(line, lines, real.itemsize)
    work.steps.append(Launch(kernel, grid, block, args, shared, name="segments", loops=loops))


def two_sided(task: Task) -> bool:
    """Whether bins are stored at the opposite frequency as well."""
    return task.params["result"] in SIDED and task.params["sides"] == "two"


def _mean(work: Work, cut: Cut, out: DeviceArray, factor: float, doubled: int) -> None:
    """The mean density of all segments: sums of blocks, and their sum."""
    line, lines, most = _grid(work, cut)
    blocks = min(most, max(BLOCKS * work.device.limits.multiprocessors // cut.channels, LEAST_BLOCKS))
    values = cut.bins * cut.channels
    sums = work.device.empty((blocks * values,), np.float64)
    _launch(work, cut, sums, 1.0, blocks=blocks, stored="SUMS")
    sizes = (*map(np.int32, (blocks, values, cut.channels)), np.float64(factor / cut.count))
    args = (sums, out, *sizes, np.int32(doubled), np.int32(two_sided(work.task)))
    kernel, loops = _kernel(work, cut, line, lines, "fft_signal_mean", "SUMS"), {"sums of blocks": -(-blocks // SHARES)}
    how: Any = {"name": "power density", "loops": loops, "early": True}
    work.steps.append(Launch(kernel, grid1d(values, WARP), (WARP, SHARES, 1), args, **how))


def operations(task: Task) -> int:
    """Operations of the transforms of half as many complex lines as there are segments: five per point and stage."""
    line, cut = _line(task), Cut.of(task)
    if line is None:
        return 0
    times = line.passes * (2 if task.params["result"] == "round trip" else 1)
    return times * 5 * line.points * max(line.points.bit_length() - 1, 1) * -(-cut.count // 2) * cut.channels


def _too_long(task: Task) -> int:
    line = _line(task)
    return 0 if line is not None and _lines(line, 1, task) else Cut.of(task).length


FITS = Rule(_too_long, "a block cannot hold lines of {found} points with these knobs; use the variant four_step")


def _trials(limits: Limits) -> tuple[Trial, ...]:
    """More segments than all accumulating blocks process at once; more of them than a grid has blocks in y, of more
    channels than a block has threads; values that several blocks reduce and search; a prime length."""
    mean = {"result": "power density", "segment": 7, "overlap": 75, "detrend": "constant"}
    samples = 2 * (7 * 2 * BLOCKS * SMALLEST * max(limits.multiprocessors, LEAST_BLOCKS // BLOCKS))
    least = {"block": SMALLEST}
    return (
        Trial((samples,), "float32", "random", mean, least),
        Trial((4000, 70), "float32", "random", mean, least),
        Trial((10000,), "float32", "random", {"result": "magnitude", "detrend": "constant"}, least),
        Trial((3000,), "uint8", "random", {"result": "spectrogram", "segment": 360, "window": "Hann"}),
        Trial((997, 2), "float32", "random", {"result": "magnitude", "sides": "two"}),
    )


VARIANT = Variant(
    *("fast", "17 fast transform", IDEA, plan, "cuda", (FILE, SAMPLES, SPECTRUM, PEAK_FILE), (BLOCK, RADIX)),
    source="S2",
    rules=(several_values("signal", limits.transformed), MANY_CHANNELS, FITS),
    largest=limits.largest,
    trials=_trials,
    counts=Counts(uncounted="one block is not representative of the last one", operations=operations),
)
