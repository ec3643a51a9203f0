"""The catalogue of counters: what a simulated GPU counts, and the metrics derived from these counts.

Names are those of Nsight Compute and of NVIDIA's programming guide. A *request* is one memory instruction of one warp,
a *sector* is 32 aligned bytes, a *wavefront* is one pass over the 32 banks of shared memory. The table follows the
summaries of NVIDIA's nvbench (tag, name, description, hint). To add a counter, add one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

UNKNOWN = "?"
"""In the place of a count at a source line that depends on which thread comes first."""
Hint = Literal["count", "ratio", "best"]
"""How to print a value: as an integer, with three digits, or only next to the counter whose ideal value it is."""


@dataclass(frozen=True)
class Counter:
    """A counter, or a metric derived from counters.

    `id` is its key in reports and X-rays; `name` follows a number in tables and lists; `unit` is the unit of the
    number; `description` is one sentence. `column` is the heading of its column next to source lines, if it has one.
    `best` is the counter with the ideal value of this one. The value of a metric is the sum of its `parts`, divided by
    the sum of `over` if there are any, times `scale`.
    """

    id: str
    name: str
    unit: str
    description: str
    hint: Hint = "count"
    column: str = ""
    best: str = ""
    parts: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    scale: int = 1

    def is_unknown(self, counts: Mapping[str, int]) -> bool:
        """Whether its value at a source line depends on which thread comes first, so that no number is known."""
        kinds = ("global", "shared", "atomic")
        return bool(counts.get("unsettled_requests")) and any(p.startswith(kinds) for p in self.parts or (self.id,))

    def cell(self, counts: Mapping[str, int], write: Callable[[float], str]) -> str:
        """The text at a source line with these counts: "" where nothing was counted, else as `write` has it."""
        value = self.value(counts)
        return "" if not value else UNKNOWN if self.is_unknown(counts) else write(value)

    def value(self, counts: Mapping[str, int]) -> float:
        """Its value, computed from counts by id; 0 where nothing was counted."""
        total = self.scale * sum(counts.get(part, 0) for part in self.parts or (self.id,))
        if not self.over:
            return total
        base = sum(counts.get(part, 0) for part in self.over)
        return total / base if base else 0


_SHARED = ("shared_load_requests", "shared_store_requests", "shared_atomic_requests")
CATALOGUE = (
    Counter("warp_instructions", "warp instructions", "instruction",
            "Instructions executed, counted once per warp.", column="instr"),
    Counter("thread_instructions", "thread instructions", "instruction",
            "Instructions executed, counted once per active lane."),
    Counter("active_lanes", "active lanes per warp instruction", "lane",
            "Average number of active lanes (of 32) per executed warp instruction.", "ratio", "lanes",
            parts=("thread_instructions",), over=("warp_instructions",)),
    Counter("divergent_branches", "divergent branches", "branch",
            "Branches at which the lanes of a warp diverge: the paths execute one after the other.", column="div"),
    Counter("global_sectors", "global memory sectors", "sector",
            "32-byte sectors that loads, stores and atomics of global memory touch.",
            parts=("global_load_sectors", "global_store_sectors", "global_atomic_sectors")),
    Counter("l2_bytes", "bytes requested from L2", "byte",
            "32 bytes for each sector of global memory: the most that can come from the L2 cache.",
            parts=("global_load_sectors", "global_store_sectors", "global_atomic_sectors"), scale=32),
    Counter("samples", "samples of the input", "sample",
            "Samples of the input, of all channels, which a report's row knows by its shape."),
    Counter("bytes_per_sample", "bytes requested from L2 per sample", "byte",
            "32 bytes for each sector of global memory, over the samples of the input: of most filters the outputs.",
            "ratio", parts=("global_load_sectors", "global_store_sectors", "global_atomic_sectors"), over=("samples",),
            scale=32),
    Counter("global_load_requests", "global load requests", "request",
            "Loads of global memory, counted once per warp.", column="ld"),
    Counter("global_load_sectors", "global load sectors", "sector",
            "32-byte sectors that loads touch: few where they are coalesced.", best="global_load_ideal_sectors"),
    Counter("sectors_per_load", "sectors per load request", "sector",
            "32-byte sectors per load of a warp: a measure of coalescing.", "ratio", "sec/ld",
            parts=("global_load_sectors",), over=("global_load_requests",)),
    Counter("ideal_sectors_per_load", "ideal sectors per load request", "sector",
            "Sectors for the same bytes if they were contiguous: perfect coalescing.", "ratio", "idl/ld",
            parts=("global_load_ideal_sectors",), over=("global_load_requests",)),
    Counter("global_load_transactions", "global load transactions", "transaction",
            "Transactions of loads by the coalescing rule of an older GPU."),
    Counter("global_load_transaction_bytes", "global load transaction bytes", "byte",
            "Bytes that these transactions move."),
    Counter("transactions_per_load", "transactions per load request", "transaction",
            "Transactions per load of a warp by the coalescing rule of an older GPU.", "ratio", "tra/ld",
            parts=("global_load_transactions",), over=("global_load_requests",)),
    Counter("global_load_threads", "global loads of threads", "access",
            "Loads of global memory, counted once per thread."),
    Counter("global_store_requests", "global store requests", "request",
            "Stores of global memory, counted once per warp.", column="st"),
    Counter("global_store_sectors", "global store sectors", "sector",
            "32-byte sectors that stores touch: few where they are coalesced.", best="global_store_ideal_sectors"),
    Counter("sectors_per_store", "sectors per store request", "sector",
            "32-byte sectors per store of a warp: a measure of coalescing.", "ratio", "sec/st",
            parts=("global_store_sectors",), over=("global_store_requests",)),
    Counter("ideal_sectors_per_store", "ideal sectors per store request", "sector",
            "Sectors for the same bytes if they were contiguous: perfect coalescing.", "ratio", "idl/st",
            parts=("global_store_ideal_sectors",), over=("global_store_requests",)),
    Counter("global_store_transactions", "global store transactions", "transaction",
            "Transactions of stores by the coalescing rule of an older GPU."),
    Counter("global_store_transaction_bytes", "global store transaction bytes", "byte",
            "Bytes that these transactions move."),
    Counter("transactions_per_store", "transactions per store request", "transaction",
            "Transactions per store of a warp by the coalescing rule of an older GPU.", "ratio", "tra/st",
            parts=("global_store_transactions",), over=("global_store_requests",)),
    Counter("global_store_threads", "global stores of threads", "access",
            "Stores of global memory, counted once per thread."),
    Counter("global_atomic_requests", "global atomic requests", "request",
            "Atomic operations on global memory, counted once per warp."),
    Counter("global_atomic_sectors", "global atomic sectors", "sector",
            "32-byte sectors that atomic operations touch.", best="global_atomic_ideal_sectors"),
    Counter("global_atomic_threads", "global atomics of threads", "access",
            "Atomic operations on global memory, counted once per thread."),
    Counter("atomics", "atomic operations", "operation",
            "Atomic operations on global and shared memory, counted once per thread.", column="atom"),
    Counter("atomic_collisions", "atomic collisions", "operation",
            "Atomic operations that are serialised with another of their warp at the same address.", column="coll"),
    Counter("collisions_per_atomic", "share of atomic operations that collide", "operation",
            "Atomic collisions over atomic operations: 0 where no two lanes of a warp meet at one address.", "ratio",
            parts=("atomic_collisions",), over=("atomics",)),
    Counter("unsettled_requests", "requests that depend on which thread comes first", "request",
            "Requests whose number or addresses follow from the results of atomic operations, or from elements that "
            "another block writes meanwhile: a GPU may make others.",
            column="turn"),
    Counter("shared_load_requests", "shared load requests", "request",
            "Loads of shared memory, counted once per warp."),
    Counter("shared_load_threads", "shared loads of threads", "access",
            "Loads of shared memory, counted once per thread."),
    Counter("shared_store_requests", "shared store requests", "request",
            "Stores to shared memory, counted once per warp."),
    Counter("shared_store_threads", "shared stores of threads", "access",
            "Stores to shared memory, counted once per thread."),
    Counter("shared_atomic_requests", "shared atomic requests", "request",
            "Atomic operations on shared memory, counted once per warp."),
    Counter("shared_atomic_threads", "shared atomics of threads", "access",
            "Atomic operations on shared memory, counted once per thread."),
    Counter("shared_requests", "shared-memory requests", "request",
            "Loads, stores and atomics of shared memory, counted once per warp.", column="sh", parts=_SHARED),
    Counter("shared_wavefronts", "shared-memory wavefronts", "wavefront",
            "Passes over the 32 banks: one more per bank conflict.", best="shared_ideal_wavefronts"),
    Counter("wavefronts_per_request", "wavefronts per shared-memory request", "wavefront",
            "Passes over the 32 banks per request: those above the ideal number are bank conflicts.", "ratio", "wav/sh",
            parts=("shared_wavefronts",), over=_SHARED),
    Counter("bank_conflicts", "bank conflict factor", "wavefront",
            "Passes over the banks, as a multiple of those without bank conflicts: 1 where there are none.", "ratio",
            parts=("shared_wavefronts",), over=("shared_ideal_wavefronts",)),
    Counter("ideal_wavefronts_per_request", "ideal wavefronts per shared-memory request", "wavefront",
            "Passes over the banks per request without bank conflicts.", "ratio", "idl/sh",
            parts=("shared_ideal_wavefronts",), over=_SHARED),
    Counter("constant_requests", "constant-cache requests", "request",
            "Loads of constant memory, counted once per warp.", column="const"),
    Counter("constant_words", "constant-cache words", "word of 4 bytes",
            "Different words in these requests: they are served one after the other.", best="constant_requests"),
    Counter("words_per_constant_request", "words per constant-cache request", "word of 4 bytes",
            "Different words per request: one is broadcast, several are serialised.", "ratio", "wor/co",
            parts=("constant_words",), over=("constant_requests",)),
    Counter("constant_threads", "constant loads of threads", "access",
            "Loads of constant memory, counted once per thread."),
    Counter("texture_requests", "texture requests", "request",
            "Fetches from textures, counted once per warp.", column="tex"),
    Counter("texture_threads", "texture fetches of threads", "access",
            "Fetches from textures, counted once per thread."),
    Counter("local_requests", "local memory requests", "request",
            "Accesses to per-thread arrays, which are in device memory, counted once per warp.", column="local"),
    Counter("local_bytes", "local memory bytes", "byte",
            "Bytes of per-thread arrays that are read and written."),
    Counter("local_sectors", "local memory sectors", "sector",
            "32-byte sectors that requests to local memory touch."),
    Counter("sectors_per_local_request", "sectors per local memory request", "sector",
            "32-byte sectors per such request.", "ratio", "sec/lo",
            parts=("local_sectors",), over=("local_requests",)),
    Counter("spill_bytes", "spilled bytes", "byte",
            "Bytes that register spills store and load, from the assembler's log; only for kernels without branches."),
    Counter("spill_sectors", "spilled sectors", "sector",
            "Sectors of local memory that these bytes touch, in addition to those of per-thread arrays."),
    Counter("launches", "launches", "launch",
            "Launches of kernels."),
    Counter("blocks", "blocks", "block",
            "Blocks of threads, of all launches."),
    Counter("block_loads_first", "global loads of the first block", "access",
            "Loads of global memory by threads of the first block."),
    Counter("block_loads_inner", "global loads of the inner block", "access",
            "Loads of global memory by threads of the block in the middle of the grid."),
    Counter("block_loads_last", "global loads of the last block", "access",
            "Loads of global memory by threads of the last block."),
    Counter("global_load_ideal_sectors", "ideal global load sectors", "sector",
            "Sectors for the bytes of loads if they were contiguous.", hint="best"),
    Counter("global_store_ideal_sectors", "ideal global store sectors", "sector",
            "Sectors for the bytes of stores if they were contiguous.", hint="best"),
    Counter("global_atomic_ideal_sectors", "ideal global atomic sectors", "sector",
            "Sectors for the bytes of atomic operations if they were contiguous.", hint="best"),
    Counter("shared_ideal_wavefronts", "ideal shared-memory wavefronts", "wavefront",
            "Wavefronts of the same requests without bank conflicts.", hint="best"),
)  # fmt: skip
"""Counters and metrics in display order."""
COUNTERS: Mapping[str, Counter] = {c.id: c for c in CATALOGUE if not c.parts}
"""The counters by id."""
FIGURES: Mapping[str, Counter] = {c.id: c for c in CATALOGUE if c.parts}
"""The metrics by id."""
COLUMNS = tuple(c for c in CATALOGUE if c.column)
"""The columns shown next to source lines."""


ACCESSES = "thread_instructions"
"""This counter exists only if memory accesses were counted, not merely launches and instructions."""


def counter_name(id: str) -> str:
    """The name of a counter or metric; for an unknown id of a newer report, the words of the id."""
    counter = COUNTERS.get(id) or FIGURES.get(id)
    return counter.name if counter else id.replace("_", " ")


def counter_of(id: str) -> Counter:
    """A counter or metric; for an unknown id of a newer report, one without words."""
    return COUNTERS.get(id) or FIGURES.get(id) or Counter(id, id, "", "")


def add_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts by name, summed."""
    total: dict[str, int] = {}
    for one in counts:
        for name, value in one.items():
            total[name] = total.get(name, 0) + value
    return total


def value_of(id: str, counts: Mapping[str, int]) -> float | None:
    """The value of a counter or metric, or None if none of its counters was recorded. It is 0 if accesses were counted
    and none was of its kind; a ratio also needs a non-zero denominator."""
    counter = counter_of(id)
    known = ACCESSES in counts or any(map(counts.get, counter.parts or (id,)))
    return counter.value(counts) if known and (not counter.over or any(map(counts.get, counter.over))) else None


def counted_in(counts: Iterable[Mapping[str, int]]) -> tuple[str, ...]:
    """The counters and metrics with a value in any of these counts, in the catalogue's order. Ideal counts are shown
    next to others and are not listed themselves. Unknown ids of a newer report come last."""
    found = [dict(one) for one in counts]
    known = [c.id for c in CATALOGUE if c.hint != "best"]
    ids = dict.fromkeys([*known, *(id for one in found for id in one if id not in COUNTERS)])
    return tuple(id for id in ids if any(value_of(id, one) for one in found))


def in_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Each id once: first those of the catalogue in its order, then the others in their own."""
    places = {id: place for place, id in enumerate(COUNTERS)}
    return tuple(sorted(dict.fromkeys(ids), key=lambda id: places.get(id, len(places))))
