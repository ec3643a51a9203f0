"""Histogram and levels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.models.pictures.display import Display
from app.views.pictures.histogram import HistogramBar


def figures(low: float = 0.0, high: float = 100.0, **more: Any) -> SimpleNamespace:
    inner = {0.1: low + 0.1 * (high - low), 50: (low + high) / 2, 99.9: high - 0.1 * (high - low)}
    values = {"minimum": low, "maximum": high, "percentiles": inner, "nan": 0, "infinite": 0}
    return SimpleNamespace(**(values | {"histogram": (1, *[0] * 254, 1000)} | more))


def shown(qtbot: QtBot, statistics: SimpleNamespace) -> HistogramBar:
    display = Display()
    display.set_input(statistics)
    bar = HistogramBar(display)
    display.setParent(bar)
    qtbot.addWidget(bar)
    bar.set_statistics(statistics)
    bar.resize(400, 240)
    bar.show()
    qtbot.waitExposed(bar)
    bar.grab()
    return bar


def test_bars(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures())
    heights = bar.canvas.heights()
    assert heights[255] == 1 and 0.05 < heights[0] < 0.2 and heights[1] == 0
    qtbot.mouseClick(bar.logarithmic, Qt.MouseButton.LeftButton, pos=QPoint(8, bar.logarithmic.height() // 2))
    assert bar.canvas.heights()[0] == pytest.approx(0.001)


def test_handles_are_dragged(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures())
    canvas, display = bar.canvas, bar.display
    middle = int(canvas.plot().center().y())

    def drag(value: float, to: float) -> None:
        start, stop = (QPoint(round(canvas.x_of(v)), middle) for v in (value, to))
        qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(canvas, stop)
        qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=stop)

    drag(0, 20)
    drag(100, 70)
    assert (display.low, display.high) == pytest.approx((20, 70), abs=0.5) and display.mode == "manual"
    drag(20, 90)  # not past the other
    assert display.low == pytest.approx(70, abs=0.5) and display.high > display.low
    drag(display.high, 95)  # and they come apart again
    assert display.high == pytest.approx(95, abs=0.5)
    low = display.low
    qtbot.mouseMove(canvas, QPoint(5, middle))
    assert display.low == low


def test_spin_boxes_and_buttons(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures())
    bar.low.selectAll()
    qtbot.keyClicks(bar.low, "12.5")
    qtbot.keyClick(bar.low, Qt.Key.Key_Return)
    assert bar.display.low == 12.5 and bar.display.high == 100
    qtbot.mouseClick(bar.most, Qt.MouseButton.LeftButton)
    assert (bar.display.low, bar.display.high) == (10, 90) and bar.high.value() == 90
    qtbot.mouseClick(bar.full, Qt.MouseButton.LeftButton)
    assert (bar.display.low, bar.display.high) == (0, 100)


@pytest.mark.parametrize("low,high", [(0, 1e-9), (-1e12, 1e12), (1e300, 1.5e300), (7, 7), (0, 65535)])
def test_any_range(qtbot: QtBot, low: float, high: float) -> None:
    bar = shown(qtbot, figures(low, high))
    bar.grab()
    assert np.isfinite([bar.canvas.x_of(low), bar.canvas.x_of(high)]).all()
    if high > low and high < 1e299:
        assert bar.high.value() == pytest.approx(high)


def test_colour_map(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures())
    bar.maps.setFocus()
    qtbot.keyClick(bar.maps, Qt.Key.Key_Down)
    assert bar.display.colormap == "viridis"
    bar.display.set_colormap("magma")
    assert bar.maps.currentData() == "magma"


def test_counts_in_words(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures(nan=3, infinite=1))
    assert bar.words.text() == "Minimum 0, maximum 100; 3 are NaN, 1 infinite"
    bar.set_statistics(figures(0, 0, histogram=(0,) * 256, nan=9))
    assert bar.words.text() == "No finite values; 9 are NaN, 0 infinite"
    bar.grab()
    bar.set_statistics(figures())
    assert "all values finite" in bar.words.text()


def test_accessible(qtbot: QtBot) -> None:
    bar = shown(qtbot, figures())
    for widget in (bar.canvas, bar.low, bar.high, bar.maps, bar.most):
        assert widget.accessibleName()
