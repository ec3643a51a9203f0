"""How to mend what an X-ray finds, and the line of a shipped kernel that does it right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.xray import XRay
from gpu_ops.filters import FILTERS


@dataclass(frozen=True)
class Example:
    """The line of a shipped variant's kernel that contains `text`; `file` is a header where it is not in the kernel's
    own file."""

    filter: str
    variant: str
    text: str
    file: str = ""

    @property
    def path(self) -> str:
        """The file with the line."""
        return self.file or FILTERS.find(self.filter).variant(self.variant).kernels[0]

    @property
    def line(self) -> int:
        """The number of the first line with the text. Raises LookupError where the file has none."""
        for number, line in enumerate(read_source(self.path).splitlines(), start=1):
            if self.text in line:
                return number
        raise LookupError(f"{self.path} has no line with {self.text}")

    @property
    def source(self) -> str:
        """The line."""
        return read_source(self.path).splitlines()[self.line - 1].strip()

    @property
    def title(self) -> str:
        """Such as "Mean (signal), 3 constant + shared"."""
        filter = FILTERS.find(self.filter)
        return f"{filter.title}, {filter.variant(self.variant).title}"


@dataclass(frozen=True)
class Advice:
    """How to mend a fault, and examples of shipped kernels, which do not have it."""

    text: str
    examples: tuple[Example, ...] = ()

    def example(self, filter: str = "") -> Example | None:
        """The example of this filter, else the first one; None where no shipped kernel needs the remedy."""
        own = [one for one in self.examples if one.filter == filter]
        return next(iter((*own, *self.examples)), None)


TILE = (
    Example("mean1d", "shared", "tile[i] = s < 0 ?"),
    Example("mean2d", "shared", "tile[v * stride + i] = inside ?"),
)
FAULTS = (
    (
        "within a warp",
        Advice(
            "Put __syncwarp() between the access of one lane and that of the other: the lanes of a warp need not run "
            "in lockstep. Or exchange the value in registers, with __shfl_sync(). Where several lanes add to one "
            "element, use atomicAdd().",
            (
                Example("conv3x3", "packed", "__syncwarp();"),
                Example("histogram1d", "tagged", "__syncwarp();"),
                Example("histogram2d", "tagged", "__syncwarp();"),
            ),
        ),
    ),
    (
        "in a cluster",
        Advice("Put cluster.sync() between the two accesses: __syncthreads() waits only for the threads of one block."),
    ),
    (
        "block may have ended",
        Advice(
            "Put cluster.sync() at the end of the kernel: until then no block of the cluster ends, and its shared "
            "memory stays."
        ),
    ),
    (
        "missing __threadfence()",
        Advice(
            "Write, then call __threadfence(), then signal: a block that sees the signal then sees the value as well.",
            (
                Example("reduce1d", "one_pass", "__threadfence();", "reduce/reduce_fast.cuh"),
                Example("reduce2d", "one_pass", "__threadfence();", "reduce/reduce_fast.cuh"),
            ),
        ),
    ),
    (
        "hazard between blocks",
        Advice(
            "Blocks run in any order. Write to another array than the one that blocks read, or split the work into two "
            "launches: the second one begins when all blocks of the first have ended.",
            (
                Example("reduce1d", "sequential", "store_state(part[0], partial"),
                Example("reduce2d", "sequential", "store_state(part[0], partial"),
            ),
        ),
    ),
    (
        "two blocks write one element",
        Advice(
            "Compute the index from blockIdx and threadIdx, so that each element has one thread. Where several threads "
            "add to one element, use atomicAdd().",
            (
                Example("histogram1d", "global", "atomicAdd("),
                Example("histogram2d", "global", "atomicAdd("),
            ),
        ),
    ),
    (
        "write-after-write hazard",
        Advice(
            "Give each thread its own element, or let one thread of the block write it. Where several threads add to "
            "one element, use atomicAdd(). Between two writes put __syncthreads().",
            (
                Example("histogram1d", "shared", "atomicAdd(own"),
                Example("histogram2d", "shared", "atomicAdd(own"),
            ),
        ),
    ),
    (
        "hazard",
        Advice(
            "Put __syncthreads() between the two accesses, where every thread of the block reaches it: after it each "
            "thread sees what the others wrote. A loop that overwrites what it read needs a second one before its next "
            "round. Where several threads add to one element, use atomicAdd().",
            (
                Example("mean1d", "shared", "__syncthreads();"),
                Example("mean2d", "shared", "__syncthreads();"),
            ),
        ),
    ),
    (
        "uninitialised read",
        Advice(
            "Write every element before it is read: also those beyond an edge, which may be zeros, and counts, which "
            "begin at 0.",
            (
                *TILE,
                Example("histogram1d", "shared", "own[k] = 0;"),
                Example("histogram2d", "shared", "own[k] = 0;"),
            ),
        ),
    ),
    (
        "out of bounds",
        Advice(
            "Compare the index with the size before the access: the last block has threads beyond the end, and a "
            "window reaches beyond both ends. For shared memory, launch with as many bytes as the kernel indexes.",
            (
                Example("mean1d", "naive", "if (e >= n * CHANNELS) return;"),
                Example("mean2d", "naive", "if (e >= width * CHANNELS) return;"),
            ),
        ),
    ),
    (
        "misaligned",
        Advice(
            "A vector of 8 or 16 bytes is at a multiple of its size: take whole vectors from the beginning of the "
            "array, and the values that fill none one by one.",
            (Example("layout", "vectors", "own[k] = ((const float4*)(x + first))[k];"),),
        ),
    ),
    (
        "read before its copy is complete",
        Advice(
            "Wait for the copy, with cp.async.wait_group, __pipeline_wait_prior() or the wait of its barrier, and put "
            "__syncthreads() after it where other threads read the values.",
            (Example("box", "columns", "wait_for_groups<STAGES - 2>();", "box/columns_first.cuh"),),
        ),
    ),
    (
        "barrier",
        Advice(
            "Take the barrier out of the branch: every thread of the block must reach the same one. A thread without "
            "work skips the work and not the barrier, and returns after the last one.",
            (
                Example("reduce1d", "sequential", "if (t < s) part[t]"),
                Example("reduce2d", "sequential", "if (t < s) part[t]"),
            ),
        ),
    ),
    (
        "warp instruction",
        Advice(
            "Take the instruction out of the branch, so that every lane of its mask executes it; a lane beyond the end "
            "takes part with a neutral value, such as 0 in a sum.",
            (
                Example("scan1d", "warp", "__shfl_up_sync(", "scan/scan.cuh"),
                Example("scan2d", "warp", "__shfl_up_sync(", "scan/scan.cuh"),
            ),
        ),
    ),
    (
        "lane",
        Advice(
            "Name in the mask exactly the lanes that execute the instruction, and read only from lanes of the mask: "
            "take it out of the branch, with a mask of 0xffffffff.",
            (
                Example("scan1d", "warp", "__shfl_up_sync(", "scan/scan.cuh"),
                Example("scan2d", "warp", "__shfl_up_sync(", "scan/scan.cuh"),
            ),
        ),
    ),
    (
        "not ended",
        Advice(
            "Let every round change what the loop tests. A thread may wait only for a block that has begun: let blocks "
            "take their numbers from an atomic counter, in the order in which they begin.",
            (
                Example("scan1d", "look_back", "number = atomicAdd(ticket"),
                Example("scan2d", "look_back", "number = atomicAdd(ticket"),
            ),
        ),
    ),
    (
        "call of no function",
        Advice(
            "Take the address of a __device__ function on the device, in a __device__ variable; `variable:NAME` passes "
            "it to the kernel as an argument."
        ),
    ),
    (
        "assertion failed",
        Advice("Print the values of the condition in front of it with printf(): the lines are shown with the result."),
    ),
    (
        "trap",
        Advice("Print the values that lead there with printf(): the lines are shown with the result."),
    ),
)
"""Advice on faults by words of their kind; the first that fits counts."""
COSTS = {
    "memory": Advice(
        "Let the block load each value once into shared memory, and read it there as often as it is needed.", TILE[:1]
    ),
    "load waste": Advice(
        "Let neighbouring lanes load neighbouring elements: threadIdx.x is the last term of the index, without a "
        "factor.",
        (Example("layout", "order", "y[i] = fma(gain, x[i], offset);"),),
    ),
    "store waste": Advice(
        "Let neighbouring lanes store neighbouring elements. Where rows become columns, exchange them through a tile "
        "in shared memory.",
        (Example("layout", "tiles", "y[i] = tile[row * PITCH + column];"),),
    ),
    "bank conflicts": Advice(
        "Let the lanes of a warp access 32 different banks: with one unused element after each row of 32, the elements "
        "of a column are in different banks.",
        (
            Example("scan1d", "blelloch_padded", "return i + i / BANKS"),
            Example("scan2d", "blelloch_padded", "return i + i / BANKS"),
        ),
    ),
    "constant words": Advice(
        "Index constant memory with the same value in all lanes, which one request serves; what differs between lanes "
        "belongs in shared or global memory.",
        (Example("mean1d", "constant", "sum += taps[k]"),),
    ),
    "lanes": Advice(
        "Let whole warps take the same path: number the work so that the busy threads are neighbours, and let a thread "
        "do several elements instead of letting others wait.",
        (
            Example("reduce1d", "warp_shuffle", "i += threads) mine"),
            Example("reduce2d", "warp_shuffle", "i += threads) mine"),
        ),
    ),
    "atomics": Advice(
        "Count for each thread or each warp first, and add the sums at the end: lanes that add to one address wait for "
        "each other.",
        (
            Example("histogram1d", "private", "atomicAdd("),
            Example("histogram2d", "private", "atomicAdd("),
        ),
    ),
    "turns": Advice(
        "Find the place of each result by a scan instead of an atomic operation where results must have one order, and "
        "add up in each block first, so that fewer threads try again.",
    ),
    "spills": Advice(
        "Keep fewer values alive in a thread: unroll less, or give each thread fewer elements. A larger bound on the "
        "registers, by __launch_bounds__, avoids spills as well.",
        (Example("layout", "spills", "#define CAP __launch_bounds__(BLOCK)"),),
    ),
    "local memory": Advice(
        "Index per-thread arrays by constants: where all loops over them are unrolled, their elements are registers.",
        (Example("mean1d", "vector", "for (int i = 0; i < VALUES; ++i) line[i]"),),
    ),
    "occupancy": Advice(
        "Take fewer registers per thread or less shared memory per block, or another block size: __launch_bounds__ "
        "limits the registers.",
        (Example("mean1d", "vector", "__launch_bounds__(THREADS) mean1d_vector"),),
    ),
}
"""Advice on what costs time, by the rule of a sentence."""


def advice_on(kind: str) -> Advice | None:
    """Advice on the kind of a finding, or on the rule of a sentence; None where there is none."""
    return COSTS.get(kind) or next((advice for words, advice in FAULTS if words in kind), None)


def mending(kinds: Iterable[str], filter: str = "") -> list[dict[str, Any]]:
    """How to mend findings of these kinds, each advice once: its "kinds", the "advice", and the "example", None or
    {filter, variant, title, file, line, source}: the line of a shipped kernel, of this filter where it has one."""
    found: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(kinds):
        if advice := advice_on(kind):
            entry = found.setdefault(advice.text, {"kinds": [], "advice": advice.text})
            entry["kinds"].append(kind)
            entry["example"] = _example(advice.example(filter))
    return [*found.values()]


def _example(one: Example | None) -> dict[str, Any] | None:
    if one is None:
        return None
    about = {"filter": one.filter, "variant": one.variant, "title": one.title}
    return {**about, "file": one.path, "line": one.line, "source": one.source}


def kinds_of(x: XRay) -> list[str]:
    """The kinds of the findings of an X-ray, then the rules of its sentences."""
    return [*(f.kind for f in x.findings), *(s.rule for s in explain(x))]
