"""The wheel, built and used somewhere else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_code_kernels_and_resources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("gpu_ops/__main__.py", "gpu_ops/kernels/mean1d/1_naive.cu", "gpu_ops/kernels/include/border.cuh"):
        assert part in names
    shipped = {p.relative_to(ROOT).as_posix() for p in (ROOT / "resources").rglob("*") if p.is_file()}
    assert shipped <= set(names) and "resources/guide/index.md" in names
    assert not [n for n in names if n.startswith("tests/")]


@pytest.mark.thorough  # processes of its own
def test_the_wheel_runs_a_sample_elsewhere(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import gpu_ops;"
        f"assert gpu_ops.__file__.startswith({str(site)!r});"
        "from gpu_ops.cli import main;"
        "sys.exit(main(['run', 'mean', '--sample', 'camera', '--device', 'cpu', '--output', 'out.png']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out.png").stat().st_size > 1000
