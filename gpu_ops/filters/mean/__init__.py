"""The mean filter, for signals and for images: every output is the mean of an odd window around it."""

from __future__ import annotations

from functools import partial

from gpu_ops.errors import ParamError
from gpu_ops.filters.mean import accesses, limits, plans, reference
from gpu_ops.filters.mean.claims import CLAIMS
from gpu_ops.params import Param, Values
from gpu_ops.types import BORDERS, DTYPES, Filter, Locality, Meta, Output, Variant, Work

BLOCK = Param("block", 128, 16, 1024, 16, unit="threads", help="threads a block")
OUTPUTS = Param("outputs", 2, choices=(1, 2, 4, 8), help="outputs a thread")
BORDER = Param("border", "reflect", choices=BORDERS, help="what lies beyond the edges")
KNOBS = (BLOCK, OUTPUTS)


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


def _host(axes: int, id: str, title: str, idea: str, **more: object) -> Variant:
    output = "signal" if axes == 1 else "image"
    plan = partial(plans.host_plan, f"mean{axes}d_{id}", output)
    return Variant(id, title, idea, plan, "cpu", **more)  # type: ignore[arg-type]


def _peer(axes: int, id: str, module: str, title: str, idea: str, **more: object) -> Variant:
    output = "signal" if axes == 1 else "image"
    plan = partial(plans.peer_plan, f"{id}_mean{axes}d", module, output)
    return Variant(id, title, idea, plan, "cpu", library=module.split(".")[0], **more)  # type: ignore[arg-type]


SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "The same on all cores; long windows slide a sum instead of adding every tap."
SCIPY = "What most Python programs call; a running sum on one core for floating samples."
OPENCV = "A library tuned for SIMD units; a running column sum for every window."
CUPYX = "The library's own kernels: one separable correlation an axis, nothing to write yourself."
NAIVE = "One thread an output; every tap and every sample is asked of global memory."
CONSTANT = "All lanes want the same tap at once, so constant memory broadcasts it: half the global loads."
SHARED = "Neighbours share samples, so the block fetches each once and slides its window in shared memory."

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
    source="S4",
    variants=(
        _host(1, "serial", "CPU, one core", SERIAL, source="S4"),
        _host(1, "parallel", "CPU, all cores", PARALLEL, tolerance=limits.parallel1d, caveat=limits.PARALLEL_CAVEAT),
        _peer(
            1,
            "scipy",
            "scipy.ndimage",
            "SciPy",
            SCIPY,
            supports=limits.scipy_supports,
            tolerance=limits.scipy1d,
            caveat=limits.SCIPY_CAVEAT,
        ),
        _peer(
            1,
            "opencv",
            "cv2",
            "OpenCV",
            OPENCV,
            supports=limits.opencv_supports,
            tolerance=limits.opencv1d,
            caveat=limits.OPENCV_CAVEAT,
        ),
        Variant(
            "naive",
            "1 naive",
            NAIVE,
            partial(plans.cuda1d, "naive"),
            "cuda",
            kernels=("mean1d/1_naive.cu",),
            knobs=KNOBS,
            source="S4",
            accesses=accesses.direct1d(2),
        ),
        Variant(
            "constant",
            "2 constant taps",
            CONSTANT,
            partial(plans.cuda1d, "constant"),
            "cuda",
            kernels=("mean1d/2_constant.cu",),
            knobs=KNOBS,
            source="S4",
            accesses=accesses.direct1d(1),
        ),
        Variant(
            "shared",
            "3 constant + shared",
            SHARED,
            partial(plans.cuda1d, "shared"),
            "cuda",
            kernels=("mean1d/3_shared.cu",),
            knobs=KNOBS,
            supports=plans.shared_fits,
            source="S4",
            accesses=accesses.tiled1d,
        ),
        Variant("cupyx", "cupyx", CUPYX, partial(plans.cupyx_mean, "signal"), "cuda", library="cupyx"),
    ),
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
    source="S1, S4",
    variants=(
        _host(2, "serial", "CPU, one core", SERIAL),
        _host(2, "parallel", "CPU, all cores", PARALLEL),
        _peer(
            2,
            "scipy",
            "scipy.ndimage",
            "SciPy",
            SCIPY,
            supports=limits.scipy_supports,
            tolerance=limits.scipy2d,
            caveat=limits.SCIPY_CAVEAT,
        ),
        _peer(
            2,
            "opencv",
            "cv2",
            "OpenCV",
            OPENCV,
            supports=limits.opencv_supports,
            tolerance=limits.opencv2d,
            caveat=limits.OPENCV_CAVEAT,
        ),
        Variant(
            "naive",
            "1 naive",
            NAIVE,
            partial(plans.cuda2d, "naive"),
            "cuda",
            kernels=("mean2d/1_naive.cu",),
            knobs=KNOBS,
            supports=plans.image_fits,
            source="S1, S4",
            accesses=accesses.direct2d(2),
        ),
        Variant(
            "constant",
            "2 constant taps",
            CONSTANT,
            partial(plans.cuda2d, "constant"),
            "cuda",
            kernels=("mean2d/2_constant.cu",),
            knobs=KNOBS,
            supports=plans.image_fits,
            source="S1, S4",
            accesses=accesses.direct2d(1),
        ),
        Variant(
            "shared",
            "3 constant + shared",
            SHARED,
            partial(plans.cuda2d, "shared"),
            "cuda",
            kernels=("mean2d/3_shared.cu",),
            knobs=KNOBS,
            supports=plans.both(plans.image_fits, plans.shared_fits),
            source="S1, S4",
            accesses=accesses.tiled2d,
        ),
        Variant("cupyx", "cupyx", CUPYX, partial(plans.cupyx_mean, "image"), "cuda", library="cupyx"),
    ),
)
