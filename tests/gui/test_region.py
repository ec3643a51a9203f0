"""A region of pictures or an interval of curves: how it is drawn, moved and removed, and its figures."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import pause
from made_results import RATE, Made, bring, giving, picture, wave
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.pictures import region as measuring
from app.models.pictures import region_figures
from app.models.pictures.probe import Line, Probe, moved, moved_line, reached, spanning, stretched, with_end_moved
from app.models.pictures.region import Measuring
from app.models.pictures.region_figures import Sampled, figure_rows, figures_of
from app.models.pictures.viewport import Rect
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import sketch_of
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import find_filter
from gpu_ops.engine import region
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

AXES = Axis("y", "px"), Axis("x", "px")
EXTENT = (20, 30)
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


# Rectangles and lines


@pytest.mark.parametrize(
    ("corners", "rect"),
    [
        ((2.2, 3.7, 5.1, 8.0), (2, 3, 6, 8)),
        ((5.1, 8.0, 2.2, 3.7), (2, 3, 6, 8)),
        ((-4, -4, 100, 100), (0, 0, 30, 20)),
        ((7.5, 7.5, 7.5, 7.5), (7, 7, 8, 8)),
        ((50, 50, 60, 60), (29, 19, 30, 20)),
    ],
)
def test_a_region_has_whole_pixels_of_the_picture(corners: tuple[float, ...], rect: tuple[int, ...]) -> None:
    assert spanning(*corners, EXTENT) == rect


def test_a_region_moves_within_the_picture() -> None:
    assert moved(Rect(2, 3, 6, 8), 3, -1, EXTENT) == (5, 2, 9, 7)
    assert moved(Rect(2, 3, 6, 8), 100, 100, EXTENT) == (26, 15, 30, 20)
    assert moved(Rect(2, 3, 6, 8), -100, -100, EXTENT) == (0, 0, 4, 5)


def test_gripped_edges_move_and_may_cross_the_others() -> None:
    rect = Rect(10, 5, 20, 15)
    assert reached(rect, (1, 1), 24.4, 17.6, EXTENT) == (10, 5, 24, 18)
    assert reached(rect, (0, -1), 12.0, 99.0, EXTENT) == (12, 5, 20, 15)
    assert reached(rect, (0, -1), 27.0, 99.0, EXTENT) == (20, 5, 27, 15)
    assert reached(rect, (-1, 0), 0.0, 15.0, EXTENT) == (10, 15, 20, 16)
    assert stretched((25, 30), -1, 30.0, 30) == (29, 30)


def test_a_line_stays_in_the_picture_and_can_be_straight() -> None:
    line = Line(5.0, 5.0, 15.0, 6.0)
    assert with_end_moved(line, 1, 99.0, -3.0, EXTENT) == (5.0, 5.0, 30.0, 0.0)
    assert with_end_moved(line, 1, 15.0, 6.0, EXTENT, straight=True) == pytest.approx(
        (5.0, 5.0, 5 + np.hypot(10, 1), 5.0)
    )
    assert with_end_moved(line, 0, 2.0, 3.0, EXTENT) == (2.0, 3.0, 15.0, 6.0)
    assert moved_line(line, 100.0, -100.0, EXTENT) == (20.0, 0.0, 30.0, 1.0)


# Figures


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (300, 421)])
def test_figures_are_those_of_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    values = (np.random.default_rng(3).random(shape) * 250).astype(dtype)
    found = figures_of(values)
    assert found is not None and found.count == values.size and (found.nan, found.infinite) == (0, 0)
    wanted = values.mean(dtype=np.float64), values.astype(np.float64).std(), values.min(), values.max()
    assert (found.mean, found.deviation, found.low, found.high) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert found.median == pytest.approx(float(np.median(values.astype(np.float64))), rel=1e-12)


def test_a_small_deviation_of_large_values_is_not_lost() -> None:
    values = 1e9 + np.random.default_rng(0).normal(0, 1, 200_000)
    found = figures_of(values)
    assert found is not None and found.deviation == pytest.approx(values.std(), rel=1e-9)


def test_non_finite_values_are_counted_and_left_out() -> None:
    found = figures_of(np.array([1.0, np.nan, 3.0, np.inf, -np.inf], np.float32))
    assert found is not None
    assert (found.count, found.nan, found.infinite) == (5, 1, 2)
    assert (found.mean, found.median, found.low, found.high) == (2.0, 2.0, 1.0, 3.0)
    nothing = figures_of(np.full(3, np.nan))
    assert nothing is not None and nothing.nan == 3 and np.isnan(nothing.mean)


def test_the_largest_numbers_have_figures() -> None:
    values = np.full(1000, 1.6e308)
    found = figures_of(values)
    assert found is not None and found.mean == pytest.approx(1.6e308) and found.median == 1.6e308
    assert found.deviation < 1e300


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even few values go the way of many, in several pieces, and with a sample that is not all of them."""
    monkeypatch.setattr(region_figures, "MANY", 1)
    monkeypatch.setattr(region, "PIECE", 1000)
    monkeypatch.setattr(region, "SAMPLE", 400)
    monkeypatch.setattr(region, "MARGIN", 0.1)


def _kinds_of_values() -> dict[str, Any]:
    normal = np.random.default_rng(5).normal(0, 1, (90, 70))
    lost, halves = normal.copy(), np.zeros((90, 70))
    lost[::7], lost[3::9], lost[4::11, :5], halves[45:] = np.nan, np.inf, -np.inf, 1000
    return {
        "normal": normal,
        "a part": normal[3:80, 5:66],
        "a signal": normal.reshape(-1)[1::2],
        "not finite": lost,
        "nothing finite": np.full((60, 60), np.nan),
        "constant": np.full((60, 60), 3.25),
        "negative zero": np.full((60, 60), -0.0),
        "two halves": halves,
        "large and close": 1e6 + normal,
        "half of them equal": np.where(np.arange(6300).reshape(90, 70) % 2, 2.5, normal),
        "equal above the middle": np.concatenate([normal[:44] - 9, np.full((46, 70), 1.5)]),
        "equal below the middle": np.concatenate([np.full((46, 70), -1.5), normal[:44] + 9]),
        "two values": np.array([[1.0, 4.0]]),
        "three values": np.array([[1.0, 4.0, 7.0]]),
        "two far apart in the middle": np.concatenate([normal[:40] - 50, normal[:40] + 50]),
    }


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
def test_figures_of_many_values_are_those_of_numpy(compiled: None, dtype: str) -> None:
    for name, values in _kinds_of_values().items():
        if dtype == "uint16":
            values = np.nan_to_num(values * 9 + 99, nan=7, posinf=8, neginf=9)
        values = values.astype(dtype)
        found, wide = figures_of(values), values.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        assert found is not None, name
        assert (found.count, found.nan, found.infinite) == (values.size, np.isnan(wide).sum(), np.isinf(wide).sum())
        if finite.size:
            wanted = finite.mean(), finite.std(), finite.min(), np.median(finite), finite.max()
            figures = found.mean, found.deviation, found.low, found.median, found.high
            assert figures == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
            assert not np.signbit(found.median) or found.median, name
        else:
            assert np.isnan([found.mean, found.low, found.median]).all(), name


@pytest.mark.parametrize(
    "guess", [(-3.0, -2.0), (2.0, 3.0), (0.5, 0.5), (-0.5, -0.5), (1.5, 1.5), (-9.0, 9.0), (0.0, 1.0)]
)
@pytest.mark.parametrize("equal", [False, True])
def test_the_median_does_not_depend_on_the_sample(compiled: None, monkeypatch: Any, guess: Any, equal: bool) -> None:
    """Where the random sample misses the middle, or where many values are equal, counts find it."""
    values = np.random.default_rng(8).normal(0, 1, (90, 71)).astype(np.float32)
    if equal:
        values[np.abs(values) < 0.8] = 0.5
    keys = region._keys(values.dtype).of(np.array(guess, np.float32))
    monkeypatch.setattr(region, "_middle", lambda values: (keys[0], keys[1]))
    found = figures_of(values)
    assert found is not None and found.median == np.median(values.astype(np.float64))


@pytest.mark.parametrize(("dtype", "counts"), [("float32", 2), ("float64", 4)])
def test_the_median_needs_counts_only_where_the_sample_misses_it(
    compiled: None, monkeypatch: Any, dtype: str, counts: int
) -> None:
    """Then there is one for every 16 bits."""
    values = np.random.default_rng(8).normal(0, 1, (91, 71)).astype(dtype)
    begun, at_ranks = [], region._at_ranks
    monkeypatch.setattr(region, "_at_ranks", lambda *all: begun.append(all) or at_ranks(*all))
    found = figures_of(values)
    assert found is not None and found.median == np.median(values) and not begun
    keys = region._keys(values.dtype).of(np.array([8.0, 9.0], dtype))
    monkeypatch.setattr(region, "_middle", lambda values: (keys[0], keys[1]))
    assert figures_of(values) == found and len(begun) == counts


def test_many_values_have_a_distance_and_stop(compiled: None) -> None:
    image = np.random.default_rng(2).random((80, 60), np.float32)
    lost = image + 2
    lost[10, 10] = np.nan
    sources = [Sampled(INPUT, "in", image, (0, 0)), Sampled("a", "A", lost, (0, 0))]
    rows = figure_rows(sources, (0, 0), (80, 60))
    assert rows is not None and rows[1].figures.rms_difference == pytest.approx(2.0, rel=1e-6)
    assert figure_rows(sources, (0, 0), (80, 60), lambda: True) is None


def test_rows_have_the_distance_from_the_input_where_both_have_values() -> None:
    image = picture().astype(np.float32)
    part = Sampled("sim", "GPU", image[8:16, 8:16] + 2, (8, 8))
    lost = image.copy()
    lost[10, 10] = np.nan
    sources = [Sampled(INPUT, "in", lost, (0, 0)), Sampled("a", "A", image + 3, (0, 0)), part]
    rows = figure_rows(sources, (4, 4), (8, 8))
    assert rows is not None
    assert [row.figures.count for row in rows] == [64, 64, 16]
    assert rows[0].figures.rms_difference is None and rows[0].figures.nan == 1
    assert rows[1].figures.rms_difference == pytest.approx(3.0)
    assert rows[2].figures.rms_difference == pytest.approx(2.0)
    assert rows[2].figures.mean == pytest.approx(float(image[8:12, 8:12].mean()) + 2)
    beyond = figure_rows(sources, (20, 20), (4, 4))
    assert beyond is not None and beyond[2].figures.count == 0


def test_every_channel_of_a_single_row_has_figures() -> None:
    image = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    rows = figure_rows([Sampled(INPUT, "in", image, (0, 0), ("R", "G", "B"))], (2, 0), (1, 5))
    assert rows is not None and [row.figures.mean for row in rows] == [36.0, 37.0, 38.0]


def test_a_stop_ends_the_computation() -> None:
    source = Sampled(INPUT, "in", np.zeros((900, 900), np.float32), (0, 0))
    assert figure_rows([source], (0, 0), (900, 900), lambda: True) is None


def test_large_figures_follow_the_region_without_waiting(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one computation runs, only the newest of the requests made meanwhile is kept."""
    image, ready, began = np.arange(1 << 19, dtype=np.float32).reshape(512, 1024), threading.Event(), []

    def slow(sources: Any, start: Any, shape: Any, stop: Any = lambda: False) -> Any:
        began.append(start)
        ready.wait(60)
        return figure_rows(sources, start, shape, stop)

    monkeypatch.setattr(measuring, "figure_rows", slow)
    model, sources = Measuring(), [Sampled(INPUT, "in", image, (0, 0))]
    model.want(sources, (0, 0), (512, 1000))
    for x in (3, 6, 9):
        model.want(sources, (0, x), (512, 1000))
    assert model.behind and not model.rows
    ready.set()
    qtbot.waitUntil(lambda: not model.behind)
    assert [start[1] for start in began] == [0, 9]
    assert model.rows[0].figures.low == 9.0
    model.clear()
    assert not model.rows


def test_figures_of_another_picture_are_not_waited_for(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = threading.Event()
    monkeypatch.setattr(measuring, "figure_rows", lambda *args: (ready.wait(60), figure_rows(*args[:3]))[1])
    model = Measuring()
    model.want([Sampled(INPUT, "in", np.zeros((600, 600)), (0, 0))], (0, 0), (600, 600))
    ready.set()
    model.want([Sampled(INPUT, "in", np.ones((9, 9)), (0, 0))], (0, 0), (9, 9))
    assert not model.behind and model.rows[0].figures.mean == 1.0
    qtbot.wait(50)
    assert model.rows[0].figures.mean == 1.0


def test_figures_that_cannot_be_computed_say_why(window: MainWindow, qtbot: Any, monkeypatch: Any) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("there is no memory for the figures")

    monkeypatch.setattr(measuring, "figure_rows", fail)
    monkeypatch.setattr(measuring, "SMALL", 0)
    probe_of(window).set_region(Rect(4, 4, 14, 14))
    qtbot.waitUntil(lambda: "no memory" in window.probing.bar.words.text())
    assert not window.probing.bar.measuring.rows
    monkeypatch.undo()
    probe_of(window).set_region(Rect(4, 4, 15, 15))
    qtbot.waitUntil(lambda: len(window.probing.bar.measuring.rows) == 3)
    assert "11 × 11 px" in window.probing.bar.words.text()


# In the window


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    """A window with an image and two results of the mean."""
    window = make(qtbot, FakeEngine())
    show(window, picture())
    return window


def show(window: MainWindow, image: np.ndarray[Any, Any], name: str = "waves") -> None:
    controller: Any = window.controller
    axes = "yx" if image.ndim == 2 else "yxc"
    controller._engine.show(Input("image", image, axes, name, {"generator": name}))
    controller.session.set_filter("mean2d")
    variants = [v.id for v in controller.session.filter.variants]
    controller.session.set_picks(tuple(variants[:2]))
    for place, variant in enumerate(variants[:2]):
        bring(window, variant, {"image": Made("image", (image // 2 + place).astype(image.dtype), AXES)})
    pause()


def canvas_of(window: MainWindow, key: str = INPUT) -> ImageCanvas:
    return window.panes.pane(key).canvas


def drag(
    canvas: ImageCanvas, begin: tuple[float, float], end: tuple[float, float], button: Qt.MouseButton = LEFT
) -> None:
    """Drag from one place of the picture to another."""
    points = [canvas.screen_at(*place).toPoint() for place in (begin, end)]
    QTest.mousePress(canvas, button, pos=points[0])
    for point in (points[0] + (points[1] - points[0]) / 2, points[1]):
        QTest.mouseMove(canvas, point)
    QTest.mouseRelease(canvas, button, pos=points[1])
    pause()


def probe_of(window: MainWindow) -> Probe:
    return window.probing.probe


def cells(window: MainWindow) -> list[dict[str, str]]:
    """The rows that the button for CSV copies."""
    window.probing.bar.copy_csv.click()
    return list(csv.DictReader(io.StringIO(QApplication.clipboard().text())))


def test_a_drag_draws_a_region_and_its_figures(window: MainWindow) -> None:
    bar, probe = window.probing.bar, probe_of(window)
    assert bar.isHidden()
    act(window, "region")
    assert bar.isVisible() and window.actions_by_id["region"].isChecked()
    pause()
    before = canvas_of(window).size()
    drag(canvas_of(window), (4.4, 6.4), (20.6, 15.6))
    assert probe.region == (4, 6, 21, 16)
    assert canvas_of(window).size() == before  # nothing moves under the mouse
    rows = cells(window)
    part = picture()[6:16, 4:21]
    assert [row["result"] for row in rows][0] == "waves" and len(rows) == 3
    assert [float(rows[0][name]) for name in ("count", "mean", "min", "median", "max")] == pytest.approx(
        [part.size, part.mean(), part.min(), np.median(part), part.max()]
    )
    assert float(rows[2]["mean"]) == pytest.approx((part // 2 + 1).mean())
    assert float(rows[1]["rms_to_input"]) == pytest.approx(
        np.sqrt(np.mean((part // 2 - part.astype(float)) ** 2)), rel=1e-9
    )
    assert (rows[0]["x"], rows[0]["y"], rows[0]["width"], rows[0]["height"]) == ("4", "6", "17", "10")
    assert "17 × 10 px at x 4, y 6" in bar.words.text()
    bar.copy_text.click()
    text = QApplication.clipboard().text()
    assert text.splitlines()[1].startswith("waves\t170\t")
    QApplication.clipboard().clear()
    QTest.keyClick(bar.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == text


def test_the_figures_are_saved_with_the_facts(window: MainWindow, tmp_path: Path) -> None:
    window.files.target = lambda *_: str(tmp_path / "a.csv")
    act(window, "export_figures")
    assert "There are no statistics to save yet" in window.messages.current().text
    act(window, "region")
    pause()
    drag(canvas_of(window), (4, 6), (12, 10))
    act(window, "export_figures")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    bar = window.probing.bar
    assert lines[0].startswith("# ") and "# filter: mean2d" in lines
    assert "\n".join(lines).endswith(bar.copied(True).strip()) and "There are no" not in window.messages.current().text


def test_the_picture_pans_without_the_tool_and_with_the_middle_button(window: MainWindow) -> None:
    centre = window.display.centre
    drag(canvas_of(window), (10, 10), (14, 10))
    assert window.display.centre != centre and probe_of(window).region is None
    act(window, "region")
    centre = window.display.centre
    drag(canvas_of(window), (10, 10), (14, 10))
    assert window.display.centre == centre and probe_of(window).region is not None
    drag(canvas_of(window), (20, 20), (24, 20), Qt.MouseButton.MiddleButton)
    assert window.display.centre != centre


def test_grips_resize_and_the_inside_moves(window: MainWindow) -> None:
    probe = probe_of(window)
    act(window, "region")
    probe.set_region(Rect(4, 4, 14, 14))
    other = canvas_of(window, window.panes.keys[1])  # the same place in a result
    drag(other, (14, 14), (20, 18))
    assert probe.region == (4, 4, 20, 18)
    drag(other, (12, 11), (15, 12))
    assert probe.region == (7, 5, 23, 19)
    drag(other, (7, 9), (2, 9))
    assert probe.region == (2, 5, 23, 19)
    point = other.screen_at(28, 28).toPoint()
    QTest.mouseClick(other, LEFT, pos=point)
    assert probe.region == (2, 5, 23, 19)  # a click draws nothing


def test_zoom_during_a_drag_keeps_its_beginning(window: MainWindow) -> None:
    probe, canvas = probe_of(window), canvas_of(window)
    act(window, "region")
    pause()
    QTest.mousePress(canvas, LEFT, pos=canvas.screen_at(6.4, 6.4).toPoint())
    QTest.mouseMove(canvas, canvas.screen_at(12.4, 12.4).toPoint())
    window.display.zoom_at(2.0, 16.0, 16.0)
    QTest.mouseMove(canvas, canvas.screen_at(20.4, 20.4).toPoint())
    assert probe.region == (6, 6, 21, 21)
    QTest.mouseRelease(canvas, LEFT, pos=canvas.screen_at(20.4, 20.4).toPoint())
    QTest.mouseMove(canvas, canvas.screen_at(24.4, 24.4).toPoint())
    assert probe.region == (6, 6, 21, 21)


def test_keys_move_resize_and_remove(window: MainWindow) -> None:
    probe, canvas = probe_of(window), canvas_of(window)
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_R)
    assert probe.tool == "region"
    probe.set_region(Rect(4, 4, 14, 14))
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert probe.region == (5, 4, 15, 14)
    QTest.keyClick(canvas, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert probe.region == (5, 14, 15, 24)
    QTest.keyClick(canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert probe.region == (5, 14, 14, 24)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert probe.region is None and probe.tool == "region"
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert probe.tool == "" and window.probing.bar.isHidden()
    centre = window.display.centre
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert window.display.centre != centre  # arrows pan again


def test_a_region_stays_with_the_size_of_the_input_and_goes_with_another(window: MainWindow) -> None:
    probe = probe_of(window)
    act(window, "region")
    probe.set_region(Rect(4, 4, 14, 14))
    pause()
    show(window, picture()[::-1].copy(), "next frame")
    assert probe.region == (4, 4, 14, 14)
    rows = cells(window)
    assert rows[0]["result"] == "next frame"
    assert float(rows[0]["mean"]) == pytest.approx(picture()[::-1][4:14, 4:14].mean())
    show(window, picture()[:, :20].copy(), "smaller")
    assert probe.region is None and probe.extent == (32, 20) and probe.tool == "region"


def test_another_size_ends_a_drag(window: MainWindow) -> None:
    probe, canvas = probe_of(window), canvas_of(window)
    act(window, "region")
    probe.set_region(Rect(2, 2, 30, 30))
    QTest.mousePress(canvas, LEFT, pos=canvas.screen_at(15, 16).toPoint())
    show(window, picture()[:9, :9].copy(), "small")
    QTest.mouseMove(canvas, canvas.screen_at(3, 3).toPoint())
    QTest.mouseRelease(canvas, LEFT, pos=canvas.screen_at(3, 3).toPoint())
    assert probe.region is None
    drag(canvas, (1.5, 1.5), (6.5, 6.5))
    assert probe.region == (1, 1, 7, 7)


def test_results_of_an_earlier_choice_are_marked(qtbot: Any, window: MainWindow) -> None:
    probe_of(window).set_region(Rect(4, 4, 14, 14))
    qtbot.waitUntil(lambda: [row["current"] for row in cells(window)] == ["yes"] * 3)
    window.controller.session.set_param("window", 9)
    qtbot.waitUntil(lambda: [row["current"] for row in cells(window)] == ["yes", "no", "no"])
    model = window.probing.bar.table.figures
    assert "earlier setting" in model.headerData(1, Qt.Orientation.Vertical)


def test_a_colour_picture_has_a_row_for_each_colour_but_alpha(qtbot: Any, window: MainWindow) -> None:
    colours = np.stack([picture(), picture() // 2, picture() // 4, np.full_like(picture(), 255)], axis=2)
    show(window, colours, "colours")
    probe_of(window).set_region(Rect(0, 0, 32, 32))
    qtbot.waitUntil(lambda: [row["channel"] for row in cells(window)] == ["red", "green", "blue"] * 3)
    rows = cells(window)
    assert float(rows[1]["mean"]) == pytest.approx((picture() // 2).mean())


def test_the_region_lies_on_the_input_alone_beside_a_spectrum(qtbot: Any, window: MainWindow) -> None:
    probe = probe_of(window)
    with ExitStack() as stack:
        filter = stack.enter_context(giving(find_filter("mean2d"), ("spectrum", "spectrum")))
        window.controller.session.set_filter("conv3x3")
        window.controller.session.set_filter(filter.id)
        window.controller.session.set_picks(("serial",))
        around = tuple(Axis(f"frequency {name}", "1/px", 0, 1 / 32, (), 1.0) for name in "yx")
        whole = np.fft.fft2(picture()).astype(np.complex64)
        bring(window, "serial", {"spectrum": Made("spectrum", whole, around)})
        view, beside = window.stack.view, window.stack.view_with(INPUT)
        assert view is not beside and view.grid is not None and beside.grid is not None
        probe.set_region(Rect(4, 4, 14, 14))
        drawings = sketch_of(beside.grid.pane(INPUT).canvas).drawings
        qtbot.waitUntil(lambda: "probe" in drawings and bool(cells(window)))
        assert [row["result"] for row in cells(window)] == ["waves"]
        assert "probe" not in sketch_of(view.grid.pane("serial").canvas).drawings


def test_levels_from_the_region(window: MainWindow) -> None:
    act(window, "region")
    probe_of(window).set_region(Rect(4, 4, 14, 14))
    canvas_of(window).setFocus()
    act(window, "levels_region")
    part = picture()[4:14, 4:14]
    assert (window.display.low, window.display.high) == (part.min(), part.max())
    assert window.display.mode == "manual"


def test_levels_of_a_region_without_finite_values_say_so(window: MainWindow) -> None:
    image = picture().astype(np.float32)
    image[:8] = np.nan
    show(window, image, "holes")
    levels = window.display.low, window.display.high
    probe_of(window).set_region(Rect(0, 0, 8, 8))
    act(window, "levels_region")
    assert (window.display.low, window.display.high) == levels
    assert any("no finite value" in message.text for message in window.messages.messages())


def has_grip(canvas: ImageCanvas, x: float, y: float) -> bool:
    """Whether a white grip is painted at a place of the picture."""
    shot = canvas.grab().toImage()
    corner = canvas.screen_at(x, y).toPoint()
    return shot.pixelColor(corner).lightness() == 255 and shot.pixelColor(corner + QPoint(1, 1)).lightness() == 255


def test_the_region_is_drawn_in_every_mode(window: MainWindow, qtbot: Any) -> None:
    act(window, "region")
    probe_of(window).set_region(Rect(4, 4, 14, 14))
    for mode in ("compare_swipe", "compare_flicker", "compare_difference"):
        act(window, mode)
        qtbot.waitUntil(lambda: has_grip(window.panes.compare, 4, 4))
        assert not has_grip(window.panes.compare, 9, 9)
    drag(window.panes.compare, (20.4, 20.4), (27.6, 25.6))
    assert probe_of(window).region == (20, 20, 28, 26)


def test_crop_names_the_part(window: MainWindow, qtbot: Any) -> None:
    probe = probe_of(window)
    probe.set_region(Rect(4, 6, 21, 16))
    with qtbot.waitSignal(probe.crop_wanted) as caught:
        probe.crop()
    assert caught.args == [(6, 4), (10, 17)]


# Curves


@pytest.fixture
def curves(qtbot: Any) -> MainWindow:
    """A window with a signal and a result."""
    window = make(qtbot, FakeEngine())
    controller: Any = window.controller
    controller._engine.show(Input("signal", wave(), "t", "tone", {"generator": "tone"}, rate=RATE))
    controller.session.set_filter("mean1d")
    controller.session.set_picks(("serial",))
    bring(window, "serial", {"signal": Made("signal", wave() + 1, (Axis("time", "s", 0, 1 / RATE),), image=False)})
    pause()
    return window


def drag_curves(window: MainWindow, begin: float, end: float) -> None:
    """Drag from one sample to another."""
    pane = window.signal_pane

    def point(sample: float) -> QPoint:
        scene = pane.plot.box.mapViewToScene(QPointF(sample / RATE, 0.0))
        return QPoint(round(pane.plot.mapFromScene(scene).x()), 90)

    viewport = pane.plot.viewport()
    QTest.mousePress(viewport, LEFT, pos=point(begin))
    for place in ((begin + end) / 2, end):
        QTest.mouseMove(viewport, point(place))
    QTest.mouseRelease(viewport, LEFT, pos=point(end))
    pause()


def test_an_interval_of_a_signal(curves: MainWindow) -> None:
    probe, range_before = probe_of(curves), curves.signal_pane.view_range()
    assert not curves.actions_by_id["profile"].isEnabled()
    act(curves, "region")
    drag_curves(curves, 50, 100)
    assert probe.span is not None and abs(probe.span[0] - 50) <= 1 and abs(probe.span[1] - 101) <= 1
    assert curves.signal_pane.view_range() == range_before
    rows, (first, stop) = cells(curves), probe.span
    assert float(rows[0]["mean"]) == pytest.approx(wave()[first:stop].mean())
    assert float(rows[1]["rms_to_input"]) == pytest.approx(1.0)
    assert (rows[0]["first"], rows[0]["samples"]) == (str(first), str(stop - first))
    drag_curves(curves, stop - 0.5, 150)
    assert probe.span[0] == first and abs(probe.span[1] - 150) <= 1
    drag_curves(curves, 100, 90)
    assert abs(probe.span[0] - (first - 10)) <= 1
    before, plot = probe.span, curves.signal_pane.plot
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert probe.span == (before[0] + 1, before[1] + 1)
    QTest.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert probe.span == (before[0] + 1, before[1] + 2)
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert probe.span is None


def test_an_interval_goes_when_a_picture_comes(curves: MainWindow) -> None:
    probe = probe_of(curves)
    probe.set_span((10, 20))
    pause()
    show(curves, picture())
    assert probe.span is None and probe.extent == (32, 32)
    assert curves.probing.bar.isHidden() and not curves.probing.bar.measuring.rows
