"""Prefix sums of signals along time and of images along their rows."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.filters.kit.planning import BLOCK, SERIAL_LOOP, cuda
from gpu_ops.filters.kit.rules import one_channel
from gpu_ops.filters.scan import accesses, limits, peers, plans
from gpu_ops.filters.scan.claims import CLAIMS
from gpu_ops.filters.scan.lines import SUMS, form
from gpu_ops.filters.scan.reference import magnitude, reference
from gpu_ops.input_kinds import INPUT_KINDS, Kind, Shape
from gpu_ops.params import Param, Values
from gpu_ops.task import Task, Trial
from gpu_ops.types import DTYPES, Claim, Counts, Filter, Locality, Output, Variant, Work
from gpu_ops.variant import Trials

PAIRS_BLOCK = Param("block", 256, choices=(64, 256, 1024), unit="threads", help="threads per block")
WARPS_BLOCK = Param("block", 256, choices=(64, 128, 256, 512), unit="threads", help="threads per block")
TILES_BLOCK = Param("block", 128, choices=(64, 128, 256), unit="threads", help="threads per block")
VECTORS = Param(
    "vectors",
    16,
    choices=(1, 2, 4, 8, 12, 16, 20),
    tries=(1, 4),
    unit="vectors",
    help="16-byte vectors of sums per thread, at most; fewer where a line would have few tiles",
)
ITEMS = Param("items", 8, choices=(4, 8), unit="values", help="values per thread")

SUMMARY = "Sums of integers are exact, in float64; NaN propagates to all later sums."
PARALLEL = "Reduce-then-scan on all cores: block sums first, then each block is scanned from its offset."
NUMPY = "What most Python programs call: cumsum on one core, in float64 and rounded at the end."
HILLIS_STEELE = "One thread per value adds the element 1, 2, 4 … positions before it: log n steps, n log n additions."
BLELLOCH = "Up-sweep and down-sweep of a tree: 2 n additions, but power-of-two strides cause bank conflicts."
PADDED = "The same tree with padded shared memory: no bank conflicts."
WARP = (
    "Reduce-then-scan with warp shuffles: values are read twice instead of written twice; three launches for any "
    "length."
)
LOOK_BACK = (
    "Decoupled look-back in one launch: a tile publishes its aggregate, then a warp scans the predecessors until "
    "it finds an inclusive prefix."
)
CUPY = "The library's cumsum, no kernel to write: CUB's scan, or several passes over an array with several lines."
TORCH = "PyTorch's cumsum: CUB's scan of one line, a kernel of its own for several."
CUB = "cuda.compute calls CUB's device-wide scan, compiled for these types in advance."
POLLS = Counts(uncounted="how often a tile polls its predecessors depends on when they publish")
MANY_TILES: dict[Kind, tuple[Shape, ...]] = {"signal": ((1_000_003,),), "image": ((3, 400_003),)}
"""Shapes with more tiles than are resident on a GPU, so that early tiles have complete prefixes while later ones still
look back."""


def _trials(kind: Kind, n: int, knobs: Values, lines: int = 1) -> Trials:
    """Lines of this number of values, with so many tiles that their sums are scanned in several pieces."""
    shape = (n,) if kind == "signal" else (lines, n)
    return lambda limits: tuple(Trial(shape, dtype, "random", {}, knobs) for dtype in ("float64", "uint8"))


def work(task: Task) -> Work:
    """Every value read once and every sum written once, one addition each."""
    sums = form(task)
    itemsize = {"float32": 4, "float64": 8}[sums.dtype]
    return Work(task.meta.nbytes, task.meta.size * itemsize, task.meta.size)


def _by_levels(
    file: str, title: str, idea: str, values: int, shared: Callable[[Task, int], int], knob: Param
) -> Variant:
    """A kernel with this number of values per thread, and bytes of shared memory for sums of a given size."""
    how = f"scan/{file}.cu", title, idea, plans.levels(values, shared)
    fits, counts = limits.tiles_fit(lambda task: task.knobs["block"] * values), Counts(accesses.by_levels(values))
    return cuda(*how, fits, knobs=(knob,), source="S1", largest=limits.largest, counts=counts)


def _kernels(kind: Kind) -> tuple[Variant, ...]:
    return (
        _by_levels("1_hillis_steele", "Hillis–Steele", HILLIS_STEELE, 1, plans.hillis_steele_bytes, BLOCK),
        _by_levels("2_blelloch", "Blelloch", BLELLOCH, 2, plans.blelloch_bytes, PAIRS_BLOCK),
        _by_levels("3_blelloch_padded", "Blelloch, padded", PADDED, 2, plans.padded_bytes, PAIRS_BLOCK),
        cuda(
            *("scan/4_warp.cu", "warp shuffles", WARP, plans.warp, limits.tiles_fit(plans.warp_size)),
            knobs=(WARPS_BLOCK, ITEMS),
            source="S1",
            largest=limits.largest,
            trials=_trials(kind, 64 * 4 * 2 * limits.OFFSETS_BLOCK + 300, {"block": 64, "items": 4}),
            counts=Counts(accesses.warp),
            exactness=limits.WARP,
        ),
        cuda(
            *("scan/5_look_back.cu", "look-back", LOOK_BACK, plans.look_back, limits.tiles_fit(plans.look_back_size)),
            knobs=(TILES_BLOCK, VECTORS),
            source="S1",
            largest=limits.largest,
            shapes=MANY_TILES[kind],
            trials=_trials(kind, 70 * 64 * plans.VECTOR_BYTES // 8, {"block": 64, "vectors": 1}, lines=2),
            counts=POLLS,
            exactness=limits.look_back(plans.look_back_size),
        ),
    )


BY_CUB = Variant(
    *("cub", "CUB (cuda.compute)", CUB, peers.cub_sums, "cuda"),
    library="cuda.compute",
    rules=(one_channel("signal", "it scans one channel, not {meta.channels}"),),
    largest=limits.largest,
    exactness=limits.CUPY,
)


def _variants(kind: Kind) -> tuple[Variant, ...]:
    serial, parallel = plans.host(False), plans.host(True)
    by_numpy, most = plans.library("numpy", peers.numpy_sums), limits.largest
    return (
        Variant("serial", "CPU, one core", SERIAL_LOOP, serial, "cpu", largest=most, exactness=limits.SERIAL),
        Variant("parallel", "CPU, all cores", PARALLEL, parallel, "cpu", largest=most, exactness=limits.PARALLEL),
        Variant("numpy", "NumPy", NUMPY, by_numpy, "cpu", library="numpy", largest=most, exactness=limits.NUMPY),
        *_kernels(kind),
        Variant(
            *("cupy", "cupy.cumsum", CUPY, peers.cupy_sums, "cuda"), library="cupy", largest=most, exactness=limits.CUPY
        ),
        Variant(
            *("torch", "torch.cumsum", TORCH, peers.torch_sums, "cuda"),
            library="torch",
            largest=most,
            exactness=limits.TORCH,
        ),
        *((BY_CUB,) if kind == "signal" else ()),
    )


def _filter(kind: Kind, along: str, claims: tuple[Claim, ...] = ()) -> Filter:
    return Filter(
        id=f"scan{INPUT_KINDS[kind].rank}d",
        family="scan",
        title=f"Prefix sum ({kind})",
        summary=f"The sum of all values up to each one along {along}. {SUMMARY}",
        accepts=kind,
        dtypes=DTYPES,
        params=(SUMS,),
        outputs=(Output(kind, INPUT_KINDS[kind].view, "", limits.tree, least=magnitude, form=form, own_scale=True),),
        reference=reference,
        work=work,
        locality=Locality("global"),
        claims=claims,
        source="S1",
        shows=("bank_conflicts", "l2_bytes", "warp_instructions"),
        variants=_variants(kind),
    )


SCAN1D = _filter("signal", "time, channel by channel", CLAIMS)
SCAN2D = _filter("image", "its row, colour by colour")
