"""The page of the sources' figures: ghosts, models, measured points, what is missing, and files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from figure_rows import image, report, row
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPen
from PySide6.QtWidgets import QApplication

from app.base import theme
from app.models.timing.sweep import Sweep
from app.views.sweep.figure_plot import FigurePlot, look_of
from app.views.sweep.text import line_title
from app.views.timing.figures_page import FiguresPage
from gpu_ops import draw_figures, find_filter, write_report
from gpu_ops.report.sweeps import SIZE

ROWS = [row("padded", 1e-5 * (1 + r) * 64 / b, knobs={"block": b, "radix": r}) for b in (32, 256) for r in (2, 16)]
ROWS += [image("cupy", n * 1e-8, n) for n in (128, 256)]
THREADS, SIZES = 1, 4


@pytest.fixture
def page(qtbot) -> FiguresPage:
    page = FiguresPage()
    qtbot.addWidget(page)
    page.set_figures(draw_figures({"/somewhere/s2.json": report(ROWS)}))
    page.resize(900, 800)
    page.show()
    qtbot.waitExposed(page)
    return page


def turn(page: FiguresPage, place: int) -> FigurePlot:
    page.choice.setCurrentIndex(place)
    return page.sheet.plot


def test_published_values_are_dashed_ghosts_named_with_their_gpu(page: FiguresPage) -> None:
    for place, drawn in enumerate(page.drawn):
        plot, texts = turn(page, place), page.sheet.legend.texts()
        assert texts[0] == "published, Jetson TX2" and set(texts) >= {one.name for one in drawn.series}
        for series, items in zip(drawn.series, plot._lines, strict=False):
            ghost = series.basis == "published"
            pen = look_of(drawn, series, page.palette()).pen()
            assert not ghost or pen.style() == Qt.PenStyle.CustomDashLine
            assert items.band.isVisible() == bool(series.tops)
            assert items.dots.isVisible() == (series.basis == "measured" or not (series.tops or series.joined))
        assert not any(items.line.isVisible() for items in plot._lines[len(drawn.series) :])


def test_every_point_lies_in_the_plot_and_is_told_at_the_cursor(page: FiguresPage) -> None:
    plot = turn(page, THREADS)
    frame, box = plot.frame(), plot.item.getViewBox()
    x, y = frame.across, frame.upward
    assert x[0] < np.log10(32) < np.log10(1024) < x[1] and y[0] == 0 and y[1] > 1
    assert plot.item.getAxis("bottom").labelText == "threads per block"
    line = page.drawn[THREADS].measured[0]
    assert line.xs == (32, 256) and line.ys[0] == pytest.approx(1 / 8)
    place = plot.mapFromScene(box.mapViewToScene(QPointF(np.log10(32), line.ys[0])))
    assert "threads per block: 32" in plot.words_at(place) and "0.125" in plot.words_at(place)
    place = plot.mapFromScene(box.mapViewToScene(QPointF(np.log10(32), (0.697 + 0.905) / 2)))
    assert "0.697 to 0.905" in plot.words_at(place) and "stated" in plot.words_at(place)
    assert plot.words_at(QPoint(0, 0)) == ""


def test_lines_of_one_variant_have_symbols_of_their_own(page: FiguresPage) -> None:
    drawn = page.drawn[THREADS]
    looks = [look_of(drawn, one, page.palette()) for one in drawn.measured]
    assert len({one.symbol for one in looks}) == len(looks) == 2 and len({one.stroke for one in looks}) == 1


def test_what_is_missing_is_said_with_the_command(page: FiguresPage) -> None:
    turn(page, THREADS)
    assert page.sheet.missing.isHidden() and "A GPU (s2.json)" in page.sheet.origin.text()
    page.set_figures(draw_figures({}))
    assert page.choice.currentIndex() == THREADS, "the chosen figure stays"
    assert "no recorded points yet" in page.sheet.missing.text() and "kernelscope sweep" in page.sheet.commands.text()
    assert "A GPU" not in page.sheet.origin.text()


def test_a_narrow_page_breaks_the_title_of_the_axis(page: FiguresPage) -> None:
    plot = turn(page, THREADS)
    assert plot.item.getAxis("left").labelText == "throughput, times that at 256 threads"
    plot.resize(400, 200)
    assert "<br>" in plot.item.getAxis("left").labelText


def test_the_page_follows_the_palette(page: FiguresPage) -> None:
    turn(page, THREADS)

    def pens() -> list[QPen]:
        return [look_of(page.drawn[THREADS], one, page.sheet.palette()).outline() for one in page.drawn[THREADS].series]

    light, ground = [pen.color().name() for pen in pens()], page.sheet.plot.backgroundBrush().color().name()
    page.setPalette(theme.palette(Qt.ColorScheme.Dark))
    assert all(pen.color().name() != before for pen, before in zip(pens(), light, strict=True))
    assert page.sheet.plot.backgroundBrush().color().name() != ground


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_the_figure_is_saved_and_copied(qtbot, tmp_path: Path) -> None:
    window = make(qtbot, FakeEngine())
    act(window, "figures")
    page = window.parts.pages["figures"].page
    assert isinstance(page, FiguresPage) and page.isVisible()
    write_report(tmp_path / "s2.json", report(ROWS).to_json())
    window.files.chooser = lambda *_: str(tmp_path / "s2.json")
    qtbot.mouseClick(page.report_button, Qt.MouseButton.LeftButton)
    turn(page, SIZES)
    for name in ("a.png", "a.svg", "a.csv", "a.json"):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        qtbot.mouseClick(page.save_button, Qt.MouseButton.LeftButton)
        assert f"Saved {name}" in window.messages.current().text
    assert QImage(str(tmp_path / "a.png")).text("Description").startswith("figure: figure 8 of two-dimensional FFT")
    drawing = (tmp_path / "a.svg").read_text()
    assert "Throughput of the whole transform over the size" in drawing and "A GPU" in drawing
    text = (tmp_path / "a.csv").read_text()
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("# ")))
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["about"]["machine"] == "A GPU" and len(content["figures"][0]["points"]) == len(rows)
    assert [(r["series"], r["x"]) for r in rows if r["basis"] == "measured"] == [
        ("cuFFT (CuPy)", "128.0"),
        ("cuFFT (CuPy)", "256.0"),
    ]
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().splitlines()[-1] == text.splitlines()[-1]


def test_a_file_that_is_no_report_leaves_the_figures_as_they_are(qtbot, tmp_path: Path) -> None:
    window = make(qtbot, FakeEngine())
    page = window.parts.pages["figures"].page
    assert isinstance(page, FiguresPage)
    before = page.drawn
    (tmp_path / "bad.json").write_text("[]")
    window.files.chooser = lambda *_: str(tmp_path / "bad.json")
    window.files.open_figures(page)
    assert "bad.json" in window.messages.current().text and page.drawn == before


def test_a_sweep_over_the_size_has_the_curve_of_cufft(qapp: QApplication) -> None:
    shapes = {
        "fft2d": (64, 64),
        "fft1d": (4096,),
        "fft_mask": (64, 64),
        "fft_batch1d": (4096,),
        "fft_batch2d": (64, 128),
    }
    for name, shape in shapes.items():
        filter = find_filter(name)
        rows = [row("cupy", 1e-5 * k, tuple(n * k for n in shape), filter=name, params={}) for k in (1, 2)]
        sweep = Sweep(filter, SIZE, "noise", rows=rows)
        (line,) = sweep.lines()
        assert line_title(sweep, line) == "cuFFT (CuPy)" and len(line.points) == 2


def test_the_command_line_draws_a_picture(tmp_path: Path) -> None:
    write_report(tmp_path / "s2.json", report(ROWS).to_json())
    command = [sys.executable, "-m", "app", "figures", "S2-figure-6-threads", "--report", str(tmp_path / "s2.json")]
    done = subprocess.run([*command, "--picture", str(tmp_path / "a.png")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    picture = QImage(str(tmp_path / "a.png"))
    assert picture.width() > 1000 and "A GPU" in picture.text("Description") and "32 threads" in done.stdout
