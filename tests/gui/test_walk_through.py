"""Two walks through the window with a real engine, from a sample over its noise to what the filters make of it.

What is shown has to be right at every stop: the input, the views, the verdicts, and how close results come to the
original without noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox
from pytestqt.qtbot import QtBot

from app.models.experiment.history import Choice
from app.models.experiment.slot import RowSlot
from app.models.experiment.steps import Steps
from app.views.window.main_window import INPUT, MainWindow
from gpu_ops import FILTERS, add_noise, find_filter, sample
from gpu_ops.report.rows import Row
from gpu_ops.types import Filter

NEEDED = ("wavelet1d", "fft1d", "histogram2d", "fft2d", "fft_mask", "wavelet2d")


@pytest.fixture(scope="module")
def engine(qapp: Any) -> Iterator[Any]:
    with real_engine() as made:
        yield made


class Walk:
    """A person at the window."""

    def __init__(self, qtbot: QtBot, window: MainWindow) -> None:
        self.qtbot, self.window = qtbot, window
        self.controller, self.session = window.controller, window.controller.session
        self.controller.queue.timed_after_pause = False

    def open(self, id: str) -> None:
        """Open a sample in the menu."""
        action = next(a for a in self.window.parts.menus["file/samples"].actions() if a.objectName().endswith(f".{id}"))
        settle(self.qtbot, self.controller, action.trigger)

    def filter(self, id: str) -> None:
        """Choose a filter in the list."""
        combo = self.window.panel.filters
        place = combo.findData(id)
        assert place >= 0, [combo.itemData(k) for k in range(combo.count())]
        combo.setCurrentIndex(place)
        settle(self.qtbot, self.controller, lambda: combo.activated.emit(place))
        assert self.session.filter is find_filter(id)
        self.right()

    def set(self, name: str, value: Any) -> None:
        """Set a parameter in the form, as a person does: from the list, or typed."""
        assert self.window.panel.form is not None
        control = self.window.panel.form.editor(name).control()
        assert control.isVisibleTo(self.window.panel)
        if isinstance(control, QComboBox):
            settle(self.qtbot, self.controller, lambda: control.setCurrentIndex(control.findData(value)))
        else:
            self.type(control, str(value))
        assert self.session.choice.params[name] == value

    def type(self, box: QAbstractSpinBox, text: str) -> None:
        box.setFocus()
        box.selectAll()
        self.qtbot.keyClicks(box, text)
        settle(self.qtbot, self.controller, lambda: self.qtbot.keyClick(box, Qt.Key.Key_Return))

    def noise(self) -> None:
        """Tick the noise, or take the tick away, with the space bar."""
        tick = self.window.panel.noise.tick
        settle(self.qtbot, self.controller, lambda: self.qtbot.keyClick(tick, Qt.Key.Key_Space))

    @property
    def row(self) -> Row:
        """The row of the present result."""
        entry = self.controller.results.entry(RowSlot("serial", "cpu"))
        assert entry.row is not None and entry.current and entry.subject == self.session.shown.subject("serial")
        return entry.row

    def right(self) -> None:
        """The result on the screen is verified, of the present choice, and no message is left."""
        assert self.row.ok is True and self.row.filter == self.session.choice.filter
        # A view prepares large results in the background, after the run has ended.
        self.qtbot.waitUntil(lambda: self.window.stack.view.state("serial") == "fresh", timeout=PATIENCE)
        assert self.window.messages.current() is None

    def closer(self, output: str) -> None:
        """The result is closer to the original than the noisy input."""
        found = self.row.quality[output]
        assert found.before.snr is not None and found.after.snr is not None
        assert found.after.snr > found.before.snr + 1

    def shown(self, output: str) -> np.ndarray:
        """The array of an output as the window got it."""
        held = self.controller._outputs.results["serial", output]
        return np.array(self.controller._engine.array(held.array))


@pytest.fixture
def walk(qtbot: QtBot, engine: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """A walk with one core of the CPU ticked in every filter, so that nothing runs that nobody looks at."""

    def one_core(filter: Filter, _cuda: bool, steps: Steps = (), _meta: object = None) -> Choice:
        return Choice(filter.id, {p.name: p.default for p in filter.params}, ("serial",), steps=steps)

    monkeypatch.setattr("app.models.experiment.session.default_choice", one_core)
    with live_window(qtbot, engine, picks=("serial",)) as window:
        yield Walk(qtbot, window)


def test_every_filter_of_the_walks_is_there() -> None:
    assert set(NEEDED) <= {f.id for f in FILTERS}


def test_a_heartbeat_its_noise_and_what_wavelets_and_fourier_say_of_it(walk: Walk) -> None:
    walk.open("ecg")
    walk.noise()
    walk.type(walk.window.panel.noise.sigma.spin, "25")
    noisy = add_noise(sample("ecg"), 25)
    curves = {c.key: np.asarray(c.pyramid.array) for c in walk.window.signal_pane.curves if c.visible and c.pyramid}
    np.testing.assert_array_equal(curves[INPUT], noisy.array)

    walk.filter("wavelet1d")
    walk.closer("signal")
    assert "SNR" in walk.window.signal_pane.status.text()
    assert walk.window.signal_pane.items[0].opts["pen"].color().lightness() > 150, "the noisy curve is behind"
    walk.set("rule", "manual")
    walk.set("value", 40.0)
    walk.right()
    walk.closer("signal")

    walk.filter("fft1d")
    assert walk.window.panel.noise.tick.isChecked() and walk.row.input["steps"][0]["sigma"] == 25
    walk.set("result", "magnitude")
    walk.right()
    assert walk.session.output.id == "magnitude" and walk.shown("magnitude").shape == (513,)
    walk.set("result", "spectrogram")
    walk.right()

    walk.filter("wavelet1d")
    walk.noise()
    assert walk.session.input is walk.session.original and not walk.row.quality
    walk.right()


def test_two_tones_in_noise_are_two_peaks(walk: Walk) -> None:
    walk.open("tones")
    walk.filter("fft1d")
    walk.set("result", "magnitude")
    walk.right()
    frequency, height = np.nan_to_num(walk.shown("peaks")).T
    assert sorted(np.round(frequency[np.argsort(height)[-2:]]).tolist()) == [50, 120]
    assert not walk.row.quality, "a spectrum has no place beside the original"


def test_a_picture_its_levels_its_noise_and_its_frequencies(walk: Walk) -> None:
    walk.open("camera")
    walk.filter("histogram2d")
    clean = walk.shown("counts")
    assert clean.sum() == 512 * 512
    walk.noise()
    walk.right()
    noisy = walk.shown("counts")
    expected = np.bincount(add_noise(sample("camera"), 20).array.ravel(), minlength=256)
    assert noisy.reshape(-1).tolist() == expected.tolist() != clean.reshape(-1).tolist()

    walk.filter("wavelet2d")
    walk.closer("image")
    assert "PSNR" in walk.window.panes.pane("serial").status.text()
    assert walk.window.panes.pane(INPUT).layer.title == "camera + noise σ 20"
    walk.filter("fft2d")
    walk.filter("wavelet2d")
    walk.noise()
    walk.right()
    assert walk.window.panes.pane(INPUT).layer.title == "camera" and not walk.row.quality


def test_waves_over_a_picture_go_where_their_frequency_is_masked(walk: Walk) -> None:
    walk.open("waves")
    walk.filter("fft_mask")
    walk.set("shape", "notch")
    for name, value in (("fy", 32 / 512), ("fx", 48 / 512), ("radius", 0.01), ("softness", 0.01)):
        walk.set(name, value)
    walk.right()
    walk.closer("image")
    said = walk.window.panes.pane("serial").status.text()
    assert said.startswith("PSNR")
    walk.session.set_output("spectrum")
    beside = walk.window.stack.view_with(INPUT)
    assert beside is not walk.window.stack.view and beside.grid is not None
    assert beside.grid.pane("serial").status.text() == said, "the result stands beside the input, over its spectrum"


def test_noise_that_changes_during_a_filter_ends_in_what_was_wanted_last(walk: Walk) -> None:
    walk.open("camera")
    noise = walk.window.panel.noise
    walk.noise()

    def hurry() -> None:
        for place in (10, 30, 50):
            noise.slider.setValue(place)
        walk.session.set_filter("wavelet2d")
        noise.slider.setValue(20)

    settle(walk.qtbot, walk.controller, hurry)
    wanted = walk.session.noise
    assert wanted is not None and wanted == walk.session.input_noise
    walk.right()
    expected = add_noise(sample("camera"), wanted.sigma, wanted.seed)
    np.testing.assert_array_equal(walk.window.panes.pane(INPUT).layer.pyramid.array, expected.array)
    assert walk.row.input == expected.origin
