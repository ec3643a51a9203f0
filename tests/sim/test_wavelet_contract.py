"""Every wavelet on the simulated GPU against the reference: see wavelet_cases. Kernels that recompute details know the
taps when they are compiled, and lifting has steps for some wavelets; the loops of the others are the same for all."""

from __future__ import annotations

import pytest
from wavelet_cases import Setting, settings, wrong

from gpu_ops.filters.wavelet.cuda.lifting import NAMES

MOST = 210_000
"""Operations of a level of the largest settings in the thorough lane: two levels in gray for all wavelets whose state
fits in registers. Larger ones are in the full lane, and on a real GPU."""
COMPILED = "recomputed_blocks", "warp_strips", "warp_recomputed", "two_levels"
SIX_TAPS = [Setting(wavelet, "symmetric", levels, 1) for wavelet, levels in (("bior2.2", 2), ("rbio2.2", 1))]


@pytest.mark.parametrize("setting", settings(1, 40, most=MOST))
def test_every_wavelet(setting: Setting) -> None:
    assert wrong(dict.fromkeys(COMPILED, "sim"), setting) == []


@pytest.mark.parametrize(
    "setting", settings(0, 8, lambda setting: setting.wavelet in NAMES and setting.levels == 2, MOST)
)
def test_every_wavelet_by_lifting(setting: Setting) -> None:
    assert wrong({"lifting": "sim"}, setting) == []


@pytest.mark.parametrize("setting", SIX_TAPS, ids=str)
def test_lanes_at_the_left_end_of_a_warp_have_all_that_their_coefficients_need(setting: Setting) -> None:
    """Six taps begin two samples before the pairs of a lane's coefficients with the symmetric border."""
    assert wrong(dict.fromkeys(COMPILED, "sim"), setting) == []
