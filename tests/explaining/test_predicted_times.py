"""How many recorded times the predicted intervals hold, and how often they rank two variants as the times do.

`prediction_counts.json.xz` has what each launch of recorded jobs did, counted on the simulated GPU with the code that
was timed (python -m tests.explaining.count_recorded), and the recorded seconds by card. The model's numbers were fitted
to those of the H200."""

from __future__ import annotations

import json
import lzma
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gpu_ops.explaining.prediction.counting import LaunchCounts
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.explaining.prediction.model import Prediction, predict
from gpu_ops.filters import find_filter
from tests.explaining.count_recorded import job_of, key_of, recorded_jobs

CARDS = {"H200": GPUS["h200"], "H100": GPUS["h100"]}
HELD = 0.85
"""The least share of times that the intervals hold."""
UNKNOWN = 0.15
"""The largest share of jobs that are said to be unknown."""
SECONDS = 0.1
"""The most that a prediction may take."""
APART = 1.1
"""Two times differ when one is this many times the other."""


def launches_of(job: dict[str, Any]) -> list[LaunchCounts]:
    """What the launches of a job did."""
    return [
        LaunchCounts(kernel, blocks, threads, resident, bool(early), moved, arrays, spilled, counts, *values)
        for kernel, blocks, threads, resident, early, moved, arrays, spilled, counts, *values in job["launches"]
    ]


@pytest.fixture(scope="module")
def jobs() -> list[dict[str, Any]]:
    """All jobs with their counts."""
    path = Path(__file__).with_name("prediction_counts.json.xz")
    return list(json.loads(lzma.decompress(path.read_bytes())))


@pytest.fixture(scope="module")
def predicted(jobs: list[dict[str, Any]]) -> dict[str, list[tuple[dict[str, Any], Prediction, float]]]:
    """The jobs of each card with a prediction, and the recorded seconds."""
    found = defaultdict(list)
    for job in jobs:
        for card, seconds in job["seconds"].items():
            prediction = predict(launches_of(job), CARDS[card])
            if not prediction.unknown:
                found[card].append((job, prediction, seconds))
    return found


@pytest.mark.parametrize("card", CARDS)
def test_most_recorded_times_lie_in_their_intervals(card: str, predicted: dict[str, Any]) -> None:
    held = [p.low <= seconds <= p.high for _, p, seconds in predicted[card]]
    assert len(held) > {"H200": 600, "H100": 100}[card]
    assert sum(held) / len(held) >= HELD, f"{sum(held)} of {len(held)}"


def test_few_jobs_are_unknown(jobs: list[dict[str, Any]], predicted: dict[str, Any]) -> None:
    times, known = sum(len(job["seconds"]) for job in jobs), sum(map(len, predicted.values()))
    assert (times - known) / times <= UNKNOWN, f"{times - known} of {times}"


def test_a_prediction_follows_at_once_from_its_counts(jobs: list[dict[str, Any]]) -> None:
    longest = launches_of(max(jobs, key=lambda job: len(job["launches"])))
    start = time.process_time()
    predict(longest, CARDS["H200"])
    assert len(longest) > 10 and time.process_time() - start < SECONDS


def test_an_interval_is_at_most_1_6_wide(predicted: dict[str, Any]) -> None:
    assert all(p.high <= 1.6 * p.low for found in predicted.values() for _, p, _ in found)


def test_neighbours_on_a_ladder_are_ranked_as_they_were_timed(predicted: dict[str, Any]) -> None:
    ladders: dict[Any, dict[int, tuple[float, float]]] = defaultdict(dict)
    for card, found in predicted.items():
        for job, prediction, seconds in found:
            ids = [v.id for v in find_filter(job["filter"]).variants]
            key = card, job["filter"], json.dumps(job["params"]), job["dtype"], tuple(job["shape"])
            ladders[key][ids.index(job["variant"])] = prediction.seconds, seconds
    right = []
    for ladder in ladders.values():
        for (_, (first, timed)), (_, (second, other)) in pairwise(sorted(ladder.items())):
            if max(timed, other) > APART * min(timed, other):
                right.append((first < second) == (timed < other))
    assert len(right) > 150
    assert sum(right) / len(right) >= 0.9, f"{sum(right)} of {len(right)}"


KINDS = {
    "atomic operations": "atomic operations",
    "spills": "spilled registers",
    "a texture": "textures",
    "values that an earlier launch": "values that were not all computed",
    "machine code of": "missing instructions",
}
"""Of unknown times, a part of the reason and how the guide names it."""


def unknown_kind(reason: str) -> str:
    """How the guide names the reason of an unknown time."""
    (kind,) = [name for part, name in KINDS.items() if part in reason]
    return kind


@pytest.mark.thorough
def test_the_guide_says_of_each_recorded_time_what_became_of_it(jobs: list[dict[str, Any]], predicted: Any) -> None:
    guide = " ".join(Path("resources/guide/simulated.md").read_text().split())
    for card, found in predicted.items():
        held = sum(p.low <= seconds <= p.high for _, p, seconds in found)
        assert f"{held} of {len(found)} of the {card}" in guide
    reasons = ((predict(launches_of(job), CARDS[card]).unknown, 1) for job in jobs for card in job["seconds"])
    unknown = Counter(unknown_kind(reason) for reason, _ in reasons if reason)
    for kind, count in unknown.items():
        assert f"{count} {kind}" in guide
    recorded = {(key_of(job_of(row)), card) for card, row in recorded_jobs()}
    counted = {(key_of(job), card) for job in jobs for card in job["seconds"]}
    assert len(counted) == unknown.total() + sum(map(len, predicted.values()))
    older = f"{len(counted)} recorded times have counts, {len(counted - recorded)} of them of kernels that have changed"
    assert older in guide and f"{unknown.total()} are *unknown*" in guide
    assert f"Of the {len(recorded)} recorded times of today's kernels are not counted" in guide
    left = Counter(json.loads(key)[0] for key, _ in recorded - counted)
    for filter, count in left.items():
        assert f"{count} of `{filter}`" in guide
