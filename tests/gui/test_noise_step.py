"""Noise on the input: what is asked of the engine, what is shown meanwhile, and that all of it belongs together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from live import live_window, real_engine, settle
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from result_rows import row
from test_belonging import bring, engine, finish, image, kinds, picture, run, signal, state, verify

from app.models.experiment.noise import Noise
from app.models.experiment.slot import RowSlot
from app.views.experiment.noise_control import STOPS
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import TABLE
from gpu_ops import add_noise, sample, save
from gpu_ops.engine.messages import (
    Failed,
    Finished,
    RunRequest,
    RunUpdate,
    Stepped,
    StepsRequest,
)
from gpu_ops.engine.shared import SharedArray, Statistics
from gpu_ops.running.quality import compare
from gpu_ops.types import Closeness, Quality

PICKS = ("serial", "parallel")


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = make(qtbot, FakeEngine())
    made.controller.session.set_filter("mean2d")
    made.controller.session.set_picks(PICKS)
    made.released = []
    engine(made).release = made.released.append
    return made


def opened(window: MainWindow, value: float = 255) -> RunRequest:
    """An input with verified results of both picks, and nothing at work."""
    array = picture(value)
    engine(window).show(image(array))
    request = run(window)
    for variant in PICKS:
        bring(window, request, variant, array, ok=None)
        verify(window, request, variant)
    finish(window, request)
    window.controller.queue._quiet.stop()
    assert [state(window, v) for v in PICKS] == ["fresh", "fresh"]
    return request


def asked(window: MainWindow) -> list[StepsRequest]:
    return [r for r in engine(window).asked if isinstance(r, StepsRequest)]


def sigmas(requests: list[StepsRequest]) -> list[float]:
    return [request.steps[-1]["sigma"] for request in requests]


def runs(window: MainWindow) -> int:
    return sum(isinstance(r, RunRequest) for r in engine(window).asked)


def answer(window: MainWindow, request: StepsRequest, value: float, end: bool = True) -> str:
    """The engine's answer to a request for noise: a picture of one value. Returns its segment."""
    (wanted,) = request.steps
    name = f"noisy{len(engine(window).arrays)}"
    array = np.full(request.input.array.shape, value, request.input.array.dtype)
    engine(window).arrays[name] = array
    figures = Statistics(
        value, value, value, {0.1: value, 1: value, 50: value, 99: value, 99.9: value}, (1,) * 256, 0, 0
    )
    fields = {**vars(request.input), "origin": {**request.input.origin, "steps": [wanted]}, "statistics": figures}
    fields |= {"array": SharedArray(name, array.shape, array.dtype.name), "clean": request.input.array}
    engine(window).answered.emit(Stepped(request.job, type(request.input)(**fields), (name,)))
    if end:
        engine(window).answered.emit(Finished(request.job))
    return name


def noisy(window: MainWindow, sigma: float = 20, value: float = 90) -> str:
    """The input with noise, and the run that follows, not answered yet."""
    window.controller.session.set_noise(Noise(sigma, 0))
    return answer(window, asked(window)[-1], value)


def shown(window: MainWindow, key: str) -> float:
    return float(np.asarray(window.panes.pane(key).layer.pyramid.array)[5, 5])


def test_a_tick_asks_for_noise_and_then_runs_on_it(window: MainWindow, qtbot: QtBot) -> None:
    opened(window)
    before = runs(window)
    qtbot.keyClick(window.panel.noise.tick, Qt.Key.Key_Space)
    (request,) = asked(window)
    assert sigmas([request]) == [20] and request.input is window.controller.session.original
    assert runs(window) == before and kinds(window) == ["steps"]
    segment = answer(window, request, 90)
    assert runs(window) == before + 1 and run(window).input.array.segment == segment
    assert shown(window, INPUT) == 90 and run(window).input is window.controller.session.input


def test_results_of_other_noise_are_marked_until_their_own_come(window: MainWindow) -> None:
    opened(window)
    noisy(window)
    assert [state(window, v) for v in PICKS] == ["stale", "stale"] and shown(window, "serial") == 255
    assert not window.panes.pane("serial").layer.current
    assert not window.controller.results.entry(RowSlot("serial", "cpu")).current
    request = run(window)
    bring(window, request, "serial", picture(91), ok=None)
    assert state(window, "serial") == "unverified" and window.panes.pane("serial").layer.current
    verify(window, request, "serial")
    assert [state(window, v) for v in PICKS] == ["fresh", "stale"]


def test_late_results_of_other_noise_are_dropped(window: MainWindow) -> None:
    opened(window)
    noisy(window, 20)
    old = run(window)
    window.controller.session.set_noise(None)  # the original is back at once, the run on the noise has not ended
    bring(window, old, "serial", picture(13), ok=None)
    assert shown(window, "serial") == 255 and state(window, "serial") == "stale"
    finish(window, old)
    assert run(window).generation > old.generation and run(window).input is window.controller.session.original


def test_zoom_levels_and_parameters_stay(window: MainWindow) -> None:
    params = dict(opened(window).params)
    window.display.zoom_at(4, 10, 10)
    window.display.set_levels(20, 90)
    place = window.display.centre, window.display.scale
    noisy(window)
    assert (window.display.centre, window.display.scale) == place and not window.display.following
    assert (window.display.low, window.display.high) == (20, 90)
    assert dict(run(window).params) == params and window.display.statistics.minimum == 90
    window.controller.session.set_noise(None)
    assert (window.display.low, window.display.high) == (20, 90) and window.display.statistics.minimum == 0


def test_automatic_levels_follow_the_noise(window: MainWindow) -> None:
    engine(window).show(image(picture(1.0, "float32")))
    finish(window, run(window))
    noisy(window, 0.1, 2.0)
    assert window.display.low < 2 < window.display.high and window.display.mode == "auto"


def test_off_brings_back_exactly_the_original(window: MainWindow) -> None:
    opened(window)
    session = window.controller.session
    original = session.input
    segment = noisy(window)
    finish(window, run(window))
    window.panel.noise.tick.click()
    assert session.input is original and session.input_noise is None and shown(window, INPUT) == 255
    assert run(window).input is original and window.released.count(segment) == 1
    assert original.array.segment not in window.released


def test_off_before_the_noise_has_come(window: MainWindow) -> None:
    opened(window)
    window.panel.noise.tick.click()
    window.panel.noise.tick.click()
    segment = answer(window, asked(window)[0], 90)
    session = window.controller.session
    assert session.input is session.original and segment in window.released and shown(window, INPUT) == 255
    assert len(asked(window)) == 1 and session.noise is None


def test_a_drag_shows_each_noise_that_comes_with_its_run_and_ends_with_the_last(window: MainWindow) -> None:
    opened(window)
    for sigma in (20, 21, 22, 23):
        window.controller.session.set_noise(Noise(sigma, 0))
    assert sigmas(asked(window)) == [20]
    first = answer(window, asked(window)[0], 90)
    assert run(window).input.array.segment == first and shown(window, INPUT) == 90
    finish(window, run(window))
    assert sigmas(asked(window)) == [20, 23]
    last = answer(window, asked(window)[1], 93)
    assert run(window).input.array.segment == last and window.released.count(first) == 1
    assert window.controller.session.input_noise == Noise(23, 0)
    finish(window, run(window))
    assert len(asked(window)) == 2


def test_noise_waits_for_a_run_and_a_simulation_gives_way_to_it(window: MainWindow) -> None:
    opened(window)
    window.controller.session.set_params({"window": 9, "border": "reflect"})
    window.controller.session.set_noise(Noise(20, 0))
    assert asked(window) == [] and kinds(window) == ["live"]
    finish(window, run(window))
    assert len(asked(window)) == 1 and kinds(window) == ["steps"]
    answer(window, asked(window)[0], 90)
    assert run(window).params["window"] == 9


def test_measuring_waits_for_the_noise(window: MainWindow) -> None:
    opened(window)
    window.controller.session.set_noise(Noise(20, 0))
    window.controller.measure()
    segment = answer(window, asked(window)[0], 90)
    finish(window, run(window))
    assert run(window).protocol == "careful" and run(window).input.array.segment == segment


def test_noise_comes_without_any_variant_as_well(window: MainWindow) -> None:
    opened(window)
    window.controller.session.set_picks(())
    before = runs(window)
    noisy(window)
    assert shown(window, INPUT) == 90 and runs(window) == before and not window.controller.busy


def test_cancelling_takes_the_wish_back(window: MainWindow) -> None:
    opened(window)
    before = runs(window)
    window.panel.noise.tick.click()
    window.actions_by_id["cancel"].trigger()
    assert not window.panel.noise.tick.isChecked() and window.controller.session.noise is None
    assert runs(window) == before and not window.controller.busy and len(asked(window)) == 1


def test_a_failure_says_so_and_the_input_stays(window: MainWindow) -> None:
    opened(window)
    window.panel.noise.tick.click()
    job = asked(window)[0].job
    engine(window).answered.emit(Failed(job, "There is not enough memory.", kind="device"))
    assert window.messages.current().text == "There is not enough memory."
    assert not window.panel.noise.tick.isChecked() and shown(window, INPUT) == 255
    assert len(asked(window)) == 1 and run(window).input is window.controller.session.original


def test_another_file_begins_without_noise(window: MainWindow, tmp_path: Path) -> None:
    opened(window)
    segment = noisy(window)
    finish(window, run(window))
    save(tmp_path / "b.npy", picture(9))
    window.controller.open_file(str(tmp_path / "b.npy"))
    session = window.controller.session
    assert session.input is session.original and session.noise is session.input_noise is None
    assert not window.panel.noise.tick.isChecked() and window.windowTitle().startswith("b.npy –")
    assert shown(window, INPUT) == 9 and window.released.count(segment) == 1
    assert run(window).input is session.input


def test_noise_for_a_file_that_is_gone_is_dropped(window: MainWindow) -> None:
    opened(window)
    window.panel.noise.tick.click()
    late = asked(window)[0]
    engine(window).show(image(picture(7), "two"))
    segment = answer(window, late, 90)
    assert shown(window, INPUT) == 7 and segment in window.released
    assert window.controller.session.input is window.controller.session.original
    assert not window.panel.noise.tick.isChecked()


def test_noise_goes_on_if_the_other_file_cannot_be_opened(window: MainWindow, tmp_path: Path) -> None:
    opened(window)
    window.panel.noise.tick.click()
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"no array")
    window.controller.open_file(str(bad))  # stops the noise, and finds nothing
    assert sigmas(asked(window)) == [20, 20]
    answer(window, asked(window)[1], 90)
    assert shown(window, INPUT) == 90 and window.panel.noise.tick.isChecked()


def test_another_filter_keeps_the_noise(window: MainWindow) -> None:
    opened(window)
    segment = noisy(window)
    finish(window, run(window))
    window.controller.session.set_filter("box")
    assert run(window).filter == "box" and run(window).input.array.segment == segment
    assert len(asked(window)) == 1 and window.panel.noise.tick.isChecked()
    assert window.panes.pane(INPUT).layer.title == "one + noise σ 20"


def test_another_filter_while_noise_is_added(window: MainWindow) -> None:
    opened(window)
    window.panel.noise.tick.click()
    window.controller.session.set_filter("box")
    segment = answer(window, asked(window)[0], 90)
    assert run(window).filter == "box" and run(window).input.array.segment == segment
    assert shown(window, INPUT) == 90 and len(asked(window)) == 1


def test_undo_leaves_the_noise_alone(window: MainWindow) -> None:
    opened(window)
    noisy(window)
    finish(window, run(window))
    window.controller.session.set_params({"window": 9, "border": "reflect"})
    window.controller.session.undo()
    assert window.controller.session.noise == Noise(20, 0) and shown(window, INPUT) == 90


# The control


def test_the_control_waits_for_an_input_and_suits_it(window: MainWindow) -> None:
    noise = window.panel.noise
    assert not noise.isEnabled()
    engine(window).show(image(picture(1.0, "float32")))
    finish(window, run(window))
    noise.tick.click()
    assert sigmas(asked(window))[-1] == 0.08
    engine(window).show(image(picture(60000, "uint16"), "two"))
    noise.tick.click()
    assert noise.sigma.spin.value() == 5000 and window.controller.session.noise == Noise(5000, 0)


def test_slider_number_and_seed_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    opened(window)
    noise, session = window.panel.noise, window.controller.session
    assert not noise.slider.isVisible() and not noise.seed.isVisible()
    noise.tick.click()
    assert noise.slider.isVisible() and noise.sigma.spin.text() == "σ 20"
    qtbot.keyClick(noise.slider, Qt.Key.Key_End)
    assert session.noise == Noise(128, 0) and noise.slider.value() == STOPS
    qtbot.keyClick(noise.slider, Qt.Key.Key_Left)
    assert session.noise == Noise(127, 0)
    for box, text in ((noise.sigma.spin, "300"), (noise.seed.spin, "7")):
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, text)
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert session.noise == Noise(300, 7) and noise.slider.value() == STOPS


@pytest.mark.parametrize("text, words", [("-3", "noise must be a number from 0"), ("abc", "is not a number")])
def test_a_bad_number_is_refused_with_its_reason(window: MainWindow, qtbot: QtBot, text: str, words: str) -> None:
    opened(window)
    noise = window.panel.noise
    noise.tick.click()
    noise.sigma.spin.setFocus()
    noise.sigma.spin.selectAll()
    qtbot.keyClicks(noise.sigma.spin, text)
    qtbot.keyClick(noise.sigma.spin, Qt.Key.Key_Return)
    assert window.controller.session.noise == Noise(20, 0) and noise.sigma.spin.value() == 20
    assert words in noise._reason.text() and noise._reason.isVisible()


def test_zero_is_none(window: MainWindow) -> None:
    opened(window)
    noise = window.panel.noise
    noise.tick.click()
    noise.sigma.spin.setValue(0)
    assert window.controller.session.noise is None and not noise.tick.isChecked()


# Words


def test_everything_that_names_the_input_names_its_noise(window: MainWindow) -> None:
    opened(window)
    noisy(window)
    assert window.panes.pane(INPUT).layer.title == "one + noise σ 20"
    assert window.windowTitle() == "one + noise σ 20 – Kernelscope"
    assert "one + noise σ 20" in window.panel.input_label.text()
    window.controller.session.set_noise(None)
    assert window.panes.pane(INPUT).layer.title == "one" and window.windowTitle() == "one – Kernelscope"
    assert "noise" not in window.panel.input_label.text()


BEFORE, AFTER = Closeness(10.0, 22.41, 0.3), Closeness(15.0, 27.36, 0.7)


def compared(window: MainWindow, request: RunRequest, variant: str, after: Closeness = AFTER) -> None:
    output = window.controller.session.output.id
    news = row(variant, "cpu", None, filter=request.filter, params=dict(request.params))
    news = replace(news, quality={output: Quality(BEFORE, after)})
    engine(window).answered.emit(RunUpdate(request.job, request.generation, "verified", news))


def test_a_result_says_how_close_it_comes_only_while_it_is_the_present_one(window: MainWindow) -> None:
    opened(window)
    noisy(window)
    request = run(window)
    bring(window, request, "serial", picture(91), ok=None)
    compared(window, request, "serial")
    pane = window.panes.pane("serial")
    assert pane.status.text() == "PSNR 22.4 → 27.4 dB"
    table = window.docks[TABLE]
    place = [c.id for c in table.table_model.columns].index("quality")
    assert table.table_model.index(0, place).data() == "PSNR 22.4 → 27.4 dB"
    tip = table.table_model.index(0, place).data(Qt.ItemDataRole.ToolTipRole)
    assert "SNR 10.00 → 15.00 dB" in tip and "SSIM 0.3000 → 0.7000" in tip
    verify(window, request, "serial")  # as when times are taken of the same run
    assert pane.status.text() == "PSNR 22.4 → 27.4 dB"
    window.controller.session.set_params({**request.params, "window": 9})
    assert "PSNR" not in pane.status.text() and not table.table_model.index(0, place).data()


def test_the_noise_of_a_signal_is_drawn_faintly_behind_its_results(window: MainWindow) -> None:
    pane, array = window.signal_pane, np.sin(np.arange(60.0))
    engine(window).show(signal(array, 10.0))
    window.controller.session.set_picks(("serial",))
    finish(window, run(window))
    finish(window, run(window))
    window.controller.queue._quiet.stop()
    assert pane.items[0].opts["pen"].color().lightness() < 30
    noisy(window, 0.25, 1.0)
    assert pane._entries[0].label.text() == "input · noise σ 0.25"
    request = run(window)
    bring(window, request, "serial", array / 2, ok=None)
    assert [item.opts["pen"].color().lightness() > 150 for item in pane.items[:2]] == [True, False]
    compared(window, request, "serial", Closeness(15.0, None, None))
    assert pane.status.text() == "60 samples   SNR 10.0 → 15.0 dB"


# A real engine

SMALL = {"size": "64x48", "dtype": "uint8"}


@pytest.fixture(scope="module")
def real(qapp: Any) -> Any:
    with real_engine() as made:
        yield made


@pytest.fixture
def live(qtbot: QtBot, real: Any) -> Any:
    with live_window(qtbot, real, picks=PICKS) as made:
        made.controller.queue.timed_after_pause = False
        yield made


def test_on_another_seed_and_off_with_a_real_engine(qtbot: QtBot, live: MainWindow) -> None:
    controller, noise = live.controller, live.panel.noise
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    settle(qtbot, controller, noise.tick.click)
    original = sample("chart", **SMALL)
    for seed in (0, 3):
        if seed:
            settle(qtbot, controller, lambda: noise.seed.spin.setValue(3))
        expected = add_noise(original, 20, seed)
        np.testing.assert_array_equal(live.panes.pane(INPUT).layer.pyramid.array, expected.array)
        assert controller.session.input.origin == expected.origin
        assert [state(live, v) for v in PICKS] == ["fresh", "fresh"]
        found = compare(original.array, expected.array, image=True)
        assert live.panes.pane("serial").status.text().startswith(f"PSNR {found.psnr:.1f} → ")
    settle(qtbot, controller, noise.tick.click)
    np.testing.assert_array_equal(live.panes.pane(INPUT).layer.pyramid.array, original.array)
    entry = controller.results.entry(RowSlot("serial", "cpu"))
    assert entry.row.quality == {} and entry.row.input == original.origin
    assert "PSNR" not in live.panes.pane("serial").status.text()


def test_a_report_of_the_window_says_its_noise(qtbot: QtBot, live: MainWindow) -> None:
    controller = live.controller
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    settle(qtbot, controller, lambda: controller.session.set_noise(Noise(30, 1)))
    rows = controller.results.to_report_rows()
    assert len(rows) == 2
    assert all(r["input"]["steps"] == [{"step": "noise", "sigma": 30.0, "seed": 1}] for r in rows)
    assert all(r["quality"]["image"]["before"]["ssim"] < 1 for r in rows)


def held(real: Any) -> int:
    """How many segments somebody holds."""
    return sum(bool(s.holders) for s in real.client.pool._segments.values())


def test_no_segment_is_left_behind(qtbot: QtBot, live: MainWindow, real: Any) -> None:
    controller = live.controller
    settle(qtbot, controller, lambda: controller.open_sample("chart", SMALL))
    settle(qtbot, controller, lambda: controller.session.set_noise(Noise(1, 0)))
    settle(qtbot, controller, lambda: controller.session.set_noise(None))
    before = held(real)
    for seed in range(2):
        settle(qtbot, controller, lambda seed=seed: controller.session.set_noise(Noise(1, seed)))
    assert held(real) == before + 1, "the noisy array, beside the original"
    settle(qtbot, controller, lambda: controller.session.set_noise(None))
    assert held(real) == before
