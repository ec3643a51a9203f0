"""Reductions of signals and images to sum, extremes, mean and variance, each channel by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import cuda
from gpu_ops.filters.reduce import peers, plans
from gpu_ops.filters.reduce.exact import reference
from gpu_ops.filters.reduce.figures import (
    SPREADS,
    STATISTICS,
    SUMS,
    check,
    figure_sizes,
    largest,
    levels,
    loss,
    one_by_one,
    samples,
    scales,
    table_form,
    tree,
    wanted,
)
from gpu_ops.filters.reduce.laws import CLAIMS, LAWS
from gpu_ops.filters.reduce.merging import merge, whole
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param
from gpu_ops.plan import Limits
from gpu_ops.task import Task, Trial
from gpu_ops.types import DTYPES, Filter, Locality, Output, Refusal, Variant, Work

STATISTIC = Param(
    "statistic", "sum", choices=STATISTICS, help="what is made of a channel's samples; NaN among them makes it NaN"
)
COMPENSATED = Param(
    "compensated",
    "off",
    choices=("off", "pairs"),
    when={"statistic": SUMS},
    help="pairs carry what each addition of floats loses beside the sum (Neumaier); sums of integers are exact",
)
BLOCK = Param("block", 256, choices=(32, 64, 128, 256, 512), tries=(32, 256), unit="threads", help="threads a block")
THREADS = Param(
    "threads",
    16384,
    choices=(16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144),
    tries=(16, 256, 1024),
    unit="threads",
    help="threads in all: each joins its share of the samples one after the other",
)
EACH = Param(
    "each", 16, choices=(4, 16, 64), tries=(4, 16), unit="samples", help="samples a thread, and more of long inputs"
)

PASS_BLOCK = replace(BLOCK, default=1024, choices=(128, 256, 512, 1024), tries=(128, 512))
BLOCKS = Param("blocks", 2, 1, 8, tries=(1, 2), unit="blocks", help="blocks a multiprocessor at most")
LOADS = Param("loads", 2, choices=(1, 2, 4, 8), tries=(1, 4), help="reads of 16 bytes that a thread has under way")

SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = (
    "Each core adds blocks that fit its first-level cache, in eight sums side by side; blocks are joined in pairs."
)
NUMPY = "What most Python programs call, a figure and a channel at a time; floats are added in float64."
ADJACENT = "Neighbours are joined, then pairs: ever fewer lanes of every warp work, and the others wait."
STRIDED = "The first threads work, so warps are whole; their places lie apart, and lanes meet in the same banks."
SEQUENTIAL = "The fan-in: the lower half joins the upper half, side by side, without bank conflicts."
FIRST_ADD = "Each thread joins two samples while it loads, so half as many blocks do the same work."
TWO_PHASE = "P threads join their share of the samples one after the other, and only their P states fan in."
WARP_SHUFFLE = "Lanes pass states on in registers: no shared memory and no barrier but one exchange between warps."
ONE_PASS = (
    "One launch for all figures: 16 bytes a read, the next asked for as soon as one is taken, and the last block joins"
    " what all blocks have."
)
CUPY = "The library's reductions, nothing to write yourself; a call for each figure of each channel."

PASS_CHANNELS = 4

LOOP_LOSS = "A loop rounds each of its sums: up to one unit in the last place a sample, of the magnitudes added."
SHARE_LOSS = "A thread adds its share one after the other, which rounds more often than a tree."
LIBRARY_LOSS = "The library adds pieces one after the other, which rounds more often than a tree."


def work(task: Task) -> Work:
    """Every value read once, every figure written once; an addition or a comparison a value and figure."""
    form = table_form(task)
    written = int(np.prod(form.shape)) * np.dtype(form.dtype).itemsize
    return Work(task.meta.nbytes, written, task.meta.size * len(wanted(task)))


def _share(task: Task) -> float:
    """The longest chain of the two-phase sum."""
    threads = int(task.knobs["threads"])
    return samples(task) / threads + 2 * levels(threads)


def _wave(task: Task) -> float:
    """The longest chain of the shuffling kernel: a thread's share, and trees over threads and blocks."""
    blocks, block = plans.one_wave(task, samples(task), True)
    return samples(task) / (blocks * block) + 2 * levels(blocks * block) + int(task.knobs["each"])


def _pass(task: Task) -> float:
    """The longest chain of the one-pass kernel: a thread's share, then trees. The squares of a warp's shares lie around
    the mean of its first samples, which may be farther from the mean than all others: they lose as much once more for
    each sample of a share."""
    threads = plans.one_pass_blocks(task) * int(task.knobs["block"])
    share = samples(task) / threads + 16
    return (share if task.params["statistic"] not in SPREADS else share**2) + 4 * levels(threads)


def _few_channels(task: Task) -> str | None:
    channels = task.meta.channels
    return None if channels <= PASS_CHANNELS else f"a thread keeps {PASS_CHANNELS} channels at most, not {channels}"


def _trials(kind: Kind) -> Callable[[Limits], tuple[Trial, ...]]:
    """Threads of the one-pass kernel that read several rounds, and more blocks than the last one has threads where the
    device has many multiprocessors."""

    def trials(limits: Limits) -> tuple[Trial, ...]:
        threads, knobs = 2 * 128 * limits.multiprocessors, {"block": 128, "blocks": 2, "loads": 1}
        cases = ("float64", "all", 7), ("uint8", "all", 56), ("float32", "min", 14)
        shapes = ((threads * each + 3,) if kind == "signal" else (each + 1, threads) for *_, each in cases)
        return tuple(
            Trial(shape, dtype, "NaN" if statistic == "min" else "random", {"statistic": statistic}, knobs)
            for shape, (dtype, statistic, _) in zip(shapes, cases, strict=True)
        )

    return trials


def _exactness(chain: Callable[[Task], float], caveat: str) -> dict[str, Any]:
    return {"tolerance": loss(chain), "caveat": caveat}


def _hosts() -> tuple[Variant, ...]:
    own: dict[str, Any] = {"device": "cpu", "largest": largest}
    plain = {"supports": peers.adds_plainly, "refuses": (Refusal("without compensation"),)}
    blocks = _exactness(lambda task: 2048 + tree(task), "A block of 4096 samples is added in eight chains of 512.")
    by_numpy = {**plain, **_exactness(peers.numpy_chain, LIBRARY_LOSS)}
    return (
        Variant(
            "serial", "CPU, one core", SERIAL, plans.host(plans.serial), **own, **_exactness(one_by_one, LOOP_LOSS)
        ),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.host(plans.parallel), **own, **blocks),
        Variant(
            "numpy", "NumPy", NUMPY, plans.library("numpy", peers.numpy_figures), library="numpy", **own, **by_numpy
        ),
    )


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    def kernel(file: str, title: str, idea: str, shaping: plans.Shaping, *knobs: Param, **more: Any) -> Variant:
        how = {name: more.pop(name) for name in ("narrow", "by_warp") if name in more}
        fields: dict[str, Any] = {"source": "S3", "largest": largest, "accesses": plans.accesses(shaping), **more}
        return cuda(f"reduce/{file}.cu", title, idea, plans.kernels(shaping, **how), knobs=knobs, **fields)

    once: dict[str, Any] = {"knobs": (PASS_BLOCK, BLOCKS, LOADS), "largest": largest, **_exactness(_pass, SHARE_LOSS)}
    once |= {"uncounted": "a load reads 16 bytes, and a rest of samples one by one", "source": "own"}
    once |= {"supports": _few_channels, "trials": _trials(kind)}
    share, wave = _exactness(_share, SHARE_LOSS), _exactness(_wave, SHARE_LOSS)
    return (
        kernel("1_adjacent", "adjacent pairs", ADJACENT, plans.one_each, BLOCK, narrow=True),
        kernel("2_strided", "strided places", STRIDED, plans.one_each, BLOCK, narrow=True),
        kernel("3_sequential", "fan-in", SEQUENTIAL, plans.one_each, BLOCK, narrow=True),
        kernel("4_first_add", "first add at load", FIRST_ADD, plans.two_each, BLOCK, narrow=True),
        kernel("5_two_phase", "two phases", TWO_PHASE, plans.chosen_threads, THREADS, **share),
        kernel("6_warp_shuffle", "warp shuffles", WARP_SHUFFLE, plans.one_wave, BLOCK, EACH, by_warp=True, **wave),
        cuda("reduce/7_one_pass.cu", "one pass", ONE_PASS, plans.one_pass, **once),
    )


def _libraries() -> tuple[Variant, ...]:
    own: dict[str, Any] = {"device": "cuda", "library": "cupy", "largest": largest}
    plain = {"supports": peers.adds_plainly, "refuses": (Refusal("without compensation"),)}
    by_cupy = {**plain, **_exactness(peers.numpy_chain, LIBRARY_LOSS)}
    return (Variant("cupy", "CuPy", CUPY, plans.by_cupy, **own, **by_cupy),)


SUMMARY = (
    "Sum, least, largest, mean or variance of each channel or colour, or all of them. Sums of integers are exact;"
    " floats are added in float64. NaN makes every figure of its channel NaN."
)
OUTPUT = Output("figures", "table", "", loss(tree), form=table_form, own_scale=True, scales=scales, sizes=figure_sizes)
PICKED = ("serial", "parallel", "adjacent", "sequential", "two_phase", "warp_shuffle")


def _filter(kind: Kind, id: str, title: str, **more: Any) -> Filter:
    return Filter(
        id=id,
        family="reduce",
        title=title,
        summary=SUMMARY,
        accepts=kind,
        dtypes=DTYPES,
        params=(STATISTIC, COMPENSATED),
        outputs=(OUTPUT,),
        reference=reference,
        work=work,
        locality=Locality("mergeable", merge=merge, whole=whole),
        check=check,
        source="S3",
        picked=PICKED,
        variants=(*_hosts(), *_kernels(kind), *_libraries()),
        **more,
    )


REDUCE1D = _filter("signal", "reduce1d", "Reduction (signal)", claims=CLAIMS, laws=LAWS)
REDUCE2D = _filter("image", "reduce2d", "Reduction (image)", laws=LAWS)
