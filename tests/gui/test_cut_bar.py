"""The threshold of coefficients as a line in their histogram."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from made_results import RATE, SIDE, Made, bring, image_pyramid, made, picture, wave
from PySide6.QtCore import QPoint, Qt

from app.models.curves.magnitudes import Magnitudes, details
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import find_filter
from gpu_ops.engine.messages import RunRequest
from gpu_ops.output_kinds import Axis, Band, Form
from gpu_ops.params import Param, Threshold
from gpu_ops.types import Input, Output

RULE = Param("rule", "universal", choices=("universal", "manual"))
VALUE = Param("value", 0.0, 0.0, 1e6, when={"rule": ("manual",)}, handle=Threshold("coefficients", "figures", 1))
RESULT = Param("result", "result", choices=("result", "parts"))
LEVELS = Param("levels", 1, 1, 4)
PARTS = {"result": ("parts",)}


def outputs(kind: Any) -> tuple[Output, ...]:
    def exact(_task: Any) -> float:
        return 0.0

    return (
        Output(kind, kind, "", exact),
        Output("noise", kind, "", exact, when=PARTS, signed=True),
        Output("coefficients", "pyramid", "", exact, when=PARTS),
        Output("figures", "table", "", exact, when=PARTS),
    )


def parts(thresholds: tuple[float, ...]) -> dict[str, Made]:
    """What a denoiser of the picture gives."""
    flat, bands = image_pyramid()
    noise = np.linspace(-3, 9, SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
    axes = made()["image"].axes
    rows = Axis("figure", labels=("noise", *(f"{b.orientation} {b.level}" for b in bands[1:])))
    return {
        "image": made()["image"],
        "noise": Made("image", noise, axes),
        "coefficients": Made("pyramid", flat, (Axis("y"), Axis("x")), "", bands),
        "figures": Made("table", np.array([1.5, *thresholds]), (rows,)),
    }


@pytest.fixture
def window(qtbot: Any) -> Iterator[MainWindow]:
    """A window with an image and a filter that has a threshold."""
    window = make(qtbot, FakeEngine())
    filter = find_filter("mean2d")
    before = filter.outputs, filter.params
    object.__setattr__(filter, "outputs", outputs("image"))
    object.__setattr__(filter, "params", (RULE, VALUE, RESULT, LEVELS))
    engine: Any = window.controller._engine
    engine.show(Input("image", picture(), "yx", "waves", {"generator": "waves"}))
    session = window.controller.session
    session.set_filter("box")
    session.set_filter("mean2d")
    session.set_picks(("serial", "parallel"))
    yield window
    session.set_filter("box")
    object.__setattr__(filter, "outputs", before[0])
    object.__setattr__(filter, "params", before[1])


def ask_for_parts(qtbot: Any, window: MainWindow, *thresholds: float) -> Any:
    """The parts come; returns the bar."""
    session, bar = window.controller.session, window.cut_bar
    session.set_param("result", "parts")
    bring(window, "serial", parts(thresholds or (4.0,) * 6), ok=True)
    qtbot.waitUntil(lambda: bar.plot.magnitudes is not None and bool(bar.plot.lines))
    return bar


def test_counts_are_those_of_the_coefficients() -> None:
    rng = np.random.default_rng(5)
    array = rng.normal(0, 3, (64, 2))
    array[20], array[21] = 0, np.nan
    bands = (Band(2, "approximation", (0,), (16,)), Band(2, "detail", (16,), (16,)), Band(1, "detail", (32,), (32,)))
    form = Form(array.shape, "float64", (Axis("coefficient"), Axis("channel")), bands)
    counted = Magnitudes.of(array, form)
    assert [band.level for band in details(form)] == [2, 1]
    assert [counted.total([k]) for k in (0, 1)] == [30, 64] and counted.total([0, 1]) == 94
    sizes = np.abs(array[16:])
    for threshold in (0.0, 1e-9, 0.5, 3.0, 1e9):
        least, most = (np.count_nonzero(sizes < threshold * (1 + sign * 0.01)) for sign in (-1, 1))
        assert least <= counted.below([0, 1], threshold) <= most
    edges = np.geomspace(*counted.span(), 40)
    assert counted.bars([0, 1], edges).sum() == pytest.approx(94, abs=1e-6)
    assert Magnitudes.of(np.zeros_like(array), form).span() == (1.0, 10.0)
    wide = np.zeros(64)
    wide[40:42] = 1e-30, 1e20
    low, high = Magnitudes.of(wide, form).span()
    assert low < high and high / low <= 1.0001e6 and high >= 1e20


def test_it_is_there_while_the_coefficients_are_asked_for(qtbot: Any, window: MainWindow) -> None:
    assert not window.cut_bar.isVisible()
    bar = ask_for_parts(qtbot, window)
    assert bar.isVisible() and bar.plot.lines == (4.0,) and bar.plot.current
    names = [bar.bands.itemText(k) for k in range(bar.bands.count())]
    assert names == ["all details", *(f"{o} {k}" for k in (1, 2) for o in ("horizontal", "vertical", "diagonal"))]
    window.controller.session.set_param("result", "result")
    assert not bar.isVisible() and bar.plot.magnitudes is None


def test_a_drag_moves_the_threshold_live_and_is_one_step_of_undo(qtbot: Any, window: MainWindow) -> None:
    bar, session = ask_for_parts(qtbot, window), window.controller.session
    events: list[float] = []
    session.changed.connect(lambda change: events.append(session.params.get("value", -1)))
    plot = bar.plot
    start, y = round(plot.x_of(4.0)), round(plot.plot().center().y())
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=QPoint(start, y))
    assert session.params["rule"] == "universal", "taking the line does not move it"
    for step in range(1, 5):
        qtbot.mouseMove(plot, QPoint(start + 20 * step, y))
        expected = plot.value_at(start + 20 * step)
        qtbot.waitUntil(lambda expected=expected: session.params["value"] == expected)
    assert session.params["rule"] == "manual" and events == sorted(events) and len(events) == 4
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=QPoint(start + 80, y))
    assert plot.lines == (session.params["value"],)
    assert window.panel.form.values()["value"] == session.params["value"]
    session.undo()
    assert (session.params["rule"], session.params["value"], plot.lines) == ("universal", 0.0, (4.0,))
    session.redo()
    assert plot.lines == (events[-1],)


def test_keys_move_the_line(qtbot: Any, window: MainWindow) -> None:
    bar, session = ask_for_parts(qtbot, window), window.controller.session

    def press(key: Qt.Key, expected: float, held: Any = Qt.KeyboardModifier.NoModifier) -> None:
        qtbot.keyClick(bar.plot, key, held)
        qtbot.waitUntil(lambda: session.params["value"] == pytest.approx(expected))

    press(Qt.Key.Key_Right, 4.2)
    press(Qt.Key.Key_Left, 4.0)
    press(Qt.Key.Key_Right, 4.04, Qt.KeyboardModifier.ShiftModifier)
    press(Qt.Key.Key_Home, 0.0)
    assert bar.plot.x_of(0.0) == bar.plot.plot().left()
    qtbot.keyClick(bar.plot, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: session.params["value"] > 0)
    for _ in range(2):
        session.undo()
    assert session.params["value"] == pytest.approx(4.04), "each key is a step"


def test_the_share_below_is_told_for_one_band_or_all(qtbot: Any, window: MainWindow) -> None:
    bar = ask_for_parts(qtbot, window)
    flat, bands = image_pyramid()
    magnitudes = np.concatenate([np.abs(flat[band.part]).ravel() for band in bands[1:]])
    share = 100 * np.count_nonzero(magnitudes < 4) / magnitudes.size
    assert bar.words.text().startswith("4: ") and "960 coefficients" in bar.words.text()
    assert float(bar.words.text().split()[1]) == pytest.approx(share, abs=1)
    qtbot.keyClick(bar.bands, Qt.Key.Key_Down)
    assert bar.bands.currentText() == "horizontal 1" and "256 coefficients" in bar.words.text()
    assert bar.plot.bands == (bands[1:].index(next(b for b in bands if (b.level, b.orientation) == (1, "horizontal"))),)


def test_thresholds_of_bands_are_a_line_each(qtbot: Any, window: MainWindow) -> None:
    bar = ask_for_parts(qtbot, window, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert sorted(bar.plot.lines) == [1, 2, 3, 4, 5, 6] and bar.plot.lines[0] == 4, "the finest is the one to drag"
    assert bar.words.text() == "1 to 6, one for each band and channel"
    bar.bands.setCurrentIndex(bar.bands.findText("vertical 2"))
    bar.bands.activated.emit(bar.bands.currentIndex())
    place = [(b.level, b.orientation) for b in image_pyramid()[1][1:]].index((2, "vertical"))
    assert bar.plot.lines == (place + 1.0,)


def test_what_it_shows_belongs_together(qtbot: Any, window: MainWindow) -> None:
    bar, session = ask_for_parts(qtbot, window), window.controller.session
    bring(window, "parallel", parts((9.0,) * 6), ok=True)
    assert bar.plot.lines == (4.0,), "the first variant stays"
    session.set_picks(("parallel",))
    assert bar.plot.magnitudes is None and bar.plot.lines == ()
    bring(window, "parallel", parts((9.0,) * 6), ok=True)
    qtbot.waitUntil(lambda: bar.plot.lines == (9.0,))
    engine: Any = window.controller._engine
    engine.show(Input("image", picture()[:20], "yx", "lower", {"generator": "lower"}))
    assert bar.isVisible() and bar.plot.magnitudes is None and bar.words.text() == ""
    engine.show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
    assert not bar.isVisible()


def test_a_parameter_of_another_run_makes_it_faint_until_the_new_one_comes(qtbot: Any, window: MainWindow) -> None:
    bar, session = ask_for_parts(qtbot, window), window.controller.session
    session.set_param("value", 3.0)
    session.set_params({**session.params, "rule": "universal"})
    assert bar.plot.lines == (4.0,) and not bar.plot.current and bar.words.text().endswith("of an earlier setting")
    bring(window, "serial", parts((2.5,) * 6), ok=True)
    qtbot.waitUntil(lambda: bar.plot.lines == (2.5,) and bar.plot.current)
    session.set_param("value", 3.0)
    assert bar.plot.lines == (3.0,) and bar.plot.current, "the coefficients do not depend on it"
    session.set_param("levels", 2)
    assert not bar.plot.current
    session.set_param("levels", 1)
    assert bar.plot.current
    session.set_stepped(session.input, ())
    assert not bar.plot.current, "the input has other noise"


def test_a_newer_threshold_waits_for_pictures_but_not_for_verdicts(qtbot: Any, window: MainWindow) -> None:
    session, engine = window.controller.session, window.controller._engine
    session.set_param("result", "parts")
    engine.end()

    def asked() -> list[float]:
        return [r.params["value"] for r in engine.asked if isinstance(r, RunRequest)]

    session.set_param("value", 2.0)
    assert asked()[-1] == 2
    first = dict(session.params)
    session.set_param("value", 3.0)
    bring(window, "serial", parts((2.0,) * 6), stage="computed", params=first)
    assert asked()[-1] == 2, "the picture of the other variant has not come yet"
    bring(window, "parallel", parts((2.0,) * 6), stage="computed", params=first)
    assert asked()[-1] == 3
    bring(window, "serial", parts((3.0,) * 6), stage="computed")
    bring(window, "parallel", parts((3.0,) * 6), stage="computed")
    count = len(asked())
    session.set_param("value", 4.0)
    assert asked()[count:] == [4.0], "it only verifies"


def test_noise_has_zero_in_the_middle_of_its_levels(qtbot: Any, window: MainWindow) -> None:
    ask_for_parts(qtbot, window)
    before = window.display.low, window.display.high
    window.controller.session.set_output("noise")
    view, beside = window.stack.view, window.stack.view_with(INPUT)
    assert view is not beside and view.display is not None and beside.widget.isVisible()
    assert (view.display.low, view.display.high) == (-9, 9)
    view.display.auto_levels("auto")
    assert (view.display.low, view.display.high) == (-9, 9)
    assert window.stack.display is view.display, "the panel of levels is that of the noise"
    window.controller.session.set_output("image")
    assert window.stack.view.widget is window.panes and (window.display.low, window.display.high) == before
