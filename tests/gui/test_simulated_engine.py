"""The simulated GPU behind the window, in a real engine: parts, findings, progress and cancelling."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import act
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import Qt
from tasks import right

from app.models.experiment.pin import Pin
from app.models.experiment.slot import RowSlot
from app.models.xray.drafts import Draft
from app.views.dialogs.running_report import RunningReportDialog
from app.views.results.probe_sources import grids
from app.views.window.main_window import INPUT
from gpu_ops import device_statuses, find_filter
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.explaining.traffic.warp_content import WarpAccesses

SHARED = "mean2d/3_shared.cu"
REASON = next(s.reason for s in device_statuses() if s.kind == "sim")
pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.skipif(bool(REASON), reason=REASON or "the simulated GPU is there"),
]


@pytest.fixture(scope="module")
def engine(qapp):
    with real_engine() as engine:
        yield engine


@pytest.fixture
def window(qtbot, engine):
    """A window whose kernels run simulated, whatever GPUs there are."""
    with live_window(qtbot, engine, "sim") as window:
        yield window


def test_a_simulation_covers_the_whole_picture_in_the_end(qtbot, window) -> None:
    settle(qtbot, window.controller, lambda: window.controller.open_sample("camera"))
    whole = np.asarray(window.panes.pane(INPUT).layer.pyramid.array)
    result = right(find_filter("mean2d"), whole, window=3, border="reflect")
    for variant in ("naive", "constant", "shared"):
        pane, entry = window.panes.pane(variant), window.controller.results.entry(RowSlot(variant, "sim"))
        np.testing.assert_array_equal(pane.layer.pyramid.array, result)
        assert pane.layer.value(200.5, 150.5) == result[150, 200]
        assert pane.layer.state == "fresh" and pane.canvas.accessibleName().endswith(" · simulated")
        assert entry.ok and entry.counters["warp_instructions"] > 0 and entry.seconds("kernel") is None
    assert window.controller.results.entry(RowSlot("serial", "cpu")).seconds("kernel") > 0
    assert window.ladder.canvas.ladder().sections[1].title == "Counted work (simulated)"


def test_a_missing_barrier_is_named_in_the_results_bar(qtbot, window) -> None:
    text = read_source(SHARED).replace("__syncthreads();", "", 1)
    assert text != read_source(SHARED)
    pin, session = Pin.edited("shared", {SHARED: text}), window.controller.session
    window.context.xray.drafts.put(Draft("mean2d", "shared", {SHARED: text}))
    settle(qtbot, window.controller, lambda: window.controller.open_sample("camera"))
    session.set_picks(("naive",))
    settle(qtbot, window.controller, lambda: session.show_pin(pin))
    entry, pane = window.controller.results.entry(session.shown.slot(pin.id)), window.panes.pane(pin.id)
    assert entry.ok is False and pane.layer.state == "wrong"
    assert pane.findings.isVisible() and pane.findings.sentence.text().startswith("edited 3_shared.cu:")
    assert "hazard" in pane.findings.sentence.text()
    assert window.panes.pane("naive").layer.state == "fresh" and not window.panes.pane("naive").findings.isVisible()


def test_a_long_simulation_tells_how_far_it_is_and_is_cancelled_by_a_click(
    qtbot, window, engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It stops by itself, however busy the machine is.
    monkeypatch.setattr(engine.client.local, "_cancel_grace", PATIENCE)
    window.controller.queue._quiet.setInterval(400)  # as in the program: the simulation is under way when times are due
    window.controller.session.set_picks(("serial", "naive"))
    settle(qtbot, window.controller, lambda: window.controller.open_sample("camera"))
    before, child = window.controller.results.entry(RowSlot("naive", "sim")).row, engine.client.pid
    status, entry = window.status, lambda: window.controller.results.entry(RowSlot("naive", "sim"))
    events: list[list[float]] = [[]]
    seen: list[tuple[bool, bool, str]] = []

    def click(done: int, total: int) -> None:
        """As soon as the simulation is running and the window says so."""
        events[-1] += [done / total] if total else []
        if not seen and status.busy.text() == "computing 1 naive on sim" and status.button.isVisible():
            seen.append((status.progress.isVisible(), status.progress.maximum() == total > 0, entry().state))
            qtbot.mouseClick(status.button, Qt.MouseButton.LeftButton)

    window.controller.began.connect(lambda: events.append([]))  # each job tells how far it is itself
    window.controller.progressed.connect(click)
    params = {"window": 31, "border": "reflect"}
    settle(qtbot, window.controller, lambda: window.controller.session.set_params(params))
    assert seen == [(True, True, "running")]
    assert entry().row is before and entry().state == "stale" and window.messages.current() is None
    assert events == [sorted(shares) for shares in events] and 0 < max(map(max, filter(None, events))) < 1
    assert engine.client.pid == child, "nothing had to be ended for it"


@pytest.mark.thorough
def test_a_report_that_runs_is_written_and_can_be_cancelled(qtbot, window, tmp_path, monkeypatch) -> None:
    controller, target, said = window.controller, tmp_path / "a.html", list[str]()
    monkeypatch.setattr(window.files, "target", lambda *asked: str(target))
    controller.session.set_picks(("naive",))
    settle(qtbot, controller, lambda: controller.open_sample("noise", {"length": 500}))
    controller.busy_changed.connect(said.append)

    def export(windows: str) -> None:
        window.actions_by_id["export_running_report"].trigger()
        dialog = window.findChildren(RunningReportDialog)[-1]
        dialog.rows["window"][1].setText(windows)
        dialog.rows["block"][1].setText("32, 1100")
        dialog.save.click()

    settle(qtbot, controller, lambda: export("3, 5"))
    assert any(text.startswith("counting combination 4 of 4: 1 naive") for text in said)
    assert (
        "block must be an integer from 16 to 1024" in target.read_text()
        and "Saved a.html" in window.messages.current().text
    )
    target.unlink()
    said.clear()

    def cancelled() -> None:
        export(", ".join(str(n) for n in range(3, 300, 2)))
        qtbot.waitUntil(lambda: any("combination 3 of 298" in text for text in said))
        controller.cancel()

    settle(qtbot, controller, cancelled)
    assert not list(tmp_path.iterdir()) and not any("combination 298 of" in text for text in said)


@pytest.mark.thorough
def test_its_warp_lists_what_was_read_and_written(qtbot, window) -> None:
    controller, bar, traffic = window.controller, window.traffic_bar, window.context.traffic
    controller.session.set_picks(("naive",))
    settle(qtbot, controller, lambda: controller.open_sample("camera"))
    whole, (row, column) = np.asarray(window.panes.pane(INPUT).layer.pyramid.array), (200, 150)
    act(window, "traffic")
    bar.warp_button.click()

    def warps_at(output: str) -> tuple[WarpAccesses, ...]:
        """What the warps of the pixel access, of the first variant."""
        qtbot.waitUntil(lambda: traffic.recorded is not None, timeout=PATIENCE)
        canvas = grids(window.stack, controller.session)[0].every[output].canvas
        qtbot.waitUntil(lambda: canvas.display.scale > 0 and bool(canvas.images))
        traffic.set_place((row, column), output if output != INPUT else "")
        qtbot.waitUntil(lambda: bool(bar.warp.rows.rows), timeout=PATIENCE)
        return traffic.recorded.variants[0].warps

    (warp,) = warps_at("naive")
    start = traffic.recorded.start
    part = whole[start[0] : start[0] + 256, start[1] : start[1] + 256]
    reads = [one for one in warp.accesses if one.memory == "input" and warp.lane in one.lanes]
    own = [one.elements[one.lanes.index(warp.lane)] for one in reads]
    assert warp.kernel == "mean2d_naive" and len(bar.warp.rows.rows) == 1 + warp.count
    place = row - start[0], column - start[1]
    around = {(place[0] + r) * 256 + place[1] + c for r in (-1, 0, 1) for c in (-1, 0, 1)}
    assert around <= set(own)
    traffic.set_place((), "")
    controller.session.set_filter("histogram2d")
    settle(qtbot, controller, lambda: controller.session.set_picks(("global",)))
    (warp,) = warps_at(INPUT)
    read, added = (next(a for a in warp.accesses if a.memory == m) for m in ("input", "output"))
    assert read.elements[read.lanes.index(warp.lane)] == place[0] * 256 + place[1]
    assert list(added.elements) == part.reshape(-1)[list(read.elements)].tolist()
    said = "counts is not on the grid of the input, so there is no footprint; see its warp"
    assert said in bar.words.text() and bar.words.text().endswith("or choose the output equalised.")
