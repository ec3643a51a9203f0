"""The ladder: positions, texts, and use."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pixels
import pytest
from lanes import each_once
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QGuiApplication, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QToolTip
from result_rows import TITLES, row, rows, show_rows, stage

from app.base import theme
from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.results.results import Results
from app.views.timing.ladder import LadderCanvas, TimingLadder
from app.views.timing.ladder_axis import axis_for
from app.views.timing.ladder_layout import Geometry, legend_texts
from app.views.timing.ladder_paint import small_font
from app.views.timing.result_table import ResultTable
from app.views.timing.row_text import details
from gpu_ops.errors import InputError

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # menus and tool tips, offscreen
SERIAL, NAIVE = RowSlot("serial", "cpu"), RowSlot("naive", "cuda:0")
LONG = {"naive": "a name so long that nobody would give it to a variant, and yet somebody did one day"}


def filled(many: int = 4) -> Results:
    results = Results()
    content = rows()
    while len(content) < many:
        content.append(row(f"variant{len(content)}", "cuda:0", 1e-5 * len(content)))
    show_rows(results, content[:many], TITLES | LONG)
    results.set_baseline(SERIAL)
    return results


@pytest.fixture
def results(qapp) -> Results:
    return filled()


@pytest.fixture
def ladder(results: Results, qtbot) -> TimingLadder:
    view = TimingLadder(results)
    qtbot.addWidget(view)
    view.resize(1000, 600)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    return view


def boxes(geometry: Geometry) -> list[QRectF]:
    """Every box that something is written or drawn in."""
    found = [item.rect for item in geometry.legend]
    for section in geometry.sections:
        found += [*section.heads.values(), section.heading]
        for line in section.lines:
            found += [line.name, line.sub, line.bars, *line.cells.values()]
    return [b for b in found if b.width() > 0 and b.height() > 0]


@pytest.mark.parametrize("width, many, presenter", each_once((320, 480, 700, 1000, 1600), (1, 4, 12), (False, True)))
def test_nothing_overlaps_and_nothing_leaves_the_picture(
    qtbot, qapp: QApplication, width: int, many: int, presenter: bool
) -> None:
    theme.apply(qapp, Qt.ColorScheme.Light, presenter)
    try:
        view = TimingLadder(filled(many))
        qtbot.addWidget(view)
        geometry = view.canvas.geometry_for(width)
    finally:
        theme.apply(qapp, Qt.ColorScheme.Light)
    picture = QRectF(0, 0, geometry.width, geometry.height)
    for box in boxes(geometry):
        assert picture.contains(box)
    inner = [box.adjusted(0.1, 0.1, -0.1, -0.1).normalized().getCoords() for box in boxes(geometry)]
    left, top, right, bottom = np.array(inner).T
    meets = (left[:, None] < right) & (left < right[:, None]) & (top[:, None] < bottom) & (top < bottom[:, None])
    overlaps = [(inner[a], inner[b]) for a, b in np.argwhere(np.triu(meets, 1))]
    assert len(inner) > 10 and overlaps == []
    for line in geometry.lines:
        axis = geometry.sections[0].axis
        assert line.bars.left() <= axis.left < axis.right <= line.bars.right()


def test_wide_shows_columns_narrow_shows_one_line(ladder: TimingLadder) -> None:
    wide, narrow = ladder.canvas.geometry_for(1400), ladder.canvas.geometry_for(400)
    assert not wide.narrow and wide.columns == ("kernel", "rate", "share", "speedup", "error", "verdict")
    texts = wide.sections[0].lines[2].texts
    assert texts["kernel"] == "58.5 µs" and texts["rate"] == "2735 GB/s" and texts["share"] == "64 %"
    assert texts["speedup"] == "×496" and texts["verdict"] == "right"
    assert wide.headings["speedup"] == "× CPU, one core, CPU"
    assert narrow.narrow
    assert narrow.sections[0].lines[2].texts["summary"] == "58.5 µs · 2735 GB/s · 64 % · ×496"


def test_the_fair_bars_stand_below(ladder: TimingLadder) -> None:
    rowed, fair = ladder.canvas.geometry_for(1000).sections
    assert [line.fair.id for line in fair.lines if line.fair][0] == "cpu_one" and len(fair.lines) == 6
    assert fair.lines[0].rect.top() > rowed.lines[-1].rect.bottom()
    assert fair.axis is rowed.axis


def test_titles_of_the_fair_comparison_are_whole_in_a_narrow_panel(qtbot) -> None:
    """What was not measured is said in words where there is room for them beside the title."""
    ladder, said = TimingLadder(filled(1)), set()
    qtbot.addWidget(ladder)
    for width in (230, 250, 300, 420):
        for line in ladder.canvas.geometry_for(width).sections[-1].lines:
            assert line.fair is not None
            if line.fair.seconds is None:
                title = QFontMetricsF(ladder.canvas.font()).horizontalAdvance(line.fair.title)
                assert title <= line.name.width(), (width, line.fair.title)
                said.add(line.texts["who"])
    assert said == {"–", "not measured"}


def test_simulated_time_has_its_own_axis(results: Results, qtbot) -> None:
    results.put(row("naive", "sim", 3.0, stages={"kernel": stage(3.0, "simulated")}))
    view = TimingLadder(results)
    qtbot.addWidget(view)
    measured, simulation, fair = view.canvas.geometry_for(1000).sections
    assert [line.entry.device for line in simulation.lines if line.entry] == ["sim"]
    assert simulation.axis != measured.axis and measured.axis.high < 3
    assert fair.axis is measured.axis


def notes(results: Results, width: int = 300) -> list[str]:
    """The sentences of the legend, none of which is cut."""
    canvas = LadderCanvas(results)
    found = [item for item in canvas.geometry_for(width).legend if item.kind == "note"]
    small = QFontMetricsF(small_font(canvas.font()))
    assert all(
        item.rect.width() * (item.rect.height() // small.lineSpacing()) > small.horizontalAdvance(item.text)
        for item in found
    )
    return [item.text for item in found]


def test_what_the_cache_means_is_said_once_and_of_which_machine(results: Results) -> None:
    bound = {"memory": "L2", "bytes_s": 5e12, "launch_s": 2e-6}
    more = {"bound": bound, "share_bound": 0.5, "share_peak": 0.6}
    assert not notes(results)
    for variant in ("naive", "shared"):
        results.put(row(variant, "cuda:0", 5e-6, **more))
    results.set_recorded([(row("shared", "cuda:0", 5e-6, **more), "H100")], TITLES)
    said = "The buffers fit into L2: its copy roof is 5000 GB/s; a launch alone takes 2 µs"
    assert notes(results) == [said, f"◉ H100: {said}"]
    assert sum(kind == "bound" for kind, _ in legend_texts(results.entries())) == 1
    entry = next(e for e in results.entries() if e.variant == "naive")
    events = details(entry, results)
    assert (
        "60 % of the data sheet's peak" in events and "50% of the bound: one launch (2 µs)" in events and said in events
    )
    (line,) = [r for r in csv.DictReader(io.StringIO(results.to_csv())) if r["variant"] == "naive"]
    assert (line["share_peak"], line["share_bound"], line["bound_memory"]) == ("0.6", "0.5", "L2")


def test_the_legend_names_the_clocks(results: Results) -> None:
    legend = dict(legend_texts(results.entries()))
    assert legend["cpu"] == "computing, CPU · wall clock"
    assert legend["kernel"] == "kernel, GPU · event clock"
    assert legend["elapsed"] == "end to end · wall clock"
    assert "recorded" not in legend
    results.load(rows(), "NVIDIA H200")
    assert "recorded" in dict(legend_texts(results.entries()))


def test_rows_of_one_variant_say_in_what_they_differ(qtbot) -> None:
    results = Results()
    kinds = ({"knobs": {"block": 128}}, {"knobs": {"block": 256}}, {"knobs": {"block": 256}, "edits": "0a1b"})
    results.load([row("naive", "cuda:0", 1e-5 * n, **more) for n, more in enumerate(kinds, 1)], titles=TITLES)
    view = TimingLadder(results)
    qtbot.addWidget(view)
    lines = view.canvas.geometry_for(1000).sections[0].lines
    assert [line.entry.name for line in lines] == [
        "1 naive · block 128",
        "1 naive · block 256",
        "1 naive · block 256 · edited",
    ]
    assert [line.texts["kernel"] for line in lines] == ["10 µs", "20 µs", "30 µs"]
    assert "knobs: block 256, edited" in view.canvas.words(lines[2])


def test_pinned_times_show_by_how_much_rows_change(ladder: TimingLadder, results: Results, qtbot) -> None:
    table = ResultTable(results)
    qtbot.addWidget(table)
    table.show()
    place = [c.id for c in table.table_model.columns].index("change")
    assert "change" not in ladder.canvas.geometry_for(1400).columns and table.isColumnHidden(place)
    assert "change" not in results.to_csv().splitlines()[0]
    assert results.pin_times() == 4
    assert not any(line.texts.get("change") for line in ladder.canvas.ladder().lines), "nothing has changed yet"
    results.put(row("naive", "cuda:0", 2.925e-5, knobs={"block": 256}))
    results.put(row("shared", "cuda:0", 7.8e-5))
    lines = ladder.canvas.geometry_for(1400).sections[0].lines
    assert [line.texts["change"] for line in lines] == ["", "", "−50 % faster", "+50 % slower"]
    narrow = ladder.canvas.geometry_for(400).sections[0].lines[2]
    assert narrow.texts["summary"].endswith("vs pinned −50 % faster")
    assert "since pinned: −50 % faster" in ladder.canvas.words(lines[2])
    qtbot.waitUntil(lambda: not table.isColumnHidden(place))
    assert [table.sorter.index(r, place).data() for r in range(4)] == ["", "", "−50 % faster", "+50 % slower"]
    cells = list(csv.DictReader(io.StringIO(results.to_csv())))
    assert [c["change_verdict"] for c in cells] == ["", "", "faster", "slower"] and cells[2]["change"] == "0.5"
    assert float(cells[2]["pinned_kernel_s"]) == 5.85e-5
    assert [r.get("change") for r in json.loads(results.to_json())["runs"]] == [None, None, 0.5, 1.5]
    results.put(row("naive", "cuda:0", 1e-5, params={"window": 7, "border": "zero"}))
    assert ladder.canvas.geometry_for(1400).sections[0].lines[2].texts["change"] == "", "another job"
    colours = theme.colours_of(ladder.palette())
    assert {colours.error.colour.name()} <= pixels.colours(ladder.picture(1400))
    results.unpin_times()
    assert "change" not in ladder.canvas.geometry_for(1400).columns


def test_recorded_rows_are_neither_pinned_nor_compared(results: Results) -> None:
    results.load(rows(), "NVIDIA H200")
    assert results.pin_times() == 0 and results.pinned(results.entries()[0]) is None
    table = ResultTable(results)
    assert table.sorter.index(0, 0).data().startswith("◉ "), "in the table as well they are marked in the first column"


def test_axes() -> None:
    log = axis_for([5.2e-5, 0.029], 0, 400, True)
    assert log.low == pytest.approx(1e-5) and log.x(log.low) == 0
    assert log.x(1e-3) - log.x(1e-4) == pytest.approx(log.x(1e-4) - log.x(1e-5))
    assert log.ticks(10) == pytest.approx([1e-5, 1e-4, 1e-3, 1e-2])
    assert len(axis_for([1e-9, 100], 0, 400, True).ticks(4)) <= 4
    linear = axis_for([5.2e-5, 0.029], 0, 400, False)
    assert linear.x(0) == 0 and linear.x(0.02) == pytest.approx(2 * linear.x(0.01))
    assert linear.ticks(6)[:2] == pytest.approx([0, 0.01])
    assert len(linear.ticks(6)) <= 7


def test_the_axis_can_be_switched(ladder: TimingLadder, qtbot) -> None:
    assert ladder.canvas.ladder().sections[0].axis.log
    qtbot.keyClick(ladder.log_box, Qt.Key.Key_Space)
    assert not ladder.canvas.ladder().sections[0].axis.log


def test_keys_move_and_details_name_every_clock(ladder: TimingLadder, qtbot) -> None:
    events: list[Any] = []
    ladder.current_changed.connect(events.append)
    ladder.log_box.setFocus()
    qtbot.keyClick(ladder.log_box, Qt.Key.Key_Tab)
    qtbot.keyClick(ladder.why_box, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is ladder.canvas
    assert ladder.current_slot() == SERIAL
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_Down)
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_Down)
    assert events[-1] == NAIVE == ladder.current_slot()
    text = ladder.details.toPlainText()
    assert ladder.details.isVisible() and text == ladder.canvas.accessibleDescription()
    lines = text.splitlines()
    assert any(line.startswith("kernel 58.5 µs") and "event clock" in line for line in lines)
    assert any(line.startswith("end to end, pinned 2.96 ms") and "wall clock" in line for line in lines)
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_End)
    assert events[-1] is None and "GPU, pinned and streamed" in ladder.details.toPlainText()
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_Home)
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_Up)
    assert events[-1] == SERIAL


def test_clicking_chooses_and_copying_copies(ladder: TimingLadder, qtbot) -> None:
    line = ladder.canvas.ladder().lines[3]
    qtbot.mouseClick(ladder.canvas, Qt.MouseButton.LeftButton, pos=line.rect.center().toPoint())
    assert ladder.current_slot() == RowSlot("shared", "cuda:0")
    qtbot.keyClick(ladder.canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == ladder.details.toPlainText()


def test_a_tool_tip_tells_the_row(ladder: TimingLadder) -> None:
    where = ladder.canvas.ladder().lines[2].rect.center().toPoint()
    QApplication.sendEvent(ladder.canvas, QHelpEvent(QEvent.Type.ToolTip, where, ladder.canvas.mapToGlobal(where)))
    assert LONG["naive"] in QToolTip.text() and "event clock" in QToolTip.text()
    QApplication.sendEvent(ladder.canvas, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 2), QPoint(5, 2)))


def test_it_follows_its_model(ladder: TimingLadder, results: Results) -> None:
    assert not ladder.empty.isVisible()
    results.put(row("naive", "cuda:0", 1e-6))
    assert ladder.canvas.ladder().lines[2].texts["kernel"] == "1 µs"
    results.set_baseline(NAIVE)
    assert ladder.canvas.ladder().lines[2].texts["speedup"] == "×1"
    results.clear()
    assert ladder.empty.isVisible() and ladder.canvas.ladder().lines == ()


def test_failures_and_states_are_said_in_words(results: Results, ladder: TimingLadder) -> None:
    results.put(row("serial", "cpu", None, failure="No room for it.", failure_kind="memory", ok=None, error_max=None))
    results.put(row("parallel", "cpu", None, ok=False, error_max="infinite"))
    lines = ladder.canvas.ladder().lines
    assert lines[0].texts["verdict"] == "out of memory" and lines[0].texts["kernel"] == ""
    assert lines[1].texts["verdict"] == "WRONG" and lines[1].texts["error"] == "∞"
    results.mark_stale([NAIVE])
    ladder.canvas.set_current(2)
    assert "stale" in ladder.details.toPlainText().splitlines()[0]


@pytest.mark.parametrize("width", range(320, 720, 40))
def test_rows_without_times_are_low_and_stay_where_they_are_from_frame_to_frame(qapp, width: int) -> None:
    canvas = LadderCanvas(results := Results())
    slots = [RowSlot(f"variant{n}", "cpu") for n in range(10)]
    results.declare(slots)
    keys = [row(slot.variant, "cpu", None, ok=None) for slot in slots]
    for frame in (1, 2):
        for one in keys:
            results.put(one, Subject(frame, one.key))
        shown = canvas.geometry_for(width)
        assert {line.texts["verdict"] for line in shown.lines} == {"unverified"}
        results.mark_stale(slots)  # the next frame has come
        results.set_running(slots)
        assert [line.rect for line in canvas.geometry_for(width).lines] == [line.rect for line in shown.lines]
    (section,) = shown.sections
    assert shown.narrow, "bars that nobody draws need no column"
    unit = QFontMetricsF(canvas.font()).height()
    assert section.axis_box.isNull() and not section.show_axis, "an axis without a time would be invented"
    assert all(line.rect.height() < 2.6 * unit for line in shown.lines)
    assert {line.texts["summary"] for line in shown.lines} == {"Computed, not timed."}


def test_bars_are_painted_and_recorded_ones_hatched(ladder: TimingLadder, results: Results) -> None:
    colours = theme.colours_of(ladder.palette())
    assert {colours.cpu.name(), colours.kernel.name(), colours.upload.name()} <= pixels.colours(ladder.picture(900))
    plain = ladder.picture(900)
    results.load(rows(), "NVIDIA H200", titles=TITLES | LONG)
    hatched = ladder.picture(900)
    assert colours.recorded.colour.name() in pixels.colours(hatched)
    bar = ladder.canvas.geometry_for(900).sections[0].lines[0].bars
    y = int(bar.center().y() * 2)
    span = range(int(bar.left() * 2) + 60, int(bar.left() * 2) + 160)

    def inks(image: QImage) -> set[str]:
        return {QColor(image.pixel(x, y)).name() for x in span}

    assert len(inks(plain)) == 1 and len(inks(hatched)) > 1


def test_a_bar_has_a_notch_at_the_shortest_possible_time(results: Results, ladder: TimingLadder) -> None:
    ink, tall = ladder.palette().text().color(), {}
    for share, more in {0.0: {}, 0.6: {"bytes_s": 160e6 / 2e-4, "launch_s": 1e-4, "memory": "DRAM"}}.items():
        bound = {"bound": more, "share_bound": share} if more else {}
        results.put(row("naive", "cuda:0", 5e-4, **bound))
        section = ladder.canvas.geometry_for(900).sections[0]
        bars, image = section.lines[2].bars, ladder.picture(900)
        rows_of_bar = range(int(2 * bars.top()), int(2 * bars.bottom()))
        for seconds in (3e-4, 2e-4):
            x = round(2 * section.axis.x(seconds))
            tall[share, seconds] = sum(image.pixelColor(x, y) == ink for y in rows_of_bar)
    assert tall.pop((0.6, 3e-4)) > 10 and set(tall.values()) == {0}


def test_pictures_are_written(ladder: TimingLadder, tmp_path) -> None:
    ladder.export(tmp_path / "ladder.png", 800)
    image = QImage(str(tmp_path / "ladder.png"))
    assert image.width() == 1600 and len(pixels.colours(image)) > 10
    ladder.export(tmp_path / "ladder.svg", 800)
    drawing = (tmp_path / "ladder.svg").read_text()
    assert "<svg" in drawing and "CPU, all cores" in drawing
    for name in ("ladder.png", "ladder.svg"):
        with pytest.raises(InputError, match="choose a folder you may write to"):
            ladder.export(tmp_path / "nowhere" / name)


@pytest.mark.parametrize(
    ("seconds", "order"),
    [
        (7e-5, ["serial", "parallel", "cupyx", "naive", "shared"]),
        (5.5e-5, ["serial", "parallel", "naive", "cupyx", "shared"]),
        (4e-5, ["serial", "parallel", "naive", "shared", "cupyx"]),
    ],
)
def test_a_library_is_among_the_variants_by_its_time(qtbot, qapp, seconds: float, order: list[str]) -> None:
    """The fastest one has a sentence as well, which names it and the variant after it."""
    results = Results()
    show_rows(results, [row("cupyx", "cuda:0", seconds), *rows()], TITLES | {"cupyx": "CuPy"})
    view = TimingLadder(results)
    qtbot.addWidget(view)
    geometry = view.canvas.geometry_for(1000)
    assert [line.entry.variant for line in geometry.lines if line.entry] == order
    notes = [item.text for item in geometry.legend if "CuPy is faster" in item.text]
    expected = "CuPy is faster than all others on cuda:0: the next, 3 constant + shared, takes 1.30 times as long."
    assert notes == ([expected] if seconds < 5e-5 else [])


def test_many_changes_are_laid_out_once(ladder: TimingLadder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer of the engine changes rows, several in one turn of Qt's loop."""
    counted: list[float] = []
    lay_out = LadderCanvas.geometry_for

    def counting(self: LadderCanvas, width: float, room: float = 0.0) -> Geometry:
        counted.append(width)
        return lay_out(self, width, room)

    QApplication.processEvents()
    monkeypatch.setattr(LadderCanvas, "geometry_for", counting)
    for place in range(20):
        ladder._results.put(row("naive", "cuda:0", 1e-5 * (place + 1)))
    assert counted == [], "nothing is laid out before the turn ends"
    for _ in range(3):
        QApplication.processEvents()
    assert len(counted) == 1
    assert "200 µs" in "\n".join(map(ladder.canvas.words, ladder.canvas.ladder().lines)).replace("\u00a0", " ")
