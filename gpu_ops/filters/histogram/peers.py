"""Histograms by NumPy, OpenCV, CuPy, CUB and CV-CUDA, each by its fastest function that fulfils the contract.

The caller passes the modules; this file imports only NumPy. Integers are counted level by level where that is faster,
and their levels are merged into bins. CuPy's bincount computes the largest value on the device and waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.histogram.bins import Array, Bins, bins_of, colours_of, histograms_of
from gpu_ops.filters.histogram.plans import Outputs
from gpu_ops.filters.kit.library_calls import by_cub, on_images
from gpu_ops.filters.kit.rules import not_of, not_with
from gpu_ops.plan import Call, Device, DeviceArray, Fill, Plan
from gpu_ops.progress import advance
from gpu_ops.task import Task
from gpu_ops.types import Rule

OPENCV_SAMPLES, OPENCV_ROW = 1 << 24, 1 << 12
"""Samples per call: OpenCV returns counts in float32, which are exact up to this number. And samples per row."""
ADDED_ONE = 1e6
"""From 2^24 on, adding one does not change a float32."""
PIECE = 1 << 22
"""Samples that NumPy counts between two progress reports."""


def numpy_counts(numpy: Any, x: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """bincount of the levels of integers, histogram of floats, which sorts them if its uniform bins are inexact."""
    how: Any = (bins.count, bins.span) if x.dtype.kind == "f" and _numpy_agrees(x.dtype, bins) else (bins.edges,)
    pixels, rows, beside = x.reshape(-1, bins.step), counts.reshape(bins.histograms, -1), outside.reshape(3, -1)
    rows[...], beside[...] = 0, 0
    for first in range(0, len(pixels), PIECE):
        if first:
            advance(first, len(pixels))
        for c in range(bins.histograms):
            v = pixels[first : first + PIECE, c]
            if x.dtype.kind == "u":
                _join(numpy, numpy.bincount(v, minlength=numpy.iinfo(x.dtype).max + 1), rows[c], beside[:, c], bins)
                continue
            rows[c] += numpy.histogram(v, *how)[0].astype(numpy.uint32)
            beside[0, c] += numpy.count_nonzero(v < bins.edges[0])
            beside[1, c] += numpy.count_nonzero(v > bins.edges[-1])
            beside[2, c] += numpy.count_nonzero(numpy.isnan(v))


def _numpy_agrees(dtype: np.dtype[Any], bins: Bins) -> bool:
    """Whether NumPy's uniform bins equal these, and its search is exact: it divides by the width, and corrects by one
    bin."""
    with np.errstate(all="ignore"):
        if not np.isfinite(dtype.type(bins.span[1] - bins.span[0])):
            return False
        edges = np.linspace(*bins.span, bins.count + 1, dtype=dtype)
    return bool(np.array_equal(edges, bins.edges) and (np.diff(bins.edges) > 0).all())


def _join(numpy: Any, levels: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """Add the counts of levels to those of their bins."""
    below = numpy.concatenate((numpy.zeros(1, levels.dtype), numpy.cumsum(levels)))
    at = below[bins.bounds]
    counts += (at[1:] - at[:-1]).astype(counts.dtype)
    outside[0] += at[0]
    outside[1] += below[-1] - at[-1]


def opencv_counts(cv2: Any, x: Array, counts: Array, outside: Array, bins: Bins) -> None:
    """calcHist of each channel."""
    pixels, rows = x.reshape(-1, bins.step), counts.reshape(bins.histograms, -1)
    rows[...] = 0
    outside[...] = 0
    ends = [float(bins.edges[0]), float(bins.edges[-1])]
    for first in range(0, len(pixels), OPENCV_SAMPLES):
        if first:
            advance(first, len(pixels))
        for part in _in_rows(pixels[first : first + OPENCV_SAMPLES]):
            for c in range(bins.histograms):
                rows[c] += cv2.calcHist([part], [c], None, [bins.count], ends).reshape(-1).astype(np.uint32)


def _in_rows(pixels: Array) -> list[Array]:
    """Pixels in rows, which OpenCV divides among its threads: rows of one pixel take three times as long, and a single
    row uses one thread."""
    whole = len(pixels) // OPENCV_ROW * OPENCV_ROW
    parts = pixels[:whole].reshape(-1, OPENCV_ROW, pixels.shape[1]), pixels[None, whole:]
    return [part for part in parts if part.size]


# CuPy.


def cupy_histogram(device: Device, task: Task) -> Plan:
    """cupy.histogram of each channel, its counts converted, and samples outside counted by three more passes."""
    cupy, out, bins = device.library("cupy"), Outputs.on(device, task), bins_of(task)
    edges = bins.edges.astype(task.dtype) if task.dtype.kind == "f" else bins.edges
    if task.dtype.kind == "f" and task.params["range"] == "auto":
        edges[-1] = bins.bounds[-1]  # no sample is above, and the next number after a large edge would not be found
    ends = float(bins.edges[0]), float(bins.edges[-1])
    return _each_channel(task, out, bins, partial(_cupy_histogram, cupy, edges, ends))


def _cupy_histogram(
    cupy: Any, edges: Array, ends: tuple[float, float], v: DeviceArray, counts: DeviceArray, outside: DeviceArray
) -> None:
    found, _ = cupy.histogram(v, bins=edges)  # edges on the host: CuPy would wait for edges on the device
    cupy.copyto(counts, found, casting="unsafe")
    low, high = (v.dtype.type(edge) if v.dtype.kind == "f" else float(edge) for edge in ends)
    for place, odd in enumerate((v < low, v > high, cupy.isnan(v))):
        outside[place] = cupy.count_nonzero(odd)


def cupy_bincount(device: Device, task: Task) -> Plan:
    """cupy.bincount of the levels of each channel, and the levels merged into bins."""
    cupy, out, bins = device.library("cupy"), Outputs.on(device, task), bins_of(task)
    bounds = device.upload(bins.bounds)
    return _each_channel(task, out, bins, partial(_cupy_bincount, cupy, bounds))


def _cupy_bincount(cupy: Any, bounds: DeviceArray, v: DeviceArray, counts: DeviceArray, outside: DeviceArray) -> None:
    _merge_levels(cupy, bounds, cupy.bincount(v, minlength=np.iinfo(v.dtype).max + 1), counts, outside)


def _merge_levels(
    cupy: Any, bounds: DeviceArray, levels: DeviceArray, counts: DeviceArray, outside: DeviceArray
) -> None:
    below = cupy.concatenate((cupy.zeros(1, levels.dtype), cupy.cumsum(levels)))
    at = below[bounds]
    cupy.copyto(counts, at[1:] - at[:-1], casting="unsafe")
    outside[0] = at[0]
    outside[1] = below[-1] - at[-1]
    outside[2] = 0


def _each_channel(task: Task, out: Outputs, bins: Bins, count: Any) -> Plan:
    """A step per channel, whose samples are gathered first unless they are contiguous."""
    pixels = task.x.reshape(-1, bins.step)
    counts, outside = out.counts.reshape(bins.histograms, -1), out.outside.reshape(3, -1)
    names = [f"channel {c + 1}" if bins.histograms > 1 else "count" for c in range(bins.histograms)]
    calls = (Call(count, (pixels[:, c], counts[c], outside[:, c]), name=name) for c, name in enumerate(names))
    return out.plan(*calls)


# CUB and CV-CUDA count the levels of one channel.


def cub_histogram(device: Device, task: Task) -> Plan:
    """CUB's histogram of all levels."""
    compute, count = device.library("cuda.compute"), int(np.iinfo(task.dtype).max) + 1
    ends = {"h_num_output_levels": np.full(1, count + 1, np.int32)}
    ends |= {"h_lower_level": np.zeros(1, np.int32), "h_upper_level": np.full(1, count, np.int32)}

    def counting(x: DeviceArray, levels: DeviceArray) -> Call:
        arrays, fixed = {"d_samples": x.reshape(-1), "d_histogram": levels}, {**ends, "num_samples": task.meta.size}
        return by_cub(device, compute.make_histogram_even(**arrays, **fixed), "count", arrays, **fixed)

    return _by_levels(device, task, count, counting)


def cvcuda_histogram(device: Device, task: Task) -> Plan:
    """CV-CUDA's histogram of an image of bytes."""
    into = device.library("cvcuda").histogram_into
    count = on_images(device, lambda x, levels, stream: into(levels, x, stream=stream))
    return _by_levels(
        *(device, task, 256), lambda x, levels: Call(count, (x, levels.view(np.int32).reshape(1, -1)), name="count")
    )


def _by_levels(device: Device, task: Task, count: int, counting: Callable[[Any, Any], Call]) -> Plan:
    """Count the levels, and merge them into bins unless each level is a bin."""
    cupy, out, bins = device.library("cupy"), Outputs.on(device, task), bins_of(task)
    if np.array_equal(bins.bounds, np.arange(count + 1)):
        return out.plan(counting(task.x, out.counts), Fill(out.outside, 0, name="outside"))
    levels, bounds = device.empty((count,), np.uint32), device.upload(bins.bounds)
    merge = partial(_merge_levels, cupy, bounds)
    return out.plan(counting(task.x, levels), Call(merge, (levels, out.counts, out.outside), name="merge"))


FLOATS = ("float32", "float64")
EQUALISED = not_with("result", "equalised", words="it does not equalise; choose another result or variant")
COUNTS_ALONE = not_with(
    *("result", "statistics", "equalised"),
    words="it computes counts only; choose result counts, or another variant",
)
GREY = Rule(
    lambda task: histograms_of(task) < colours_of(task), "its luminance is rounded differently; choose colours each"
)
"""The variants for images, which may be counted by luminance."""
OPENCV_BINS = (
    not_of(*FLOATS, words="its last bin of floats excludes the upper edge"),
    Rule(
        lambda task: task.params["bins"] & (task.params["bins"] - 1),
        "its bins are exact only where their number is a power of two",
        {"param bins": (100,)},
    ),
    not_with("range", "given", words="it does not count samples outside a given range"),
)
CUPY_EDGES = (
    Rule(
        lambda task: task.dtype.kind == "u" and task.params["range"] == "given" and task.params["high"] % 1,
        "it adds one to the upper edge of integers, which is right only where high is a whole number",
    ),
    Rule(
        lambda task: (
            task.dtype.kind == "f" and task.params["range"] == "given" and abs(task.params["high"]) > ADDED_ONE
        ),
        f"it adds one to the upper edge of floats, which is right where high is at most {ADDED_ONE:g}",
    ),
)
WHOLE = not_of(*FLOATS, words="it counts integers only")
BYTES = not_of("uint16", *FLOATS, words="it counts bytes only")
