"""The rules that keep the window's structure."""

from __future__ import annotations

import argparse
import ast
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from sources import nodes

from app.main import COMMANDS, main
from gpu_ops import FILTERS
from gpu_ops.doctor import window_needs

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted((ROOT / "app").rglob("*.py"))
PUBLIC = (
    *("gpu_ops.types", "gpu_ops.params", "gpu_ops.errors", "gpu_ops.engine", "gpu_ops.devices.status"),
    *("gpu_ops.input_kinds", "gpu_ops.output_kinds", "gpu_ops.run_key", "gpu_ops.device_names", "gpu_ops.version"),
    *("gpu_ops.counters", "gpu_ops.stages", "gpu_ops.task", "gpu_ops.io.opening"),
    *("gpu_ops.report.row_kinds", "gpu_ops.report.bounds"),
    *("gpu_ops.report.rows", "gpu_ops.report.speedups", "gpu_ops.report.machines", "gpu_ops.report.sweeps"),
    *("gpu_ops.report.about", "gpu_ops.report.kernel_age", "gpu_ops.devices.occupancy", "gpu_ops.processes"),
    *("gpu_ops.devices.kernel_source", "gpu_ops.explaining.spans", "gpu_ops.report.changes"),
    *("gpu_ops.explaining.rungs", "gpu_ops.explaining.page", "gpu_ops.own_kernels"),
    *("gpu_ops.devices.kernel_source", "gpu_ops.explaining.spans", "gpu_ops.explaining.transfers"),
    *("gpu_ops.explaining.prediction.break_even", "gpu_ops.version"),
    *("gpu_ops.explaining.prediction.gpus", "gpu_ops.explaining.prediction.model"),
    *("gpu_ops.explaining.prediction.sentences", "gpu_ops.explaining.prediction.waterfall"),
    *("gpu_ops.explaining.traffic.content", "gpu_ops.explaining.traffic.warp_content"),
    *("gpu_ops.explaining.varied.axes", "gpu_ops.io.live.source"),
    *("gpu_ops.lessons", "gpu_ops.remote", "gpu_ops.batch", "gpu_ops.io.reading", "gpu_ops.notebook.pictures"),
    *("gpu_ops.devices.sim.block_run.run", "gpu_ops.devices.sim.block_run.accesses"),
    "gpu_ops.devices.sim.block_run.compared",
)
"""What the window may name of the engine besides gpu_ops' public names: types, messages, and what rows say."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _imports(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(found)


def test_one_function_writes_numbers() -> None:
    """Only it knows the minus sign; a date is the one other text that Qt's locale writes."""
    written = {_name(path) for path in MODULES if re.search(r"ocale\(?\)?\.toString\(", path.read_text())}
    assert written == {"app/base/numbers.py", "app/controllers/sessions.py"}


def test_modules_and_functions_are_short() -> None:
    assert len(MODULES) > 200
    long = [_name(path) for path in MODULES if len(path.read_text().splitlines()) > 400]
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno is not None
                long += [f"{_name(path)}: {node.name}"] if node.end_lineno - node.lineno >= 50 else []
    assert long == []


def test_the_window_imports_nothing_heavy_and_only_public_names() -> None:
    wrong = []
    for path in MODULES:
        for name in _imports(path):
            heavy = name.split(".")[0] in ("numba", "scipy", "cupy", "cv2", "pywt")
            inner = (
                name.startswith("gpu_ops.")
                and name not in ("gpu_ops.cli", "gpu_ops.cli.own")
                and not name.startswith(PUBLIC)
            )
            wrong += [f"{_name(path)} imports {name}"] if heavy or inner else []
    assert wrong == []


BENCHMARKS = (
    *("app/shell/bench_live.py", "app/shell/bench_panes.py", "app/shell/benchmark.py"),
    "app/shell/faults.py",
)
"""They run filters of the product, which they name with parameters and outputs."""
WORDS = {
    "colours": ("the look of the window", ("app/main.py",)),
    "counts": ("what a simulated GPU counted, in an X-ray", ("app/models/xray/xray.py",)),
    "figures": (
        "the page of figures of sources; a view of numbers",
        (
            *("app/main.py", "app/shell/help_specs.py", "app/views/results/view_table.py"),
            *("app/views/window/files.py", "app/views/page_makers.py"),
        ),
    ),
    "gain": ("how much stronger the colours of a difference are", ("app/models/files/session_view.py",)),
    "high": ("white of a picture", ("app/models/files/session_view.py", "app/views/pictures/histogram.py")),
    "image": ("a kind", ("app/views/results/view_table.py",)),
    "level": ("of a difference, set by hand, in a session", ("app/models/files/session_view.py",)),
    "levels": (
        "black and white of a picture; a view of pyramids",
        (
            *("app/models/files/session_view.py", "app/views/results/view_table.py"),
            *("app/views/window/panels.py", "app/views/window/saver.py"),
        ),
    ),
    "low": ("black of a picture", ("app/models/files/session_view.py", "app/views/pictures/histogram.py")),
    "noise": (
        "the sample and the step",
        (
            *("app/controllers/sweep.py", "app/models/experiment/steps.py", "app/models/timing/sweep.py"),
            *("app/shell/bench_stage.py", "app/views/experiment/noise_control.py", "app/views/sweep/text.py"),
        ),
    ),
    "phase": ("a scale of spectra", ("app/views/results/view_table.py",)),
    "points": ("of a law, in JSON", ("app/models/timing/laws.py",)),
    "range": (
        "levels from the smallest to the largest value",
        (
            *("app/models/files/session_view.py", "app/models/pictures/difference_levels.py"),
            *("app/models/pictures/display.py", "app/views/pictures/histogram.py"),
        ),
    ),
    "result": (
        "an input that is a result; a heading",
        (
            *("app/controllers/inputs.py", "app/models/experiment/experiment_text.py"),
            *("app/models/files/session_view.py", "app/views/results/pager.py", "app/views/results/region_table.py"),
        ),
    ),
    "rule": ("of NaN in a file; of a sentence", ("app/models/experiment/experiment_text.py", "app/views/xray/text.py")),
    "shape": (
        "that of an array, in tables; of the step crop",
        (
            *(
                "app/models/experiment/job_cells.py",
                "app/models/experiment/steps.py",
                "app/models/results/row_cells.py",
            ),
            *("app/models/timing/sweep.py", "app/views/experiment/editors.py", "app/views/window/probing.py"),
            *("app/views/xray/text.py", "app/views/own_kernel/arrays_view.py"),
        ),
    ),
    "signal": ("a kind", ("app/views/results/view_table.py",)),
    "spectra": ("a view", ("app/views/results/view_table.py",)),
    "spectrum": ("a kind", ("app/views/results/view_table.py",)),
    "value": ("a gap in a text", ("app/views/sweep/occupancy_plot.py",)),
}
"""Words that are names of parameters or outputs and mean something else in the window: what, and where."""


def _named(path: Path, names: set[str]) -> set[str]:
    """Which of the names stand in a module as texts."""
    texts = (node.value for node in nodes(path) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str)} & names


def test_the_window_knows_no_parameter_and_no_output_by_name() -> None:
    """What it draws over an output, and what a person drags there, the filter declares."""
    names = {p.name for f in FILTERS for p in f.params} | {o.id for f in FILTERS for o in f.outputs}
    found = {(name, _name(path)) for path in MODULES for name in _named(path, names) if _name(path) not in BENCHMARKS}
    assert found == {(word, file) for word, (_, files) in WORDS.items() for file in files}


def test_models_have_no_widgets() -> None:
    models = [path for path in MODULES if path.parent.name == "models"]
    refused = ("PySide6.QtWidgets", "app.views")
    wrong = [f"{_name(p)} imports {name}" for p in models for name in _imports(p) if name.startswith(refused)]
    assert models and wrong == []


def test_every_tick_box_grows_with_the_font() -> None:
    assert [path.name for path in MODULES if "QCheckBox(" in path.read_text()] == [], "use parts.TickBox"


def test_the_window_loads_no_computing_library() -> None:
    code = "import sys, app.shell.window; print(sorted({'numba', 'scipy', 'cupy', 'cv2', 'pywt'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_a_picture_is_shown_without_what_only_plots_need(tmp_path: Path) -> None:
    """pyqtgraph and qtpy make every class of Qt in Python, a fifth of a second that pictures have no use for."""
    code = (
        "import sys; from app.main import main;"
        "code = main(['--sample', 'camera', '--variant', 'serial', '--screenshot', sys.argv[1]]);"
        "print(code, sorted({'pyqtgraph', 'qtpy', 'cuda', 'gpu_ops.report.files'} & set(sys.modules)))"
    )
    picture = tmp_path / "out.png"
    done = subprocess.run([sys.executable, "-c", code, picture], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.stdout.strip() == "0 []", done.stderr
    assert picture.stat().st_size > 20_000


def test_every_command_of_the_engine_is_dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu_ops.cli import parser

    seen: list[str] = []
    monkeypatch.setattr(
        argparse._SubParsersAction,
        "add_parser",
        lambda self, name, _old=argparse._SubParsersAction.add_parser, **how: (
            (seen.append(name) if self.dest == "name" else None) or _old(self, name, **how)
        ),
    )
    parser.parse(["list"])
    assert "exercise" in seen and set(seen) <= set(COMMANDS)


def test_a_missing_system_library_is_named_with_its_package_before_qt_can_abort(
    monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def load(name: str) -> None:
        if "libxcb-cursor" in name or "libEGL" in name:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(window_needs, "_load", load)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    assert main(["--sample", "camera"]) == 4
    found = capsys.readouterr().err
    assert "libEGL.so.1, libxcb-cursor.so.0 are missing" in found and found.count("\n") == 1
    assert "sudo apt install libegl1 libxcb-cursor0" in found
    assert "sudo dnf install libglvnd-egl xcb-util-cursor" in found


ODD = [
    (["--set", "nonsense=3"], "names no parameter of mean2d; there are window, border"),
    (["--set", "windw=3"], "did you mean window?"),
    (["--set", "window"], "is not NAME=VALUE"),
    (["--set", "window=4"], "in steps of 2, not '4'"),
    (["--set", "window=99999999999999999999"], "window must be"),
    (["--set", "window=3", "--set", "window=5"], "twice"),
    (["--filter", "box", "--set", "window=3"], "there are radius"),
    (["--filter", "bxo"], "There is no filter"),
    (["--variant", "nonsense"], "mean2d has no variant 'nonsense'"),
    (["--sample", "ecg", "--variant", "nonsense"], "mean1d has no variant 'nonsense'"),
    (["--sample", "camer"], "did you mean camera?"),
    (["--size", "abc"], "must be WIDTHxHEIGHT"),
    (["--size", "0x0"], "must be WIDTHxHEIGHT"),
    (["lisst"], "neither a file nor a command (did you mean list?)"),
    (["a.png", "--sample", "camera"], "not allowed with"),
    (["--screenshot", ""], "no file to draw into"),
    (["a.csv", "--frame", "-1"], "frame must be an integer from 0"),
    (["a.csv", "--separator", "dot"], "one of auto, comma"),
    (["--sample", "camera", "--rate", "5"], "--rate defines how a file is read; name the file as well"),
]


@pytest.mark.parametrize("args, words", ODD, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_no_word_is_passed_over_on_the_way_to_the_window(
    monkeypatch: pytest.MonkeyPatch, capsys, args: list[str], words: str
) -> None:
    monkeypatch.setattr("app.main.open_window", lambda asked, early, opened: 99)
    assert main(args) == 2
    assert words in capsys.readouterr().err


def test_what_is_understood_goes_to_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[argparse.Namespace] = []
    monkeypatch.setattr("app.main.open_window", lambda asked, early, opened: seen.append(asked) or 0)
    assert (
        main(["--sample", "ecg", "--filter", "mean", "--set", "window=9", "--variant", "serial", "--variant", "scipy"])
        == 0
    )
    assert (seen[0].set, seen[0].variant) == (["window=9"], ["serial", "scipy"])


@pytest.mark.thorough  # processes of its own
@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM"])
def test_a_signal_closes_the_window_without_a_word(end: str) -> None:
    code = (
        "import os, signal, sys; from PySide6.QtCore import QTimer;"
        "from app.shell import window; from app.main import main;"
        f"begin = window.Script.start; send = lambda: os.kill(os.getpid(), signal.{end});"
        "window.Script.start = lambda self: (begin(self), QTimer.singleShot(100, send));"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "sys.exit(main(['--sample', 'camera', '--variant', 'serial', '--size', '900x600']))"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (128 + getattr(signal, end), "")


@pytest.mark.thorough  # processes of its own
def test_a_screenshot_is_drawn_by_the_path_of_clicks(tmp_path: Path) -> None:
    picture = tmp_path / "out.png"
    command = [
        sys.executable,
        "-m",
        "app",
        "--sample",
        "ecg",
        "--filter",
        "mean",
        "--set",
        "window=9",
        "--variant",
        "serial",
    ]
    done = subprocess.run(
        [*command, "--screenshot", str(picture), "--size", "800x600"], cwd=ROOT, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 20_000
    assert b"propagateSizeHints" not in done.stderr
