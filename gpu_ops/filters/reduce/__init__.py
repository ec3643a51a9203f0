"""Reductions of signals and images to sum, extremes, mean and variance, separately for each channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from gpu_ops.filters.kit.planning import SERIAL_LOOP, cuda
from gpu_ops.filters.kit.rules import one_channel
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
    samples,
    scales,
    sequential_chain,
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

STATISTIC = Param("statistic", "sum", choices=STATISTICS, help="what is computed of each channel; NaN propagates")
COMPENSATED = Param(
    "compensated",
    "off",
    choices=("off", "pairs"),
    when={"statistic": SUMS},
    help=(
        "pairs: compensated summation (Neumaier), which carries the rounding errors of floats along; sums of "
        "integers are exact"
    ),
)
BLOCK = Param("block", 256, choices=(32, 64, 128, 256, 512), tries=(32, 256), unit="threads", help="threads per block")
THREADS = Param(
    "threads",
    16384,
    choices=(16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144),
    tries=(16, 256, 1024),
    unit="threads",
    help="threads in total; each reduces its share of the samples serially",
)
ITEMS = Param(
    "items",
    16,
    choices=(4, 16, 64),
    tries=(4, 16),
    unit="samples",
    help="samples per thread; more for long inputs",
    formerly=("each",),
)

PASS_BLOCK = replace(BLOCK, default=1024, choices=(128, 256, 512, 1024), tries=(128, 512))
BLOCKS = Param("blocks", 2, 1, 8, tries=(1, 2), unit="blocks", help="blocks per multiprocessor, at most")
LOADS = Param("loads", 2, choices=(1, 2, 4, 8), tries=(1, 4), help="16-byte loads in flight per thread")

PARALLEL = "Each core sums blocks that fit its L1 cache, in eight accumulators; blocks are combined pairwise."
NUMPY = "What most Python programs call, for one statistic and channel at a time; floats are summed in float64."
ADJACENT = "Interleaved addressing: each step halves the active lanes of every warp, and all warps diverge."
STRIDED = "Interleaved addressing by the first threads: no divergence, but strides that cause bank conflicts."
SEQUENTIAL = (
    "Sequential addressing (fan-in): the lower half of the threads adds the upper half, without bank conflicts."
)
FIRST_ADD = (
    "First add during load: each thread combines two samples as it loads them, so half as many blocks do the work."
)
TWO_PHASE = "P threads first reduce their shares serially; only the P partial results go through the fan-in."
WARP_SHUFFLE = (
    "Lanes combine partial results by shuffles, in registers; only warps exchange theirs through shared memory, once."
)
ONE_PASS = (
    "One launch for all statistics: several 16-byte loads in flight per thread; the last block to finish "
    "combines all partial results."
)
CUB = "cuda.compute calls CUB's device-wide reduction, compiled for these types in advance."
CUPY = "The library's reductions, no kernel to write; one call per statistic and channel."


def work(task: Task) -> Work:
    """Every value read once, every result written once; an addition or a comparison per value and statistic."""
    form = table_form(task)
    written = int(np.prod(form.shape)) * np.dtype(form.dtype).itemsize
    return Work(task.meta.nbytes, written, task.meta.size * len(wanted(task)))


def _share(task: Task) -> float:
    """The longest chain of additions of the two-phase sum."""
    threads = int(task.knobs["threads"])
    return samples(task) / threads + 2 * levels(threads)


def _wave(task: Task) -> float:
    """The longest chain of additions of the shuffle kernel: a thread's share, and trees over threads and blocks."""
    blocks, block = plans.one_wave(task, samples(task), True)
    return samples(task) / (blocks * block) + 2 * levels(blocks * block) + int(task.knobs["items"])


def _pass(task: Task) -> float:
    """The longest chain of additions of the one-pass kernel: a thread's share, then trees. The squares of a warp's
    shares are relative to the mean of its first samples, which may differ from the mean more than all others: each
    sample of a share can add that error once more."""
    threads = plans.one_pass_blocks(task) * int(task.knobs["block"])
    share = samples(task) / threads + 16
    return (share if task.params["statistic"] not in SPREADS else share**2) + 4 * levels(threads)


FEW_CHANNELS = Rule(lambda task: task.meta.channels > 4, "it takes up to 4 channels, not {meta.channels}")
IN_A_LOOP = Exactness(
    loss(sequential_chain),
    "A loop rounds after every addition: up to one unit in the last place per sample, of the magnitudes added.",
)
IN_BLOCKS = Exactness(
    loss(lambda task: 2048 + tree(task)), ("A block of 4096 samples is summed in eight chains of 512 additions.")
)
SHARE = "A thread sums its share serially, which accumulates more rounding errors than a tree."
IN_PIECES = Exactness(
    loss(peers.numpy_chain), "The library sums pieces serially, which accumulates more rounding errors than a tree."
)


def _trials(kind: Kind) -> Callable[[Limits], tuple[Trial, ...]]:
    """Threads of the one-pass kernel that read several rounds, and more blocks than the last one has threads if the
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
    """A kernel that is launched on samples, and then on its own partial results; a thread may have a long `chain` of
    additions."""
    how, counts = (f"reduce/{file}.cu", title, idea, plans.kernels(shaping)), Counts(plans.accesses(shaping))
    exactness = Exactness(loss(chain), SHARE) if chain else None
    return cuda(*how, knobs=knobs, source="S3", largest=largest, counts=counts, exactness=exactness)


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    return (
        _kernel("1_adjacent", "interleaved, divergent", ADJACENT, plans.one_thread_per_sample, BLOCK),
        _kernel("2_strided", "interleaved, strided", STRIDED, plans.one_thread_per_sample, BLOCK),
        _kernel("3_sequential", "sequential addressing", SEQUENTIAL, plans.one_thread_per_sample, BLOCK),
        _kernel("4_first_add", "first add during load", FIRST_ADD, plans.two_each, BLOCK),
        _kernel("5_two_phase", "two phases", TWO_PHASE, plans.chosen_threads, THREADS, chain=_share),
        _kernel("6_warp_shuffle", "warp shuffles", WARP_SHUFFLE, plans.one_wave, BLOCK, ITEMS, chain=_wave),
        cuda(
            *("reduce/7_one_pass.cu", "one pass", ONE_PASS, plans.one_pass),
            *((FEW_CHANNELS,) if kind == "signal" else ()),
            knobs=(PASS_BLOCK, BLOCKS, LOADS),
            source="own",
            largest=largest,
            trials=_trials(kind),
            counts=Counts(uncounted="loads have 16 bytes, those of the remainder one sample"),
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
    alone = one_channel(kind, "it reduces one channel, not {meta.channels}")
    return (
        Variant("serial", "CPU, one core", SERIAL_LOOP, one, "cpu", largest=largest, exactness=IN_A_LOOP),
        Variant("parallel", "CPU, all cores", PARALLEL, every, "cpu", largest=largest, exactness=IN_BLOCKS),
        _library("numpy", "NumPy", NUMPY, by_numpy, "cpu"),
        *_kernels(kind),
        _library("cupy", "CuPy", CUPY, plans.by_cupy, "cuda"),
        Variant(
            *("cub", "CUB (cuda.compute)", CUB, plans.by_cub, "cuda"),
            library="cuda.compute",
            rules=(alone, peers.ONE_FIGURE, peers.SKIPS_NAN, peers.ADDS_PLAINLY),
            largest=largest,
            exactness=IN_PIECES,
        ),
    )


SUMMARY = (
    "Sum, minimum, maximum, mean or variance of each channel or colour, or all of them. Sums of integers are "
    "exact; floats are summed in float64. NaN propagates to all statistics of its channel."
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
        shows=("active_lanes", "bank_conflicts", "warp_instructions"),
        variants=_variants(kind),
        claims=claims,
        laws=LAWS,
    )


REDUCE1D, REDUCE2D = _filter("signal", CLAIMS), _filter("image")
