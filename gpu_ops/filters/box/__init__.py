"""The box filter: every output is the mean of a square around its pixel, with a radius large enough to matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gpu_ops.filters.box import limits, marching, plans
from gpu_ops.filters.box.claims import CLAIMS
from gpu_ops.filters.box.reference import reference
from gpu_ops.filters.mean import BORDER, accesses
from gpu_ops.filters.planning import Support, both
from gpu_ops.filters.ranges import weighed
from gpu_ops.filters.spans import BLOCK
from gpu_ops.params import Param, Values
from gpu_ops.plan import Plan
from gpu_ops.types import Accesses, Filter, Locality, Meta, Output, Variant, Work

RADIUS = Param("radius", 4, 1, 256, unit="pixels", help="the square reaches so far around its pixel")
WARPS = Param("block", 256, choices=(32, 128, 256, 1024), unit="threads", help="threads a block, in whole warps")


def work(meta: Meta, params: Values) -> Work:
    """One read and one write of every value; two additions and two subtractions, whatever the radius, and a scaling."""
    return Work(meta.nbytes, meta.nbytes, 5 * meta.size)


SERIAL = "Running sums down the columns and along the row, compiled, on one core: the radius costs nothing."
PARALLEL = "The same in pieces on all cores, four rows side by side to hide the latency of one sum."
SCIPY = "What most Python programs call; a running sum an axis on one core."
OPENCV = "The library's blur: running sums along both axes, tuned for SIMD units."
DIRECT = "One thread an output adds up the whole square: the work grows with the square of the radius."
SEPARABLE = "A square is a row of columns: along the rows, then along the columns, the work grows with the radius only."
SLIDING = "A thread slides along a row, then down a column: no radius in the work, but few threads, scattered reads."
TEXTURE = "The scattered reads of the first pass go through a texture, whose cache knows two directions."
TRANSPOSE = "The first pass reads along rows and turns tiles in shared memory, so that no read is scattered."
TABLE = "A table of all sums from the corner gives any square by four reads, at the price of doubles."
FUSED = "Both passes of a tile in shared memory: one launch, no intermediate image, as far as the tile fits."
RING = "Rows and columns slide at once in one trip down the image: a ring of rows' sums is all that is kept."
DOUBLE = "The same with rows summed in double: what additions in float round away is bought back."
CUPYX = "The library's own kernels: one separable correlation an axis, nothing to write yourself."
CUCIM = "A library of scikit-image's functions: its local mean, two correlations tuned for shared memory."


def _operations(adds: Callable[[int], int]) -> Callable[[Meta, Values], int]:
    """Additions of a variant that makes `adds(window)` of them an output; a warp's idle lanes make them too."""
    return lambda meta, params: -(-meta.size // 32) * 32 * adds(limits.window_of(params))


def _loads(count: Callable[[Meta, Values, Values], Accesses]) -> Callable[[Meta, Values, Values], Accesses]:
    """Loads of a kernel that reads as the mean's do, with one output a thread."""

    def counted(meta: Meta, params: Values, knobs: Values) -> Accesses:
        return count(meta, {**params, "window": limits.window_of(params)}, {**knobs, "outputs": 1})

    return counted


SUMMED: Mapping[str, Any] = {
    "tolerance": limits.summed,
    "caveat": limits.FLOAT_CAVEAT,
    "largest": weighed(limits.summed),
}


def _cuda(number: int, id: str, title: str, idea: str, supports: Support, **more: Any) -> Variant:
    plan: Callable[..., Plan] = getattr(plans, id)
    file = f"box/{number}_{id}.cu"
    given = {"knobs": (BLOCK,), "source": "S3", **more}
    return Variant(id, f"{number} {title}", idea, plan, "cuda", kernels=(file,), supports=supports, **given)


def _hosts() -> tuple[Variant, ...]:
    finite = limits.finite
    scipy, opencv = partial(plans.peer, "scipy", "scipy.ndimage"), partial(plans.peer, "opencv", "cv2")
    return (
        Variant("serial", "CPU, one core", SERIAL, partial(plans.host, "serial"), "cpu", supports=finite, source="S3"),
        Variant("parallel", "CPU, all cores", PARALLEL, partial(plans.host, "parallel"), "cpu", supports=finite),
        Variant("scipy", "SciPy", SCIPY, scipy, "cpu", supports=finite, library="scipy"),
        Variant("opencv", "OpenCV", OPENCV, opencv, "cpu", supports=limits.opencv_can, library="cv2"),
    )


def _kernels() -> tuple[Variant, ...]:
    rows, finite, channels = limits.rows_fit, limits.finite, limits.channels_fit
    direct = {"accesses": _loads(accesses.direct2d(1)), "operations": _operations(lambda w: w * w)}
    separable = {"operations": _operations(lambda w: 2 * w)}
    fused = {"accesses": _loads(accesses.tiled2d), **separable}
    table = {"tolerance": limits.table, "caveat": limits.TABLE_CAVEAT}
    march: Mapping[str, Any] = {"knobs": (), "operations": marching.additions}
    ring = {"tolerance": limits.marched, "caveat": limits.RING_CAVEAT, **march}
    ring["largest"] = limits.march_largest
    in_double = both(finite, limits.floats_only, channels)
    return (
        _cuda(1, "direct", "direct", DIRECT, rows, **direct, **SUMMED),
        _cuda(2, "separable", "separable", SEPARABLE, rows, **separable, **SUMMED),
        _cuda(3, "sliding", "sliding", SLIDING, finite),
        _cuda(4, "sliding_texture", "sliding, texture", TEXTURE, both(finite, limits.texture_fits)),
        _cuda(5, "sliding_transpose", "sliding, transposed", TRANSPOSE, both(finite, channels), knobs=(WARPS,)),
        _cuda(6, "table", "summed-area table", TABLE, both(rows, limits.table_exact), **table),
        _cuda(7, "separable_fused", "separable, fused", FUSED, both(rows, limits.tile_fits), **fused, **SUMMED),
        _cuda(8, "ring", "marching ring", RING, both(finite, channels, limits.march_fits), **ring),
        _cuda(9, "double", "marching ring, double", DOUBLE, in_double, **march),
    )


def _libraries() -> tuple[Variant, ...]:
    return (
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", **SUMMED),
        Variant("cucim", "cuCIM", CUCIM, plans.cucim, "cuda", supports=limits.cucim_can, library="cucim", **SUMMED),
    )


BOX = Filter(
    id="box",
    family="box",
    title="Box",
    summary="The mean of the square that reaches a radius around every pixel of an image.",
    accepts="image",
    dtypes=("uint8", "uint16", "float32"),
    params=(RADIUS, BORDER),
    outputs=(Output("image", "image", "as the input", limits.running),),
    reference=reference,
    work=work,
    locality=Locality("halo", lambda params: (params["radius"],) * 2),
    source="S3",
    claims=CLAIMS,
    picked=("serial", "parallel", "separable", "sliding", "ring"),
    variants=(*_hosts(), *_kernels(), *_libraries()),
)
