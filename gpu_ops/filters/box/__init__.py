"""The box filter: every output is the mean of a square around its pixel, with a radius large enough to matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpu_ops.filters.box import limits, marching, peers, plans
from gpu_ops.filters.box.claims import CLAIMS
from gpu_ops.filters.box.reference import reference
from gpu_ops.filters.kit import accesses
from gpu_ops.filters.kit.planning import BORDER, cpu, cuda, peer
from gpu_ops.filters.kit.ranges import weighted_range
from gpu_ops.filters.kit.support import FINITE, SHARED, WRAP, both, channels_fit, shared_fits, texture_fits
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import Accesses, Filter, Locality, Output, Refusal, Variant, Work

RADIUS = Param("radius", 4, 1, 256, unit="pixels", help="how far the square reaches from its pixel")
WARPS = Param("block", 256, choices=(32, 128, 256, 1024), unit="threads", help="threads a block, in whole warps")


def work(task: Task) -> Work:
    """One read and one write of every value; two additions and two subtractions, whatever the radius, and a scaling."""
    return Work(task.meta.nbytes, task.meta.nbytes, 5 * task.meta.size)


SERIAL = "Running sums down the columns and along the row, compiled, on one core: the radius costs nothing."
PARALLEL = "The same in pieces on all cores, four rows side by side to hide the latency of one sum."
SCIPY = "What most Python programs call; a running sum an axis on one core."
OPENCV = "The library's blur: running sums along both axes, tuned for SIMD units."
DIRECT = "One thread an output adds up the whole square: the work grows with the square of the radius."
SEPARABLE = "A square is a row of columns: along the rows, then along the columns, the work grows with the radius only."
SLIDING = (
    "A thread slides along a row, then down a column: any radius costs the same, but few threads, scattered reads."
)
TEXTURE = "The scattered reads of the first pass go through a texture, whose cache knows two directions."
TRANSPOSE = "The first pass reads along rows and transposes tiles in shared memory, so that no read is scattered."
TABLE = "A table of all sums from the corner gives any square by four reads, at the price of doubles."
FUSED = "Both passes of a tile in shared memory: one launch, no intermediate image, as far as the tile fits."
RING = "Rows and columns slide together in one pass down the image, which keeps only a ring of row sums."
DOUBLE = "The same with row sums in double, which avoids the rounding errors of float."
CUPYX = "The library's own kernels: one separable correlation an axis, nothing to write yourself."
CUCIM = "A library of scikit-image's functions: its local mean, two correlations tuned for shared memory."


SEVERAL = "several kernels: the loads of one block do not stand for the launch"
SEGMENTS = "the plan cuts as many segments as fill the GPU, and each fetches some rows again"


def _operations(adds: Callable[[int], int]) -> Callable[[Task], int]:
    """Additions of a variant with `adds(window)` of them an output; the idle lanes of a warp make them as well."""
    return lambda task: -(-task.meta.size // 32) * 32 * adds(limits.window_of(task))


def _loads(count: Callable[[Task], Accesses]) -> Callable[[Task], Accesses]:
    """Loads of a kernel that loads like those of the mean filter, with one output a thread."""
    return lambda task: count(task.with_params(window=limits.window_of(task)).with_knobs(outputs=1))


FLOAT_SUMS: Mapping[str, Any] = {
    "tolerance": limits.sum_tolerance,
    "caveat": limits.FLOAT_CAVEAT,
    "largest": weighted_range(limits.sum_tolerance),
}


def _hosts() -> tuple[Variant, ...]:
    arguments = plans.arguments
    finite: dict[str, Any] = {"supports": limits.finite, "refuses": (FINITE,)}
    own: dict[str, Any] = {"supports": limits.opencv_can}
    own["refuses"] = (WRAP, Refusal("rounds uint8"), Refusal("rounds uint16"), FINITE)
    return (
        cpu("serial", "CPU, one core", SERIAL, plans.serial, arguments, source="S3", **finite),
        cpu("parallel", "CPU, all cores", PARALLEL, plans.parallel, arguments, **finite),
        peer("scipy", "SciPy", SCIPY, "scipy.ndimage", peers.scipy, arguments, **finite),
        peer("opencv", "OpenCV", OPENCV, "cv2", peers.opencv, arguments, **own),
    )


def _kernels() -> tuple[Variant, ...]:
    rows, finite, several = limits.rows_fit, limits.finite, {"uncounted": SEVERAL, "source": "S3"}
    direct = {"accesses": _loads(accesses.direct2d(1)), "operations": _operations(lambda w: w * w), "source": "S3"}
    separable: dict[str, Any] = {"operations": _operations(lambda w: 2 * w), "source": "S3"}
    passes = {"supports": rows, "uncounted": SEVERAL, **separable, **FLOAT_SUMS}
    fused = {"accesses": _loads(accesses.tiled2d), "supports": both(rows, shared_fits(limits.tile_bytes)), **separable}
    fused["refuses"] = (Refusal(SHARED.words, {"param radius": (256,)}),)
    running = {"refuses": (FINITE,), **several}
    texture = {"supports": both(finite, texture_fits), **running}
    turned = {"supports": both(finite, channels_fit), "knobs": (WARPS,), **running}
    table = {
        "supports": both(rows, limits.table_exact),
        "tolerance": limits.table_tolerance,
        "caveat": limits.TABLE_CAVEAT,
    }
    march: dict[str, Any] = {"knobs": (), "operations": marching.additions, "uncounted": SEGMENTS, "source": "S3"}
    ring = {"tolerance": limits.march_tolerance, "caveat": limits.RING_CAVEAT, "largest": limits.march_largest, **march}
    ring["refuses"] = (FINITE,)
    ring["supports"] = both(finite, channels_fit, limits.march_fits)
    double = {"supports": both(finite, limits.floats_only, channels_fit), **march}
    double["refuses"] = (Refusal("integers are exact", {"dtype": ("uint8", "uint16")}), FINITE)
    return (
        cuda("box/1_direct.cu", "direct", DIRECT, plans.direct, supports=rows, **direct, **FLOAT_SUMS),
        cuda("box/2_separable.cu", "separable", SEPARABLE, plans.separable, **passes),
        cuda("box/3_sliding.cu", "sliding", SLIDING, plans.sliding, supports=finite, **running),
        cuda("box/4_sliding_texture.cu", "sliding, texture", TEXTURE, plans.sliding_texture, **texture),
        cuda("box/5_sliding_transpose.cu", "sliding, transposed", TRANSPOSE, plans.sliding_transpose, **turned),
        cuda("box/6_table.cu", "summed-area table", TABLE, plans.table, **table, **running),
        cuda("box/7_separable_fused.cu", "separable, fused", FUSED, plans.separable_fused, **fused, **FLOAT_SUMS),
        cuda("box/8_ring.cu", "marching ring", RING, plans.ring, **ring),
        cuda("box/9_double.cu", "marching ring, double", DOUBLE, plans.double, **double),
    )


def _libraries() -> tuple[Variant, ...]:
    coarse = Refusal("too coarse", {"dtype": ("uint8", "uint16")})
    flat = Refusal("without channels", {"shape": ((16, 31, 4), (19, 23, 3))})
    own = {"supports": limits.cucim_can, "library": "cucim", "refuses": (coarse, flat), **FLOAT_SUMS}
    return (
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", **FLOAT_SUMS),
        Variant("cucim", "cuCIM", CUCIM, plans.cucim, "cuda", **own),
    )


BOX = Filter(
    id="box",
    family="box",
    title="Box",
    summary="The mean of the square that reaches a radius around every pixel of an image.",
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
    variants=(*_hosts(), *_kernels(), *_libraries()),
)
