"""The whole window with a real engine, driven as a person would."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QSpinBox
from tasks import right

from app.models.experiment.slot import RowSlot
from app.views.window.main_window import INPUT
from gpu_ops import find_filter, save


@pytest.fixture(scope="module")
def engine(qapp):
    with real_engine() as engine:
        yield engine


@pytest.fixture
def window(qtbot, engine):
    with live_window(qtbot, engine, picks=("serial", "parallel")) as window:
        yield window


@pytest.fixture
def controller(window):
    return window.controller


def open_small(controller) -> None:
    """An image that takes the engine no time, where it makes no difference which it is."""
    controller.open_sample("noise", {"size": "120x160", "dtype": "uint8"})


def shown(window, key: str) -> np.ndarray:
    """The array that a pane shows."""
    return np.asarray(window.panes.pane(key).layer.pyramid.array)


def test_a_sample_shows_with_its_results_times_and_verdicts(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: controller.open_sample("camera"))
    assert window.windowTitle().startswith("camera")
    picture = shown(window, INPUT)
    assert picture.shape == (512, 512)
    expected = right(find_filter("mean2d"), picture, window=3, border="reflect")
    for variant in ("serial", "parallel"):
        np.testing.assert_array_equal(shown(window, variant), expected)
        row = controller.results.entry(RowSlot(variant, "cpu")).row
        assert row.ok is True
        assert row.stages["kernel"].median > 0


def test_turning_a_parameter_brings_a_new_picture_and_undo_the_old_one(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    before = shown(window, "serial").copy()
    spin = window.panel.form.findChild(QSpinBox)
    spin.setFocus()

    def turn() -> None:
        qtbot.keyClick(spin, Qt.Key.Key_Up)

    settle(qtbot, controller, turn)
    assert controller.session.choice.params["window"] == 5
    after = shown(window, "serial").copy()
    reference = right(find_filter("mean2d"), shown(window, INPUT), window=5, border="reflect")
    np.testing.assert_array_equal(after, reference)
    settle(qtbot, controller, window.actions_by_id["undo"].trigger)
    np.testing.assert_array_equal(shown(window, "serial"), before)


def test_zoom_and_levels_survive_a_new_result(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    window.display.zoom_at(4.0, 100, 100)
    window.display.set_levels(20, 90)
    place = (window.display.centre, window.display.scale)
    settle(qtbot, controller, lambda: controller.session.set_params({"window": 9, "border": "wrap"}))
    assert (window.display.centre, window.display.scale) == place
    assert (window.display.low, window.display.high) == (20, 90)


def test_a_tick_adds_a_variant_and_its_pane(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    box = window.panel.variants.row("scipy").findChild(QCheckBox)
    settle(qtbot, controller, lambda: qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center()))
    assert "scipy" in controller.session.choice.picks
    assert shown(window, "scipy").shape == (160, 120)
    assert controller.results.entry(RowSlot("scipy", "cpu")).row.ok is True


def test_a_signal_shows_as_curves(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: controller.open_sample("ecg"))
    assert window.stack.view.widget.isAncestorOf(window.signal_pane) and window.signal_pane.isVisibleTo(window)
    assert controller.session.choice.filter == "mean1d"
    names = [curve.name for curve in window.signal_pane.curves if curve.visible]
    titles = {v.id: v.title for v in controller.session.filter.variants}
    assert names == ["input", *(titles[v] for v in controller.session.choice.picks)]
    assert names[1:3] == ["CPU, one core", "CPU, all cores"]


def test_a_file_that_cannot_be_read_is_said_and_nothing_is_lost(qtbot, window, controller, tmp_path: Path) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    picture = shown(window, INPUT).copy()
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    settle(qtbot, controller, lambda: controller.open_file(str(bad)))
    assert "bad.png" in window.messages.current().text
    np.testing.assert_array_equal(shown(window, INPUT), picture)


def test_a_file_opens_and_a_result_is_saved(qtbot, window, controller, tmp_path: Path) -> None:
    path, target = tmp_path / "in.png", tmp_path / "out.png"
    array = np.random.default_rng(1).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    save(path, array)
    window.files.chooser = lambda *_: str(path)
    settle(qtbot, controller, window.actions_by_id["open"].trigger)
    np.testing.assert_array_equal(shown(window, INPUT), array)
    window.files.target = lambda *_: str(target)
    settle(qtbot, controller, window.actions_by_id["save"].trigger)
    assert target.stat().st_size > 100


def test_measure_gives_shares_and_speedups(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    controller.session.set_picks(("serial", "parallel"))
    settle(qtbot, controller, window.panel.measure_button.click)
    for variant in ("serial", "parallel"):
        entry = controller.results.entry(RowSlot(variant, "cpu"))
        assert entry.row.share > 0
        assert entry.row.protocol == "careful"
    speedup = controller.results.speedup(RowSlot("parallel", "cpu"))
    doubted = any(controller.results.entry(RowSlot(v, "cpu")).doubt("kernel") for v in ("serial", "parallel"))
    assert (speedup is None) if doubted else speedup > 0, "a machine that does other work has times, but no speed-up"
    report = json.loads(controller.results.to_json())
    model = report["provenance"]["devices"]["cpu"]["model"]
    assert model and [row["machine"] for row in report["runs"]] == [model] * 2
    assert report["provenance"]["source_tree"] and report["provenance"]["libraries"]


def test_a_killed_engine_is_said_and_the_next_run_works(qtbot, window, controller, engine) -> None:
    settle(qtbot, controller, lambda: controller.open_sample("camera"))
    events: list[str] = []
    controller.busy_changed.connect(events.append)
    controller.session.set_params({"window": 63, "border": "zero"})
    qtbot.waitUntil(lambda: any("CPU, one core" in text for text in events), timeout=PATIENCE)
    os.kill(engine.client.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: window.messages.current() is not None, timeout=PATIENCE)
    assert shown(window, INPUT).shape == (512, 512)
    settle(qtbot, controller, lambda: controller.session.set_params({"window": 3, "border": "zero"}))
    assert controller.results.entry(RowSlot("serial", "cpu")).row.ok is True


@pytest.mark.gpu
@pytest.mark.parametrize("sample, output", [("camera", "image"), ("ecg", "signal")])
def test_cuda_variants_run_verified_and_measured(
    qtbot, window, controller, cuda: str, sample: str, output: str
) -> None:
    settle(qtbot, controller, lambda: controller.open_sample(sample))
    assert controller.session.device == cuda
    kernels = ("naive", "constant", "shared")
    controller.session.set_picks(("serial", *kernels))
    qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)
    settle(qtbot, controller, window.panel.measure_button.click)
    for variant in kernels:
        row = controller.results.entry(RowSlot(variant, cuda)).row
        assert row.ok is True
        assert row.clock == "cuda-event"
        assert set(row.stages) >= {"kernel", "upload", "download", "elapsed", "elapsed_pinned"}


def test_many_changes_end_with_the_newest(qtbot, window, controller) -> None:
    settle(qtbot, controller, lambda: open_small(controller))

    def sweep() -> None:
        for width in range(41, 3, -2):
            controller.session.set_params({"window": width, "border": "reflect"})

    settle(qtbot, controller, sweep)
    reference = right(find_filter("mean2d"), shown(window, INPUT), window=5, border="reflect")
    np.testing.assert_array_equal(shown(window, "parallel"), reference)


def test_inputs_that_are_replaced_give_their_memory_back(qtbot, window, controller, engine) -> None:
    settle(qtbot, controller, lambda: open_small(controller))
    used = engine.client.pool.nbytes
    for _ in range(4):
        settle(qtbot, controller, lambda: open_small(controller))
    assert engine.client.pool.nbytes <= 2 * used
