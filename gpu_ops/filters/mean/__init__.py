"""The mean filter, for signals and for images: every output is the mean of an odd window around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gpu_ops.errors import ParamError
from gpu_ops.filters.mean import accesses, limits, plans, reference
from gpu_ops.filters.mean.claims import CLAIMS
from gpu_ops.filters.planning import Support, anything, both
from gpu_ops.params import Param, Values
from gpu_ops.types import BORDERS, DTYPES, Accesses, Filter, Locality, Meta, Output, Variant, Work

BLOCK = Param("block", 128, 16, 1024, 16, unit="threads", help="threads a block")
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


def _variants(axes: int, source: str) -> tuple[Variant, ...]:
    """The ladder, the same for signals (one axis) and images (two)."""
    output = "signal" if axes == 1 else "image"
    host = partial(plans.host_plan, f"mean{axes}d", output)
    peer = partial(plans.peer_plan, f"mean{axes}d", output)

    def cuda(number: int, id: str, title: str, idea: str) -> Variant:
        return Variant(
            id,
            f"{number} {title}",
            idea,
            partial(plans.cuda1d if axes == 1 else plans.cuda2d, id),
            "cuda",
            kernels=(f"mean{axes}d/{number}_{id}.cu",),
            knobs=(BLOCK, OUTPUTS),
            supports=SUPPORTS[axes][id],
            source=source,
            accesses=ACCESSES[axes][id],
        )

    return (
        Variant("serial", "CPU, one core", SERIAL, partial(host, "serial"), "cpu", source=source),
        Variant("parallel", "CPU, all cores", PARALLEL, partial(host, "parallel"), "cpu", **limits.parallel(axes)),
        Variant("scipy", "SciPy", SCIPY, partial(peer, "scipy", "scipy.ndimage"), "cpu", **limits.scipy(axes)),
        Variant("opencv", "OpenCV", OPENCV, partial(peer, "opencv", "cv2"), "cpu", **limits.opencv(axes)),
        cuda(1, "naive", "naive", NAIVE),
        cuda(2, "constant", "constant taps", CONSTANT),
        cuda(3, "shared", "constant + shared", SHARED),
        Variant("cupyx", "cupyx", CUPYX, partial(plans.cupyx_mean, output), "cuda", library="cupyx"),
    )


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
    variants=_variants(1, "S4"),
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
    variants=_variants(2, "S1, S4"),
)
