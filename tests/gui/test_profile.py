"""Values along a line: how they are sampled, and the plot below the pictures. The scale bar and lengths."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pixels
import pytest
from fake_engine import FakeEngine, act, make
from live import pause
from made_results import Made, bring, picture
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.curves.stroke import input_stroke, variant_stroke
from app.models.pictures.probe import Line
from app.models.pictures.profile import axis_of, length, profile, steps
from app.models.pictures.region_figures import Sampled
from app.models.pictures.scale_bar import scale_bar
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.probe_link import ProbeLink
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Facts, Input, Pixel

AXES = Axis("y", "px"), Axis("x", "px")
MICRONS = Facts(pixel=Pixel(0.5, 0.25, "µm"))


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


def sampled(image: np.ndarray[Any, Any], start: tuple[int, int] = (0, 0)) -> Sampled:
    return Sampled(INPUT, "in", image, start)


def test_along_a_row_the_values_are_those_of_its_pixels() -> None:
    image = picture()
    found = profile(sampled(image), Line(0.5, 7.5, 31.5, 7.5))
    assert found.shape == (32, 1) and np.array_equal(found[:, 0], image[7])
    assert np.array_equal(profile(sampled(image), Line(3.5, 31.5, 3.5, 0.5))[:, 0], image[::-1, 3])


def test_between_pixels_a_plane_is_met_exactly() -> None:
    y, x = np.mgrid[:20, :30].astype(np.float64)
    line = Line(1.2, 2.7, 27.9, 18.1)
    found = profile(sampled(3 * (x + 0.5) - 2 * (y + 0.5)), line)[:, 0]
    share = np.linspace(0, 1, steps(line))
    wanted = 3 * (line.x0 + share * (line.x1 - line.x0)) - 2 * (line.y0 + share * (line.y1 - line.y0))
    assert found == pytest.approx(wanted)


def test_beyond_a_part_there_is_nothing() -> None:
    found = profile(sampled(np.ones((4, 4), np.uint8), (10, 10)), Line(8.5, 11.5, 15.5, 11.5))[:, 0]
    assert np.isnan(found).tolist() == [True, True, False, False, False, False, True, True]


def test_a_missing_pixel_spoils_only_its_own_neighbourhood() -> None:
    image = np.ones((5, 9), np.float32)
    image[2, 4] = np.nan
    along = profile(sampled(image), Line(0.5, 2.5, 8.5, 2.5))[:, 0]
    assert np.flatnonzero(np.isnan(along)).tolist() == [4]
    assert not np.isnan(profile(sampled(image), Line(0.5, 1.5, 8.5, 1.5))).any()


def test_colours_have_a_column_each_and_lengths_a_unit() -> None:
    colours = np.stack([picture(), picture() // 2, picture() // 4], axis=2)
    line = Line(0.5, 0.5, 30.5, 0.5)
    assert profile(sampled(colours), line).shape == (31, 3)
    assert length(line, None) == (30.0, "px") and length(line, MICRONS.pixel) == (7.5, "µm")
    axis = axis_of(line, MICRONS.pixel)
    assert (axis.unit, axis.at(30)) == ("µm", pytest.approx(7.5))
    assert length(Line(0, 0, 0, 3), MICRONS.pixel) == (1.5, "µm")


@pytest.mark.parametrize(
    ("pixel", "unit", "scale", "wanted"),
    [
        (0.5, "µm", 1.0, (50.0, "µm", 100.0)),
        (0.5, "µm", 0.01, (500.0, "nm", 100.0)),
        (1.0, "µm", 20.0, (2.0, "mm", 100.0)),
        (0.3, "mm", 1.0, (20.0, "mm", 66.667)),
        (1.0, "um", 1.0, (100.0, "µm", 100.0)),
        (7.0, "arcsec", 1.0, (500.0, "arcsec", 71.429)),
        (0.0025, "arcsec", 1.0, (0.2, "arcsec", 80.0)),
    ],
)
def test_a_scale_bar_has_a_round_length(
    pixel: float, unit: str, scale: float, wanted: tuple[float, str, float]
) -> None:
    bar = scale_bar(pixel, unit, scale, 100.0)
    assert bar is not None
    assert (bar.length, bar.unit, bar.width) == (wanted[0], wanted[1], pytest.approx(wanted[2], abs=1e-3))


@pytest.mark.parametrize("pixel", [0.0, -1.0, float("nan"), float("inf")])
def test_no_scale_bar_without_a_size(pixel: float) -> None:
    assert scale_bar(pixel, "µm", 1.0, 100.0) is None


# In the window


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    window = make(qtbot, FakeEngine())
    show(window, picture(), MICRONS)
    return window


def show(window: MainWindow, image: np.ndarray[Any, Any], facts: Facts) -> None:
    controller: Any = window.controller
    axes = "yx" if image.ndim == 2 else "yxc"
    controller._engine.show(Input("image", image, axes, "waves", {"generator": "waves"}, facts=facts))
    controller.session.set_filter("mean2d")
    controller.session.set_picks(("serial",))
    bring(window, "serial", {"image": Made("image", (image // 2).astype(image.dtype), AXES)})
    pause()


def canvas_of(window: MainWindow, key: str = INPUT) -> ImageCanvas:
    return window.panes.pane(key).canvas


def drag(canvas: ImageCanvas, begin: tuple[float, float], end: tuple[float, float]) -> None:
    points = [canvas.screen_at(*place).toPoint() for place in (begin, end)]
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=points[0])
    for point in (points[0] + (points[1] - points[0]) / 2, points[1]):
        QTest.mouseMove(canvas, point)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=points[1])
    pause()


def test_a_line_shows_the_values_of_input_and_results_in_their_colours(window: MainWindow) -> None:
    bar, probe = window.probing.bar, window.probing.probe
    act(window, "profile")
    drag(canvas_of(window), (2, 5), (28, 20))
    line = probe.line
    assert line is not None and line == pytest.approx((2, 5, 28, 20), abs=0.2)
    plot = bar.plot
    assert plot is not None and plot.isVisible()
    curves = [curve for curve in plot.pane.curves if curve.visible]
    filter = window.controller.session.filter
    assert [curve.stroke for curve in curves] == [input_stroke(), variant_stroke(filter, "serial")]
    wanted = profile(sampled(picture()), line)[:, 0]
    assert curves[0].pyramid is not None and np.array_equal(curves[0].pyramid.array, wanted)
    assert plot.pane.axis() == ("distance", "µm")
    assert plot.pane.view_range()[1] == pytest.approx(length(line, MICRONS.pixel)[0])
    bar.copy_csv.click()
    rows = list(csv.reader(io.StringIO(QApplication.clipboard().text())))
    assert rows[0] == ["distance [µm]", "waves", filter.variant("serial").title]
    assert len(rows) == steps(line) + 1 and float(rows[-1][1]) == wanted[-1]


def test_ends_and_the_whole_line_can_be_moved(window: MainWindow) -> None:
    probe, canvas = window.probing.probe, canvas_of(window, "serial")
    act(window, "profile")
    pause()
    probe.set_line(Line(5.0, 5.0, 25.0, 5.0))
    drag(canvas, (25, 5), (25, 15))
    assert probe.line == pytest.approx((5, 5, 25, 15), abs=0.2)
    drag(canvas, (15, 10), (17, 12))
    assert probe.line == pytest.approx((7, 7, 27, 17), abs=0.3)
    before = probe.line
    assert before is not None
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    QTest.keyClick(canvas, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    x0, y0, x1, y1 = before
    assert probe.line == pytest.approx((x0 - 1, y0, x1 - 1, y1 - 1))
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert probe.line is None and probe.tool == "profile"


def test_the_profile_follows_results_and_inputs(window: MainWindow) -> None:
    bar, probe = window.probing.bar, window.probing.probe
    act(window, "profile")
    probe.set_line(Line(0.5, 3.5, 31.5, 3.5))
    pause()
    bring(window, "serial", {"image": Made("image", picture() // 4, AXES)})
    pause()
    assert bar.plot is not None and np.array_equal(bar.plot.values[:, 1], picture()[3] // 4)
    show(window, picture()[::-1].copy(), Facts())
    assert np.array_equal(bar.plot.values[:, 0], picture()[::-1][3])
    assert bar.plot.pane.axis() == ("distance", "px")
    window.controller.session.set_picks(())
    pause()
    assert bar.plot.names == ["waves"]
    show(window, picture()[:9, :9].copy(), Facts())
    assert probe.line is None and bar.pages.currentWidget() is bar.hint
    assert not bar.copy_csv.isEnabled()


def test_the_cursor_of_the_profile_is_marked_on_the_line(window: MainWindow) -> None:
    bar, probe = window.probing.bar, window.probing.probe
    act(window, "profile")
    probe.set_line(Line(0.5, 0.5, 30.5, 15.5))
    pause()
    assert bar.plot is not None and probe.line is not None and probe.mark is None
    bar.plot.pane.set_cursor(bar.plot.axis.at((steps(probe.line) - 1) / 2))
    assert probe.mark is not None and probe.mark == pytest.approx((15.5, 8.0), abs=0.6)
    bar.plot.pane.set_cursor(None)
    assert probe.mark is None
    bar.plot.pane.set_cursor(bar.plot.axis.at(3))
    probe.set_line(Line(0.5, 9.5, 30.5, 15.5))
    pause()
    assert probe.mark is None  # it belonged to the line before


def test_region_and_profile_take_turns(window: MainWindow) -> None:
    bar, probe = window.probing.bar, window.probing.probe
    act(window, "region")
    pause()
    drag(canvas_of(window), (4.4, 4.4), (12.6, 12.6))
    act(window, "profile")
    drag(canvas_of(window), (5, 20), (25, 25))
    assert probe.region is not None and probe.line is not None and bar.pages.currentWidget() is bar.plot
    bar.choices["region"].click()
    pause()
    assert bar.pages.currentWidget() is bar.table and probe.tool == "region"
    assert window.actions_by_id["region"].isChecked() and not window.actions_by_id["profile"].isChecked()
    bar.close_button.click()
    pause()
    assert bar.isHidden() and not probe.any and not probe.tool
    assert not window.actions_by_id["remove_region"].isEnabled()


def bar_pixels(canvas: ImageCanvas) -> int:
    """White pixels at the lower right, where the scale bar is."""
    shot = pixels.rgb(canvas.grab().toImage())
    return int((shot[-40:, shot.shape[1] * 2 // 3 :] == 255).all(axis=-1).sum())


def test_the_scale_bar_is_there_with_a_pixel_size_only(window: MainWindow) -> None:
    dark = np.zeros((32, 32), np.uint8)
    dark[0, 0] = 255
    show(window, dark, Facts())
    assert bar_pixels(canvas_of(window)) == 0 and not window.actions_by_id["scale_bar"].isEnabled()
    show(window, dark, MICRONS)
    assert bar_pixels(canvas_of(window)) > 50 and bar_pixels(canvas_of(window, "serial")) > 50
    act(window, "scale_bar")
    assert bar_pixels(canvas_of(window)) == 0 and not window.actions_by_id["scale_bar"].isChecked()
    act(window, "scale_bar")
    act(window, "compare_swipe")
    pause()
    assert bar_pixels(window.panes.compare) > 50


def test_pictures_of_one_scale_have_one_bar(window: MainWindow) -> None:
    show(window, np.zeros((32, 32), np.uint8), MICRONS)
    link = window.findChild(ProbeLink)
    canvases = [canvas_of(window), canvas_of(window, "serial")]
    canvases[0].setFixedWidth(canvases[1].width() - 7)
    pause()
    assert canvases[0].width() < canvases[1].width()
    assert {link.narrowest(canvas) for canvas in canvases} == {canvases[0].width()}


def test_the_scale_bar_is_part_of_an_exported_view(window: MainWindow, tmp_path: Any) -> None:
    from PySide6.QtGui import QImage

    from app.views.picture_file import export_sheet

    files = [tmp_path / name for name in ("with.png", "without.png")]
    export_sheet(window.panes.sheet, files[0], "view")
    act(window, "scale_bar")
    export_sheet(window.panes.sheet, files[1], "view")
    assert QImage(str(files[0])) != QImage(str(files[1]))


def test_the_read_out_has_lengths(window: MainWindow) -> None:
    window.display.set_cursor(4.5, 8.5)
    value = picture()[8, 4]
    assert window.panes.pane(INPUT).status.text() == f"x 4, y 8 (1.125 µm, 4.25 µm): {value}"
    act(window, "compare_swipe")
    window.display.set_cursor(4.6, 8.5)
    assert "(1.125 µm, 4.25 µm)" in window.panes.values.text()
    show(window, picture(), Facts())
    act(window, "compare_side_by_side")
    window.display.set_cursor(4.5, 8.5)
    assert window.panes.pane(INPUT).status.text() == f"x 4, y 8: {value}"
