"""Libraries that are faster than all kernels of a job: which rows say so, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ops.cli.tables import footnotes
from gpu_ops.report.rows import Row
from gpu_ops.report.speedups import library_leads


def timed(variant: str, seconds: float, spread: float = 0.01, **more: Any) -> Row:
    times = {"median_s": seconds, "q1_s": seconds * (1 - spread), "q3_s": seconds * (1 + spread), "min_s": seconds / 2}
    stages = {"kernel": {**times, "n": 30, "stop": "stable", "clock": "cuda-event", "mode": "stream"}}
    content = {"filter": "mean1d", "variant": variant, "device": "cuda:0", "params": {"window": 5}, "knobs": {}}
    content |= {"shape": [1000], "dtype": "float32", "mode": "stream", "source_hash": "", "bytes": 8000}
    content |= {"error_max": 0.0, "tolerance": 1e-6, "ok": True, "notes": [], "failure": None, "failure_kind": None}
    return Row.from_json(content | {"stages": stages} | more)


OWN = timed("naive", 3e-5), timed("vector", 2e-5), timed("serial", 1e-6, device="cpu")


def test_a_library_that_is_faster_than_all_kernels_leads() -> None:
    rows = [*OWN, timed("cupyx", 1.6e-5)]
    (lead,) = library_leads(rows)
    assert (lead.library, lead.other) == (3, 1) and lead.ratio == pytest.approx(1.25)
    assert "  cupyx: faster than vector, the fastest of the others on cuda:0, which takes 1.25 times as long" in (
        footnotes(rows).splitlines()
    )


@pytest.mark.parametrize(
    "library",
    [
        timed("cupyx", 2.5e-5),
        timed("cupyx", 1.99e-5, 0.001),
        timed("cupyx", 1.6e-5, 0.3),
        timed("cupyx", 1.6e-5, params={"window": 7}),
        timed("cupyx", 1.6e-5, device="cuda:1"),
        timed("cupyx", 1.6e-5, ok=False),
        timed("numpy", 1.6e-5),
    ],
    ids=["slower", "2 %", "quartiles", "another job", "another device", "wrong", "no such variant"],
)
def test_others_do_not(library: Row) -> None:
    assert library_leads([*OWN, library]) == ()
