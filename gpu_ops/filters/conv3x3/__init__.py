"""The 3×3 convolution of images, with any matrix: nine neighbours, nine weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpu_ops.filters.conv3x3 import accesses, limits, peers, plans, reference, rows
from gpu_ops.filters.conv3x3.arithmetic import largest, least, tolerance
from gpu_ops.filters.conv3x3.claims import CLAIMS
from gpu_ops.filters.conv3x3.presets import PRESETS
from gpu_ops.filters.kit.planning import BORDER, SERIAL_LOOP, SEVERAL, PlanContext, cpu, cuda, peer
from gpu_ops.filters.kit.registers import EDGE_LOADS, WIDE, rows_knob
from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Counts, Filter, Locality, Output, Rule, Variant, Work

BLOCK_Y = Param("block_y", 8, choices=(1, 2, 4, 8, 16, 32), unit="rows", help="rows of 32 threads per block")
MATRIX = Param("matrix", PRESETS["sharpen"]["matrix"], -1000.0, 1000.0, help="nine weights, rows first")
DIVISOR = Param("divisor", 1.0, 1e-3, 1e6, help="divisor of the weighted sum")
OFFSET = Param("offset", 0.0, -65535.0, 65535.0, help="added after the division")
PASSES = Param("passes", 1, choices=(1, 2), help="how many times the filter is applied")
SUMMARY = (
    "A weighted sum of the 3 × 3 neighbourhood of each pixel, divided, plus an offset; integers are rounded half "
    "up and saturated. The matrix is not flipped (correlation), which matters for asymmetric ones only."
)

PARALLEL = "The same loop on all cores, vectorised along rows."
SCIPY = "What most Python programs call: one core; sums of integers in float64, rounded by a further step."
OPENCV = "A SIMD-optimised library; where it would round half to even, a further step rounds half up."
CVCUDA = "NVIDIA's library for pictures: its convolution of a batch of one image."
CUPYX = "The library's own kernel, no kernel to write; a second one divides and rounds the sums."
BYTES = "One thread per value, one load per neighbour and one per weight: single bytes for uint8."
RGBA = "RGB is converted to RGBA and back, so that a pixel is one vector load; the conversions are timed as well."
PACKED = "Four pixels per thread: three 32-bit words of RGB are loaded and stored through shared memory."
PADDED = "Rows padded to a multiple of 128 bytes, so that every row starts at a cache line."
PITCHED = "Pitched memory: the driver chooses the row pitch, and its 2D copies move the image in and out."
EDGES = "Only the blocks at the edges check bounds; interior blocks do not."
CONSTANT = "All lanes need the same weight at once, so constant memory broadcasts it: half the global loads."
TEXTURE = "The texture's address mode supplies the border, and its cache exploits 2D locality."
FUSED = "Two passes in one launch: the first result stays in shared memory."
WARP_ROWS = (
    "Row streaming: a warp walks down a strip with three rows in shared memory, and synchronises its own lanes only."
)
ROWS = (
    "Row streaming without tile or barrier: each thread has a few rows of 16 bytes in registers; dot products of bytes."
)


WEIGHT_LOADS = Counts(
    uncounted="a thread computes several outputs, and the compiler chooses how long the weights stay in registers"
)


def work(task: Task) -> Work:
    """One read and one write of every value, nine products and nine sums per pass."""
    return Work(task.meta.nbytes, task.meta.nbytes, 18 * task.meta.size * task.params["passes"])


def _kernel(
    file: str,
    title: str,
    idea: str,
    plan: Callable[[PlanContext], Plan],
    counts: Counts,
    *rules: Rule,
    knobs: tuple[Param, ...] = (BLOCK_Y,),
    shapes: tuple[Shape, ...] = (),
) -> Variant:
    how = f"conv3x3/{file}.cu", title, idea, plan
    return cuda(*how, *rules, knobs=knobs, source="S1", largest=largest, counts=counts, shapes=shapes)


def _variants() -> tuple[Variant, ...]:
    call, passes, zeros, grid = plans.arguments, plans.passes_of, limits.KEEPS_ZEROS, limits.GRID_FITS
    twice, once, by_texture = (Counts(accesses.per_tap(n, skips)) for n, skips in ((2, True), (1, True), (1, False)))
    marching = replace(BLOCK_Y, default=4), rows_knob(2, 1, 2, 4)
    return (
        cpu(SERIAL_LOOP, plans.loops, call, passes=passes, source="S1", largest=largest),
        cpu(PARALLEL, plans.loops, call, all_cores=True, passes=passes, source="S1", largest=largest),
        peer(
            *("scipy", "SciPy", SCIPY, "scipy.ndimage", peers.scipy, call, zeros),
            passes=passes,
            source="S1",
            largest=largest,
        ),
        peer(
            *("opencv", "OpenCV", OPENCV, "cv2", peers.opencv, call, *limits.OPENCV),
            passes=passes,
            source="S1",
            largest=largest,
        ),
        _kernel("1_bytes", "bytes", BYTES, plans.direct, twice, grid),
        _kernel("2_rgba", "RGBA", RGBA, plans.rgba, SEVERAL, *limits.RGBA),
        _kernel("3_packed", "packed words", PACKED, plans.packed, WEIGHT_LOADS, *limits.PACKED),
        _kernel("4_padded", "padded rows", PADDED, plans.padded, twice, grid),
        _kernel("5_pitched", "pitched rows", PITCHED, plans.pitched, twice, grid),
        _kernel("6_edges", "edge blocks", EDGES, plans.direct, twice, grid),
        _kernel("7_constant", "constant weights", CONSTANT, plans.constant, once, grid),
        _kernel("8_texture", "texture", TEXTURE, plans.texture, by_texture, *limits.TEXTURE),
        _kernel("9_fused", "fused passes", FUSED, plans.fused, WEIGHT_LOADS, *limits.FUSED),
        _kernel("10_warp_rows", "warp rows", WARP_ROWS, plans.warp_rows, WEIGHT_LOADS, *limits.WARP_ROWS),
        _kernel("11_rows", "row streaming", ROWS, rows.rows, EDGE_LOADS, limits.ROWS, knobs=marching, shapes=WIDE),
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", rules=(zeros,), largest=largest),
        Variant(
            *("cvcuda", "CV-CUDA", CVCUDA, plans.cvcuda, "cuda"),
            library="cvcuda",
            rules=limits.CVCUDA,
            largest=largest,
        ),
    )


CONV3X3 = Filter(
    id="conv3x3",
    family="conv3x3",
    title="Convolution 3×3",
    summary=SUMMARY,
    accepts="image",
    dtypes=DTYPES,
    params=(MATRIX, DIVISOR, OFFSET, BORDER, PASSES),
    outputs=(Output("image", "image", "", tolerance, least, own_scale=True, scales=reference.scales, unrounded=True),),
    reference=reference.reference,
    work=work,
    locality=Locality("halo", lambda task: (task.params["passes"],) * 2),
    source="S1",
    presets=PRESETS,
    claims=CLAIMS,
    picked=("serial", "parallel", "bytes", "packed", "rows"),
    shows=("l2_bytes", "sectors_per_load", "warp_instructions"),
    variants=_variants(),
)
