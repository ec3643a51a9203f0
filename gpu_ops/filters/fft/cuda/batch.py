"""The CUDA variants of transforms in batches: the ladder from global memory to the fast one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.batch import Batch, largest, spectra, tolerance, transformed
from gpu_ops.filters.fft.cuda import batch_passes, ways
from gpu_ops.filters.fft.cuda.passes import ALL, BATCH, NEEDED, Fit, Rules, parts_of
from gpu_ops.filters.fft.cuda.passes import COLUMNS as IN_TWO
from gpu_ops.filters.fft.cuda.radices import MOST_PRIME, largest_prime, stages_of
from gpu_ops.filters.fft.cuda.transform import BLUESTEIN, GLOBAL, SHARED, Lines, Transforms, fits, longest_of, padded
from gpu_ops.filters.fft.cuda.variants import BLOCK as THREADS
from gpu_ops.filters.fft.cuda.variants import IN_GLOBAL, IN_SHARED, MANY
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param
from gpu_ops.plan import Device, DeviceArray, Launch, Limits, Plan
from gpu_ops.task import Task, Trial
from gpu_ops.types import Refusal, Variant

FAST_BLOCK = Param(
    "block", 256, choices=(32, 64, 128, 256, 512, 1024), tries=(64, 256), unit="threads", help="threads a block"
)
COLUMNS = Param(
    "batch", 8, choices=(1, 2, 4, 8, 16, 32), help="neighbouring lines of a block; of columns in two parts four times"
)
RADIX = Param("radix", 16, choices=(4, 8, 16), unit="points", help="points of a butterfly at most", tries=(8, 16))
WIDE_RADIX = Param(
    "radix",
    32,
    choices=(4, 8, 16, 32),
    tries=(8, 16, 32),
    unit="points",
    help="points of a butterfly at most; 32 where 16 would take more than three stages",
)
TOGETHER = Param(
    "together", 2, choices=(1, 2), unit="parts", help="of complex numbers, exchanged at once; 1 takes half the memory"
)
PARTS = Param(
    "parts",
    NEEDED,
    choices=(NEEDED, IN_TWO, ALL),
    help="which lines are cut in two: those that a launch cannot take well",
)
LAUNCHES = Param(
    "launches", 1, choices=(1, 2), help="of tiles that a block can have whole, unless large and few; 2 always"
)
WIDTH = Param("width", 64, choices=(32, 64, 128), unit="bits", help="of an access to complex numbers along rows")
LOOKUPS = Param(
    "lookups", 1, choices=(1, 2, 4), unit="twiddles", help="of a butterfly that are looked up; the others are products"
)

IN_COLUMNS = "Neighbouring columns share a block, so that the bytes of a sector are used together, and of a whole line."
TRANSPOSED = "Rows are stored as columns by lanes across rows, so that columns are rows: both launches load in order."
IN_PARTS = "A line too long for shared memory is two launches of short ones, read and stored side by side."
PACKED = "Two real samples are one complex number: half the butterflies, and half a spectrum is stored."
MIXED = "Stages of radix 2 to 16 with factors up to 13: other lengths than powers of two without Bluestein's method."
FAST = "All of these, samples converted as they are loaded, exchanges without gaps or bank conflicts."

FLOATS_ALONE = "floats alone"
FLOATS = Refusal(FLOATS_ALONE, {"dtype": ("float64",)})
NO_POWER, LARGE_PRIMES = "is no power of two", f"has a prime factor above {MOST_PRIME}"
UNEVEN = "no two neighbouring butterflies"
TOO_LONG, REAL_ALONE, NO_PAIRS = "points do not fit a block", "for real samples", "samples do not make pairs"
# What no case of the contract can ask of lengths that are powers of two, of pairs, and of wide accesses to short rows.
POWERS = {
    1: Refusal(NO_POWER, {"shape": ((7,),), "param points": (3, 60, 125)}),
    2: Refusal(NO_POWER, {"shape": ((1, 7), (7, 1)), "param tile": (6,)}),
}
PAIRS = {
    1: Refusal(NO_PAIRS, {"shape": ((1,), (3,), (7,), (97, 3), (1025, 2))}),
    2: Refusal(NO_PAIRS, {"shape": ((1, 1), (19, 23, 3), (16, 31, 4)), "param tile": (0,)}),
}
WIDE = {1: Refusal(UNEVEN), 2: Refusal(UNEVEN, {"knob width": (128,)})}


def plan(way: str, device: Device, task: Task) -> Plan:
    """Gather where the numbers do not lie so, transform rows and columns, keep half of what real samples give."""
    batch, form = Batch.of(task), spectra(task)
    work = Transforms(device, complex_type(task), way, task.knobs["block"], knobs=task.knobs)
    z = _numbers(work, task, batch)
    wide = batch.width * batch.channels
    z = work.along(z, Lines(batch.rows * batch.across, batch.width, batch.channels), "rows")
    if batch.rank == 2:
        z = work.along(z, Lines(batch.down, batch.height, batch.across * wide), "columns")
    if batch.complex and z is not work.kept:
        return Plan(tuple(work.steps), {"spectra": z.reshape(form.shape)})
    out = device.empty(form.shape, form.dtype)
    kernel = device.kernel(BATCH, "fft_batch_half", {**work.defines, "SAMPLE": "float"})
    sizes = (*(np.int64(n) for n in (out.size, batch.width, batch.bins)), np.int32(batch.channels))
    grid, block = grid1d(out.size, work.block), (work.block, 1, 1)
    work.steps.append(Launch(kernel, grid, block, (z, out, *sizes), name="half" if not batch.complex else "copy"))
    return Plan(tuple(work.steps), {"spectra": out})


def _numbers(work: Transforms, task: Task, batch: Batch) -> DeviceArray:
    """The input as complex numbers: itself, where it lies so."""
    if batch.complex and batch.whole_rows and task.meta.dtype.startswith("float"):
        work.kept = task.x.reshape(-1)[: 2 * batch.points]
        return work.kept
    z = work.take(batch.points)
    width = batch.across * batch.width * batch.channels
    kernel = work.device.kernel(BATCH, "fft_batch_gather", {**work.defines, "SAMPLE": CTYPES[task.dtype.name]})
    sizes = (*(np.int64(n) for n in (batch.points, width, batch.row)), np.int32(batch.complex))
    grid, block = grid1d(batch.points, work.block), (work.block, 1, 1)
    work.steps.append(Launch(kernel, grid, block, (task.x, z, *sizes), name="to complex numbers"))
    return z


def lengths(task: Task) -> tuple[int, ...]:
    """The lengths of the lines, without those of one point."""
    batch = Batch.of(task)
    return tuple(n for n in (batch.width, batch.height) if n > 1)


def operations(task: Task) -> int:
    """Five a point and stage of complex transforms; any length but a power of two takes two of the padded one."""
    points, total = Batch.of(task).points, 0
    for n in lengths(task):
        m = padded(n)
        total += (1 if m == n else 2) * 5 * points * m // n * (m.bit_length() - 1)
    return max(total, 1)


def supports(way: str, task: Task) -> str | None:
    """Lines of more than one value, in two parts at most, each in shared memory."""
    if transformed(task) == 1:
        return limits.ONE_VALUE
    shared, dtype = task.limits.shared_bytes, complex_type(task)
    for n in lengths(task):
        if not fits(n, way, shared, dtype, task.knobs):
            return (
                f"lines of {n} points need {padded(n)}, and two parts in shared memory hold "
                f"{longest_of(way, shared, dtype, task.knobs) ** 2}; use the variant global"
            )
    return None


def fast_sine_supports(task: Task) -> str | None:
    """As the others, in float32."""
    if task.meta.dtype == "float64":
        return f"fast sine is for {FLOATS_ALONE}, and this input is float64; use the variant registers"
    return supports(ways.FAST_SINE.name, task)


def fast_sine_tolerance(task: Task) -> float:
    """With twiddles by fast sine; see limits."""
    return tolerance(task) + limits.fast_sine_error(transformed(task))


def rules_support(rules: Rules, task: Task) -> str | None:
    """Lengths that have stages and fit a block, alone or in two parts."""
    batch, fit = Batch.of(task), Fit(task.knobs, task.limits.shared_bytes, complex_type(task).itemsize // 2)
    if rules.file == "fft/12_packed.cu":
        if batch.complex:
            return f"it is {REAL_ALONE}: choose numbers real, or the variant columns"
        if batch.channels > 1 or batch.width % 2:
            return f"{batch.channels} channels of {batch.width} {NO_PAIRS}; use the variant mixed_radix"
    if task.knobs.get("width") == 128 and not batch_passes.wide(batch, rules, task):
        return (
            f"accesses of 128 bits take complex float32 numbers side by side, and the threads of {batch.width} points "
            f"have {UNEVEN}; choose width 64{_wide_radix(batch, rules, task)}"
        )
    row = batch.width // 2 if rules.pack and not batch.complex and batch.channels == 1 and not batch.width % 2 else 0
    for n, whole in ((row or batch.width, batch.across == 1), (batch.height, True)):
        if not rules.any_length and n & (n - 1):
            return f"{n} points {NO_POWER}; use the variant mixed_radix"
        if largest_prime(n) > MOST_PRIME:
            return f"{n} points: the length {LARGE_PRIMES}; use the variant registers"
        if n > 1 and not _fits(n, fit, replace(rules, split=rules.split and whole), task):
            return f"{n} {TOO_LONG} with these knobs; use the variant {'global' if rules.split else 'fast'}"
    return None


def _wide_radix(batch: Batch, rules: Rules, task: Task) -> str:
    """The largest radix whose threads have two neighbouring butterflies, in words; "" where no other one has."""
    for radix in reversed(RADIX.choices):
        if batch_passes.wide(batch, rules, replace(task, knobs={**task.knobs, "radix": radix})):
            return f", or radix {radix}"
    return ""


def _fits(n: int, fit: Fit, rules: Rules, task: Task) -> bool:
    if rules.split and task.knobs.get("parts", NEEDED) == ALL and parts_of(n, fit, rules, task.knobs) is not None:
        return True
    stages = stages_of(n, fit.radix)
    if stages is not None and fit.lines(n, stages, False, 1):
        return True
    return parts_of(n, fit, rules, task.knobs) is not None


def _stockham(way: ways.Stockham, own: dict[str, Any], more: tuple[str, ...]) -> Variant:
    rest: dict[str, Any] = {**own, "knobs": way.knobs, "supports": partial(supports, way.name)}
    rest |= {"refuses": (limits.NOT_ONE,)}
    if way is ways.FAST_SINE:
        rest |= {
            "supports": fast_sine_supports,
            "refuses": (limits.NOT_ONE, Refusal(FLOATS_ALONE, {"dtype": ("float64",)})),
        }
        rest |= {"tolerance": fast_sine_tolerance, "caveat": limits.FAST_SINE_CAVEAT}
    return Variant(way.name, way.title, way.idea, partial(plan, way.name), kernels=(way.file, *more), **rest)


def _by_rules(title: str, idea: str, rules: Rules, knobs: tuple[Param, ...], *refuses: Refusal, **own: Any) -> Variant:
    id = rules.kernel.removeprefix("fft_").removesuffix("_lines")
    make: Callable[[Device, Task], Plan] = partial(batch_passes.plan, rules)
    support = partial(rules_support, rules)
    kernels = (rules.file, BATCH) if rules.split else (rules.file,)
    return Variant(id, title, idea, make, kernels=kernels, knobs=knobs, supports=support, refuses=refuses, **own)


def _in_parts(rank: int, rules: Rules, device: Limits) -> tuple[Trial, ...]:
    """The shortest line of real samples that takes two launches on such a device, and a third one that splits it."""
    dtype, knobs = np.dtype(np.float64), {"radix": RADIX.default}
    fit, n = Fit(knobs, device.shared_bytes, dtype.itemsize), 1
    while parts_of(n, fit, rules, knobs) is None:
        n *= 2
    shape: Shape = (2 * n,) if rank == 1 else (1, 2 * n)
    return (Trial(shape, dtype.name, "random", {"numbers": "real"}),)


def variants(rank: int) -> tuple[Variant, ...]:
    """Those of signals (rank 1) or images (2)."""
    more = (BLUESTEIN, BATCH)
    own: dict[str, Any] = {"device": "cuda", "source": "S2", "uncounted": MANY, "largest": largest}
    own |= {"operations": operations}
    plain = {"global": ("1 global memory", IN_GLOBAL, GLOBAL), "shared": ("2 shared memory", IN_SHARED, SHARED)}
    ladder = [
        Variant(
            *(way, title, idea, partial(plan, way)),
            kernels=(file, *more),
            supports=partial(supports, way),
            refuses=(limits.NOT_ONE,),
            **own,
            knobs=(THREADS,),
        )
        for way, (title, idea, file) in plain.items()
    ]
    ladder += [_stockham(way, own, more) for way in ways.STOCKHAM.values()]
    knobs = (FAST_BLOCK, RADIX)
    primes, powers = Refusal(LARGE_PRIMES), POWERS[rank]
    if rank == 2:
        columns, transposed = Rules("fft/9_columns.cu"), Rules("fft/10_transposed.cu", transpose=True)
        ladder += [_by_rules("9 columns in batches", IN_COLUMNS, columns, (*knobs, COLUMNS), powers, **own)]
        ladder += [_by_rules("10 transposed columns", TRANSPOSED, transposed, (*knobs, COLUMNS), powers, **own)]
    split = Rules("fft/11_four_step.cu", split=True)
    packed = Rules("fft/12_packed.cu", pack=True, split=True)
    mixed = Rules("fft/13_mixed_radix.cu", any_length=True)
    fast = Rules("fft/14_fast.cu", pack=True, split=True, any_length=True, tiles=True)
    fast_knobs = (COLUMNS, PARTS, TOGETHER, LOOKUPS, WIDTH, *([LAUNCHES] if rank == 2 else []))
    halved: dict[str, Any] = {"operations": None, "trials": partial(_in_parts, rank, packed)}
    pairs = (Refusal(REAL_ALONE, {"param numbers": ("complex",)}), PAIRS[rank])
    ladder += [
        _by_rules("11 four-step", IN_PARTS, split, (*knobs, COLUMNS, PARTS), powers, **own),
        _by_rules("12 packed real samples", PACKED, packed, (*knobs, COLUMNS), powers, *pairs, **own | halved),
        _by_rules("13 mixed radices", MIXED, mixed, (*knobs, COLUMNS), primes, **own),
        _by_rules("14 fast", FAST, fast, (FAST_BLOCK, WIDE_RADIX, *fast_knobs), primes, WIDE[rank], **own),
    ]
    return tuple(ladder)
