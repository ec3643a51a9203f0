"""Kernels in the manner of the vendor's samples: their results by NumPy, no false alarm, and each fault on its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_ops.devices.nvrtc import header_folders
from gpu_ops.devices.sim.device import SimDevice  # noqa: F401
from gpu_ops.own_kernels.launching import OwnRun, simulate
from tests.sim.samples.cases import SAMPLES, Fault, Sample

RUNS = [pytest.param(s, a, id=f"{s.kernel}-{n}-{a}") for n, s in enumerate(SAMPLES) for a in s.architectures]
FAULTS = [
    pytest.param(s, f, a, id=f"{s.kernel}-{n}-{a}")
    for s in SAMPLES
    for n, f in enumerate(s.faults)
    for a in s.architectures[-1:]
]
needs_headers = pytest.mark.skipif(not header_folders(), reason="CUDA's headers are not installed")


def check(sample: Sample, found: OwnRun) -> None:
    """Compare the outputs with NumPy's."""
    for name, right in sample.expect(**sample.arrays).items():
        got = found.outputs[name].reshape(-1)
        if sample.tolerance and got.dtype.kind == "f":
            np.testing.assert_allclose(got, right.reshape(-1), rtol=0, atol=sample.tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(got, right.reshape(-1).astype(got.dtype), err_msg=name)


@needs_headers
@pytest.mark.parametrize(("sample", "architecture"), RUNS)
def test_a_sample_is_right_and_without_findings(sample: Sample, architecture: str, tmp_path: Path) -> None:
    found = simulate(sample.launch(tmp_path), architecture)
    assert found.xray is not None and not found.xray.findings
    check(sample, found)


@needs_headers
@pytest.mark.parametrize(("sample", "fault", "architecture"), FAULTS)
def test_a_missing_wait_is_named_on_its_line(sample: Sample, fault: Fault, architecture: str, tmp_path: Path) -> None:
    def broken(text: str) -> str:
        parts = text.split(fault.old)
        assert len(parts) > fault.nth + 1
        return fault.old.join(parts[: fault.nth + 1]) + fault.new + fault.old.join(parts[fault.nth + 1 :])

    launch = sample.launch(tmp_path, broken)
    found = simulate(launch, architecture)
    assert found.xray is not None
    lines = launch.file.texts[launch.file.name].splitlines()
    named = {
        (f.kind, lines[line - 1])
        for f in found.xray.findings
        for file, line in ((f.file, f.line), *f.inlined_at)
        if file == launch.file.name
    }
    assert any(kind == fault.kind and fault.line in line for kind, line in named), found.xray.findings
