"""The plans of batched transforms by launches over lines: rows and columns, or whole tiles."""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.fft.batch import Batch, spectra
from gpu_ops.filters.fft.cuda.passes import (
    HALF,
    LINES,
    PAIRS,
    POINTS,
    SECTOR,
    SINGLES,
    UNPACKED,
    WHOLE,
    Fit,
    Lines,
    Passes,
    Scheme,
    Where,
    circle,
    parts_of,
    room_of,
)
from gpu_ops.filters.fft.cuda.radices import Stages, stages_of
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.plan import Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task

CACHE_LINE = 128
"""Bytes of a line of the cache."""
LARGE, FEW = 128, 3
"""Tiles of at least this side take longer in one launch than in two, unless a third of the multiprocessors has one."""


def wide(batch: Batch, scheme: Scheme, task: Task) -> bool:
    """Whether the threads of rows have two neighbouring complex numbers each in the first and in the last stage."""
    fit = Fit(task.knobs, task.limits.shared_bytes, 4)
    stages = stages_of(batch.width, fit.radix)
    in_order = batch.complex and task.meta.dtype == "float32" and batch.row % 4 == 0 and batch.width % 2 == 0
    if not in_order or stages is None or in_a_block(batch, scheme, task):
        return False
    if parts_of(batch.width, fit, scheme, task.knobs) is not None:
        return False
    ends = {stages.radices[0], stages.radices[-1]}
    return all(batch.width % (2 * radix * stages.threads) == 0 for radix in ends)


def in_a_block(batch: Batch, scheme: Scheme, task: Task) -> Stages | None:
    """The stages of square tiles of complex numbers that fit into a block; None if a tile does not fit, or if so few
    large ones leave most multiprocessors idle: then many blocks with lines of all tiles are faster."""
    fit, n = Fit(task.knobs, task.limits.shared_bytes, complex_type(task).itemsize // 2), batch.width
    if not scheme.tiles or task.knobs.get("launches", 2) == 2 or not batch.complex or n != batch.height or n == 1:
        return None
    if n >= LARGE and FEW * batch.down * batch.across < task.limits.multiprocessors:
        return None
    stages = stages_of(n, fit.radix)
    return stages if stages is not None and fit.room(n, stages, n) == n else None


def tiles(passes: Passes, batch: Batch, stages: Stages, y: DeviceArray) -> None:
    """Rows and columns of each tile by one block."""
    n = batch.width
    defines = passes.defines(n, stages, n, (batch.row, 0), PAIRS)
    defines |= {"LANES_IN": POINTS, "LANES_OUT": POINTS, "ENDS": WHOLE, "TWIDDLED": 0, "WIDTH": 64, "TILED": 1}
    kernel = passes.device.kernel(passes.scheme.file, passes.scheme.kernel.replace("_lines", "_tiles"), defines)
    sizes = (np.int64(size) for size in (batch.row, 2 * n, 2, batch.across * n))
    args = (passes.task.x, y, passes.table(circle, n), np.uint32(batch.across), *sizes)
    shared = room_of(n, stages.radices, n)[1] * passes.fit.parts * passes.fit.itemsize
    grid, block = (batch.down * batch.across, 1, 1), (stages.threads * n, 1, 1)
    passes.steps.append(Launch(kernel, grid, block, args, shared, name="tiles"))


def plan(scheme: Scheme, device: Device, task: Task) -> Plan:
    """Rows, and for images columns; samples are read without conversion."""
    batch, form, passes = Batch.of(task), spectra(task), Passes(device, task, scheme)
    out = device.empty(form.shape, form.dtype)
    y = out.reshape(-1)
    if batch.rank == 1:
        rows(passes, batch, y, batch.bins)
    elif stages := in_a_block(batch, scheme, task):
        tiles(passes, batch, stages, y)
    elif scheme.transpose:
        _turned_over(passes, batch, y)
    else:
        # Rows are aligned to cache lines, for columns that are read in such lines; to sectors where columns take two
        # launches: 576 against 585 microseconds for 8192 x 8192 samples on an H100.
        lined = batch.across == batch.channels == 1 and not _is_halved(passes, batch)
        in_parts = parts_of(batch.height, passes.fit, scheme, task.knobs, SECTOR) is not None
        aligned = (SECTOR if in_parts else CACHE_LINE) // passes.kind.itemsize
        apart = -(-batch.bins // aligned) * aligned if lined else batch.bins
        between = passes.empty(batch.rows * batch.across * apart * batch.channels)
        rows(passes, batch, between, apart)
        columns(passes, batch, between, apart, y)
    return Plan(tuple(passes.steps), {"spectra": out})


def read(batch: Batch, pack: bool) -> tuple[int, str, str, Where]:
    """Points of a row, what is read and stored of it, and where its tiles are; `pack` reads real samples in pairs."""
    c = batch.channels
    if batch.complex:
        return batch.width, PAIRS, WHOLE, Where(batch.row, 2 * batch.width, 2)
    where = Where(batch.row, batch.width * c, c)
    if pack and c == 1 and batch.width % 2 == 0:
        return batch.width // 2, PAIRS, UNPACKED, Where(where.outer, where.middle, 2)
    return batch.width, SINGLES, HALF, where


def _is_halved(passes: Passes, batch: Batch) -> bool:
    """Whether rows take two launches and a third one that keeps half of each, one after the other."""
    n, _, ends, _ = read(batch, passes.scheme.pack)
    split = batch.across == 1 and parts_of(n, passes.fit, passes.scheme, passes.task.knobs) is not None
    return ends == HALF and split


def rows(passes: Passes, batch: Batch, y: DeviceArray, apart: int) -> None:
    """The rows of all tiles; those of a tile are `apart` numbers apart in y, times channels and tiles across."""
    n, numbers, ends, source = read(batch, passes.scheme.pack)
    c = batch.channels
    lines = Lines(n, batch.rows * batch.across * c, c, batch.across)
    target = Where(apart * batch.across * c, apart * c, c)
    if batch.across > 1 or parts_of(n, passes.fit, passes.scheme, passes.task.knobs) is None:
        passes.launch(passes.task.x, y, lines, source, target, "rows", numbers, ends)
    elif ends == WHOLE:
        passes.along(passes.task.x, y, lines, source, target, "rows", numbers=numbers)
    else:
        between = passes.empty(lines.total * n)
        whole = Where(n * c, 0, c)
        passes.along(passes.task.x, between, lines, source, whole, "rows", numbers=numbers)
        passes.cut(between, y, lines, apart, ends)


def columns(passes: Passes, batch: Batch, x: DeviceArray, apart: int, y: DeviceArray) -> None:
    """The columns of all tiles, from rows of x with a stride of `apart` numbers."""
    inner, wide = batch.across * batch.bins * batch.channels, batch.across * apart * batch.channels
    lines = Lines(batch.height, batch.down * inner, inner)
    source, target = Where(batch.height * wide, 0, wide), Where(batch.height * inner, 0, inner)
    passes.along(x, y, lines, source, target, "columns", lanes=(LINES, LINES))


def _turned_over(passes: Passes, batch: Batch, y: DeviceArray) -> None:
    """Rows stored as columns, twice: between, a tile's columns follow one another."""
    n, numbers, ends, source = read(batch, passes.scheme.pack)
    h, bins, across, c = batch.height, batch.bins, batch.across, batch.channels
    between = passes.empty(batch.rows * across * bins * c)
    # Neighbouring lines are the rows of a tile; the tiles of a row come after all its rows.
    turned = (POINTS, LINES)
    for tile in range(across):
        for channel in range(c):
            x = passes.task.x.reshape(-1)[tile * source.middle + channel :]
            start = (tile * c + channel) * bins * h
            lines = Lines(n, batch.rows, 1, h)
            apart = Where(h * source.outer, source.outer, source.step)
            to = Where(h * across * bins * c, 1, h)
            passes.launch(x, between[start:], lines, apart, to, "rows", numbers, ends, turned)
    for tile in range(across):
        for channel in range(c):
            start = (tile * c + channel) * bins * h
            lines = Lines(h, batch.down * bins, 1, bins)
            apart = Where(h * across * bins * c, h, 1)
            to = Where(h * across * bins * c, c, across * bins * c)
            target = y[tile * bins * c + channel :]
            passes.launch(between[start:], target, lines, apart, to, "columns", lanes=turned)
