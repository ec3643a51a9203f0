"""Histograms of signals and images, with statistics from them and the equalised samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.filters.histogram import contention, gpu, peers, plans, trials
from gpu_ops.filters.histogram.bins import check, counts_form, outside_form, statistics_form
from gpu_ops.filters.histogram.claims import CLAIMS
from gpu_ops.filters.histogram.merging import extremes, merge, whole
from gpu_ops.filters.histogram.reference import reference
from gpu_ops.filters.kit.planning import BLOCK, cuda
from gpu_ops.filters.kit.support import SHARED as SHARED_MEMORY
from gpu_ops.filters.kit.support import shared_fits
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.params import Param, holds
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Filter, Locality, Output, Refusal, Variant, Work

FARTHEST = 3.4e38
"""The farthest edge of a given range, about the largest float32."""
GIVEN = {"range": ("given",)}
FLOATS = ("float32", "float64")
RESULTS = ("counts", "statistics", "equalised")

RESULT = Param("result", "counts", choices=RESULTS, help="what is made; each implies those before it")
BINS = Param("bins", 256, 16, 4096, help="how many bins", tries=(16, 100, 256, 4096))
RANGE = Param(
    "range", "auto", choices=("auto", "given"), help="all of an integer type, the extremes of floats; or low to high"
)
LOW = Param("low", 0.0, -FARTHEST, FARTHEST, help="the lowest edge", when=GIVEN, tries=(0.0, -0.5, 0.25))
HIGH = Param(
    "high", 255.0, -FARTHEST, FARTHEST, help="the highest edge, included", when=GIVEN, tries=(0.75, 100.5, 255.0)
)
COLOURS = Param(
    "colours",
    "each",
    choices=("each", "luminance"),
    help="each colour has a histogram, or their luminance by Rec. 601 has; alpha is left out",
    channels=(3, 4),
)
PIXELS = Param("pixels", 16, choices=(4, 16), help="pixels or samples a thread")
WARPS = Param("block", 128, 32, 256, 32, unit="threads", help="threads a block")
MANY = replace(PIXELS, default=240, choices=(16, 240, 1020))
LANES = Param("block", 1024, 64, 1024, 64, unit="threads", help="threads a block", tries=(64, 1024))
COPIES = Param("copies", 32, choices=(1, 8, 32), help="copies of a block's counts, fewer where they do not fit")
STAYING = Param("blocks", 1, 1, 16, unit="blocks", help="blocks a multiprocessor, which share all samples")
LOADS = Param("loads", 2, choices=(1, 2, 4), help="reads of 16 bytes that a thread has under way")

SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "Each core counts a part in histograms of its own, four in turn; they are added at the end."
NUMPY = "What most Python programs call: bincount of integers' levels, histogram of floats."
OPENCV = "A library's calcHist on one core, which looks each level up in a table of bins."
GLOBAL = "One thread a pixel adds one to a count in global memory; those of one bin wait for one another."
SHARED = "A block counts in shared memory, and adds its counts to the global ones once."
PRIVATE = (
    "A thread counts 64 bins in bytes of its own, without atomics, and adds them to the block's before they are full."
)
TAGGED = (
    "A warp shares its counts without atomics: a lane writes with its number and reads back whether it was the last."
)
WARP = "A warp has counts of its own in shared memory and adds to them atomically: only its lanes wait for each other."
LANES_IDEA = "One launch; up to 32 interleaved copies of the counts: equal samples of a warp add in banks of their own."
BYTES = "One launch; a thread has 256 counts of one byte, which it reads and writes without atomics."
CUPY_HISTOGRAM = "The library's histogram over edges, nothing to write yourself; counts outside are three more passes."
CUPY_BINCOUNT = "The library counts levels, which are joined to bins; it waits for the largest level first."

_BYTES = Refusal("levels of uint8", {"dtype": ("uint16", *FLOATS)})
UNCOUNTED = "a sample's bin takes two bounds or a search among them, and results beside the counts are further kernels"


def work(task: Task) -> Work:
    """Every value read once, every output written once; a subtraction and a product find a bin, and one is added."""
    forms = [output.form(task) for output in _outputs(task.meta.kind) if holds(output.when, task.params)]
    written = sum(int(np.prod(form.shape, dtype=np.int64)) * np.dtype(form.dtype).itemsize for form in forms)
    return Work(task.meta.nbytes, written, 3 * task.meta.size)


def _hosts(grey: tuple[Refusal, ...]) -> tuple[Variant, ...]:
    """The CPU's variants; `grey` is what libraries refuse where an image has a luminance."""
    own: dict[str, Any] = {"device": "cpu", "source": "S3"}
    equalised = Refusal("an equalised result", {"param result": ("equalised",)})
    power = Refusal("power of two", {"param bins": (100,)})
    last, given = Refusal("upper edge", {"dtype": FLOATS}), Refusal("given range", {"param range": ("given",)})
    numpy: dict[str, Any] = {"supports": peers.counts_only, "refuses": (equalised, *grey)}
    opencv: dict[str, Any] = {"supports": peers.opencv_unsupported, "refuses": (equalised, *grey, last, given, power)}
    counting, calc_hist = plans.library("numpy", peers.numpy_counts), plans.library("cv2", peers.opencv_counts)
    return (
        Variant("serial", "CPU, one core", SERIAL, plans.host(plans.serial), **own),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.host(plans.parallel), **own),
        Variant("numpy", "NumPy", NUMPY, counting, "cpu", library="numpy", **numpy),
        Variant("opencv", "OpenCV", OPENCV, calc_hist, "cpu", library="cv2", **opencv),
    )


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    s3: dict[str, Any] = {"uncounted": UNCOUNTED, "source": "S3"}
    once: dict[str, Any] = {"uncounted": UNCOUNTED, "source": "own"}
    collides: dict[str, Any] = {"predicts": contention.collisions, **s3}
    shared: dict[str, Any] = {"knobs": (BLOCK, PIXELS), **_fits(gpu.shared_bytes), **collides}
    private: dict[str, Any] = {"knobs": (WARPS, MANY), "supports": _fits(gpu.bytes_of_threads)["supports"], **s3}
    tagged: dict[str, Any] = {"knobs": (WARPS, PIXELS), **_fits(gpu.warps_bytes), **s3}
    warp: dict[str, Any] = {"knobs": (WARPS, PIXELS), **_fits(gpu.warps_bytes), **collides}
    lanes: dict[str, Any] = {"knobs": (LANES, COPIES, STAYING, LOADS), **_fits(gpu.lanes_bytes), **once}
    small: dict[str, Any] = {"knobs": (replace(STAYING, default=8), LOADS), **once}
    many = tuple(shape for shape in INPUT_KINDS[kind].shapes if len(shape) > INPUT_KINDS[kind].rank)
    private["trials"], lanes["trials"], small["trials"] = (
        of(kind) for of in (trials.of_private, trials.of_lanes, trials.of_bytes)
    )
    small |= {"supports": _one_byte, "refuses": (_BYTES, Refusal("one channel", {"shape": many}))}
    return (
        cuda("histogram/1_global.cu", "global atomics", GLOBAL, gpu.atomics, **collides),
        cuda("histogram/2_shared.cu", "shared atomics", SHARED, gpu.own_counts, **shared),
        cuda("histogram/3_private.cu", "thread-private bytes", PRIVATE, gpu.thread_counts, **private),
        cuda(
            "histogram/4_tagged.cu", "warp tags", TAGGED, gpu.warp_counts, predicts=contention.tagged_stores, **tagged
        ),
        cuda("histogram/5_warp.cu", "warp atomics", WARP, gpu.warp_counts, **warp),
        cuda("histogram/6_lanes.cu", "copies by lane", LANES_IDEA, gpu.in_lanes, **lanes),
        cuda("histogram/7_bytes.cu", "bytes in one launch", BYTES, gpu.in_bytes, **small),
    )


def _fits(needed: Callable[[Task], int]) -> dict[str, Any]:
    return {"supports": shared_fits(needed, "counts take"), "refuses": (SHARED_MEMORY,)}


def _one_byte(task: Task) -> str | None:
    """Whether the input is one histogram of bytes that lie side by side."""
    if task.dtype != "uint8":
        return f"its counts are those of the 256 levels of uint8, not of {task.meta.dtype}"
    channels = task.meta.channels
    return None if channels == 1 else f"it counts one channel, not {channels}"


def _libraries(grey: tuple[Refusal, ...]) -> tuple[Variant, ...]:
    own: dict[str, Any] = {"device": "cuda", "library": "cupy"}
    counts = Refusal("it counts only", {"param result": ("statistics", "equalised")})
    edge, whole = Refusal("a whole number"), Refusal("whole numbers", {"dtype": FLOATS})
    histogram: dict[str, Any] = {"supports": peers.cupy_unsupported, "refuses": (counts, *grey, edge)}
    bincount: dict[str, Any] = {"supports": peers.bincount_unsupported, "refuses": (whole, counts, *grey)}
    return (
        Variant("cupy_histogram", "cupy.histogram", CUPY_HISTOGRAM, peers.cupy_histogram, **histogram, **own),
        Variant("cupy_bincount", "cupy.bincount", CUPY_BINCOUNT, peers.cupy_bincount, **bincount, **own),
    )


def _variants(kind: Kind) -> tuple[Variant, ...]:
    grey = (Refusal("luminance"),) if kind == "image" else ()
    return (*_hosts(grey), *_kernels(kind), *_libraries(grey))


def _tolerance(task: Task) -> float:
    """Equalised integers are exact; floats are rounded four times."""
    return 0.0 if task.dtype.kind == "u" else 4 * float(np.finfo(task.dtype).eps)


def _outputs(kind: Kind) -> tuple[Output, ...]:
    statistics = {"result": ("statistics", "equalised")}
    return (
        Output("counts", "bars", "samples", lambda task: 0.0, form=counts_form),
        Output("outside", "table", "samples", lambda task: 0.0, form=outside_form),
        Output("statistics", "table", "", lambda task: 1e-12, form=statistics_form, own_scale=True, when=statistics),
        Output("equalised", "image" if kind == "image" else "signal", "", _tolerance, when={"result": ("equalised",)}),
    )


SUMMARY = (
    "How many samples lie in each of the bins of a range, with the last edge in the last bin. Statistics take a sample"
    " as the middle of its bin; equalised samples lie as high in the range as many samples are not above them."
)
MERGEABLE = Locality("mergeable", merge=merge, extremes=extremes, whole=whole)
PICKED = ("serial", "parallel", "global", "shared", "tagged", "lanes")

HISTOGRAM1D = Filter(
    id="histogram1d",
    family="histogram",
    title="Histogram (signal)",
    summary=SUMMARY,
    accepts="signal",
    dtypes=DTYPES,
    params=(RESULT, BINS, RANGE, LOW, HIGH),
    outputs=_outputs("signal"),
    reference=reference,
    work=work,
    locality=MERGEABLE,
    check=check,
    source="S3",
    picked=PICKED,
    contended=True,
    variants=_variants("signal"),
)

HISTOGRAM2D = Filter(
    id="histogram2d",
    family="histogram",
    title="Histogram (image)",
    summary=SUMMARY,
    accepts="image",
    dtypes=DTYPES,
    params=(RESULT, BINS, RANGE, LOW, HIGH, COLOURS),
    outputs=_outputs("image"),
    reference=reference,
    work=work,
    locality=MERGEABLE,
    check=check,
    source="S3",
    picked=PICKED,
    contended=True,
    variants=_variants("image"),
    claims=CLAIMS,
)
