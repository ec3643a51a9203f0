"""Reductions of signals and images to sum, extremes, mean and variance, each channel by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from gpu_ops.filters.kit.planning import SERIAL_LOOP, cuda
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
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.params import Param
from gpu_ops.plan import Device, Limits, Plan
from gpu_ops.task import Task, Trial
from gpu_ops.types import DTYPES, Claim, Counts, Exactness, Filter, Locality, Output, Rule, Variant, Work

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


FEW_CHANNELS = Rule(lambda task: task.meta.channels > 4, "a thread keeps 4 channels at most, not {meta.channels}")
IN_A_LOOP = Exactness(
    loss(one_by_one),
    "A loop rounds each of its sums: up to one unit in the last place a sample, of the magnitudes added.",
)
IN_BLOCKS = Exactness(loss(lambda task: 2048 + tree(task)), "A block of 4096 samples is added in eight chains of 512.")
SHARE = "A thread adds its share one after the other, which rounds more often than a tree."
IN_PIECES = Exactness(
    loss(peers.numpy_chain), "The library adds pieces one after the other, which rounds more often than a tree."
)


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


def _kernel(
    file: str,
    title: str,
    idea: str,
    shaping: plans.Shaping,
    *knobs: Param,
    chain: Callable[[Task], float] | None = None,
) -> Variant:
    """A kernel that is launched on samples, and then on its own states; a thread may have a long `chain` of
    additions."""
    how, counts = (f"reduce/{file}.cu", title, idea, plans.kernels(shaping)), Counts(plans.accesses(shaping))
    exactness = Exactness(loss(chain), SHARE) if chain else None
    return cuda(*how, knobs=knobs, source="S3", largest=largest, counts=counts, exactness=exactness)


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    return (
        _kernel("1_adjacent", "adjacent pairs", ADJACENT, plans.one_each, BLOCK),
        _kernel("2_strided", "strided places", STRIDED, plans.one_each, BLOCK),
        _kernel("3_sequential", "fan-in", SEQUENTIAL, plans.one_each, BLOCK),
        _kernel("4_first_add", "first add at load", FIRST_ADD, plans.two_each, BLOCK),
        _kernel("5_two_phase", "two phases", TWO_PHASE, plans.chosen_threads, THREADS, chain=_share),
        _kernel("6_warp_shuffle", "warp shuffles", WARP_SHUFFLE, plans.one_wave, BLOCK, EACH, chain=_wave),
        cuda(
            *("reduce/7_one_pass.cu", "one pass", ONE_PASS, plans.one_pass),
            *((FEW_CHANNELS,) if kind == "signal" else ()),
            knobs=(PASS_BLOCK, BLOCKS, LOADS),
            source="own",
            largest=largest,
            trials=_trials(kind),
            counts=Counts(uncounted="a load reads 16 bytes, and a rest of samples one by one"),
            exactness=Exactness(loss(_pass), SHARE),
        ),
    )


def _library(
    id: str, title: str, idea: str, plan: Callable[[Device, Task], Plan], device: Literal["cpu", "cuda"]
) -> Variant:
    rules, exactness = (peers.ADDS_PLAINLY,), IN_PIECES
    return Variant(id, title, idea, plan, device, library=id, rules=rules, largest=largest, exactness=exactness)


def _variants(kind: Kind) -> tuple[Variant, ...]:
    one, every, by_numpy = plans.host(False), plans.host(True), plans.library("numpy", peers.numpy_figures)
    return (
        Variant("serial", "CPU, one core", SERIAL_LOOP, one, "cpu", largest=largest, exactness=IN_A_LOOP),
        Variant("parallel", "CPU, all cores", PARALLEL, every, "cpu", largest=largest, exactness=IN_BLOCKS),
        _library("numpy", "NumPy", NUMPY, by_numpy, "cpu"),
        *_kernels(kind),
        _library("cupy", "CuPy", CUPY, plans.by_cupy, "cuda"),
    )


SUMMARY = (
    "Sum, least, largest, mean or variance of each channel or colour, or all of them. Sums of integers are exact;"
    " floats are added in float64. NaN makes every figure of its channel NaN."
)
OUTPUT = Output("figures", "table", "", loss(tree), form=table_form, own_scale=True, scales=scales, sizes=figure_sizes)
PICKED = ("serial", "parallel", "adjacent", "sequential", "two_phase", "warp_shuffle")


def _filter(kind: Kind, claims: tuple[Claim, ...] = ()) -> Filter:
    return Filter(
        id=f"reduce{INPUT_KINDS[kind].rank}d",
        family="reduce",
        title=f"Reduction ({kind})",
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
        variants=_variants(kind),
        claims=claims,
        laws=LAWS,
    )


REDUCE1D, REDUCE2D = _filter("signal", CLAIMS), _filter("image")
