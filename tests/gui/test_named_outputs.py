"""Several outputs of one filter: each by its name, one of them looked at, and all of what is shown of the same run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from made_results import LENGTH, RATE, Made, bring, giving, made, picture, wave
from PySide6.QtCore import Qt

from app.models.results.drawing import LARGE
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import LEVELS
from gpu_ops import find_filter
from gpu_ops.engine.messages import SaveRequest
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Input

NAMES = ("image", "histogram", "mean", "figures")


class Engine(FakeEngine):
    """Keeps what was released."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def release(self, segment: str) -> None:
        self.released.append(segment)


@pytest.fixture
def window(qtbot: Any) -> Iterator[MainWindow]:
    """A window with an image, and a filter that gives four outputs of it."""
    window = make(qtbot, Engine())
    outputs = [(name, made()[name].kind) for name in NAMES]
    with giving(find_filter("mean2d"), *outputs), giving(find_filter("box"), ("image", "image")):
        engine(window).show(Input("image", picture(), "yx", "waves", {"generator": "waves"}))
        window.controller.session.set_filter("mean2d")
        window.controller.session.set_picks(("serial", "parallel"))
        yield window


def engine(window: MainWindow) -> Any:
    return window.controller._engine


def results() -> dict[str, Made]:
    return {name: made()[name] for name in NAMES}


def look_at(qtbot: Any, window: MainWindow, name: str) -> None:
    """Click on an output's button."""
    button = window.stack.bar.outputs.button(name)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=button.rect().center())


def chosen(window: MainWindow) -> list[str]:
    outputs = window.stack.bar.outputs
    return [choice.id for choice in outputs.choices if outputs.button(choice.id).isChecked()]


def test_each_output_is_looked_at_by_its_name(qtbot: Any, window: MainWindow) -> None:
    bring(window, "serial", results(), ok=True)
    assert [c.title for c in window.stack.bar.outputs.choices] == ["Image", "Histogram", "Mean", "Figures"]
    assert chosen(window) == ["image"] and window.stack.view.widget is window.panes
    assert np.array_equal(window.panes.pane("serial").layer.pyramid.array, picture())
    look_at(qtbot, window, "histogram")
    view: Any = window.stack.view
    assert chosen(window) == ["histogram"]
    assert np.array_equal(view.cells["serial"].drawn.array, made()["histogram"].array)
    assert view.cells["parallel"].drawn is None and view.state("parallel") is None
    assert view.state("serial") == "fresh"
    assert window.panes.isVisible() is False and window.stack.view_with(INPUT).widget.isVisible()
    look_at(qtbot, window, "mean")
    assert window.stack.view.value_text("serial") == "129.0625 counts"
    look_at(qtbot, window, "image")
    assert window.stack.view.widget is window.panes and window.panes.keys == [INPUT, "serial", "parallel"]
    assert np.array_equal(window.panes.pane("serial").layer.pyramid.array, picture())
    assert np.array_equal(window.panes.pane(INPUT).layer.pyramid.array, picture())


def test_one_output_needs_no_choice(window: MainWindow) -> None:
    assert window.stack.bar.outputs.isVisible()
    window.controller.session.set_filter("box")
    assert not window.stack.bar.isVisible()


def test_the_choice_is_kept_for_every_filter_and_while_parameters_change(qtbot: Any, window: MainWindow) -> None:
    session = window.controller.session
    look_at(qtbot, window, "histogram")
    session.set_params({**session.choice.params, "window": 9})
    assert chosen(window) == ["histogram"]
    session.set_filter("box")
    assert window.stack.view.widget is window.panes
    session.set_filter("mean2d")
    assert chosen(window) == ["histogram"] and session.output.id == "histogram"


def test_an_output_that_is_not_computed_is_asked_for_when_it_is_chosen(qtbot: Any, window: MainWindow) -> None:
    session, filter = window.controller.session, find_filter("mean2d")
    image, histogram, *others = filter.outputs
    asked = replace(histogram, when={"border": ("wrap", "zero")})
    object.__setattr__(filter, "outputs", (image, asked, *others))  # `giving` puts the filter's own back
    bring(window, "serial", {name: results()[name] for name in ("image", "mean", "figures")}, ok=True)
    look_at(qtbot, window, "histogram")
    assert session.choice.params["border"] == "wrap" and session.output.id == "histogram"
    assert chosen(window) == ["histogram"] and window.stack.view.cells["serial"].drawn is None  # type: ignore[attr-defined]
    engine(window).end()
    bring(window, "serial", results(), ok=True)
    view: Any = window.stack.view
    assert np.array_equal(view.cells["serial"].drawn.array, made()["histogram"].array)
    session.set_params({**session.choice.params, "border": "zero"})
    assert session.output.id == "histogram", "these parameters ask for it as well"
    session.set_params({**session.choice.params, "border": "nearest"})
    assert session.output.id == "image" and chosen(window) == ["image"]
    act(window, "undo")
    assert session.output.id == "histogram" and chosen(window) == ["histogram"]


def test_levels_and_zoom_of_the_input_stay_through_other_outputs(qtbot: Any, window: MainWindow) -> None:
    bring(window, "serial", results())
    window.display.set_levels(40, 90)
    act(window, "zoom_in")
    kept = window.display.scale
    look_at(qtbot, window, "histogram")
    assert window.stack.display is window.display, "the levels are those of the input beside it"
    look_at(qtbot, window, "image")
    assert (window.display.low, window.display.high, window.display.scale) == (40, 90, kept)


def test_what_is_shown_is_of_one_run(qtbot: Any, window: MainWindow) -> None:
    session = window.controller.session
    bring(window, "serial", results(), ok=True)
    look_at(qtbot, window, "histogram")
    other = Made("bars", np.arange(256, dtype=np.uint32), made()["histogram"].axes)
    session.set_params({**session.choice.params, "window": 9})
    view: Any = window.stack.view
    assert view.state("serial") == "stale"
    engine(window).end()
    bring(window, "serial", results() | {"histogram": other}, ok=True)
    assert np.array_equal(view.cells["serial"].drawn.array, other.array) and view.state("serial") == "fresh"
    session.set_filter("box")
    assert window.panes.pane("serial").layer.pyramid is None, "nothing of the filter before"
    session.set_filter("mean2d")
    assert window.stack.view is view and view.cells["serial"].drawn is None
    engine(window).end()
    bring(window, "serial", results())
    engine(window).show(Input("image", picture()[:20], "yx", "lower", {"generator": "lower"}))
    assert view.cells["serial"].drawn is None and view.state("serial") is None
    beside: Any = window.stack.view_with(INPUT)
    assert beside.grid.pane(INPUT).layer.shape == (20, 32)


def test_an_input_of_another_kind_ends_all_of_it(qtbot: Any, window: MainWindow) -> None:
    bring(window, "serial", results())
    look_at(qtbot, window, "histogram")
    engine(window).show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
    assert window.stack.view.widget.isAncestorOf(window.signal_pane) and window.signal_pane.isVisibleTo(window)
    assert not window.stack.sides.beside.isVisibleTo(window)
    assert [c.key for c in window.signal_pane.curves if c.visible] == [INPUT]
    assert not window.tabs.isTabVisible(window.docks._tab(LEVELS))
    engine(window).show(Input("image", picture(), "yx", "waves", {"generator": "waves"}))
    assert window.tabs.isTabVisible(window.docks._tab(LEVELS))


def test_findings_and_verdicts_come_along(qtbot: Any, window: MainWindow) -> None:
    text = "read-after-write hazard: tile[3]"
    found = {"kind": "hazard", "severity": "error", "count": 1, "detail": "", "text": text, "file": "k.cu", "line": 3}
    bring(window, "serial", results(), ok=False, findings=[found])
    look_at(qtbot, window, "figures")
    view: Any = window.stack.view
    assert view.state("serial") == "wrong"
    assert text in view.cells["serial"].findings.text()


def test_save_takes_what_is_looked_at(qtbot: Any, window: MainWindow, tmp_path: Path) -> None:
    asked: list[str] = []

    def target(_parent: Any, _title: str, proposed: str, kinds: str) -> str:
        asked.append(f"{Path(proposed).name} {kinds}")
        return str(tmp_path / "out.csv")

    window.files.target = target
    bring(window, "serial", results())
    for name, ending in (("histogram", ".csv"), ("mean", ".txt"), ("image", ".png")):
        look_at(qtbot, window, name)
        act(window, "save")
        assert asked[-1].startswith(f"waves-mean-window3-serial-{name}{ending} ")
        request = next(r for r in reversed(engine(window).asked) if isinstance(r, SaveRequest))
        assert request.result.kind == made()[name].kind
        assert np.array_equal(engine(window).arrays[request.result.array.segment], made()[name].array)


def test_segments_are_let_go_of(window: MainWindow) -> None:
    def given(*variants: str) -> list[str]:
        before = set(engine(window).arrays)
        for variant in variants:
            bring(window, variant, results())
        return sorted(set(engine(window).arrays) - before)

    released, session = engine(window).released, window.controller.session
    released.clear()
    first = given("serial", "parallel")
    assert len(first) == 2 * len(NAMES) and released == []
    second = given("serial")
    assert sorted(released) == sorted(first[: len(NAMES)])
    session.set_picks(("serial",))
    assert sorted(released) == sorted(first)
    assert sorted(given("parallel")) == sorted(released[len(first) :]), "what nobody picks is not kept"
    released.clear()
    session.set_filter("box")
    assert sorted(released) == sorted(second)
    released.clear()
    stray = made()["mean"]
    bring(window, "serial", {"unknown": stray})
    assert len(released) == 1, "an output that the filter does not give"


def test_a_large_result_is_drawn_away_from_the_window(qtbot: Any, window: MainWindow) -> None:
    side = int(LARGE**0.5) + 1
    axes = tuple(Axis(f"frequency {name}", "1/px", 0, 1 / side, (), 1.0) for name in "yx")
    whole = Made("spectrum", np.ones((side, side), np.complex64), axes)
    with giving(find_filter("mean2d"), ("spectrum", "spectrum"), ("mean", "number")):
        window.stack._show_output_again()
        bring(window, "serial", {"spectrum": whole, "mean": made()["mean"]})
        view: Any = window.stack.view
        assert view.grid.pane("serial").layer.pyramid is None
        qtbot.waitUntil(lambda: view.grid.pane("serial").layer.pyramid is not None, timeout=30_000)
        assert view.state("serial") == "fresh"
        bring(window, "parallel", {"spectrum": whole, "mean": made()["mean"]})
        look_at(qtbot, window, "mean")
        qtbot.wait(200)
        assert window.stack.view.value_text("parallel") == "129.0625 counts"
        assert view.grid.panes == {}, "what came too late is not shown"


def test_only_signals_are_heard(qtbot: Any, window: MainWindow) -> None:
    mean = find_filter("mean1d")
    with giving(mean, ("signal", "signal"), ("other", "signal"), ("spectrum", "spectrum")):
        engine(window).show(Input("signal", wave(), "t", "wave", {"generator": "wave"}, RATE))
        window.controller.session.set_picks(("serial",))
        half = Made("signal", wave() / 2, made()["signal"].axes)
        same_shape = Made(
            "spectrum", np.abs(np.fft.fft(wave())), (Axis("frequency", "Hz", 0, RATE / LENGTH, (), RATE),)
        )
        bring(window, "serial", {"signal": made()["signal"], "other": half, "spectrum": same_shape})
        playback = window.context.playback
        assert playback.choices.keys() == {INPUT, "serial"}
        assert np.array_equal(playback.choices["serial"], wave())
        look_at(qtbot, window, "other")
        assert np.array_equal(playback.choices["serial"], wave() / 2)
        look_at(qtbot, window, "spectrum")
        assert playback.choices.keys() == {INPUT}
        look_at(qtbot, window, "signal")
        assert playback.choices.keys() == {INPUT, "serial"}
