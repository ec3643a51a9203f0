"""Prefix sums of signals along time and of images along their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_ops.filters.kit.planning import BLOCK, cuda
from gpu_ops.filters.scan import accesses, limits, peers, plans
from gpu_ops.filters.scan.claims import CLAIMS
from gpu_ops.filters.scan.lines import SUMS, form
from gpu_ops.filters.scan.reference import magnitude, reference
from gpu_ops.input_kinds import Kind, Shape
from gpu_ops.params import Param, Values
from gpu_ops.plan import Limits
from gpu_ops.task import Task, Trial
from gpu_ops.types import DTYPES, Filter, Locality, Output, Variant, Work

PAIRS_BLOCK = Param("block", 256, choices=(64, 256, 1024), unit="threads", help="threads a block")
WARPS_BLOCK = Param("block", 256, choices=(64, 128, 256, 512), unit="threads", help="threads a block")
TILES_BLOCK = Param("block", 128, choices=(64, 128, 256), unit="threads", help="threads a block")
VECTORS = Param(
    "vectors",
    16,
    choices=(1, 2, 4, 8, 12, 16, 20),
    tries=(1, 4),
    unit="vectors",
    help="16 bytes of sums, a thread at most; fewer where the tiles of a line would be few",
)
ITEMS = Param("items", 8, choices=(4, 8), unit="values", help="values a thread")

SUMMARY = "Sums of integers are exact, in float64; from a NaN on all are NaN."
SERIAL = "The plain loop, compiled, on one core: what every speed-up is measured against."
PARALLEL = "Each core sums blocks, then scans them from the sums before them on: two passes, on all cores."
NUMPY = "What most Python programs call: cumsum on one core, in float64 and rounded at the end."
HILLIS_STEELE = "A thread a value adds what lies 1, 2, 4 … places before: few steps, n log n additions."
BLELLOCH = "A tree of sums, up and down again: 2 n additions, but its nodes lie in ever fewer banks."
PADDED = "Gaps between rows of banks: the same tree, and no two threads of a warp meet in a bank."
WARP = "Lanes pass sums by shuffles, and values are read twice instead of written twice: three launches for any length."
LOOK_BACK = (
    "One launch: a tile tells its sum at once, and a warp looks back over the tiles before until one knows all; values"
    " wait in registers and shared memory."
)
CUPY = "The library's cumsum, nothing to write yourself: CUB's scan, or passes over all of an array with several lines."
POLLS = "how often a tile asks those before it depends on when they tell"
MANY_TILES: dict[Kind, tuple[Shape, ...]] = {"signal": ((1_000_003,),), "image": ((3, 400_003),)}
"""Shapes whose tiles do not all run at once on a GPU: some know all before them while others still ask."""


def _trials(kind: Kind, n: int, knobs: Values, lines: int = 1) -> Callable[[Limits], tuple[Trial, ...]]:
    """Lines of so many values, with so many tiles that their sums are added in several pieces."""
    shape = (n,) if kind == "signal" else (lines, n)
    return lambda limits: tuple(Trial(shape, dtype, "random", {}, knobs) for dtype in ("float64", "uint8"))


def work(task: Task) -> Work:
    """Every value read once and every sum written once, one addition each."""
    sums = form(task)
    itemsize = {"float32": 4, "float64": 8}[sums.dtype]
    return Work(task.meta.nbytes, task.meta.size * itemsize, task.meta.size)


def _of_block(values: int) -> Any:
    """The values of a tile with so many a thread."""
    return lambda task: task.knobs["block"] * values


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    own: dict[str, Any] = {"largest": limits.largest, "source": "S1"}
    one, two = ({"supports": limits.tiles_fit(_of_block(k)), "accesses": accesses.by_levels(k), **own} for k in (1, 2))
    doubling = plans.levels(1, plans.hillis_steele_bytes)
    tree, padded = plans.levels(2, plans.blelloch_bytes), plans.levels(2, plans.padded_bytes)
    pairs, warps = {"knobs": (PAIRS_BLOCK,), **two}, {"supports": limits.tiles_fit(plans.warp_size), **own}
    warps["trials"] = _trials(kind, 64 * 4 * 2 * limits.OFFSETS_BLOCK + 300, {"block": 64, "items": 4})
    warps |= {"knobs": (WARPS_BLOCK, ITEMS), "tolerance": limits.warp, "caveat": limits.WARP_CAVEAT}
    once: dict[str, Any] = {"knobs": (TILES_BLOCK, VECTORS), "largest": limits.largest, "uncounted": POLLS}
    once |= {"supports": limits.tiles_fit(plans.look_back_size), "tolerance": limits.look_back(plans.look_back_size)}
    once |= {"caveat": limits.LOOK_BACK_CAVEAT, "source": "S1", "shapes": MANY_TILES[kind]}
    once["trials"] = _trials(kind, 70 * 64 * plans.VECTOR_BYTES // 8, {"block": 64, "vectors": 1}, lines=2)
    return (
        cuda("scan/1_hillis_steele.cu", "Hillis–Steele", HILLIS_STEELE, doubling, knobs=(BLOCK,), **one),
        cuda("scan/2_blelloch.cu", "Blelloch", BLELLOCH, tree, **pairs),
        cuda("scan/3_blelloch_padded.cu", "Blelloch, padded", PADDED, padded, **pairs),
        cuda("scan/4_warp.cu", "warp shuffles", WARP, plans.warp, accesses=accesses.warp, **warps),
        cuda("scan/5_look_back.cu", "look-back", LOOK_BACK, plans.look_back, **once),
    )


def _variants(kind: Kind) -> tuple[Variant, ...]:
    own: dict[str, Any] = {"largest": limits.largest}
    serial = {"tolerance": limits.in_double(limits.length), "caveat": limits.SERIAL_CAVEAT, **own}
    parallel = {"tolerance": limits.in_double(limits.parallel_additions), "caveat": limits.PARALLEL_CAVEAT, **own}
    numpy = {**serial, "caveat": limits.NUMPY_CAVEAT, "library": "numpy"}
    cupy = {"tolerance": limits.cupy, "caveat": limits.CUPY_CAVEAT, "library": "cupy", **own}
    by_numpy = plans.library("numpy", peers.numpy_sums)
    return (
        Variant("serial", "CPU, one core", SERIAL, plans.host(plans.serial), "cpu", **serial),
        Variant("parallel", "CPU, all cores", PARALLEL, plans.host(plans.parallel), "cpu", **parallel),
        Variant("numpy", "NumPy", NUMPY, by_numpy, "cpu", **numpy),
        *_kernels(kind),
        Variant("cupy", "cupy.cumsum", CUPY, peers.cupy_sums, "cuda", **cupy),
    )


def _output(kind: Kind) -> Output:
    return Output(kind, kind, "", limits.tree, least=magnitude, form=form, own_scale=True)  # type: ignore[arg-type]


SCAN1D = Filter(
    id="scan1d",
    family="scan",
    title="Prefix sum (signal)",
    summary=f"The sum of all values up to each one along time, channel by channel. {SUMMARY}",
    accepts="signal",
    dtypes=DTYPES,
    params=(SUMS,),
    outputs=(_output("signal"),),
    reference=reference,
    work=work,
    locality=Locality("global"),
    claims=CLAIMS,
    source="S1",
    variants=_variants("signal"),
)

SCAN2D = Filter(
    id="scan2d",
    family="scan",
    title="Prefix sum (image)",
    summary=f"The sum of all values up to each one along its row, colour by colour. {SUMMARY}",
    accepts="image",
    dtypes=DTYPES,
    params=(SUMS,),
    outputs=(_output("image"),),
    reference=reference,
    work=work,
    locality=Locality("global"),
    source="S1",
    variants=_variants("image"),
)
