"""The traffic of spilled registers, which neither the source nor the PTX shows: from the assembler's log and the
launch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from gpu_ops.devices.compiler import Compiled
from gpu_ops.plan import Launch

WARP, WORD, SECTOR = 32, 4, 32
_DECIDES = re.compile(r"@|\b(?:bra|brx|call|exit|trap)\b")
"""A guard, a branch or a call: without one, every instruction runs once per warp."""


def spilled_bytes(resources: Mapping[str, int]) -> int:
    """Bytes that a thread's spills store and load, each instruction once, by the assembler's log."""
    return resources.get("spill_store_bytes", 0) + resources.get("spill_load_bytes", 0)


def is_straight(compiled: Compiled, name: str) -> bool:
    """Whether a kernel has neither branches nor calls, so that the log says how often each spill happens."""
    entry = re.search(rf"\.entry\s+{name}\s*\([^)]*\)[^{{]*\{{(.*?)^\}}", compiled.ptx, re.S | re.M)
    assert entry is not None, f"{compiled.source} has no kernel {name}"
    return _DECIDES.search(re.sub(r"//.*", "", entry[1])) is None


def spill_counts(launch: Launch, compiled: Compiled) -> dict[str, int]:
    """`spill_bytes` and `spill_sectors` of a launch; {} where nothing is spilled, or where branches decide how often.

    In local memory the words of the 32 lanes at one offset are contiguous, so a word of a whole warp is 4 sectors.
    """
    nbytes = spilled_bytes(launch.kernel.resources)
    if not nbytes or not is_straight(compiled, launch.kernel.name):
        return {}
    threads, blocks = prod(launch.block), prod(launch.grid)
    whole, rest = divmod(threads, WARP)
    sectors = whole * (WARP * WORD // SECTOR) + -(-rest * WORD // SECTOR)
    return {"spill_bytes": nbytes * threads * blocks, "spill_sectors": nbytes // WORD * sectors * blocks}
