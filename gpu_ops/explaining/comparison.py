"""The comparison of two X-rays: their counts per element of the result, and the expected consequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_ops.counters import COUNTERS
from gpu_ops.explaining.sentences import Sentence, compare
from gpu_ops.explaining.xray import XRay


@dataclass(frozen=True)
class Row:
    """One counter per element of the result, in the variant before and in the one after."""

    counter: str
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """After divided by before; None where either counts nothing."""
        return self.after / self.before if self.before and self.after else None


def side_by_side(before: XRay, after: XRay) -> list[Row]:
    """Every counter that either X-ray has, in the catalogue's order."""
    rows = (
        Row(c.id, c.value(before.totals) / before.outputs, c.value(after.totals) / after.outputs)
        for c in COUNTERS.values()
        if c.hint != "best"
    )
    return [row for row in rows if row.before or row.after]


def sentences_json(sentences: list[Sentence]) -> list[dict[str, Any]]:
    """Sentences as JSON."""
    return [{"rule": s.rule, "text": s.text, "evidence": dict(s.evidence)} for s in sentences]


def as_dict(before: XRay, after: XRay) -> dict[str, Any]:
    """What changed from one variant to another as JSON: "before" {variant, title, findings}, "rows" {counter, before,
    after, ratio} per element of the result, a "unit", and the "sentences" that follow from them."""
    rows = side_by_side(before, after)
    return {
        "before": {
            "variant": before.variant,
            "title": before.title,
            "findings": [{"severity": f.severity, "text": str(f)} for f in before.findings],
        },
        "unit": after.unit,
        "rows": [{"counter": r.counter, "before": r.before, "after": r.after, "ratio": r.ratio} for r in rows],
        "sentences": sentences_json(compare(before, after)),
    }
