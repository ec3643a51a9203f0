"""The 3×3 convolution of images, with any matrix: nine neighbours, nine weights."""

from __future__ import annotations

from typing import Any

from gpu_ops.filters.conv3x3 import accesses, limits, peers, plans, reference, rows
from gpu_ops.filters.conv3x3.arithmetic import largest, least, tolerance
from gpu_ops.filters.conv3x3.claims import CLAIMS
from gpu_ops.filters.conv3x3.presets import PRESETS
from gpu_ops.filters.kit.planning import BORDER, cpu, cuda, peer
from gpu_ops.filters.kit.registers import rows_knob
from gpu_ops.filters.kit.support import SHARED, WRAP, both, opencv_takes
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Filter, Locality, Output, Refusal, Variant, Work

BLOCK_Y = Param("block_y", 8, choices=(1, 2, 4, 8, 16, 32), unit="rows", help="rows of 32 threads a block")
MATRIX = Param("matrix", PRESETS["sharpen"]["matrix"], -1000.0, 1000.0, help="nine weights, rows first")
DIVISOR = Param("divisor", 1.0, 1e-3, 1e6, help="what the sum is divided by")
OFFSET = Param("offset", 0.0, -65535.0, 65535.0, help="what is added at the end")
PASSES = Param("passes", 1, choices=(1, 2), help="how often the filter is applied, the second time to the first result")
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
PITCHED = "The driver chooses the pitch of the rows, and its 2D copies move the image there and back."
EDGES = "Blocks inside the image test nothing; only those at the edges do."
CONSTANT = "All lanes need the same weight at once, so constant memory broadcasts it: half the global loads."
TEXTURE = "A texture gives the values beyond the edges, and caches neighbours in two dimensions."
FUSED = "Two passes in one launch: the first result stays in shared memory."
WARP_ROWS = "A warp walks down a strip with three rows of its own, and waits for its own lanes only."
ROWS = "No tile and no barrier: a thread marches down a few rows of 16 bytes, in registers; bytes by dot products."


ZEROS = Refusal("NaN or infinity")
SEVERAL = "several kernels: the loads of one block do not stand for the launch"
WEIGHT_LOADS = "a thread makes several outputs: the compiler chooses how long it keeps the weights in registers"
EDGE_LOADS = "threads at the edges load single values, those of odd rows words: counts of the code, not of the idea"


def work(task: Task) -> Work:
    """One read and one write of every value, nine products and nine sums a pass."""
    return Work(task.meta.nbytes, task.meta.nbytes, 18 * task.meta.size * task.params["passes"])


def _hosts() -> tuple[Variant, ...]:
    calls = (plans.arguments, plans.passes_of)
    own: dict[str, Any] = {"source": "S1", "largest": largest}
    opencv = {"supports": both(opencv_takes, peers.skips_zeros), "refuses": (WRAP, ZEROS), **own}
    return (
        cpu("serial", "CPU, one core", SERIAL, plans.serial, *calls, **own),
        cpu("parallel", "CPU, all cores", PARALLEL, plans.parallel, *calls, **own),
        peer(
            "scipy",
            "SciPy",
            SCIPY,
            "scipy.ndimage",
            peers.scipy,
            *calls,
            supports=peers.skips_zeros,
            refuses=(ZEROS,),
            **own,
        ),
        peer("opencv", "OpenCV", OPENCV, "cv2", peers.opencv, *calls, **opencv),
    )


def _kernels() -> tuple[Variant, ...]:
    own: dict[str, Any] = {"source": "S1", "largest": largest, "knobs": (BLOCK_Y,), "supports": limits.grid_fits}
    twice, once = {**own, "accesses": accesses.per_tap(2)}, {**own, "accesses": accesses.per_tap(1)}
    several_outputs = {**own, "uncounted": WEIGHT_LOADS}
    plain = ((1, 1), (1, 7), (7, 1), (17, 33), (33, 257), (61, 127), (130, 70))
    rgba = {**own, "supports": limits.rgba, "uncounted": SEVERAL}
    rgba["refuses"] = (Refusal("3 or 4 channels", {"shape": plain}),)
    packed = {**several_outputs, "supports": limits.packed, "refuses": (SHARED,)}
    texture = {**own, "supports": limits.texture, "accesses": accesses.per_tap(1, skips=False)}
    texture["refuses"] = (
        Refusal("no float64", {"dtype": ("float64",)}),
        Refusal("no wrap", {"param border": ("wrap",)}),
        Refusal("another channel"),
    )
    fused = {**several_outputs, "supports": limits.fused, "refuses": (Refusal("there is one", {"param passes": (1,)}),)}
    strips = {**several_outputs, "supports": limits.warp_rows, "refuses": (SHARED,)}
    march = {**own, "knobs": (BLOCK_Y, rows_knob(2, 1, 2, 4)), "supports": rows.rows_can, "uncounted": EDGE_LOADS}
    return (
        cuda("conv3x3/1_bytes.cu", "bytes", BYTES, plans.direct, **twice),
        cuda("conv3x3/2_rgba.cu", "RGBA", RGBA, plans.rgba, **rgba),
        cuda("conv3x3/3_packed.cu", "packed words", PACKED, plans.packed, **packed),
        cuda("conv3x3/4_padded.cu", "padded rows", PADDED, plans.padded, **twice),
        cuda("conv3x3/5_pitched.cu", "pitched rows", PITCHED, plans.pitched, **twice),
        cuda("conv3x3/6_edges.cu", "edge blocks", EDGES, plans.direct, **twice),
        cuda("conv3x3/7_constant.cu", "constant weights", CONSTANT, plans.constant, **once),
        cuda("conv3x3/8_texture.cu", "texture", TEXTURE, plans.texture, **texture),
        cuda("conv3x3/9_fused.cu", "fused passes", FUSED, plans.fused, **fused),
        cuda("conv3x3/10_warp_rows.cu", "warp rows", WARP_ROWS, plans.warp_rows, **strips),
        cuda("conv3x3/11_rows.cu", "row march", ROWS, rows.rows, **march),
    )


def _libraries() -> tuple[Variant, ...]:
    own: dict[str, Any] = {"library": "cupyx", "supports": peers.skips_zeros, "largest": largest}
    own["refuses"] = (ZEROS,)
    return (Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", **own),)


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
    variants=(*_hosts(), *_kernels(), *_libraries()),
)
