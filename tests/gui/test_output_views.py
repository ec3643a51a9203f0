"""Every kind of output has a view; what it shows and says, through the window's actions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from lanes import daily_subset
from made_results import RATE, Made, bring, filter_for, giving, made, picture, wave
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from sources import nodes

from app.models.results.origin import WHOLE
from app.views.charts.cell_view import CellView
from app.views.charts.table_area import TableArea
from app.views.results.view_table import PLAIN, VIEWS, scales_of, view_of
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import LEVELS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.types import Input

APP = Path(__file__).parent.parent.parent / "app"
PICKS = ("serial", "parallel")
NAMES = tuple(made())


@pytest.fixture(autouse=True)
def plain_numbers(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    yield
    QLocale.setDefault(before)


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    return make(qtbot, FakeEngine())


def engine(window: MainWindow) -> Any:
    return window.controller._engine


def open_input(window: MainWindow, image: bool) -> None:
    if image:
        engine(window).show(Input("image", picture(), "yx", "waves", {"generator": "waves"}))
    else:
        engine(window).show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))


@pytest.fixture
def stack_of_outputs() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def shown(window: MainWindow, stack: ExitStack, name: str, **more: Any) -> Made:
    """A result of that name, of both picks."""
    result = made()[name]
    filter = stack.enter_context(giving(filter_for(result), (name, result.kind)))
    open_input(window, result.image)
    window.controller.session.set_filter(filter.id)
    window.controller.session.set_picks(PICKS)
    for variant in PICKS:
        bring(window, variant, {name: result}, **more)
    return result


def point_at(window: MainWindow, name: str) -> None:
    """The cursor, where something is known."""
    view: Any = window.stack.view
    places: dict[str, Any] = {
        "histogram": (3.0, 0.0),
        "colours": (3.5, 0.0),
        "spans": (2e-3, 1 - 2.5 / 3),
        "levels": (9.0, 1 - 3.5 / 4),
        "figures": (1, 1),
        "mean": None,
    }
    if name in places:
        view.plane.set_cursor(places[name])
    elif view.grid is not None:
        view.display.set_cursor(5.5, 7.5)
    else:
        view.pane.set_cursor(12.5 if name != "signal" else 0.25)


def share(counts: np.ndarray[Any, Any]) -> str:
    """The count of bar 3, and what part of all it is."""
    return f"{counts[3]} ({100 * counts[3] / counts.sum():.3g} %)"


def events(name: str) -> str:
    """What is read there, from the array itself."""
    result = made()[name]
    array = result.array
    texts: dict[str, Callable[[], str]] = {
        "image": lambda: f"x 5, y 7: {array[7, 5]}",
        "histogram": lambda: f"bin 3, value 2.5 … 3.5: {share(array)}",
        "colours": lambda: (
            f"bin 3, value 3 … 4: red {share(array[0])}, green {share(array[1])}, blue {share(array[2])}"
        ),
        "signal": lambda: f"time 0.25 s: {array[25]:.7g} mV",
        "spans": lambda: "stream 2, 1.5 ms … 3 ms: 1.5 ms, 8.192 kB, 5.461333 MB/s",
        "figures": lambda: "green, deviation: 3 counts",
        "mean": lambda: "129.0625 counts",
    }
    return texts[name]() if name in texts else ""


def test_every_kind_has_a_view_and_every_view_a_name_of_its_own() -> None:
    assert VIEWS.keys() == OUTPUT_KINDS.keys()
    specs = [spec for ranks in VIEWS.values() for spec in ranks.values()]
    assert len({spec.id for spec in specs}) == len(specs)
    assert {result.kind for result in made().values()} == OUTPUT_KINDS.keys()
    for spec in specs:
        assert len({scale.id for scale in spec.scales}) == len(spec.scales) > 0
        assert not spec.scales[0].complex_only, "the first can always be drawn"


def test_no_kind_is_named_outside_of_the_tables() -> None:
    words = OUTPUT_KINDS.keys() | INPUT_KINDS.keys()
    found = []
    for path in sorted(APP.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                inner = [e for s in sides for e in (s.elts if isinstance(s, ast.Tuple | ast.List | ast.Set) else [s])]
                said = {e.value for e in inner if isinstance(e, ast.Constant) and isinstance(e.value, str)}
                found += [f"{path.name}:{node.lineno}"] if said & words else []
    assert found == []


@pytest.mark.parametrize("name", daily_subset(NAMES, 4, str))
def test_a_result_is_in_its_own_view_and_says_what_is_read(
    window: MainWindow, stack_of_outputs: ExitStack, name: str
) -> None:
    result = shown(window, stack_of_outputs, name)
    stack = window.stack
    rank = sum(axis.name != "channel" for axis in result.axes)
    assert stack.view is stack._views[view_of(result.kind, rank).id, False]
    assert stack.view.widget.isVisible()
    own = INPUT_KINDS[window.controller.session.input.kind].view
    assert (stack.view_with(INPUT) is stack.view) == (result.kind == own)
    assert stack.view_with(INPUT).widget.isVisible()
    point_at(window, name)
    for variant in PICKS:
        text = stack.view.value_text(variant)
        assert text and (not events(name) or text == events(name)), text


def test_coordinates_have_units(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    result = shown(window, stack_of_outputs, "spectrum")
    point_at(window, "spectrum")
    size = float(abs(result.array[32]))
    both = f"{size:.7g} mV ({20 * np.log10(size):.2f} dB)"
    assert window.stack.view.value_text("serial") == f"frequency 12.5 Hz: {both}"
    assert both in window.stack.view.pane.status.text()  # type: ignore[attr-defined]
    assert "frequency 12.5 Hz" in window.stack.view.pane.status.text()  # type: ignore[attr-defined]
    assert "frequency (Hz)" in window.stack.view.pane.plot.item.getAxis("bottom").labelString()  # type: ignore[attr-defined]
    window.stack.bar.scales.button("linear").click()
    assert window.stack.view.value_text("serial") == f"frequency 12.5 Hz: {both}", "the scale changes only the picture"
    window.stack.bar.scales.button("phase").click()
    assert window.stack.view.value_text("serial").endswith(" rad")


def test_phase_is_offered_of_complex_values_only(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    shown(window, stack_of_outputs, "spectrum")
    assert [c.id for c in window.stack.bar.scales.choices] == ["decibel", "linear", "phase"]
    window.stack.bar.scales.button("phase").click()
    bring(window, "parallel", {"spectrum": made()["power"]})
    window.controller.session.set_picks(("parallel",))
    bring(window, "parallel", {"spectrum": made()["power"]})
    assert "dB" in window.stack.view.pane.plot.item.getAxis("left").labelText  # type: ignore[attr-defined]


def test_a_whole_spectrum_has_zero_in_the_middle(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    result = shown(window, stack_of_outputs, "spectrum picture")
    view: Any = window.stack.view
    pane = view.grid.pane("serial")
    middle = pane.layer.pyramid.array[16, 16]
    assert middle == pane.layer.pyramid.array.max() == pytest.approx(20 * np.log10(abs(result.array[0, 0])), rel=1e-6)
    view.display.set_cursor(24.5, 16.5)
    assert pane.status.text().startswith("frequency x 0.25, frequency y 0 1/px: ")
    view.display.set_cursor(8.5, 16.5)
    assert pane.status.text().startswith("frequency x −0.25, ")


def test_levels_are_those_of_what_is_looked_at(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    shown(window, stack_of_outputs, "spectrum picture")
    assert window.tabs.isTabVisible(window.docks._tab(LEVELS))
    assert window.stack.display is not window.display
    assert window.docks[LEVELS].display is window.stack.display
    assert window.docks[LEVELS].statistics is window.stack.display.statistics
    high = window.stack.display.high
    act(window, "map_viridis")
    assert window.stack.display.colormap == "viridis" and window.display.colormap == "gray"
    window.stack.bar.scales.button("linear").click()
    assert window.stack.display.high > 10 * high
    window.docks[LEVELS].low.setValue(3.0)
    assert window.stack.display.low == pytest.approx(3.0, abs=0.01)
    act(window, "levels_auto")
    assert window.stack.display.low < 1


def test_a_pyramid_shows_bands_and_reads_coefficients(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    result = shown(window, stack_of_outputs, "bands")
    view: Any = window.stack.view
    band = next(b for b in result.bands if b.orientation == "horizontal" and b.level == 1)
    top, left = band.start
    view.display.set_cursor(left + 2.5, top + 3.5)
    value = result.array[top + 3, left + 2]
    text = view.value_text("serial")
    assert text.startswith("horizontal 1, x 2, y 3: ") and float(text.split()[-1]) == pytest.approx(value, abs=1e-4)
    assert (view.display.low, view.display.high) == (-1, 1)
    drawn = view.grid.pane("serial").layer.pyramid.array
    for one in result.bands:
        largest = np.abs(drawn[one.part]).max()
        assert largest == pytest.approx(1) or not np.abs(result.array[one.part]).max() > 0
    window.stack.bar.scales.button("values").click()
    assert view.grid.pane("serial").layer.pyramid.array.max() == result.array.max()


def test_rows_of_a_signals_pyramid(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    result = shown(window, stack_of_outputs, "levels")
    view: Any = window.stack.view
    cell = view.cells["serial"]
    assert cell.area.plot.rows(cell.drawn) == ["approximation 3", "detail 3", "detail 2", "detail 1"]
    view.plane.set_cursor((9.0, 1 - 3.5 / 4))
    band = next(b for b in result.bands if b.level == 1)
    value = result.array[band.start[0] + 4]
    text = view.value_text("serial")
    assert text.startswith("detail 1, coefficient 4, near sample 9: ") and text.endswith(" mV")
    assert float(text.split()[-2].replace("−", "-")) == pytest.approx(value, abs=1e-6)


def ranges(window: MainWindow) -> tuple[Any, ...]:
    """What is seen of a result, in the terms of its view."""
    view: Any = window.stack.view
    if view.grid is not None:
        return (view.display.centre, view.display.scale)
    if hasattr(view, "pane"):
        return tuple(view.pane.view_range())
    return view.plane.x.start, view.plane.x.stop, view.plane.x.letters


@pytest.mark.parametrize("name", daily_subset(NAMES, 4, str))
def test_the_windows_actions_work_in_every_view(
    window: MainWindow, stack_of_outputs: ExitStack, name: str, tmp_path: Path
) -> None:
    shown(window, stack_of_outputs, name)
    act(window, "fit")
    whole = ranges(window)
    act(window, "zoom_in")
    assert ranges(window) != whole
    act(window, "fit")
    assert ranges(window) == whole
    act(window, "one_to_one")
    QApplication.clipboard().clear()
    act(window, "copy_image")
    image = QApplication.clipboard().image()
    assert not image.isNull() and image.width() > 20
    for suffix, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        path = tmp_path / f"view{suffix}"
        window.files.target = lambda *_, path=path: str(path)
        act(window, "export_view")
        assert path.read_bytes().startswith(begins)
    drawn = QImage(str(tmp_path / "view.png"))
    spots = {drawn.pixel(x, y) for x in range(0, drawn.width(), 3) for y in range(0, drawn.height(), 7)}
    assert drawn.width() > 100 and len(spots) > 2
    asked: list[str] = []
    window.files.target = lambda _w, _t, name, kinds: asked.append(f"{name} {kinds}") or str(tmp_path / "data.npy")
    act(window, "save")
    saved = engine(window).asked[-1]
    assert saved.result.kind == made()[name].kind and saved.path.endswith("data.npy")
    for suffix in OUTPUT_KINDS[made()[name].kind].formats:
        assert f"*{suffix}" in asked[0]


@pytest.mark.parametrize("name", daily_subset(NAMES, 4, str))
def test_verdicts_are_those_of_pictures(window: MainWindow, stack_of_outputs: ExitStack, name: str) -> None:
    result = shown(window, stack_of_outputs, name, ok=None)
    view = window.stack.view
    assert [view.state(v) for v in PICKS] == ["unverified"] * 2
    bring(window, "serial", {}, ok=True)
    bring(window, "parallel", {}, ok=False)
    assert [view.state(v) for v in PICKS] == ["fresh", "wrong"]
    session = window.controller.session
    session.set_params({**session.choice.params, "window": 9})
    assert [view.state(v) for v in PICKS] == ["stale", "stale"]
    engine(window).end()
    bring(window, "serial", {}, failure="The kernel was stopped.", failure_kind="kernel")
    assert view.state("serial") == "failed"
    bring(window, "parallel", {name: result}, ok=True)
    assert window.stack.view is view
    session.set_picks(("parallel",))
    assert "serial" not in window.stack._keys


def test_a_range_is_common_and_stays_when_parameters_change(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    shown(window, stack_of_outputs, "histogram")
    view: Any = window.stack.view
    act(window, "zoom_in")
    act(window, "zoom_in")
    kept = ranges(window)
    assert [cell.area.plane for cell in view.cells.values()] == [view.plane] * 2
    session = window.controller.session
    session.set_params({**session.choice.params, "window": 9})
    bring(window, "serial", {"histogram": made()["histogram"]})
    assert ranges(window) == kept
    open_input(window, True)
    bring(window, "serial", {"histogram": made()["histogram"]})
    assert ranges(window) != kept, "another input has a range of its own"


def test_bars_by_mouse_and_keys(qtbot: Any, window: MainWindow, stack_of_outputs: ExitStack) -> None:
    shown(window, stack_of_outputs, "histogram")
    view: Any = window.stack.view
    area = view.cells["serial"].area
    frame = area.frame()
    x, y = round(frame.x(100.0)), round(frame.box.center().y())
    QTest.mouseMove(area.viewport(), frame.box.center().toPoint())
    QTest.mouseMove(area.viewport(), type(frame.box.center().toPoint())(x, y))
    assert view.cells["parallel"].status.text().startswith("bin ")
    area.setFocus()
    view.plane.set_cursor((3.0, 0.0))
    qtbot.keyClick(area, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert view.value_text("serial").startswith("bin 4,")
    qtbot.keyClick(area, Qt.Key.Key_Plus)
    assert view.plane.x.stop - view.plane.x.start < 256
    start = view.plane.x.start
    qtbot.keyClick(area, Qt.Key.Key_Left)
    assert view.plane.x.start < start
    qtbot.keyClick(area, Qt.Key.Key_0)
    assert (view.plane.x.start, view.plane.x.stop) == (-0.5, 255.5)
    window.stack.bar.scales.button("logarithmic").click()
    assert area.frame().log and 10**view.plane.y.start < 1 < 10**view.plane.y.stop


def test_a_tables_cell_is_chosen_in_all(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    shown(window, stack_of_outputs, "figures")
    cells = window.stack.view.cells  # type: ignore[attr-defined]
    table = cells["serial"].area.table
    table.setCurrentIndex(table.model().index(2, 1))
    assert cells["parallel"].area.table.currentIndex().row() == 2
    assert cells["parallel"].status.text() == "blue, deviation: 5 counts"
    assert table.model().headerData(0, Qt.Orientation.Vertical) == "red"


def test_tables_have_the_room_that_their_columns_need(
    qtbot: Any, window: MainWindow, stack_of_outputs: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(window, stack_of_outputs, "figures")
    monkeypatch.setattr("app.views.charts.table_area.place_text", lambda axis, place: f"level {place} of details")
    drawn = window.stack.view.cells["serial"].drawn  # type: ignore[attr-defined]
    view, keys = CellView(TableArea), ["a", "b", "c", "d"]
    qtbot.addWidget(view)
    view.resize(1000, 300)
    view.show()
    view.arrange(keys, {key: key for key in keys}, window.controller.session.filter)
    for key in keys:
        view.put(key, drawn, WHOLE)
    qtbot.wait(1)
    for cell in view.cells.values():
        assert not cell.isVisible() or cell.area.table.width() >= cell.area.content_width() > 100


def test_simulated_is_said_of_every_kind(window: MainWindow, stack_of_outputs: ExitStack) -> None:
    result = made()["histogram"]
    stack_of_outputs.enter_context(giving(filter_for(result), ("histogram", "bars")))
    open_input(window, True)
    session = window.controller.session
    session.set_devices(("sim",))
    kernel = next(v.id for v in session.filter.variants if v.device != "cpu")
    session.set_picks((kernel,))
    engine(window).end()
    bring(window, kernel, {"histogram": result}, "sim", clock="simulated")
    assert window.stack.view.cells[kernel].mark.text == "simulated"  # type: ignore[attr-defined]


def test_the_scales_of_real_and_complex_values() -> None:
    assert scales_of(view_of("image", 2), "uint8") == (PLAIN,)
    assert len(scales_of(view_of("spectrum", 2), "complex128")) == 1 + len(scales_of(view_of("spectrum", 2), "float32"))


def test_sums_have_levels_of_their_own_beside_the_input(window: MainWindow) -> None:
    """A result of another size would make the input black, and stand white in its levels."""
    open_input(window, True)
    session, stack = window.controller.session, window.stack
    session.set_filter("scan2d")
    session.set_picks(PICKS)
    sums = np.cumsum(picture(), axis=1, dtype=np.float64)
    bring(window, "serial", {"image": replace(made()["image"], array=sums)})
    beside = stack.view_with(INPUT)
    assert stack.view is not beside and stack.placed
    assert stack.view.display is not None and beside.display is not None
    assert (stack.view.display.low, stack.view.display.high) == (sums.min(), sums.max())
    assert (beside.display.low, beside.display.high) == (picture().min(), picture().max())
    stack.view.display.set_levels(0, 900)
    session.set_params({"sums": "exclusive"})
    bring(window, "serial", {"image": replace(made()["image"], array=sums - picture())})
    assert stack.view.display.high == 900, "a parameter leaves levels alone"
    session.set_filter("mean2d")
    bring(window, "serial", {"image": made()["image"]})
    assert stack.view is stack.view_with(INPUT)


def test_sums_of_a_signal_have_limits_of_their_own_below_the_input(window: MainWindow) -> None:
    open_input(window, False)
    window.controller.session.set_filter("scan1d")
    window.controller.session.set_picks(PICKS)
    sums = np.cumsum(100 + wave())
    bring(window, "serial", {"signal": replace(made()["signal"], array=sums, unit="")})
    view: Any = window.stack.view
    beside: Any = window.stack.view_with(INPUT)
    assert view is not beside and window.stack.placed
    assert view.pane.plot.box.viewRange()[1][1] > 20_000 and beside.pane.plot.box.viewRange()[1][1] < 3
