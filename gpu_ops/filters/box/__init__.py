"""The box filter: every output is the mean of a square around its pixel. Its radius is large enough that running sums
pay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpu_ops.filters.box import limits, peers, plans
from gpu_ops.filters.box.claims import CLAIMS
from gpu_ops.filters.box.reference import reference
from gpu_ops.filters.kit import accesses, columns_first, marching
from gpu_ops.filters.kit.planning import BORDER, SEVERAL, PlanContext, cpu, cuda, peer
from gpu_ops.filters.kit.ranges import weighted_range
from gpu_ops.filters.kit.rules import TEXTURE_FITS
from gpu_ops.params import Param
from gpu_ops.plan import Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import Accesses, Counts, Exactness, Filter, Locality, Output, Rule, Variant, Work

RADIUS = Param("radius", 4, 1, 256, unit="pixels", help="the square has a side of 2 radius + 1")
WARPS = Param("block", 256, choices=(32, 128, 256, 1024), unit="threads", help="threads per block, a multiple of 32")


def work(task: Task) -> Work:
    """One read and one write of every value; two additions and two subtractions, whatever the radius, and a scaling."""
    return Work(task.meta.nbytes, task.meta.nbytes, 5 * task.meta.size)


SERIAL = (
    "Running sums down the columns and along the row, compiled, on one core: the cost does not depend on the radius."
)
PARALLEL = "The same in pieces on all cores; four rows are interleaved to hide the latency of a running sum."
SCIPY = "What most Python programs call: a running sum per axis on one core."
OPENCV = "The library's blur: running sums along both axes, SIMD-optimised."
DIRECT = "One thread per output sums the whole square: the work grows with the square of the radius."
SEPARABLE = "A box is separable: one pass along rows, one along columns; the work grows linearly with the radius."
SLIDING = (
    "Running sums, one thread per row, then per column: any radius costs the same, but threads are few and row "
    "reads uncoalesced."
)
TEXTURE = "The uncoalesced reads of the first pass go through a texture, whose cache exploits 2D locality."
TRANSPOSE = "The first pass reads along rows and transposes tiles in shared memory, so that all reads are coalesced."
TABLE = "A summed-area table (2D prefix sum) gives any box sum by four reads, but takes double precision."
FUSED = "Both passes of a tile in shared memory: one launch and no intermediate image, where the tile fits."
RING = "Row streaming: running sums of rows and columns in one pass down the image, with a ring buffer of row sums."
COLUMNS = "Columns first: running sums of columns in registers, then of these along the row; no ring, so wide strips."
DOUBLE = "The same with row sums in double, which avoids the rounding errors of float sums."
CUPYX = "The library's own kernels: one 1D correlation per axis, no kernel to write."
CUCIM = "scikit-image's functions on the GPU: its local mean, two correlations optimised with shared memory."
CVCUDA = "NVIDIA's library for pictures: its average blur weights and sums the whole square directly."


MARCH = Counts(
    uncounted="the number of segments depends on the GPU, and each loads its halo rows again",
    operations=lambda task: marching.additions(task.meta, int(task.params["radius"])),
)


def _operations(adds: Callable[[int], int]) -> Callable[[Task], int]:
    """Additions of a variant with `adds(window)` of them per output; idle lanes of a warp execute them as well."""
    return lambda task: -(-task.meta.size // 32) * 32 * adds(limits.window_of(task))


def _loads(count: Callable[[Task], Accesses]) -> Callable[[Task], Accesses]:
    """Loads of a kernel that loads like those of the mean filter, with one output per thread."""
    return lambda task: count(task.with_params(window=limits.window_of(task)).with_knobs(outputs=1))


def _cpu_variants() -> tuple[Variant, ...]:
    call, finite = plans.arguments, limits.FINITE
    return (
        cpu(SERIAL, plans.loops, call, finite, source="S3"),
        cpu(PARALLEL, plans.loops, call, finite, all_cores=True),
        peer("scipy", "SciPy", SCIPY, "scipy.ndimage", peers.scipy, call, finite),
        peer("opencv", "OpenCV", OPENCV, "cv2", peers.opencv, call, *limits.OPENCV_RULES),
    )


def _radius(task: Task) -> int:
    return int(task.params["radius"])


def _in_floats(
    file: str, title: str, idea: str, plan: Callable[[PlanContext], Plan], counts: Counts, *rules: Rule
) -> Variant:
    """A kernel whose sums have the samples' type."""
    most, exactness = weighted_range(limits.sum_tolerance), limits.FLOAT_SUMS
    return cuda(file, title, idea, plan, *rules, source="S3", largest=most, counts=counts, exactness=exactness)


COLUMNS_FIRST = cuda(
    *("box/10_columns.cu", "columns first", COLUMNS, plans.columns),
    *columns_first.rules(_radius, ("float32",), "choose variant 8, ring buffer"),
    knobs=(),
    source="S3",
    shapes=columns_first.UNITS,
    counts=columns_first.counts(_radius),
    suits=columns_first.suits(_radius),
)


def _kernels() -> tuple[Variant, ...]:
    rows, finite = limits.ROWS_FIT, limits.FINITE
    linear = _operations(lambda window: 2 * window)
    squares = Counts(_loads(accesses.direct(1)), operations=_operations(lambda window: window * window))
    passes, tiles = replace(SEVERAL, operations=linear), Counts(_loads(accesses.tiled), operations=linear)
    fused = "box/7_separable_fused.cu", "separable, fused", FUSED, plans.separable_fused
    return (
        _in_floats("box/1_direct.cu", "direct", DIRECT, plans.direct, squares, rows),
        _in_floats("box/2_separable.cu", "separable", SEPARABLE, plans.separable, passes, rows),
        cuda("box/3_sliding.cu", "sliding", SLIDING, plans.sliding, finite, source="S3", counts=SEVERAL),
        cuda(
            *("box/4_sliding_texture.cu", "sliding, texture", TEXTURE, plans.sliding_texture, finite, TEXTURE_FITS),
            source="S3",
            counts=SEVERAL,
        ),
        cuda(
            *("box/5_sliding_transpose.cu", "sliding, transposed", TRANSPOSE, plans.sliding_transpose, finite),
            knobs=(WARPS,),
            source="S3",
            counts=SEVERAL,
        ),
        cuda(
            *("box/6_table.cu", "summed-area table", TABLE, plans.table),
            *(rows, limits.TABLE_FINITE, limits.TABLE_EXACT),
            source="S3",
            counts=SEVERAL,
            exactness=limits.TABLE_SUMS,
        ),
        _in_floats(*fused, tiles, rows, limits.TILE_FITS),
        cuda(
            *("box/8_ring.cu", "ring buffer", RING, plans.ring, finite, limits.SEGMENTS_FIT),
            knobs=(),
            source="S3",
            largest=limits.ring_largest,
            counts=MARCH,
            exactness=limits.RING_SUMS,
        ),
        cuda(
            *("box/9_double.cu", "ring buffer, double", DOUBLE, plans.double, finite, limits.FLOATS_ONLY),
            knobs=(),
            source="S3",
            counts=MARCH,
        ),
        COLUMNS_FIRST,
    )


def _library(
    id: str,
    title: str,
    idea: str,
    plan: Callable[[Device, Task], Plan],
    *rules: Rule,
    exactness: Exactness = limits.FLOAT_SUMS,
) -> Variant:
    most = weighted_range(exactness.tolerance)
    return Variant(id, title, idea, plan, "cuda", library=id, rules=rules, largest=most, exactness=exactness)


LIBRARIES = (
    _library("cupyx", "cupyx", CUPYX, plans.cupyx),
    _library("cucim", "cuCIM", CUCIM, plans.cucim, *limits.CUCIM_RULES),
    _library("cvcuda", "CV-CUDA", CVCUDA, plans.cvcuda, *limits.CVCUDA_RULES, exactness=limits.SQUARE_SUMS),
)
BOX = Filter(
    id="box",
    family="box",
    title="Box",
    summary="The mean of the square of side 2 radius + 1 around every pixel of an image.",
    accepts="image",
    dtypes=("uint8", "uint16", "float32"),
    params=(RADIUS, BORDER),
    outputs=(Output("image", "image", "", limits.running_tolerance),),
    reference=reference,
    work=work,
    locality=Locality("halo", lambda task: (task.params["radius"],) * 2),
    source="S3",
    claims=CLAIMS,
    picked=("serial", "parallel", "separable", "sliding", "ring"),
    shows=("l2_bytes", "sectors_per_load", "warp_instructions"),
    variants=(*_cpu_variants(), *_kernels(), *LIBRARIES),
)
