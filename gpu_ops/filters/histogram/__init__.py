"""Histograms of signals and images, with statistics from them and the equalised samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gpu_ops.filters.histogram import contention, gpu, peers, plans, trials
from gpu_ops.filters.histogram.bins import check, counts_form, outside_form, statistics_form
from gpu_ops.filters.histogram.claims import CLAIMS
from gpu_ops.filters.histogram.merging import extremes, merge, whole
from gpu_ops.filters.histogram.reference import reference
from gpu_ops.filters.kit.planning import BLOCK, SERIAL_LOOP, PlanContext, cuda
from gpu_ops.filters.kit.rules import OPENCV_CHANNELS, one_channel, shared_fits
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.params import Param, holds
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Claim, Counts, Filter, Locality, Output, Rule, Variant, Work
from gpu_ops.variant import Trials, no_trials

FARTHEST = 3.4e38
"""The largest bound of a given range, close to the largest float32."""
GIVEN = {"range": ("given",)}
RESULTS = ("counts", "statistics", "equalised")

RESULT = Param("result", "counts", choices=RESULTS, help="what is computed; each choice includes those before it")
BINS = Param("bins", 256, 16, 4096, help="number of bins", tries=(16, 100, 256, 4096))
RANGE = Param(
    "range",
    "auto",
    choices=("auto", "given"),
    help="auto: all of an integer type, minimum to maximum of floats; given: low to high",
)
LOW = Param("low", 0.0, -FARTHEST, FARTHEST, help="lower edge of the first bin", when=GIVEN, tries=(0.0, -0.5, 0.25))
HIGH = Param(
    "high",
    255.0,
    -FARTHEST,
    FARTHEST,
    help="upper edge of the last bin, included",
    when=GIVEN,
    tries=(0.75, 100.5, 255.0),
)
COLOURS = Param(
    "colours",
    "each",
    choices=("each", "luminance"),
    help="a histogram per colour, or of their luminance (Rec. 601); alpha is ignored",
    channels=(3, 4),
)
PIXELS = Param("pixels", 16, choices=(4, 16), help="pixels or samples per thread")
WARPS = Param("block", 128, 32, 256, 32, unit="threads", help="threads per block")
MANY = replace(PIXELS, default=240, choices=(16, 240, 1020))
LANES = Param("block", 1024, 64, 1024, 64, unit="threads", help="threads per block", tries=(64, 1024))
COPIES = Param("copies", 32, choices=(1, 8, 32), help="copies of the histogram per block; fewer where they do not fit")
STAYING = Param("blocks", 1, 1, 16, unit="blocks", help="persistent blocks per multiprocessor")
FEW = replace(STAYING, default=8)
LOADS = Param("loads", 2, choices=(1, 2, 4), help="16-byte loads in flight per thread")

PARALLEL = "Each core counts a part into four private histograms in turn; they are summed at the end."
NUMPY = "What most Python programs call: bincount for integers, histogram for floats."
OPENCV = "The library's calcHist on one core, with a lookup table from levels to bins."
GLOBAL = "One thread per pixel and atomics in global memory: additions to the same bin are serialised."
SHARED = "Privatisation: a histogram per block in shared memory, added to the global one at the end."
PRIVATE = (
    "Each thread has private one-byte counts of 64 bins, without atomics, and adds them to the block's before "
    "they overflow."
)
TAGGED = (
    "A histogram per warp without atomics: a lane stores its count with a tag, reads it back, and retries if "
    "another tag is there."
)
WARP = "A histogram per warp in shared memory, with atomics: only the lanes of one warp contend."
LANES_IDEA = "One launch; up to 32 interleaved copies per block, so that equal samples of a warp use different banks."
BYTES = "One launch; each thread has 256 private one-byte counts in shared memory, without atomics."
CUPY_HISTOGRAM = (
    "The library's histogram over bin edges, no kernel to write; counts outside the range take three more passes."
)
CUPY_BINCOUNT = (
    "The library counts levels, which are merged into bins; it synchronises to find the largest level first."
)

CUB = "cuda.compute calls CUB's histogram of levels, compiled in advance; levels are merged into bins."
CV_CUDA = "NVIDIA's library for pictures counts levels, which are merged into bins."

UNCOUNTED = "finding a bin loads two bounds or searches them, and results other than counts take further kernels"


def work(task: Task) -> Work:
    """Every value read once, every output written once; a subtraction and a product find a bin, and one is added."""
    forms = [output.form(task) for output in _outputs(task.meta.kind) if holds(output.when, task.params)]
    written = sum(int(np.prod(form.shape, dtype=np.int64)) * np.dtype(form.dtype).itemsize for form in forms)
    return Work(task.meta.nbytes, written, 3 * task.meta.size)


def _kernel(
    file: str,
    title: str,
    idea: str,
    plan: Callable[[PlanContext], Plan],
    knobs: tuple[Param, ...],
    *rules: Rule,
    predicts: Callable[[Task], Mapping[str, int]] | None = None,
    trials: Trials = no_trials,
    source: str = "S3",
) -> Variant:
    counts, how = Counts(uncounted=UNCOUNTED, predicts=predicts), (f"histogram/{file}.cu", title, idea, plan)
    return cuda(*how, *rules, knobs=knobs, source=source, trials=trials, counts=counts)


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    of_block, of_threads, of_warps, of_lanes = (
        shared_fits(needed, "counts take")
        for needed in (gpu.shared_bytes, gpu.bytes_of_threads, gpu.warps_bytes, gpu.lanes_bytes)
    )
    collide, alone = contention.collisions, one_channel(kind, "it counts one channel, not {meta.channels}")
    return (
        _kernel("1_global", "global atomics", GLOBAL, gpu.atomics, (BLOCK,), predicts=collide),
        _kernel("2_shared", "shared atomics", SHARED, gpu.own_counts, (BLOCK, PIXELS), of_block, predicts=collide),
        _kernel(
            *("3_private", "thread-private counts", PRIVATE, gpu.thread_counts, (WARPS, MANY), of_threads),
            trials=trials.of_private(kind),
        ),
        _kernel(
            *("4_tagged", "tagged counts per warp", TAGGED, gpu.warp_counts, (WARPS, PIXELS), of_warps),
            predicts=contention.tagged_stores,
        ),
        _kernel("5_warp", "atomics per warp", WARP, gpu.warp_counts, (WARPS, PIXELS), of_warps, predicts=collide),
        _kernel(
            *("6_lanes", "interleaved copies", LANES_IDEA, gpu.in_lanes, (LANES, COPIES, STAYING, LOADS), of_lanes),
            trials=trials.of_lanes(kind),
            source="own",
        ),
        _kernel(
            *("7_bytes", "one-byte counts, one launch", BYTES, gpu.in_bytes, (FEW, LOADS), gpu.BYTES, alone),
            trials=trials.of_bytes(kind),
            source="own",
        ),
    )


def _by_cvcuda(*rules: Rule) -> Variant:
    how = "cvcuda", "CV-CUDA", CV_CUDA, peers.cvcuda_histogram
    return Variant(*how, "cuda", library="cvcuda", rules=(peers.BYTES, *rules))


def _variants(kind: Kind) -> tuple[Variant, ...]:
    grey = (peers.GREY,) if kind == "image" else ()
    alone = one_channel(kind, "it counts one channel, not {meta.channels}")
    counting, calc_hist = plans.library("numpy", peers.numpy_counts), plans.library("cv2", peers.opencv_counts)
    counts, equalised = peers.COUNTS_ALONE, peers.EQUALISED
    of_opencv = (equalised, *grey, *peers.OPENCV_BINS, *(() if grey else (OPENCV_CHANNELS,)))
    return (
        Variant("serial", "CPU, one core", SERIAL_LOOP, plans.host(False), "cpu", source="S3"),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.host(True), "cpu", source="S3"),
        Variant("numpy", "NumPy", NUMPY, counting, "cpu", library="numpy", rules=(equalised, *grey)),
        Variant("opencv", "OpenCV", OPENCV, calc_hist, "cpu", library="cv2", rules=of_opencv),
        *_kernels(kind),
        Variant(
            *("cupy_histogram", "cupy.histogram", CUPY_HISTOGRAM, peers.cupy_histogram, "cuda"),
            library="cupy",
            rules=(counts, *grey, *peers.CUPY_EDGES),
        ),
        Variant(
            *("cupy_bincount", "cupy.bincount", CUPY_BINCOUNT, peers.cupy_bincount, "cuda"),
            library="cupy",
            rules=(peers.WHOLE, counts, *grey),
        ),
        Variant(
            *("cub", "CUB (cuda.compute)", CUB, peers.cub_histogram, "cuda"),
            library="cuda.compute",
            rules=(peers.WHOLE, counts, alone),
        ),
        *((_by_cvcuda(counts, alone),) if kind == "image" else ()),
    )


def _tolerance(task: Task) -> float:
    """Equalised integers are exact; floats are rounded four times."""
    return 0.0 if task.dtype.kind == "u" else 4 * float(np.finfo(task.dtype).eps)


def _outputs(kind: Kind) -> tuple[Output, ...]:
    statistics = {"result": ("statistics", "equalised")}
    return (
        Output("counts", "bars", "samples", lambda task: 0.0, form=counts_form),
        Output("outside", "table", "samples", lambda task: 0.0, form=outside_form),
        Output("statistics", "table", "", lambda task: 1e-12, form=statistics_form, own_scale=True, when=statistics),
        Output("equalised", INPUT_KINDS[kind].view, "", _tolerance, when={"result": ("equalised",)}),
    )


SUMMARY = (
    "How many samples fall into each bin of a range; the last bin includes its upper edge. Statistics take each "
    "sample as the centre of its bin; equalised samples are mapped by the cumulative distribution."
)
MERGEABLE = Locality("mergeable", merge=merge, extremes=extremes, whole=whole)
PICKED = ("serial", "parallel", "global", "shared", "tagged", "lanes")


def _filter(kind: Kind, *more: Param, claims: tuple[Claim, ...] = ()) -> Filter:
    return Filter(
        id=f"histogram{INPUT_KINDS[kind].rank}d",
        family="histogram",
        title=f"Histogram ({kind})",
        summary=SUMMARY,
        accepts=kind,
        dtypes=DTYPES,
        params=(RESULT, BINS, RANGE, LOW, HIGH, *more),
        outputs=_outputs(kind),
        reference=reference,
        work=work,
        locality=MERGEABLE,
        check=check,
        source="S3",
        picked=PICKED,
        shows=("atomic_collisions", "atomics", "bank_conflicts"),
        contended=True,
        variants=_variants(kind),
        claims=claims,
    )


HISTOGRAM1D, HISTOGRAM2D = _filter("signal"), _filter("image", COLOURS, claims=CLAIMS)
