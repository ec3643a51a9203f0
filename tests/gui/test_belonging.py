"""What is on the screen belongs together: picture, verdict, parameters and input, at every moment of a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from pytestqt.qtbot import QtBot
from result_rows import row
from simulated_rows import shared_result

from app.models.experiment.slot import RowSlot
from app.views.strokes import colour
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import EXPERIMENT, LEVELS
from gpu_ops import save
from gpu_ops.engine.messages import Finished, RunRequest, RunUpdate
from gpu_ops.engine.shared import Statistics
from gpu_ops.report.rows import Row
from gpu_ops.types import Input

PICKS = ("serial", "parallel")


def run(window: MainWindow) -> RunRequest:
    """The run that was asked for last."""
    return [r for r in engine(window).asked if isinstance(r, RunRequest)][-1]


def engine(window: MainWindow) -> Any:
    return window.controller._engine


def bring(window: MainWindow, request: RunRequest, variant: str, array: np.ndarray, **more: Any) -> None:
    """The engine's news of one pick of a run: its result, with verdict `ok` when that is known already."""
    news = row(variant, "cpu", None, filter=request.filter, params=dict(request.params), shape=array.shape, **more)
    bring_row(window, request, news, array)


def bring_row(window: MainWindow, request: RunRequest, news: Row, array: np.ndarray) -> None:
    name = f"result{len(engine(window).arrays)}"
    engine(window).arrays[name] = array
    low, high = float(array.min()), float(array.max())
    figures = Statistics(low, high, low, {0.1: low, 1: low, 50: low, 99: high, 99.9: high}, (1,) * 256, 0, 0)
    output = "image" if array.ndim == 2 else "signal"
    shared = {output: shared_result(output, name, array, figures)}
    update = RunUpdate(request.job, request.generation, "computed", news, shared)
    engine(window).answered.emit(update)


def verify(window: MainWindow, request: RunRequest, variant: str, ok: bool = True) -> None:
    news = row(variant, "cpu", None, filter=request.filter, params=dict(request.params), ok=ok)
    engine(window).answered.emit(RunUpdate(request.job, request.generation, "verified", news))


def finish(window: MainWindow, request: RunRequest) -> None:
    engine(window).answered.emit(Finished(request.job))


def picture(value: float, dtype: str = "uint8", size: int = 40) -> np.ndarray:
    array = np.full((size, size), value, dtype)
    array[0, 0] = 0
    return array


def image(array: np.ndarray, name: str = "one") -> Input:
    return Input("image", array, "yx", name, {"generator": name})


def signal(array: np.ndarray, rate: float | None) -> Input:
    return Input("signal", array, "t", "signal", {"generator": "signal"}, rate)


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = make(qtbot, FakeEngine())
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(PICKS)
    return made


def verified(window: MainWindow, array: np.ndarray) -> RunRequest:
    """An input with verified results of both picks."""
    engine(window).show(image(array))
    request = run(window)
    for variant in PICKS:
        bring(window, request, variant, array, ok=None)
        verify(window, request, variant)
    finish(window, request)
    assert [state(window, v) for v in PICKS] == ["fresh", "fresh"]
    return request


def state(window: MainWindow, key: str) -> str | None:
    return window.panes.pane(key).layer.state


def painted(window: MainWindow, key: str) -> np.ndarray:
    """The gray values that a pane paints in its middle, below its texts."""
    drawn = window.panes.pane(key).canvas.grab().toImage()
    return np.array(drawn.pixelColor(drawn.width() // 2, drawn.height() // 2).getRgb()[:3])


def test_a_file_of_the_same_size_has_levels_of_its_own(window: MainWindow) -> None:
    verified(window, picture(255))
    window.display.set_levels(10, 20)
    window.display.zoom_at(8, 20, 20)
    engine(window).show(image(picture(1.0, "float32"), "two"))
    assert (window.display.low, window.display.high) == (0, 1)
    assert window.display.following
    window.actions_by_id["levels_auto"].trigger()
    assert (window.display.low, window.display.high) == (0, 1)
    window.docks[LEVELS].most.click()
    assert (window.display.low, window.display.high) == (0, 1)
    assert painted(window, INPUT).tolist() == [255] * 3


def test_levels_follow_the_input_and_no_result(window: MainWindow) -> None:
    request = verified(window, picture(255))
    bring(window, request, "serial", picture(104), ok=None)
    assert (window.display.low, window.display.high) == (0, 255)
    engine(window).show(image(picture(200, size=30), "smaller"))
    bring(window, run(window), "serial", np.full((30, 30), 104, np.uint8), ok=None)
    assert (window.display.low, window.display.high) == (0, 200)


def test_colours_are_shown_as_they_are(window: MainWindow) -> None:
    array = np.zeros((40, 40, 3), np.uint8)
    array[:] = 200, 10, 30
    array[0, 0] = 255, 10, 10
    array = np.minimum(array, 200)
    engine(window).show(image(array))
    assert painted(window, INPUT).tolist() == [200, 10, 30]


def test_results_of_another_file_are_gone_at_once(window: MainWindow) -> None:
    verified(window, picture(255))
    engine(window).show(image(picture(7), "two"))
    for variant in PICKS:
        assert state(window, variant) is None
        assert window.panes.pane(variant).layer.pyramid is None
    request = run(window)
    bring(window, request, "serial", picture(7), ok=None)
    assert state(window, "serial") == "unverified" and window.panes.pane("serial").layer.current


def test_a_turned_parameter_dims_what_is_shown_until_its_own_result_comes(window: MainWindow) -> None:
    before = verified(window, picture(255))
    window.controller.session.set_params({**before.params, "window": 9})
    for variant in PICKS:
        layer = window.panes.pane(variant).layer
        assert (layer.state, layer.current, layer.verdict) == ("stale", False, "of window 3")
    veiled = painted(window, "serial")
    request = run(window)
    assert request.params["window"] == 9
    bring(window, request, "serial", picture(250), ok=None)
    assert state(window, "serial") == "unverified" and window.panes.pane("serial").layer.current
    assert painted(window, "serial").tolist() != veiled.tolist()
    assert state(window, "parallel") == "stale"
    verify(window, request, "serial")
    assert state(window, "serial") == "fresh"
    verify(window, request, "parallel")  # a verdict without its picture says nothing of the one that is shown
    assert state(window, "parallel") == "stale"


def test_another_knob_makes_the_row_stale_and_the_next_one_takes_its_place(window: MainWindow) -> None:
    session, results = window.controller.session, window.controller.results
    session.set_devices(("cuda:0",))
    session.set_picks(("naive",))
    engine(window).show(image(picture(255)))
    slot = RowSlot("naive", "cuda:0")
    for block in (64, 256):
        if block == 256:
            session.set_knobs("naive", {"block": block})
            assert results.entry(slot).state in ("stale", "running") and not results.entry(slot).current
            assert state(window, "naive") == "stale"
            assert window.panes.pane("naive").layer.verdict == "of block 128"
        key = session.shown.key("naive")
        news = row("naive", "cuda:0", 1e-5, filter="mean2d", params=key.params, knobs=key.knobs, shape=(40, 40))
        bring_row(window, run(window), news, picture(block - 1))
        assert results.entry(slot).row.knobs == key.knobs and results.entry(slot).current
        assert len(results) == 1 and state(window, "naive") == "fresh"
        finish(window, run(window))


def test_what_comes_of_an_overtaken_run_says_so(window: MainWindow) -> None:
    params = verified(window, picture(255)).params
    window.controller.session.set_params({**params, "window": 5})
    request = run(window)
    window.controller.session.set_params({**params, "window": 7})
    bring(window, request, "serial", picture(99), ok=None)
    verify(window, request, "serial")
    layer = window.panes.pane("serial").layer
    assert (layer.state, layer.verdict) == ("stale", "of window 5")
    finish(window, request)
    bring(window, run(window), "serial", picture(98), ok=None)
    assert state(window, "serial") == "unverified"


def test_a_variant_that_was_unticked_while_it_ran_leaves_no_row(window: MainWindow) -> None:
    """The newer choice waits for the engine, so what comes is of the newest generation still."""
    engine(window).show(image(picture(255)))
    first, session, results = run(window), window.controller.session, window.controller.results
    said: list[str] = []
    window.controller.message.connect(lambda *words: said.append(words[1]))
    session.set_picks(("parallel",))
    assert run(window) is first and "serial" in {pick.variant for pick in first.picks}
    bring(window, first, "serial", picture(9))
    bring(window, first, "serial", picture(9), failure="it fell", failure_kind="kernel")
    bring(window, first, "parallel", picture(9))
    assert [slot.variant for slot in results.slots()] == ["parallel"] and said == []
    session.set_picks(("serial", "parallel"))
    verify(window, first, "serial")
    assert [slot.variant for slot in results.slots()] == ["serial", "parallel"]


def test_a_new_picture_is_not_stale_though_its_time_is(window: MainWindow) -> None:
    first = verified(window, picture(255))
    timed = row("serial", "cpu", 1e-3, filter="mean2d", params=dict(first.params))
    engine(window).answered.emit(RunUpdate(first.job, first.generation, "timed", timed))
    window.controller.session.set_params({**first.params, "window": 9})
    request = run(window)
    bring(window, request, "serial", picture(250), ok=None)
    verify(window, request, "serial")
    assert state(window, "serial") == "fresh"
    entry = window.controller.results.entry(RowSlot("serial", "cpu"))
    assert entry.state == "stale" and entry.seconds("kernel") == 1e-3
    assert entry.timed.params["window"] == 3 and entry.row.params["window"] == 9


def test_another_tick_leaves_the_other_pictures_as_they_are(window: MainWindow) -> None:
    verified(window, picture(255))
    window.controller.session.set_picks((*PICKS, "scipy"))
    assert [state(window, v) for v in (*PICKS, "scipy")] == ["fresh", "fresh", None]


def test_a_difference_of_an_earlier_choice_says_so(window: MainWindow, qtbot: QtBot) -> None:
    request = verified(window, picture(255))
    window.panes.set_mode("difference")
    window.panes.set_pair("serial", "parallel")
    qtbot.waitUntil(lambda: window.panes.difference.distance is not None)
    assert "earlier" not in window.panes.compare.notes
    window.controller.session.set_params({**request.params, "window": 9})
    assert "earlier" in window.panes.compare.notes and not window.panes.difference.layer.current


def test_a_new_signal_is_fitted(window: MainWindow) -> None:
    pane = window.signal_pane
    engine(window).show(signal(np.sin(np.arange(1000.0)), 100.0))
    pane.set_range(8.0, 8.5)
    pane.set_cursor(8.2)
    pane.fix_y((-0.1, 0.1))
    engine(window).show(signal(np.arange(300.0), 100.0))
    assert pane.view_range() == pytest.approx((0, 2.99))
    assert pane.plot.box.viewRange()[1][1] >= 299 and pane.cursor_x is None


def test_curves_of_an_earlier_choice_are_faint_and_say_so(window: MainWindow) -> None:
    pane, array = window.signal_pane, np.sin(np.arange(100.0))
    engine(window).show(signal(array, 10.0))
    window.controller.session.set_picks(("serial",))
    finish(window, run(window))
    request = run(window)
    bring(window, request, "serial", array / 2, ok=None)
    entry, item = pane._entries[1], pane.items[1]
    full = item.opts["pen"].color()
    assert "unverified" in entry.verdict.text and full == colour(entry.stroke, False)
    verify(window, request, "serial")
    assert "right" in entry.verdict.text
    window.controller.session.set_params({**request.params, "window": 9})
    assert "stale" in entry.verdict.text and item.opts["pen"].color().lightness() > full.lightness() + 50
    assert "of window 5" in entry.verdict.toolTip()


def test_a_file_that_cannot_be_opened_changes_nothing(window: MainWindow, tmp_path: Path) -> None:
    verified(window, picture(255))
    window.display.set_levels(10, 20)
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"no array")
    window.controller.open_file(str(bad))
    assert [state(window, v) for v in PICKS] == ["fresh", "fresh"]
    assert (window.display.low, window.display.high) == (10, 20)


def test_a_real_file_of_the_same_size_is_shown_in_its_own_levels(window: MainWindow, tmp_path: Path) -> None:
    for name, array in (("a.npy", picture(255)), ("b.npy", picture(1.0, "float32"))):
        save(tmp_path / name, array)
        window.controller.open_file(str(tmp_path / name))
    assert (window.display.low, window.display.high) == (0, 1)


def kinds(window: MainWindow) -> list[str]:
    return sorted(kind.id for kind in window.controller.queue.jobs.values())


def test_another_file_does_not_wait_for_what_runs(window: MainWindow, tmp_path: Path) -> None:
    params = verified(window, picture(255)).params
    window.controller.session.set_params({**params, "window": 9})
    running = run(window)
    save(tmp_path / "b.npy", picture(9))
    cancelled: list[int] = []
    engine(window).cancel = lambda job, kill=True: cancelled.append(job) if kill else None
    window.controller.open_file(str(tmp_path / "b.npy"))
    assert cancelled == [running.job]
    assert window.controller.session.input is not None and window.controller.session.input.name == "b.npy"


def test_a_file_that_cannot_be_opened_lets_the_run_go_on(window: MainWindow, tmp_path: Path) -> None:
    params = verified(window, picture(255)).params
    window.controller.session.set_params({**params, "window": 9})
    running = run(window)
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"no array")
    window.controller.open_file(str(bad))
    assert run(window).job > running.job and run(window).params["window"] == 9


def simulating(window: MainWindow) -> tuple[RunRequest, RunRequest]:
    """CPU picks that ran, and the first simulated pick at work."""
    session = window.controller.session
    session.set_devices(("sim",))
    session.set_picks(("serial", "naive", "shared"))
    engine(window).end()
    engine(window).show(image(picture(255)))
    fast = run(window)
    assert [p.variant for p in fast.picks] == ["serial"]
    finish(window, fast)
    slow = run(window)
    assert [p.variant for p in slow.picks] == ["naive"] and kinds(window) == ["simulate"]
    return fast, slow


def test_simulated_picks_come_last_and_one_by_one(window: MainWindow) -> None:
    _, slow = simulating(window)
    window.controller.queue._quiet.timeout.emit()  # the pause after which times are taken
    timing = run(window)
    assert timing.protocol == "quick" and [p.variant for p in timing.picks] == ["serial"]
    finish(window, timing)
    again = run(window)
    assert again.picks == slow.picks and again.generation == slow.generation
    finish(window, again)
    assert [p.variant for p in run(window).picks] == ["shared"]
    window.controller.queue._quiet.stop()
    finish(window, run(window))
    assert not window.controller.busy


def test_a_simulation_gives_way_to_a_newer_choice_at_once(window: MainWindow) -> None:
    _, slow = simulating(window)
    window.controller.session.set_params({**slow.params, "window": 9})
    newer = run(window)
    assert newer.params["window"] == 9 and [p.variant for p in newer.picks] == ["serial"]
    window.controller.cancel()
    assert not window.controller.busy


def test_every_variant_then_a_signal_and_back(window: MainWindow) -> None:
    verified(window, picture(255))
    session = window.controller.session
    session.set_devices(("cuda:0",))
    session.set_picks(tuple(v.id for v in session.filter.variants))
    window.panes.pager.turn(1)
    engine(window).show(signal(np.arange(50.0), 10.0))
    session.set_picks(tuple(v.id for v in session.filter.variants))
    assert window.stack.view.widget.isAncestorOf(window.signal_pane) and window.signal_pane.isVisibleTo(window)
    assert all(curve.key in ("", INPUT) for curve in window.signal_pane.curves)
    engine(window).show(image(picture(9)))
    assert window.panes.keys == [INPUT, *session.choice.picks]
    assert all(window.panes.pane(v).layer.pyramid is None for v in session.choice.picks)


def test_a_verdict_does_not_stay_on_a_curve_of_something_else(window: MainWindow) -> None:
    engine(window).show(signal(np.arange(60.0), 10.0))
    window.controller.session.set_picks(("serial",))
    finish(window, run(window))
    request = run(window)
    bring(window, request, "serial", np.arange(60.0), ok=None)
    verify(window, request, "serial")
    assert [curve.state for curve in window.signal_pane.curves if curve.visible] == [None, "fresh"]
    both = Input("signal", np.zeros((60, 2)), "tc", "both", {"generator": "both"}, 10.0)
    engine(window).show(both)
    assert [curve.state for curve in window.signal_pane.curves if curve.visible] == [None, None]


def test_the_other_kind_of_a_filter_has_choices_of_its_own(window: MainWindow) -> None:
    """The form of the image's filter is never given what the signal's filter offers, and the other way round."""
    session = window.controller.session
    engine(window).show(image(picture(9)))
    session.set_filter("transfer2d")
    engine(window).show(signal(np.arange(50.0), 10.0))
    assert window.docks[EXPERIMENT].form.values()["work"] == session.choice.params["work"] == "mean1d-vector"
    engine(window).show(image(picture(9)))
    assert window.docks[EXPERIMENT].form.values()["work"] == session.choice.params["work"] == "conv3x3-rows"
