"""Two X-rays side by side: what each counts for an element of its result, and what the difference should bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.measuring.explain import Sentence, compare
from gpu_ops.measuring.xray import XRay

COUNTERS: Mapping[str, str] = {
    "warp_instructions": "instructions of warps",
    "thread_instructions": "instructions of threads",
    "divergent_branches": "divergent branches",
    "global_load_threads": "global loads of threads",
    "global_load_requests": "global load requests",
    "global_load_sectors": "global load sectors",
    "global_load_transactions": "global load transactions",
    "global_load_transaction_bytes": "global load transaction bytes",
    "global_store_threads": "global stores of threads",
    "global_store_requests": "global store requests",
    "global_store_sectors": "global store sectors",
    "global_store_transactions": "global store transactions",
    "global_store_transaction_bytes": "global store transaction bytes",
    "global_atomic_sectors": "global atomic sectors",
    "atomics": "atomic operations",
    "atomic_collisions": "atomic collisions",
    "shared_load_threads": "shared loads of threads",
    "shared_store_threads": "shared stores of threads",
    "shared_wavefronts": "shared wavefronts",
    "constant_threads": "constant reads of threads",
    "constant_words": "constant words",
    "texture_threads": "texture fetches of threads",
    "local_bytes": "local memory bytes",
    "local_sectors": "local memory sectors",
}
"""What is told of a whole variant, in the order in which it is shown, and what each is called."""


@dataclass(frozen=True)
class Row:
    """One counter for each element of the result, in the variant before and in the one after."""

    counter: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """After over before; None where either counts nothing."""
        return self.after / self.before if self.before and self.after else None


def side_by_side(before: XRay, after: XRay) -> list[Row]:
    """Every counter of COUNTERS that either of the two has."""
    rows = (
        Row(name, before.totals.get(name, 0) / before.outputs, after.totals.get(name, 0) / after.outputs)
        for name in COUNTERS
    )
    return [row for row in rows if row.before or row.after]


def said(sentences: list[Sentence]) -> list[dict[str, Any]]:
    """Sentences as JSON."""
    return [{"rule": s.rule, "text": s.text, "evidence": dict(s.evidence)} for s in sentences]


def as_dict(before: XRay, after: XRay) -> dict[str, Any]:
    """What changed from one variant to another as JSON: "before" {variant, title, findings}, "rows" {counter, before,
    after, ratio} for each element of the result, a "unit", and the "sentences" that follow from them."""
    rows = side_by_side(before, after)
    return {
        "before": {
            "variant": before.variant,
            "title": before.title,
            "findings": [{"severity": f.severity, "text": str(f)} for f in before.findings],
        },
        "unit": after.unit,
        "rows": [{"counter": r.counter, "before": r.before, "after": r.after, "ratio": r.ratio} for r in rows],
        "sentences": said(compare(before, after)),
    }
