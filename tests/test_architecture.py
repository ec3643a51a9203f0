"""The rules that keep the structure: sizes, and which way imports point."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from sources import nodes

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "gpu_ops").rglob("*.py"))
SOURCES = sorted(p for p in (ROOT / "gpu_ops").rglob("*") if p.suffix in (".py", ".cu", ".cuh"))


@cache
def _imports(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    return frozenset(found)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _importing(*libraries: str) -> set[str]:
    """The modules that import one of these libraries or a part of one."""
    parts = tuple(f"{library}." for library in libraries)
    return {_name(path) for path in MODULES if any(f"{name}.".startswith(parts) for name in _imports(path))}


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > len(MODULES) > 200 and _importing("numpy") and _importing("gpu_ops.plan")


def test_a_file_has_at_most_400_lines() -> None:
    assert [_name(path) for path in SOURCES if len(path.read_text().splitlines()) > 400] == []


def test_a_function_has_at_most_50_lines() -> None:
    long = []
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                long += [f"{_name(path)}: {node.name}"] if node.end_lineno - node.lineno >= 50 else []
    assert long == []


def test_no_qt_in_the_engine() -> None:
    assert _importing("PySide6", "PyQt6", "pyqtgraph", "app") == set()


def test_cupy_only_under_cuda() -> None:
    found = _importing("cupy", "cupyx", "pynvml")
    assert found and all(name.startswith("gpu_ops/devices/cuda/") for name in found), found


def test_nvrtc_only_in_the_compiler() -> None:
    assert _importing("cuda.bindings.nvrtc") == {"gpu_ops/devices/nvrtc.py"}
    others = _importing("cuda.bindings") - {"gpu_ops/devices/nvrtc.py"}
    assert all(name.startswith("gpu_ops/devices/cuda/") for name in others), others


LAYERS = {
    "filters": {"devices.launches", "devices.kernel_source", "devices.occupancy", "devices.coalescing"},
    "devices": {"devices"},
    "io": {"io"},
    "running": {"filters", "devices", "io"},
    "report": {"filters", "devices", "io", "running"},
    "explaining": {"filters", "devices", "io", "running", "report"},
    "batch": {"filters", "devices", "io", "running", "report", "own_kernels"},
    "doctor": {"filters", "devices", "io", "running", "report"},
    "own_kernels": {"filters", "devices", "io", "running", "explaining"},
    "lessons": {"filters", "devices", "io", "running", "report", "explaining", "own_kernels"},
    "engine": {"filters", "devices", "io", "running", "report", "explaining", "batch", "doctor", "own_kernels"},
    "notebook": {"filters", "devices", "io", "running", "report", "explaining", "engine"},
    "remote": {"filters", "devices", "io", "report", "engine"},
    "cli": {
        *("filters", "devices", "io", "running", "report", "explaining", "batch", "doctor", "own_kernels"),
        *("engine", "remote", "lessons"),
    },
}
"""What each package may import of gpu_ops in addition to the core modules and itself."""
CORE = {
    *("types", "errors", "params", "plan", "progress", "task", "processes"),
    *("run_key", "device_names", "input_kinds", "output_kinds", "counters", "stages", "variant", "host", "statements"),
    "html",
}


def test_imports_point_one_way() -> None:
    wrong = []
    for path in (p for p in MODULES if len(p.relative_to(ROOT).parts) > 2):
        package = path.relative_to(ROOT).parts[1]
        allowed = LAYERS[package] | CORE | {package, "version", "__version__"}
        for name in (name for name in _imports(path) if name.startswith("gpu_ops.")):
            inner = name.removeprefix("gpu_ops.")
            if not any(inner == a or inner.startswith(f"{a}.") for a in allowed):
                wrong.append(f"{_name(path)} imports {name}")
    assert wrong == []


FILTERS = [p for p in MODULES if p.relative_to(ROOT).parts[:2] == ("gpu_ops", "filters")]
LISTS = ("__init__.py", "registry.py")


def test_filters_know_the_kit_and_not_one_another() -> None:
    wrong = []
    for path in (p for p in FILTERS if p.parent.name != "filters" or p.name not in LISTS):
        own = path.relative_to(ROOT / "gpu_ops" / "filters").parts[0].removesuffix(".py")
        others = {name.split(".")[2] for name in _imports(path) if name.startswith("gpu_ops.filters.")}
        wrong += [f"{_name(path)} imports {other}" for other in others - {"kit", own}]
    assert FILTERS and wrong == []


def _imported(path: Path, modules: set[str]) -> set[str]:
    """Which of the modules one imports, for types alone as well; a package counts where a name of its own is meant."""
    found: set[str] = set()
    for node in nodes(path):
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


PRODUCT = sorted(p for room in ("gpu_ops", "app") for p in (ROOT / room).rglob("*.py"))


def test_a_folder_shows_its_parts_at_a_look() -> None:
    folders = {path.parent for path in PRODUCT}
    assert len(folders) > 40
    assert [_name(f) for f in folders if len([p for p in f.glob("*.py") if p.name != "__init__.py"]) > 21] == []


def test_the_base_of_the_window_imports_nothing_else_of_it() -> None:
    found = {name for path in (ROOT / "app" / "base").glob("*.py") for name in _imports(path)}
    assert {name for name in found if name.startswith("app.") and not name.startswith("app.base")} == set()


ROLES = {"accesses", "host", "limits", "merging", "peers", "presets", "reference", "trials"}
"""The modules that a filter may have, by what they are in every filter."""
ALONE = {
    "app/__main__.py": "it is a command",
    "app/shell/session_specs.py": "the list of all actions is full",
    "gpu_ops/__main__.py": "it is a command",
    "gpu_ops/batch/build_hook.py": "hatchling loads it by its path",
    "gpu_ops/own_kernels/pytest_plugin.py": "pytest loads it by its entry point",
    "gpu_ops/devices/cuda/activity.py": "it calls CUPTI, where that is installed",
    "gpu_ops/cli/learning/explain.py": "it is a command",
    "gpu_ops/cli/result_tables.py": "it is a command, which is imported when it runs",
    "gpu_ops/engine/statistics_numba.py": "it loads Numba, when large outputs need it",
}
"""Small modules with one reader, and why they stay."""


def test_a_small_module_has_more_than_one_reader() -> None:
    """One that a single neighbour imports belongs into that neighbour."""
    imports = {path: _imports(path) for path in PRODUCT}
    tiny = []
    for path in (p for p in PRODUCT if p.name != "__init__.py" and len(p.read_text().splitlines()) < 60):
        if path.stem in ROLES and path.relative_to(ROOT).parts[1] == "filters":
            continue
        own = _name(path).removesuffix(".py").replace("/", ".")
        readers = [user for user, names in imports.items() if own in names]
        tiny += [_name(path)] if len(readers) < 2 and all(user.parent == path.parent for user in readers) else []
    assert sorted(tiny) == sorted(ALONE)
