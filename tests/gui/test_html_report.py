"""The HTML report of a window: what it shows, in the background, with the user's texts escaped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from result_rows import row
from simulated_rows import NO_CUDA, SIM, ready, simulated

from app.models.experiment.pin import Pin
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.xray.drafts import Draft
from app.views.window import html_report
from app.views.window.main_window import MainWindow
from app.views.window.panels import SWEEP
from gpu_ops import from_array
from gpu_ops.report.sweeps import SIZE

html5lib = pytest.importorskip("html5lib")  # a GPU host may lack it
COUNTS = {"thread_instructions": 6400, "warp_instructions": 200, "global_load_sectors": 40, "global_load_requests": 20}


@pytest.fixture
def engine(qtbot) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    monkeypatch.setattr("gpu_ops.recorded_reports", dict)  # reading them takes seconds
    return make(qtbot, engine)


def test_a_report_shows_what_the_window_shows(
    qtbot, window: MainWindow, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action, target = window.actions_by_id["export_report"], tmp_path / "report.html"
    assert not action.isEnabled() and "there is no input yet" in action.toolTip()
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal", name="<b>evil</b>.npy"))
    engine.end()
    results = window.controller.results
    results.declare([RowSlot("serial", "cpu"), RowSlot("naive", "sim"), RowSlot("shared", "sim")])
    results.put(row("serial", "cpu", 2e-3))
    results.put(simulated("naive", counters=COUNTS))
    results.put(simulated("shared", counters=COUNTS | {"global_load_sectors": 10}))
    results.set_baseline(RowSlot("serial", "cpu"))
    results.pin_times()
    results.put(row("serial", "cpu", 1e-3))
    results.set_recorded([(row("naive", "cuda:0", 1e-5), "NVIDIA H200")], {})
    monkeypatch.setattr(window.files, "target", lambda *asked: str(target))
    assert window.docks.existing(SWEEP) is None
    action.trigger()
    assert window.docks.existing(SWEEP) is None, "a report makes no panel"
    qtbot.waitUntil(target.exists)
    qtbot.waitUntil(lambda: "report.html" in (window.messages.current() or row).text)
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(target.read_text())
    text = " ".join(" ".join(tree.itertext()).split())
    assert "<b>evil</b>.npy" in text and tree.findall(".//h1/b") == []
    assert "1.000 ms" in text and "−50 % faster" in text and "relative to the pinned times" in text
    assert "◉ recorded · NVIDIA H200" in text and "≈ simulated GPU" in text
    assert "Global load sectors fall from" in text and "mean1d/3_shared.cu" in text
    (picture,) = tree.findall(".//img")
    assert picture.get("src").startswith("data:image/png;base64,iVBOR")


def test_an_edited_kernel_has_its_own_name_and_text(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    """Beside the shipped kernel of its variant, which has a row as well."""
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal"))
    engine.end()
    session, file = window.controller.session, "mean1d/1_naive.cu"
    session.set_picks(["naive"])
    pin = Pin.edited("naive", {file: "// mine"})
    session.show_pin(pin)
    window.context.xray.drafts.put(Draft("mean1d", "naive", {file: "// mine"}, path="/there/own.cu", saved="// mine"))
    entries = [Entry(session.shown.slot(name)) for name in ("naive", pin.id)]
    found = {kernel.file: kernel for kernel in html_report._kernels(window.parts, entries)}
    assert [(kernel.title, len(kernel.lines) > 1) for kernel in found.values()] == [
        ("1 naive", True),
        ("1 naive, edited", False),
    ]
    assert set(found) == {file, "own.cu"}


def test_the_sweep_that_is_shown_is_in_the_report(
    qtbot, window: MainWindow, engine: FakeEngine, tmp_path: Path
) -> None:
    from app.models.timing.sweep import Sweep
    from app.views.window.html_report import page_of

    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal"))
    window.docks.turn_to(SWEEP)
    assert page_of(window.parts).charts == []
    sweep = Sweep(window.controller.session.filter, SIZE, "middle", rows=[row("serial", "cpu", 1e-3)])
    window.sweep.controller.show(sweep)
    (chart,) = page_of(window.parts).charts
    assert chart.title == "Sweep" and "kernel alone" in chart.caption


def test_a_report_that_cannot_be_written_is_said(
    qtbot, window: MainWindow, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal"))
    monkeypatch.setattr(window.files, "target", lambda *asked: str(tmp_path / "nowhere" / "a.html"))
    window.actions_by_id["export_report"].trigger()
    qtbot.waitUntil(lambda: window.messages.current() is not None)
    assert window.messages.current().kind == "error" and "a.html" in window.messages.current().text


@pytest.mark.parametrize("there", [True, False])
def test_a_report_to_print_opens_in_the_browser(
    qtbot, window: MainWindow, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    opened = []
    monkeypatch.setattr(html_report, "open_in_browser", lambda path: bool(opened.append(path)) or there)
    assert not window.actions_by_id["print_report"].isEnabled()
    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal"))
    monkeypatch.setattr(window.files, "target", lambda *asked: str(tmp_path / "a.html"))
    window.actions_by_id["print_report"].trigger()
    qtbot.waitUntil(lambda: opened == [str(tmp_path / "a.html")])
    said = window.messages.current()
    wanted = "Press Ctrl+P there" if there else "there is no browser to open it"
    assert wanted in said.text and said.details == str(tmp_path / "a.html") and "a.html" in said.text
