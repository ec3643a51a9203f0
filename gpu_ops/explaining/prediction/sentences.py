"""What predictions say in words: what decides, and what a change from one variant to the next is worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gpu_ops.explaining.prediction.model import INTERVAL, LIMITS, Prediction

MOST_TERMS = 2
"""The most terms that a sentence names."""
CHANGED = 0.05
"""The least change of a term, as a share of the time, that a sentence names."""


def sentences(found: Sequence[tuple[str, Prediction]]) -> list[str]:
    """A sentence for each variant, one for each step to the next, and what the intervals do not include."""
    texts = [_alone(name, prediction) for name, prediction in found]
    texts += [_step(before, after) for before, after in pairwise(found)]
    return texts + [f"{name}: {note}." for name, prediction in found for note in prediction.notes]


def _alone(name: str, prediction: Prediction) -> str:
    if prediction.unknown:
        return f"{name}: unknown, because {prediction.unknown}."
    share = prediction.terms[prediction.limit] / prediction.seconds
    near = "" if prediction.terms["memory"] else " Its data stay in L2, so device memory takes no time."
    return f"{name}: {LIMITS[prediction.limit]} would take {share:.0%} of the predicted time alone.{near}"


def _step(before: tuple[str, Prediction], after: tuple[str, Prediction]) -> str:
    (first, a), (second, b) = before, after
    if a.unknown or b.unknown:
        return f"{second} against {first}: unknown."
    ratio = a.seconds / b.seconds
    known = 1 / INTERVAL < ratio < INTERVAL
    verdict = "about as fast" if known else f"{max(ratio, 1 / ratio):.2g} times as {'fast' if ratio > 1 else 'slow'}"
    changes = {name: b.terms[name] - a.terms[name] for name in LIMITS}
    largest = sorted(changes, key=lambda name: -abs(changes[name]))[:MOST_TERMS]
    named = [
        f"{LIMITS[name]} {a.terms[name] * 1e6:.4g} → {b.terms[name] * 1e6:.4g} µs"
        for name in largest
        if abs(changes[name]) > CHANGED * min(a.seconds, b.seconds)
    ]
    moved = f"; the limit moves from {LIMITS[a.limit]} to {LIMITS[b.limit]}" if a.limit != b.limit else ""
    return f"{second} is {verdict} as {first}: {', '.join(named) or 'no term changes much'}{moved}."
