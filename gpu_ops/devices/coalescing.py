"""How the first GPU generations coalesced the accesses of a half-warp into transactions, by their published rules."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Rule = Literal["today", "1.0", "1.2"]
HALF = 16
RULES: dict[Rule, str] = {
    "today": "32-byte sectors per warp, in any order",
    "1.0": "capability 1.0 and 1.1: lane k of a half-warp accesses word k of a segment, else a transaction per lane",
    "1.2": "capability 1.2 and 1.3: one transaction per aligned segment that a half-warp touches, in any order",
}


def transactions(addresses: Array, mask: Array | None, nbytes: int, rule: Rule) -> tuple[int, int]:
    """The number of transactions, and their bytes, for accesses of `nbytes` at addresses (warps, 32); `mask` says which
    lanes are active (None: all)."""
    rows = addresses.reshape(-1, HALF)
    running = np.ones(rows.shape, np.bool_) if mask is None else mask.reshape(-1, HALF)
    some = running.any(axis=1)
    rows, running = rows[some], running[some]
    return _first(rows, running, nbytes) if rule == "1.0" else _second(rows, running, nbytes)


def _first(rows: Array, running: Array, nbytes: int) -> tuple[int, int]:
    """One transaction if the words of 4, 8 or 16 bytes are in order in one segment (inactive lanes leave gaps), else
    one of 32 bytes for each lane. 16-byte words fill two segments of 128 bytes, hence two transactions."""
    if nbytes < 4:
        joined = np.zeros(len(rows), np.bool_)
    else:
        begins = rows - np.arange(HALF) * nbytes
        lane = running.argmax(axis=1)[:, None]
        begin = np.take_along_axis(begins, lane, axis=1)
        joined = ((begins == begin) | ~running).all(axis=1) & (begin[:, 0] % (HALF * nbytes) == 0)
    each, size = (2, 128) if nbytes == 16 else (1, HALF * nbytes)
    alone = int(np.count_nonzero(running[~joined]))
    together = int(np.count_nonzero(joined)) * each
    return together + alone, together * size + alone * 32


def _second(rows: Array, running: Array, nbytes: int) -> tuple[int, int]:
    """One transaction for each segment: of 32 bytes for bytes, 64 for 16-bit words, else 128; halved, down to 32, while
    only one half of it is used."""
    size = {1: 32, 2: 64}.get(nbytes, 128)
    number, traffic = 0, 0
    rest = running.copy()
    while rest.any():
        rows, rest = rows[rest.any(axis=1)], rest[rest.any(axis=1)]
        lane = rest.argmax(axis=1)[:, None]
        segment = np.take_along_axis(rows, lane, axis=1) // size
        mine = rest & (rows // size == segment)
        low = np.where(mine, rows % size, size).min(axis=1)
        high = np.where(mine, rows % size + nbytes - 1, -1).max(axis=1)
        sizes = np.full(len(rows), size)
        while True:
            halved = (sizes > 32) & (low // (sizes // 2) == high // (sizes // 2))
            if not halved.any():
                break
            sizes[halved] //= 2
        number += len(rows)
        traffic += int(sizes.sum())
        rest = rest & ~mine
    return number, traffic
