"""The mean filter, for signals and for images: every output is the mean of an odd window around it."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.errors import ParamError
from gpu_ops.filters.kit import accesses, marching
from gpu_ops.filters.kit.library_calls import FLOATS, NO_DOUBLE, PIXELS, misrounds
from gpu_ops.filters.kit.planning import BLOCK, BORDER, SERIAL_LOOP, PlanContext, cpu, cuda, peer
from gpu_ops.filters.kit.registers import EDGE_LOADS, WIDE, rows_knob
from gpu_ops.filters.kit.rules import OPENCV_BORDER, OPENCV_CHANNELS, shared_fits
from gpu_ops.filters.mean import fast, limits, peers, plans, reference
from gpu_ops.filters.mean.claims import CLAIMS
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Accesses, Counts, Filter, Locality, Output, Rule, Variant, Work

OUTPUTS = Param("outputs", 2, choices=(1, 2, 4, 8), help="outputs per thread")


def work(task: Task) -> Work:
    """One read and one write of every value, one addition per tap."""
    meta, taps = task.meta, task.params["window"] ** task.meta.of_kind.rank
    return Work(meta.nbytes, meta.nbytes, meta.size * taps)


def check1d(task: Task) -> None:
    """Raises ParamError for a window that is longer than the signal."""
    length, window = task.meta.shape[0], task.params["window"]
    if window > length:
        longest = length - (length + 1) % 2
        advice = f"choose an odd window up to {longest:,}" if longest >= 3 else "load a signal of at least 3 samples"
        raise ParamError(f"window {window:,} is longer than the signal of {length:,} samples; {advice}.")


PARALLEL = "The same on all cores with SIMD; neighbouring windows share partial sums."
SCIPY = "What most Python programs call: a running sum on one core for floating-point samples."
OPENCV = "A SIMD-optimised library: direct sums for short windows, running sums or FFT for long ones."
CUPYX = "The library's own kernels: one 1D correlation per axis, no kernel to write."
TORCH = "What a PyTorch program calls: average pooling with a step of one pixel."
CVCUDA = "NVIDIA's library for pictures: its average blur weights and sums the whole square directly."
NAIVE = "One thread per output; it loads every tap and every sample from global memory."
CONSTANT = "All lanes need the same tap at once, so constant memory broadcasts it: half the global loads."
SHARED = "Neighbouring outputs share samples, so the block loads each sample once into a tile in shared memory."

VECTOR = "Short windows need no tile: each thread loads 16 bytes and the adjacent words, and computes in registers."
SCAN = "Each mean is the difference of two prefix sums of a tile: the work does not grow with the window."
ROWS = (
    "Row streaming without tile or barrier: each thread has a few rows of 16 bytes in registers, and sums each "
    "row once."
)
PACKED = "Bytes of four rows in a word: a dot product sums three of them; the results are packed into words again."

RING = "Running sums of rows and columns in one pass, with a ring buffer of row sums: any window costs the same."

STRIPS = Counts(
    uncounted="the number of segments depends on the GPU, and each loads its halo rows again",
    operations=lambda task: marching.additions(task.meta, task.params["window"] // 2),
)
TILE_LOADS = Counts(
    uncounted="blocks at the ends load single values, the others vectors, and either may end within a block",
    operations=fast.scan_work,
)

ON_SIGNALS = (
    cuda(
        *("mean1d/4_vector.cu", "vectorised", VECTOR, fast.vector, fast.VECTOR_FITS),
        knobs=(BLOCK, fast.VECTORS),
        source="S4",
        largest=limits.largest_direct,
        counts=EDGE_LOADS,
    ),
    cuda(
        *("mean1d/5_scan.cu", "block scan", SCAN, fast.scan),
        *fast.SCAN_RULES,
        knobs=(fast.SCAN_BLOCK,),
        source="S4",
        largest=fast.scan_largest,
        trials=fast.scan_trials,
        counts=TILE_LOADS,
        exactness=fast.SCAN_EXACTNESS,
    ),
)
ON_IMAGES = (
    cuda(
        *("mean2d/4_rows.cu", "row streaming", ROWS, fast.image),
        *fast.ROWS_RULES,
        knobs=(BLOCK, rows_knob(4, 1, 2, 4)),
        source="S1, S4",
        largest=limits.largest_direct,
        counts=EDGE_LOADS,
        shapes=WIDE,
    ),
    cuda(
        *("mean2d/5_packed.cu", "packed bytes", PACKED, fast.image),
        *fast.PACKED_RULES,
        knobs=(BLOCK, rows_knob(4, 2, 4)),
        source="S1, S4",
        counts=EDGE_LOADS,
        shapes=WIDE,
    ),
    cuda(
        *("mean2d/6_ring.cu", "ring buffer", RING, fast.ring),
        *fast.RING_RULES,
        knobs=(),
        source="S3, S4",
        largest=fast.ring_largest,
        counts=STRIPS,
        exactness=fast.RING_EXACTNESS,
    ),
)

BY_CVCUDA = Variant(
    *("cvcuda", "CV-CUDA", CVCUDA, plans.cvcuda_blur, "cuda"),
    library="cvcuda",
    rules=(NO_DOUBLE, PIXELS, misrounds(plans.window_of)),
    largest=limits.largest_direct,
)
BY_TORCH = Variant(
    *("torch", "torch avg_pool2d", TORCH, plans.torch_pool, "cuda"),
    library="torch",
    rules=(FLOATS,),
    largest=limits.largest_own,
)


def _cpu_variants(kind: Kind, source: str) -> tuple[Variant, ...]:
    call, signal, loops = plans.arguments, kind == "signal", plans.loops(kind)
    scipy, opencv = (peers.scipy_mean1d, peers.opencv_mean1d) if signal else (peers.scipy_mean2d, peers.opencv_mean2d)
    drift, most = limits.RUNNING if signal else None, limits.largest_parallel
    return (
        cpu(SERIAL_LOOP, loops, call, source=source, largest=limits.largest_serial),
        cpu(PARALLEL, loops, call, all_cores=True, largest=most, exactness=drift),
        peer(
            *("scipy", "SciPy", SCIPY, "scipy.ndimage", scipy, call, peers.SCIPY_FINITE),
            largest=limits.largest_scipy,
            exactness=limits.SCIPY,
        ),
        peer(
            *("opencv", "OpenCV", OPENCV, "cv2", opencv, call),
            *(OPENCV_BORDER, *((OPENCV_CHANNELS,) if signal else ()), *peers.OPENCV_RULES),
            largest=limits.largest_opencv,
            exactness=limits.OPENCV,
        ),
    )


def _variants(kind: Kind, source: str, own: tuple[Variant, ...], *fits: Rule) -> tuple[Variant, ...]:
    """The common variants for signals and images, and their `own` kernels; the first kernels have the rules `fits`."""

    def kernel(
        file: str,
        title: str,
        idea: str,
        plan: Callable[[PlanContext], Plan],
        loads: Callable[[Task], Accesses],
        *rules: Rule,
    ) -> Variant:
        how = f"mean{1 if kind == 'signal' else 2}d/{file}.cu", title, idea, plan
        knobs, most = (BLOCK, OUTPUTS), limits.largest_direct
        return cuda(*how, *fits, *rules, knobs=knobs, source=source, largest=most, counts=Counts(loads))

    windows, fits_shared = plans.windows, shared_fits(plans.tile_bytes)
    return (
        *_cpu_variants(kind, source),
        kernel("1_naive", "naive", NAIVE, windows(False), accesses.direct(2)),
        kernel("2_constant", "constant taps", CONSTANT, windows(True), accesses.direct(1)),
        kernel("3_shared", "constant + shared", SHARED, windows(True, plans.tile_bytes), accesses.tiled, fits_shared),
        *own,
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", largest=limits.largest_direct),
        *((BY_TORCH, BY_CVCUDA) if kind == "image" else ()),
    )


PICKED = ("serial", "parallel", "scipy", "naive", "constant", "shared")
"""The source's own steps, and what most Python programs call, whose picture needs no compilation."""

MEAN1D = Filter(
    id="mean1d",
    family="mean",
    title="Mean (signal)",
    summary="The mean of an odd window around every sample of a signal.",
    accepts="signal",
    dtypes=DTYPES,
    params=(Param("window", 5, 3, 4095, 2, unit="samples", help="length of the window"), BORDER),
    outputs=(Output("signal", "signal", "", limits.direct),),
    reference=reference.reference1d,
    work=work,
    locality=Locality("halo", lambda task: (task.params["window"] // 2,)),
    check=check1d,
    claims=CLAIMS,
    source="S4",
    picked=PICKED,
    shows=("l2_bytes", "sectors_per_load", "warp_instructions"),
    variants=_variants("signal", "S4", ON_SIGNALS),
)

MEAN2D = Filter(
    id="mean2d",
    family="mean",
    title="Mean (image)",
    summary="The mean of an odd square window around every pixel of an image, channel by channel.",
    accepts="image",
    dtypes=DTYPES,
    params=(Param("window", 3, 3, 63, 2, unit="pixels", help="side of the window"), BORDER),
    outputs=(Output("image", "image", "", limits.direct),),
    reference=reference.reference2d,
    work=work,
    locality=Locality("halo", lambda task: (task.params["window"] // 2,) * 2),
    source="S1, S4",
    picked=PICKED,
    shows=("l2_bytes", "sectors_per_load", "warp_instructions"),
    variants=_variants("image", "S1, S4", ON_IMAGES, plans.ROWS_FIT),
)
