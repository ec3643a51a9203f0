"""One image pane, driven by mouse, wheel and keys; what is checked are models and the painted QImages."""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lanes import few
from PySide6.QtCore import QObject, QPoint, QPointF, Qt, QThreadPool
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.models.pictures import layer as layer_module
from app.models.pictures.display import Display
from app.models.pictures.layer import STATES, Tone
from app.models.pictures.nonfinite import NAN_COLOR
from app.models.pictures.pyramid import Pyramid
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.image_pane import ImagePane

LONG = "Shared memory tile with four rows per thread and vector loads of sixteen bytes"


def figures(low: float, high: float, nan: int = 0) -> SimpleNamespace:
    inner = {0.1: low, 50: (low + high) / 2, 99.9: high}
    return SimpleNamespace(minimum=low, maximum=high, percentiles=inner, histogram=(1,) * 256, nan=nan, infinite=0)


def shown(qtbot: QtBot, array: np.ndarray[Any, Any], size: tuple[int, int] = (300, 260), **more: Any) -> ImagePane:
    pane = ImagePane(more.pop("display", None) or Display())
    pane.display.setParent(pane.display.parent() or pane)
    qtbot.addWidget(pane)
    pane.resize(*size)
    pane.set_array(array, more.pop("statistics", None), "image")
    pane.show()
    qtbot.waitExposed(pane)
    pane.grab()
    return pane


def painted(pane: ImagePane) -> tuple[np.ndarray[Any, Any], int, int]:
    """Bytes handed to the painter (h, w[, 4]) and their place."""
    pane.canvas.grab()
    drawn = pane.canvas.images[0]
    assert drawn is not None
    image, x, y = drawn
    channels = 1 if image.format() == QImage.Format.Format_Grayscale8 else 4
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    cut = rows[:, : image.width() * channels]
    return (cut if channels == 1 else cut.reshape(image.height(), image.width(), 4)).copy(), x, y


def wheel(pane: ImagePane, at: QPointF, notches: int) -> None:
    canvas = pane.canvas
    place = canvas.mapToGlobal(at)
    event = QWheelEvent(
        at,
        place,
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def test_all_of_the_image_fits(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.arange(64 * 64, dtype=np.uint16).reshape(64, 64), statistics=figures(0, 4095))
    pixels, x, y = painted(pane)
    side = min(pane.canvas.width(), pane.canvas.height())
    assert abs(pixels.shape[0] - side) <= 1 and abs(pixels.shape[0] - pixels.shape[1]) <= 1
    assert pixels[0, 0] == 0 and pixels[-1, -1] == 255
    assert len(np.unique(pixels[:, 0])) == 64  # every row, none smeared
    assert x >= 0 and y >= 0


@pytest.mark.parametrize("shape", [(1, 1), (20000, 3), (3, 20000), (7, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_any_shape(qtbot: QtBot, shape: tuple[int, int], dtype: str) -> None:
    pane = shown(qtbot, np.full(shape, 9, dtype), statistics=figures(0, 18))
    pixels, _, _ = painted(pane)
    assert np.isin(pixels, (127, 128)).all() and pixels.size


def test_colour_and_alpha(qtbot: QtBot) -> None:
    array = np.zeros((4, 4, 4), np.uint8)
    array[..., 0], array[..., 3] = 200, [0, 85, 170, 255]
    pane = shown(qtbot, array)
    pixels, _, _ = painted(pane)
    assert np.unique(pixels[..., 3]).tolist() == [0, 85, 170, 255]
    drawn = pane.canvas.images[0]
    assert drawn is not None and drawn[0].hasAlphaChannel()
    pane.set_array(array[..., :3], None, "RGB")
    pixels, _, _ = painted(pane)
    assert (pixels == (200, 0, 0, 255)).all()


def test_nan_is_magenta_and_said(qtbot: QtBot) -> None:
    array = np.zeros((10, 10), np.float32)
    array[:5] = np.nan
    pane = shown(qtbot, array, statistics=figures(0, 0, nan=50))
    pixels, _, _ = painted(pane)
    assert (pixels[0, 0] == (*NAN_COLOR, 255)).all()
    assert pixels[-1, -1, 0] in (127, 128)  # a constant is middle gray
    pane.display.set_cursor(1, 1)
    assert "NaN" in pane.status.text()


def test_all_nan(qtbot: QtBot) -> None:
    pixels, _, _ = painted(shown(qtbot, np.full((50, 50), np.nan), statistics=figures(0, 0, nan=2500)))
    assert (pixels == (*NAN_COLOR, 255)).all()


def test_wheel_zooms_at_the_cursor(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((100, 100), np.uint8))
    at, display, canvas = QPointF(100, 60), pane.display, pane.canvas
    before, scale = canvas.data_at(at), display.scale
    wheel(pane, at, 2)
    assert display.scale == pytest.approx(scale / 1.25**2)
    half = (scale + display.scale) / 2  # the picture lies on whole pixels
    assert canvas.data_at(at) == pytest.approx(before, abs=half)
    for notches in (1, -2, 3, -5, 4, -3):
        wheel(pane, at, notches)
    assert display.scale == pytest.approx(scale)
    assert display.centre == pytest.approx((50, 50))  # there and back: it did not wander off


def test_drag_pans_and_a_key_fits(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((100, 100), np.uint8))
    canvas, display = pane.canvas, pane.display
    fitted = display.centre, display.scale
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    qtbot.mouseMove(canvas, QPoint(70, 60))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(70, 60))
    assert display.centre == pytest.approx((50 - 20 * display.scale, 50 - 10 * display.scale))
    qtbot.mouseMove(canvas, QPoint(90, 90))
    assert display.centre == pytest.approx((50 - 20 * display.scale, 50 - 10 * display.scale))
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert (display.centre, display.scale) == fitted


def test_keys(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((100, 100), np.uint8))
    canvas, display = pane.canvas, pane.display
    fitted = display.scale
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert display.scale == pytest.approx(fitted / 1.25)
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    qtbot.keyClick(canvas, Qt.Key.Key_1)
    assert display.scale == 1
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert display.centre == pytest.approx((50 + 0.1 * canvas.width(), 50))
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert display.scale == fitted and display.centre == (50, 50)
    qtbot.keyClick(canvas, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert display.cursor == (50.5, 51.5)


def test_every_linked_pane_shows_its_own_value(qtbot: QtBot) -> None:
    display = Display()
    first = shown(qtbot, np.full((50, 50), 3, np.uint8), display=display)
    second = shown(qtbot, np.full((50, 50), 4, np.uint8), display=display)
    qtbot.mouseMove(first.canvas, first.canvas.screen_at(10.5, 20.5).toPoint())
    assert first.status.text() == "x 10, y 20: 3" and second.status.text() == "x 10, y 20: 4"
    display.clear_cursor()
    assert "50 × 50" in first.status.text()


def test_the_value_under_the_mouse_is_the_one_painted(qtbot: QtBot) -> None:
    array = np.random.default_rng(2).integers(0, 256, (90, 110), np.uint8)
    pane = shown(qtbot, array, (301, 263))
    canvas, rng = pane.canvas, np.random.default_rng(7)
    for scale in (1.0, 0.61, 0.25, 0.137, 0.05):
        pane.display.fit(110, 90, 110 / scale, 90 / scale)
        for _ in range(12):
            pane.display.pan(*rng.uniform(-15, 15, 2))
            pixels, left, top = painted(pane)
            for _ in range(5):
                x = int(rng.integers(left, left + pixels.shape[1]))
                y = int(rng.integers(top, top + pixels.shape[0]))
                qtbot.mouseMove(canvas, QPoint(x, y))
                assert pane.display.cursor is not None
                value = pane.layer.value(*pane.display.cursor)
                assert value is not None and value[0] == pixels[y - top, x - left]
                place = canvas.screen_at(*canvas.data_at(QPointF(x, y)))
                assert (place.x(), place.y()) == pytest.approx((x, y), abs=1e-6)


def test_panes_of_different_widths_show_the_same_pixels(qtbot: QtBot) -> None:
    display, array = Display(), np.random.default_rng(2).standard_normal((700, 900))
    one = shown(qtbot, array, (300, 260), display=display)
    other = shown(qtbot, array, (393, 317), display=display)
    display.zoom_at(1.7, 431, 333)
    display.pan(3.3, -7.1)
    (small, _, _), (large, _, _) = painted(one), painted(other)
    corner = other.canvas.screen_at(*one.canvas.data_at(QPointF(0, 0)))
    x, y = round(corner.x()), round(corner.y())
    assert (corner.x(), corner.y()) == pytest.approx((x, y), abs=1e-6)
    assert np.array_equal(small, large[y : y + small.shape[0], x : x + small.shape[1]])


def test_linked_panes_do_not_drift(qtbot: QtBot) -> None:
    display = Display()
    first = shown(qtbot, np.zeros((300, 200), np.uint8), display=display)
    second = shown(qtbot, np.zeros((300, 200), np.uint8), (400, 200), display=display)
    kept = fitted = display.centre, display.scale
    for _ in range(2):
        for step in range(40):
            first.resize(200 + 7 * step, 500 - 5 * step)
            second.resize(500 - 3 * step, 200 + 3 * step)
            QApplication.processEvents()
            if not display.following:
                assert (display.centre, display.scale) == kept
        first.resize(300, 260)
        second.resize(400, 200)
        QApplication.processEvents()
        if display.following:
            assert (display.centre, display.scale) == fitted
        display.zoom_at(3, 120, 33)
        kept = display.centre, display.scale


def test_zoom_and_levels_survive_a_new_result(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((100, 100), np.float32), statistics=figures(0, 1))
    pane.display.zoom_at(3, 10, 10)
    kept = pane.display.centre, pane.display.scale
    pane.set_array(np.ones((100, 100), np.float32), figures(-5, 5), "next")
    assert (pane.display.centre, pane.display.scale) == kept
    assert (pane.display.low, pane.display.high) == (0, 1)
    assert (painted(pane)[0] == 255).all()
    pane.set_array(np.ones((50, 100), np.float32), figures(-5, 5), "another shape")
    assert (pane.display.low, pane.display.high) == (0, 1)  # those of the input, whatever a result is


def test_levels_and_colours_repaint(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.full((10, 10), 100, np.uint8))
    pane.display.set_levels(100, 200)
    assert (painted(pane)[0] == 0).all()
    pane.display.set_colormap("cividis")
    assert pane.display.lut is not None
    assert (painted(pane)[0][..., :3] == pane.display.lut[0]).all()
    pane.layer.set_tone(Tone(0, 100, None))
    assert (painted(pane)[0] == 255).all()


def test_large_images_are_built_elsewhere(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    build = Pyramid.build

    def events(self: Pyramid, *args: Any) -> bool:
        threads.append(threading.current_thread())
        return build(self, *args)

    monkeypatch.setattr(Pyramid, "build", events)
    array = np.arange(2200 * 2000, dtype=np.float32).reshape(2200, 2000)
    pane = shown(qtbot, array, statistics=figures(0, array.max()))
    assert painted(pane)[0].size
    with qtbot.waitSignal(pane.layer.changed):
        pass
    assert pane.layer.sharp and not pane.canvas.images  # it will be painted anew
    assert painted(pane)[0].size and threads and threading.main_thread() not in threads


def test_the_latest_wins(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_module, "LARGE", 1)
    gate, stops = threading.Event(), []
    build = Pyramid.build

    def held(self: Pyramid, stop: Any = lambda: False) -> bool:
        if self.array[0, 0] == 1:
            gate.wait(60)
            stops.append(stop())
        return build(self, stop)

    monkeypatch.setattr(Pyramid, "build", held)
    pane = shown(qtbot, np.full((100, 100), 1, np.uint8))
    qtbot.waitUntil(lambda: pane.layer._background.busy)
    pane.set_array(np.full((100, 100), 2, np.uint8), None, "newer")
    qtbot.waitUntil(lambda: pane.layer.sharp)
    changes = []
    pane.layer.changed.connect(lambda: changes.append(1))
    qtbot.waitUntil(lambda: not pane.layer._background.busy)
    gate.set()
    QThreadPool.globalInstance().waitForDone()
    before = len(changes)
    QApplication.processEvents()
    assert stops == [True] and len(changes) == before
    assert (painted(pane)[0] == 2).all()


def test_levels_wait_for_the_first_picture(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_module, "LARGE", 1)
    order: list[str] = []
    build, paint = Pyramid.build, ImageCanvas.paintEvent

    def built(self: Pyramid, stop: Any = lambda: False) -> bool:
        order.append("levels")
        return build(self, stop)

    def painted_now(self: ImageCanvas, event: Any) -> None:
        paint(self, event)
        order.append("picture" if self.images and self.images[0] is not None else "nothing")

    monkeypatch.setattr(Pyramid, "build", built)
    monkeypatch.setattr(ImageCanvas, "paintEvent", painted_now)
    pane = shown(qtbot, np.full((300, 300), 1, np.uint8))
    qtbot.waitUntil(lambda: pane.layer.sharp)
    order.clear()
    pane.set_array(np.full((300, 300), 2, np.uint8), None, "newer")
    qtbot.waitUntil(lambda: pane.layer.sharp)
    assert order.index("picture") < order.index("levels")


def test_a_pane_may_go_while_its_image_is_built(qtbot: QtBot) -> None:
    pane = ImagePane(Display())
    pane.set_array(np.zeros((3000, 3000), np.float32), None, "gone")
    pane.deleteLater()
    del pane
    QApplication.sendPostedEvents(None, 0)
    gc.collect()
    QThreadPool.globalInstance().waitForDone()
    QApplication.processEvents()


@pytest.mark.parametrize("state", STATES)
def test_states_are_words_and_symbols(qtbot: QtBot, state: Any) -> None:
    pane = shown(qtbot, np.zeros((5, 5), np.uint8))
    pane.layer.set_state(state, "0.31 ms")
    word = "right" if state == "fresh" else state
    assert pane.chip.isVisible() and "0.31 ms" in pane.chip.text and word in pane.chip.text
    assert not pane.chip.text[0].isalnum()
    pane.layer.set_state(None)
    assert not pane.chip.isVisible()


def test_long_names_are_elided_with_a_tooltip(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((5, 5), np.uint8))
    pane.layer.set_title(LONG)
    pane.layer.set_state("wrong", "largest error 12 at (3, 4)")
    pane.grab()
    assert pane.title.shown_text().endswith("…") and pane.title.toolTip() == LONG
    assert pane.chip.geometry().right() <= pane.width() and pane.title.geometry().right() < pane.chip.x()
    pane.resize(1600, 300)
    pane.grab()
    assert pane.title.shown_text() == LONG and not pane.title.toolTip()


def test_overlay_and_clear(qtbot: QtBot) -> None:
    pane = shown(qtbot, np.zeros((5, 5), np.uint8))
    pane.canvas.set_notes("shown: first\nand more")
    pane.grab()
    pane.clear()
    pane.grab()
    assert pane.layer.pyramid is None and pane.canvas.images == [None] and pane.status.text() == ""


@pytest.mark.parametrize("count", few((60, 300), 60))
def test_results_leave_no_objects_behind(qtbot: QtBot, count: int) -> None:
    pane = shown(qtbot, np.zeros((40, 40), np.uint8))

    def objects() -> list[QObject]:
        """All that are alive. A list keeps them, so that no new object has the id of one that has gone."""
        gc.collect()
        pane.findChildren(QWidget)
        QApplication.topLevelWidgets()
        return [o for o in gc.get_objects() if isinstance(o, QObject)]

    arrays = [np.full((40, 40), i, np.uint8) for i in range(2)]
    pane.set_array(arrays[0], None, "x")
    pane.grab()
    objects()  # looking makes Python objects too
    before, widgets = objects(), len(pane.findChildren(QWidget))
    known = {id(o) for o in before}
    for index in range(count):
        pane.set_array(arrays[index % 2], figures(0, 255), str(index))
        pane.layer.set_state(STATES[index % 5], str(index))
        pane.canvas.grab()
    # Of other tests' windows some may go meanwhile, when a thread that has them ends.
    assert [o for o in objects() if id(o) not in known] == [] and len(pane.findChildren(QWidget)) == widgets


def test_a_translucent_picture_lies_over_the_image_until_another_comes(qtbot: QtBot) -> None:
    gray = np.full((40, 60), 100, np.uint8)
    pane = shown(qtbot, gray)
    canvas = pane.canvas
    mask = np.zeros((40, 60, 4), np.uint8)
    mask[:, 30:] = 255, 0, 0, 128

    def colour(x: float, y: float) -> tuple[int, int, int]:
        place = canvas.screen_at(x, y).toPoint()
        found = canvas.grab().toImage().pixelColor(place)
        return found.red(), found.green(), found.blue()

    plain = colour(45, 30)
    canvas.set_overlay(mask, "the right half")
    assert canvas.meaning == "the right half" and colour(10, 30) == plain
    red, green, blue = colour(45, 30)
    assert red > plain[0] + 50 and green == blue < plain[1] - 30
    canvas.display.zoom_at(4, 30, 20)
    assert colour(29.5, 20) == plain and colour(30.5, 20) == (red, green, blue)
    canvas.set_overlay(QImage(canvas.overlay))  # a picture of Qt's as well
    assert colour(30.5, 20) == (red, green, blue) and canvas.meaning == ""
    pane.set_array(gray.copy(), None, "another")
    assert canvas.overlay is None and colour(30.5, 20) == plain


@pytest.mark.parametrize("verdict", ["", "of window 3, border reflect"])
def test_a_verdict_shrinks_before_the_title_is_cut(qtbot: QtBot, verdict: str) -> None:
    pane = shown(qtbot, np.zeros((20, 30), np.uint8))
    title = "threshold soft · pinned"
    pane.set_array(np.zeros((20, 30), np.uint8), None, title)
    pane.layer.set_state("stale" if verdict else "fresh", verdict)
    said, wide = [], pane.title.fontMetrics().horizontalAdvance(title)
    for spare in (400, 150, 100, 60):
        pane.resize(wide + spare, 260)
        QApplication.processEvents()
        assert pane.title.shown_text() == title, spare
        said.append(pane.chip.width())
    assert said == sorted(said, reverse=True) and said[-1] == pane.chip.least_width(word=False)
