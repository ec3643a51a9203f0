"""The traffic on the picture: when it is asked for, what is painted, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from xray_answers import show, window_with

from app.controllers.engine_log import describe
from app.models.traffic.recorded import recorded, sector_spans, tinted
from app.models.traffic.warp_rows import read_with
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
PRINT = Footprint(63, "k", FILE, 5, (1, 0, 0), (8, 3, 0), 1, (62, 63, 64), READS, 25, 0, 1, 1)


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
    assert text.startswith("Of the middle 64 × 32 pixels: naive: 577 sectors of the input, 7 of other memory")  # noqa: RUF001
    assert text.endswith("rows: it has none.") and window.traffic_bar.scale.top == 10
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
    assert bar.scale.top == 1 and "naive: 1 sectors of the input ·" in bar.state.text()
    controller.set_line(None, True)
    controller.take_xray_line(FILE, 4)
    assert bar.scale.top == 9 and bar.line.currentText() == "Line of the X-ray"
    controller.set_measure("requests")
    assert "naive: 18432 reads of an element by a warp" in bar.state.text().replace(",", "")
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
    place = ", ".join(map(str, request.place[::-1]))
    assert window.traffic_bar.words.text() == (
        f"naive: pixel ({place}) was written by thread (8, 3) of block (1, 0), warp 1, line 5, "
        "from 3 pixels in 2 rows; line 4 fetched 2 sectors for it."
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
