"""Every wavelet by every kernel on a real GPU: see wavelet_cases."""

from __future__ import annotations

import pytest
from wavelet_cases import FILTER, SETTINGS, Setting, wrong

from gpu_ops.filters.wavelet.bases import NAMES

pytestmark = pytest.mark.gpu
KERNELS = [v.id for v in FILTER.variants if v.device == "cuda"]


@pytest.mark.parametrize("wavelet", NAMES)
def test_every_wavelet(cuda: str, wavelet: str) -> None:
    settings: list[Setting] = [s for s in SETTINGS if s.wavelet == wavelet]
    assert [found for s in settings for found in wrong(dict.fromkeys(KERNELS, cuda), s)] == []
