"""The traffic on the picture: when it is asked for, what is painted, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import QLocale, QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from xray_answers import THERE, plain, show, window_with

from app.controllers.engine_log import describe
from app.models.experiment.pin import Pin
from app.models.traffic.recorded import OfVariant, Recorded, footprint_text, recorded, sector_spans, tinted, total_text
from app.models.traffic.warp_rows import read_with, rows_of
from app.views.traffic import paint
from app.views.traffic.bar import TrafficBar
from app.views.traffic.marks import MADE, draw_passed
from app.views.traffic.paint import Painted, draw_traffic
from app.views.traffic.strip import TrafficStrip
from app.views.traffic.warp_view import WarpRows
from app.views.window.main_window import MainWindow
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import TrafficAnswer, TrafficRequest
from gpu_ops.engine.messages import Failed
from gpu_ops.explaining.traffic.content import (
    Footprint,
    FootprintRead,
    LineTraffic,
    Traffic,
    footprint_dict,
    traffic_dict,
)
from gpu_ops.explaining.traffic.warp_content import WarpAccess, WarpAccesses, warps_json

SIM = DeviceStatus("sim", "simulated GPU", True)
SHAPE = (32, 64)
FILE = "mean2d/1_naive.cu"
READS = tuple(FootprintRead(n, "k", FILE, 4, (1, 0, 0), (8, 3, 0), True) for n in (62, 63, 64))
PRINT = Footprint(63, "k", FILE, 5, (1, 0, 0), (8, 3, 0), 1, (62, 63, 64), READS, 25, 50, 1, 1, (61,), 2)


def traffic(variant: str, times: int) -> Traffic:
    """Line 4 asks for each pixel `times` times, line 9 for the first 32 once more."""
    sectors = np.full(64, times)
    one = LineTraffic("k", ((FILE, 4),), {"requests": np.full(2048, times), "sectors": sectors})
    first = LineTraffic("k", ((FILE, 9),), {"requests": (np.arange(2048) < 32) * 1, "sectors": (np.arange(64) < 1) * 1})
    return Traffic(variant, SHAPE, 1, (one, first), {"sectors": 7})


def answer_of(request: TrafficRequest, times: dict[str, int]) -> dict[str, Any]:
    """An answer like the engine's: the part begins at (100, 200)."""
    found = []
    for pick in request.picks:
        about: dict[str, Any] = {"variant": pick.variant, "title": pick.variant}
        if pick.variant in times:
            about |= traffic_dict(traffic(pick.variant, times[pick.variant]))
        else:
            about["reason"] = "it has none."
        if request.place:
            about["footprint"] = footprint_dict(PRINT)
        found.append(about)
    return {"start": [100, 200], "variants": found}


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> Iterator[MainWindow]:
    window = window_with(qtbot, engine, (SIM,))
    window.controller.session.set_picks(("naive", "shared", "rows"))
    engine.end()
    yield window


def asked(engine: FakeEngine) -> list[TrafficRequest]:
    return [r for r in engine.asked if isinstance(r, TrafficRequest)]


def answer(qtbot, engine: FakeEngine, count: int = 1, **times: int) -> None:
    qtbot.waitUntil(lambda: len(asked(engine)) == count)
    request = asked(engine)[-1]
    engine.answered.emit(TrafficAnswer(request.job, answer_of(request, times)))
    engine.end()


def test_it_is_asked_for_only_while_it_is_painted(qtbot, window, engine) -> None:
    qtbot.wait(20)
    assert asked(engine) == [] and not window.traffic_bar.isVisible()
    act(window, "traffic")
    answer(qtbot, engine, naive=9, shared=2)
    (request,) = asked(engine)
    assert [pick.variant for pick in request.picks] == ["naive", "shared", "rows"] and request.architecture == "sm_75"
    assert all(pick.device == "sim" for pick in request.picks) and request.place == ()
    assert describe(request).startswith("traffic on a simulated sm_75: mean2d window=3 border=reflect")
    text = window.traffic_bar.state.text()
    assert text.splitlines() == [
        "Counted on the middle 64 × 32 pixels:",  # noqa: RUF001
        "naive – 577 sectors of the input, and 7 of other memory",  # noqa: RUF001
        "shared – 129 sectors of the input, and 7 of other memory",  # noqa: RUF001
        "rows – it has none.",  # noqa: RUF001
    ]
    assert window.traffic_bar.scale.top == 10
    assert window.actions_by_id["traffic"].isChecked()
    QTest.mouseClick(window.traffic_bar.close_button, Qt.MouseButton.LeftButton)
    assert not window.traffic_bar.isVisible() and not window.actions_by_id["traffic"].isChecked()


def test_a_line_and_a_measure_are_painted_on_one_scale(qtbot, window, engine) -> None:
    act(window, "traffic")
    answer(qtbot, engine, naive=9, shared=2)
    bar, controller = window.traffic_bar, window.context.traffic
    texts = [bar.line.itemText(n) for n in range(bar.line.count())]
    assert texts == ["All lines", "Line of the X-ray", "1_naive.cu, line 4", "1_naive.cu, line 9"]
    controller.set_line((FILE, 9))
    assert bar.scale.top == 1 and "naive – 1 sectors of the input\n" in bar.state.text()
    controller.set_line(None, True)
    controller.take_xray_line(FILE, 4)
    assert bar.scale.top == 9 and bar.line.currentText() == "Line of the X-ray"
    controller.set_measure("requests")
    assert "naive – 18432 reads of an element by a warp" in bar.state.text().replace(",", "")
    with pytest.raises(ValueError, match="requests, sectors, shared"):
        controller.set_measure("bytes")


def test_a_click_on_a_picture_asks_for_the_footprint_and_says_it(qtbot, window, engine) -> None:
    act(window, "traffic")
    answer(qtbot, engine, naive=9, shared=2, rows=1)
    canvas = window.panes.pane("input").canvas
    qtbot.waitUntil(lambda: canvas.display.scale > 0 and bool(canvas.images))
    at = canvas.screen_at(263.5, 100.5).toPoint()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    answer(qtbot, engine, 2, naive=9, shared=2, rows=1)
    request = asked(engine)[-1]
    assert (request.output, request.place) == ("image", window.context.traffic.place) and len(request.place) == 2
    row, column = request.place
    assert plain(window.traffic_bar.words.text()) == (
        f"The result of naive at row {row}, column {column} is made of 3 pixels in 2 rows. Thread (x 8, y 3) of block "
        "1, in warp 1, wrote it at line 5. It fetched 2 sectors with these inputs, at line 4. The thread that wrote it "
        "read 50 values from shared memory, for 2 results in all. Also read without effect, because of a sum that "
        "cancels, a weight of 0 or a shared word: 1 pixel in 1 row."
    )
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    assert window.context.traffic.place == () and canvas.screen_at(263.5, 100.5).toPoint() == at
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=at + QPoint(30, 0))
    assert window.context.traffic.place == ()  # that was a drag


def test_the_line_of_the_xray_is_followed(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    window.xray_panel.files.go_to("mean2d/3_shared.cu", 5)
    window.context.traffic.set_line(None, True)
    assert window.context.traffic.line == ("mean2d/3_shared.cu", 5)
    window.xray_panel.files.go_to("mean2d/3_shared.cu", 4)
    assert window.context.traffic.line == ("mean2d/3_shared.cu", 4)


def test_the_accesses_of_its_warp_are_rows_and_words(qtbot, window, engine) -> None:
    act(window, "traffic")
    QTest.mouseClick(window.traffic_bar.warp_button, Qt.MouseButton.LeftButton)
    answer(qtbot, engine, naive=9, shared=2)
    view, controller = window.traffic_bar.warp, window.context.traffic
    assert view.isVisible() and view.words.text() == "Choose an element to see what its warp reads and writes."
    height = view.height()
    controller.set_place((110, 210))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    content = answer_of(asked(engine)[-1], {"naive": 9})
    first, *others = content["variants"]
    read = WarpAccess(FILE, 4, "load", "input", "", 1, 2048, tuple(range(32)), tuple(range(640, 704, 2)), 2)
    added = WarpAccess(FILE, 5, "atomic", "output", "counts", 4, 256, (9, 10, 11), (7, 7, 9), 1)
    first["warps"] = warps_json((WarpAccesses("k", (1, 0, 0), 1, 10, True, 9, (read, added)),))
    for one in others:
        one["warps_reason"] = "Its blocks wait."
    del first["footprint"]
    engine.answered.emit(TrafficAnswer(asked(engine)[-1].job, content))
    engine.end()
    assert [(row.what, row.how) for row in view.rows.rows] == [
        ("k: warp 1 of block (1, 0), lane 10 read this element", ""),
        ("line 4 loads from the input", "32 lanes, 2 apart, 2 sectors, its own 660"),
        ("line 5 changes the result counts", "3 lanes, up to 2 at one element, 1 sector, its own 7"),
        ("7 more accesses of this warp", ""),
    ]
    assert view.rows.rows[1].span == (640, 704) and view.rows.rows[2].span == (0, 64) and view.height() == height
    assert read_with(controller.recorded.variants[0].warps) == read.elements and view.grab().height() == height
    again = [row.what for row in rows_of(controller.recorded.variants[0].warps * 2) if row.access is None]
    assert again[2] == "k: warp 1 of block (1, 0), lane 10 read what was made of it"
    rows = WarpRows(None)
    qtbot.addWidget(rows)
    rows.show_rows(view.rows.rows)
    line = rows.sizeHint().height() // len(rows.rows)
    whole = "line 4 loads from the input: 32 lanes, 2 apart, 2 sectors, its own 660"
    for width, first, heading in ((120, whole, rows.rows[0].what), (2000, "", "")):
        rows.resize(width, 9 * line)
        assert (rows.tip(line + 2), rows.tip(2), rows.tip(-1), rows.tip(9 * line)) == (first, heading, "", "")
    controller.set_place((110, 210), "none")
    controller.set_place((110, 210), "none")
    assert view.rows.rows == []


def test_a_failure_is_a_sentence(qtbot, window, engine) -> None:
    act(window, "traffic")
    qtbot.waitUntil(lambda: bool(asked(engine)))
    engine.answered.emit(Failed(asked(engine)[-1].job, "The engine ended."))
    engine.end()
    assert window.traffic_bar.state.text() == "There is no traffic: The engine ended."


def test_colours_and_bars_are_those_of_the_counts() -> None:
    counts = np.array([[0, 1], [5, 10]])
    colours = tinted(counts, 10)
    assert colours.shape == (2, 2, 4) and colours[0, 0, 3] == 0 and (colours[counts > 0, 3] == 190).all()
    assert len({tuple(c) for c in colours.reshape(-1, 4)}) == 4
    assert sector_spans(PRINT, 64) == [(0, 32, 64), (1, 0, 32)]
    assert sector_spans(PRINT, 50) == [(0, 32, 50), (1, 0, 14), (1, 14, 46)]
    assert recorded(answer_of(TrafficRequest(1, None, "mean2d", {}, (), "sm_75"), {})).variants == ()  # type: ignore[arg-type]


def test_results_that_are_not_recorded_are_named(qtbot, window, engine) -> None:
    session = window.controller.session
    session.set_picks(("naive", "constant", "shared", "rows", "ring"))
    act(window, "traffic")
    answer(qtbot, engine, naive=9)
    assert [pick.variant for pick in asked(engine)[-1].picks] == ["naive", "constant", "shared", "rows"]
    assert window.traffic_bar.state.text().endswith("At most 4 are recorded. Untick others to record: 6 ring buffer")
    session.set_picks(("naive", "ring"))
    answer(qtbot, engine, 2, naive=9, ring=1)
    assert "At most" not in window.traffic_bar.state.text()


def test_an_edited_kernel_has_traffic_of_its_own(qtbot, window, engine) -> None:
    pin = Pin.edited("naive", {FILE: "// edited"})
    window.controller.session.show_pin(pin)
    act(window, "traffic")
    answer(qtbot, engine, naive=3)
    assert [bool(pick.edits) for pick in asked(engine)[-1].picks] == [False, True, False, False]
    recorded = window.context.traffic.recorded
    assert [one.id for one in recorded.variants] == ["naive", pin.id, "shared", "rows"]
    assert "\nnaive, edited – 193 sectors" in window.traffic_bar.state.text()  # noqa: RUF001


def test_the_legend_explains_every_mark_also_in_full_screen(qtbot, window, engine, monkeypatch) -> None:
    act(window, "traffic")
    answer(qtbot, engine, naive=9, shared=2, rows=1)
    bar, canvas = window.traffic_bar, window.panes.pane("input").canvas
    qtbot.waitUntil(lambda: canvas.display.scale > 0 and bool(canvas.images))
    window.context.traffic.set_place((100, 263))
    answer(qtbot, engine, 2, naive=9, shared=2, rows=1)
    texts = [sign.accessibleName() for sign in bar.signs if sign.isVisible()]
    assert texts == ["the result", "made of these", "fetched sectors", "read without effect"]
    painted, drawn = Painted(None, (100, 200), SHAPE, PRINT, (100, 263), top=9), []
    monkeypatch.setattr(paint, "draw_entry", lambda painter, entry, *rest: drawn.append(entry[1]))
    for full in (False, True):
        monkeypatch.setattr(MainWindow, "isFullScreen", lambda window, full=full: full)
        image = QImage(canvas.size(), QImage.Format.Format_RGB32)
        painter = QPainter(image)
        draw_traffic(painter, canvas, painted)
        painter.end()
        assert drawn == ([*texts, "0 to 9 fetches of a sector"] if full else [])


def test_what_was_read_without_effect_is_hatched() -> None:
    """Elements 60 to 66 of rows of 64 are read, of which 62 to 64 make the result."""
    print_ = replace(PRINT, passed=(60, 61, 65, 66))
    painted = Painted(None, (100, 200), SHAPE, print_, (100, 263))
    assert painted.pixels == [(100, 262), (100, 263), (101, 200)]
    assert painted.passed == [(100, 260, 262), (101, 201, 203)]
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(0xFF808080)
    painter = QPainter(image)
    draw_passed(painter, QRectF(0, 0, 8, 8))
    painter.end()
    assert {image.pixelColor(x, y).value() for x in range(8) for y in range(8)} == {255, 63}


def test_the_pictures_keep_their_size_and_the_words_of_a_footprint_are_seen(qtbot, window, engine, monkeypatch) -> None:
    lines = "\n".join(map(str, range(20)))
    monkeypatch.setattr(TrafficBar, "_state", lambda bar: lines if bar._controller.recorded else "Recording…")
    act(window, "traffic")
    bar, canvas = window.traffic_bar, window.panes.pane("input").canvas
    sizes = []
    for times, place in enumerate(((), (100, 263)), 1):
        window.context.traffic.set_place(place)
        QTest.qWait(10)
        sizes.append(canvas.size())
        answer(qtbot, engine, times, naive=9, shared=2, rows=1)
        QTest.qWait(10)
        sizes.append(canvas.size())
        assert bar.words.visibleRegion().isEmpty() == (not place)
    assert len({size.toTuple() for size in sizes}) == 1


def test_numbers_of_a_footprint_are_those_of_the_locale() -> None:
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    try:
        print_ = replace(PRINT, block=(1234, 0, 0), thread=(5, 0, 0), shared_reads=0, passed=(), elements=(0,) * 2000)
        one = OfVariant("naive", "naive", Traffic("naive", (4096,), 4, ()), footprint=print_)
        text = footprint_text(one, (1500,))
    finally:
        QLocale.setDefault(before)
    assert text.startswith("The result of naive at sample 1,500 is made of 2,000 samples. Thread 5 of block 1,234, in")


def test_elements_that_meet_are_joined_by_lines(qtbot) -> None:
    """The lines of the chosen lane go from what it reads, above, to what it writes, below."""
    lanes = tuple(range(32))

    def access(verb: str, first: int) -> WarpAccess:
        elements = tuple(first + lane for lane in lanes)
        return WarpAccess("a.cu", 7, verb, "shared", "", 8, 64, lanes, elements, 0)  # type: ignore[arg-type]

    accesses = tuple(access(*one) for one in (("load", 0), ("load", 32), ("store", 0), ("store", 32)))
    warp = WarpAccesses("k", (0, 0, 0), 0, 5, False, 4, accesses)
    rows = WarpRows(None)
    qtbot.addWidget(rows)
    rows.show_rows(rows_of((warp,)))
    rows.resize(900, rows.sizeHint().height())
    line, image = rows.fontMetrics().height() + 2, rows.grab().toImage()
    assert rows.rows[-1].how == "its own 5, 37 give 5, 37" and rows.sizeHint().height() == (5 + 4) * line
    top, bottom = 5 * line + 4, 9 * line - 5
    own = [[x for x in range(900) if image.pixelColor(x, y) == MADE] for y in (top, bottom, (top + bottom) // 2)]
    ends = [own[0][0], own[0][-1]]
    assert own[1][0] == pytest.approx(ends[0], abs=9) and own[1][-1] == pytest.approx(ends[1], abs=9)
    assert any(abs(x - sum(ends) / 2) < 6 for x in own[2]), "the two lines cross in the middle"
    rows.resize(300, rows.height())
    assert rows.tip(9 * line - 2) == rows.tip(5 * line + 2) == "2 elements meet in each lane: its own 5, 37 give 5, 37"
    rows.show_rows(rows_of((warp, warp)))
    assert rows.tip(9 * line + 2) == rows.rows[6].what and rows.rows[6].access is None


def test_the_rows_of_a_signal_stay_dimmed_while_the_next_footprint_is_recorded(qtbot) -> None:
    line = LineTraffic("k", ((FILE, 4),), {"sectors": np.full(8, 3)})
    found = Recorded((), (OfVariant("naive", "naive", Traffic("naive", (64,), 4, (line,))),))
    strip = TrafficStrip(None)
    qtbot.addWidget(strip)
    strip.show_recorded(found, "sectors", None, ())
    strip.resize(strip.sizeHint())
    full, height = strip.grab().toImage(), strip.sizeHint().height()
    strip.show_recorded(None, "sectors", None, (5,))
    assert strip.sizeHint().height() == height and not strip.isEnabled()
    at = QPoint(strip.width() - 5, 5)  # in the row of colours
    assert strip.grab().toImage().pixelColor(at) != full.pixelColor(at)
    strip.show_recorded(found, "sectors", None, ())
    assert strip.grab().toImage() == full and strip.isEnabled()


def test_a_sample_without_a_footprint_is_marked_with_those_that_its_warp_reads(qtbot) -> None:
    line = LineTraffic("k", ((FILE, 4),), {"sectors": np.full(8, 3)})
    read = WarpAccess(FILE, 4, "load", "input", "", 4, 64, tuple(range(8)), tuple(range(40, 48)), 1)
    warp = WarpAccesses("k", (0, 0, 0), 0, 2, True, 1, (read,))
    strip = TrafficStrip(None)
    qtbot.addWidget(strip)
    pictures = []
    for warps in ((), (warp,)):
        one = OfVariant("naive", "naive", Traffic("naive", (64,), 4, (line,)), warps=warps)
        strip.show_recorded(Recorded((), (one,)), "sectors", None, (42,))
        strip.resize(strip.sizeHint())
        pictures.append(strip.grab().toImage())
    plain, marked = pictures
    row = strip.sizeHint().height() // 4
    changed = [x for x in range(plain.width()) if plain.pixelColor(x, row) != marked.pixelColor(x, row)]
    assert strip._x(40) - 3 < changed[0] < strip._x(40) + 3 and strip._x(48) - 3 < changed[-1] < strip._x(48) + 3
    assert marked.pixelColor(int(strip._x(42.5)), row) == MADE


def test_for_another_machines_gpu_it_is_recorded_there(qtbot, engine) -> None:
    window = window_with(qtbot, engine, (THERE,))
    window.controller.session.set_picks(("naive", "shared"))
    engine.end()
    act(window, "traffic")
    answer(qtbot, engine, naive=9, shared=2)
    assert {pick.device for pick in asked(engine)[-1].picks} == {"gpu-host/sim"}
    assert window.traffic_bar.state.text().splitlines()[-1] == "computed on gpu-host"


@pytest.mark.parametrize(
    "measure, textures, words",
    [
        ("requests", (9, 0), "2 reads of an element by a warp"),
        ("requests", (9, 4), "2 reads of an element by a warp, and 4 texture requests for no single element"),
        ("sectors", (9, 4), "0 sectors of the input, and 9 texture requests, which have no known sectors"),
        ("shared", (9, 4), "0 shared reads of the input"),
    ],
)
def test_requests_of_textures_are_said_once(qapp, measure: Any, textures: tuple[int, int], words: str) -> None:
    line = LineTraffic("k", (("a.cu", 1),), {"requests": np.array([1, 1])})
    traffic = Traffic("texture", (2,), 1, (line,), textures=textures[0], unpainted=textures[1])
    assert total_text(OfVariant("texture", "8 texture", traffic), measure, None) == f"8 texture – {words}"
