"""Memory layouts: one short job by kernels that differ only in how the data lies and which lane touches what."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_ops.filters.kit.planning import SERIAL_LOOP, SEVERAL, PlanContext, cpu, cuda, peer
from gpu_ops.filters.layout import limits, plans, touches
from gpu_ops.filters.layout.addresses import Pass, counters, loads, older_counters
from gpu_ops.filters.layout.blocks import BLOCKS
from gpu_ops.filters.layout.claims import CLAIMS
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Exactness, Filter, Locality, Output, Rule, Variant, Work

GAIN = Param("gain", 2.0, -1000.0, 1000.0, help="what each value is multiplied by")
OFFSET = Param("offset", 0.5, -1000.0, 1000.0, help="what is added to each product")

BLOCK = Param(
    *("block", 192, 16, 1024, 4),
    tries=(16, 96, 100, 192, 1024),
    sweep=BLOCKS,
    unit="threads",
    help="threads a block; 64 k, from 192 on, is the source's advice",
)
SHIFT = Param("shift", 1, 0, 31, unit="words", help="how far after a line of 128 bytes a warp begins", tries=(0, 1, 31))
TURNS = Param("turns", 2, choices=(2, 4, 16), help="turns that the lanes take part in, one each")
STRIDE = Param("stride", 2, 1, 32, unit="words", help="words from one lane to the next", tries=(1, 2, 7, 32))
VALUES = Param(
    "values", 4, choices=(3, 4, 8), help="values of a structure: 3 as float3, 4 as float4, 8 as two of these"
)
BYTES = Param(
    "bytes", "adjacent", choices=("adjacent", "spread"), help="where the lanes' bytes lie: side by side, or 4 apart"
)
APART = Param(
    "apart", 0, 0, 32, unit="words", help="words from one lane to the next; 0 is one address", tries=(0, 1, 32)
)
SIDE = Param("side", 32, choices=(16, 32), help="rows and columns of a tile")
EXTRA = Param("extra", 0, choices=(0, 1, 2), unit="columns", help="columns that hold nothing")
LOCAL_WORDS = Param("words", 8, choices=(4, 8, 32), help="words of a thread's array")
TURN = Param("turn", 1, 0, 31, help="where in its array a thread begins, known only at run time", tries=(0, 1, 31))
PARTS = Param("parts", 100, 1, 10000, help="equal parts that gain times value comes in", tries=(1, 10, 100))
HELD = Param("held", 64, choices=(32, 64), unit="values", help="values that a thread loads before it stores the first")
REGISTERS = Param(
    "registers", 32, choices=(0, 24, 32, 64), help="most registers of a thread; 0 is what the block size allows"
)

NUMPY = "What most Python programs write: one pass over memory for the product, one for the sum."
ORDER = "Lane k reads word k: a warp's 128 bytes lie in 4 sectors, in 2 transactions of the first GPUs."
SHIFTED = "Every warp begins a few words after a line of 128 bytes: 5 sectors, on the first GPUs 32 transactions."
SWAPPED = "Lanes 4 and 5 change places: nothing today, on the first GPUs each lane is sent alone."
GAPS = "Lanes take turns and leave gaps: the sectors under the gaps move in every turn."
STRIDED = "A thread takes neighbours in turn, so lanes lie a stride apart, until each has a sector of its own."
PACKED = "Structures of 12 bytes, field by field: 3 loads of 12 sectors each, 36 for what 12 would hold."
ALIGNED = "The same structures aligned to 16 bytes and read whole: one load, 16 sectors."
ARRAYS = "An array for each field: 3 loads of 4 sectors each, and nothing moves that is not used."
VECTORS = "3 values are no word and take 3 loads, 4 are one word, 8 take 2 loads that touch each sector twice."
SPLIT = "A structure over 16 bytes is split into arrays of 16 bytes: each load finds its bytes side by side."
SHARED_STRIDE = "Words of shared memory a stride apart: free of bank conflicts only where the stride is odd."
SINGLE_BYTES = "Bytes in shared memory, side by side or 4 apart: conflicts on the first GPUs, one wavefront today."
BROADCAST = "All lanes read one address, which is a broadcast, or addresses of their own that share banks or do not."
TILES = "Columns of a square tile meet in few banks; one extra column gives a column of 32 a bank a lane."
LOCAL = "An array that is indexed at run time has no registers: it lies in local memory, which is device memory."
SPILLS = "A cap on registers lets more warps share a multiprocessor; values without one are spilled to local memory."
FLOATS = "The product comes in many parts, and each addition rounds: the error grows with their number."
DOUBLES = "The same sums as doubles, rounded once at the end: as exact with many parts as with one, on fewer units."

Passes = Callable[[Task], tuple[Pass, ...]]


def work(task: Task) -> Work:
    """Every value read once and written once, a product and a sum each."""
    return Work(task.meta.nbytes, task.meta.nbytes, 2 * task.meta.size)


def _parts_work(task: Task) -> int:
    return int(2 * task.meta.size * task.knobs["parts"])


def _local_counters(task: Task) -> dict[str, int]:
    """Every word of the array is stored once and loaded once, by each warp that has a value. The words that the lanes
    have at one index are neighbours, as the values are: each access touches as many sectors as the load of these."""
    of_values, accesses = counters(touches.order(task)), 2 * task.knobs["words"]
    return {
        **of_values,
        "local_requests": accesses * of_values["global_load_requests"],
        "local_bytes": accesses * touches.WORD * of_values["global_load_threads"],
        "local_sectors": accesses * of_values["global_load_ideal_sectors"],
    }


def _kernel(
    file: str,
    title: str,
    idea: str,
    plan: Callable[[PlanContext], Plan],
    passes: Passes,
    *knobs: Param,
    rules: tuple[Rule, ...] = (limits.WORDS_OF_FOUR,),
    block: Param | None = BLOCK,
    several: bool = False,
    predicts: Callable[[Task], dict[str, int]] | None = None,
    operations: Callable[[Task], int] | None = None,
    exactness: Exactness | None = None,
) -> Variant:
    """A kernel whose `passes` tell its loads by block and, but for others that it `predicts`, its counters; the loads
    not where `several` kernels run."""
    counts = Counts(
        accesses=None if several else lambda task: loads(passes(task)[0]),
        uncounted=SEVERAL.uncounted if several else "",
        predicts=predicts or (lambda task: counters(passes(task))),
        transactions=lambda task, rule: older_counters(passes(task), rule),
        operations=operations,
    )
    how, own = (f"layout/{file}.cu", title, idea, plan), (*((block,) if block else ()), *knobs)
    return cuda(*how, *rules, knobs=own, source="S0", largest=limits.largest, counts=counts, exactness=exactness)


def _kernels() -> tuple[Variant, ...]:
    strided = plans.knobbed("stride", lambda task: task.knobs["stride"])
    in_pack, in_aligned = plans.records("_pack", 3, "pack"), plans.records("_pack", 4, "pack")
    in_arrays, floats, doubles = plans.records("_part", 3, "part"), plans.summed(np.float32), plans.summed(np.float64)
    return (
        _kernel("1_order", "in order", ORDER, plans.direct, touches.order, rules=()),
        _kernel("2_shifted", "shifted start", SHIFTED, plans.shifted, touches.shifted, SHIFT, rules=()),
        _kernel("3_swapped", "swapped lanes", SWAPPED, plans.direct, touches.swapped, rules=()),
        _kernel("4_gaps", "lanes with gaps", GAPS, plans.knobbed("turns"), touches.gaps, TURNS, rules=()),
        _kernel("5_stride", "stride", STRIDED, strided, touches.stride, STRIDE, rules=()),
        _kernel("6_packed", "packed structures", PACKED, in_pack, touches.packed, several=True),
        _kernel("7_aligned", "aligned structures", ALIGNED, in_aligned, touches.aligned, several=True),
        _kernel("8_arrays", "separate arrays", ARRAYS, in_arrays, touches.arrays, several=True),
        _kernel("9_vectors", "vectors", VECTORS, plans.vectors, touches.vectors, VALUES),
        _kernel("10_split", "split structures", SPLIT, plans.split, touches.split, several=True),
        _kernel(
            *("11_shared_stride", "shared stride", SHARED_STRIDE, plans.shared_stride, touches.shared_stride, STRIDE),
            rules=(limits.SHARED_STRIDE, limits.WORDS_OF_FOUR),
        ),
        _kernel("12_bytes", "shared bytes", SINGLE_BYTES, plans.single_bytes, touches.single_bytes, BYTES),
        _kernel("13_broadcast", "broadcast", BROADCAST, plans.broadcast, touches.broadcast, APART),
        _kernel("14_tiles", "tiles by columns", TILES, plans.tiles, touches.tiles, SIDE, EXTRA, block=None),
        _kernel(
            *("15_local", "local memory", LOCAL, plans.local, touches.order, LOCAL_WORDS, TURN),
            predicts=_local_counters,
        ),
        _kernel("16_spills", "spilled registers", SPILLS, plans.spills, touches.spills, HELD, REGISTERS, several=True),
        _kernel(
            *("17_floats", "sums of floats", FLOATS, floats, touches.order, PARTS),
            operations=_parts_work,
            exactness=limits.PARTED,
        ),
        _kernel("18_doubles", "sums of doubles", DOUBLES, doubles, touches.order, PARTS, operations=_parts_work),
    )


HOSTS = (
    cpu(SERIAL_LOOP, plans.loops, plans.scalars, source="S0", largest=limits.largest),
    peer("numpy", "NumPy", NUMPY, "numpy", plans.numpy_scale, plans.scalars, largest=limits.largest),
)

LAYOUT = Filter(
    id="layout",
    family="layout",
    title="Memory layouts",
    summary=(
        "Each value times a gain, plus an offset: a job so short that only the way to memory counts. The kernels"
        " differ in how the data lies and in which lane touches what."
    ),
    accepts="signal",
    dtypes=("float32", "float64"),
    params=(GAIN, OFFSET),
    outputs=(Output("signal", "signal", "", limits.tolerance, limits.least),),
    reference=limits.reference,
    work=work,
    locality=Locality("pointwise"),
    claims=CLAIMS,
    source="S0",
    picked=("serial", "order", "shifted", "stride", "packed", "aligned", "arrays"),
    variants=(*HOSTS, *_kernels()),
)
