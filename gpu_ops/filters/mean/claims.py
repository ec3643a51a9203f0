"""What the source states about the mean filter, and how each statement is tested. Source: S4."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_ops.filters.kit import accesses
from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.task import Meta, Task
from gpu_ops.types import Accesses, Claim, Run

KNOBS = {"block": 512, "outputs": 1}
EXPERIMENT = {
    "filter": "mean1d",
    "sample": {"id": "noise", "length": 10_000_000, "dtype": "float64"},
    "params": {"window": 5, "border": "zero"},
    "knobs": KNOBS,
}
PUBLISHED = {"serial": 0.215, "naive": 0.0043, "constant": 0.00196, "shared": 0.00154}
"""Seconds: kernel times of single launches without warm-up, on a GPU that the source does not name."""
META = Meta("signal", (10_000_000,), "float64")


def _agreement(runs: Mapping[str, Run]) -> Verdict:
    """The largest error of the variants of the source, relative to the reference's scale."""
    errors = {v: e.relative for v in PUBLISHED if v in runs for e in runs[v].errors.values()}
    if not errors:
        return "no verified run here", None
    worst = max(errors, key=lambda v: errors[v])
    return f"at most {errors[worst]:.2g} ({worst}; {len(errors)} of {len(PUBLISHED)} variants ran)", errors[
        worst
    ] <= 1e-15


COUNTERS = {"naive": accesses.direct(2), "constant": accesses.direct(1), "shared": accesses.tiled}


def count(variant: str, window: int = 5) -> Accesses:
    """Expected loads of the source's experiment, with its 512 threads per block."""
    return COUNTERS[variant](Task.of(META, {"window": window, "border": "zero"}, KNOBS))


def _loads(runs: Mapping[str, Run]) -> Verdict:
    expected = {"naive": (5120, 5114), "constant": (2560, 2557), "shared": (516, 514)}
    loads = {v: (count(v).inner, count(v).first) for v in expected}
    return ", ".join(f"{v} {inner}/{edge}" for v, (inner, edge) in loads.items()), loads == expected


def _partial(runs: Mapping[str, Run]) -> Verdict:
    loads = [count(v).last for v in ("naive", "constant", "shared")]
    return f"last block of 128 samples: {', '.join(map(str, loads))}", loads == [1274, 637, 130]


def _limit(runs: Mapping[str, Run]) -> Verdict:
    windows = (5, 65, 255)
    ratios = [count("shared", w).inner / count("constant", w).inner for w in windows]
    text = ", ".join(f"F = {w}: {r * w:.4g}/F" for w, r in zip(windows, ratios, strict=True))
    # The halo adds (F - 1)/B to the limit, so only windows much shorter than the block come close to it.
    return text, abs(ratios[0] * windows[0] - 1) < 0.01


def _claim(id: str, text: str, published: str, prediction: str, least: float, slow: str, fast: str) -> Claim:
    return Claim(
        id, "S4", text, published, prediction, "measured", EXPERIMENT, lambda runs: ratio(runs, slow, fast, least)
    )


CLAIMS = (
    Claim(
        "S4-table",
        "S4",
        "A GPU runs the mean of ten million doubles tens of times faster than one CPU core, even naively.",
        "serial 215 ms; naive 4.3 ms (×49.96), constant 1.96 ms (×109), constant + shared 1.54 ms (×139.6)",
        "Holds: 160 MB at the card's bandwidth take far under a millisecond, one core needs several.",
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, "serial", "naive", 10),
        figures=PUBLISHED,
    ),
    _claim(
        "S4-constant",
        "Taps in constant memory make the kernel about twice as fast.",
        "4.3 ms to 1.96 ms (×2.19)",
        "Less than published: today's L1 serves the taps, so only instructions are saved.",
        1.5,
        "naive",
        "constant",
    ),
    _claim(
        "S4-shared",
        "A tile of block and halo in shared memory makes it faster by another quarter.",
        "1.96 ms to 1.54 ms (×1.27)",
        "Little or nothing: today's L1 already holds the neighbours' samples, and a barrier takes time.",
        1.1,
        "constant",
        "shared",
    ),
    Claim(
        "S4-agreement",
        "S4",
        "GPU and CPU results agree to 1e-15.",
        "1e-15",
        "Holds, relative to the largest sample: five products and sums in double.",
        "measured",
        EXPERIMENT,
        _agreement,
    ),
    Claim(
        "S4-loads",
        "S4",
        "Loads a block of 512 threads, inner/edge, at 5 taps: 2BF, BF and B + 2r, without loads beyond the ends.",
        "naive 5120/5114, constant 2560/2557, shared 516/514",
        "Holds by construction.",
        "counted",
        EXPERIMENT,
        _loads,
    ),
    Claim(
        "S4-partial",
        "S4",
        "A partial last block loads for its live threads only.",
        "1274, 637, 130 for 128 live threads",
        "Holds where a kernel checks the index; one that checks the block number reads and writes past the end.",
        "counted",
        EXPERIMENT,
        _partial,
    ),
    Claim(
        "S4-limit",
        "S4",
        "Shared loads relative to constant ones tend to 1/F.",
        "1/F",
        "Holds while the halo is much shorter than the block.",
        "counted",
        EXPERIMENT,
        _limit,
    ),
)
