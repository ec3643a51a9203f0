"""Report rows for the tests, with the figures of a real run: a mean of five over ten million doubles."""

from __future__ import annotations

from typing import Any

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


def row(variant: str, device: str, kernel: float | None, **more: Any) -> dict[str, Any]:
    """One row as a report holds it; `more` replaces entries."""
    gpu = device != "cpu"
    stages: dict[str, Any] = {}
    if kernel is not None:
        stages["kernel"] = stage(kernel, "cuda-event" if gpu else "wall")
    if kernel is not None and gpu:
        stages |= {"upload": stage(4.39e-3, mode="wall"), "download": stage(4.37e-3, mode="wall")}
        stages |= {"elapsed": stage(8.8e-3, mode="wall"), "elapsed_pinned": stage(2.96e-3, mode="wall")}
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
    return result | more


def rows() -> list[dict[str, Any]]:
    return [
        row("serial", "cpu", 0.029),
        row("parallel", "cpu", 0.00167),
        row("naive", "cuda:0", 5.85e-5),
        row("shared", "cuda:0", 5.2e-5),
    ]
