"""Every wavelet on the CPU against the reference: see wavelet_cases."""

from __future__ import annotations

import pytest
from wavelet_cases import Setting, settings, wrong

from gpu_ops.filters.wavelet.bases import gains_of

CPU = {variant: "cpu" for variant in ("serial", "parallel", "pywt")}


@pytest.mark.parametrize("setting", settings(3, 220))
def test_every_wavelet(setting: Setting) -> None:
    assert wrong(CPU, setting) == []


def test_what_the_synthesis_enlarges_is_allowed_for() -> None:
    """That of rbio3.1 doubles the errors of samples with each level, along each axis."""
    assert wrong(CPU, Setting("rbio3.1", "symmetric", 4, 1), "extremes") == []
    orthogonal, enlarging = gains_of("db4"), gains_of("rbio3.1")
    assert max(orthogonal) < 2.1 and enlarging[5] / enlarging[4] == pytest.approx(2.0, rel=0.01)
