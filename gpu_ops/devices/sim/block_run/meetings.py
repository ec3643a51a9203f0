"""Finds accesses of different warps that meet without a barrier in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gpu_ops.devices.sim.block_run.accesses import Access, Accesses
from gpu_ops.devices.sim.block_run.run import BlockArray, Meeting, Statement
from gpu_ops.devices.sim.lanes import WARP

MOST = 20
"""The maximum number of pairs of lines in a report."""
HARMLESS = ({"reads"}, {"changes"})
"""Verbs of two accesses that may happen in any order."""
WORD = 4
_Seen = dict[int, tuple[int, str]]  # by warp: the step of its last access, and the verb


def find_meetings(
    accesses: Accesses,
    at: Sequence[int],
    opens: Sequence[int],
    statements: Sequence[Statement],
    arrays: Sequence[BlockArray],
) -> tuple[Meeting, ...]:
    """The first meeting at each pair of lines. `at` is the statement of each step; at the steps `opens` a barrier of
    the block opens."""
    found: dict[tuple[int, int, str], Meeting] = {}
    seen: dict[tuple[str, int], tuple[int, _Seen]] = {}
    epochs = np.searchsorted(opens, accesses.steps, "right").tolist()
    for epoch, (step, access) in zip(epochs, accesses, strict=True):
        for warp, unit in _touched(access):
            key = access.name if access.space == "global" else "", unit
            past, others = seen.get(key, (epoch, {}))
            if past != epoch:
                others = {}
            for other, (earlier, verb) in others.items():
                if other != warp and {verb, access.verb} not in HARMLESS:
                    lines = statements[at[earlier - 1]].line, statements[at[step - 1]].line
                    place = _place(access, unit, arrays)
                    one = Meeting(lines, (verb, access.verb), (other, warp), (earlier, step), place)
                    found.setdefault((*lines, key[0]), one)
            if access.verb != "reads" or warp not in others:
                others[warp] = step, access.verb
            seen[key] = epoch, others
        if len(found) >= MOST:
            break
    return tuple(sorted(found.values(), key=lambda one: one.steps[1]))


def _touched(access: Access) -> Iterator[tuple[int, int]]:
    """The pairs of a warp and a unit of at most 4 bytes, by its first byte, each once."""
    each, unit = max(access.nbytes // WORD, 1), min(access.nbytes, WORD)
    first = (access.addresses[:, None] // unit * unit + np.arange(each) * WORD).reshape(-1)
    warps = np.repeat(access.threads // WARP, each)
    return iter(dict.fromkeys(zip(warps.tolist(), first.tolist(), strict=True)))


def _place(access: Access, byte: int, arrays: Sequence[BlockArray]) -> str:
    """A place in words."""
    if access.space == "global":
        return f"byte {byte} of {access.name}"
    name, first = next(((a.name, a.first) for a in arrays if a.first <= byte < a.last), ("shared memory", 0))
    size = min(access.nbytes, 4)
    return f"{name}[{(byte - first) // size}]" if name != "shared memory" else f"byte {byte} of {name}"
