"""Marked bars: what a drag and keys mark in the neighbouring picture or curve, and the text about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from made_results import RATE, Made, bring, giving, picture, wave
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.curves.marked import counted, inside, luminance, marked_samples, picture_mask
from app.models.results.view_data import INPUT
from app.views.charts.bars_area import BarsArea
from app.views.charts.bars_view import BarsView
from app.views.window.main_window import MainWindow
from gpu_ops import find_filter
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

LEVELS = Axis("value")
COLOURS = Axis("channel", labels=("red", "green", "blue"))


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    return make(qtbot, FakeEngine())


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def counts_of(
    window: MainWindow, stack: ExitStack, input: Input, counts: np.ndarray[Any, Any], *axes: Axis
) -> BarsView:
    """The view of counts of an input, of one variant."""
    controller: Any = window.controller
    filter = find_filter("mean", input.kind)
    stack.enter_context(giving(filter, ("counts", "bars"), ("other", "bars")))
    controller._engine.show(input)
    controller.session.set_filter(filter.id)
    controller.session.set_picks(("serial",))
    made = Made("bars", counts, axes, "samples")
    bring(window, "serial", {"counts": made, "other": made})
    view = window.stack.view
    assert isinstance(view, BarsView)
    return view


def gray(window: MainWindow, stack: ExitStack) -> BarsView:
    counts = np.bincount(picture().ravel(), minlength=256).astype(np.uint32)
    return counts_of(window, stack, Input("image", picture(), "yx", "waves", {"generator": "waves"}), counts, LEVELS)


def area_of(view: BarsView) -> BarsArea:
    area = view.cells["serial"].area
    assert isinstance(area, BarsArea)
    area.grab()
    return area


def point(area: BarsArea, bar: int) -> QPoint:
    """The middle of a bar."""
    frame = area.frame()
    return QPoint(round(frame.x(bar + 0.5)), round(frame.box.center().y()))


def drag(area: BarsArea, first: int, last: int, release: bool = True) -> None:
    QTest.mousePress(area.viewport(), Qt.MouseButton.LeftButton, pos=point(area, first))
    QTest.mouseMove(area.viewport(), point(area, (first + last) // 2))
    QTest.mouseMove(area.viewport(), point(area, last))
    if release:
        QTest.mouseRelease(area.viewport(), Qt.MouseButton.LeftButton, pos=point(area, last))


def canvas_of(window: MainWindow) -> Any:
    grid = window.stack.view_with(INPUT).grid
    assert grid is not None
    return grid.panes[INPUT].canvas


def opaque(window: MainWindow) -> np.ndarray[Any, Any]:
    """The marked pixels of the overlay."""
    image = canvas_of(window).overlay
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 4 * image.width()].reshape(image.height(), image.width(), 4)[..., 3] > 0


def test_a_drag_marks_the_pixels_of_its_bars_while_it_goes_on(window: MainWindow, stack: ExitStack) -> None:
    view = gray(window, stack)
    area, array = area_of(view), picture()
    before = view.plane.x.start, view.plane.x.stop
    drag(area, 100, 160, release=False)
    first, last = view.marks.bars or (0, 0)
    assert abs(first - 100) <= 1 and abs(last - 160) <= 1
    wanted = (array >= first) & (array <= last)
    assert 0 < wanted.sum() < wanted.size and np.array_equal(opaque(window), wanted)
    share = f"{100 * wanted.mean():.3g} %"
    assert canvas_of(window).meaning == f"pixels from {first} to {last}: {share}"
    assert view.value_text("serial") == f"from {first} to {last}: {share}"
    QTest.mouseMove(area.viewport(), point(area, 60))
    assert (view.marks.bars or (0, 0))[1] == first, "the drag turned around"
    QTest.mouseRelease(area.viewport(), Qt.MouseButton.LeftButton, pos=point(area, 60))
    QTest.mouseMove(area.viewport(), point(area, 220))
    assert (view.marks.bars or (0, 0))[1] == first, "the drag is over"
    assert (view.plane.x.start, view.plane.x.stop) == before, "a drag does not pan"


def test_keys_mark_move_and_remove(window: MainWindow, stack: ExitStack) -> None:
    view = gray(window, stack)
    area = area_of(view)
    area.setFocus()
    view.plane.set_cursor((120.5, 0.0))
    QTest.keyClick(area, Qt.Key.Key_Space)
    assert view.marks.bars == (120, 120)
    for _ in range(3):
        QTest.keyClick(area, Qt.Key.Key_Right)
    QTest.keyClick(area, Qt.Key.Key_Left)
    QTest.keyClick(area, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert view.marks.bars == (119, 122)
    assert np.array_equal(opaque(window), (picture() >= 119) & (picture() <= 122))
    for _ in range(9):
        QTest.keyClick(area, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert view.marks.bars == (122, 122), "an end stops at the other one"
    QTest.keyClick(area, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert view.marks.bars == (122, 122) and view.plane.cursor == (121.5, 0.0), "Shift moves the cursor"
    QTest.keyClick(area, Qt.Key.Key_Escape)
    assert view.marks.bars is None and canvas_of(window).overlay is None and canvas_of(window).meaning == ""


def test_a_click_removes_the_range_and_the_middle_button_pans(window: MainWindow, stack: ExitStack) -> None:
    view = gray(window, stack)
    area = area_of(view)
    drag(area, 40, 90)
    assert view.marks.bars is not None
    view.zoom(4)
    start = view.plane.x.start
    QTest.mousePress(area.viewport(), Qt.MouseButton.MiddleButton, pos=QPoint(100, 60))
    QTest.mouseMove(area.viewport(), QPoint(160, 60))
    QTest.mouseRelease(area.viewport(), Qt.MouseButton.MiddleButton, pos=QPoint(160, 60))
    assert view.plane.x.start < start and view.marks.bars is not None
    QTest.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, 60))
    assert view.marks.bars is None and canvas_of(window).overlay is None


def test_the_range_goes_with_its_input_its_output_and_its_bars(window: MainWindow, stack: ExitStack) -> None:
    view, controller = gray(window, stack), window.controller
    drag(area_of(view), 40, 90)
    window.stack.set_scale("cumulative")
    assert view.marks.bars is not None, "another scale shows the same bars"
    controller.session.set_output("other")
    assert view.marks.bars is None and canvas_of(window).overlay is None
    drag(area_of(view), 40, 90)
    half = picture()[:20].copy()
    controller._engine.show(Input("image", half, "yx", "half", {"generator": "half"}))
    assert view.marks.bars is None and canvas_of(window).overlay is None
    view = gray(window, stack)
    drag(area_of(view), 40, 90)
    fewer = Made("bars", np.full(16, 256, np.uint32), (Axis("value", "", 0, 16.0),), "samples")
    bring(window, "serial", {"counts": fewer, "other": fewer})
    assert view.marks.bars is None and canvas_of(window).overlay is None


def test_colours_are_marked_each_in_its_own(window: MainWindow, stack: ExitStack) -> None:
    array = np.random.default_rng(2).integers(0, 256, (30, 40, 4), np.uint8)
    counts = np.stack([np.bincount(array[..., c].ravel(), minlength=256) for c in range(3)]).astype(np.uint32)
    view = counts_of(window, stack, Input("image", array, "yxc", "noise", {"generator": "n"}), counts, COLOURS, LEVELS)
    view.marks.mark(10, 99, 256)
    within = (array[..., :3] >= 10) & (array[..., :3] <= 99)
    assert np.array_equal(opaque(window), within.any(axis=2))
    image = canvas_of(window).overlay
    y, x = np.argwhere(within[..., 1] & ~within[..., 0] & ~within[..., 2])[0].tolist()
    assert image.pixelColor(x, y).getRgb()[:3] == (0, 255, 0)
    parts = [f"{name} {100 * within[..., c].mean():.3g} %" for c, name in enumerate(("red", "green", "blue"))]
    assert canvas_of(window).meaning == f"pixels from 10 to 99:\n{', '.join(parts)}"


def test_samples_of_a_curve_are_marked_with_a_curve_of_their_own(window: MainWindow, stack: ExitStack) -> None:
    signal = wave()
    counts, edges = np.histogram(signal, 16)
    axis = Axis("value", "", float(edges[0]), float(edges[1] - edges[0]))
    input = Input("signal", signal, "t", "wave", {"generator": "wave"}, RATE)
    view = counts_of(window, stack, input, counts.astype(np.uint32), axis)
    view.marks.mark(12, 15, 16)
    beside: Any = window.stack.view_with(INPUT)
    pane = beside.pane
    drawn = [curve for curve in pane.curves if curve.visible]
    share = f"{100 * counts[12:].sum() / counts.sum():.3g} %"
    low, high = f"{axis.at(12):.6g}", f"{axis.at(16):.6g}"
    assert len(drawn) == 2 and drawn[1].name.endswith(share) and drawn[1].name.startswith("samples from ")
    assert drawn[1].pyramid is not None and float(low) <= float(high)
    samples = drawn[1].pyramid.array
    within = signal >= axis.at(12)
    assert np.isfinite(samples[within]).all() and np.isfinite(samples).sum() < signal.size
    assert np.array_equal(samples[within], signal[within])
    view.marks.clear()
    assert len([curve for curve in pane.curves if curve.visible]) == 1


def test_the_cumulative_scale_rises_to_all(window: MainWindow, stack: ExitStack) -> None:
    view = gray(window, stack)
    window.stack.set_scale("cumulative")
    drawn = view.first()
    assert drawn is not None and drawn.unit == "%" and (np.diff(drawn.array) >= 0).all() and drawn.array[-1] == 100
    view.plane.set_cursor((120.5, 0.0))
    array = picture()
    one, below = 100 * (array == 120).mean(), 100 * (array <= 120).mean()
    said = f"{(array == 120).sum()} ({one:.3g} %, {below:.3g} % up to here)"
    assert view.value_text("serial") == f"bin 120, value 120 … 121: {said}"


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_what_lies_inside_is_what_was_counted(dtype: str) -> None:
    random = np.random.default_rng(4)
    top = np.iinfo(dtype).max if dtype.startswith("uint") else 1
    values = (random.random((50, 60)) * top).astype(dtype)
    ends = (0.0, float(top + 1)) if dtype.startswith("uint") else (float(values.min()), float(values.max()))
    counts, edges = np.histogram(values, 100, ends)
    axis = Axis("value", "", ends[0], (ends[1] - ends[0]) / 100)
    for bars in ((0, 0), (17, 60), (99, 99), (0, 99)):
        assert inside(values, axis, bars, 100).sum() == counts[bars[0] : bars[1] + 1].sum()


def test_a_single_histogram_of_colours_is_that_of_their_luminance() -> None:
    array = np.random.default_rng(3).integers(0, 256, (9, 11, 3), np.uint8)
    exact = np.floor(array.astype(float) @ (0.299, 0.587, 0.114) + 0.5 + 1e-9)
    assert np.array_equal(luminance(array), exact)
    counts = np.bincount(luminance(array).ravel(), minlength=256)
    mask = picture_mask(array, LEVELS, (50, 130), counts)
    assert mask.max() == 1 and mask.sum() == counts[50:131].sum()
    assert counted(array[..., 0], 1, 2).shape == (9, 11, 1)


def test_masks_of_large_images_are_coarse_and_single_samples_have_a_line() -> None:
    mask = picture_mask(np.zeros((3000, 2000), np.uint8), LEVELS, (0, 3), np.ones(256))
    assert mask.shape == (1000, 667) and mask.all()
    line = marked_samples(np.array([0, 9, 0, 0], np.uint8), LEVELS, (9, 9), np.ones(256))
    assert np.array_equal(line[:, 0], [np.nan, 9, 0, np.nan], equal_nan=True)
