"""A simulated GPU in the window: where it is chosen, the grid of its results, its counts and its findings."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pixels
import pytest
from fake_engine import FakeEngine, make
from live import pause
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from result_rows import rows, show_rows
from simulated_rows import COUNTERS, CUDA, NO_CUDA, NO_SIM, SIM, bring, finding, ready, simulated
from test_panes import shown as panes_shown

from app.base.theme import colours_of
from app.models.experiment.job_kind import MEASURE
from app.models.experiment.slot import RowSlot
from app.models.results.origin import Origin
from app.models.results.rungs import idea_of, rung_lines
from app.views.parts import mark_texts
from app.views.timing.counter_menu import MOST
from app.views.timing.row_text import part_text
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.panels import TABLE
from gpu_ops import from_array
from gpu_ops.engine.messages import Finished

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
KERNELS = ("naive", "constant", "shared")


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    return make(qtbot, engine)


def picture() -> np.ndarray:
    return np.add.outer(np.arange(80), np.arange(120)).astype(np.uint8)


@pytest.fixture
def shown(window: MainWindow, engine: FakeEngine) -> MainWindow:
    """An image of 80 × 120 whose middle 40 × 60 was simulated: from row 20 and column 30 on."""
    ready(engine, NO_CUDA, SIM)
    window.controller.queue.timed_after_pause = False
    engine.show(from_array(picture()))
    engine.end()
    bring(window, engine, rows()[0], picture())
    bring(window, engine, simulated("naive"), picture()[20:60, 30:90].copy(), (20, 30))
    return window


# Where it is chosen.


def test_without_cuda_the_simulated_gpu_is_chosen_and_says_so(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    panel, session = window.panel, window.controller.session
    assert session.device == "sim" == panel.devices.currentData()
    assert panel.simulated.isVisible() and panel.simulated.text == "simulated"
    assert set(KERNELS) <= set(session.choice.picks)
    assert window.status.state.text().endswith("engine ready on cpu, sim (simulated)")
    assert not panel.variants.row("cupyx").tick.isEnabled()
    assert "it calls cupyx, and a simulated GPU runs only kernels" in panel.variants.row("cupyx").reason.text()
    assert "CUDA finds no driver" in panel.devices.toolTip()
    assert [panel.devices.itemData(i) for i in range(2)] == ["sim", "cuda:0"]
    assert not panel.devices.model().item(1).isEnabled()


def test_with_cuda_it_is_chosen_first_and_the_simulated_one_by_hand(
    qtbot, window: MainWindow, engine: FakeEngine
) -> None:
    ready(engine, CUDA, SIM)
    panel, session = window.panel, window.controller.session
    assert session.device == "cuda:0" and not panel.simulated.isVisible()
    assert panel.variants.row("cupyx").tick.isEnabled()
    panel.devices.setFocus()
    qtbot.keyClick(panel.devices, Qt.Key.Key_Down)
    assert session.device == "sim" and panel.simulated.isVisible()
    assert not panel.variants.row("cupyx").tick.isEnabled()
    ready(engine, CUDA, SIM)  # the engine was started anew
    assert session.device == "sim"
    qtbot.keyClick(panel.devices, Qt.Key.Key_Up)
    assert session.device == "cuda:0" and not panel.simulated.isVisible()


def test_with_neither_both_reasons_are_said(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, NO_SIM)
    panel = window.panel
    assert window.controller.session.device == "" and panel.devices.currentText() == "none available"
    for reason in (NO_CUDA.reason, NO_SIM.reason):
        assert reason in panel.devices.toolTip() and reason in panel.variants.row("naive").reason.text()
    assert "sim" not in window.status.state.text()


def test_another_architecture_is_kept_and_named(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    window.controller.session.set_device("sim:sm_90")
    assert window.panel.devices.currentData() == "sim:sm_90" and window.panel.simulated.isVisible()
    ready(engine, NO_CUDA, SIM)
    assert window.controller.session.device == "sim:sm_90" == window.panel.devices.currentData()


def test_what_has_no_time_is_not_run_for_its_time(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(picture()))
    assert {p.device for p in engine.asked[-1].picks} == {"cpu"}
    engine.end()
    assert {p.device for p in engine.asked[-1].picks} == {"sim"}, "last, when the CPU's pictures are there"
    window.controller.queue._quiet.timeout.emit()
    assert engine.asked[-1].protocol == "quick" and {p.device for p in engine.asked[-1].picks} == {"cpu"}
    engine.end()
    window.controller.queue._quiet.stop()
    before, events = len(engine.asked), []
    window.controller.settled.connect(lambda: events.append(True))
    window.controller.session.set_picks(KERNELS)
    engine.end()
    asked = [(r.protocol, p.variant) for r in engine.asked[before:] for p in r.picks]
    assert asked == [("none", kernel) for kernel in KERNELS] and events == [True]
    assert not window.controller.queue._quiet.isActive()


def test_further_parts_come_when_every_pick_has_its_first(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    window.controller.queue.timed_after_pause = False
    engine.show(from_array(picture()))
    window.display.zoom_at(20.0, 100.0, 20.0)
    first = len(engine.asked) + 1
    window.controller.session.set_picks(("naive", "shared"))
    one_more = lambda: engine.answered.emit(Finished(engine.jobs))  # noqa: E731
    one_more()
    bring(window, engine, simulated("naive"), picture()[20:60, 30:90].copy(), (20, 30))
    one_more()
    bring(window, engine, simulated("shared"), picture()[20:60, 30:90].copy(), (20, 30))
    bring(window, engine, simulated("shared"), picture(), ())  # the whole followed, because it was short
    one_more()
    asked = [(r.picks[0].variant, r.rest) for r in engine.asked[first - 1 :]]
    assert asked == [("naive", False), ("shared", False), ("naive", True)] and window.controller.busy
    (top, bottom), (left, right) = engine.asked[-1].view
    assert 0 <= top < 20 < bottom <= 80 and 0 < left < 100 < right <= 120, "what is in view comes first"
    window.controller.session.set_params({"window": 7, "border": "reflect"})
    engine.end()
    later = [r for r in engine.asked if r.params["window"] == 7]
    assert not any(r.rest for r in later) and later[0].picks[0].variant == "naive", "the earlier parts are given up"


# Where its results lie.


def test_a_part_lies_where_it_belongs(qtbot, shown: MainWindow) -> None:
    pane, whole = shown.panes.pane("naive"), shown.panes.pane(INPUT)
    shown.display.set_cursor(40.5, 25.5)
    assert pane.layer.value(40.5, 25.5) == whole.layer.value(40.5, 25.5) == [65]
    assert pane.status.text() == whole.status.text() == "x 40, y 25: 65"
    for x, y in ((29.5, 25.5), (90.5, 25.5), (40.5, 19.5), (40.5, 60.5)):
        assert pane.layer.value(x, y) is None
    shown.display.clear_cursor()
    assert shown.display.centre == (60.0, 40.0), "the whole is fitted, not the part"


@pytest.mark.parametrize("scale", [0.13, 0.5, 1.0, 1.7])
def test_a_part_is_painted_pixel_for_pixel_as_the_whole(shown: MainWindow, scale: float) -> None:
    """Magnified the same pixels stand at the same places; reduced all but the part's rim."""
    shown.display.set_levels(0, 255)
    shown.display.following = False
    shown.display._go(61.3, 40.2, scale)
    images = []
    for key in ("naive", "serial"):
        canvas = shown.panes.pane(key).canvas
        canvas.resize(300, 200)
        canvas.grab()
        drawn, x, y = canvas.images[0]
        images.append((drawn.convertToFormat(QImage.Format.Format_Grayscale8), x, y))
    (part, x, y), (whole, left, top) = images
    rim = int(np.ceil(1 / scale)) if scale > 1 else 0
    for row in range(rim, part.height() - rim):
        for column in range(rim, part.width() - rim):
            expected = whole.pixelColor(x - left + column, y - top + row).red()
            assert abs(part.pixelColor(column, row).red() - expected) <= (2 if scale > 1 else 0)
    assert part.width() == pytest.approx(min(300, 60 / scale), abs=1)
    assert part.height() == pytest.approx(min(200, 40 / scale), abs=1)


def test_the_mark_stands_on_the_picture_whatever_happens(qtbot, shown: MainWindow, engine: FakeEngine) -> None:
    canvas = shown.panes.pane("naive").canvas
    role = colours_of(canvas.palette()).simulated
    assert "simulated · centre 60 × 40" in canvas.accessibleName() == "Image 1 naive · simulated · centre 60 × 40"

    def marked() -> bool:
        corner = canvas.grab().toImage().copy(0, canvas.height() - 40, 30, 40)
        return role.colour.name() in pixels.colours(corner)

    assert marked()
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    qtbot.mouseMove(canvas, QPoint(50, 50))
    assert marked()
    shown.controller.session.set_device("cuda:0")
    bring(shown, engine, rows()[2], picture())  # measured on a GPU since
    assert not marked() and canvas.accessibleName() == "Image 1 naive"


def test_comparing_shows_only_what_both_have(qtbot, shown: MainWindow) -> None:
    shown.display.set_levels(0, 255)
    qtbot.mouseClick(shown.panes._modes.button(1), Qt.MouseButton.LeftButton)
    shown.panes.set_pair("serial", "naive")
    QApplication.processEvents()
    canvas = shown.panes.compare
    ground = canvas.palette().dark().color()
    image = canvas.grab().toImage()

    def at(x: float, y: float) -> QColor:
        return image.pixelColor(canvas.screen_at(x, y).toPoint())

    assert at(33, 40).red() == at(33, 40).green() != ground.red() and abs(at(85, 40).red() - 125) <= 2
    assert at(20, 40) == ground == at(100, 40)
    assert shown.display.centre == (60.0, 40.0)
    shown.panes.set_mode("flicker")
    QApplication.processEvents()
    image = canvas.grab().toImage()
    assert at(20, 40) == ground and abs(at(60, 40).red() - 100) <= 2


def test_the_difference_is_of_what_both_have(qtbot, shown: MainWindow) -> None:
    panes = shown.panes
    panes.set_pair("serial", "naive")
    shown.actions_by_id["compare_difference"].trigger()
    qtbot.waitUntil(lambda: panes.difference.distance is not None)
    layer = panes.difference.layer
    assert layer.shape == (40, 60) and "equal in every pixel" in panes.compare.notes
    assert layer.origin.start == (20, 30) and layer.origin.simulated
    assert layer.value(30, 20) == [0] and layer.value(29, 20) is None
    shown.display.set_cursor(10, 10)
    assert "difference" not in panes.values.text(), "only one has a value there"


def test_what_a_part_gives_by_itself_is_not_compared(qtbot, shown: MainWindow, engine: FakeEngine) -> None:
    panes, part = shown.panes, picture()[20:60, 30:90]
    bring(shown, engine, simulated("naive"), part.copy(), (20, 30), False)
    bring(shown, engine, simulated("shared"), part + np.uint8(1), (20, 30), False)
    canvas = panes.pane("naive").canvas
    assert canvas.accessibleName() == "Image 1 naive · simulated · centre 60 × 40 on its own"
    panes.set_pair("serial", "naive")
    shown.actions_by_id["compare_difference"].trigger()
    qtbot.waitUntil(lambda: panes.difference.failure != "")
    assert panes.difference.distance is None and panes.difference.layer.pyramid is None
    assert panes.difference.failure.startswith("no difference: 1 naive was computed from the simulated part alone")
    panes.set_pair("naive", "shared")  # of the same part
    qtbot.waitUntil(lambda: panes.difference.distance is not None)
    assert panes.difference.distance.most == 1 and panes.difference.failure == ""
    assert not panes.difference.layer.origin.exact


def test_a_curve_begins_at_its_sample_and_bears_the_mark(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    signal = np.arange(1000, dtype=np.float32)
    engine.show(from_array(signal, kind="signal", rate=100.0))
    pane = window.signal_pane
    bring(window, engine, simulated("naive"), signal[300:700].copy(), (300,))
    curve = pane.curves[-1]
    x, y = curve.points(*pane.view_range(), 4000)
    assert (x[0], y[0]) == (3.0, 300.0) and (x[-1], y[-1]) == (6.99, 699.0)
    pane.set_cursor(5.0)
    assert pane.status.text().count("500") == 2, "input and part have the same value at the same time"
    pane.set_cursor(2.0)
    assert pane.status.text().count("200") == 1
    assert pane.view_range() == (0.0, pytest.approx(9.99)), "all of the input is fitted"
    entry = pane._entries[len(pane.curves) - 1]
    assert entry.chip.isVisible() and entry.chip.text == "simulated · centre 400 samples"
    assert entry.chip.shown_text().startswith("simulated")
    assert not pane._entries[0].chip.isVisible()
    assert window.context.playback.choices.keys() == {INPUT}


# What is counted.


def counted(window: MainWindow) -> None:
    """Two simulated rows next to two measured ones."""
    results = window.controller.results
    show_rows(results, rows()[:2])
    results.put(simulated("naive"))
    results.put(simulated("shared", counters=COUNTERS | {"warp_instructions": 253504}))
    results.set_baseline(RowSlot("serial", "cpu"))


def test_counted_work_has_a_section_of_its_own(qtbot, window: MainWindow) -> None:
    counted(window)
    for width in (360, 700, 1200):
        geometry = window.ladder.canvas.geometry_for(width)
        measured, work, fair = geometry.sections
        assert work.title == "Counted work (simulated)" and work.is_counted and not work.show_axis
        assert [line.entry.device for line in work.lines if line.entry] == ["sim", "sim"]
        assert all(line.entry.device == "cpu" for line in measured.lines if line.entry)
        assert measured.axis.high < 1 and fair.axis is measured.axis and fair.show_axis
        (first,), (second,) = (line.counted for line in work.lines)
        assert first.counter == "warp_instructions" and first.text == "507 k" and second.text == "253.5 k"
        assert first.box.width() == pytest.approx(2 * second.box.width())
        for line in work.lines:
            assert not any(line.texts[t] for t in ("kernel", "rate", "share", "speedup"))
    assert "kernel" not in work.heads and list(work.names) == ["warp_instructions"]


SHOWN = {"global_load_sectors": 800, "global_load_requests": 400, "thread_instructions": 32 * 507008}


def why(window: MainWindow, width: int = 1200) -> dict[str, str]:
    lines = window.ladder.canvas.geometry_for(width).lines
    return {line.entry.variant: line.texts["reason"] for line in lines if line.entry}


def test_a_ladder_shows_the_counters_that_explain_it_and_why_each_rung_differs(window: MainWindow) -> None:
    counted(window)
    results = window.controller.results
    results.put(simulated("naive", counters=COUNTERS | SHOWN))
    results.put(simulated("shared", counters=COUNTERS | SHOWN | {"global_load_sectors": 200}))
    for width, columns in ((1200, 3), (700, 3), (360, 1)):
        *_, (work, _) = (window.ladder.canvas.geometry_for(width).sections[1:],)
        bars = {bar.counter: (bar.text, bar.box.width()) for bar in work.lines[1].counted}
        assert list(bars) == ["l2_bytes", "sectors_per_load", "warp_instructions"]
        assert [text for text, _ in bars.values()] == ["6.4 k", "0.5", "507 k"]
        first = {bar.counter: bar.box.width() for bar in work.lines[0].counted}
        assert [width / first[counter] for counter, (_, width) in bars.items()] == pytest.approx([0.25, 0.25, 1])
        assert len({bar.box.top() for bar in work.lines[0].counted}) == 4 - columns
    assert why(window) == {
        "serial": "",
        "parallel": "",
        "naive": "One thread per output; it loads every tap and every sample from global memory.",
        "shared": "Global load sectors fall from 8e-05 to 2e-05 per sample (÷4): at most 0.00064 bytes per sample can "
        "come from the L2 cache, 0.00256 before.",
    }
    window.ladder.why_box.setChecked(False)
    assert set(why(window).values()) == {""}
    results.put(simulated("shared", ok=False, counters=COUNTERS | SHOWN))
    window.ladder.why_box.setChecked(True)
    assert why(window)["shared"] == "" and window.ladder.canvas.ladder().lines[3].counted == ()


def test_a_narrow_ladder_is_compact_where_that_saves_scrolling(window: MainWindow) -> None:
    counted(window)
    results, canvas = window.controller.results, window.ladder.canvas
    results.clear()
    for variant in ("naive", "constant", "shared", "rows", "packed", "ring"):
        results.put(simulated(variant, counters=COUNTERS | SHOWN))
    whole = canvas.geometry_for(245)
    compact, bare = canvas.geometry_for(245, whole.height * 0.7), canvas.geometry_for(245, whole.height * 0.45)
    assert canvas.geometry_for(245, whole.height + 2) == whole and compact.height < 0.7 * whole.height
    first, *_ = compact.lines
    assert len(first.counted) == 3 and len({bar.box.top() for bar in first.counted}) == 1
    assert first.sub.isEmpty() and first.reason.height() > 0 and bare.lines[0].reason.isEmpty()
    assert canvas.geometry_for(245, 20) == whole, "it scrolls anyway, so nothing is shortened"
    wide = canvas.geometry_for(370)
    assert not wide.narrow and canvas.geometry_for(370, wide.height * 0.8).height < 0.8 * wide.height
    row = simulated("ring", counters=COUNTERS | SHOWN)
    results.set_recorded([(row, "a laptop")], {})
    *_, recorded = canvas.geometry_for(245, whole.height * 0.8).lines
    assert recorded.entry.recorded and not recorded.sub.isEmpty(), "the chip of a recorded row stays"
    results.put(simulated("ring", counters=COUNTERS | SHOWN, counted_shape=[40, 60]))
    lines = canvas.geometry_for(245, whole.height * 0.8).lines
    parts = [line for line in lines if line.entry.part]
    assert parts and not any(line.sub.isEmpty() for line in parts), "counts of a part say so"


@pytest.mark.parametrize("room", [0, 300])
@pytest.mark.parametrize("width", [320, 480, 700, 1000, 1600])
def test_nothing_overlaps_in_the_counted_section(window: MainWindow, width: int, room: int) -> None:
    counted(window)
    window.controller.results.put(simulated("constant", ok=False, findings=[finding(25)]))
    geometry = window.ladder.canvas.geometry_for(width, room)
    boxes = [r for s in geometry.sections for r in (s.heading, *s.heads.values())]
    boxes += [r for line in geometry.lines for r in (line.name, line.sub, line.reason, *line.cells.values())]
    boxes += [r for line in geometry.lines for bar in line.counted for r in (bar.box, bar.place, bar.label)]
    boxes = [b.adjusted(0.1, 0.1, -0.1, -0.1) for b in boxes if b.width() > 0 and b.height() > 0]
    assert all(QRectF(0, 0, geometry.width, geometry.height).contains(b) for b in boxes)
    assert not any(a.intersects(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_only_simulated_rows(window: MainWindow) -> None:
    show_rows(window.controller.results, [simulated("naive")])
    (work,) = window.ladder.canvas.geometry_for(800).sections
    assert [bar.text for bar in work.lines[0].counted] == ["507 k"]
    assert not window.ladder.log_box.isVisible(), "there is no axis of times"
    assert window.ladder.picture(800).height() > 100


def test_pinned_counts_show_by_how_much_they_change(window: MainWindow) -> None:
    counted(window)
    results = window.controller.results
    results.pin_times()
    results.put(simulated("naive", counters=COUNTERS | {"warp_instructions": 253504}, knobs={"block": 64}))
    lines = window.ladder.canvas.geometry_for(1200).sections[1].lines
    assert [bar.text for line in lines for bar in line.counted] == ["253.5 k (−50 %)", "253.5 k"]
    window.actions_by_id["unpin_times"].trigger()
    assert not results.has_pinned


def test_other_counters_can_be_chosen(qtbot, window: MainWindow) -> None:
    menu = window.ladder.counters
    assert not menu.isVisible()
    counted(window)
    assert menu.isVisible() and menu.text() == "1 of 3 counters"
    entries = {str(action.data()): action for action in menu.entries}
    assert list(entries) == ["warp_instructions", "launches", "blocks"] and entries["warp_instructions"].isChecked()
    assert entries["warp_instructions"].toolTip().startswith("Instructions executed")
    entries["blocks"].trigger()
    assert [b.text for b in window.ladder.canvas.ladder().sections[1].lines[0].counted] == ["507 k", "256"]
    entries["warp_instructions"].trigger()
    window.controller.results.put(simulated("naive", counters=COUNTERS | SHOWN | {"l1_wavefronts": 12}))
    assert menu.counters == ("blocks",) and menu.entries[-1].text() == "l1 wavefronts"
    every = [action for action in menu.entries if not action.isChecked()]
    for action in every[: MOST - 1]:
        action.trigger()
    assert len(menu.counters) == MOST and not any(a.isEnabled() for a in menu.entries if not a.isChecked())
    menu.choose(())
    assert menu.counters == ("l2_bytes", "sectors_per_load", "warp_instructions")


def test_the_table_says_simulated_and_gives_no_time(window: MainWindow) -> None:
    table, results = window.docks[TABLE], window.controller.results
    place = [c.id for c in table.table_model.columns].index("counted")
    window.tabs.setCurrentWidget(table)
    show_rows(results, rows()[:2])
    pause(0)
    assert table.isColumnHidden(place)
    counted(window)
    pause(0)
    assert not table.isColumnHidden(place)

    def cell(row: int, id: str) -> str:
        return str(table.sorter.index(row, [c.id for c in table.table_model.columns].index(id)).data())

    assert cell(2, "device") == "simulated GPU" and cell(2, "verdict") == "✓ right"
    assert cell(2, "counted") == "507008 warp instructions"
    assert [cell(2, id) for id in ("kernel", "q1", "q3", "n", "gbps", "share", "speedup", "elapsed")] == [""] * 8
    assert cell(0, "counted") == "" and cell(0, "speedup") == "×1"
    table.sortByColumn(place, Qt.SortOrder.AscendingOrder)
    assert [cell(r, "variant") for r in range(2)] == ["shared", "naive"]
    results.set_baseline(RowSlot("naive", "sim"))
    assert [cell(r, "speedup") for r in range(4)] == [""] * 4


def test_files_carry_the_counters(window: MainWindow) -> None:
    results = window.controller.results
    show_rows(results, rows()[:2])
    assert "warp_instructions" not in results.to_csv()
    counted(window)
    results.put(simulated("constant", findings=[finding(25)]))
    table = list(csv.DictReader(io.StringIO(results.to_csv())))
    assert [r["warp_instructions"] for r in table] == ["", "", "507008", "253504", "507008"]
    assert table[2]["clock"] == "simulated" and table[2]["kernel_s"] == table[2]["speedup"] == ""
    assert table[4]["ok"] == "False" and ":25: read-after-write hazard" in table[4]["findings"]
    assert json.loads(results.to_json())["runs"][2]["counters"] == COUNTERS


def test_measuring_is_offered_only_where_something_has_a_clock(window: MainWindow, engine: FakeEngine) -> None:
    session, action, button = window.controller.session, window.actions_by_id["measure"], window.panel.measure_button
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(picture()))
    session.set_picks(("serial", "naive"))
    assert action.isEnabled() and button.isEnabled() and "Not now" not in button.toolTip()
    session.set_picks(("naive", "shared"))
    assert not action.isEnabled() and not button.isEnabled()
    for tip in (action.toolTip(), button.toolTip()):
        assert "Not now: a simulated GPU counts work and has no clock; tick a variant that runs on the CPU" in tip
    assert window.controller.queue.picks(MEASURE) == ()
    session.set_picks(())
    assert "no variant that can be timed is ticked" in button.toolTip()


# What is found.


def test_findings_stand_in_the_results_own_bar(qtbot, shown: MainWindow, engine: FakeEngine) -> None:
    pane = shown.panes.pane("naive")
    bar = pane.findings
    assert not bar.isVisible()
    found = simulated("naive", ok=None, findings=[finding(n) for n in (25, 31, 40)], printed=["x = 3"])
    bring(shown, engine, found, picture()[20:60, 30:90].copy(), (20, 30))
    assert pane.layer.state == "wrong", "an error is enough, before anything is compared"
    assert bar.isVisible() and bar.sentence.text().startswith("mean2d/3_shared.cu:25: read-after-write hazard: ")
    assert bar.more.text() == "and 2 more" and not bar.details.isVisible()
    assert not any(p.findings.isVisible() for key, p in shown.panes.panes.items() if key != "naive")
    qtbot.mouseClick(bar.details_button, Qt.MouseButton.LeftButton)
    assert bar.details.isVisible()
    lines = bar.details.toPlainText().splitlines()
    assert [f":{n}: " in line for n, line in zip((25, 31, 40), lines, strict=False)] == [True] * 3
    assert lines[-1] == "x = 3"
    qtbot.mouseClick(bar.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == bar.details.toPlainText()
    bring(shown, engine, simulated("naive"), picture()[20:60, 30:90].copy(), (20, 30))
    assert not bar.isVisible() and pane.layer.state == "fresh"


def test_warnings_and_printed_lines_leave_the_verdict_alone(shown: MainWindow, engine: FakeEngine) -> None:
    pane, part = shown.panes.pane("naive"), picture()[20:60, 30:90].copy()
    bring(shown, engine, simulated("naive", findings=[finding(7, "warning")]), part, (20, 30))
    assert pane.layer.state == "fresh" and pane.findings.isVisible() and not pane.findings.more.isVisible()
    bring(shown, engine, simulated("naive", printed=["a", "b"]), part, (20, 30))
    assert pane.findings.sentence.text() == "the kernel printed 2 lines"
    engine.show(from_array(picture()))
    assert not pane.findings.isVisible(), "another input"


def test_findings_of_a_signals_result_name_it(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(np.arange(1000, dtype=np.float32), kind="signal"))
    found = simulated("shared", ok=False, findings=[finding(25)])
    bring(window, engine, found, np.zeros(400, np.float32), (300,))
    bar = window.signal_pane.bar("shared")
    assert bar.isVisible() and bar.sentence.text().startswith("3 constant + shared: mean2d/3_shared.cu:25: ")
    window.controller.session.set_picks(("serial", "naive"))
    assert not bar.isVisible()


def test_details_tell_what_was_counted_found_and_printed(window: MainWindow) -> None:
    counted(window)
    printed = [f"line {n}" for n in range(30)]
    window.controller.results.put(simulated("naive", findings=[finding(25)], printed=printed))
    canvas = window.ladder.canvas
    place = next(i for i, line in enumerate(canvas.ladder().lines) if line.entry and line.entry.variant == "naive")
    canvas.set_current(place)
    text = window.ladder.details.toPlainText()
    assert text.startswith("naive · simulated GPU") and "WRONG" in text
    assert "counted, simulated: 507008 warp instructions" in text and "counted, simulated: 256 blocks" in text
    assert "mean2d/3_shared.cu:25: read-after-write hazard" in text
    assert "printed: line 0" in text and "and 22 more printed lines" in text
    assert canvas.ladder().lines[place].counted == (), "wrong work is not compared"


def test_what_a_part_lacks_is_hatched(qtbot) -> None:
    grid = panes_shown(qtbot, ["a"])
    grid.display.set_levels(0, 255)
    origin = Origin(True, (20, 25), (60, 80), part=(20, 30))
    grid.set_array("a", np.full((20, 30), 200, np.uint8), None, "part", origin)
    canvas = grid.pane("a").canvas
    drawn = canvas.grab().toImage()

    def inks(left: int, top: int, right: int, bottom: int) -> set[str]:
        a, b = canvas.screen_at(left, top).toPoint(), canvas.screen_at(right, bottom).toPoint()
        return {drawn.pixelColor(x, y).name() for x in range(a.x() + 2, b.x() - 2) for y in range(a.y() + 2, b.y() - 2)}

    assert len(inks(5, 25, 20, 38)) > 1, "hatches beside the part"
    assert len(inks(26, 21, 54, 30)) == 1, "and none over it"


def test_the_work_of_a_part_is_not_compared_with_that_of_the_whole(window: MainWindow, engine: FakeEngine) -> None:
    ready(engine, NO_CUDA, SIM)
    engine.show(from_array(picture()))
    note = "simulated on the centre 60 x 40 of 120 x 80; the 58 x 38 unaffected by the crop are shown"
    whole_work = {**COUNTERS, "thread_instructions": 32 * COUNTERS["warp_instructions"]}
    bring(window, engine, simulated("naive", counters=whole_work), picture())
    part_work = {name: count / 4 for name, count in whole_work.items()}
    part = {"notes": [note], "counted_shape": [40, 60], "counters": part_work}
    bring(window, engine, simulated("constant", **part), picture())
    entries = window.controller.results.entries()
    whole, part = (next(e for e in entries if e.variant == v) for v in ("naive", "constant"))
    assert part.part == (40, 60) and whole.part == () and part_text(part) == "of 60 × 40"  # noqa: RUF001
    assert part_text(whole) == "" and rung_lines(entries, part) == [idea_of(part)]


def test_a_sum_of_a_part_says_of_which() -> None:
    placed = Origin(True, (129, 129), (512, 512), part=((128, 384), (128, 384)), extent=(512, 512))
    assert mark_texts(placed, (254, 254))[1] == "simulated · centre 254 × 254"  # noqa: RUF001
    loose = mark_texts(placed.loose, (256,))
    assert loose == ("of the middle 256 × 256", "simulated · of the middle 256 × 256")  # noqa: RUF001
    assert mark_texts(Origin(True).loose, (256,)) == ("simulated", "simulated")
    aside = Origin(True, (0, 10), (512, 600), part=((0, 256), (9, 265)), extent=(512, 600))
    assert mark_texts(aside, (254, 254))[1] == "simulated · 254 × 254 of 600 × 512"  # noqa: RUF001
    assert mark_texts(aside.loose, (256,))[0] == "of a part of 256 × 256"  # noqa: RUF001
    signal = Origin(True, (20,), (1040,), part=((18, 1022),), extent=(1040,))
    assert mark_texts(signal, (1000,))[1] == "simulated · centre 1000 samples"
    assert mark_texts(Origin(True, (0,), (1040,)), (9,))[1] == "simulated · 9 of 1040"
