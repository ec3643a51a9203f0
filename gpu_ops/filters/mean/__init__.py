"""The mean filter, for signals and for images: every output is the mean of an odd window around it."""

from __future__ import annotations

from gpu_ops.errors import ParamError
from gpu_ops.filters.kit import accesses
from gpu_ops.filters.kit.planning import BLOCK, BORDER, cpu, cuda, peer
from gpu_ops.filters.kit.registers import rows_knob
from gpu_ops.filters.kit.support import FINITE, both, shared_fits
from gpu_ops.filters.kit.support import SHARED as TILE
from gpu_ops.filters.mean import fast, limits, peers, plans, reference
from gpu_ops.filters.mean.claims import CLAIMS
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Filter, Locality, Output, Refusal, Variant, Work

OUTPUTS = Param("outputs", 2, choices=(1, 2, 4, 8), help="outputs a thread")


def work(task: Task) -> Work:
    """One read and one write of every value, one addition a tap."""
    meta, taps = task.meta, task.params["window"] ** task.meta.of_kind.rank
    return Work(meta.nbytes, meta.nbytes, meta.size * taps)


def check1d(task: Task) -> None:
    """Raises ParamError for a window that is longer than the signal."""
    length, window = task.meta.shape[0], task.params["window"]
    if window > length:
        longest = length - (length + 1) % 2
        advice = f"choose an odd window up to {longest}" if longest >= 3 else "load a signal of at least 3 samples"
        raise ParamError(f"window {window} is longer than the signal of {length} samples; {advice}.")


SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "The same on all cores and SIMD lanes, with neighbouring windows sharing their sums."
SCIPY = "What most Python programs call; a running sum on one core for floating samples."
OPENCV = "A library tuned for SIMD units; direct sums for short windows, running sums or Fourier for long ones."
CUPYX = "The library's own kernels: one separable correlation an axis, nothing to write yourself."
NAIVE = "One thread an output; it loads every tap and every sample from global memory."
CONSTANT = "All lanes need the same tap at once, so constant memory broadcasts it: half the global loads."
SHARED = "Neighbours share samples, so the block fetches each once and slides its window in shared memory."

VECTOR = "Short windows need no tile: a thread loads 16 bytes and the words beside them, and works in registers."
SCAN = "Differences of a tile's running sum: the work does not grow with the window."
ROWS = "No tile and no barrier: a thread marches down a few rows of 16 bytes, in registers; a row is summed once."
PACKED = "Bytes are added two at a time, as pairs of 16 bits in a word, and packed into words again."

EDGE_LOADS = "threads at the edges load single values, those of odd rows words: counts of the code, not of the idea"
TILE_LOADS = "blocks at the ends load single values, the others vectors, and both end in the middle of a block"


def _signal() -> tuple[Variant, ...]:
    """The ladder of signals."""
    knobs, direct, arguments = (BLOCK, OUTPUTS), limits.direct_kernel(1), plans.arguments
    tile = {"supports": shared_fits(plans.tile1d), "refuses": (TILE,), "accesses": accesses.tiled1d}
    vector = {"knobs": (BLOCK, fast.VECTORS), "supports": fast.vector_can, "uncounted": EDGE_LOADS}
    wide = Refusal("bytes on either side", {"param window": (4095,)})
    scan = {
        "knobs": (fast.SCAN_BLOCK,),
        "supports": fast.scan_can,
        "uncounted": TILE_LOADS,
        "largest": fast.scan_largest,
    }
    scan |= {"tolerance": fast.scan_tolerance, "caveat": fast.SCAN_CAVEAT, "operations": fast.scan_work}
    scan["refuses"] = (Refusal("of one channel", {"shape": ((1025, 2), (97, 3))}), TILE, FINITE)
    naive, constant = accesses.direct1d(2), accesses.direct1d(1)
    kernel = {"knobs": knobs, "source": "S4", **direct}
    return (
        cpu("serial", "CPU, one core", SERIAL, plans.serial1d, arguments, source="S4", **limits.serial(1)),
        cpu("parallel", "CPU, all cores", PARALLEL, plans.parallel1d, arguments, **limits.parallel(1)),
        peer("scipy", "SciPy", SCIPY, "scipy.ndimage", peers.scipy_mean1d, arguments, **limits.scipy(1)),
        peer("opencv", "OpenCV", OPENCV, "cv2", peers.opencv_mean1d, arguments, **limits.opencv(1)),
        cuda("mean1d/1_naive.cu", "naive", NAIVE, plans.signal(False), accesses=naive, **kernel),
        cuda("mean1d/2_constant.cu", "constant taps", CONSTANT, plans.signal(True), accesses=constant, **kernel),
        cuda("mean1d/3_shared.cu", "constant + shared", SHARED, plans.signal(True, plans.tile1d), **tile, **kernel),
        cuda("mean1d/4_vector.cu", "vectorised", VECTOR, fast.vector, refuses=(wide,), **{**kernel, **vector}),
        cuda("mean1d/5_scan.cu", "scan tile", SCAN, fast.scan, source="S4", **scan),
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", **direct),
    )


def _image() -> tuple[Variant, ...]:
    """The ladder of images."""
    direct, arguments = limits.direct_kernel(2), plans.arguments
    kernel = {"knobs": (BLOCK, OUTPUTS), "source": "S1, S4", "supports": plans.rows_fit, **direct}
    tile = {"supports": both(plans.rows_fit, shared_fits(plans.tile2d)), "refuses": (TILE,)}
    short = Refusal("its windows are 3, 5, 7", {"param window": (13, 63)})
    rows = {"knobs": (BLOCK, rows_knob(4, 1, 2, 4)), "supports": fast.rows_can, "refuses": (short,)}
    others = Refusal("bytes in pairs", {"dtype": ("uint16", "float32", "float64")})
    pairs = {"refuses": (others, Refusal("made for window 3", {"param window": (13, 63)}))}
    packed = {"knobs": (BLOCK, rows_knob(5, 2, 4, 5)), "supports": fast.packed_can, "source": "S1, S4", **pairs}
    naive, constant, tiled = accesses.direct2d(2), accesses.direct2d(1), {"accesses": accesses.tiled2d, **tile}
    return (
        cpu("serial", "CPU, one core", SERIAL, plans.serial2d, arguments, source="S1, S4", **limits.serial(2)),
        cpu("parallel", "CPU, all cores", PARALLEL, plans.parallel2d, arguments, **limits.parallel(2)),
        peer("scipy", "SciPy", SCIPY, "scipy.ndimage", peers.scipy_mean2d, arguments, **limits.scipy(2)),
        peer("opencv", "OpenCV", OPENCV, "cv2", peers.opencv_mean2d, arguments, **limits.opencv(2)),
        cuda("mean2d/1_naive.cu", "naive", NAIVE, plans.image(False), accesses=naive, **kernel),
        cuda("mean2d/2_constant.cu", "constant taps", CONSTANT, plans.image(True), accesses=constant, **kernel),
        cuda("mean2d/3_shared.cu", "constant + shared", SHARED, plans.image(True, plans.tile2d), **{**kernel, **tiled}),
        cuda("mean2d/4_rows.cu", "row march", ROWS, fast.image, uncounted=EDGE_LOADS, **{**kernel, **rows}),
        cuda("mean2d/5_packed.cu", "packed bytes", PACKED, fast.image, uncounted=EDGE_LOADS, **packed),
        Variant("cupyx", "cupyx", CUPYX, plans.cupyx, "cuda", library="cupyx", **direct),
    )


PICKED = ("serial", "parallel", "naive", "constant", "shared")
"""The source's own steps, which every window and sample type has."""

MEAN1D = Filter(
    id="mean1d",
    family="mean",
    title="Mean (signal)",
    summary="The mean of an odd window around every sample of a signal.",
    accepts="signal",
    dtypes=DTYPES,
    params=(Param("window", 5, 3, 4095, 2, unit="samples", help="length of the window"), BORDER),
    outputs=(Output("signal", "signal", "", limits.direct1d),),
    reference=reference.reference1d,
    work=work,
    locality=Locality("halo", lambda task: (task.params["window"] // 2,)),
    check=check1d,
    claims=CLAIMS,
    source="S4",
    picked=PICKED,
    variants=_signal(),
)

MEAN2D = Filter(
    id="mean2d",
    family="mean",
    title="Mean (image)",
    summary="The mean of an odd square window around every pixel of an image, channel by channel.",
    accepts="image",
    dtypes=DTYPES,
    params=(Param("window", 3, 3, 63, 2, unit="pixels", help="side of the window"), BORDER),
    outputs=(Output("image", "image", "", limits.direct2d),),
    reference=reference.reference2d,
    work=work,
    locality=Locality("halo", lambda task: (task.params["window"] // 2,) * 2),
    source="S1, S4",
    picked=PICKED,
    variants=_image(),
)
