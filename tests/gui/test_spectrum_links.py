"""Spectra and what is linked to them: the wave in the neighbouring picture, a mask's handles, peaks, and the filtered
image."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from made_results import RATE, SIDE, Made, bring, picture, wave
from PySide6.QtCore import QEvent, QLocale, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.pictures.handles import dragged, handles, nudged
from app.models.pictures.wave import Wave, in_place, wave_at
from app.views.pictures.handle_paint import screen_of
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import sketch_of
from app.views.pictures.spectrum_paint import CREST, wave_text
from app.views.pictures.spectrum_view import SpectrumView
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import find_filter
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

AROUND = tuple(Axis(name, "cycles/px", 0, 1 / SIDE, (), 1.0) for name in ("fy", "fx"))
NO_KEYS = Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    return make(qtbot, FakeEngine())


def open_image(window: MainWindow, array: np.ndarray[Any, Any]) -> None:
    engine: Any = window.controller._engine
    engine.show(Input("image", array, "yx", "waves", {"generator": "waves"}))


def choose(window: MainWindow, filter: str, picks: tuple[str, ...], **params: Any) -> None:
    session = window.controller.session
    session.set_filter(filter)
    session.set_picks(picks)
    session.set_params({**session.params, **params})


def spectrum_shown(window: MainWindow) -> SpectrumView:
    """The spectrum of the picture of waves, four pixels long."""
    open_image(window, picture())
    choose(window, "fft2d", ("numpy", "scipy"))
    for variant in ("numpy", "scipy"):
        made = Made("spectrum", np.fft.fft2(picture()).astype(np.complex64), AROUND)
        bring(window, variant, {"spectrum": made})
    view = window.stack.view
    assert isinstance(view, SpectrumView)
    return view


def canvas_beside(window: MainWindow) -> ImageCanvas:
    grid = window.stack.view_with(INPUT).grid
    assert grid is not None
    return grid.panes[INPUT].canvas


def orange(canvas: ImageCanvas) -> np.ndarray[Any, Any]:
    """How much more red than blue each column has, in the middle rows of a picture."""
    image, middle = canvas.grab().toImage(), canvas.height() // 2
    rows = range(middle - 3, middle + 4)
    return np.array([np.mean([_warmth(image, x, y) for y in rows]) for x in range(image.width())])


def _warmth(image: Any, x: int, y: int) -> int:
    colour = image.pixelColor(x, y)
    return int(colour.red() - colour.blue())


# Waves


@pytest.mark.parametrize(
    "fy, fx, length, direction",
    [(0.0, 0.25, 4.0, 0.0), (-0.1, 0.1, 7.0711, 45.0), (0.1, 0.1, 7.0711, 135.0), (0.5, 0.0, 2.0, 90.0)],
)
def test_a_wave_has_a_length_and_a_direction(fy: float, fx: float, length: float, direction: float) -> None:
    for one in (Wave(fy, fx), Wave(-fy, -fx)):
        assert one.length == pytest.approx(length, rel=1e-4) and one.direction == pytest.approx(direction)
    assert wave_text(Wave(0.0, 0.0)) == "zero frequency: the mean of all pixels"
    (x, y), (further_x, further_y) = Wave(fy, fx, 0.3).crest(), Wave(fy, fx, 0.3).next_crest()
    for at_x, at_y, cycles in ((x, y, 0), (further_x, further_y, 1)):
        assert fx * (at_x - 0.5) + fy * (at_y - 0.5) + 0.3 == pytest.approx(cycles)


def test_a_wave_lies_where_the_picture_has_it() -> None:
    y, x = np.mgrid[:SIDE, :SIDE]
    array = np.cos(2 * np.pi * (x - 3) / 8)
    found = in_place(wave_at(AROUND, 0, SIDE // 8), np.fft.fft2(array), AROUND, ())
    assert found.fx == 1 / 8 and (found.crest()[0] - 3.5) % 8 == pytest.approx(0, abs=1e-9)
    part = in_place(wave_at(AROUND, 0, SIDE // 8), np.fft.fft2(array), AROUND, (0, 5))
    assert (part.crest()[0] - 8.5) % 8 == pytest.approx(0, abs=1e-9), "a part begins at a column of the whole"
    assert wave_at(AROUND, 0, SIDE - 4) == Wave(0.0, -1 / 8), "the second half of a period is below zero"


def test_the_point_under_the_cursor_is_a_wave_in_the_picture_beside(window: MainWindow) -> None:
    view, beside = spectrum_shown(window), canvas_beside(window)
    canvas = view.canvases()[0]
    QApplication.processEvents()
    before = orange(beside)
    spot = screen_of(canvas, 0.0, 1 / 16)
    assert spot is not None
    QTest.mouseMove(canvas, QPoint(2, 2))
    QTest.mouseMove(canvas, spot.toPoint())
    assert window.links.waves.wave is not None and window.links.waves.wave.fx == pytest.approx(1 / 16)
    assert wave_text(window.links.waves.wave) == "wavelength 16 px, direction 0°"
    beside.display.zoom_at(1.0, *beside.display.centre)
    stripes = orange(beside)
    assert np.abs(stripes - before).max() > 30, "stripes lie over the picture"
    turns = np.diff(np.sign(stripes - stripes.mean())) != 0
    assert turns.sum() >= 3, "across it, there are several"
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert window.links.waves.wave is None
    assert orange(beside) == pytest.approx(before)
    assert CREST.red() > CREST.blue()


def test_keys_move_the_wave_and_fine_ones_ask_for_a_zoom(qtbot: Any, window: MainWindow) -> None:
    view = spectrum_shown(window)
    view.display.set_cursor(16.5, 16.5)
    assert window.links.waves.wave == Wave(0.0, 0.0, 0.0)
    qtbot.keyClick(view.canvases()[1], Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    found = window.links.waves.wave
    assert found is not None and (found.fy, found.fx) == (0.0, 1 / SIDE)
    assert "zoom in" in wave_text(Wave(0.0, 0.5), drawn=False)


def test_the_wave_goes_with_its_spectrum(window: MainWindow) -> None:
    view, beside = spectrum_shown(window), canvas_beside(window)
    view.display.set_cursor(18.5, 16.5)
    assert "wave" in sketch_of(beside).drawings
    open_image(window, picture()[:, ::-1].copy())
    assert window.links.waves.wave is None and "wave" not in sketch_of(canvas_beside(window)).drawings
    view = spectrum_shown(window)
    view.display.set_cursor(18.5, 16.5)
    window.controller.session.set_filter("mean2d")
    assert window.links.waves.wave is None and "wave" not in sketch_of(beside).drawings


def test_a_stale_spectrum_says_nothing_of_the_phase(window: MainWindow) -> None:
    view, session = spectrum_shown(window), window.controller.session
    view.display.set_cursor(24.5, 16.5)
    found = window.links.waves.wave
    assert found is not None and abs(found.turn) < 0.01, "a cosine begins on a crest"
    session.set_params({**session.params, "window": "Hann"})
    view.display.set_cursor(25.5, 17.5)
    assert window.links.waves.wave is not None and window.links.waves.wave.turn == 0.0


def test_frequencies_stand_at_the_edges(window: MainWindow) -> None:
    view = spectrum_shown(window)
    canvas = view.canvases()[0]
    assert list(sketch_of(canvas).drawings) == ["frequencies"]
    with_numbers = canvas.grab().toImage()
    sketch_of(canvas).draw("frequencies", None)
    assert canvas.grab().toImage() != with_numbers
    view.display.set_cursor(24.5, 16.5)
    assert view.value_text("numpy").startswith("fx 0.25, fy 0 cycles/px: ")


def test_phases_of_an_image_have_a_view_and_levels_of_their_own(window: MainWindow) -> None:
    open_image(window, picture())
    choose(window, "fft2d", ("numpy",), result="phase")
    angles = np.angle(np.fft.fft2(picture())).astype(np.float32)
    bring(window, "numpy", {"phase": Made("image", angles, AROUND, "rad")})
    view = window.stack.view
    assert isinstance(view, SpectrumView) and view.display is not window.display
    assert view.display.high < 4 < window.display.high
    layer = view.grid.pane("numpy").layer
    assert layer.pyramid is not None and layer.pyramid.array[16, 16] == angles[0, 0], "zero is in the middle"


def test_levels_are_drawn_as_they_are(window: MainWindow) -> None:
    """They are in dB already: nobody takes their logarithm again, and the cursor reads dB."""
    open_image(window, picture())
    choose(window, "fft2d", ("numpy",), result="level")
    levels = 20 * np.log10(np.maximum(np.abs(np.fft.fft2(picture())) / picture().size, 1e-2))
    bring(window, "numpy", {"level": Made("spectrum", levels.astype(np.float32), AROUND, "dB")})
    view = window.stack.view
    assert isinstance(view, SpectrumView) and view.display is not window.display
    assert window.stack.scale().id == "plain" and view.display.low == -40
    assert view.display.high == pytest.approx(levels.max(), rel=1e-6)
    layer = view.grid.pane("numpy").layer
    assert layer.pyramid is not None and layer.pyramid.array[16, 16] == np.float32(levels[0, 0])
    view.display.set_cursor(3.5, 5.5)
    assert view.value_text("numpy").endswith("cycles/px: −40 dB")


# Masks


def test_a_mask_has_the_handles_of_its_shape() -> None:
    filter = find_filter("fft_mask")
    params = {p.name: p.default for p in filter.params}
    names = {
        shape: [handle.names for handle in handles(filter, {**params, "shape": shape}, "spectrum")]
        for shape in ("low", "high", "band", "notch")
    }
    assert names == {
        "low": [("high",)],
        "high": [("low",)],
        "band": [("low",), ("high",)],
        "notch": [("radius",), ("fy", "fx")],
    }
    assert handles(filter, params, "image") == (), "over the output that the parameters name"
    assert handles(find_filter("mean2d"), {"window": 3, "border": "zero"}, "image") == ()


def test_handles_stop_at_their_limits() -> None:
    filter = find_filter("fft_mask")
    params = {p.name: p.default for p in filter.params} | {"shape": "band"}
    inner, outer = handles(filter, params, "spectrum")
    assert dragged(filter, params, inner, 0.0, 0.6)["low"] < params["high"]
    assert dragged(filter, params, outer, 0.0, 0.0)["high"] > params["low"]
    assert dragged(filter, params, outer, 0.6, 0.6)["high"] == 0.7071
    assert dragged(filter, params, inner, 0.03, 0.04)["low"] == 0.05
    params["shape"] = "notch"
    point = handles(filter, params, "spectrum")[1]
    assert dragged(filter, params, point, 0.7, -0.2) == {**params, "fy": 0.5, "fx": -0.2}
    assert nudged(filter, params, point, 2, 4) == {**params, "fy": -0.02, "fx": 0.11}
    assert nudged(filter, params, point, -1, 0, leap=True) == {**params, "fx": 0.05}
    for values in (dragged(filter, params, point, 0.7, -0.2), nudged(filter, params, inner, 1, 0, leap=True)):
        for param in filter.params:
            assert param.check(values[param.name]) == values[param.name]


def mask_shown(window: MainWindow, **params: Any) -> tuple[SpectrumView, ImageCanvas]:
    """The masked spectrum, and the image that is left, of one variant."""
    open_image(window, picture())
    choose(window, "fft_mask", ("scipy",), **params)
    bring_mask(window)
    window.controller.session.set_output("spectrum")
    view = window.stack.view
    assert isinstance(view, SpectrumView)
    return view, view.canvases()[0]


def bring_mask(window: MainWindow) -> None:
    size = np.abs(np.fft.fft2(picture())).astype(np.float32)
    image = Made("image", picture() // 2, (Axis("y", "px"), Axis("x", "px")))
    bring(window, "scipy", {"image": image, "spectrum": Made("spectrum", size, AROUND)})


def at(canvas: ImageCanvas, fy: float, fx: float) -> QPoint:
    found = screen_of(canvas, fy, fx)
    assert found is not None
    return found.toPoint()


def drag(canvas: ImageCanvas, start: QPoint, stop: QPoint, release: bool = True) -> None:
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, NO_KEYS, start)
    QTest.mouseMove(canvas, (start + stop) / 2)
    QTest.mouseMove(canvas, stop)
    if release:
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, NO_KEYS, stop)


def test_a_ring_is_dragged_and_the_parameter_follows_live(qtbot: Any, window: MainWindow) -> None:
    view, canvas = mask_shown(window, shape="low")
    session, link = window.controller.session, window.links.handles
    centre = view.display.centre
    drag(canvas, at(canvas, 0.0, 0.2), at(canvas, -0.35, 0.0), release=False)
    assert link.params["high"] == pytest.approx(0.35, abs=0.02), "the ring is at the pointer at once"
    assert session.params["high"] == 0.2
    qtbot.waitUntil(lambda: session.params["high"] == link.params["high"])
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, NO_KEYS, at(canvas, -0.3, 0.0))
    assert session.params["high"] == pytest.approx(0.3, abs=0.02) and view.display.centre == centre
    assert window.panel.form is not None
    assert window.panel.form.values()["high"] == session.params["high"]
    window.actions_by_id["undo"].trigger()
    assert session.params["high"] == link.params["high"] == 0.2, "a drag is one step of undo"
    drag(canvas, at(canvas, 0.0, 0.0), at(canvas, 0.1, 0.1))
    assert view.display.centre != centre, "off the ring, a drag moves the picture"


def test_a_notch_is_dragged_by_itself_or_its_mirror_image(window: MainWindow) -> None:
    _, canvas = mask_shown(window, shape="notch", radius=0.15, fy=0.1, fx=0.25)
    session = window.controller.session
    drag(canvas, at(canvas, 0.1, 0.25), at(canvas, 0.2, 0.1))
    assert (session.params["fy"], session.params["fx"]) == pytest.approx((0.2, 0.1), abs=0.02)
    drag(canvas, at(canvas, -session.params["fy"], -session.params["fx"]), at(canvas, 0.1, -0.3))
    assert (session.params["fy"], session.params["fx"]) == pytest.approx((-0.1, 0.3), abs=0.02)
    drag(canvas, at(canvas, -0.1 - 0.15, 0.3), at(canvas, -0.1 - 0.3, 0.3))
    assert session.params["radius"] == pytest.approx(0.3, abs=0.03)


def test_keys_choose_and_move_a_handle(qtbot: Any, window: MainWindow) -> None:
    _, canvas = mask_shown(window, shape="band")
    session, link = window.controller.session, window.links.handles
    alt, shift = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
    assert link.handles[link.chosen].names == ("low",)
    qtbot.keyClick(canvas, Qt.Key.Key_Right, alt)
    qtbot.waitUntil(lambda: session.params["low"] == pytest.approx(0.055))
    qtbot.keyClick(canvas, Qt.Key.Key_H)
    qtbot.keyClick(canvas, Qt.Key.Key_Down, alt | shift)
    qtbot.waitUntil(lambda: session.params["high"] == pytest.approx(0.15))
    window.actions_by_id["undo"].trigger()
    assert session.params["high"] == 0.2 and link.params["high"] == 0.2, "the handles follow the session"


def test_handles_are_only_over_spectra_of_a_mask(window: MainWindow) -> None:
    _, canvas = mask_shown(window, shape="low")
    assert "handles" in sketch_of(canvas).drawings
    window.controller.session.set_output("image")
    assert "handles" not in sketch_of(canvas).drawings
    view = spectrum_shown(window)
    assert all("handles" not in sketch_of(one).drawings for one in view.canvases())
    centre = view.display.centre
    drag(view.canvases()[0], at(view.canvases()[0], 0.0, 0.2), at(view.canvases()[0], 0.0, 0.1))
    assert view.display.centre != centre


def test_the_image_stands_beside_its_spectrum_with_its_verdict(window: MainWindow) -> None:
    mask_shown(window, shape="low")
    session, grid = window.controller.session, window.stack.view_with(INPUT).grid
    assert grid is not None and grid.keys == [INPUT, "scipy"] and window.links.companion.key == "scipy"
    layer = grid.pane("scipy").layer
    assert layer.pyramid is not None and np.array_equal(layer.pyramid.array, picture() // 2)
    assert layer.state == "fresh" and layer.current
    kept = layer.pyramid
    bring(window, "scipy", {}, ok=True)
    assert layer.pyramid is kept, "a verdict alone draws nothing anew"
    session.set_params({**session.params, "high": 0.4})
    assert layer.state == "stale" and not layer.current
    open_image(window, picture().T.copy())
    assert grid.keys == [INPUT] and window.links.companion.key == ""
    bring_mask(window)
    assert grid.keys == [INPUT, "scipy"]
    session.set_output("image")
    session.set_output("spectrum")
    assert grid.keys == [INPUT, "scipy"] and grid.pane("scipy").layer.pyramid is not None
    session.set_picks(())
    assert grid.keys == [INPUT]


# Curves


def curve_shown(window: MainWindow, peaks: int = 1) -> Any:
    engine: Any = window.controller._engine
    engine.show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
    choose(window, "fft1d", ("numpy", "scipy"), result="magnitude")
    size = np.abs(np.fft.rfft(wave())) / 128
    table = np.zeros((16, 2))
    table[:peaks] = 12.5, 1.0
    columns = Axis("", labels=("frequency", "height"))
    for variant in ("numpy", "scipy"):
        bring(
            window,
            variant,
            {
                "magnitude": Made("spectrum", size, (Axis("frequency", "Hz", 0, RATE / 256),), image=False),
                "peaks": Made("table", table, (Axis("peak"), columns), image=False),
                "peak_count": Made("number", np.array(peaks, np.uint32), (), "peaks", image=False),
            },
        )
    return window.stack.view


def test_peaks_are_marked_on_the_curve(window: MainWindow) -> None:
    view = curve_shown(window)
    named = view.pane.plot.named()
    assert [text for _, _, text in named] == ["12.5 Hz"] and named[0][1] is not None
    assert view.pane.x_at(named[0][0]) == pytest.approx(12.5, abs=0.2)
    assert view.pane.plot.tags[0][1] == pytest.approx(20 * math.log10(1.0))
    window.stack.bar.scales.button("linear").click()
    assert view.pane.plot.tags[0][1] == 1.0
    view.pane.plane.zoom_at(4, 1, 40.0, 0)
    assert view.pane.plot.named() == [], "out of view"
    view.fit()
    assert view.pane.x_at(view.pane.plot.named()[0][0]) == pytest.approx(12.5, abs=0.2)


def test_peaks_belong_to_the_run_of_the_curve(window: MainWindow) -> None:
    view, session = curve_shown(window), window.controller.session
    session.set_params({**session.params, "window": "Hann"})
    assert view.pane.plot.tags == (), "stale peaks are not marked"
    curve_shown(window, peaks=0)
    assert view.pane.plot.tags == ()


def test_a_table_leaves_out_its_unused_rows(window: MainWindow) -> None:
    curve_shown(window, peaks=3)
    window.controller.session.set_output("peaks")
    area = window.stack.view.cells["numpy"].area  # type: ignore[attr-defined]
    assert area.model.rowCount() == 3 and area.table.isVisible()
    curve_shown(window, peaks=0)
    window.controller.session.set_output("peaks")
    assert area.model.rowCount() == 0 and area.none.text() == "Nothing was found" and area.none.isVisible()


def test_a_logarithmic_axis_of_frequencies(qtbot: Any, window: MainWindow) -> None:
    view = curve_shown(window)
    pane, step = view.pane, RATE / 256
    assert pane.view_range() == pytest.approx((0, 50))
    view.log.click()
    assert pane.view_range() == pytest.approx((step, 50)), "from the first frequency above zero"
    pane.set_cursor(12.6)
    assert pane.cursor_x == pytest.approx(12.5)
    assert view.value_text("numpy") == "frequency 12.5 Hz: 1 (0.00 dB)"
    x = pane.items[0].getData()[0]
    assert np.all(np.diff(x) >= 0) and x[0] == pytest.approx(math.log10(step))
    assert any(abs(10**place - 12.5) < 0.1 for place in x)
    assert view.pane.plot.named() and pane.x_at(view.pane.plot.named()[0][0]) == pytest.approx(12.5, rel=0.02)
    middle = math.sqrt(pane.view_range()[0] * pane.view_range()[1])
    qtbot.keyClick(pane.plot, Qt.Key.Key_Plus)
    low, high = pane.view_range()
    assert math.sqrt(low * high) == pytest.approx(middle, rel=1e-3) and high < 50
    qtbot.keyClick(pane.plot, Qt.Key.Key_Right)
    assert pane.view_range()[0] / low == pytest.approx(pane.view_range()[1] / high)
    pane.set_cursor(0.0)
    assert pane.cursor_x == pytest.approx(step)
    qtbot.keyClick(pane.plot, Qt.Key.Key_L)
    assert not view.log.isChecked() and pane.view_range() == pytest.approx((0, 50))


def test_units_without_prefixes_keep_their_numbers(window: MainWindow) -> None:
    open_image(window, picture())
    choose(window, "fft2d", ("numpy",), result="radial profile")
    radial = Made("spectrum", np.arange(1.0, 24.0), (Axis("radius", "cycles/px", 0, 1 / SIDE),))
    bring(window, "numpy", {"radial": radial})
    window.grab()
    bottom = window.stack.view.pane.plot.item.getAxis("bottom")  # type: ignore[attr-defined]
    assert bottom.autoSIPrefixScale == 1.0 and "radius (cycles/px)" in bottom.labelString()


def test_phases_of_a_signal_are_not_drawn_over_time(window: MainWindow) -> None:
    engine: Any = window.controller._engine
    engine.show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
    choose(window, "fft1d", ("numpy",), result="phase")
    angles = np.angle(np.fft.rfft(wave()))
    axis = Axis("frequency", "Hz", 0, RATE / 256)
    bring(window, "numpy", {"phase": Made("signal", angles, (axis,), "rad", image=False)})
    assert window.stack.view is not window.stack.view_with(INPUT)
    pane: Any = window.stack.view.pane  # type: ignore[attr-defined]
    assert pane.axis() == ("frequency", "Hz") and len([c for c in pane.curves if c.visible]) == 1
