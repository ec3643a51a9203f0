"""Wavelet denoising in a window with a real engine: parts, coefficients, and the threshold in a person's hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import pywt
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import QPoint, Qt

from app.views.window.main_window import INPUT, MainWindow


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    with real_engine() as engine:
        yield engine


@pytest.fixture
def window(qtbot: Any, engine: Any) -> Iterator[MainWindow]:
    with live_window(qtbot, engine) as window:
        session = window.controller.session
        settle(qtbot, window.controller, lambda: window.controller.open_sample("ecg"))
        session.set_filter("wavelet1d")
        settle(qtbot, window.controller, lambda: session.set_picks(("serial",)))
        yield window


def click(qtbot: Any, widget: Any, place: QPoint | None = None) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place or widget.rect().center())


def expected(wavelet: str, threshold: float) -> np.ndarray[Any, Any]:
    """The sample by PyWavelets: soft thresholds, four levels."""
    found = pywt.wavedec(pywt.data.ecg().astype(np.float64), wavelet, "periodization", level=4)
    clean = [found[0], *(pywt.threshold(part, threshold, "soft") for part in found[1:])]
    return pywt.waverec(clean, wavelet, "periodization")


def shown(window: MainWindow) -> np.ndarray[Any, Any]:
    return np.array(window.stack._shown["serial", "signal"].array)


def test_a_person_looks_at_coefficients_and_drags_their_threshold(qtbot: Any, window: MainWindow) -> None:
    session, bar, controller = window.controller.session, window.cut_bar, window.controller
    assert not bar.isVisible()
    settle(qtbot, controller, lambda: click(qtbot, window.stack.bar.outputs.button("coefficients")))
    assert session.params["result"] == "parts" and bar.isVisible()
    view: Any = window.stack.view
    names = view._plot.rows(view.cells["serial"].drawn)
    assert names == ["approximation 4", "detail 4", "detail 3", "detail 2", "detail 1"]
    area = view.cells["serial"].area
    frame = area.frame()
    qtbot.mouseMove(area.viewport(), QPoint(int(frame.x(513)), int(frame.box.bottom() - 2)))
    found = re.fullmatch(r"detail 1, coefficient (\d+), near sample (\d+): (.+)", view.cells["serial"].status.text())
    assert found is not None
    index, sample, value = (float(text.replace("−", "-")) for text in found.groups())
    assert abs(sample - 513) < 5 and abs(sample - 2 * index) <= 1
    detail = pywt.wavedec(pywt.data.ecg().astype(np.float64), "db4", "periodization", level=4)[-1]
    assert value == pytest.approx(detail[int(index)], rel=1e-5)
    np.testing.assert_allclose(shown(window), expected("db4", bar.plot.lines[0]), atol=1e-9)

    combo = window.panel.form.editor("wavelet").combo
    combo.setFocus()
    qtbot.keyClicks(combo, "sym4")
    qtbot.waitUntil(lambda: session.params["wavelet"] == "sym4")
    qtbot.waitUntil(lambda: not controller.busy and bar.plot.current, timeout=PATIENCE)
    universal = bar.plot.lines[0]
    np.testing.assert_allclose(shown(window), expected("sym4", universal), atol=1e-9)

    click(qtbot, window.stack.bar.outputs.button("signal"))
    plot = bar.plot
    y, start, stop = (round(v) for v in (plot.plot().center().y(), plot.x_of(universal), plot.x_of(4 * universal)))
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=QPoint(start, y))
    for x in range(start, stop, 9):
        qtbot.mouseMove(plot, QPoint(x, y))
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=QPoint(stop, y))
    qtbot.waitUntil(lambda: session.params["rule"] == "manual", timeout=PATIENCE)
    qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)
    assert session.params["value"] > 2 * universal and bar.plot.lines == (session.params["value"],)
    np.testing.assert_allclose(shown(window), expected("sym4", session.params["value"]), atol=1e-9)
    settle(qtbot, controller, session.undo)
    assert session.params["rule"] == "universal" and bar.plot.lines == (universal,)
    np.testing.assert_allclose(shown(window), expected("sym4", universal), atol=1e-9)


def test_what_is_shown_belongs_together_when_the_input_changes_in_a_run(qtbot: Any, window: MainWindow) -> None:
    session, bar, controller = window.controller.session, window.cut_bar, window.controller
    settle(qtbot, controller, lambda: session.set_param("result", "parts"))
    session.set_param("value", 33.0)
    settle(qtbot, controller, lambda: controller.open_sample("blocks", {"length": 333}))
    assert [c.key for c in window.signal_pane.curves if c.visible] == [INPUT, "serial"]
    assert shown(window).shape == (333,) and "of 314 coefficients" in bar.words.text(), bar.words.text()
    assert bar.plot.lines == (33.0,)
    session.set_filter("mean1d")
    assert not bar.isVisible() and bar.plot.magnitudes is None
