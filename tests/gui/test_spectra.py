"""Views of spectra: what is drawn, read and reached by mouse and keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from made_results import RATE, Made, bring, giving, wave
from PySide6.QtCore import QEvent, QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.pictures.heat import Heat
from app.models.pictures.nonfinite import NAN_COLOR
from app.views.charts.heat_area import HeatArea, scale_marks
from app.views.results.view_table import PLANES
from app.views.window.main_window import MainWindow
from gpu_ops import find_filter
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

PICKS = ("serial", "parallel")


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
def stack_of_outputs() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


# Planes


def test_a_narrow_line_survives_every_zoom_and_nothing_is_lost() -> None:
    values = np.zeros((129, 20_000), np.float32)
    values[40, 12_345] = 7
    values[3, 777] = np.nan
    heat = Heat(values)
    assert heat.build() and max(heat.levels[-1].values.shape) <= 1024
    whole = heat.sample(np.linspace(0, 129, 51), np.linspace(0, 20_000, 301))
    assert whole.shape == (50, 300) and np.nanmax(whole) == 7
    assert np.isnan(whole).sum() == 1
    part = heat.sample(np.linspace(40, 41, 11), np.linspace(12_300, 12_400, 51))
    assert (part == 7).sum() == 10, "one pixel of columns, all ten rows of the magnified value"
    assert heat.sample(np.linspace(41, 129, 11), np.linspace(12_000, 13_000, 51)).max() == 0


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (129, 5000), (2500, 37)])
def test_pixels_of_any_part_are_values_of_that_part(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    values = rng.standard_normal(shape)
    heat = Heat(values)
    assert heat.build()
    for _ in range(20):
        cuts = [np.sort(rng.uniform(0, n, 2)) + (0, 0.01) for n in shape]
        rows, columns = (np.linspace(low, min(high, n), 41) for (low, high), n in zip(cuts, shape, strict=True))
        found = heat.sample(rows, columns)
        assert found.shape == (40, 40)
        reach = [(int(e[0]), int(np.ceil(e[-1])) + 1) for e in (rows, columns)]
        least = min(shape[0], 2 ** int(np.log2(max(1, shape[0] / 40)))), 64
        near = values[max(0, reach[0][0] - least[0]) : reach[0][1] + least[0], max(0, reach[1][0] - 128) :]
        assert np.isin(found, near).all()


def plane_made(channels: int = 1) -> Made:
    """Power of 200 segments and 65 frequencies, with a line about 10 Hz from 4 s on."""
    values = np.full((200, 65), 1e-6, np.float32)
    values[40:, 19:22] = 1e-2
    values[7, 3] = 0
    if channels > 1:
        values = np.stack([values] * channels, axis=2)
    axes = [Axis("time", "s", 0.05, 0.1), Axis("frequency", "Hz", 0.0, 0.5)]
    axes += [Axis("channel")] if channels > 1 else []
    return Made("spectrum", values, tuple(axes), "mV²/Hz", image=False)


def show_plane(window: MainWindow, stack: ExitStack, made: Made | None = None) -> Any:
    filter = stack.enter_context(giving_planes())
    engine: Any = window.controller._engine
    engine.show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
    window.controller.session.set_filter(filter.id)
    window.controller.session.set_picks(PICKS)
    for variant in PICKS:
        bring(window, variant, {"spectrogram": made or plane_made()})
    return window.stack.view


def giving_planes() -> Any:
    return giving(find_filter("mean1d"), ("spectrogram", "spectrum"))


def area_of(view: Any, variant: str = "serial") -> HeatArea:
    area = view.cells[variant].area
    assert isinstance(area, HeatArea)
    return area


def test_time_and_frequency_fill_the_pane(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    view = show_plane(window, stack_of_outputs)
    assert view is window.stack._views[PLANES.id, False]
    area = area_of(view)
    frame = area.frame()
    assert (view.plane.x.start, view.plane.x.stop) == pytest.approx((0.0, 20.0))
    assert (view.plane.y.start, view.plane.y.stop) == pytest.approx((-0.25, 32.25))
    assert frame.box.width() > 0.6 * area.width() and frame.box.height() > 0.6 * area.height()
    area.grab()
    assert area.image is not None and (area.image.width(), area.image.height()) == pytest.approx(
        (frame.box.width(), frame.box.height()), abs=1
    )
    at = (frame.point(15.0, 10.0) - frame.box.topLeft()).toPoint()
    line = area.image.pixelColor(at)
    assert line.lightness() > area.image.pixelColor(at.x(), 3).lightness() + 50, "the line at 10 Hz, frequency upward"
    early = (frame.point(2.0, 10.0) - frame.box.topLeft()).toPoint()
    assert area.image.pixelColor(early) != line


def test_the_cursor_reads_time_frequency_and_level(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    view = show_plane(window, stack_of_outputs)
    area = area_of(view)
    QTest.mouseMove(area.viewport(), area.frame().box.center().toPoint())
    QTest.mouseMove(area.viewport(), area.frame().point(15.04, 10.1).toPoint())
    for variant in PICKS:
        text = view.cells[variant].status.text()
        assert text == view.value_text(variant)
        assert text.endswith(" s, 10 Hz: 0.01 mV²/Hz (−20.00 dB)"), "ten dB a decade, for these are squares"
    view.plane.set_cursor((0.75, 1.5))
    assert view.value_text("serial") == "750 ms, 1.5 Hz: 0 mV²/Hz (−∞ dB)", "the picture's floor is not read"
    QApplication.sendEvent(area, QEvent(QEvent.Type.Leave))
    assert view.plane.cursor is None
    window.stack.bar.scales.button("linear").click()
    assert view.display.high == pytest.approx(1e-2) and "mV²/Hz" in area.drawn.unit  # type: ignore[union-attr]


def wheel(area: HeatArea, at: QPointF, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    none, up = Qt.MouseButton.NoButton, QPoint(0, 120)
    event = QWheelEvent(at, at, QPoint(), up, none, keys, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(area.viewport(), event)


def test_either_axis_zooms_by_itself(qtbot: Any, window: MainWindow, stack_of_outputs: ExitStack) -> None:
    view = show_plane(window, stack_of_outputs)
    area, plane = area_of(view), view.plane

    def sizes() -> tuple[float, float]:
        return plane.x.stop - plane.x.start, plane.y.stop - plane.y.start

    def zoomed(do: Any) -> tuple[bool, bool]:
        plane.fit()
        whole = sizes()
        do()
        return sizes()[0] < whole[0], sizes()[1] < whole[1]

    middle, box = area.frame().box.center(), area.frame().box
    assert zoomed(lambda: wheel(area, middle)) == (True, True)
    assert zoomed(lambda: wheel(area, middle, Qt.KeyboardModifier.ControlModifier)) == (True, False)
    assert zoomed(lambda: wheel(area, middle, Qt.KeyboardModifier.ShiftModifier)) == (False, True)
    assert zoomed(lambda: wheel(area, QPointF(middle.x(), box.bottom() + 5))) == (True, False)
    assert zoomed(lambda: wheel(area, QPointF(box.left() - 5, middle.y()))) == (False, True)
    assert zoomed(lambda: qtbot.keyClick(area, Qt.Key.Key_T)) == (True, False)
    assert zoomed(lambda: qtbot.keyClick(area, Qt.Key.Key_Y)) == (False, True)
    assert zoomed(lambda: qtbot.keyClick(area, Qt.Key.Key_Plus)) == (True, True)
    qtbot.keyClick(area, Qt.Key.Key_0)
    place = area.frame().place(middle)
    wheel(area, middle)
    assert area.frame().place(middle) == pytest.approx(place), "the place under the pointer stays"
    start = plane.x.start, plane.y.start
    qtbot.keyClick(area, Qt.Key.Key_Right)
    qtbot.keyClick(area, Qt.Key.Key_Up)
    assert plane.x.start > start[0] and plane.y.start > start[1]
    QTest.mousePress(area.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint())
    held = area.frame().place(middle)
    QTest.mouseMove(area.viewport(), middle.toPoint() + QPoint(30, -10))
    QTest.mouseRelease(area.viewport(), Qt.MouseButton.LeftButton, pos=middle.toPoint() + QPoint(30, -10))
    assert area.frame().place(middle + QPointF(30, -10)) == pytest.approx(held, abs=0.2)
    plane.set_cursor((5.05, 10.0))
    qtbot.keyClick(area, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(area, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert plane.cursor == pytest.approx((5.15, 9.5))


def test_the_scale_says_where_it_ends_and_what_lies_beyond(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    view = show_plane(window, stack_of_outputs)
    area = area_of(view)
    marks = area._marks(400)
    assert marks[0][1].startswith("≤ ") and not marks[-1][1].startswith("≥")
    view.display.set_levels(-50, -30)
    assert [area._marks(400)[k][1] for k in (0, -1)] == ["≤ −50", "≥ −30"]
    assert scale_marks(area.tone(), -50, -30, 5)[0][1] == "−50"


def test_nan_and_channels_are_seen(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    made = plane_made(2)
    made.array[150:, :, 0] = np.nan
    view = show_plane(window, stack_of_outputs, made)
    area = area_of(view)
    area.grab()
    assert area.image is not None
    at = (area.frame().point(18.0, 20.0) - area.frame().box.topLeft()).toPoint()
    assert area.image.pixelColor(at).getRgb()[:3] == NAN_COLOR
    view.plane.set_cursor((5.05, 10.0))
    assert view.value_text("serial") == "5.05 s, 10 Hz: 0.01, 0.01 mV²/Hz (−20.00, −20.00 dB)"


def test_a_result_of_an_earlier_choice_is_faint(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    view = show_plane(window, stack_of_outputs)
    session = window.controller.session
    session.set_params({**session.choice.params, "window": 9})
    assert view.state("serial") == "stale" and not area_of(view).current
    session.set_filter("mean1d")
    engine: Any = window.controller._engine
    engine.show(Input("signal", wave()[:50], "t", "shorter", {"generator": "wave"}, RATE))
    assert all(area_of(view, variant).drawn is None for variant in PICKS if variant in view.cells)
