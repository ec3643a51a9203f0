"""The contract rejects every kernel that is wrong on purpose, but for races that show by chance. Each has a process of
its own: some may die of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from wrong import RACES, WRONG, Wrong

from gpu_ops.filters import find_filter

pytestmark = pytest.mark.gpu
FLOAT32 = ("--dtype", "float32")
TAKES = {
    "conv3x3.fused": ("--passes", "2"),
    "fft2d.spectrum": ("--result", "level"),
    "histogram1d.bytes": ("--sample", "noise", "--dtype", "uint8"),
    "layout.doubles": FLOAT32,
    "layout.floats": FLOAT32,
    "layout.spills": FLOAT32,
    "layout.tiles": FLOAT32,
    "wavelet1d.warp_registers": (*FLOAT32, "--rule", "manual"),
    "wavelet2d.blocks": ("--wavelet", "haar", "--rule", "manual"),
    **dict.fromkeys(("wavelet2d.warp_strips", "wavelet2d.warp_recomputed", "wavelet2d.two_levels"), FLOAT32),
}
"""Flags for variants that do not take the default sample with the default parameters."""


def _hold_to_contract(path: Path, filter_id: str, variant_id: str, device: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpu_ops", "run", filter_id, "--variant", variant_id, "--device", device]
    command += TAKES.get(f"{filter_id}.{variant_id}", ())
    return subprocess.run([*command, "--kernel", str(path)], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.name)
def test_rejected(cuda: str, tmp_path: Path, wrong: Wrong) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text(wrong.text())
    done = _hold_to_contract(path, wrong.filter, wrong.variant, cuda)
    allowed = (0, 3) if wrong.name in RACES else (3,)
    assert done.returncode in allowed, done.stdout + done.stderr


@pytest.mark.parametrize("filter_id", ["mean1d", "mean2d"])
def test_the_shipped_kernel_passes(cuda: str, filter_id: str) -> None:
    from gpu_ops.devices.kernel_source import KERNELS

    shipped = KERNELS / find_filter(filter_id).variant("shared").kernels[0]
    done = _hold_to_contract(shipped, filter_id, "shared", cuda)
    assert done.returncode == 0, done.stdout + done.stderr
