"""The panel of kernels from elsewhere: a file is opened, described, launched and looked at; what is wrong is said."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.base import theme
from app.models.experiment.launch_fields import LaunchFields, read_launch
from app.models.files.json_text import Fields
from app.models.files.session_file import read_session
from app.models.files.session_view import Offered
from app.views.own_kernel.panel import ARRAYS, LAUNCH, SOURCE, OwnKernelPanel
from app.views.window.main_window import MainWindow
from app.views.window.panels import OWN_KERNEL
from app.views.window.session_link import view_of
from app.views.xray.text import launch_extents
from gpu_ops import from_array
from gpu_ops.cli import main
from gpu_ops.errors import InputError

SHIFT = """__global__ void shift(const float* x, float* out, int n, float by)
{
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    BARRIER
    if (i < n) out[i] = tile[63 - threadIdx.x] + by;
}
"""


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def panel(window: MainWindow, tmp_path: Path) -> OwnKernelPanel:
    """The panel with a kernel of 128 samples in two blocks; it needs a barrier that its macro is to give."""
    path = tmp_path / "shift.cu"
    path.write_text(SHIFT)
    window.open_kernel(str(path))
    panel = window.docks[OWN_KERNEL]
    panel.form.grid.setText("2")
    panel.form.block.setText("64")
    for row in panel.form.rows[:3]:
        row.value.setText("128")
    panel._describe()
    return panel


def launch(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel._controller.running)


def test_a_launch_is_counted_and_its_faults_are_at_their_lines(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    assert panel._controller.outcome is None and not panel._controller.running, "nothing runs until it is asked for"
    panel.form.defines.setText("BARRIER=")
    launch(qtbot, panel)
    assert "with faults" in panel.state.text() and panel.tabs.currentIndex() == SOURCE
    assert "shift.cu:7: read-after-write hazard" in panel.report.toPlainText()
    for kind in ("mend", "shipped"):
        panel.report.anchorClicked.emit(QUrl(f"#{kind}-read-after-write%20hazard"))
    assert "Put __syncthreads()" in panel.report.toPlainText() and panel.tabs.currentWidget() is panel.example
    assert panel.example.source.textCursor().block().text().strip() == "__syncthreads();"
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    assert panel.state.text() == "The kernel ran." and "hazard" not in panel.report.toPlainText()
    out = panel._controller.array("out")
    assert out is not None and panel.arrays.name == "out"
    x = panel._controller.array("x")
    assert x is not None
    np.testing.assert_array_equal(out, x.reshape(2, 64)[:, ::-1].reshape(-1) + np.float32(1))
    panel.tabs.setCurrentIndex(ARRAYS)
    assert [panel.arrays.table.item(row, 0).text() for row in range(2)] == ["x (unchanged)", "out"]
    assert len(panel.arrays.plot.listDataItems()) == 1


def test_the_copied_command_does_the_same(
    qtbot: QtBot, panel: OwnKernelPanel, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    qtbot.mouseClick(panel.copy, Qt.MouseButton.LeftButton)
    words = shlex.split(QApplication.clipboard().text())
    assert main([*words[1:], "--save", f"out={tmp_path / 'saved.npy'}"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "saved.npy"), panel._controller.array("out"))


@pytest.mark.parametrize(
    "field, text, said",
    [
        ("grid", "2x", "Blocks 2x is no extent"),
        ("cluster", "0", "Cluster 0 is no extent"),
        ("cluster", "2", "Clusters need sm_90 or later, and this is sm_75; choose sm_90 or sm_120."),
        ("shared", "many", "Shared memory 'many' is no number of bytes"),
        ("includes", "none", "none is no folder; Header folders names a folder with headers."),
        ("defines", "BARRIER=}", "does not compile: shift.cu:7:5: error: expected a declaration"),
        ("value", "1e", "The argument zeros:float32:1e cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    qtbot: QtBot, panel: OwnKernelPanel, field: str, text: str, said: str
) -> None:
    panel.form.defines.setText("BARRIER=")
    (panel.form.rows[1].value if field == "value" else getattr(panel.form, field)).setText(text)
    launch(qtbot, panel)
    assert said in panel.state.text() and "--" not in panel.state.text() and panel.tabs.currentIndex() == LAUNCH
    assert not panel.tabs.isTabVisible(SOURCE)


@pytest.mark.parametrize(
    ("extents", "text"), [((16, 64, 1), "16\u00a0×\u00a064"), ((1, 8, 1), "1\u00a0×\u00a08"), ((1, 1, 1), "1")]
)
def test_a_launch_is_written_in_the_order_of_cuda(extents: tuple[int, ...], text: str) -> None:
    assert launch_extents(extents) == text


def test_clusters_on_a_later_simulated_gpu(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    form = panel.form
    form.defines.setText("BARRIER=__syncthreads();")
    assert [form.device.itemText(n) for n in range(3)] == ["simulated GPU", "simulated sm_90", "simulated sm_120"]
    form.device.setCurrentIndex(form.device.findData("sim:sm_90"))
    form.cluster.setText("2")
    form.grid.setText("4")
    launch(qtbot, panel)
    assert panel.state.text() == "The kernel ran." and panel._controller.outcome is not None
    result = panel._controller.outcome.result
    assert result is not None and result["content"]["architecture"] == "sm_90"
    command = panel._controller.command({})
    assert " --cluster 2 " in command and command.endswith(" --gpu sm_90")


def test_an_endless_kernel_is_stopped_and_the_next_launch_runs(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    panel.form.defines.setText("BARRIER=while(true)__syncwarp();")
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    assert panel._controller.running and not panel.run.isEnabled()
    qtbot.mouseClick(panel.stop, Qt.MouseButton.LeftButton)
    assert panel.state.text() == "Stopped." and panel.run.isEnabled()
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    assert panel.state.text() == "The kernel ran."


def test_a_template_has_the_types_of_its_instance_and_keeps_what_was_typed(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "sum.cu"
    path.write_text(
        "template <typename T> __global__ void sum(const T* in, T* out, unsigned n) { *out = in[n - 1]; }\n"
        "__global__ void clear(unsigned char* a) { *a = 0; }\n"
    )
    window.open_kernel(str(path))
    form = window.docks[OWN_KERNEL].form
    assert form.fields.kernel == "sum<float>" and form.fields.arguments[0] == "random:float32:10000"
    form.rows[0].value.setText("77")
    form.kernel.setCurrentText("clear")
    assert form.fields.arguments == ("zeros:uint8:10000",)
    form.kernel.setCurrentText("sum<double>")
    assert form.fields.arguments[0] == "random:float32:77"


@pytest.mark.parametrize("text, said", [("int x;", "no kernel: a kernel is declared __global__"), ("", "it is empty")])
def test_a_file_without_a_kernel_is_refused_and_a_dropped_one_opens_here(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "none.cu"
    path.write_text(text)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    flags = Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), *flags))
    panel = window.docks[OWN_KERNEL]
    assert window.docks.is_open("own_kernel") and said in panel.state.text() and not panel.run.isEnabled()


def test_an_array_is_saved_and_opened_as_the_input(
    qtbot: QtBot, window: MainWindow, panel: OwnKernelPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    target, opened = tmp_path / "kept.npy", []
    window.files.target = lambda *_: str(target)
    monkeypatch.setattr(window.controller.inputs, "use_array", lambda path, title: opened.append((path, title)))
    panel.tabs.setCurrentIndex(ARRAYS)
    qtbot.mouseClick(panel.arrays.save_button, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(np.load(target), panel._controller.array("out"))
    qtbot.mouseClick(panel.arrays.open_button, Qt.MouseButton.LeftButton)
    assert [(Path(path).name, title) for path, title in opened] == [("out.npy", "out after shift.cu")]


def test_a_kernel_that_stops_says_why_and_how_to_mend_it(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    panel.form.defines.setText("BARRIER=assert(n<0);")
    launch(qtbot, panel)
    reason, finding, advice = panel.state.text().split("\n")
    assert "shift.cu:6: assertion failed" in reason and "shift.cu:6: assertion failed" in finding
    assert advice.startswith("Print the values of the condition")


def test_variables_of_the_file_are_fields_outputs_and_saved(
    qtbot: QtBot, panel: OwnKernelPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = tmp_path / "sums.cu", tmp_path / "sums.npy"
    path.write_text(
        "__constant__ float taps[4];\n__device__ float sums[4];\n"
        "__global__ void k(const float* x) { sums[threadIdx.x] = x[threadIdx.x] * taps[threadIdx.x]; }\n"
    )
    np.save(tmp_path / "taps.npy", np.array([1, 2, 3, 4], np.float32))
    panel._controller.open(str(path))
    panel.form.grid.setText("1")
    panel.form.block.setText("4")
    panel.form.rows[0].contents.setCurrentText("ones")
    panel.form.symbols.setText("taps=float32:2")
    launch(qtbot, panel)
    assert "sums" not in panel._controller.arrays, panel.state.text()
    panel.form.symbols.setText("taps=taps.npy sums=empty:float32:4")
    launch(qtbot, panel)
    found = panel._controller.array("sums")
    assert found is not None and found.tolist() == [1, 2, 3, 4], panel.state.text()
    panel.tabs.setCurrentIndex(ARRAYS)
    assert panel.arrays.name == "sums", "the one that the kernel changed"
    monkeypatch.setattr(panel._files, "ask_target", lambda *about: str(target))
    qtbot.mouseClick(panel.arrays.save_button, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(np.load(target), found)
    words = shlex.split(panel._controller.command({}))
    assert words[words.index("--symbol") + 1] == f"taps={tmp_path / 'taps.npy'}" and words.count("--symbol") == 2
    panel.form.symbols.setText("taps")
    launch(qtbot, panel)
    assert panel.state.text().startswith("Variables taps is no NAME=VALUE")


def test_a_drawing_keeps_the_extremes_and_is_small(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    view, values = panel.arrays, np.zeros(1_000_003, np.float32)
    values[[7, 500_001]] = 5, -3
    view.draw(values)
    (curve,) = view.plot.listDataItems()
    _, drawn = curve.getData()
    assert len(drawn) < 20_000 and (drawn.min(), drawn.max()) == (-3, 5)
    view.draw(np.ones((3000, 2500), np.uint8))
    (image,) = [item for item in view.plot.items() if isinstance(item, pg.ImageItem)]
    assert max(image.image.shape) <= 1000
    view.draw(np.ones((2, 2, 2)))
    assert view.plot.isHidden()


def test_undo_brings_the_launch_back_and_the_file_before(
    qtbot: QtBot, window: MainWindow, panel: OwnKernelPanel, tmp_path: Path
) -> None:
    controller, session = panel._controller, window.controller.session
    before = controller.fields
    panel.form.rows[3].value.setText("2.5")
    panel.form.rows[3].value.editingFinished.emit()
    assert controller.fields.arguments[3] == "2.5" and controller.fields != before
    session.undo()
    assert controller.fields == before == panel.form.fields
    session.redo()
    assert panel.form.rows[3].value.text() == "2.5"
    session.set_filter("box")
    assert panel.form.rows[3].value.text() == "2.5", "another filter is no other kernel"
    other = tmp_path / "other.cu"
    other.write_text("__global__ void other(int* a) { *a = 1; }")
    window.open_kernel(str(other))
    assert panel.form.fields.arguments == ("zeros:int32:10000",) and panel.form.kernel.currentText() == "other"
    session.undo()
    assert panel.path.text() == "shift.cu" and panel.form.rows[3].value.text() == "2.5" and controller.outcome is None


def test_a_session_restores_the_launch_and_runs_nothing(
    qtbot: QtBot, window: MainWindow, panel: OwnKernelPanel, engine: FakeEngine, picture: str, tmp_path: Path
) -> None:
    window.files.open_path(picture)
    qtbot.waitUntil(lambda: window.controller.session.input is not None)
    panel.form.defines.setText("BARRIER=__syncthreads(); N=2")
    panel.form.includes.setText("headers")
    (tmp_path / "headers").mkdir()
    panel._describe()
    fields, saved = panel._controller.fields, str(tmp_path / "mine.kernelscope")
    assert fields.folders == (str(tmp_path / "headers"),)
    window.context.sessions.save(saved, view_of(window.parts))
    assert read_session(saved, Offered(window.context.sessions.offered.tabs)).choice.own == fields
    window.controller.session.set_own(LaunchFields())
    assert not panel._controller.kernels and not panel.form.rows
    process = panel._controller._process
    window.context.sessions.open(saved)
    qtbot.waitUntil(lambda: panel._controller.fields == fields)
    assert panel.form.fields == fields and panel._controller.file is not None
    assert panel._controller.outcome is None and not panel._controller.running
    assert panel._controller._process is process, "no process begins for a launch that nobody has asked for"
    assert window.context.own_kernel.reason == ""


@pytest.mark.parametrize(
    "change, said",
    [
        ({"device": "cpu:9"}, "own_kernel runs on 'cpu:9', which is no device"),
        ({"absolute": "a\0b"}, "own_kernel names no file"),
        ({"arguments": 3}, "own_kernel.arguments must be a list of texts"),
    ],
)
def test_a_session_with_a_bad_launch_is_refused(change: dict[str, object], said: str) -> None:
    content = {"path": "", "absolute": "/a/b.cu", "kernel": "k", "arguments": ["1"], "device": "sim", **change}
    with pytest.raises(InputError, match=said):
        read_launch(Fields(content, "own_kernel"), "/")


def test_a_file_that_changes_on_disk_is_said_and_read_when_asked(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    path, controller = Path(panel._controller.fields.path), panel._controller
    assert panel.stale.isHidden()
    new = path.with_suffix(".new")
    new.write_text(SHIFT.replace("+ by", "- by").replace("float by", "float less"))
    new.replace(path)  # as editors do
    qtbot.waitUntil(lambda: controller.stale)
    assert not panel.stale.isHidden() and "shift.cu or a header has changed on disk" in panel.stale.text()
    assert "float by" in controller.file.texts["shift.cu"], "what runs is what was read"
    path.write_text(SHIFT)
    qtbot.waitUntil(lambda: not controller.stale)
    path.write_text(SHIFT.replace("float by", "float less"))
    qtbot.waitUntil(lambda: controller.stale)
    qtbot.mouseClick(panel.reload, Qt.MouseButton.LeftButton)
    assert panel.stale.isHidden() and panel.form.rows[3].parameter.name == "less"
    assert panel.form.rows[0].value.text() == "128", "what was typed stays"


def test_the_open_picture_is_an_argument_and_what_comes_out_the_input(
    qtbot: QtBot,
    window: MainWindow,
    engine: FakeEngine,
    picture: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "double.cu"
    path.write_text(
        "__global__ void twice(const float* x, float* y, int n)\n{ int i = threadIdx.x; y[i] = 2 * x[i]; }\n"
    )
    window.open_kernel(str(path))
    panel = window.docks[OWN_KERNEL]
    x, y, n = panel.form.rows
    x.contents.setCurrentText("input")
    x.contents.activated.emit(0)
    assert x.value.text() == "none is there yet" and x.value.isReadOnly()
    launch(qtbot, panel)
    assert panel.state.text() == "There is no input; open an image or a signal first."
    window.files.open_path(picture)
    qtbot.waitUntil(lambda: window.controller.session.input is not None)
    pixels = engine.array(window.controller.session.input.array)
    assert x.value.text() == "40x50 of uint8" and x.text == "input:float32"
    y.value.setText("40x50")
    panel.form.grid.setText("1")
    launch(qtbot, panel)
    out = panel._controller.array("y")
    np.testing.assert_array_equal(out.reshape(-1)[:256], 2 * pixels.reshape(-1)[:256].astype(np.float32))
    assert not engine.held, "the memory of the picture is let go"

    saved = tmp_path / "input.npy"
    window.files.target = lambda *_: str(saved)
    qtbot.mouseClick(panel.copy, Qt.MouseButton.LeftButton)
    words = shlex.split(QApplication.clipboard().text())
    assert main([*words[1:], "--save", f"y={tmp_path / 'y.npy'}"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), out)

    session, before = window.controller.session, window.controller.session.original
    panel.tabs.setCurrentIndex(ARRAYS)
    qtbot.mouseClick(panel.arrays.open_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.derived)
    assert session.input.name == "y after double.cu" and "path" not in session.input.origin
    np.testing.assert_array_equal(engine.array(session.input.array), out)
    assert not window.context.sessions.can_save, "its file is gone with the window"
    session.undo()
    assert session.original is before


def test_values_that_do_not_fit_the_type_are_refused(
    qtbot: QtBot, window: MainWindow, engine: FakeEngine, tmp_path: Path
) -> None:
    engine.show(from_array(np.full((4, 4), 0.5, np.float32)))
    (tmp_path / "k.cu").write_text("__global__ void k(unsigned char* x) { *x = 1; }")
    window.open_kernel(str(tmp_path / "k.cu"))
    panel = window.docks[OWN_KERNEL]
    panel.form.rows[0].contents.setCurrentText("input")
    panel.form.grid.setText("1")
    launch(qtbot, panel)
    assert "The input is float32, and uint8 does not hold all its values" in panel.state.text()


def test_a_device_of_another_machine_is_named_and_not_replaced(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    panel._controller.describe(replace(panel._controller.fields, device="cuda:0"))
    assert panel.form.device.currentText() == "cuda:0, which is not here"
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    assert panel._controller.outcome.result is None and "cuda" in panel.state.text().lower()


def test_other_fields_than_those_that_ran_are_said(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    panel.form.defines.setText("BARRIER=__syncthreads();")
    launch(qtbot, panel)
    panel.form.grid.setText("3")
    panel.form.grid.editingFinished.emit()
    assert panel.state.text().startswith("The results are those of the launch before")
    panel.form.grid.setText("2")
    panel.form.grid.editingFinished.emit()
    assert panel.state.text() == "The kernel ran."


@pytest.mark.parametrize(
    "data, said",
    [
        (b"// \xe4", "the byte 0xe4 in line 1, column 4 is no UTF-8"),
        (b"//" + b" " * (10 << 20), "it is larger than 1024 KiB"),
        (b"// only a comment", "no kernel: a kernel is declared __global__"),
        (
            b'#include "none.h"\n__global__ void k(int* a) {}',
            'k.cu:1:18: catastrophic error: cannot open source file "none.h"',
        ),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_place(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "k.cu").write_bytes(data)
    window.open_kernel(str(tmp_path / "k.cu"))
    panel = window.docks[OWN_KERNEL]
    if panel.run.isEnabled():
        launch(qtbot, panel)
    text = panel.state.text()
    assert said in text and "\n" not in text and "--" not in text


def test_another_look_stays_at_the_tab(qtbot: QtBot, panel: OwnKernelPanel, plain_look: None) -> None:
    panel.form.defines.setText("BARRIER=")
    launch(qtbot, panel)
    panel.tabs.setCurrentIndex(LAUNCH)
    painted: list[object] = []
    panel.report.textChanged.connect(lambda: painted.append(1))
    theme.apply(QApplication.instance(), Qt.ColorScheme.Dark)
    qtbot.waitUntil(lambda: bool(painted), timeout=5000)
    assert panel.tabs.currentIndex() == LAUNCH


def test_its_key_shows_the_panel_and_never_hides_it(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    """A person who takes the key for "run the kernel" presses it again."""

    def press(key: Qt.Key) -> None:
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)

    window.activateWindow()
    press(Qt.Key.Key_K)
    panel, docks = window.docks[OWN_KERNEL], window.docks
    assert panel.open_button.hasFocus() and "Open a file" in panel.state.text()
    assert not (panel.buttons.isVisible() or panel.reload.isVisible()), "there is nothing to run or to read again"
    press(Qt.Key.Key_K)
    assert docks.is_open("own_kernel") and panel.isVisible()
    (tmp_path / "one.cu").write_text("__global__ void one(int* a) { *a = 1; }")
    window.open_kernel(str(tmp_path / "one.cu"))
    press(Qt.Key.Key_K)
    assert panel.run.hasFocus() and panel.reload.isVisible()

    press(Qt.Key.Key_X)
    qtbot.waitUntil(lambda: panel.visibleRegion().isEmpty())
    press(Qt.Key.Key_K)
    qtbot.waitUntil(lambda: not panel.visibleRegion().isEmpty())
    press(Qt.Key.Key_X)  # the X-ray is open behind it
    qtbot.waitUntil(lambda: panel.visibleRegion().isEmpty())
    assert docks.is_open("xray") and window.actions_by_id["xray"].isChecked()
    press(Qt.Key.Key_X)
    assert not docks.is_open("xray") and not window.actions_by_id["xray"].isChecked()


def test_the_key_that_runs_starts_the_kernel_in_its_panel(
    qtbot: QtBot, panel: OwnKernelPanel, window: MainWindow
) -> None:
    asked: list[object] = []
    window.controller.run_live = lambda: asked.append("variants")  # type: ignore[method-assign]
    panel.form.defines.setText("BARRIER=__syncthreads();")
    panel.form.grid.setFocus()
    qtbot.keyClick(panel.form.grid, Qt.Key.Key_F5)
    assert panel._controller.running and asked == []
    qtbot.waitUntil(lambda: not panel._controller.running)
    window.panes.setFocus()
    window.centralWidget().setFocus()
    panel.run.setFocus()
    panel.run.clearFocus()
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert asked == ["variants"] and not panel._controller.running
