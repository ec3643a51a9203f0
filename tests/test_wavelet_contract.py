"""Every wavelet on the CPU against the reference: see wavelet_cases."""

from __future__ import annotations

import pytest
from wavelet_cases import Setting, settings, wrong

CPU = {variant: "cpu" for variant in ("serial", "parallel", "pywt")}


@pytest.mark.parametrize("setting", settings(3))
def test_every_wavelet(setting: Setting) -> None:
    assert wrong(CPU, setting) == []
