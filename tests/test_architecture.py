"""The rules that keep the structure: sizes, and which way imports point."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "gpu_ops").rglob("*.py"))
SOURCES = sorted(p for p in (ROOT / "gpu_ops").rglob("*") if p.suffix in (".py", ".cu", ".cuh"))


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    return found


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_a_file_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_function_has_at_most_50_lines(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 50, node.name


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_no_qt_in_the_engine(path: Path) -> None:
    roots = {name.split(".")[0] for name in _imports(path)}
    assert not roots & {"PySide6", "PyQt6", "pyqtgraph", "app"}


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_cupy_only_under_cuda(path: Path) -> None:
    roots = {name.split(".")[0] for name in _imports(path)}
    if roots & {"cupy", "cupyx", "pynvml"}:
        assert _name(path).startswith("gpu_ops/devices/cuda/")


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_nvrtc_only_in_the_compiler(path: Path) -> None:
    names = _imports(path)
    if any(name.startswith("cuda.bindings.nvrtc") for name in names):
        assert _name(path) == "gpu_ops/devices/compiler.py"
    elif any(name.startswith("cuda.bindings") for name in names):
        assert _name(path).startswith("gpu_ops/devices/cuda/")


LAYERS = {
    "filters": {"devices.launches", "devices.kernel_source", "devices.occupancy", "devices.coalescing"},
    "devices": {"devices"},
    "io": {"io"},
    "measuring": {"filters", "devices", "io", "measuring"},
    "engine": {"filters", "devices", "io", "measuring", "engine"},
    "cli": {"filters", "devices", "io", "measuring", "cli"},
}
"""What each package may import of gpu_ops beside the core modules and itself."""
CORE = {
    *("types", "errors", "params", "plan", "progress", "task"),
    *("run_key", "device_names", "input_kinds", "output_kinds", "counters", "stages", "locality", "host", "statements"),
}


@pytest.mark.parametrize("path", [p for p in MODULES if len(p.relative_to(ROOT).parts) > 2], ids=_name)
def test_imports_point_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[1]
    allowed = LAYERS[package] | CORE | {package, "version", "__version__"}
    for name in _imports(path):
        if name.startswith("gpu_ops."):
            inner = name.removeprefix("gpu_ops.")
            assert any(inner == a or inner.startswith(f"{a}.") for a in allowed), f"{_name(path)} imports {name}"


FILTERS = [p for p in MODULES if p.relative_to(ROOT).parts[:2] == ("gpu_ops", "filters")]
LISTS = ("__init__.py", "registry.py")


@pytest.mark.parametrize("path", [p for p in FILTERS if p.parent.name != "filters" or p.name not in LISTS], ids=_name)
def test_filters_know_the_kit_and_not_one_another(path: Path) -> None:
    own = path.relative_to(ROOT / "gpu_ops" / "filters").parts[0].removesuffix(".py")
    others = {name.split(".")[2] for name in _imports(path) if name.startswith("gpu_ops.filters.")}
    assert others <= {"kit", own}


def _imported(path: Path, modules: set[str]) -> set[str]:
    """Which of the modules one imports, for types alone as well; a package counts where a name of its own is meant."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{a.name}" for a in node.names}
            found |= inner | {node.module} if not inner <= modules else inner
    return found & modules


@pytest.mark.parametrize("package", ["gpu_ops", "app"])
def test_no_modules_import_one_another_in_a_circle(package: str) -> None:
    found = (ROOT / package).rglob("*.py")
    paths = {_name(p).removesuffix(".py").removesuffix("/__init__").replace("/", "."): p for p in found}
    left = {name: _imported(path, set(paths)) for name, path in paths.items()}
    while ends := {n for n, needed in left.items() if not needed} | (left.keys() - set().union(*left.values())):
        left = {name: needed - ends for name, needed in left.items() if name not in ends}
    assert not left, f"these import one another: {left}"


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = (
        "import sys, gpu_ops;"
        "heavy = {'numba', 'scipy', 'cv2', 'pywt', 'cupy', 'imageio', 'soundfile', 'tifffile', 'PIL'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_declaring_filters_loads_no_heavy_library() -> None:
    code = (
        "import sys; from gpu_ops import FILTERS, SAMPLES, find_filter, load;"
        "heavy = {'numba', 'scipy', 'cv2', 'pywt', 'cupy', 'imageio', 'soundfile', 'tifffile', 'PIL'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    import gpu_ops

    assert set(gpu_ops.__all__) == set(gpu_ops._HOMES)
    for name in gpu_ops.__all__:
        assert getattr(gpu_ops, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gpu_ops.nothing  # noqa: B018
