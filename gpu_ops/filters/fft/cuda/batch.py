"""The CUDA variants of batched transforms: the ladder from global memory to the fast one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.fft import limits
from gpu_ops.filters.fft.batch import COMPLEX, Batch, largest, spectra, tolerance, transformed
from gpu_ops.filters.fft.cuda import batch_passes, short
from gpu_ops.filters.fft.cuda.passes import ALL, BATCH, NEEDED, THREE, UNPACK, Fit, Scheme, parts_of
from gpu_ops.filters.fft.cuda.passes import COLUMNS as IN_TWO
from gpu_ops.filters.fft.cuda.radices import MOST_PRIME, largest_prime, stages_of
from gpu_ops.filters.fft.cuda.transform import BLUESTEIN, Lines, Transforms, padded
from gpu_ops.filters.fft.cuda.variants import MANY, of_way
from gpu_ops.filters.fft.cuda.ways import FAST_SINE, GLOBAL, SHARED, STOCKHAM
from gpu_ops.filters.fft.forms import complex_type
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.kit.rules import Choices, not_of, not_with
from gpu_ops.input_kinds import Kind, Shape
from gpu_ops.params import Param
from gpu_ops.plan import Device, DeviceArray, Launch, Limits, Plan
from gpu_ops.task import Task, Trial
from gpu_ops.types import Counts, Exactness, Rule, Variant
from gpu_ops.variant import Trials, no_trials

FAST_BLOCK = Param(
    "block", 256, choices=(32, 64, 128, 256, 512, 1024), tries=(64, 256), unit="threads", help="threads per block"
)
COLUMNS = Param(
    "batch",
    8,
    choices=(1, 2, 4, 8, 16, 32),
    help="neighbouring lines per block; four times as many for columns that take two launches",
)
RADIX = Param("radix", 16, choices=(4, 8, 16), unit="points", help="points per butterfly, at most", tries=(8, 16))
WIDE_RADIX = Param(
    "radix",
    32,
    choices=(4, 8, 16, 32),
    tries=(8, 16, 32),
    unit="points",
    help="points per butterfly, at most; more than 16 only where 16 would take more than three stages or was slower",
)
TOGETHER = Param(
    "together",
    2,
    choices=(1, 2),
    unit="parts",
    help="real and imaginary parts are exchanged together, or one after the other in half the shared memory",
)
PARTS = Param(
    "parts",
    NEEDED,
    choices=(NEEDED, IN_TWO, ALL),
    help="which lines take two launches: those that do not suit one, columns as well, or all",
)
THIRDS = Param(
    "parts",
    NEEDED,
    choices=(*PARTS.choices, THREE),
    help="which lines take several launches: those that do not suit one, columns as well, or all; three where in two a "
    "block does not hold neighbours of whole sectors, or for all of at least 512 points",
)
LAUNCHES = Param(
    "launches",
    1,
    choices=(1, 2),
    help="launches for tiles that fit a block, unless they are large and few; 2: two for all tiles",
)
WIDTH = Param("width", 64, choices=(32, 64, 128), unit="bits", help="width of an access to complex numbers along rows")
LOOKUPS = Param(
    "lookups",
    1,
    choices=(1, 2, 4),
    unit="twiddles",
    help="twiddle factors loaded per butterfly; the others are their products",
)

IN_COLUMNS = "A block takes neighbouring columns, so that it uses whole sectors, and whole cache lines."
TRANSPOSED = (
    "The first launch stores its rows transposed, so that the second one has rows as well: all loads are coalesced."
)
IN_PARTS = (
    "Four-step FFT: a line too long for shared memory takes two launches of short ones, loaded and stored in "
    "whole sectors."
)
PACKED = (
    "Two real samples form one complex number: half the butterflies; only half of the symmetric spectrum is stored."
)
MIXED = "Radices up to 16 with prime factors up to 13: lengths other than powers of two without Bluestein's algorithm."
FAST = "All of these; samples are converted as they are loaded, and a swizzle avoids bank conflicts without padding."


def plan(way: str, device: Device, task: Task) -> Plan:
    """Gather unless the numbers are contiguous, transform rows and columns, keep half of the spectrum of real
    samples."""
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
    """The input as complex numbers: itself if it is contiguous."""
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
    """The lengths of the lines, except those of one point."""
    batch = Batch.of(task)
    return tuple(n for n in (batch.width, batch.height) if n > 1)


def operations(task: Task) -> int:
    """Five operations per point and stage of complex transforms; any length but a power of two needs two padded
    transforms."""
    points, total = Batch.of(task).points, 0
    for n in lengths(task):
        m = padded(n)
        total += (1 if m == n else 2) * 5 * points * m // n * (m.bit_length() - 1)
    return max(total, 1)


FAST_SINE_FLOATS = not_of(
    "float64", words="__sincosf takes float, and this input is float64; use the variant registers"
)
FAST_SINE_EXACTNESS = Exactness(
    lambda task: tolerance(task) + limits.fast_sine_error(transformed(task)), limits.FAST_SINE_CAVEAT
)
REAL_ALONE = not_with("numbers", COMPLEX, words="it is for real samples: choose numbers real, or the variant fast")


def _pairs(kind: Kind) -> Rule:
    """Neighbouring samples of a line are pairs."""

    def unpaired(task: Task) -> Batch | None:
        batch = Batch.of(task)
        return batch if batch.channels > 1 or batch.width % 2 else None

    signals: tuple[Shape, ...] = (1,), (3,), (7,), (97, 3), (1025, 2)
    return Rule(
        unpaired,
        "{found.channels} channels of {found.width} samples do not make pairs; use the variant mixed_radix",
        {"shape": signals if kind == "signal" else ((1, 1), (19, 23, 3), (16, 31, 4))},
    )


def _powers_of_two(scheme: Scheme, kind: Kind) -> Rule:
    """The scheme supports lines of a power of two of points."""
    never: Choices = {"shape": ((7,),), "param points": (3, 60, 125)}
    if kind == "image":
        never = {"shape": ((1, 7), (7, 1)), "param tile": (0, 6) if scheme.pack else (6,)}
    return Rule(
        lambda task: next((n for n, _ in _lines(scheme, task) if n & (n - 1)), 0),
        "{found} points is no power of two; use the variant mixed_radix",
        never,
    )


def _small_primes(scheme: Scheme) -> Rule:
    """The scheme has stages for lines of this length, with factors that a butterfly supports."""
    return Rule(
        lambda task: next((n for n, _ in _lines(scheme, task) if largest_prime(n) > MOST_PRIME), 0),
        f"{{found}} points: the length has a prime factor above {MOST_PRIME}; use the variant registers",
    )


def _lines_fit(scheme: Scheme) -> Rule:
    """The scheme's lines fit into a block, whole or in two parts."""

    def too_long(task: Task) -> int:
        fit = Fit(task.knobs, task.limits.shared_bytes, complex_type(task).itemsize // 2)
        each = ((n, replace(scheme, split=scheme.split and whole)) for n, whole in _lines(scheme, task))
        return next((n for n, how in each if n > 1 and not _fits(n, fit, how, task)), 0)

    other = "global" if scheme.split else "fast"
    return Rule(too_long, f"{{found}} points do not fit a block with these knobs; use the variant {other}")


def _wide_accesses(scheme: Scheme, kind: Kind) -> Rule:
    """The threads of rows have two neighbouring butterflies if accesses are 128-bit."""

    def too_narrow(task: Task) -> tuple[int, str] | None:
        batch = Batch.of(task)
        if task.knobs["width"] != 128 or batch_passes.wide(batch, scheme, task):
            return None
        return batch.width, _wide_radix(scheme, task)

    return Rule(
        too_narrow,
        "accesses of 128 bits take complex float32 numbers side by side, and the threads of {found[0]} points have no "
        "two neighbouring butterflies; choose width 64{found[1]}",
        {"knob width": (128,)} if kind == "image" else {},
    )


def _lines(scheme: Scheme, task: Task) -> tuple[tuple[int, bool], ...]:
    """The points of rows and of columns, and whether they may be cut into two parts."""
    batch = Batch.of(task)
    paired = scheme.pack and not batch.complex and batch.channels == 1 and batch.width % 2 == 0
    return (batch.width // 2 if paired else batch.width, batch.across == 1), (batch.height, True)


def _wide_radix(scheme: Scheme, task: Task) -> str:
    """The largest radix whose threads have two neighbouring butterflies, as text; "" if no other one has."""
    for radix in reversed(RADIX.choices):
        if batch_passes.wide(Batch.of(task), scheme, task.with_knobs(radix=radix)):
            return f", or radix {radix}"
    return ""


def _fits(n: int, fit: Fit, scheme: Scheme, task: Task) -> bool:
    if (
        scheme.split
        and task.knobs.get("parts", NEEDED) in (ALL, THREE)
        and parts_of(n, fit, scheme, task.knobs) is not None
    ):
        return True
    stages = stages_of(n, fit.radix)
    if stages is not None and fit.lines(n, stages, False, 1):
        return True
    return parts_of(n, fit, scheme, task.knobs) is not None


def _in_parts(kind: Kind, scheme: Scheme, device: Limits) -> tuple[Trial, ...]:
    """The shortest line of real samples that needs two launches on such a device, and a third one that splits it."""
    dtype, knobs = np.dtype(np.float64), {"radix": RADIX.default}
    fit, n = Fit(knobs, device.shared_bytes, dtype.itemsize), 1
    while parts_of(n, fit, scheme, knobs) is None:
        n *= 2
    shape: Shape = (2 * n,) if kind == "signal" else (1, 2 * n)
    return (Trial(shape, dtype.name, "random", {"numbers": "real"}),)


OF_COMPLEX = Counts(uncounted=MANY, operations=operations)


def _of_scheme(
    title: str,
    idea: str,
    scheme: Scheme,
    knobs: tuple[Param, ...],
    *rules: Rule,
    shapes: tuple[Shape, ...] = (),
    trials: Trials = no_trials,
    counts: Counts = OF_COMPLEX,
    any_size: bool = False,
) -> Variant:
    """`any_size`: a line that a block cannot hold has a plan in two or three parts, however long it is."""
    id = scheme.kernel.removeprefix("fft_").removesuffix("_lines")
    kernels = scheme.file, *((BATCH,) if scheme.split else ()), *((UNPACK,) if scheme.three else ())
    return Variant(
        *(id, title, idea, partial(batch_passes.plan, scheme), "cuda", kernels, knobs),
        source="S2",
        rules=rules if any_size else (*rules, _lines_fit(scheme)),
        largest=largest,
        shapes=shapes,
        trials=trials,
        counts=counts,
    )


def variants(kind: Kind) -> tuple[Variant, ...]:
    """The variants for signals or for images."""
    several, image = limits.several_values(kind, transformed), kind == "image"
    split, packed = Scheme("fft/11_four_step.cu", split=True), Scheme("fft/12_packed.cu", pack=True, split=True)
    mixed = Scheme("fft/13_mixed_radix.cu", any_length=True)
    fast = Scheme("fft/14_fast.cu", pack=True, split=True, any_length=True, tiles=True, three=True, early=True)
    knobs = FAST_BLOCK, RADIX, COLUMNS
    halved: tuple[Shape, ...] = ((64, 32), (20, 45)) if image else ()  # rows of samples that no pairs make
    block = replace(FAST_BLOCK, help="threads per block; fewer for rows where most multiprocessors would be idle")
    fast_knobs = block, WIDE_RADIX, COLUMNS, THIRDS, TOGETHER, LOOKUPS, WIDTH, *((LAUNCHES,) if image else ())
    ladder = [
        of_way(
            *(way, plan, (BLUESTEIN, BATCH), lengths, *((FAST_SINE_FLOATS,) if way is FAST_SINE else ()), several),
            operations=operations,
            largest=largest,
            exactness=FAST_SINE_EXACTNESS if way is FAST_SINE else None,
        )
        for way in (GLOBAL, SHARED, *STOCKHAM.values())
    ]
    if image:
        columns, transposed = Scheme("fft/9_columns.cu"), Scheme("fft/10_transposed.cu", transpose=True)
        powers = _powers_of_two(columns, kind)
        ladder += [
            _of_scheme("9 columns in batches", IN_COLUMNS, columns, knobs, powers),
            _of_scheme("10 transposed columns", TRANSPOSED, transposed, knobs, powers),
        ]
    return (
        *ladder,
        _of_scheme("11 four-step", IN_PARTS, split, (*knobs, PARTS), _powers_of_two(split, kind), shapes=halved[:1]),
        _of_scheme(
            *("12 packed real samples", PACKED, packed, knobs, REAL_ALONE, _pairs(kind), _powers_of_two(packed, kind)),
            trials=partial(_in_parts, kind, packed),
            counts=Counts(uncounted=MANY),
        ),
        _of_scheme("13 mixed radices", MIXED, mixed, knobs, _small_primes(mixed)),
        _of_scheme(
            *("14 fast", FAST, fast, fast_knobs, _wide_accesses(fast, kind), _small_primes(fast)),
            shapes=halved[1:],
            any_size=not image,
        ),
        *(() if image else (short.VARIANT,)),
    )
