"""The pytest plug-in, in a pytest of its own, and annotations for CI."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.own_kernels.checking import Verdict
from gpu_ops.own_kernels.gate import annotation

ROOT = Path(__file__).parents[2]
PLUGIN = "gpu_ops.own_kernels.pytest_plugin"
SHIPPED = read_source("mean1d/3_shared.cu")
TESTS = """
def test_gate(kernels):
    assert kernels.gate("right.cu", "races == 0, sectors_per_load <= 4.7", "mean1d", "shared").counters

def test_gate_fails(kernels):
    kernels.gate("right.cu", "sectors_per_load <= 4.5", "mean1d", "shared")

def test_race(kernels):
    kernels.gate("race.cu", "races == 0", "mean1d", "shared")

def test_missing_file(kernels):
    kernels.check("none.cu", "mean1d")

def test_unknown_name(kernels):
    kernels.check("right.cu", "mean7d")

def test_other_types(kernels):
    kernels.check("right.cu", "mean1d", gate="nonsense")
"""
RIGHT = """
def test_right(kernels):
    assert kernels.check("right.cu", "mean1d", "shared", gate="races == 0").cases == "78 of 78 cases right"

def test_limit(kernels):
    kernels.check("endless.cu", "mean1d", "shared", seconds=2)
"""


def pytest_in(folder: Path, tests: str) -> str:
    (folder / "right.cu").write_text(SHIPPED)
    (folder / "race.cu").write_text(SHIPPED.replace("__syncthreads();", ""))
    (folder / "endless.cu").write_text(SHIPPED.replace("__syncthreads();", "while (n) __syncthreads();"))
    (folder / "test_kernels.py").write_text(tests)
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    named = {point.value for point in entry_points(group="pytest11")}
    extra = () if PLUGIN in named else ("-p", PLUGIN)  # an installation from before the plug-in does not name it
    plugin = (*extra, "-p", "no:cacheprovider", "-q")
    done = subprocess.run([sys.executable, "-c", code, *plugin], cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_a_test_says_what_a_kernel_keeps(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, TESTS)
    assert "5 failed, 1 passed" in said, said
    for words in (
        "WRONG   right.cu  one launch counted: right.cu:26: error: sectors_per_load is 4.65, required: ",
        "WRONG   race.cu  one launch counted: race.cu:32: read-after-write hazard: ",
        "none.cu does not exist; check the name.",
        "There is no filter 'mean7d'",
        "'nonsense' is no condition; give NAME <= NUMBER",
    ):
        assert words in said, said
    assert "Traceback" not in said and "pytest_plugin.py" not in said


@pytest.mark.thorough
def test_a_test_says_that_a_kernel_is_right(tmp_path: Path) -> None:
    said = pytest_in(tmp_path, RIGHT)
    assert "1 failed, 1 passed" in said, said
    assert "FAILED  endless.cu  " in said and "(an endless loop?), took more than 2 s" in said


def test_the_plug_in_loads_no_engine() -> None:
    code = (
        "import sys; import gpu_ops.own_kernels.pytest_plugin; "
        "print([m for m in sys.modules if m.partition('.')[0] in ('numpy', 'numba', 'scipy', 'PySide6', 'cuda')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_annotations_are_for_github_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert annotation("k.cu", 3, "wrong") == ""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert annotation("k.cu", 0, "wrong") == "::error file=k.cu,title=kernelscope::wrong"
    text = annotation("a,b:c%.cu", 3, "50 % wrong:\nx, y")
    assert text == "::error file=a%2Cb%3Ac%25.cu,line=3,title=kernelscope::50 %25 wrong:%0Ax, y"


@pytest.mark.parametrize(
    "text, line",
    [
        ("x.cu:32: read-after-write hazard: reads", 32),
        ("x.cu does not compile: x.cu:7:3: error: no", 7),
        ("shape (3,): error 0.4 at x.cu:9", 0),
        ("y.cu:32: x", 0),
        ("", 0),
    ],
)
def test_the_line_of_a_verdict(text: str, line: int) -> None:
    assert Verdict("x.cu", "", "wrong", "", text).line == line
