"""Details of level 1 that are never kept, on a GPU: the first launch writes the approximation of level 1 alone, the
last one makes the details once more from the samples. Between them that approximation goes all other levels in tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, Job, cuda
from gpu_ops.filters.kit.support import MOST_BLOCKS, shared_fits
from gpu_ops.filters.wavelet import forms, tiles
from gpu_ops.filters.wavelet.bases import LENGTHS, taps_of
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, figures_form, sizes, work_type
from gpu_ops.filters.wavelet.launches import Lines, Shape, int64
from gpu_ops.filters.wavelet.noise import Details, Thresholds
from gpu_ops.filters.wavelet.tiles import Fused
from gpu_ops.filters.wavelet.transform import MOST_TAPS, Way
from gpu_ops.params import Param
from gpu_ops.plan import DeviceArray, Launch, Plan, Step
from gpu_ops.task import Meta, Task
from gpu_ops.types import Refusal, Variant

FILE, INNER = "wavelet/9_recomputed.cu", "wavelet/5_fused.cu"
BATCH_BYTES = 32
"""Bytes of a column of the rows of an image between two barriers."""
MOST = 1 << 30
"""Rows of an image, and values of a row: places along an axis are ints."""
EACH = 4
"""Coefficients a thread of a signal; the kernel says the same."""
BLOCK = Param("block", 256, choices=(64, 128, 256), unit="threads", help="threads a block", tries=(64, 256))
ROWS = Param(
    "rows", 128, choices=(32, 64, 128, 256), unit="rows", help="rows that a block marches down", tries=(32, 128)
)
IDEA = "Only the first approximation is written; the details of level 1 are made twice, which is cheaper than memory."
SEVERAL = "several kernels, each launched for another level: the loads of one block do not stand for the plan"

REFUSES = (
    Refusal("a threshold for each band", {"param rule": ("BayesShrink", "SURE")}),
    Refusal("keeps no coefficients", {"param result": ("parts",)}),
)


class Strips(NamedTuple):
    """Sizes of what a block of threads has, which the kernels compute as well."""

    taps: int
    periodic: bool
    threads: int
    image: bool

    @classmethod
    def of(cls, task: Task) -> Strips:
        params = task.params
        periodic = params["border"] == BORDERS[0]
        return cls(LENGTHS[params["wavelet"]], periodic, int(task.knobs["block"]), task.meta.of_kind.rank == 2)

    @property
    def reach(self) -> int:
        """Tap t of coefficient k meets sample 2k + t - reach."""
        return self.taps // 2 - 1 if self.periodic else self.taps - 2

    @property
    def there(self) -> int:
        """Coefficients of a strip on the way there."""
        return self.threads if self.image else EACH * self.threads

    @property
    def coefficients(self) -> int:
        """Coefficients of a strip on the way back."""
        return self.threads // 2 if self.image else EACH * self.threads

    @property
    def width(self) -> int:
        """Samples of a strip on the way back."""
        return (self.coefficients - self.taps // 2 + 1 - self.reach % 2) * 2 // 8 * 8

    @property
    def leads(self) -> tuple[int, int]:
        """Samples before the first one that a strip needs, there and back."""
        return -self.reach % 8, (2 - self.reach % 2 - self.taps) % 8

    @property
    def lengths(self) -> tuple[int, int]:
        """Samples of a row of a strip there and back."""
        pairs = zip((self.there, self.coefficients), self.leads, strict=True)
        there, back = (-(-(lead + 2 * each + self.taps - 2) // 8) * 8 for each, lead in pairs)
        return there, back

    def batch(self, itemsize: int) -> int:
        """Rows between two barriers."""
        return BATCH_BYTES // itemsize

    def shared(self, itemsize: int, noise: bool) -> tuple[int, int]:
        """Bytes of shared memory of a block there and back."""
        (there, back), rows = self.lengths, self.batch(itemsize)
        if not self.image:
            return there * itemsize, (back + 2 * self.coefficients) * itemsize
        halves = (2 if noise else 1) * self.there
        return rows * (there + halves) * itemsize, rows * (back + 2 * self.coefficients) * itemsize


class Finest(Thresholds):
    """The figures of a plan whose noise comes from an array of the finest details alone, with one threshold for all
    bands."""

    def __init__(self, job: Job, lines: Lines, finest: DeviceArray) -> None:
        self.job, self.lines, self.channels, self.rule = job, lines, lines.shape.channels, job.params["rule"]
        count = finest.size // self.channels
        self.details = [Details(finest, count, count, count, self.channels, 1)]
        self.figures = job.device.empty(figures_form(job.task).shape, np.float64)
        self.noise = self._row(0)


class Denoising:
    """The memory and the steps of one plan."""

    def __init__(self, job: Job) -> None:
        self.job, task = job, job.task
        self.kind, self.shape, self.strips = work_type(task), Shape.of(task.meta), Strips.of(task)
        self.image, self.alone = self.strips.image, int(job.params["levels"]) == 1
        self.noise = job.params["rule"] != "manual"
        self.shifts = int(job.params["shifts"])
        (self.half_rows, self.half) = sizes(task)[1] if self.image else (1, *sizes(task)[1])
        self.low = self._empty(not self.alone)
        self.finest = self._empty(self.noise)
        self.total = job.empty(self.kind) if self.shifts > 1 else job.device.empty((1,), self.kind)
        lines = Lines(job.device, self.kind, self.shape, job.knobs["block"])
        self.thresholds = Finest(job, lines, self.finest)
        self.constants = {"bank": self._bank()}

    def plan(self) -> Plan:
        """For each shift the approximation of level 1, its way through all other levels, and the samples."""
        steps: list[Step] = [] if self.noise else self.thresholds.find(wanted=False)
        inner = self._inner()
        for shift in range(self.shifts):
            steps += [] if self.alone and not self.noise else [self._there(shift)]
            steps += self.thresholds.find(wanted=False) if self.noise else []
            steps += [*inner.forward(self.low), *inner.inverse(self.low)] if inner else []
            steps.append(self._back(shift))
        return self.job.plan(*steps)

    def _empty(self, wanted: bool) -> DeviceArray:
        """Memory for a band of level 1, or for nothing."""
        shape = (self.half_rows, self.half * self.shape.channels) if wanted else (1, self.shape.channels)
        return self.job.device.empty(shape, self.kind)

    def _inner(self) -> Fused | None:
        """The transform of the approximation of level 1, whose result takes its place."""
        if self.alone:
            return None
        task = inner_of(self.job.task)
        job = Job(self.job.device, task.on(self.low.reshape(task.meta.shape)), INNER)
        lines = Lines(job.device, self.kind, Shape.of(task.meta), job.knobs["block"])
        pyramid = job.device.empty(forms.pyramid_shape(task), self.kind)
        return Fused(job, lines, pyramid, Way(in_tiles=True, fused=True), self.thresholds.figures)

    def _there(self, shift: int) -> Launch:
        rows = int(self.job.knobs["rows"]) // 2 if self.image else 1
        height = max(rows, -(-self.half_rows // MOST_BLOCKS))
        args = (self.job.x, self.low, self.finest, *self._extents(height), *self._moved(shift))
        return self._launch("low_", self.half, self.strips.there, self.half_rows, height, args, 0, "level 1")

    def _back(self, shift: int) -> Launch:
        rows = int(self.job.knobs["rows"]) if self.image else 1
        height = max(rows, -(-self.shape.rows // MOST_BLOCKS))
        ends = np.int32(shift == 0), np.int32(shift == self.shifts - 1)
        thresholds = self.thresholds.figures.reshape(-1)[-self.shape.channels :]
        arrays = (self.job.x, self.low, self.total, self.job.out, thresholds)
        how = np.int32(THRESHOLDS.index(self.job.params["threshold"]))
        args = (*arrays, *self._extents(height), *self._moved(shift), *ends, np.float64(self.shifts), how)
        name = "level 1 back" if self.shifts == 1 else f"level 1 back, shift by {shift}"
        return self._launch("", self.shape.columns, self.strips.width, self.shape.rows, height, args, 1, name)

    def _extents(self, height: int) -> tuple[Any, ...]:
        rows, columns, channels, _ = self.shape
        if not self.image:
            return (*int64(columns, self.half), np.int32(channels))
        return tuple(map(np.int32, (rows, columns, self.half_rows, self.half, channels, height)))

    def _moved(self, shift: int) -> tuple[Any, ...]:
        rows, columns = self.shape.rows, self.shape.columns
        return (np.int32(shift % rows), np.int32(shift % columns)) if self.image else int64(shift % columns)

    def _launch(
        self, part: str, width: int, strip: int, rows: int, height: int, args: tuple[Any, ...], way: int, name: str
    ) -> Launch:
        """A block for each strip of `width` and segment of `rows`; `way` is 0 there and 1 back."""
        grid = (-(-width // strip) * self.shape.channels, -(-rows // height), 1)
        shared = self.strips.shared(self.kind.itemsize, self.noise)[way]
        kernel = self._kernel(f"_{part}{'image' if self.image else 'signal'}")
        more: dict[str, Any] = {"shared_bytes": shared, "constants": self.constants, "name": name}
        return Launch(kernel, grid, (self.strips.threads, 1, 1), args, **more)

    def _kernel(self, part: str) -> Any:
        return self.job.kernel(
            part,
            SAMPLE=CTYPES[self.job.dtype.name],
            REAL=CTYPES[self.kind.name],
            INTEGER=int(self.job.dtype.kind == "u"),
            BORDER=BORDERS.index(self.job.params["border"]),
            TAPS=self.strips.taps,
            THREADS=self.strips.threads,
            BATCH=self.strips.batch(self.kind.itemsize),
            IMAGE=int(self.image),
            SHIFTED=int(self.shifts > 1),
            ALONE=int(self.alone),
            NOISE=int(self.noise),
        )

    def _bank(self) -> Any:
        """Low and high there, reversed, then low and high back."""
        filters = taps_of(self.job.params["wavelet"])
        bank = np.zeros((4, MOST_TAPS), self.kind)
        bank[:, : self.strips.taps] = (filters.dec_lo[::-1], filters.dec_hi[::-1], filters.rec_lo, filters.rec_hi)
        return bank


def inner_of(task: Task) -> Task:
    """What becomes of the approximation of level 1: a task of one level less on an input of its size."""
    meta, rank = task.meta, task.meta.of_kind.rank
    shape = (*sizes(task)[1], *meta.shape[rank:])
    params = {**task.params, "levels": task.params["levels"] - 1}
    return Task.of(Meta(meta.kind, shape, work_type(task).name), params, task.knobs, task.limits)


def shared_bytes(task: Task) -> int:
    """Bytes of shared memory of the largest kernel."""
    own = max(Strips.of(task).shared(work_type(task).itemsize, task.params["rule"] != "manual"))
    return own if task.params["levels"] == 1 else max(own, tiles.shared_bytes(inner_of(task)))


def too_large(meta: Meta) -> bool:
    """Whether places along an axis of an image are no ints."""
    return meta.of_kind.rank == 2 and max(meta.shape[0], meta.shape[1] * meta.channels) > MOST


def supports(task: Task) -> str | None:
    """None, or all reasons why the details cannot be made twice."""
    params, fits = task.params, shared_fits(shared_bytes)(task)
    reasons = {
        "BayesShrink and SURE find a threshold for each band, from details that it never keeps; take manual or "
        "universal": params["rule"] not in ("manual", "universal"),
        "it keeps no coefficients to show": params["result"] != "result",
        f"{fits}": fits is not None,
        f"its images have at most {MOST} rows and values of a row": too_large(task.meta),
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds) or None


def planned(job: Job) -> Plan:
    """The plan of a task."""
    return Denoising(job).plan()


def variant(largest: Callable[[Task], float], operations: Callable[[Task], int]) -> Variant:
    """The variant of signals and of images; `largest` and `operations` are those of the other variants."""
    own = cuda(
        FILE,
        "details recomputed",
        IDEA,
        planned,
        knobs=(BLOCK, ROWS),
        supports=supports,
        refuses=REFUSES,
        largest=largest,
        operations=operations,
        uncounted=SEVERAL,
        source="S0",
    )
    around = ("wavelet/median.cu", "wavelet/thresholds.cu")
    return replace(own, kernels=(FILE, INNER, tiles.THERE, *around))
