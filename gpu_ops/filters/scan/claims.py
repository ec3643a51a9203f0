"""What the source asks of a prefix sum, "profiled and optimised", and how each step of that is tested. Source: S1."""

from __future__ import annotations

from collections.abc import Mapping

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


def _measured(id: str, text: str, prediction: str, slow: str, fast: str, least: float) -> Claim:
    return Claim(
        f"S1-scan-{id}",
        "S1",
        text,
        "an exercise, no figure",
        prediction,
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, slow, fast, least),
    )


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
        "Holds with two paddings; one alone leaves two threads a bank in the upper levels.",
        "counted",
        EXPERIMENT,
        _conflicts,
    ),
    _measured(
        "tree",
        "The prefix sum with fewer additions is faster.",
        "Undecided in advance: it adds less, but meets twice as many barriers and conflicts in banks.",
        "hillis_steele",
        "blelloch",
        1.05,
    ),
    _measured(
        "padding",
        "The prefix sum without bank conflicts is faster.",
        "Holds, by less than the wavefronts: barriers and global memory take most of the time.",
        "blelloch",
        "blelloch_padded",
        1.05,
    ),
    _measured(
        "optimised",
        "The prefix sum, profiled and optimised, is several times as fast as the first one.",
        "Holds: three accesses of a value instead of four, and two barriers for 2048 values instead of eight for 128.",
        "hillis_steele",
        "warp",
        2.0,
    ),
)
