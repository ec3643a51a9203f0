"""The 3×3 convolution of images, with any matrix: nine neighbours, nine weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gpu_ops.filters.conv3x3 import accesses, limits, plans, reference, rows
from gpu_ops.filters.conv3x3.arithmetic import largest, least, tolerance
from gpu_ops.filters.conv3x3.claims import CLAIMS
from gpu_ops.filters.conv3x3.presets import PRESETS
from gpu_ops.filters.planning import Support
from gpu_ops.filters.spans import rows_knob
from gpu_ops.params import Param, Values
from gpu_ops.types import BORDERS, DTYPES, Accesses, Filter, Locality, Meta, Output, Variant, Work

BLOCK_Y = Param("block_y", 8, choices=(1, 2, 4, 8, 16, 32), unit="rows", help="rows of 32 threads a block")
MATRIX = Param("matrix", PRESETS["sharpen"]["matrix"], -1000.0, 1000.0, help="nine weights, rows first")
DIVISOR = Param("divisor", 1.0, 1e-3, 1e6, help="what the sum is divided by")
OFFSET = Param("offset", 0.0, -65535.0, 65535.0, help="what is added at the end")
BORDER = Param("border", "reflect", choices=BORDERS, help="what lies beyond the edges")
PASSES = Param("passes", 1, choices=(1, 2), help="how often it is applied, the second time to the first result")
SUMMARY = (
    "Nine neighbours times nine weights, divided, and an offset added; integers are rounded half up and cut to their"
    " range. The matrix lies over the pixels as it is written (correlation), which only asymmetric ones show."
)

SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "The same loop on all cores, its rows turned into SIMD instructions."
SCIPY = "What most Python programs call; one core, integers through float64 sums that are rounded here."
OPENCV = "A library tuned for SIMD units; where it would round halves to even, sums are rounded here."
CUPYX = "The library's own kernel, nothing to write yourself; sums are finished by a second kernel."
BYTES = "One thread a value, one load a neighbour and one a weight: for uint8 a byte at a time."
RGBA = "RGB is padded to RGBA and back, so that a pixel is one vector load; the conversions are counted."
PACKED = "Four pixels a thread: three 32-bit words of RGB, through shared memory, in and out."
PADDED = "Rows padded by hand to 128 bytes, so that all of them begin at a whole line of the cache."
PITCHED = "The driver chooses the distance of rows, and its 2D copies bring the image there and back."
EDGES = "Blocks inside the image test nothing; only those at the edges do."
CONSTANT = "All lanes want the same weight at once, so constant memory broadcasts it: half the global loads."
TEXTURE = "A texture answers for what lies beyond the edges, and caches neighbours in two dimensions."
FUSED = "Two passes in one launch: the first result stays in shared memory."
WARP_ROWS = "A warp walks down a strip with three rows of its own, and waits for its own lanes only."
ROWS = "No tile and no barrier: a thread marches down a few rows of 16 bytes, in registers; bytes by dot products."


def work(meta: Meta, params: Values) -> Work:
    """One read and one write of every value, nine products and nine sums a pass."""
    return Work(meta.nbytes, meta.nbytes, 18 * meta.size * params["passes"])


def _cuda(
    id: str,
    title: str,
    idea: str,
    plan: Callable[..., Any],
    supports: Support = limits.grid_fits,
    loads: Callable[[Meta, Values, Values], Accesses] | None = None,
    knobs: tuple[Param, ...] = (BLOCK_Y,),
) -> Variant:
    number = plans.NUMBERS[id]
    return Variant(
        id,
        f"{number} {title}",
        idea,
        plan,
        "cuda",
        kernels=(f"conv3x3/{number}_{id}.cu",),
        knobs=knobs,
        supports=supports,
        source="S1",
        accesses=loads,
        largest=largest,
    )


def _cpu(id: str, title: str, idea: str, library: str = "", **how: Any) -> Variant:
    plan = partial(plans.peer_plan, id, library) if library else partial(plans.host_plan, id)
    return Variant(id, title, idea, plan, "cpu", source="S1", library=library.split(".")[0], largest=largest, **how)


_direct = partial(partial, plans.direct)
_packed, _warp_rows = limits.shared_fits(plans.packed_bytes), limits.shared_fits(plans.warp_rows_bytes)

CONV3X3 = Filter(
    id="conv3x3",
    family="conv3x3",
    title="Convolution 3×3",
    summary=SUMMARY,
    accepts="image",
    dtypes=DTYPES,
    params=(MATRIX, DIVISOR, OFFSET, BORDER, PASSES),
    outputs=(Output("image", "image", "as the input", tolerance, least),),
    reference=reference.reference,
    work=work,
    locality=Locality("halo", lambda params: (params["passes"],) * 2),
    source="S1",
    presets=PRESETS,
    claims=CLAIMS,
    picked=("serial", "parallel", "bytes", "packed", "rows"),
    variants=(
        _cpu("serial", "CPU, one core", SERIAL),
        _cpu("parallel", "CPU, all cores", PARALLEL),
        _cpu("scipy", "SciPy", SCIPY, "scipy.ndimage", supports=limits.scipy),
        _cpu("opencv", "OpenCV", OPENCV, "cv2", supports=limits.opencv),
        _cuda("bytes", "bytes", BYTES, _direct("bytes"), loads=accesses.per_tap(2)),
        _cuda("rgba", "RGBA", RGBA, plans.rgba, limits.rgba),
        _cuda("packed", "packed words", PACKED, plans.packed, _packed),
        _cuda("padded", "padded rows", PADDED, plans.padded, loads=accesses.per_tap(2)),
        _cuda("pitched", "pitched rows", PITCHED, plans.pitched, loads=accesses.per_tap(2)),
        _cuda("edges", "edge blocks", EDGES, _direct("edges"), loads=accesses.per_tap(2)),
        _cuda("constant", "constant weights", CONSTANT, _direct("constant"), loads=accesses.per_tap(1)),
        _cuda("texture", "texture", TEXTURE, plans.texture, limits.texture, accesses.per_tap(1, skips=False)),
        _cuda("fused", "fused passes", FUSED, plans.fused, limits.fused),
        _cuda("warp_rows", "warp rows", WARP_ROWS, _direct("warp_rows"), _warp_rows),
        _cuda("rows", "row march", ROWS, rows.rows, rows.rows_can, knobs=(BLOCK_Y, rows_knob(2, 1, 2, 4))),
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", supports=limits.scipy, largest=largest),
    ),
)
