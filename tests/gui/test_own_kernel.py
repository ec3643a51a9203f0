"""The panel of kernels from elsewhere: a file is opened, described, launched and looked at; what is wrong is said."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.views.own_kernel.panel import ARRAYS, LAUNCH, SOURCE, OwnKernelPanel
from app.views.window.main_window import MainWindow
from app.views.window.panels import OWN_KERNEL
from gpu_ops.cli import main

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
    for row in panel.form.rows[:2]:
        row.value.setText("128")
    panel.form.rows[2].value.setText("128")
    return panel


def launch(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel._controller.running)


def test_a_launch_is_counted_and_its_faults_are_at_their_lines(qtbot: QtBot, panel: OwnKernelPanel) -> None:
    assert panel._controller.answer is None and not panel._controller.running, "nothing runs until it is asked for"
    panel.form.defines.setText("BARRIER=")
    launch(qtbot, panel)
    assert "with faults" in panel.state.text() and panel.tabs.currentIndex() == SOURCE
    assert "shift.cu:7: read-after-write hazard" in panel.report.toPlainText()
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
        ("shared", "many", "Shared memory 'many' is no number of bytes"),
        ("defines", "BARRIER=}", "does not compile: shift.cu:7:5: error: expected a declaration"),
        ("value", "1e", "--arg zeros:float32:1e cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    qtbot: QtBot, panel: OwnKernelPanel, field: str, text: str, said: str
) -> None:
    panel.form.defines.setText("BARRIER=")
    (panel.form.rows[1].value if field == "value" else getattr(panel.form, field)).setText(text)
    launch(qtbot, panel)
    assert said in panel.state.text() and panel.tabs.currentIndex() == LAUNCH
    assert not panel.tabs.isTabVisible(SOURCE)


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
    monkeypatch.setattr(window.files, "open_path", opened.append)
    panel.tabs.setCurrentIndex(ARRAYS)
    qtbot.mouseClick(panel.arrays.save_button, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(np.load(target), panel._controller.array("out"))
    qtbot.mouseClick(panel.arrays.open_button, Qt.MouseButton.LeftButton)
    assert [Path(path).name for path in opened] == ["out.npy"]


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
