"""Holding what a launch left behind to what it must be, or to what another device left behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.sim.bench import Case, Empty, Outcome
from tests.sim.table import FREE, SAME, Array, Entry, distance


def deviations(row: Entry, given: Case, expected: Sequence[Any], outcome: Outcome) -> list[str]:
    """What is wrong with an outcome, in words; nothing when all is right."""
    wrong = [str(f) for f in outcome.findings]
    before = [a for a in given.args if isinstance(a, np.ndarray | Empty)]
    if not len(before) == len(expected) == len(outcome.arrays):
        return [f"{len(outcome.arrays)} arrays came back, {len(expected)} are expected"]
    for place, (found, wanted, was) in enumerate(zip(outcome.arrays, expected, before, strict=True)):
        if isinstance(wanted, str) and wanted == FREE:
            continue
        target = was if isinstance(wanted, str) and wanted == SAME else wanted
        far = distance(_numbers(found), _numbers(target))
        if far > row.ulps:
            bad = np.flatnonzero(found.reshape(-1) != target.reshape(-1))[:6]
            values = f"{found.reshape(-1)[bad]} instead of {target.reshape(-1)[bad]}"
            wrong.append(f"array {place} is off by {far}, allowed are {row.ulps}; at {bad.tolist()}: {values}")
    return wrong + judged(row, given, outcome)


def judged(row: Entry, given: Case, outcome: Outcome) -> list[str]:
    """What the row's own judge says."""
    if row.judge is None:
        return []
    try:
        row.judge(given, outcome)
    except AssertionError as error:
        return [f"its judge says: {error or 'no'}"]
    return []


def apart(expected: Sequence[Any], first: Outcome, second: Outcome) -> int:
    """The largest distance between the arrays of two outcomes, but for those that may be anything."""
    pairs = zip(expected, first.arrays, second.arrays, strict=True)
    return max(
        (
            distance(_numbers(a), _numbers(b))
            for wanted, a, b in pairs
            if not (isinstance(wanted, str) and wanted == FREE)
        ),
        default=0,
    )


def _numbers(a: Array) -> Array:
    """Complex numbers as pairs."""
    return a.view(a.real.dtype) if a.dtype.kind == "c" else a
