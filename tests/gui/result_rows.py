"""Report rows for the tests, with the figures of a real run: a mean of five over ten million doubles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.models.experiment.slot import RowSlot
from app.models.results.results import Results
from gpu_ops.report.rows import Row

TITLES = {"serial": "CPU, one core", "parallel": "CPU, all cores", "naive": "1 naive", "shared": "3 constant + shared"}


def stage(median: float, clock: str = "wall", mode: str = "stream", n: int = 100) -> dict[str, Any]:
    return {
        "median_s": median,
        "q1_s": median * 0.98,
        "q3_s": median * 1.03,
        "min_s": median * 0.95,
        "n": n,
        "stop": "median stable",
        "clock": clock,
        "mode": mode,
    }


def row(variant: str, device: str, kernel: float | None, **more: Any) -> Row:
    """One row, from what a report holds; `more` replaces entries of that."""
    gpu = device != "cpu"
    stages: dict[str, Any] = {}
    if kernel is not None:
        stages["kernel"] = stage(kernel, "cuda-event" if gpu else "wall")
    if kernel is not None and gpu:
        stages |= {"upload": stage(4.39e-3, mode="wall"), "download": stage(4.37e-3, mode="wall")}
        whole = {"elapsed": 8.8e-3, "elapsed_pinned": 2.96e-3, "elapsed_streamed": 1.91e-3}
        stages |= {name: stage(seconds, mode="wall") for name, seconds in whole.items()}
    result: dict[str, Any] = {
        "filter": "mean1d",
        "variant": variant,
        "device": device,
        "clock": stages["kernel"]["clock"] if stages else None,
        "params": {"window": 5, "border": "zero"},
        "knobs": {"block": 128} if gpu else {},
        "shape": [10000000],
        "dtype": "float64",
        "mode": "stream",
        "stages": stages,
        "error_max": 2.2e-16,
        "tolerance": 1e-15,
        "ok": True,
        "notes": [],
        "failure": "",
        "failure_kind": "",
        "bytes": 160000000,
    }
    if kernel is not None:
        rate = 160e6 / kernel
        roof = 4.28e12 if gpu else 1.33e11
        result |= {"gbps": rate / 1e9, "share": rate / roof, "roof": {"kind": "copy", "bytes_s": roof}}
    return Row.from_json(result | more)


def rows() -> list[Row]:
    return [
        row("serial", "cpu", 0.029),
        row("parallel", "cpu", 0.00167),
        row("naive", "cuda:0", 5.85e-5),
        row("shared", "cuda:0", 5.2e-5),
    ]


def show_rows(results: Results, rows: Sequence[Row], titles: Mapping[str, str] | None = None) -> None:
    """Rows of the present choice, and nothing else."""
    results.clear()
    results.declare([RowSlot(r.variant, r.device) for r in rows], titles)
    for r in rows:
        results.put(r)
