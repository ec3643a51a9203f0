"""What the source states about wavelets on a GPU, and how each statement is tested. Source: S0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.filters.kit.verdicts import gains_nothing, ratio
from gpu_ops.types import Claim

EXPERIMENT: Mapping[str, Any] = {
    "filter": "wavelet1d",
    "sample": {"id": "noise", "length": 1 << 22, "dtype": "float32"},
    "params": {"wavelet": "db4", "levels": 4, "border": "periodization", "threshold": "soft"}
    | {"rule": "manual", "value": 0.1, "shifts": 1, "result": "result"},
    "knobs": {},
}
CLAIMS = (
    Claim(
        "S0-naive",
        "S0",
        "A naive port of the denoising to a GPU gains nothing over one core.",
        "no speed-up",
        "Does not hold: today's caches serve the samples that a naive kernel reads eight times.",
        "measured",
        EXPERIMENT,
        lambda runs: gains_nothing(runs, "serial", "global", 1.05),
    ),
    Claim(
        "S0-memory",
        "S0",
        "What gains is the memory system used well.",
        "no figure",
        "Holds: all levels in one launch read each sample once instead of once a tap and level.",
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, "global", "warp_registers", 1.5),
    ),
)
