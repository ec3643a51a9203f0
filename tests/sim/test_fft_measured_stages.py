"""Stages of lines that were measured: right on the simulated GPU, and taken unless knobs, type or numbers are other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lanes import few

from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.cuda.measured_stages import LONG, REAL, SHORT
from gpu_ops.filters.fft.cuda.radices import stages_of
from gpu_ops.plan import Limits
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Input, Pick
from tests.recording import Recording
from tests.tasks import planned

H200 = Limits((9, 0), 1024, 227 << 10, 132, 60 << 20, 140 << 30, 2)
CASES = [("short", n, "complex") for n in SHORT] + [("fast", n, "complex") for n in LONG]
CASES += [("short", n, "real") for n in REAL]


@pytest.mark.parametrize("variant, points, numbers", few(CASES, more=12))
def test_lines_of_measured_stages_are_right(variant: str, points: int, numbers: str) -> None:
    x = np.random.default_rng(4).standard_normal((2 * points * (35 if variant == "short" else 3),)).astype(np.float32)
    input = Input("signal", x, "t", "noise", {"generator": "test", "steps": []})
    params = {"points": points, "numbers": numbers}
    experiment = Experiment("fft_batch1d", input, params, (Pick(variant, "sim", {}),), protocol="none")
    made = list(run_experiment(experiment))[-1]
    assert made.ok and not made.findings


class Defining(Recording):
    """It keeps the constants of the last kernel."""

    defines: dict[str, Any]

    def kernel(self, source: str, name: str, defines: Any = None) -> Any:
        self.defines = defines
        return super().kernel(source, name, defines)


def _radices(variant: str, points: int, dtype: str = "float32", numbers: str = "complex", **chosen: int) -> str:
    """The radices and threads of a line that a plan's kernel is compiled for."""
    filter, device = find_filter("fft_batch1d"), Defining("sm_90", limits=H200)
    params = {p.name: p.default for p in filter.params} | {"points": points, "numbers": numbers}
    knobs = {k.name: k.default for k in filter.variant(variant).knobs} | chosen
    x = device.empty((points * (2 if numbers == "complex" else 1) * 64,), dtype)
    planned(filter, variant, device, x, params, knobs)
    return f"{device.defines['RADICES'].replace(',', 'x')}@{device.defines['LINE_THREADS']}"


def test_they_are_taken_of_single_rows_by_default() -> None:
    assert _radices("short", 70) == "14x5@5" and _radices("fast", 882) == "21x7x6@49"
    assert _radices("short", 70, "float64") == "10x7@7" == _radices("short", 140, numbers="real")
    assert _radices("short", 21, numbers="real") == "21@1" and _radices("short", 42, numbers="real") == "7x3@3"
    assert _radices("short", 144, numbers="real") == "6x12@6" and _radices("short", 144, "float64", "real") == "9x8@8"
    cheapest = stages_of(882, 32)
    assert cheapest is not None
    usual = f"{'x'.join(map(str, cheapest.radices))}@{cheapest.threads}"
    assert _radices("fast", 882, radix=16) == usual == _radices("fast", 1764, numbers="real")
    assert _radices("fast", 882, "float64") == usual
