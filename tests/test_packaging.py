"""The wheel, built and used somewhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from app.base.icons import DESKTOP_ENTRY

ROOT = Path(__file__).parent.parent
CONTENT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BUILD = CONTENT["project"], CONTENT["build-system"]
WHEEL = "KERNELSCOPE_TEST_WHEEL"
"""The variable that names a wheel of this checkout, as .ci/run has built it: with programs, it takes minutes."""


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


MOST_RESOURCES = 25_000_000
"""Bytes of the resources in the wheel, before they are packed."""


def test_the_resources_of_the_wheel_are_small(wheel: Path) -> None:
    files = [i for i in zipfile.ZipFile(wheel).infolist() if i.filename.startswith("resources/")]
    assert 0 < sum(i.file_size for i in files) < MOST_RESOURCES
    assert wheel.stat().st_size < MOST_RESOURCES


def test_the_wheel_runs_on_every_system(wheel: Path) -> None:
    """It has nothing that is compiled for one: no compiler is needed where it is installed."""
    assert wheel.name.endswith("-py3-none-any.whl")
    suffixes = {Path(name).suffix for name in zipfile.ZipFile(wheel).namelist()}
    assert suffixes.isdisjoint({".so", ".pyd", ".dylib", ".dll", ".c", ".cpp", ".pyx"})


def test_the_wheel_has_a_desktop_entry_and_an_icon(wheel: Path) -> None:
    content = zipfile.ZipFile(wheel)
    data = {n.partition(".data/data/")[2]: content.read(n) for n in content.namelist() if ".data/data/" in n}
    icon, entry = "share/icons/hicolor/scalable/apps/kernelscope.svg", "share/applications/kernelscope.desktop"
    assert data.keys() == {icon, entry}
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(data[entry].decode())
    found = dict(parser["Desktop Entry"])
    assert found["Exec"].split()[0] in PROJECT["gui-scripts"]
    assert found["Comment"] == PROJECT["description"] and found["Type"] == "Application"
    assert found["Icon"] == DESKTOP_ENTRY == Path(icon).stem == Path(entry).stem
    assert found["StartupWMClass"] == found["Name"]  # on X11; a Wayland window has the name of the entry
    assert all(found[key].endswith(";") for key in ("Categories", "Keywords", "MimeType"))
    assert ElementTree.fromstring(data[icon]).get("viewBox") == "0 0 64 64"


CONDA = {
    "opencv-python-headless": "py-opencv",
    "soundfile": "pysoundfile",
    "PySide6-Essentials": "pyside6",
    "nvidia-cuda-nvrtc": "cuda-nvrtc",
}
"""Names of packages that differ in conda-forge's channel; the others are in lower case."""
CONDA_LIMITS = {"cuda-nvrtc": ">=12.9", "cuda-bindings": ">=12.9"}
"""Limits that differ: beside conda's CuPy for CUDA 12 these packages are of 12 too."""


def test_the_recipe_for_conda_has_the_projects_dependencies() -> None:
    recipe = yaml.safe_load((ROOT / "resources" / "packaging" / "recipe.yaml").read_text())
    everywhere, elsewhere = dict[str, str](), dict[str, str]()
    for text in PROJECT["dependencies"]:
        requirement, _, marker = (part.strip() for part in text.partition(";"))
        name, limit = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        conda = CONDA.get(name, name.lower())
        assert marker in ("", "sys_platform!='darwin'") or name == "PySide6-Essentials", text
        limits = elsewhere if marker == "sys_platform!='darwin'" else everywhere
        limits[conda] = ",".join([*([limits[conda]] if conda in limits else []), CONDA_LIMITS.get(conda, limit)])
    python, system, *found, conditional = recipe["requirements"]["run"]
    assert found == [" ".join(one) for one in everywhere.items()]
    assert conditional == {"if": "not osx", "then": [" ".join(one) for one in elsewhere.items()]}
    assert (python, system) == ("python >=${{ python_min }}", "__${{ system }}")
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    assert BUILD["requires"][0].replace(">=", " >=") in recipe["requirements"]["host"]
    assert recipe["context"]["version"] == PROJECT["version"]
    assert all(
        recipe["about"][here] == PROJECT[there]
        for here, there in {"license": "license", "summary": "description"}.items()
    )


def test_the_recipe_for_conda_is_one_package_for_each_system() -> None:
    """One without compiled code, so its scripts are made where it is installed."""
    folder = ROOT / "resources" / "packaging"
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    build = recipe["build"]
    assert build["noarch"] == "python" and build["string"].startswith("${{ system }}_")
    systems = re.findall('"([a-z]+)"', recipe["context"]["system"])
    assert [f"{one}_64" for one in systems] == yaml.safe_load((folder / "conda-forge.yml").read_text())[
        "noarch_platforms"
    ]
    scripts = [f"{name} = {place}" for kind in ("scripts", "gui-scripts") for name, place in PROJECT[kind].items()]
    assert build["python"]["entry_points"] == scripts


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


@pytest.mark.thorough  # compiles every shipped kernel for two architectures, where no wheel is named
def test_the_wheel_has_programs_for_machines_without_nvrtc(tmp_path: Path) -> None:
    named = os.environ.get(WHEEL)
    wheel = Path(named) if named else built(tmp_path, {})
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    files = [i for i in zipfile.ZipFile(wheel).infolist() if "/compiled/" in i.filename]
    assert len(files) == 2 and sum(i.file_size for i in files) < 3 << 20
    code = WITHOUT_NVRTC.format(site=str(site))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4 and "is not compiled in this installation" in done.stderr, done.stdout + done.stderr
