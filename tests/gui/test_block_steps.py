"""The panel that follows one block step by step: when it asks, where its buttons lead, what it says and paints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from xray_answers import THERE, window_with

from app.base import theme
from app.controllers.engine_log import describe
from app.models.xray.block_outputs import Written
from app.models.xray.block_reader import BlockReader
from app.models.xray.drafts import Draft
from app.views.block_steps.panel import BlockStepsPanel
from app.views.window.main_window import MainWindow
from app.views.window.panels import BLOCK_STEPS
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.block_run.accesses import Access, AccessLog
from gpu_ops.devices.sim.block_run.compared import BlockSteps, LaunchChoice, outcome
from gpu_ops.devices.sim.block_run.log import Cells
from gpu_ops.devices.sim.block_run.run import BlockRun, Buffer
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import BlockAnswer, BlockRequest
from gpu_ops.engine.messages import Failed
from tests.sim.mirror import BARRIER_LINE, ORDERED, RACY, recorded

SIM = DeviceStatus("sim", "simulated GPU", True)
LAUNCHES = (LaunchChoice("mirror", (2, 1, 1), (90, 1, 1)),)


@pytest.fixture(scope="module")
def ordered() -> BlockSteps:
    return BlockSteps(LAUNCHES, 0, recorded(ORDERED, (1, 0, 0)))


@pytest.fixture(scope="module")
def racy() -> BlockSteps:
    usual, other = recorded(RACY), recorded(RACY, order=1)
    return BlockSteps(LAUNCHES, 0, usual, other, outcome(usual, other, 1))


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, qapp, engine: FakeEngine) -> Iterator[MainWindow]:
    yield window_with(qtbot, engine, (SIM,))
    theme.apply(qapp, Qt.ColorScheme.Light)


def asked(engine: FakeEngine) -> list[BlockRequest]:
    return [r for r in engine.asked if isinstance(r, BlockRequest)]


def answer(engine: FakeEngine, found: BlockSteps, text: str = ORDERED) -> None:
    engine.answered.emit(BlockAnswer(asked(engine)[-1].job, found, text))
    engine.end()


def open_panel(qtbot, window: MainWindow, engine: FakeEngine, found: BlockSteps) -> BlockStepsPanel:
    act(window, "block_steps")
    qtbot.waitUntil(lambda: bool(asked(engine)))
    answer(engine, found, RACY if found.other else ORDERED)
    return window.docks[BLOCK_STEPS]


# What is asked


def test_a_block_is_asked_for_only_where_its_panel_is_open(qtbot, window, engine, ordered) -> None:
    qtbot.wait(20)
    assert asked(engine) == []
    panel = open_panel(qtbot, window, engine, ordered)
    (request,) = asked(engine)
    assert (request.pick.variant, request.pick.device) == (window.context.xray.variant, "sim")
    assert (request.launch, request.place, request.other) == (None, None, False)
    assert panel.reader is not None
    assert panel.code.toPlainText() == ORDERED
    assert "block" in describe(request)


def test_a_panel_that_opens_shows_a_ticked_variant(qtbot, window, engine, ordered) -> None:
    window.controller.session.set_picks(("naive",))
    window.context.xray.take_ticked()
    assert window.context.xray.variant == "naive"
    window.controller.session.set_picks(("rows",))
    engine.end()
    panel = open_panel(qtbot, window, engine, ordered)
    assert asked(engine)[-1].pick.variant == "rows"
    assert panel.title.text() == "Kernel mirror of 4 row streaming"


def test_another_block_and_another_order_are_asked_for(qtbot, window, engine, ordered, racy) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    assert panel.choice.axes[0].value() == 1
    assert not panel.choice.axes[1].isVisible()
    panel.choice.axes[0].setValue(0)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert asked(engine)[-1].place == (0, 0, 0)
    assert "earlier choice" in panel.state.text()
    answer(engine, BlockSteps(LAUNCHES, 0, racy.run), RACY)
    QTest.mouseClick(panel.other, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    assert asked(engine)[-1].other
    assert asked(engine)[-1].place == (0, 0, 0)
    window.context.xray.choose("naive")
    qtbot.waitUntil(lambda: asked(engine)[-1].pick.variant == "naive")
    assert (asked(engine)[-1].place, asked(engine)[-1].other) == (None, False)


def test_a_failure_is_told_and_can_be_tried_again(qtbot, window, engine) -> None:
    act(window, "block_steps")
    qtbot.waitUntil(lambda: bool(asked(engine)))
    engine.answered.emit(Failed(asked(engine)[-1].job, "The blocks of a cluster meet."))
    engine.end()
    panel = window.docks[BLOCK_STEPS]
    assert "The blocks of a cluster meet." in panel.state.text()
    assert not panel.split.isVisibleTo(panel)
    QTest.mouseClick(panel.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)


# Where the buttons lead


def test_buttons_and_keys_lead_to_places_of_interest(qtbot, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    bar, reader = panel.bar, panel.reader
    assert reader is not None
    QTest.mouseClick(bar.buttons["barrier", False], Qt.MouseButton.LeftButton)
    opened = bar.step
    assert panel.said.text().startswith(f"The barrier of line {BARRIER_LINE} opens: 3 warps go on.")
    bar.jump("step", back=True)
    assert panel.said.text().startswith(
        f"Warp 2 waits at the barrier of line {BARRIER_LINE}; 3 of 3 warps have arrived."
    )
    bar.jump("divergence")
    assert bar.step > opened
    assert "Its lanes part: " in panel.said.text()
    before = reader.lines[bar.step]
    bar.jump("line")
    assert reader.lines[bar.step] != before
    panel.bar.slider.setFocus()
    here = bar.step
    QTest.keyClick(bar.slider, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: bar.step == here - 1)
    bar.go_to(reader.steps)
    assert not bar.buttons["step", False].isEnabled()


def test_arrow_keys_step_as_soon_as_the_panel_is_open(qtbot, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    assert window.focusWidget() is panel.bar.slider
    before = panel.bar.step
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert panel.bar.step == before + 1
    window.stack.setFocus()
    for _ in range(2):  # closed, and opened again with its block
        act(window, "block_steps")
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Left)
    assert panel.bar.step == before
    elsewhere = window.stack.view.grid.panes["shared"].canvas
    elsewhere.setFocus()
    panel.choice.chosen.emit(0, (0, 0, 0))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, ordered)
    assert window.focusWidget() is elsewhere, "a block that comes later takes no keys away"


def test_where_there_is_no_such_step_nothing_moves_and_a_sentence_says_so(qtbot, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    bar, reader = panel.bar, panel.reader
    assert reader is not None
    opened, barrier = np.flatnonzero(reader.opens), bar.buttons["barrier", False]
    assert (reader.next(0, "barrier"), reader.next(0, "barrier", back=True)) == (opened[0], None)
    assert reader.next(opened[0], "barrier", back=True) is None
    assert reader.next(reader.steps, "barrier", back=True) == opened[-1]
    assert (reader.next(0, "step", back=True), reader.next(reader.steps, "line")) == (None, None)
    bar.go_to(opened[-1])
    assert barrier.toolTip() == "No barrier opens after this step." and not barrier.isEnabled()
    said = panel.said.text()
    bar.slider.setFocus()
    QTest.keyClick(bar.slider, Qt.Key.Key_PageDown, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: panel.said.text() == f"No barrier opens after this step. {said}")
    assert bar.step == opened[-1]
    bar.jump("step")
    assert "No barrier" not in panel.said.text()


def test_each_word_stands_between_its_two_buttons(qtbot, window, engine, ordered) -> None:
    bar = open_panel(qtbot, window, engine, ordered).bar
    for (goal, back), button in bar.buttons.items():
        word = next(label for label in button.parentWidget().findChildren(QLabel) if label.text() == goal)
        assert (button.x() < word.x()) == back


def test_before_the_first_step_the_source_shows_where_the_lanes_are(qtbot, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    (first,) = panel.reader.lanes_by_line(0)
    assert panel.code.textCursor().blockNumber() + 1 == first > 1
    panel.bar.go_to(panel.reader.steps)
    assert panel.code.textCursor().blockNumber() + 1 != first
    panel.bar.go_to(0)
    assert panel.code.textCursor().blockNumber() + 1 == first


def test_the_source_has_ten_lines_and_grows_with_the_letters(qtbot, qapp, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    for presenter in (False, True):
        theme.apply(qapp, Qt.ColorScheme.Light, presenter)
        qtbot.waitUntil(lambda: panel.code.font().pointSizeF() > 0.85 * panel.font().pointSizeF())
        assert panel.code.minimumHeight() >= 10 * panel.code.fontMetrics().lineSpacing()


def test_another_schedule_is_offered_or_refused_with_a_reason(qtbot, window, engine, ordered, racy) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    assert panel.other.isEnabled() and panel.other.toolTip().startswith("Run the block again")
    panel.choice.axes[0].setValue(0)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert not panel.other.isEnabled() and panel.other.toolTip().startswith("The block is recorded first")
    answer(engine, racy, RACY)
    assert not panel.other.isEnabled() and panel.other.toolTip().startswith("Both orders are recorded")
    panel.choice.chosen.emit(0, (1, 0, 0))
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    answer(engine, BlockSteps(LAUNCHES, 0, recorded(ORDERED, threads=32)))
    assert not panel.other.isEnabled() and panel.other.toolTip().startswith("A block with one warp")


def test_the_title_says_that_the_kernel_was_edited(qtbot, window, engine, ordered) -> None:
    window.context.xray.choose("shared")
    panel, file = open_panel(qtbot, window, engine, ordered), "mean2d/3_shared.cu"
    assert panel.title.text() == "Kernel mirror of 3 constant + shared"
    window.context.xray.drafts.put(Draft("mean2d", "shared", {file: read_source(file) + "\n"}))
    qtbot.waitUntil(lambda: bool(asked(engine)[-1].pick.edits))
    assert not panel.title.text().endswith("edited")  # the steps are still those of the shipped kernel
    answer(engine, ordered)
    assert panel.title.text() == "Kernel mirror of 3 constant + shared, edited"


# What is shown


def test_lanes_registers_and_memory_are_those_of_the_step(qtbot, window, engine, ordered) -> None:
    panel = open_panel(qtbot, window, engine, ordered)
    panel.bar.jump("barrier")
    panel.choose_lane(40)
    assert panel.tabs.tabText(1) == "Registers of lane 8, warp 1"
    rows = {
        panel.registers.item(row, 2).text(): panel.registers.item(row, 0).text()
        for row in range(panel.registers.rowCount())
    }
    assert rows["i"] == "130"
    assert rows["threadIdx.x"] == "40"
    panel.bar.jump("step")
    assert panel.registers.item(0, 0).text() == rows[panel.registers.item(0, 2).text()]
    panel.bar.jump("step", back=True)
    assert {row: panel.registers.item(row, 0).text() for row in range(3)} == dict(enumerate(list(rows.values())[:3]))
    assert panel.shared.value(40) == "260"  # twice sample 130
    assert "tile[40], bank 8: 260, written by warp 1" in panel.shared.tip(panel.shared._cell(2.4 + 1, 8).center())
    assert "lane 8 of warp 1" in panel.lanes.tip(panel.lanes._cell(1, 8).center())
    QTest.mouseClick(panel.lanes, Qt.MouseButton.LeftButton, pos=panel.lanes._cell(0, 3).center().toPoint())
    assert panel.lanes.lane == 3
    QTest.keyClick(panel.lanes, Qt.Key.Key_Down)
    assert panel.lanes.lane == 35
    view = panel.output.views[0]
    assert view.tip(QPointF(1, 1)) == "out[90]: nothing is written yet"
    panel.bar.go_to(panel.bar.slider.maximum())
    assert view.tip(QPointF(1, 1)).startswith("out[90]: ") and "nothing" not in view.tip(QPointF(1, 1))
    narrow = panel.shared.minimumWidth()
    panel.values.setChecked(True)
    assert panel.shared.minimumWidth() > 2 * narrow


def test_both_orders_of_a_race_stand_next_to_each_other(qtbot, window, engine, racy) -> None:
    panel = open_panel(qtbot, window, engine, racy)
    assert panel.other_order.isChecked()
    assert "other values in out" in panel.outcome.text()
    assert panel.code.severity(6) == panel.code.severity(10) == "error"
    assert panel.tabs.currentWidget() is panel.output
    assert all(view.isVisibleTo(panel.output) for view in panel.output.views)
    assert panel.output.views[1].different
    assert "A race: lines 10 and 6 meet" in panel.said.text()
    QTest.mouseClick(panel.usual_order, Qt.MouseButton.LeftButton)
    assert panel.reader is not None
    assert panel.reader.run is racy.run


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_what_ran_waits_and_has_ended_is_told_by_form_as_well(qtbot, qapp, window, engine, ordered, scheme) -> None:
    """The cells of one warp that runs, waits, rests and has ended differ in brightness, not only in colour."""
    theme.apply(qapp, scheme)
    panel = open_panel(qtbot, window, engine, ordered)
    reader, lanes = panel.reader, panel.lanes
    assert reader is not None
    pictures = {}
    for step in (1, reader.next(0, "barrier") - 1, reader.steps):
        panel.bar.go_to(step)
        picture = lanes.grab().toImage().convertToFormat(lanes.grab().toImage().Format.Format_Grayscale8)
        rect = lanes._cell(0, 5).toRect()
        pictures[step] = [
            picture.pixelColor(x, y).red()
            for x in range(rect.left(), rect.right())
            for y in range(rect.top(), rect.bottom())
        ]
    first, second, third = pictures.values()
    assert np.std(first) < np.std(second) or abs(np.mean(first) - np.mean(second)) > 10
    assert abs(np.mean(first) - np.mean(third)) > 10
    assert abs(np.mean(second) - np.mean(third)) > 3


def bank_run(run: BlockRun, stride: int) -> BlockReader:
    """A run whose first step stores to every `stride`-th word."""
    log = AccessLog()
    log.note(1, Access("shared", "writes", 4, "", np.arange(32), np.arange(32, dtype=np.int64) * 4 * stride))
    return BlockReader(replace(run, accesses=log.accesses(run.steps)))


@pytest.mark.parametrize(("stride", "passes"), [(1, 1), (2, 2), (32, 32), (33, 1), (0, 1)])
def test_the_words_of_each_bank_are_counted(ordered: BlockSteps, stride: int, passes: int) -> None:
    banks = bank_run(ordered.run, stride).banks(1)
    assert banks is not None
    assert banks.most == passes
    assert sum(map(len, banks.words)) == (32 if stride else 1)


def test_each_access_of_a_step_has_its_own_banks(ordered: BlockSteps) -> None:
    log = AccessLog()
    for stride in (32, 1):
        log.note(1, Access("shared", "reads", 4, "", np.arange(32), np.arange(32, dtype=np.int64) * 4 * stride % 384))
    first, second = BlockReader(replace(ordered.run, accesses=log.accesses(ordered.run.steps))).sentences(1)[-2:]
    assert first == "It reads tile: a bank has 3 different words, 1 if they were spread evenly."
    assert second == "It reads tile: no two words in one bank."


def test_a_part_of_an_image_fills_in() -> None:
    ends, cells = np.array([0, 2, 3]), np.array([12, 13, 22], np.int32)
    values = np.array([1.0, 3.0, 2.0], np.float32).view(np.uint32).astype(np.uint64)
    written = Written(Buffer("y", "float32", (4, 10), (10, 1), Cells(40, ends, cells, values)))
    assert written.shape == (2, 2)
    written.go_to(1)
    levels, known = written.levels()
    assert known.tolist() == [[True, True], [False, False]]
    assert levels[0].tolist() == [40, 255]
    assert written.element(0, 1) == ("y[1][3]", 3.0)
    assert written.element(1, 0) == ("y[2][2]", None)
    assert written.element(1, 1) == ("", None)
    written.go_to(2)
    assert list(written.places(written.changed)) == [(1, 0)]
    assert written.element(1, 0) == ("y[2][2]", 2.0)


def test_a_block_of_another_machines_gpu_is_recorded_there(qtbot, engine, ordered) -> None:
    panel = open_panel(qtbot, window_with(qtbot, engine, (THERE,)), engine, ordered)
    assert asked(engine)[-1].pick.device == "gpu-host/sim"
    assert panel.title.text().endswith(", computed on gpu-host")
