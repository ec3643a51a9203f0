"""The source's exercise on prefix sums, "profiled and optimised", and how each step of it is tested. Source: S1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.filters.scan.accesses import doubling_additions, tree_additions, tree_wavefronts
from gpu_ops.types import Claim, Run

EXPERIMENT = {
    "filter": "scan1d",
    "sample": {"id": "noise", "length": 1 << 24, "dtype": "float32"},
    "params": {"sums": "inclusive"},
    "knobs": {},
}
TILE, ITEMSIZE = 512, 4
"""The tile of the counted claims: 256 threads with two floats each."""


def _work(runs: Mapping[str, Run]) -> Verdict:
    doubling, tree = doubling_additions(TILE), tree_additions(TILE)
    return f"{doubling} to {tree} additions for {TILE} values", tree < 2 * TILE < doubling


def _conflicts(runs: Mapping[str, Run]) -> Verdict:
    before, after = tree_wavefronts(TILE, ITEMSIZE)
    return f"{before} to {after} wavefronts of shared memory for {TILE} floats", before > 2 * after


def _timed(id: str, text: str, prediction: str, slow: str, fast: str) -> Claim:
    judge = partial(ratio, slow=slow, fast=fast, least=1.05)
    return Claim(f"S1-{id}", "S1", text, "an exercise, no figure", prediction, "measured", EXPERIMENT, judge)


CLAIMS = (
    Claim(
        "S1-scan-additions",
        "S1",
        "A prefix sum by a tree takes about 2 n additions, one by doubled distances n log n.",
        "an exercise, no figure",
        "Holds by construction.",
        "counted",
        EXPERIMENT,
        _work,
    ),
    Claim(
        "S1-scan-conflicts",
        "S1",
        "The profile of the tree shows bank conflicts, and padding removes them all.",
        "an exercise, no figure",
        "Holds with two paddings; one alone leaves two threads per bank in the upper levels.",
        "counted",
        EXPERIMENT,
        _conflicts,
    ),
    _timed(
        "scan-tree",
        "The prefix sum by a tree is faster than the one by doubled distances.",
        "Holds, by little: fewer additions, but twice as many steps, in which most threads wait.",
        "hillis_steele",
        "blelloch",
    ),
    _timed(
        "scan-padding",
        "Padding makes the tree faster.",
        "Holds, by less than the wavefronts that it saves: barriers take as long as before.",
        "blelloch",
        "blelloch_padded",
    ),
    _timed(
        "scan-optimised",
        "Optimised, a prefix sum takes a fraction of the padded tree's time.",
        "Holds: one launch that reads and writes each value once, where the tree takes three and reads twice.",
        "blelloch_padded",
        "look_back",
    ),
)
