"""The mean filter, for signals and for images: every output is the mean of an odd window around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gpu_ops.errors import ParamError
from gpu_ops.filters.mean import accesses, fast, limits, plans, reference
from gpu_ops.filters.mean.claims import CLAIMS
from gpu_ops.filters.planning import Support, anything, both
from gpu_ops.filters.spans import BLOCK, rows_knob
from gpu_ops.params import Param, Values
from gpu_ops.plan import Plan
from gpu_ops.types import BORDERS, DTYPES, Accesses, Filter, Locality, Meta, Output, Variant, Work

OUTPUTS = Param("outputs", 2, choices=(1, 2, 4, 8), help="outputs a thread")
BORDER = Param("border", "reflect", choices=BORDERS, help="what lies beyond the edges")


def work(meta: Meta, params: Values) -> Work:
    """One read and one write of every value, one addition a tap."""
    axes = 2 if meta.kind == "image" else 1
    return Work(meta.nbytes, meta.nbytes, meta.size * params["window"] ** axes)


def check1d(meta: Meta, params: Values) -> None:
    """A window may not be longer than the signal."""
    if params["window"] > meta.shape[0]:
        longest = meta.shape[0] - (meta.shape[0] + 1) % 2
        advice = f"choose an odd window up to {longest}" if longest >= 3 else "load a signal of at least 3 samples"
        raise ParamError(f"window {params['window']} is longer than the signal of {meta.shape[0]} samples; {advice}.")


SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "The same on all cores and SIMD lanes, with neighbouring windows sharing their sums."
SCIPY = "What most Python programs call; a running sum on one core for floating samples."
OPENCV = "A library tuned for SIMD units; direct sums for short windows, running sums or Fourier for long ones."
CUPYX = "The library's own kernels: one separable correlation an axis, nothing to write yourself."
NAIVE = "One thread an output; every tap and every sample is asked of global memory."
CONSTANT = "All lanes want the same tap at once, so constant memory broadcasts it: half the global loads."
SHARED = "Neighbours share samples, so the block fetches each once and slides its window in shared memory."

VECTOR = "Short windows need no tile: 16 bytes a thread and the words beside them, all means made in registers."
SCAN = "Differences of a tile's running sum: the work does not grow with the window."
ROWS = "No tile and no barrier: a thread marches down a few rows of 16 bytes, in registers; a row is summed once."
PACKED = "Bytes are added two at a time, as pairs of 16 bits in a word, and put together again as words."

SUPPORTS: dict[int, dict[str, Support]] = {
    1: {"naive": anything, "constant": anything, "shared": plans.shared_fits},
    2: {
        "naive": plans.image_fits,
        "constant": plans.image_fits,
        "shared": both(plans.image_fits, plans.shared_fits),
    },
}
ACCESSES: dict[int, dict[str, Callable[[Meta, Values, Values], Accesses]]] = {
    1: {"naive": accesses.direct1d(2), "constant": accesses.direct1d(1), "shared": accesses.tiled1d},
    2: {"naive": accesses.direct2d(2), "constant": accesses.direct2d(1), "shared": accesses.tiled2d},
}


SOURCES = {1: "S4", 2: "S1, S4"}


def _kernel(
    axes: int,
    number: int,
    id: str,
    title: str,
    idea: str,
    plan: Callable[..., Plan],
    knobs: tuple[Param, ...],
    supports: Support,
    **more: Any,
) -> Variant:
    """The variant of a kernel file."""
    kernels = (f"mean{axes}d/{number}_{id}.cu",)
    return Variant(id, f"{number} {title}", idea, plan, "cuda", kernels, knobs, supports, SOURCES[axes], **more)


def _fast1d() -> tuple[Variant, ...]:
    scan: dict[str, Any] = {"tolerance": fast.scan_tolerance, "caveat": fast.SCAN_CAVEAT, "operations": fast.scan_work}
    scan["largest"] = fast.scan_largest
    knobs = (BLOCK, fast.VECTORS)
    return (
        _kernel(1, 4, "vector", "vectorised", VECTOR, fast.vector, knobs, fast.vector_can, **limits.direct_kernel(1)),
        _kernel(1, 5, "scan", "scan tile", SCAN, fast.scan, (fast.SCAN_BLOCK,), fast.scan_can, **scan),
    )


def _fast2d() -> tuple[Variant, ...]:
    rows, packed, direct = partial(fast.image, "rows"), partial(fast.image, "packed"), limits.direct_kernel(2)
    return (
        _kernel(2, 4, "rows", "row march", ROWS, rows, (BLOCK, rows_knob(4, 1, 2, 4)), fast.rows_can, **direct),
        _kernel(2, 5, "packed", "packed bytes", PACKED, packed, (BLOCK, rows_knob(5, 2, 4, 5)), fast.packed_can),
    )


def _variants(axes: int) -> tuple[Variant, ...]:
    """The ladder, the same for signals (one axis) and images (two)."""
    output = "signal" if axes == 1 else "image"
    host = partial(plans.host_plan, f"mean{axes}d", output)
    peer = partial(plans.peer_plan, f"mean{axes}d", output)
    source, own = SOURCES[axes], limits.serial(axes)

    def cuda(number: int, id: str, title: str, idea: str) -> Variant:
        plan = partial(plans.cuda1d if axes == 1 else plans.cuda2d, id)
        knobs, supports = (BLOCK, OUTPUTS), SUPPORTS[axes][id]
        more = {"accesses": ACCESSES[axes][id], **limits.direct_kernel(axes)}
        return _kernel(axes, number, id, title, idea, plan, knobs, supports, **more)

    return (
        Variant("serial", "CPU, one core", SERIAL, partial(host, "serial"), "cpu", source=source, **own),
        Variant("parallel", "CPU, all cores", PARALLEL, partial(host, "parallel"), "cpu", **limits.parallel(axes)),
        Variant("scipy", "SciPy", SCIPY, partial(peer, "scipy", "scipy.ndimage"), "cpu", **limits.scipy(axes)),
        Variant("opencv", "OpenCV", OPENCV, partial(peer, "opencv", "cv2"), "cpu", **limits.opencv(axes)),
        cuda(1, "naive", "naive", NAIVE),
        cuda(2, "constant", "constant taps", CONSTANT),
        cuda(3, "shared", "constant + shared", SHARED),
        *(_fast1d() if axes == 1 else _fast2d()),
        Variant("cupyx", "cupyx", CUPYX, partial(plans.cupyx_mean, output), "cuda", **limits.cupyx(axes)),
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
    outputs=(Output("signal", "signal", "as the input", limits.direct1d),),
    reference=reference.reference1d,
    work=work,
    locality=Locality("halo", lambda params: (params["window"] // 2,)),
    check=check1d,
    claims=CLAIMS,
    source=SOURCES[1],
    picked=PICKED,
    variants=_variants(1),
)

MEAN2D = Filter(
    id="mean2d",
    family="mean",
    title="Mean (image)",
    summary="The mean of an odd square window around every pixel of an image, channel by channel.",
    accepts="image",
    dtypes=DTYPES,
    params=(Param("window", 3, 3, 63, 2, unit="pixels", help="side of the window"), BORDER),
    outputs=(Output("image", "image", "as the input", limits.direct2d),),
    reference=reference.reference2d,
    work=work,
    locality=Locality("halo", lambda params: (params["window"] // 2,) * 2),
    source=SOURCES[2],
    picked=PICKED,
    variants=_variants(2),
)
