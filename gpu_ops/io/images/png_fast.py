"""Decodes large plain PNG images faster than libpng: libdeflate, from imagecodecs, inflates the whole picture at once,
and compiled loops undo the filters of its rows on two threads.

Only valid pictures are decoded here; errors are left to the usual decoder. Both libraries take time to load, so they
are used only after `prepare`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.codec import codec
from gpu_ops.io.inputs import Array

DATA = b"IDAT"
KINDS = (b"IHDR", DATA, b"IEND")
SAMPLES = {0: 1, 2: 3, 6: 4}
"""Samples per pixel by the header's colour type: gray, RGB, RGBA."""
METHODS = b"\0\0\0"
"""Deflate, the usual filters, not interlaced."""
WINDOW = b"\x78"
"""The first byte of a stream with a window of 32 KiB, as every encoder of large pictures writes it. libdeflate does not
check for smaller windows."""
MOST_INDEPENDENT = 1
"""Filters up to this one do not use the row above, so another thread may start there."""
WORKERS = min(os.cpu_count() or 1, 4)

_inflate: Callable[..., Any] | None = None


def prepare() -> None:
    """Load the libraries. Raises ImportError where imagecodecs is not installed."""
    global _inflate
    import cv2  # noqa: F401  # the usual decoder is loaded as well
    from imagecodecs import deflate_decode

    from gpu_ops.io.images.png_numba import unfilter

    unfilter(np.zeros((1, 2), np.uint8), np.zeros((1, 1), np.uint8), 0, 1, 1)
    _inflate = deflate_decode


def decode(header: bytes, picture: Sequence[memoryview], array: Array) -> bool:
    """Fill `array`, (H, W) or (H, W, C) of the header, from the chunks of a PNG whose checksums are correct. False
    where it is not plain or not valid; the array's content is then undefined."""
    depth, colour = header[8:10]
    plain = colour in SAMPLES and depth in (8, 16) and header[10:13] == METHODS
    if _inflate is None or not plain or any(bytes(chunk[4:8]) not in KINDS for chunk in picture):
        return False
    stream = b"".join([chunk[8:-4] for chunk in picture if bytes(chunk[4:8]) == DATA])
    rows = array.reshape(len(array), -1).view(np.uint8)
    lines = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    if not stream.startswith(WINDOW):
        return False
    try:
        with codec(InputError("the stream is damaged")):
            inflated = _inflate(stream, out=lines.reshape(-1))
    except InputError:
        return False
    if len(inflated) != lines.size or not _unfilter(lines, rows, SAMPLES[colour] * depth // 8):
        return False
    if depth == 16 and sys.byteorder == "little":
        array.byteswap(inplace=True)
    return True


def _unfilter(lines: Array, rows: Array, step: int) -> bool:
    """Undo the filters of all lines, in bands that begin at lines which do not depend on the line above. False for an
    unknown filter."""
    from gpu_ops.io.images.png_numba import unfilter

    independent = np.append(np.flatnonzero(lines[:, 0] <= MOST_INDEPENDENT), len(lines))
    wanted = [len(lines) * k // WORKERS for k in range(1, WORKERS)]
    bounds = sorted({0, *independent[np.searchsorted(independent, wanted)].tolist(), len(lines)})
    with ThreadPoolExecutor(WORKERS) as pool:
        return all(pool.map(lambda band: unfilter(lines, rows, *band, step), pairwise(bounds)))
