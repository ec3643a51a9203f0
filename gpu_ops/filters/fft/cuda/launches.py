"""The steps around the transforms on CUDA: samples in and out, magnitudes, phases, peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft import forms, limits
from gpu_ops.filters.fft.cuda.transform import Transforms
from gpu_ops.filters.fft.forms import PEAKS, Cut, complex_type, least_amplitude, pieces_of, real_type
from gpu_ops.filters.fft.windows import LOBES
from gpu_ops.filters.kit.planning import CTYPES, NO_LOOPS
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.output_kinds import Form
from gpu_ops.plan import Device, DeviceArray, Fill, Launch, Plan
from gpu_ops.task import Task

SAMPLES, SPECTRUM, PEAK_FILE = "fft/samples.cu", "fft/spectrum.cu", "fft/peaks.cu"
LEVELS = "fft/levels.cu"
Grid = tuple[int, int, int]
ENOUGH = 1 << 16
"""Threads that keep a large GPU busy."""


@dataclass(frozen=True)
class Plane:
    """The extents of a spectrum (height, width, channels), and how far down and to the right results are shifted."""

    height: int
    width: int
    channels: int
    down: int = 0
    right: int = 0

    @property
    def size(self) -> int:
        """The number of values."""
        return self.height * self.width * self.channels

    @property
    def moves(self) -> bool:
        """Whether results are shifted."""
        return (self.down, self.right) != (0, 0)

    @property
    def args(self) -> tuple[Any, ...]:
        """As kernel arguments."""
        return *(np.int64(n) for n in (self.height, self.width)), np.int32(self.channels), *self.offsets

    @property
    def offsets(self) -> tuple[Any, ...]:
        return np.int64(self.down), np.int64(self.right)


@dataclass
class Work(Transforms):
    """The plan of a task under construction: steps, buffers and outputs."""

    task: Task = field(kw_only=True)
    outputs: dict[str, DeviceArray] = field(default_factory=dict)

    @classmethod
    def of(cls, device: Device, task: Task, way: str) -> Work:
        """The beginning of a plan."""
        return cls(device, complex_type(task), way, task.knobs["block"], knobs=task.knobs, task=task)

    @property
    def real(self) -> np.dtype[Any]:
        """The type of real results."""
        return real_type(self.task)

    def output(self, name: str, form: Form) -> DeviceArray:
        """Memory for an output."""
        self.outputs[name] = self.device.empty(form.shape, form.dtype)
        return self.outputs[name]

    def plan(self) -> Plan:
        """The plan."""
        return Plan(tuple(self.steps), self.outputs)

    def weights(self, values: Any) -> DeviceArray:
        """A table of real values on the device."""
        return self.device.upload(np.asarray(values).astype(self.real))

    def _blocks(
        self, file: str, name: str, grid: Grid, itemsize: int, *args: Any, what: str, loops: Mapping[str, int]
    ) -> None:
        """Blocks with `itemsize` bytes of shared memory per thread."""
        kernel = self.device.kernel(file, name, self.defines)
        block = (self.block, 1, 1)
        self.steps.append(Launch(kernel, grid, block, args, self.block * itemsize, name=what, loops=loops))

    def _on_samples(
        self, name: str, grid: Grid, *args: Any, what: str, shared: int = 0, loops: Mapping[str, int] = NO_LOOPS
    ) -> None:
        dtype = self.task.dtype
        defines = {**self.defines, "SAMPLE": CTYPES[dtype.name], "INTEGER": int(dtype.kind == "u")}
        kernel = self.device.kernel(SAMPLES, name, defines)
        self.steps.append(Launch(kernel, grid, (self.block, 1, 1), args, shared, name=what, loops=loops))

    def means(self, segments: int, length: int, step: int) -> DeviceArray:
        """The means of all segments of all channels."""
        channels, lines, pieces = self.task.meta.channels, segments * self.task.meta.channels, pieces_of(length)
        sums, means = (self.device.empty((n,), np.float64) for n in (lines * pieces, lines))
        grid = (pieces, min(lines, MOST_BLOCKS), 1)
        counts = (np.int64(lines), np.int64(length), np.int64(step), np.int32(channels))
        loops = {"samples of a piece": self._turns(length, pieces)}
        loops |= {"lines": -(-lines // MOST_BLOCKS)} if self.task.meta.kind == "signal" else {}
        how: Any = {"what": "sums", "shared": self.block * 8, "loops": loops}
        self._on_samples("fft_samples_sums", grid, self.task.x, sums, *counts, **how)
        sizes = (np.int64(lines), np.int64(length), np.int32(pieces))
        how = {"what": "means", "loops": {"pieces of a line": pieces}}
        self._on_samples("fft_samples_means", grid1d(lines, self.block), sums, means, *sizes, **how)
        return means

    def _turns(self, count: int, pieces: int) -> int:
        """The trip count of a block's loop over its piece of this number of values."""
        return -(-count // (pieces * self.block))

    def signal(self, cut: Cut) -> DeviceArray:
        """A buffer with the segments (count, length, channels) as complex numbers."""
        z = self.take(cut.count * cut.length * cut.channels)
        means = self.means(cut.count, cut.length, cut.step) if cut.detrend else self.device.empty((1,), np.float64)
        windowed = cut.window != "none"
        window = self.weights(cut.weights if windowed else np.ones(1))
        counts = (*(np.int64(n) for n in (cut.count, cut.length, cut.step)), np.int32(cut.channels))
        flags = (np.int32(windowed), np.int32(cut.detrend))
        grid = grid1d(z.size, self.block)
        self._on_samples("fft_samples_signal", grid, self.task.x, z, window, means, *counts, *flags, what="convert")
        return z

    def image(self, windows: Sequence[Any] | None = None, detrend: bool = False) -> DeviceArray:
        """A buffer with the image as complex numbers, times the windows along y and x."""
        height, width = self.task.meta.shape[:2]
        z = self.take(self.task.meta.size)
        means = self.means(1, height * width, 0) if detrend else self.device.empty((1,), np.float64)
        tables = [self.weights(w) for w in windows or (np.ones(1), np.ones(1))]
        sizes = (np.int64(height), np.int64(width), np.int32(self.task.meta.channels))
        flags = (np.int32(windows is not None), np.int32(detrend))
        grid = grid1d(z.size, self.block)
        self._on_samples("fft_samples_image", grid, self.task.x, z, *tables, means, *sizes, *flags, what="convert")
        return z

    def store_samples(self, z: DeviceArray, points: int, name: str) -> None:
        """The output `name` like the input: the real parts divided by `points`, rounded."""
        out = self.outputs[name] = self.device.empty(self.task.x.shape, self.task.dtype)
        args = (z, out, np.int64(out.size), self.real.type(1 / points))
        self._on_samples(
            "fft_samples_inverse",
            grid1d(out.size, self.block),
            *args,
            what="round" if out.dtype.kind == "u" else "real part",
        )

    def moved(self, z: DeviceArray, plane: Plane, out: DeviceArray) -> None:
        """The spectrum, shifted."""
        self.launch(SPECTRUM, "fft_spectrum_moved", plane.size, z, out, *plane.args, what="centre")

    def sizes(
        self, z: DeviceArray, plane: Plane, out: DeviceArray, factor: float, squared: bool = False, doubled: int = 0
    ) -> None:
        """Magnitudes, or their squares, times a factor; rows 1 … doubled - 1 count twice."""
        args = (*plane.args, self.real.type(factor), np.int32(squared), np.int64(doubled))
        what = "power density" if squared else "magnitude"
        self.launch(SPECTRUM, "fft_spectrum_sizes", plane.size, z, out, *args, what=what)

    def levels(self, z: DeviceArray, plane: Plane, out: DeviceArray, factor: float) -> None:
        """Magnitudes times a factor in dB, clamped to the floor."""
        args = (*plane.args, *(self.real.type(v) for v in (factor, least_amplitude(self.task))))
        self.launch(LEVELS, "fft_levels", plane.size, z, out, *args, what="level")

    def segments(self, z: DeviceArray, cut: Cut, out: DeviceArray, factor: float) -> None:
        """The power density of each segment, (bins, segments, channels)."""
        counts = (*(np.int64(n) for n in (cut.count, cut.length, cut.bins)), np.int32(cut.channels))
        args = (z, out, *counts, self.real.type(factor), np.int64(cut.doubled.stop))
        self.launch(SPECTRUM, "fft_spectrum_segments", out.size, *args, what="spectrogram")

    def mean(self, z: DeviceArray, cut: Cut, out: DeviceArray, factor: float, doubled: int) -> None:
        """The mean power density of all segments."""
        values, apart = int(out.size), np.int64(cut.length * cut.channels)
        pieces = max(1, min(cut.count, ENOUGH // values))
        sums = self.device.empty((pieces * values,), np.float64)
        counts = (np.int64(values), np.int32(pieces))
        args = (z, sums, np.int64(cut.count), apart, *counts)
        shares = {"segments of a share": -(-cut.count // pieces)}
        self.launch(SPECTRUM, "fft_spectrum_sums", sums.size, *args, what="sums of segments", loops=shares)
        means = (sums, out, *counts, np.int32(cut.channels), np.float64(factor / cut.count), np.int64(doubled))
        self.launch(SPECTRUM, "fft_spectrum_mean", values, *means, what="power density", loops={"shares": pieces})

    def phase(self, z: DeviceArray, plane: Plane, out: DeviceArray) -> None:
        """Phases, with magnitudes for the floor."""
        sizes = self.device.empty((plane.size,), self.real)
        self.sizes(z, Plane(plane.height, plane.width, plane.channels), sizes, 1.0)
        largest = self.largest(sizes, plane.height * plane.width)
        floor = (limits.PHASE_FLOOR, limits.phase_floor(self.task, 0.0))
        args = (z, largest, out, *plane.args, *(self.real.type(v) for v in floor))
        self.launch(SPECTRUM, "fft_spectrum_phase", plane.size, *args, what="phase")

    def rings(self, power: DeviceArray, plane: Plane, out: DeviceArray) -> None:
        """The mean of each ring."""
        sums, bins = self.device.empty((out.size,), np.float64), self.device.empty((out.shape[0],), np.uint32)
        self.steps += [Fill(sums, 0, name="no sums"), Fill(bins, 0, name="no bins")]
        sizes = (np.int64(plane.height), np.int64(plane.width), np.int32(plane.channels))
        self.launch(SPECTRUM, "fft_spectrum_rings", plane.size, power, sums, bins, *sizes, what="sums of rings")
        means = (sums, bins, out, np.int64(out.size), np.int32(plane.channels))
        self.launch(SPECTRUM, "fft_spectrum_ring_means", out.size, *means, what="means of rings")

    def largest(
        self, values: DeviceArray, n: int, kind: str = "", where: Sequence[Any] = (), reach: int = 0
    ) -> DeviceArray:
        """The largest of the first n values (n, channels) of each channel, as kernels of that kind count them."""
        channels, pieces = np.int32(self.task.meta.channels), pieces_of(n)
        first = (*where, channels, np.int32(reach)) if kind else (np.int64(n), channels)
        passes = [(f"fft_peaks_{kind}_largest" if kind else "fft_peaks_largest", pieces, first)]
        passes += [("fft_peaks_largest", 1, (np.int64(pieces), channels))] if pieces > 1 else []
        source = values
        for name, blocks, args in passes:
            most = self.device.empty((blocks * int(channels),), self.real)
            grid, count = (blocks, int(channels), 1), n if source is values else pieces
            how: Any = {"what": "largest value", "loops": {f"values of {name}": self._turns(count, blocks)}}
            self._blocks(PEAK_FILE, name, grid, self.real.itemsize, source, most, *args, **how)
            source = most
        return source

    def peaks(
        self, kind: str, values: DeviceArray, n: int, where: Sequence[Any], reach: int, table: Sequence[Any]
    ) -> None:
        """The outputs peaks and peak_count, from values over n positions. `kind` is signal or image, `where` are the
        kernels' arguments that describe the layout of the values, `table` the last ones of the kernel that writes the
        table."""
        channels, pieces = self.task.meta.channels, pieces_of(n)
        largest = self.largest(values, n, kind, where, reach)
        places = self.device.empty((channels * pieces * PEAKS,), np.int64)
        counts = self.device.empty((channels * pieces,), np.uint32)
        args = (values, largest, places, counts, *where, np.int32(channels), np.int32(reach))
        how: Any = {"what": "peaks", "loops": {"places of a piece": self._turns(n, pieces)}}
        self._blocks(PEAK_FILE, f"fft_peaks_{kind}", (pieces, channels, 1), 0, *args, **how)
        outputs = (self.outputs["peaks"], self.outputs["peak_count"])
        args = (values, places, counts, *outputs, *where, np.int32(channels), np.int32(pieces), *table)
        loops = {"pieces of a channel": pieces}
        loops |= {"channels": -(-channels // self.block)} if kind == "signal" else {}
        self._blocks(PEAK_FILE, f"fft_peaks_{kind}_table", (1, 1, 1), 4, *args, what="table of peaks", loops=loops)

    def signal_peaks(self, cut: Cut, values: DeviceArray, doubled: int) -> None:
        """The outputs peaks and peak_count of the amplitudes or densities of a signal; bins 1 … doubled - 1 count
        twice."""
        self.output("peaks", forms.peaks1d(self.task))
        self.output("peak_count", forms.peak_count(self.task))
        spacing = (np.float64(cut.rate / cut.length),)
        self.peaks("signal", values, cut.bins, (np.int64(cut.bins), np.int64(doubled)), LOBES[cut.window], spacing)

    def image_peaks(self, plane: Plane, values: DeviceArray) -> None:
        """The outputs peaks and peak_count of the magnitudes of an image."""
        self.output("peaks", forms.peaks2d(self.task))
        self.output("peak_count", forms.peak_count(self.task))
        where = (np.int64(plane.height), np.int64(plane.width), *plane.offsets)
        self.peaks("image", values, plane.height * plane.width, where, LOBES[self.task.params["window"]], ())
