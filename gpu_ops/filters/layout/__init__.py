"""Memory layouts: one simple job by kernels that differ only in the layout of the data and the access pattern of the
lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_ops.filters.kit.planning import SERIAL_LOOP, SEVERAL, PlanContext, cpu, cuda, peer
from gpu_ops.filters.layout import instructions, limits, plans
from gpu_ops.filters.layout.addresses import Pass, counters, loads, older_counters
from gpu_ops.filters.layout.blocks import BLOCKS
from gpu_ops.filters.layout.claims import CLAIMS
from gpu_ops.params import Param
from gpu_ops.plan import Plan
from gpu_ops.task import Task
from gpu_ops.types import Counts, Exactness, Filter, Locality, Output, Rule, Variant, Work

GAIN = Param("gain", 2.0, -1000.0, 1000.0, help="factor of each value")
OFFSET = Param("offset", 0.5, -1000.0, 1000.0, help="added to each product")

BLOCK = Param(
    *("block", 192, 16, 1024, 4),
    tries=(16, 96, 100, 192, 1024),
    sweep=BLOCKS,
    unit="threads",
    help="threads per block; the source advises multiples of 64, from 192 on",
)
SHIFT = Param(
    "shift", 1, 0, 31, unit="words", help="distance of a warp's first word from a 128-byte line", tries=(0, 1, 31)
)
ROUNDS = Param("rounds", 2, choices=(2, 4, 16), help="rounds; each lane is active in one of them", formerly=("turns",))
STRIDE = Param(
    "stride", 2, 1, 32, unit="words", help="words from one lane to the next (lane stride)", tries=(1, 2, 7, 32)
)
VALUES = Param("values", 4, choices=(3, 4, 8), help="values per structure: 3 single loads, one float4, or two float4")
BYTES = Param(
    "bytes", "adjacent", choices=("adjacent", "spread"), help="bytes of neighbouring lanes: adjacent, or 4 bytes apart"
)
LANE_STRIDE = Param(
    "lane_stride",
    0,
    0,
    32,
    unit="words",
    help="words from one lane to the next; 0: all lanes read one address",
    tries=(0, 1, 32),
    formerly=("apart",),
)
SIDE = Param("side", 32, choices=(16, 32), help="rows and columns of a tile")
PADDING = Param("padding", 0, choices=(0, 1, 2), unit="columns", help="unused columns of a tile", formerly=("extra",))
LOCAL_WORDS = Param("words", 8, choices=(4, 8, 32), help="words of the array of a thread")
START = Param(
    "start",
    1,
    0,
    31,
    help="index at which a thread starts, known only at run time",
    tries=(0, 1, 31),
    formerly=("turn",),
)
PARTS = Param("parts", 100, 1, 10000, help="equal parts in which gain × value is added", tries=(1, 10, 100))
LIVE = Param(
    "live_values",
    64,
    choices=(32, 64),
    unit="values",
    help="values that a thread loads before it stores the first one",
    formerly=("held",),
)
REGISTERS = Param(
    "registers", 32, choices=(0, 24, 32, 64), help="maximum registers per thread; 0: as many as the block size allows"
)

NUMPY = "What most Python programs write: one pass over memory for the product, one for the sum."
ORDER = (
    "Coalesced: lane k reads word k, so a warp reads 128 bytes in 4 sectors, 2 transactions on compute capability 1.0."
)
SHIFTED = (
    "Misaligned: every warp starts a few words after a 128-byte line: 5 sectors, 32 transactions on compute "
    "capability 1.0."
)
SWAPPED = (
    "Permuted: lanes 4 and 5 swap their words. No cost today; compute capability 1.0 serialised the access per lane."
)
GAPS = "Only some lanes are active in each round: every round moves the sectors of the inactive ones as well."
STRIDED = (
    "A thread loops over neighbouring values, so lanes are a stride apart; from 8 words on, each touches its own "
    "sector."
)
PACKED = (
    "Array of structures of 12 bytes, read field by field: 3 loads of 12 sectors each, 36 where 12 contain all data."
)
ALIGNED = "The same structures padded and aligned to 16 bytes: one vector load, 16 sectors."
ARRAYS = "Structure of arrays: 3 loads of 4 sectors each, and no unused byte is moved."
VECTORS = (
    "3 values fit no vector and take 3 loads, 4 are one 16-byte load, 8 take 2 loads that touch each sector twice."
)
SPLIT = "A structure of more than 16 bytes is split into arrays of 16-byte parts: every load is coalesced."
SHARED_STRIDE = "Strided access to shared memory: free of bank conflicts only where the stride is odd."
SINGLE_BYTES = (
    "Bytes in shared memory, adjacent or 4 bytes apart: bank conflicts on compute capability 1.0, one wavefront today."
)
BROADCAST = "All lanes read one address (broadcast), or different ones, with or without bank conflicts."
TILES = "Column accesses to a square tile conflict in few banks; one column of padding puts 32 lanes into 32 banks."
LOCAL = "Registers cannot be indexed at run time, so such an array is in local memory, which is device memory."
SPILLS = "A register limit raises the occupancy, but values without a register are spilled to local memory."
FLOATS = "The product is added in many parts, and each addition rounds: the error grows with their number."
DOUBLES = "The same sums in double, rounded once at the end: exact with any number of parts, but at a lower throughput."

Passes = Callable[[Task], tuple[Pass, ...]]


def work(task: Task) -> Work:
    """Every value read once and written once, one product and one sum each."""
    return Work(task.meta.nbytes, task.meta.nbytes, 2 * task.meta.size)


def _parts_work(task: Task) -> int:
    return int(2 * task.meta.size * task.knobs["parts"])


def _local_counters(task: Task) -> dict[str, int]:
    """Every word of the array is stored once and loaded once, by each warp that has a value. The words that the lanes
    have at one index are adjacent, as the values are: each access touches the same number of sectors as the load of
    these."""
    of_values, accesses = counters(instructions.order(task)), 2 * task.knobs["words"]
    return {
        **of_values,
        "local_requests": accesses * of_values["global_load_requests"],
        "local_bytes": accesses * instructions.WORD * of_values["global_load_threads"],
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
    """A kernel whose `passes` give its loads by block and, except for others that it `predicts`, its counters; the
    loads are omitted if `several` kernels run."""
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
        _kernel("1_order", "coalesced", ORDER, plans.direct, instructions.order, rules=()),
        _kernel("2_shifted", "misaligned", SHIFTED, plans.shifted, instructions.shifted, SHIFT, rules=()),
        _kernel("3_swapped", "permuted lanes", SWAPPED, plans.direct, instructions.swapped, rules=()),
        _kernel("4_gaps", "inactive lanes", GAPS, plans.knobbed("rounds"), instructions.gaps, ROUNDS, rules=()),
        _kernel("5_stride", "stride", STRIDED, strided, instructions.stride, STRIDE, rules=()),
        _kernel("6_packed", "array of structures", PACKED, in_pack, instructions.packed, several=True),
        _kernel("7_aligned", "aligned structures", ALIGNED, in_aligned, instructions.aligned, several=True),
        _kernel("8_arrays", "structure of arrays", ARRAYS, in_arrays, instructions.arrays, several=True),
        _kernel("9_vectors", "vectors", VECTORS, plans.vectors, instructions.vectors, VALUES),
        _kernel("10_split", "split structures", SPLIT, plans.split, instructions.split, several=True),
        _kernel(
            *(
                "11_shared_stride",
                ("strided shared memory"),
                SHARED_STRIDE,
                plans.shared_stride,
                instructions.shared_stride,
                STRIDE,
            ),
            rules=(limits.SHARED_STRIDE, limits.WORDS_OF_FOUR),
        ),
        _kernel(
            "12_bytes", "bytes in shared memory", SINGLE_BYTES, plans.single_bytes, instructions.single_bytes, BYTES
        ),
        _kernel("13_broadcast", "broadcast", BROADCAST, plans.broadcast, instructions.broadcast, LANE_STRIDE),
        _kernel("14_tiles", "columns of a tile", TILES, plans.tiles, instructions.tiles, SIDE, PADDING, block=None),
        _kernel(
            *("15_local", "local memory", LOCAL, plans.local, instructions.order, LOCAL_WORDS, START),
            predicts=_local_counters,
        ),
        _kernel(
            "16_spills", "spilled registers", SPILLS, plans.spills, instructions.spills, LIVE, REGISTERS, several=True
        ),
        _kernel(
            *("17_floats", "sums of floats", FLOATS, floats, instructions.order, PARTS),
            operations=_parts_work,
            exactness=limits.PARTED,
        ),
        _kernel("18_doubles", "sums of doubles", DOUBLES, doubles, instructions.order, PARTS, operations=_parts_work),
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
        "Each value times a gain, plus an offset: so little arithmetic that memory accesses alone count. The "
        "kernels differ in data layout and in the addresses of lanes."
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
    shows=("sectors_per_load", "l2_bytes", "bank_conflicts"),
    variants=(*HOSTS, *_kernels()),
)
