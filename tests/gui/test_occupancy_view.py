"""Block sizes in the X-ray: the curve, what limits it, the sentence, and what a person can point at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from xray_answers import content, show

from app.base import theme
from app.models.timing.occupancy import LIMITERS, BlockOccupancy, Curve, curve
from app.views.xray.occupancy_view import SYMBOLS, BlockSizes
from gpu_ops import from_array
from gpu_ops.devices.occupancy import by_block_size, occupancy
from gpu_ops.engine.messages import Ready
from gpu_ops.explaining.xray import _occupancy_dict

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def kernel(architecture: str, threads: int, registers: int, shared: int, barriers: int = 1) -> dict[str, Any]:
    """A kernel of an X-ray's answer, as far as its occupancy goes."""
    sizes = by_block_size(architecture, registers, shared, barriers)
    return {
        "block": [threads, 1, 1],
        "shared_bytes": shared,
        "resources": {"registers": registers, "barriers": barriers},
        "occupancy": _occupancy_dict(occupancy(architecture, threads, registers, shared, barriers)),
        "occupancy_by_block": {str(t): _occupancy_dict(o) for t, o in sizes.items()},
    }


def known(*what: Any) -> Curve:
    found = curve(kernel(*what))
    assert found is not None
    return found


@pytest.mark.parametrize(
    "what, sentence",
    [
        # 48 registers x 32 lanes are 1536; 16384 in a quarter hold ten such warps: 40 in all.
        (
            ("sm_90", 128, 48, 0),
            "48 registers per thread allow 40 of 64 warps in blocks of 128 threads; registers limit from 64 threads "
            "on. No other block size allows more.",
        ),
        (
            ("sm_90", 256, 40, 20000),
            "40 registers per thread allow 48 of 64 warps in blocks of 256 threads; registers limit from 160 to 672 "
            "threads. No other block size allows more.",
        ),
        # Seven blocks of 9216 bytes fit into 64 KiB, whatever their threads.
        (
            ("sm_75", 17, 20, 9000),
            "9000 bytes of shared memory per block allow 7 of 32 warps in blocks of 17 threads; shared memory limits "
            "from 32 to 128 threads. The maximum is 32, with 256, 512, 1024 threads per block.",
        ),
        (
            ("sm_90", 32, 20, 0),
            "32 blocks of 32 threads, the maximum, fill 32 of 64 warps; the number of blocks limits at 32 "
            "threads. The maximum is 64, with 64, 128, 256, 512, … threads per block.",
        ),
        (
            ("sm_90", 96, 32, 0),
            "Blocks of 96 threads fill 63 of 64 warps; the number of warps limits from 64 threads on. "
            "The maximum is 64, with 64, 128, 256, 512, … threads per block.",
        ),
        (
            ("sm_90", 288, 32, 0, 16),
            "16 barriers per block allow 36 of 64 warps in blocks of 288 threads; barriers limit from 32 to 384 "
            "threads. The maximum is 64, with 512, 1024 threads per block.",
        ),
        (
            ("sm_90", 1024, 70, 0),
            "70 registers per thread allow 0 of 64 warps in blocks of 1024 threads; registers limit at every block "
            "size. The maximum is 28, with 32, 64, 128, 224, … threads per block.",
        ),
    ],
)
def test_a_sentence_says_what_limits_and_what_would_hold_more(what: Any, sentence: str) -> None:
    assert known(*what).sentence.replace(",", "") == sentence.replace(",", "")


def test_what_stays_as_it_is_is_said() -> None:
    assert "340 bytes of shared memory per block stay fixed" in known("sm_75", 128, 44, 340).assumption
    assert "hared memory" not in known("sm_75", 128, 44, 0).assumption


def test_the_curve_is_that_of_the_vendors_rules() -> None:
    found = known("sm_86", 100, 96, 5000)
    assert [held.threads for held in found.sizes] == list(range(32, 1025, 32))
    for held in (*found.sizes, found.own):
        there = occupancy("sm_86", held.threads, 96, 5000)
        assert held == BlockOccupancy(held.threads, there.blocks, there.warps, there.most, there.limiter)
    assert found.own.threads == 100


def test_where_the_figures_are_not_known_there_is_a_sentence(qtbot) -> None:
    view = BlockSizes()
    qtbot.addWidget(view)
    view.show()
    view.show_kernel(kernel("sm_90", 128, 48, 0), "sm_90")
    assert view.plot.isVisible() and "48 registers" in view.sentence.text()
    view.show_kernel({**kernel("sm_90", 128, 48, 0), "occupancy": None, "occupancy_by_block": {}}, "sm_999")
    assert not view.plot.isVisible() and not view.now.isVisible() and view.plot.points() == []
    assert "occupancy of sm_999 is not known" in view.sentence.text()


# Drawing


@pytest.fixture
def view(qtbot, qapp):
    view = BlockSizes()
    qtbot.addWidget(view)
    view.resize(420, 400)
    view.show()
    view.show_kernel(kernel("sm_90", 100, 40, 20000), "sm_90")
    qtbot.waitExposed(view)
    yield view
    theme.apply(qapp, Qt.ColorScheme.Light)


def test_each_limiter_has_a_shape_of_its_own(qapp) -> None:
    shapes = []
    for limiter in LIMITERS:
        image = QImage(40, 40, QImage.Format.Format_Grayscale8)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setBrush(Qt.GlobalColor.black)
        SYMBOLS[limiter](painter, QPointF(20, 20), 9)
        painter.end()
        shapes.append(bytes(image.constBits()))
    differing = [
        sum((a < 128) != (b < 128) for a, b in zip(one, other, strict=True))
        for i, one in enumerate(shapes)
        for other in shapes[:i]
    ]
    assert len(differing) == 10 and min(differing) > 60


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
@pytest.mark.parametrize("presenter", [False, True])
@pytest.mark.parametrize("width", [260, 420, 700])
def test_everything_lies_inside_and_apart(qtbot, qapp, view, scheme, presenter: bool, width: int) -> None:
    theme.apply(qapp, scheme, presenter)
    view.resize(width, 900)
    qtbot.wait(20)
    plot = view.plot
    area, high = plot.area(), plot.fontMetrics().height()
    assert view.verticalScrollBar().maximum() == 0 and area.height() > 3 * high
    assert plot.rect().contains(area.toRect()) and area.bottom() + 2 * high <= plot.height()
    for limiter, at in plot.legend():
        assert high / 2 <= at.y() <= area.top() - 1.6 * high and at.x() < plot.width(), limiter
    assert [name for name, _ in plot.legend()] == ["registers", "shared memory", "warps"]
    assert all(area.adjusted(-1, -1, 1, 1).contains(plot.place(held)) for held in plot.points())
    image, ratio = plot.grab().toImage(), plot.devicePixelRatio()
    for held in plot.points()[::6]:
        at = plot.place(held)
        ink, ground = image.pixelColor((at * ratio).toPoint()), plot.palette().base().color()
        assert theme.contrast(ink, ground) >= theme.SHAPE_CONTRAST, held.text


def test_the_kernels_own_block_is_marked_though_it_is_no_whole_number_of_warps(view) -> None:
    plot = view.plot
    assert plot.curve.own in plot.points() and plot.curve.own.threads == 100
    assert view.now.text() == "100 threads per block: 11 blocks, 44 of 64 warps, limited by shared memory"


def test_mouse_and_keys_tell_the_numbers_of_a_block_size(qtbot, view) -> None:
    plot = view.plot
    wanted = next(held for held in plot.points() if held.threads == 512)
    QTest.mouseMove(plot.viewport(), plot.place(wanted).toPoint())
    qtbot.waitUntil(lambda: plot.held == wanted)
    assert view.now.text() == wanted.text and wanted.text.startswith("512 threads per block: 3 blocks, 48 of 64 warps")
    at = plot.place(wanted).toPoint()
    QApplication.sendEvent(plot.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, plot.mapToGlobal(at)))
    assert QToolTip.text() == wanted.text
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    assert view.now.text().startswith("100 threads")
    view.activateWindow()
    plot.setFocus()
    qtbot.waitUntil(lambda: plot.held == plot.curve.own)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.held.threads == 128 and plot.accessibleDescription() == plot.held.text == view.now.text()
    QTest.keyClick(plot, Qt.Key.Key_Left)
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert plot.held.threads == 96
    QTest.keyClick(plot, Qt.Key.Key_End)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.held.threads == 1024
    QTest.keyClick(plot, Qt.Key.Key_Home)
    assert plot.held.threads == 32


def test_the_tab_shows_the_kernel_that_is_chosen(qtbot, qapp) -> None:
    engine = FakeEngine()
    window = make(qtbot, engine)
    window.controller.queue.timed_after_pause = False
    engine.answered.emit(Ready(1, ()))
    engine.show(from_array(np.zeros((9, 9), np.uint8)))
    engine.end()
    found = content()
    first = found["kernels"][0] | kernel("sm_75", 128, 44, 340)
    second = {**first, **kernel("sm_75", 256, 80, 0), "name": "second"}
    show(qtbot, window, engine, {**found, "kernels": [first, second]})
    panel = window.xray_panel
    assert panel.blocks.plot.curve == curve(first)
    panel.kernels.setFocus()
    QTest.keyClick(panel.kernels, Qt.Key.Key_Down)
    assert panel.blocks.plot.curve == curve(second) and "80 registers" in panel.blocks.sentence.text()
