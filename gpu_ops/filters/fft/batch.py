"""The filters of batched transforms: a signal cut into lines, or an image into square tiles, each transformed.

This is how libraries of Fourier transforms are benchmarked: complex numbers or samples in, spectra out, and nothing
else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.forms import complex_type, frequencies, real_type
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import Output, Work

Array = np.ndarray[Any, Any]

COMPLEX, REAL = "complex", "real"
NUMBERS = Param(
    "numbers",
    REAL,
    choices=(REAL, COMPLEX),
    help="real samples, or neighbouring values as real and imaginary parts (I and Q)",
)
PARAMS1D = (
    NUMBERS,
    Param(
        "points",
        0,
        0,
        1 << 27,
        unit="points",
        help="points per transform; 0: the whole signal. A remainder at its end is not used",
        tries=(0, 3, 16, 60, 125),
    ),
)
PARAMS2D = (
    NUMBERS,
    Param(
        "tile",
        0,
        0,
        1 << 14,
        unit="points",
        help="side of the square tiles; 0: the whole image. A remainder at its edges is not used",
        tries=(0, 6, 16),
    ),
)


@dataclass(frozen=True)
class Batch:
    """How an input is cut: `down` tiles of `height` rows below each other, `across` tiles of `width` points side by
    side; a signal has tiles of one row, one below the other. `channels` are interleaved and transformed separately. A
    row of the input has `row` values."""

    complex: bool
    rank: int
    down: int
    height: int
    across: int
    width: int
    channels: int
    row: int

    @classmethod
    def of(cls, task: Task) -> Batch:
        """The cut of a task."""
        meta, both = task.meta, task.params["numbers"] == COMPLEX
        channels = 1 if both else meta.channels
        if meta.of_kind.rank == 1:
            points = meta.size // 2 if both else meta.shape[0]
            n = task.params["points"] or points
            count = points // n if n else 0
            return cls(both, 1, count, 1, 1, n, channels, n * (2 if both else channels))
        height, width = meta.shape[0], meta.shape[1] // 2 if both else meta.shape[1]
        tile = task.params["tile"]
        rows, columns = tile or height, tile or width
        across = width // columns if columns else 0
        return cls(both, 2, height // rows, rows, across, columns, channels, meta.shape[1] * meta.channels)

    @property
    def bins(self) -> int:
        """The number of results in a row of a tile: for real samples half a spectrum, from zero to half the rate."""
        return self.width if self.complex else self.width // 2 + 1

    @property
    def rows(self) -> int:
        """Rows of all tiles."""
        return self.down * self.height

    @property
    def points(self) -> int:
        """The number of complex numbers or samples that are transformed."""
        return self.rows * self.across * self.width * self.channels

    @property
    def whole_rows(self) -> bool:
        """Whether the tiles use every value of a row, so that they are contiguous in memory."""
        return self.row == self.across * self.width * self.channels * (2 if self.complex else 1)

    @property
    def operations(self) -> int:
        """Operations: 5 N log2 N for complex transforms, half of that for real ones."""
        stages = math.log2(max(self.width * self.height, 2))
        return round((5 if self.complex else 2.5) * self.points * stages)


def spectra(task: Task) -> Form:
    """(lines, bins) of a signal, the spectra of tiles at the tiles' positions of an image; real samples of several
    channels add an axis."""
    batch = Batch.of(task)
    more = () if batch.complex else task.meta.shape[task.meta.of_kind.rank :]
    axes = (Axis(CHANNEL),) * len(more)
    shape = (batch.rows, batch.across * batch.bins, *more)
    if batch.rank == 1:
        rate = task.meta.rate or 1.0
        unit = "Hz" if task.meta.rate else "cycles/sample"
        frequency = Axis("frequency", unit, 0.0, rate / batch.width, period=rate if batch.complex else 0.0)
        return Form(shape, complex_type(task).name, (Axis("line"), frequency, *axes))
    along = frequencies(batch.height, "fy", False), frequencies(batch.width, "fx", False)
    if batch.down * batch.across > 1:  # frequencies begin again in every tile
        along = Axis("bin y"), Axis("bin x")
    return Form(shape, complex_type(task).name, (*along, *axes))


def tolerance(task: Task) -> float:
    """The tolerance of one transform of a tile or line, relative to the largest magnitude of all results."""
    return limits.tolerance_of(task, transformed(task))


def transformed(task: Task) -> int:
    """The number of values that enter one coefficient."""
    batch = Batch.of(task)
    return batch.height * batch.width


def least(task: Task) -> float:
    """The smallest sums that a type represents without loss of precision."""
    return transformed(task) * float(np.finfo(real_type(task)).smallest_normal)


OUTPUTS = (Output("spectra", "spectrum", "", tolerance, least, spectra, own_scale=True),)


def check(task: Task) -> None:
    """Raises ParamError for an input whose values cannot be the requested numbers, or that is too small for one
    transform."""
    meta, params = task.meta, task.params
    most = 2 if meta.of_kind.rank == 1 else 1
    if params["numbers"] == COMPLEX and meta.channels > most:
        raise ParamError(
            f"{meta.channels:,} channels are no complex numbers: those are {'two channels or ' if most == 2 else ''}"
            "neighbouring values of one; choose numbers real."
        )
    batch = Batch.of(task)
    if batch.points == 0:
        name = "points" if batch.rank == 1 else "tile"
        size = meta.of_kind.size_text(meta.shape)
        raise ParamError(
            f"{size} values hold no transform of {max(batch.width, 1):,} {params['numbers']} points; choose less for "
            f"{name}, or 0 for all{', or numbers real' if batch.complex else ''}."
        )


def work(task: Task) -> Work:
    """Minimum work: each transformed value read once, each spectrum written once."""
    batch, form = Batch.of(task), spectra(task)
    read = batch.points * (2 if batch.complex else 1) * task.meta.itemsize
    return Work(read, math.prod(form.shape) * np.dtype(form.dtype).itemsize, batch.operations)


def largest(task: Task) -> float:
    """The largest magnitude of samples for which no sum overflows."""
    return limits.largest_of(task, transformed(task))


def gathered(batch: Batch, x: Array, kind: Any) -> Array:
    """The tiles of an input on the host (down, height, across, width[, C]) as numbers of a complex or real type."""
    if batch.rank == 1:
        x = x.reshape(-1)[: batch.rows * batch.row].reshape(batch.rows, batch.row)
    else:
        x = x.reshape(len(x), -1)[: batch.rows, : batch.across * batch.width * batch.channels * (1 + batch.complex)]
    if batch.complex:
        parts = x.reshape(len(x), -1, 2).astype(np.dtype(kind).type(0).real.dtype)
        x = (parts[..., 0] + 1j * parts[..., 1]).astype(kind)
    else:
        x = x.astype(kind)
    return x.reshape(batch.down, batch.height, batch.across, batch.width, batch.channels)


def reference(task: Task) -> dict[str, Array]:
    """SciPy's transforms in double precision."""
    from scipy import fft

    batch = Batch.of(task)
    x = gathered(batch, task.x, np.complex128 if batch.complex else np.float64)
    values = (fft.fft if batch.complex else fft.rfft)(x, axis=3)
    if batch.rank == 2:
        values = fft.fft(values, axis=1, overwrite_x=True)
    return {"spectra": np.asarray(values).reshape(spectra(task).shape)}
