"""Results of every type in the window: colours of labels, levels, values, differences, figures, files; and the handles
and marks of a filter whose parameters and outputs have names that nobody here knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from made_results import Made, bring, giving
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.files.file_names import save_kinds, save_suffix
from app.models.pictures.difference import distance
from app.models.pictures.probe import Line
from app.models.pictures.profile import profile
from app.models.pictures.region_figures import Sampled, figure_rows, figures_of
from app.models.pictures.viewport import Rect
from app.models.results.view_data import INPUT, LABEL_COLOURS, label_colours
from app.views.parts import number
from app.views.pictures.clipboard import picture as copied
from app.views.pictures.handle_paint import MARK, screen_of
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.sketch import sketch_of
from app.views.results.probe_sources import pictured
from app.views.results.region_table import RegionTable
from app.views.window.main_window import MainWindow
from gpu_ops import find_filter, from_array
from gpu_ops.engine.messages import SaveRequest
from gpu_ops.output_kinds import NUMBERS, Axis
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Filter, Input, Pick

PLANE = Axis("y", "px"), Axis("x", "px")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def toy(qtbot: Any, pieces: Filter, engine: FakeEngine) -> Iterator[MainWindow]:
    """A window with the toy filter and the results of its first variant, twice."""
    window = make(qtbot, engine)
    input = from_array(np.random.default_rng(4).integers(0, 256, (48, 64), np.uint8), name="dice")
    engine.show(input)
    window.controller.session.set_filter("pieces")
    window.controller.session.set_picks(("serial", "points"))
    give(window, input)
    yield window
    window.controller.session.set_filter("mean2d")
    engine.end()
    window.controller.cancel()


def give(window: MainWindow, input: Input) -> dict[str, Array]:
    """What the filter makes of an input comes, from both variants."""
    session = window.controller.session
    *_, run = run_experiment(Experiment("pieces", input, session.params, (Pick("serial", "cpu"),), "none"))
    made = {o.id: Made(o.kind, run.outputs[o.id], run.forms[o.id].axes) for o in session.filter.outputs}
    for variant in ("serial", "points"):
        bring(window, variant, made, device=session.shown.key(variant).device)
    return dict(run.outputs)


def results(window: MainWindow, name: str) -> Array:
    """The toy's output, as the window has it; it is the visible one from now on."""
    window.controller.session.set_output(name)
    shown = window.stack.shown("serial", name)
    assert shown is not None
    return shown.array


def shown_pair(window: MainWindow, engine: FakeEngine, one: Array, other: Array, **declared: Any) -> Any:
    """The view of two results of the mean."""
    engine.show(from_array(np.zeros(one.shape, np.uint8)))
    session = window.controller.session
    session.set_picks(("serial", "parallel"))
    for variant, array in (("serial", one), ("parallel", other)):
        bring(window, variant, {session.output.id: Made("image", array, PLANE)})
    return window.stack.view


# Colours and levels


def test_labels_have_colours_that_no_levels_change(qtbot: Any, toy: MainWindow) -> None:
    labels, view = results(toy, "pieces"), toy.stack.view
    qtbot.waitUntil(lambda: view.grid.pane("serial").layer.pyramid is not None)
    layer = view.grid.pane("serial").layer
    assert view.display is None and toy.stack.display is toy.display, "the panel of levels is that of the input"
    image = copied(layer, toy.display)
    for label in (0, *np.unique(labels)[1:4]):
        y, x = np.argwhere(labels == label)[0]
        assert image.pixelColor(int(x), int(y)).getRgb()[:3] == tuple(label_colours()[1 + label if label else 0])
    toy.display.set_levels(100, 101)
    assert copied(layer, toy.display) == image
    y, x = np.argwhere(labels == labels.max())[0]
    view.grid.display.set_cursor(x + 0.5, y + 0.5)
    assert view.value_text("serial") == f"x {x}, y {y}: {labels.max()}"
    assert "int32" in view.grid.pane("serial")._size_texts()[0]


def test_colours_of_neighbouring_labels_are_far_apart() -> None:
    colours = label_colours().astype(int)
    apart = np.abs(np.diff(colours[:200], axis=0)).max(axis=1)
    assert apart.min() > 60 and len(np.unique(colours, axis=0)) > 900


def test_a_difference_of_labels_is_where_they_differ(qtbot: Any, window: MainWindow, engine: FakeEngine) -> None:
    one = np.arange(48, dtype=np.int64).reshape(6, 8) * 2**56
    other = one.copy()
    other[2, 3], other[4, 4] = 5, one[4, 4] + LABEL_COLOURS  # of the same colour
    filter = find_filter("mean2d")
    with giving(filter, ("image", "image")):
        object.__setattr__(filter.outputs[0], "labels", True)
        view = shown_pair(window, engine, one, other)
        window.stack.compare("difference")
        found = view.grid.difference
        qtbot.waitUntil(lambda: found.distance is not None)
        assert np.argwhere(found.distance.values).tolist() == [[2, 3], [4, 4]] and found.distance.most == 1
        said = ["the labels differ first at x 3, y 2", "2 of 48 pixels differ (4.2 %)", "red where the labels differ"]
        assert view.grid.compare.notes.splitlines()[1:] == said and view.grid.compare.legend is None
        view.grid.display.set_cursor(4.5, 4.5)
        assert "difference" not in view.grid.values.text() and str(other[4, 4]) in view.grid.values.text()
        window.stack.compare("side by side")


def test_a_slope_has_zero_in_the_middle_and_its_full_range_on_demand(toy: MainWindow) -> None:
    slope, view = results(toy, "slope"), toy.stack.view
    most = float(np.abs(slope).max())
    assert view.display is not toy.display and (view.display.low, view.display.high) == (-most, most)
    view.display.auto_levels("range")
    assert (view.display.low, view.display.high) == (slope.min(), slope.max())
    assert toy.stack.placed, "regions and lines lie over it"


def test_counts_of_pairs_are_a_picture_over_levels(toy: MainWindow) -> None:
    pairs, view = results(toy, "pairs"), toy.stack.view
    assert (view.display.low, view.display.high) == (pairs.min(), pairs.max())
    view.display.set_cursor(3.5, 5.5)
    assert view.value_text("serial") == f"level to the right 48, level 80: {pairs[5, 3]}"
    assert toy.links.waves.wave is None, "its places are no frequencies"


LEVELS = [
    ("bool", [False, True], (0, 1)),
    ("uint32", [5, 70_000], (5, 70_000)),
    ("uint64", [7, 2**63], (7, 2**63)),
    ("int8", [-100, 50], (-100, 100)),
    ("int64", [3, 2**40], (3, 2**40)),
    ("float16", [0.5, 90.0], (0.0, 255.0)),
]


@pytest.mark.parametrize(("dtype", "values", "levels"), LEVELS, ids=[dtype for dtype, *_ in LEVELS])
def test_levels_follow_the_type(
    dtype: str, values: list[Any], levels: tuple[float, float], window: MainWindow, engine: FakeEngine
) -> None:
    engine.show(from_array(np.array([[0, 255]], np.uint8)))
    bring(window, "serial", {"image": Made("image", np.array([values], dtype), PLANE)})
    window.controller.session.set_picks(("serial",))
    display = window.stack.view.display
    assert display is not None and (display.low, display.high) == levels
    assert (display is window.display) == dtype.startswith("float")


# Values


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_a_value_of_64_bits_is_read_to_the_last_digit(value: int, window: MainWindow, engine: FakeEngine) -> None:
    array = np.full((3, 4), value, np.uint64 if value > 2**63 else np.int64)
    view = shown_pair(window, engine, array, array)
    view.grid.display.set_cursor(1.5, 2.5)
    assert view.value_text("serial") == f"x 1, y 2: {value}".replace("-", "−")
    assert view.grid.pane("serial").grab().toImage() != QImage()
    window.context.messages.clear()


def test_numbers_of_any_size_are_written_in_full() -> None:
    assert (number(2**64 - 1), number(2**63 - 1), number(True)) == (str(2**64 - 1), str(2**63 - 1), "1")
    QLocale.setDefault(QLocale("de_DE"))
    assert number(2**64 - 1) == "18.446.744.073.709.551.615" and number(2**53) == "9.007.199.254.740.992"


PAIRS = [
    ("uint8", 2, 5, -3.0, "−3"),
    ("bool", False, True, -1.0, "−1"),
    ("int64", 2**60 + 1, 2**60, 1.0, "1"),
    ("int64", 2**63 - 1, -(2**63), 2.0**64, "1.844674e+19"),
    ("uint64", 0, 2**64 - 1, -(2.0**64), "−1.844674e+19"),
    ("float16", 65504.0, -65504.0, 131008.0, "131008"),
]


@pytest.mark.parametrize(("dtype", "a", "b", "apart", "words"), PAIRS, ids=[f"{p[0]} {p[4]}" for p in PAIRS])
def test_a_difference_neither_overflows_nor_vanishes(
    dtype: str, a: Any, b: Any, apart: float, words: str, qtbot: Any, window: MainWindow, engine: FakeEngine
) -> None:
    one, other = (np.full((5, 6), value, dtype) for value in (a, b))
    other[0, 0] = a
    found = distance(one, other)
    assert found is not None and found.values[1, 1] == apart and found.values[0, 0] == 0 and found.most == abs(apart)
    view = shown_pair(window, engine, one, other)
    window.stack.compare("difference")
    view.grid.set_pair("serial", "parallel")
    qtbot.waitUntil(lambda: view.grid.difference.distance is not None)
    view.grid.display.set_cursor(1.5, 2.5)
    assert view.grid.values.text().endswith(f"difference: {words}")
    window.stack.compare("side by side")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_figures_of_a_region_of_any_type(dtype: str) -> None:
    random, whole = np.random.default_rng(3), np.dtype(dtype).kind in "ui"
    if whole:
        info = np.iinfo(dtype)
        array = random.integers(info.max - 100, info.max, (9, 11), dtype, endpoint=True)
        array[0, 0] = info.max
    else:
        array = (random.random((9, 11)) * 3).astype(dtype)
    found, values = figures_of(array), sorted(map(float if not whole else int, array.ravel().tolist()))
    assert found is not None and (found.low, found.high, found.median) == (values[0], values[-1], values[49])
    assert found.mean == pytest.approx(sum(values) / 99, rel=1e-12 if whole else 1e-6)
    assert type(found.high) is (float if dtype.startswith("float") else int)
    if whole:
        assert found.high == np.iinfo(dtype).max
    base = array.copy()
    base[0, 0] = not base[0, 0] if dtype == "bool" else base[0, 0] - 1
    row = figure_rows([Sampled(INPUT, "a", base, (0, 0)), Sampled("b", "b", array, (0, 0))], (0, 0), (9, 11))
    assert row is not None and row[1].figures.rms_difference == pytest.approx(1 / 99**0.5, rel=1e-3)


def test_a_table_of_figures_has_integers_in_full(qtbot: Any) -> None:
    table = RegionTable(None)  # type: ignore[arg-type]
    qtbot.addWidget(table)
    rows = figure_rows([Sampled("a", "a", np.array([[1_048_577, -3, 2**60 + 1]]), (0, 0))], (0, 0), (1, 3))
    table.figures.show_rows(rows or [])
    assert [table.figures.text(0, column) for column in (3, 4)] == ["−3", "1048577"]
    assert table.figures.as_csv({}).splitlines()[1].split(",")[9] == str(2**60 + 1)


def test_a_region_and_a_line_read_labels_and_slopes(qtbot: Any, toy: MainWindow) -> None:
    probe, bar = toy.probing.probe, toy.probing.bar
    for name in ("pieces", "slope"):
        values, title = results(toy, name), f"CPU, one core, {name}"
        probe.set_region(Rect(20, 15, 40, 25))
        qtbot.waitUntil(lambda title=title: any(row.title == title for row in bar.measuring.rows))
        figures = next(row.figures for row in bar.measuring.rows if row.title == title)
        assert (figures.low, figures.high) == (values[15:25, 20:40].min(), values[15:25, 20:40].max())
        (source,) = (s for s in pictured(toy.stack, toy.controller.session, (48, 64)) if s.title == title)
        assert profile(source, Line(20.5, 18.5, 30.5, 18.5))[:, 0].tolist() == values[18, 20:31].tolist()
        probe.remove_all()


# Files


def test_the_window_proposes_a_format_that_keeps_the_values() -> None:
    for dtype in NUMBERS:
        assert save_suffix("image", dtype, None) == (".png" if dtype in ("uint8", "uint16") else ".npy")
    assert save_kinds("image", "int32", None).index(".tif") < save_kinds("image", "int32", None).index(".png")
    assert save_kinds("image", "uint64", None).index(".npy") < save_kinds("image", "uint64", None).index(".tif")


QUESTIONS = [
    (
        "pieces",
        "a.png",
        "whole numbers from 0 on",
        "int32",
        ".npy, .tif, .zarr or .h5",
        ["Scale to the full range", "Clip"],
    ),
    ("pairs", "a.png", "whole numbers from 0 on", "uint64", ".npy, .tif, .zarr or .h5", None),
    ("inside", "a.png", "whole numbers from 0 on", "bool", ".npy, .zarr or .h5", ["Scale to the full range"]),
    ("halves", "a.png", "whole numbers from 0 on", "float16", ".npy, .tif, .zarr or .h5", None),
]


@pytest.mark.parametrize(("name", "file", "holds", "dtype", "others", "choices"), QUESTIONS)
def test_a_format_that_cannot_hold_a_type_says_which_can(
    name: str, file: str, holds: str, dtype: str, others: str, choices: Any, toy: MainWindow, engine: Any, tmp_path: Any
) -> None:
    results(toy, name)
    toy.files.target = lambda *_: str(tmp_path / file)
    act(toy, "save")
    message = toy.messages.current()
    assert f"The format of {file}" in message.text and holds in message.text and f"has {dtype} from " in message.text
    assert message.text.endswith(f"or save it as {others}.")
    assert choices is None or list(message.choices) == choices
    toy.files.target = lambda *_: str(tmp_path / "a.npy")
    act(toy, "save")
    assert isinstance(engine.asked[-1], SaveRequest) and engine.asked[-1].saving.map == "none"


# Handles and marks


def canvas_of(window: MainWindow, variant: str = "serial") -> ImageCanvas:
    return window.stack.view.grid.pane(variant).canvas


def at(canvas: ImageCanvas, y: float, x: float) -> QPoint:
    found = screen_of(canvas, y, x)
    assert found is not None
    return found.toPoint()


def drag(canvas: ImageCanvas, start: QPoint, stop: QPoint) -> None:
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(canvas, (start + stop) / 2)
    QTest.mouseMove(canvas, stop)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=stop)


def test_a_place_and_a_ring_are_dragged_over_the_output_that_they_name(qtbot: Any, toy: MainWindow) -> None:
    results(toy, "pieces")
    session, canvas = toy.controller.session, canvas_of(toy)
    qtbot.waitUntil(lambda: screen_of(canvas, 0, 0) is not None)
    assert [handle.names for handle in toy.links.handles.handles] == [("down", "along"), ("reach",)]
    before = (session.params["down"], session.params["along"], session.params["reach"])
    drag(canvas, at(canvas, 20, 24), at(canvas, 30, 41))
    assert (session.params["down"], session.params["along"]) == (30, 41), "whole pixels"
    drag(canvas, at(canvas, 30, 41 + 14), at(canvas, 30, 41 + 9))
    assert session.params["reach"] == 9
    drag(canvas, at(canvas, 30, 41 + 9), at(canvas, 30, 41))
    assert session.params["reach"] == 1, "it stops at its limit"
    for _ in range(3):
        toy.actions_by_id["undo"].trigger()
    assert (session.params["down"], session.params["along"], session.params["reach"]) == before
    alt, shift = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
    toy.links.handles.chosen = 0
    qtbot.keyClick(canvas, Qt.Key.Key_Right, alt)
    qtbot.waitUntil(lambda: session.params["along"] == 25)
    qtbot.keyClick(canvas, Qt.Key.Key_Down, alt | shift)
    qtbot.waitUntil(lambda: session.params["down"] == 30)
    for param in session.filter.params:
        assert type(session.params[param.name]) is int
    results(toy, "slope")
    assert "handles" not in sketch_of(canvas_of(toy)).drawings and toy.links.handles.handles == ()


def marked(canvas: ImageCanvas) -> int:
    """How many pixels of a picture have the colour of marks."""
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.array(image.constBits()).reshape(image.height(), image.bytesPerLine())[:, : 3 * image.width()]
    wanted = np.array([MARK.red(), MARK.green(), MARK.blue()])
    return int((np.abs(pixels.reshape(image.height(), -1, 3).astype(int) - wanted).max(axis=2) < 12).sum())


def test_the_rows_of_a_table_are_marks_over_the_output_that_it_names(qtbot: Any, toy: MainWindow) -> None:
    results(toy, "pieces")
    canvas, other = canvas_of(toy), canvas_of(toy, "points")
    qtbot.waitUntil(lambda: marked(canvas) > 50 and marked(other) > 50)
    assert {"marks", "handles"} <= sketch_of(canvas).drawings.keys()
    results(toy, "slope")
    assert marked(canvas_of(toy)) == 0
    results(toy, "pieces")
    qtbot.waitUntil(lambda: marked(canvas) > 50)
    session = toy.controller.session
    session.set_params({**session.params, "reach": 5})
    assert "marks" not in sketch_of(canvas).drawings, "they are of an earlier choice"
    give(toy, from_array(np.zeros((48, 64), np.uint8)))
    assert "marks" in sketch_of(canvas).drawings
    session.set_picks(("points",))
    assert "marks" in sketch_of(canvas_of(toy, "points")).drawings


def test_marks_lie_on_curves_of_any_name(qtbot: Any, window: MainWindow, engine: FakeEngine) -> None:
    from gpu_ops.output_kinds import Marks

    filter, time = find_filter("mean1d"), Axis("time", "s", 0, 0.01)
    with giving(filter, ("beats", "signal"), ("found", "table")):
        object.__setattr__(filter.outputs[1], "marks", Marks(("beats",), "when", "how much"))
        engine.show(Input("signal", np.zeros(100), "t", "zeros", {"generator": "zeros"}, 100.0))
        window.controller.session.set_filter("mean1d")
        window.controller.session.set_picks(("serial",))
        signal, table = np.sin(np.arange(100) / 9), np.array([[0.14, 1.0], [0.7, 0.99], [0.0, 0.0]])
        columns = Axis("", labels=("when", "how much"))
        made = {"beats": Made("signal", signal, (time,)), "found": Made("table", table, (Axis("row"), columns))}
        bring(window, "serial", made)
        view: Any = window.stack.view
        assert [(x, text) for x, _, text in view.pane.plot.tags] == [(0.14, "140 ms"), (0.7, "700 ms")]
        assert len(view.pane.plot.named()) == 2
        window.controller.session.set_filter("box")


def test_the_peaks_of_a_picture_are_marked_on_its_spectrum(qtbot: Any, window: MainWindow, engine: FakeEngine) -> None:
    y, x = np.mgrid[:32, :32]
    engine.show(from_array((128 + 100 * np.cos(2 * np.pi * x / 4)).astype(np.uint8)))
    session = window.controller.session
    session.set_filter("fft2d")
    session.set_picks(("numpy",))
    session.set_params({**session.params, "result": "magnitude"})
    input = from_array((128 + 100 * np.cos(2 * np.pi * x / 4)).astype(np.uint8))
    *_, run = run_experiment(Experiment("fft2d", input, session.params, (Pick("numpy", "cpu"),), "none"))
    made = {o.id: Made(o.kind, run.outputs[o.id], run.forms[o.id].axes) for o in session.given}
    bring(window, "numpy", made)
    canvas = canvas_of(window, "numpy")
    qtbot.waitUntil(lambda: marked(canvas) > 10)
    spot = screen_of(canvas, 0.0, 0.25)
    assert spot is not None and "marks" in sketch_of(canvas).drawings
    around = canvas.grab(type(canvas.rect())(spot.toPoint() - QPoint(9, 9), spot.toPoint() + QPoint(9, 9))).toImage()
    colours = {around.pixelColor(a, b).name() for a in range(around.width()) for b in range(around.height())}
    assert MARK.name() in colours
