"""The wheel, built and used somewhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), {"HATCH_BUILD_NO_HOOKS": "true"})  # compiling takes minutes


def built(folder: Path, environment: dict[str, str]) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_code_kernels_and_resources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("gpu_ops/__main__.py", "gpu_ops/kernels/mean1d/1_naive.cu", "gpu_ops/kernels/include/border.cuh"):
        assert part in names
    shipped = {p.relative_to(ROOT).as_posix() for p in (ROOT / "resources").rglob("*") if p.is_file()}
    assert shipped <= set(names) and "resources/guide/index.md" in names
    assert not [n for n in names if n.startswith("tests/")]
    entry_points = next(n for n in names if n.endswith("entry_points.txt"))
    assert (
        "[pytest11]\nkernelscope = gpu_ops.own_kernels.pytest_plugin"
        in zipfile.ZipFile(wheel).read(entry_points).decode()
    )


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


WITHOUT_NVRTC = """
import sys
sys.path.insert(0, {site!r})
sys.modules["cuda"] = None
from gpu_ops.cli import main
for command in ("xray mean1d shared --sample noise", "run mean2d --variant naive --device sim"):
    assert main(command.split()) == 0, command
for architecture in ("sm_75", "sm_90"):
    for filter in ("box", "histogram1d", "fft1d", "scan1d", "reduce1d", "wavelet1d", "conv3x3"):
        assert main(["xray", filter, "--gpu", architecture]) == 0, filter
sys.exit(main(["xray", "mean1d", "shared", "--border", "wrap"]))
"""


@pytest.mark.thorough  # compiles every shipped kernel for two architectures
def test_the_wheel_has_programs_for_machines_without_nvrtc(tmp_path: Path) -> None:
    wheel = built(tmp_path, {})
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    files = [i for i in zipfile.ZipFile(wheel).infolist() if "/compiled/" in i.filename]
    assert len(files) == 2 and sum(i.file_size for i in files) < 3 << 20
    code = WITHOUT_NVRTC.format(site=str(site))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4 and "is not compiled in this installation" in done.stderr, done.stdout + done.stderr
