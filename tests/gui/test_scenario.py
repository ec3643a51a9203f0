"""What a person came for, from the first click to the report, by mouse and keys on visible controls alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import A4, printed
from by_hand import beside, button, choose, click, drag, from_button, menu, tab, texts, tick, visible, write
from live import PATIENCE, live_window, real_engine
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.base.worker import Engine
from app.views.curves.signal_legend import LegendEntry
from app.views.experiment.variant_row import VariantRow
from app.views.pictures.image_pane import ImagePane
from app.views.window import html_report
from app.views.window.main_window import MainWindow
from gpu_ops.explaining.judging import RECORDED
from gpu_ops.report.files import read_report

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with real_engine() as made:
        yield made


@pytest.fixture
def window(qtbot: QtBot, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A window whose recorded reports are those of one file: reading all takes seconds."""
    box = {"box": read_report(RECORDED / "h200-box-sizes.json")}
    monkeypatch.setattr("gpu_ops.recorded_reports", lambda: box)
    with live_window(qtbot, engine) as made:
        qtbot.waitUntil(lambda: bool(made.controller.session.device))
        yield made


def tick_only(window: MainWindow, *titles: str) -> None:
    """Tick these variants and no others."""
    for row in visible(window, VariantRow):
        if row.tick.isEnabled() and row.tick.isChecked() != (row.variant.title in titles):
            tick(row.tick)


def panes(window: MainWindow) -> dict[str, str]:
    """The verdicts of the visible panes, without remarks, by their titles."""
    return {pane.title.text(): pane.chip.text.partition(" · ")[0] for pane in visible(window, ImagePane)}


def captions(window: MainWindow) -> list[str]:
    """The names in the legend of the curves, as they are painted."""
    return [entry.label.shown_text() for entry in visible(window, LegendEntry)]


def saved(window: MainWindow, path: Path) -> None:
    """Let the dialog for files, which is not the program's, answer with this path."""
    window.files.target = lambda *asked: str(path)


def test_where_two_thresholds_differ_and_by_how_much(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    menu(window, "File", "Open sample", "Photographer, 512")
    tick(button(window, "Noise"))
    qtbot.waitUntil(lambda: "camera + noise σ 20" in texts(window))
    choose(beside(window, "Filter"), "Wavelet denoising")
    tick_only(window, "CPU, all cores")
    qtbot.waitUntil(lambda: panes(window).get("CPU, all cores") == "✓ right", timeout=PATIENCE)
    (pane,) = [one for one in visible(window, ImagePane) if one.title.text() == "CPU, all cores"]
    qtbot.waitUntil(lambda: pane.status.text().startswith("PSNR 22.4 → 24"))

    click(pane.canvas)
    QTest.keyClick(pane.canvas, Qt.Key.Key_D, CONTROL)
    choose(beside(window, "Threshold"), "hard")
    both = {"threshold hard": "✓ right", "threshold soft · pinned": "✓ right"}
    qtbot.waitUntil(lambda: both.items() <= panes(window).items(), timeout=PATIENCE)
    assert list(panes(window)) == ["camera + noise σ 20", *both], "the pinned result is beside its variant"

    click(button(window, "Swipe"))
    assert [window.panes.first.currentText(), window.panes.second.currentText()] == [*reversed(both)]
    canvas = window.panes.compare
    drag(canvas, QPoint(canvas.width() // 2, 40), QPoint(canvas.width() // 4, 40))
    assert canvas.divider == pytest.approx(0.25, abs=0.01)
    qtbot.waitUntil(lambda: "SSIM 0." in texts(window.panes))

    click(button(window, "Difference"))
    chosen = [box.currentData() for box in (window.panes.first, window.panes.second)]
    soft, hard = (window.panes.pane(key).layer.compared for key in chosen)
    apart = soft.astype(int) - hard
    row, column = (int(k) for k in np.unravel_index(np.abs(apart).argmax(), apart.shape))
    qtbot.waitUntil(lambda: "largest" in canvas.notes)
    assert f"largest {apart[row, column]} at x {column}, y {row}" in canvas.notes.replace("−", "-")
    assert f"{np.count_nonzero(apart)} of 262144 pixels differ" in canvas.notes
    QTest.keyClick(canvas, Qt.Key.Key_J)
    events = f"threshold soft · pinned: {soft[row, column]}   threshold hard: {hard[row, column]}"
    qtbot.waitUntil(lambda: events in texts(window.panes))
    assert f"x {column}, y {row}" in window.panes.values.text()

    QTest.keyClick(canvas, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(window.panes.pane("parallel").canvas, Qt.Key.Key_F)
    assert window.isFullScreen() and list(panes(window)) == ["threshold hard"]
    QTest.keyClick(window, Qt.Key.Key_Right)
    assert list(panes(window)) == ["threshold soft · pinned"] and "3 of 3" in window.full_screen.hint.text
    QTest.keyClick(window, Qt.Key.Key_1)
    assert list(panes(window)) == ["camera + noise σ 20"]
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isFullScreen() and len(panes(window)) == 3

    qtbot.waitUntil(lambda: not window.controller.busy, timeout=PATIENCE)  # the report has what has ended
    saved(window, tmp_path / "report.html")
    QTest.keyClick(window, Qt.Key.Key_R, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil((tmp_path / "report.html").exists)
    page = (tmp_path / "report.html").read_text()
    assert "<h1>Wavelet denoising (image): camera + noise σ 20</h1>" in page
    assert page.count("CPU, all cores · threshold") >= 2 and "✓ right" in page and "data:image/png" in page


def test_a_report_is_printed_on_a4(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(html_report, "open_in_browser", lambda path: not opened.append(path))
    menu(window, "File", "Open sample", "Photographer, 512")
    choose(beside(window, "Filter"), "Box")
    tick_only(window, "CPU, one core", "CPU, all cores", "SciPy")
    verified = dict.fromkeys(("CPU, one core", "CPU, all cores", "SciPy"), "✓ right")
    qtbot.waitUntil(lambda: verified.items() <= panes(window).items(), timeout=PATIENCE)
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)  # pinned times are in the report as well

    saved(window, tmp_path / "report.html")
    QTest.keyClick(window, Qt.Key.Key_R, CONTROL | Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: opened == [str(tmp_path / "report.html")])
    assert "Press Ctrl+P there" in window.messages.current().text
    sheets = printed(tmp_path / "report.html")
    assert all(abs(side - a4) < 1 for sheet in sheets for side, a4 in zip(sheet.size, A4, strict=True))
    first = " ".join(sheets[0].text.split())
    assert first.startswith("Box: camera The mean of the square") and "Input and results" in first
    assert sheets[0].pictures == 1, "the view is on the first page"
    every = " ".join(sheet.text for sheet in sheets)
    assert all(title in every for title in (*verified, "Times", "All figures", "Claims of the sources"))
    assert "Where the figures come from" in sheets[-1].text


@pytest.mark.thorough
def test_where_a_gpu_pays_off(qtbot: QtBot, window: MainWindow) -> None:
    kernels = "2 separable", "3 sliding", "8 ring buffer"
    menu(window, "File", "Open sample", "Photographer, 512")
    choose(beside(window, "Filter"), "Box")
    tick_only(window, "CPU, one core", *kernels)
    from_button(button(window, "Add step"), "Convert the type")
    qtbot.waitUntil(lambda: "512 × 512, float32" in texts(window))
    verified = dict.fromkeys(("CPU, one core", *kernels), "✓ right")
    qtbot.waitUntil(lambda: verified.items() <= panes(window).items(), timeout=5 * PATIENCE)  # simulated
    drawn = window.ladder.canvas
    said = "\n".join(drawn.words(line) for line in drawn.ladder().lines)
    assert "bytes requested from L2" in said and "simulated" in said

    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert f"{len(verified)} rows are pinned" in window.messages.current().text
    tab(window, "Sweep")
    write(beside(window, "Values"), "256, 512")
    click(button(window, "Sweep"))
    qtbot.waitUntil(lambda: "Choose a recorded GPU to see one." in texts(window.sweep), timeout=PATIENCE)
    choose(beside(window, "Recorded GPU"), "◉ NVIDIA H200")
    pays = [line for line in texts(window.sweep).splitlines() if "best CPU variant" in line or "overtakes" in line]
    assert pays and "8 ring buffer (◉ NVIDIA H200)" in pays[0] and "(kernel alone)" in pays[0]


def test_the_time_between_two_beats(qtbot: QtBot, window: MainWindow) -> None:
    menu(window, "File", "Open sample", "Electrocardiogram")
    tick_only(window, "CPU, one core")
    qtbot.waitUntil(lambda: "1,024 samples at 360 Hz, float64" in texts(window).replace("1024", "1,024"))
    pane = window.signal_pane
    qtbot.waitUntil(lambda: bool(pane.curves) and pane.curves[0].pyramid is not None)
    qtbot.waitUntil(lambda: captions(window) == ["input", "CPU, one core"])
    plot = pane.plot.viewport()

    def at(share: float) -> tuple[QPoint, float]:
        """A place in the plot, and the time that the line below reads there."""
        point = QPoint(round(share * plot.width()), plot.height() // 2)
        QTest.mouseMove(plot, point)
        qtbot.waitUntil(lambda: pane.status.text().startswith("time "))
        return point, float(pane.status.text().split()[1])

    point, first = at(0.3)
    click(plot, point, CONTROL)
    _, second = at(0.6)
    between = second - first
    qtbot.waitUntil(lambda: "Δt" in pane.status.text())
    events = pane.status.text().split("Δt ")[1]
    assert float(events.split(" s (")[0]) == pytest.approx(between, abs=2e-6)
    assert float(events.split(" s (")[1].split(" Hz)")[0]) == pytest.approx(1 / between, rel=1e-3)
    assert "input " in events and "(Δy " in events

    QTest.keyClick(plot, Qt.Key.Key_F)
    assert window.isFullScreen() and captions(window) == ["input", "CPU, one core"]
    walked = []
    for _ in range(3):
        QTest.keyClick(window, Qt.Key.Key_Right)
        walked.append(captions(window))
    assert walked == [["ecg"], ["CPU, one core"], ["input", "CPU, one core"]]
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isFullScreen()
